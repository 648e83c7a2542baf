// Frames wait in a ring of slots. Workers take slots in order and measure (sums); the owner's thread takes
// measured slots in order, lets the scorers turn sums into scores (rows), and predicts.
#include "engine/session.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "engine/metric.h"
#include "engine/plan.h"
#include "engine/view.h"

namespace vmafhip {
namespace {

constexpr size_t kAlign = 64;  // cache line, widest vector
constexpr int kMostThreads = 1024;
constexpr int kMostSamples = 32768;  // a picture's width or height

size_t aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

struct Free {
  void operator()(std::byte *p) const { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, Free>;

// Null if there is no memory.
Memory allocate(size_t bytes) {
  return Memory(static_cast<std::byte *>(std::aligned_alloc(kAlign, aligned(std::max(bytes, kAlign)))));
}

std::string describe(const PictureFormat &f) {
  return std::to_string(f.width) + "x" + std::to_string(f.height) + " at " + std::to_string(f.depth) +
         " bits";
}

struct Slot {
  Picture ref, dist;
  std::array<Picture, 2> earlier;  // references 1 and 2 frames before
  bool measured = false;
  Memory sums;
};

struct Row {  // scores of one frame while they come in
  std::vector<double> values;
  int filled = 0;
};

}  // namespace

struct Session::Impl {
  Plan plan;
  std::vector<ModelInfo> model_infos;
  int threads = 1;
  std::string backend;

  // Owner's thread:
  PictureFormat ref_format, dist_format;
  int depth = 8;
  std::vector<std::unique_ptr<Metric>> metrics;
  std::vector<std::unique_ptr<Scorer>> scorers;
  std::vector<size_t> sums_offsets;
  std::vector<Row> rows;  // frame n is in rows[n % size]
  std::vector<double> model_inputs;
  std::array<Picture, 2> history;
  uint64_t scored = 0;     // frames that the scorers have seen
  uint64_t delivered = 0;  // frames given out
  bool flushed = false;
  std::vector<RunningPool> feature_pools, model_pools;
  std::function<void()> progress;

  // Under the mutex:
  mutable std::mutex mutex;
  std::condition_variable work, event;
  std::vector<Slot> slots;                          // frame n is in slots[n % size]
  uint64_t submitted = 0, taken = 0, released = 0;  // released: slot is free again
  int running = 0;
  bool configured = false, finished = false, quit = false, interrupted = false;

  std::vector<std::thread> workers;
  std::vector<Memory> scratch;              // per worker; written by configure() while all are idle
  std::array<size_t, 4> view_offsets = {};  // ref, dist, earlier[0], earlier[1] in the scratch
  size_t metric_scratch = 0;

  ~Impl() {
    {
      std::lock_guard lock(mutex);
      quit = true;
      taken = submitted;
    }
    work.notify_all();
    for (std::thread &t : workers) t.join();
  }

  void start_workers() {
    scratch.resize(size_t(threads));
    for (int i = 0; i < threads; ++i) workers.emplace_back(&Impl::run_worker, this, i);
  }

  void run_worker(int id) {
    std::unique_lock lock(mutex);
    for (;;) {
      work.wait(lock, [&] { return quit || taken < submitted; });
      if (quit) return;
      const uint64_t index = taken++;
      Slot &slot = slots[index % slots.size()];
      ++running;
      lock.unlock();
      measure(index, slot, scratch[size_t(id)].get());
      // The pictures go back before the score is seen: whoever waits for it may want the memory.
      slot.ref = slot.dist = Picture();
      slot.earlier = {};
      lock.lock();
      slot.measured = true;
      --running;
      event.notify_all();
      if (progress) {
        lock.unlock();
        progress();
        lock.lock();
      }
    }
  }

  void measure(uint64_t index, const Slot &slot, std::byte *memory) const {
    FrameView view;
    Views dist;
    view.index = index;
    view.dist = {&dist, 1};
    const int planes = 1;  // all extractors so far read luma only
    for (int p = 0; p < planes; ++p) {
      view.ref[size_t(p)] = view_plane(slot.ref, p, depth, memory + view_offsets[0]);
      dist[size_t(p)] = view_plane(slot.dist, p, depth, memory + view_offsets[1]);
    }
    for (int i = 0; i < plan.lookback; ++i)
      if (slot.earlier[i].planes[0].data)
        view.earlier[i] = view_plane(slot.earlier[i], 0, depth, memory + view_offsets[size_t(2 + i)]);
    for (size_t i = 0; i < metrics.size(); ++i)
      metrics[i]->measure(view, 0, 0, nullptr, memory, slot.sums.get() + sums_offsets[i]);
  }

  // With the mutex held.
  bool takes_frames() const { return configured && !finished && submitted - released < slots.size(); }

  // ---- serial stage, owner's thread --------------------------------------------------------------

  Row &row(uint64_t frame) { return rows[frame % rows.size()]; }

