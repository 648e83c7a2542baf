// Joins the parts: the plan says what to compute, the scheduler's workers measure frames (sums), the owner's thread
// takes measured frames in order and lets the scoring turn sums into scores.
#include "engine/session.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "engine/metric.h"
#include "engine/plan.h"
#include "engine/scheduler.h"
#include "engine/scoring.h"
#include "engine/view.h"

namespace vmafhip {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kMostSamples = 32768;  // a picture's width or height

std::string describe(const PictureFormat &f) {
  return std::to_string(f.width) + "x" + std::to_string(f.height) + " at " + std::to_string(f.depth) +
         " bits";
}

const char *chroma_name(Chroma chroma) {
  switch (chroma) {
    case Chroma::c400:
      return "no chroma";
    case Chroma::c420:
      return "4:2:0 chroma";
    case Chroma::c422:
      return "4:2:2 chroma";
    case Chroma::c444:
      return "4:4:4 chroma";
  }
  return "";
}

bool same_size(const PictureFormat &a, const PictureFormat &b) {
  return a.width == b.width && a.height == b.height;
}

// Within limits that keep all sizes in 64 bits, and alike where they have to be.
Status check_formats(const PictureFormat &ref, std::span<const PictureFormat> dist, bool chroma,
                     ScaleMethod method) {
  for (const PictureFormat &d : dist) {
    for (const PictureFormat *f : {&ref, &d})
      if (f->width < 1 || f->height < 1 || f->width > kMostSamples || f->height > kMostSamples ||
          f->depth < 8 || f->depth > 16)
        return Status(Code::unsupported,
                      "pictures of " + describe(*f) + " cannot be compared, only of 1 to " +
                          std::to_string(kMostSamples) + " samples in each direction at 8 to 16 bits");
    if (!same_size(ref, d) && method == ScaleMethod::none)
      return Status(Code::unsupported,
                    "the reference is " + describe(ref) + ", the distorted picture " + describe(d) +
                        ", and scale-method=none: set scale-method to bicubic, bilinear or lanczos, or bring "
                        "them to one size first (videoscale)");
    if (d.width > int64_t{kMostScaledDown} * ref.width || d.height > int64_t{kMostScaledDown} * ref.height)
      return Status(Code::unsupported, "the distorted picture is " + describe(d) + ", the reference " +
                                           describe(ref) + ": only up to " + std::to_string(kMostScaledDown) +
                                           " times its width and height can be scaled down");
    if (chroma && ref.chroma != d.chroma)
      return Status(Code::unsupported, std::string("the reference has ") + chroma_name(ref.chroma) +
                                           ", the distorted picture " + chroma_name(d.chroma) +
                                           ": bring them to one format first (videoconvert)");
  }
  return Status();
}

// Name under which a chain's times are given.
std::string chain_name(const PlannedExtractor &planned) {
  return planned.extractor->name + planned.options.suffix();
}

// For one distorted picture, of the planes that metrics read.
FrameLayout::Scalers make_scalers(const CpuBackend &cpu, ScaleMethod method, const PictureFormat &compared,
                                  const PictureFormat &dist, PlaneSet planes) {
  FrameLayout::Scalers scalers;
  if (same_size(compared, dist)) return scalers;
  for (int plane = 0; plane < (compared.chroma == Chroma::c400 ? 1 : 3); ++plane) {
    if (!(planes >> plane & 1)) continue;
    const PlaneSize from = plane_size(dist, plane), to = plane_size(compared, plane);
    scalers[size_t(plane)] =
        cpu.make_scaler({method, from.width, from.height, dist.depth, to.width, to.height, compared.depth});
  }
  return scalers;
}

}  // namespace

struct Session::Impl {
  CpuBackend cpu;
  Scoring scoring;
  Scheduler scheduler;
  std::vector<ModelInfo> model_infos;
  std::vector<std::string> remarks;
  std::string backend;
  int distorted, subsample;
  ScaleMethod scale;
  bool stage_times;