  Emit emit_for(size_t extractor) {
    return [this, extractor](int output, uint64_t frame, double value) {
      const int column = plan.extractors[extractor].columns[size_t(output)];
      if (column < 0) return;  // a debug output that nobody asked for
      Row &r = row(frame);
      r.values[size_t(column)] = value;
      ++r.filled;
    };
  }

  bool complete(uint64_t frame) {
    return frame < scored && row(frame).filled == int(plan.feature_names.size());
  }

  // Scores measured frames until the next row to deliver is complete, so that rows never pile up.
  void score_measured() {
    while (!complete(delivered)) {
      Slot *slot = nullptr;
      bool last = false;
      {
        std::lock_guard lock(mutex);
        if (scored < submitted && slots[scored % slots.size()].measured) slot = &slots[scored % slots.size()];
        last = finished && scored == submitted;
      }
      if (slot) {
        row(scored).filled = 0;
        for (size_t i = 0; i < scorers.size(); ++i)
          scorers[i]->add(scored, slot->sums.get() + sums_offsets[i], emit_for(i));
        ++scored;
        std::lock_guard lock(mutex);
        slot->measured = false;
        ++released;
      } else {
        if (!last || flushed) return;
        flushed = true;
        for (size_t i = 0; i < scorers.size(); ++i) scorers[i]->flush(emit_for(i));
      }
    }
  }

  void deliver(FrameScores &out) {
    const Row &r = row(delivered);
    out.index = delivered;
    out.features = r.values;
    out.models.resize(plan.models.size());
    out.extrapolated = false;
    out.warm_up = delivered < uint64_t(plan.lookback);
    for (size_t m = 0; m < plan.models.size(); ++m) {
      model_inputs.clear();
      for (int column : plan.models[m].columns) model_inputs.push_back(r.values[size_t(column)]);
      out.models[m] = plan.models[m].model->predict(model_inputs, &out.extrapolated);
      model_pools[m].add(out.models[m]);
    }
    for (size_t i = 0; i < r.values.size(); ++i) feature_pools[i].add(r.values[i]);
    ++delivered;
  }

  Next next(FrameScores &out) {
    score_measured();
    if (complete(delivered)) {
      deliver(out);
      return Next::ready;
    }
    return scored < submitted ? Next::pending : Next::drained;
  }

  void clear() {
    std::vector<Slot> drop(slots.size());  // pictures are released outside the lock
    {
      std::unique_lock lock(mutex);
      taken = submitted;
      event.wait(lock, [&] { return running == 0; });
      for (size_t i = 0; i < slots.size(); ++i) {
        std::swap(drop[i].ref, slots[i].ref);
        std::swap(drop[i].dist, slots[i].dist);
        std::swap(drop[i].earlier, slots[i].earlier);
        slots[i].measured = false;
      }
      submitted = taken = released = 0;
      finished = false;
    }
    history = {};
    scored = delivered = 0;
    flushed = false;
    for (auto &scorer : scorers) scorer->reset();
    for (Row &r : rows) r.filled = 0;
    for (auto &pool : feature_pools) pool.reset();
    for (auto &pool : model_pools) pool.reset();
  }

  void set_configured(bool on) {
    std::lock_guard lock(mutex);
    configured = on;
  }