  // One frame a worker, two waiting so that none idles, and those that wait for a successor.
  Impl(Plan plan, const CpuBackend &backend, const SessionOptions &options, int threads)
      : cpu(backend),
        scoring(std::move(plan), options.distorted, options.subsample),
        scheduler(threads, threads + 2 + scoring.plan().lookahead),
        distorted(options.distorted),
        subsample(options.subsample),
        scale(options.scale),
        stage_times(options.stage_times) {
    for (const PlannedModel &m : scoring.plan().models)
      for (const std::string &score : m.model->scores())
        model_infos.push_back({score, m.model->source(), m.model->origin()});
  }

  // Scores measured frames until the next one to give out is complete, so that rows never pile up.
  void score_measured() {
    while (!scoring.complete()) {
      if (const std::byte *sums = scheduler.measured(scoring.added())) {
        scoring.add(sums, *scheduler.layout());
        scheduler.release(scoring.added());
      } else {
        if (!scheduler.finished() || scoring.flushed() || scoring.added() < scheduler.submitted()) return;
        scoring.flush();
      }
    }
  }

  Next next(FrameScores &out) {
    score_measured();
    if (scoring.complete()) {
      scoring.give_out(out);
      return Next::ready;
    }
    return scoring.added() < scheduler.submitted() ? Next::pending : Next::drained;
  }

  Status configure(const PictureFormat &ref, std::span<const PictureFormat> dist) {
    scheduler.close();
    scoring.reset();
    if (int(dist.size()) != distorted)
      return Status(Code::invalid_argument, "the session compares " + std::to_string(distorted) +
                                                " distorted pictures with a reference, not " +
                                                std::to_string(dist.size()));
    const Plan &plan = scoring.plan();
    if (Status s = check_formats(ref, dist, plan.reads.chroma(), scale); !s.ok()) return s;
    PictureFormat compared = ref;
    compared.coded_depth = dist[0].depth;
    for (const PictureFormat &d : dist) {
      compared.depth = std::max(compared.depth, d.depth);
      compared.coded_depth = std::min(compared.coded_depth, d.depth);
      if (d.transfer == Transfer::pq) compared.transfer = Transfer::pq;
    }
    remarks = plan.remarks;
    for (const PlannedExtractor &p : plan.extractors) {
      if (Status s = p.extractor->check(p.options, compared); !s.ok())
        return Status(s.code(), s.message() + (p.needed_by.empty() ? "" : " (" + p.needed_by + " needs it)"));
      if (!p.extractor->remark) continue;
      if (std::string text = p.extractor->remark(p.options, compared); !text.empty())
        remarks.push_back(std::move(text));
    }

    std::vector<FrameLayout::Scalers> scalers;
    for (const PictureFormat &d : dist)
      scalers.push_back(make_scalers(cpu, scale, compared, d, plan.reads.dist | plan.reads.earlier_dist));
    std::vector<FrameLayout::Item> items;
    for (const PlannedExtractor &p : plan.extractors)
      items.push_back({cpu.make(*p.extractor, p.options, compared, distorted), p.extractor->sums_bytes,
                       p.extractor->add_sums, p.extractor->reads(p.options), p.temporal});
    auto layout = std::make_unique<FrameLayout>(std::move(items), compared, distorted, uint64_t(subsample),
                                                std::move(scalers));
    if (Status s = layout->status(); !s.ok()) return s;
    if (Status s = scoring.configure(compared); !s.ok()) return s;
    if (!scheduler.configure(std::move(layout), stage_times))
      return Status(Code::resource, "comparing pictures of " + describe(compared) + " with " +
                                        std::to_string(scheduler.threads()) + " threads needs " +
                                        in_units(scheduler.memory_needed()) +
                                        " of memory, more than there is: lower `threads`, or compare "
                                        "smaller pictures");
    return Status();
  }
};