  Status allocate_for_format() {
    const size_t word = depth > 8 ? 2 : 1;
    const size_t plane = aligned(size_t(ref_format.width) * size_t(ref_format.height) * word);
    metric_scratch = 0;
    size_t sums = 0;
    sums_offsets.clear();
    metrics.clear();
    scorers.clear();
    for (const PlannedExtractor &p : plan.extractors) {
      metrics.push_back(
          make_cpu_metric(*p.extractor, p.options,
                          PictureFormat{ref_format.width, ref_format.height, depth, ref_format.chroma}));
      scorers.push_back(p.extractor->make_scorer(p.options, ref_format));
      metric_scratch = std::max(metric_scratch, aligned(metrics.back()->scratch_bytes()));
      sums_offsets.push_back(sums);
      sums += aligned(p.extractor->sums_bytes);
    }
    for (size_t i = 0; i < view_offsets.size(); ++i) view_offsets[i] = metric_scratch + i * plane;
    bool good = true;
    for (Memory &m : scratch) {
      m.reset();
      // Pages of views that are read in place are never touched and so cost no memory.
      m = allocate(metric_scratch + size_t(2 + plan.lookback) * plane);
      good = good && m;
    }
    for (Slot &slot : slots) {
      slot.sums.reset();
      slot.sums = allocate(sums);
      good = good && slot.sums;
    }
    return good
               ? Status()
               : Status(Code::resource, "not enough memory to compare pictures of " + describe(ref_format) +
                                            " with " + std::to_string(threads) + " threads; lower `threads`");
  }
};

Result<std::unique_ptr<Session>> Session::create(const SessionOptions &options) {
  if (options.backend == Backend::hip)
    return Status(Code::unsupported,
                  "backend=hip: this build has no GPU kernels; use backend=cpu or backend=auto");
  if (options.threads < 0 || options.threads > kMostThreads)
    return Status(Code::invalid_argument, "threads must be 0 to " + std::to_string(kMostThreads) + ", not " +
                                              std::to_string(options.threads));
  auto plan = Plan::make(options.models, options.features);
  if (!plan.ok()) return plan.status();
  auto isa = cpu_isa_name();
  if (!isa.ok()) return isa.status();
  auto impl = std::make_unique<Impl>();
  impl->plan = std::move(*plan);
  for (const PlannedModel &m : impl->plan.models)
    impl->model_infos.push_back({m.model->label(), m.model->source(), m.model->origin()});
  impl->threads =
      options.threads > 0 ? options.threads : int(std::max(1u, std::thread::hardware_concurrency()));
  impl->backend = "cpu (" + std::string(*isa) + "), " + std::to_string(impl->threads) + " threads";
  impl->feature_pools.resize(impl->plan.feature_names.size());
  impl->model_pools.resize(impl->plan.models.size());
  impl->rows.resize(size_t(impl->plan.lookahead) + 2);
  for (Row &row : impl->rows) row.values.resize(impl->plan.feature_names.size());
  // One frame a worker, two waiting so that none idles, and those that wait for a successor.
  impl->slots.resize(size_t(impl->threads + 2 + impl->plan.lookahead));
  try {
    impl->start_workers();
  } catch (const std::system_error &) {
    return Status(Code::resource, "the system does not let " + std::to_string(impl->threads) +
                                      " threads start; lower `threads`");
  }
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

const std::vector<std::string> &Session::feature_names() const { return impl_->plan.feature_names; }
const std::vector<ModelInfo> &Session::models() const { return impl_->model_infos; }
int Session::lookahead() const { return impl_->plan.lookahead; }
int Session::max_in_flight() const { return int(impl_->slots.size()); }
std::string Session::backend_description() const { return impl_->backend; }
const std::vector<RunningPool> &Session::feature_pools() const { return impl_->feature_pools; }
const std::vector<RunningPool> &Session::model_pools() const { return impl_->model_pools; }
void Session::on_progress(std::function<void()> callback) { impl_->progress = std::move(callback); }
void Session::reset() { impl_->clear(); }

Status Session::configure(const PictureFormat &ref, const PictureFormat &dist) {
  impl_->clear();
  impl_->set_configured(false);
  if (ref.width != dist.width || ref.height != dist.height)
    return Status(Code::unsupported, "the reference is " + describe(ref) + ", the distorted picture " +
                                         describe(dist) + ": bring them to one size first (videoscale)");
  for (const PictureFormat *f : {&ref, &dist})
    if (f->width < 1 || f->height < 1 || f->width > kMostSamples || f->height > kMostSamples ||
        f->depth < 8 || f->depth > 16)
      return Status(Code::unsupported, "pictures of " + describe(*f) + " cannot be compared, only of 1 to " +
                                           std::to_string(kMostSamples) +
                                           " samples in each direction at 8 to 16 bits");
  impl_->ref_format = ref;
  impl_->dist_format = dist;
  impl_->depth = std::max(ref.depth, dist.depth);
  PictureFormat compared = ref;
  compared.depth = impl_->depth;
  for (const PlannedExtractor &p : impl_->plan.extractors)
    if (Status s = p.extractor->check_format(p.options, compared); !s.ok()) return s;
  if (Status s = impl_->allocate_for_format(); !s.ok()) return s;
  impl_->set_configured(true);
  return Status();
}

bool Session::has_room() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->takes_frames();
}

bool Session::submit(Picture ref, Picture dist) {
  Impl &s = *impl_;
  std::unique_lock lock(s.mutex);
  if (!s.takes_frames()) return false;
  Slot &slot = s.slots[s.submitted % s.slots.size()];
  if (s.plan.lookback > 0) {
    slot.earlier = s.history;
    s.history[1] = s.plan.lookback > 1 ? std::move(s.history[0]) : Picture();
    s.history[0] = ref;
  }
  slot.ref = std::move(ref);
  slot.dist = std::move(dist);
  ++s.submitted;
  lock.unlock();
  s.work.notify_one();
  return true;
}

void Session::finish() {
  impl_->history = {};
  std::lock_guard lock(impl_->mutex);
  impl_->finished = true;
  impl_->event.notify_all();
}

Session::Next Session::next(FrameScores &out) { return impl_->next(out); }

Session::Next Session::wait(FrameScores &out) {
  Impl &s = *impl_;
  for (;;) {
    if (const Next result = s.next(out); result != Next::pending) return result;
    std::unique_lock lock(s.mutex);
    s.event.wait(lock, [&] { return s.interrupted || s.slots[s.scored % s.slots.size()].measured; });
    if (s.interrupted) return Next::pending;
  }
}

void Session::interrupt(bool on) {
  std::lock_guard lock(impl_->mutex);
  impl_->interrupted = on;
  impl_->event.notify_all();
}

}  // namespace vmafhip