Result<std::unique_ptr<Session>> Session::create(const SessionOptions &options) {
  if (options.backend == Backend::hip)
    return Status(Code::unsupported,
                  "backend=hip: this build has no GPU kernels; use backend=cpu or backend=auto");
  if (options.threads < 0 || options.threads > kMostThreads)
    return Status(Code::invalid_argument, "threads must be 0 to " + std::to_string(kMostThreads) + ", not " +
                                              std::to_string(options.threads));
  if (options.distorted < 1 || options.distorted > kMostDistorted)
    return Status(Code::invalid_argument, "1 to " + std::to_string(kMostDistorted) +
                                              " distorted pictures can be compared at a time, not " +
                                              std::to_string(options.distorted));
  if (options.subsample < 1)
    return Status(Code::invalid_argument,
                  "subsample must be 1 (every frame) or more, not " + std::to_string(options.subsample));
  auto plan = Plan::make(options.models, options.features);
  if (!plan.ok()) return plan.status();
  auto cpu = CpuBackend::choose();
  if (!cpu.ok()) return cpu.status();
  const int threads =
      options.threads > 0 ? options.threads : int(std::max(1u, std::thread::hardware_concurrency()));
  auto impl = std::make_unique<Impl>(std::move(*plan), *cpu, options, threads);
  impl->backend = "cpu (" + std::string(cpu->isa()) + "), " + std::to_string(threads) + " threads";
  if (!impl->scheduler.start())
    return Status(Code::resource,
                  "the system does not let " + std::to_string(threads) + " threads start; lower `threads`");
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

const std::vector<std::string> &Session::feature_names() const { return impl_->scoring.plan().feature_names; }
const std::vector<std::string> &Session::remarks() const { return impl_->remarks; }
const std::vector<ModelInfo> &Session::models() const { return impl_->model_infos; }
int Session::lookahead() const { return impl_->scoring.plan().lookahead; }
int Session::distorted() const { return impl_->distorted; }
int Session::threads() const { return impl_->scheduler.threads(); }
int Session::max_in_flight() const { return impl_->scheduler.slots(); }
std::string Session::backend_description() const { return impl_->backend; }
const std::vector<RunningPool> &Session::feature_pools(size_t dist) const {
  return impl_->scoring.feature_pools(dist);
}
const std::vector<RunningPool> &Session::model_pools(size_t dist) const {
  return impl_->scoring.model_pools(dist);
}
bool Session::has_feature(size_t number) const { return impl_->scoring.has(number); }
const std::vector<std::string> &Session::aggregate_names() const {
  return impl_->scoring.plan().aggregate_names;
}
const std::vector<double> &Session::aggregates(size_t dist) const { return impl_->scoring.aggregates(dist); }
void Session::on_progress(std::function<void()> callback) {
  impl_->scheduler.on_progress(std::move(callback));
}

Status Session::configure(const PictureFormat &ref, std::span<const PictureFormat> dist) {
  return impl_->configure(ref, dist);
}
Status Session::configure(const PictureFormat &ref, const PictureFormat &dist) {
  return impl_->configure(ref, {&dist, 1});
}

bool Session::scores_next() const { return impl_->scheduler.submitted() % uint64_t(impl_->subsample) == 0; }
bool Session::has_room() const { return impl_->scheduler.has_room(); }
bool Session::submit(Picture ref, std::span<Picture> dist) {
  return impl_->scheduler.submit(std::move(ref), dist);
}
bool Session::submit(Picture ref, Picture dist) {
  return impl_->scheduler.submit(std::move(ref), {&dist, 1});
}
void Session::finish() { impl_->scheduler.finish(); }

Session::Next Session::next(FrameScores &out) { return impl_->next(out); }

Session::Next Session::wait(FrameScores &out) {
  for (;;) {
    if (const Next result = impl_->next(out); result != Next::pending) return result;
    if (!impl_->scheduler.wait(impl_->scoring.added())) return Next::pending;
  }
}

void Session::interrupt(bool on) { impl_->scheduler.interrupt(on); }

void Session::reset() {
  impl_->scheduler.clear();
  impl_->scoring.reset();
}

Status Session::status() const {
  const FrameLayout *layout = impl_->scheduler.layout();
  return layout ? layout->status() : Status();
}

std::vector<StageTime> Session::stage_times() const {
  std::vector<StageTime> times;
  const FrameLayout *layout = impl_->scheduler.layout();
  if (!layout || !impl_->stage_times) return times;
  times.push_back({"unpack", 0, impl_->scheduler.stage_seconds(0, 0)});
  times.push_back({"scale", 0, impl_->scheduler.stage_seconds(0, 1)});
  const Plan &plan = impl_->scoring.plan();
  for (size_t i = 0; i < plan.extractors.size(); ++i)
    for (int stage = 0; stage < layout->stages(i); ++stage)
      times.push_back(
          {chain_name(plan.extractors[i]), stage, impl_->scheduler.stage_seconds(i + 1, size_t(stage))});
  return times;
}

}  // namespace vmafhip
