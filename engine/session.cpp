// Joins the parts: the plan says what to compute, the scheduler's workers and the GPU measure frames (sums), the owner's
// thread takes measured frames in order and lets the scoring turn sums into scores. Here it is decided what the GPU
// measures, and that the CPU goes on when it fails.
#include "engine/session.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <thread>

#include "engine/formats.h"
#include "engine/metric.h"
#include "engine/plan.h"
#include "engine/scheduler.h"
#include "engine/scoring.h"
#include "engine/text.h"
#include "engine/view.h"

namespace vmafhip {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kMostBatch = 32;
constexpr int kMostAtATime = 16;

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
  std::optional<HipBackend> gpu;  // until it fails, or if none is wanted
  Backend wanted;
  std::string reason;      // why there is no GPU
  std::string cpu_reason;  // why the current formats do without it
  Scoring scoring;
  Scheduler scheduler;
  std::vector<ModelInfo> model_infos;
  std::vector<std::string> remarks;
  int distorted, subsample, batch, device;
  ScaleMethod scale;
  bool stage_times;
  PictureFormat ref_format, compared;  // of configure()
  std::vector<PictureFormat> dist_formats;

  // One frame a worker, two waiting so that none idles, and those that wait for a successor.
  Impl(Plan plan, const CpuBackend &backend, const SessionOptions &options, int threads)
      : cpu(backend),
        wanted(options.backend),
        scoring(std::move(plan), options.distorted, options.subsample),
        scheduler(threads, threads + 2 + scoring.plan().lookahead),
        distorted(options.distorted),
        subsample(options.subsample),
        batch(options.batch),
        device(options.device),
        scale(options.scale),
        stage_times(options.stage_times) {
    for (const PlannedModel &m : scoring.plan().models)
      for (const std::string &score : m.model->scores())
        model_infos.push_back({score, m.model->source(), m.model->origin()});
  }

  // An error only if the GPU is a must.
  Status open_gpu() {
    if (wanted == Backend::cpu) return Status();
    auto opened = HipBackend::open(device);
    if (opened.ok())
      gpu = std::move(*opened);
    else
      reason = opened.status().message();
    if (gpu || wanted != Backend::hip) return Status();
    return Status(Code::unsupported, "backend=hip: " + reason + "; use backend=auto or backend=cpu");
  }

  // ---- Scores ---------------------------------------------------------------------------------------------

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
    if (scheduler.can_resume()) go_on_without_gpu();
    score_measured();
    if (scoring.complete()) {
      scoring.give_out(out);
      return Next::ready;
    }
    if (scheduler.has_lost_frames()) return Next::failed;
    if (scoring.added() < scheduler.submitted()) return Next::pending;
    return scheduler.failure().ok() ? Next::drained : Next::failed;
  }

  bool submit(Picture ref, std::span<Picture> dist) {
    if (scheduler.can_resume()) go_on_without_gpu();
    if (Status s = check_pictures(ref, dist); !s.ok()) {
      scheduler.refuse(s);
      return false;
    }
    return scheduler.submit(std::move(ref), dist);
  }

  // Where pictures are, which the format does not tell.
  Status check_pictures(const Picture &ref, std::span<const Picture> dist) const {
    if (!scheduler.layout()) return Status();
    const Reads &reads = scoring.plan().reads;
    Status status = check_planes(ref, 0, PlaneSet(reads.ref | reads.earlier[0] | reads.earlier[1]));
    for (size_t i = 0; i < dist.size() && i < dist_formats.size() && status.ok(); ++i)
      status = check_planes(dist[i], 1 + int(i), PlaneSet(reads.dist | reads.earlier_dist));
    return status;
  }

  Status check_planes(const Picture &picture, int number, PlaneSet planes) const {
    const PlaneSet host = scheduler.layout()->host_planes(number);
    for (int n = 0; n < (compared.chroma == Chroma::c400 ? 1 : 3); ++n) {
      if (!(planes >> n & 1)) continue;
      const Plane &plane = picture.planes[size_t(n)];
      if (!plane.data && !plane.device)
        return Status(Code::invalid_argument, "a picture lacks plane " + std::to_string(n));
      if (on_device(picture.format) && !readable_in_place(picture, n, compared.depth))
        return Status(
            Code::unsupported,
            "a picture in GPU memory has interleaved or shifted samples (as NV12's chroma and P010): "
            "convert it to a planar format, or copy it to system memory first");
      if (!plane.data && (host >> n & 1))
        return Status(Code::unsupported, "a picture is in GPU memory alone, and " + why_on_host(number, n) +
                                             "; copy it to system memory first");
    }
    return Status();
  }

  // Why the processor reads a plane.
  std::string why_on_host(int number, int plane) const {
    if (!on_gpu()) {
      const std::string &why = gpu ? cpu_reason : reason;
      return "no GPU measures here" + (why.empty() ? "" : " (" + why + ")");
    }
    if (number > 0 && !same_size(compared, dist_formats[size_t(number - 1)]))
      return "the processor has to scale it to " + describe(compared);
    std::vector<std::string> names;
    const Plan &plan = scoring.plan();
    for (size_t i = 0; i < plan.passes.size(); ++i) {
      const Reads &reads = plan.passes[i].reads;
      const int planes =
          number == 0 ? reads.ref | reads.earlier[0] | reads.earlier[1] : reads.dist | reads.earlier_dist;
      if (scheduler.layout()->on_cpu(i) && (planes >> plane & 1))
        names.push_back(plan.name_of(plan.passes[i]));
    }
    return join(names) + (names.size() > 1 ? " have" : " has") + " no GPU kernels with these options";
  }

  // ---- Formats --------------------------------------------------------------------------------------------

  Status configure(const PictureFormat &ref, std::span<const PictureFormat> dist) {
    const bool failed = !scheduler.failure().ok();
    scheduler.close();
    scoring.reset();
    remarks.clear();
    cpu_reason.clear();
    // A GPU that was lost stays so for all that was made on it; opened anew it may work.
    if (wanted == Backend::hip && (failed || !gpu)) {
      gpu.reset();
      if (Status s = open_gpu(); !s.ok()) return s;
    }
    if (int(dist.size()) != distorted)
      return Status(Code::invalid_argument, "the session compares " + std::to_string(distorted) +
                                                " distorted pictures with a reference, not " +
                                                std::to_string(dist.size()));
    const Plan &plan = scoring.plan();
    if (Status s = check_formats(ref, dist, plan.reads.chroma(), scale); !s.ok()) return s;
    ref_format = compared = ref;
    dist_formats.assign(dist.begin(), dist.end());
    compared.coded_depth = dist[0].depth;
    compared.memory = MemoryKind::host;
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

    std::vector<HipBackend::Item> device_items;
    auto layout = make_layout(device_items);
    if (!layout.ok()) return layout.status();
    if (Status s = (*layout)->status(); !s.ok()) return s;
    if (Status s = scoring.configure(compared); !s.ok()) return s;
    std::unique_ptr<Accelerator> accelerator;
    if (!device_items.empty()) {
      auto made = make_accelerator(**layout, std::move(device_items));
      if (made.ok()) {
        accelerator = std::move(*made);
      } else {
        if (Status s = without_gpu(made.status()); !s.ok()) return s;
        *layout = make_cpu_layout((*layout)->take_items());
      }
    }
    if (!scheduler.configure(std::move(*layout), stage_times, std::move(accelerator)))
      return Status(Code::resource, "comparing pictures of " + describe(compared) + " with " +
                                        std::to_string(scheduler.threads()) + " threads needs " +
                                        in_units(scheduler.memory_needed()) +
                                        " of memory at least, which is not there; lower `threads`");
    return Status();
  }

  // That the GPU cannot be used for these formats: an error, or the CPU does it and users are told.
  Status without_gpu(const Status &why) {
    if (wanted == Backend::hip || any_on_device()) {
      // Where memory is short the text says what to do.
      const bool advise = wanted == Backend::hip && why.code() != Code::resource;
      return Status(why.code(),
                    "backend=hip: " + why.message() + (advise ? "; use backend=auto or backend=cpu" : ""));
    }
    // With less to do it may have enough memory another time.
    if (why.code() != Code::resource) drop_gpu(why.message());
    cpu_reason = why.message();
    remarks.push_back("the CPU measures instead of the GPU: " + why.message());
    return Status();
  }

  void drop_gpu(const std::string &why) {
    gpu.reset();
    reason = why;
  }

  bool any_on_device() const {
    return on_device(ref_format) || std::any_of(dist_formats.begin(), dist_formats.end(), on_device);
  }

  // The items that the GPU measures go to `device_items`.
  Result<std::unique_ptr<FrameLayout>> make_layout(std::vector<HipBackend::Item> &device_items) {
    const Plan &plan = scoring.plan();
    std::vector<FrameLayout::Item> items;
    std::vector<HipBackend::DeviceMetric> metrics(plan.passes.size());
    bool any = false;
    for (size_t i = 0; gpu && i < metrics.size(); ++i) {
      const PlannedPass &pass = plan.passes[i];
      auto metric = gpu->make(*pass.extractor, plan.options_of(pass), compared, distorted);
      if (!metric.ok()) {
        if (Status s = without_gpu(metric.status()); !s.ok()) return s;
        metrics.assign(metrics.size(), nullptr);
        any = false;
        break;
      }
      metrics[i] = std::move(*metric);
      any |= metrics[i] != nullptr;
    }
    if (gpu && !any && cpu_reason.empty()) {
      cpu_reason = "there are no GPU kernels for these options";
      if (wanted == Backend::hip)
        return Status(Code::unsupported, "backend=hip: " + cpu_reason + "; use backend=auto or backend=cpu");
    }
    if (Status s = check_memory(metrics); !s.ok()) return s;
    for (size_t i = 0; i < metrics.size(); ++i) {
      const PlannedPass &pass = plan.passes[i];
      items.push_back({metrics[i] ? nullptr : make_cpu_metric(pass), pass.extractor->sums_bytes,
                       pass.extractor->add_sums, pass.reads, pass.temporal, int(pass.members.size())});
    }
    DeviceUse use;
    use.ref = on_device(ref_format);
    for (const PictureFormat &d : dist_formats) use.dist.push_back(on_device(d));
    use.keeps = any && wanted == Backend::automatic && !any_on_device();
    auto layout = std::make_unique<FrameLayout>(std::move(items), compared, distorted, uint64_t(subsample),
                                                all_scalers(), std::move(use));
    for (size_t i = 0; i < metrics.size(); ++i)
      if (metrics[i]) {
        const PlannedPass &pass = plan.passes[i];
        device_items.push_back({std::move(metrics[i]), pass.extractor->sums_bytes * pass.members.size(),
                                layout->sums_at(i, 0), pass.temporal});
      }
    return layout;
  }

  std::unique_ptr<Metric> make_cpu_metric(const PlannedPass &pass) const {
    return cpu.make(*pass.extractor, scoring.plan().options_of(pass), compared, distorted);
  }

  // Pictures in device memory are not for CPU metrics.
  Status check_memory(const std::vector<HipBackend::DeviceMetric> &metrics) const {
    if (!any_on_device()) return Status();
    const std::string advice = "; copy them to system memory first";
    if (!gpu)
      return Status(Code::unsupported, "the pictures are in GPU memory, and no GPU measures here" +
                                           (reason.empty() ? "" : " (" + reason + ")") + advice);
    if (on_device(ref_format))
      if (Status s = check_on_device(compared, ref_format); !s.ok()) return s;
    bool dist = false;
    for (const PictureFormat &d : dist_formats) {
      if (!on_device(d)) continue;
      dist = true;
      if (Status s = check_on_device(compared, d); !s.ok()) return s;
    }
    const Plan &plan = scoring.plan();
    for (size_t i = 0; i < metrics.size(); ++i) {
      const PlannedPass &pass = plan.passes[i];
      const Reads &reads = pass.reads;
      const bool wants = (on_device(ref_format) && (reads.ref | reads.earlier[0] | reads.earlier[1])) ||
                         (dist && (reads.dist | reads.earlier_dist));
      if (!metrics[i] && wants)
        return Status(Code::unsupported, "the pictures are in GPU memory, and " + plan.name_of(pass) +
                                             " has no GPU kernels with these options" + advice);
    }
    return Status();
  }

  std::vector<FrameLayout::Scalers> all_scalers() const {
    const Reads &reads = scoring.plan().reads;
    std::vector<FrameLayout::Scalers> scalers;
    for (const PictureFormat &d : dist_formats)
      scalers.push_back(make_scalers(cpu, scale, compared, d, reads.dist | reads.earlier_dist));
    return scalers;
  }

  // Of the items of another layout; the CPU measures what the GPU did.
  std::unique_ptr<FrameLayout> make_cpu_layout(std::vector<FrameLayout::Item> items) const {
    for (size_t i = 0; i < items.size(); ++i)
      if (!items[i].metric) items[i].metric = make_cpu_metric(scoring.plan().passes[i]);
    return std::make_unique<FrameLayout>(std::move(items), compared, distorted, uint64_t(subsample),
                                         all_scalers());
  }

  Result<std::unique_ptr<Accelerator>> make_accelerator(const FrameLayout &layout,
                                                        std::vector<HipBackend::Item> items) const {
    HipBackend::Work work;
    work.items = std::move(items);
    work.format = compared;
    work.distorted = distorted;
    work.subsample = uint64_t(subsample);
    work.lookback = scoring.plan().reads.lookback();
    work.ref = layout.uploads_ref();
    work.dist = layout.uploads_dist();
    work.upload_bytes = layout.upload_bytes();
    work.threads = scheduler.threads();
    work.batch = batch;
    return gpu->make_accelerator(std::move(work));
  }

  // ---- Failure --------------------------------------------------------------------------------------------

  void go_on_without_gpu() {
    const std::string why = scheduler.failure().message();
    drop_gpu(why);
    remarks.push_back("the GPU failed, and the CPU goes on in its place: " + why);
    const auto old = scheduler.withdraw();
    const Status lost(Code::resource, "the GPU failed (" + why +
                                          "), and pictures that are in its memory alone are "
                                          "lost with it; the CPU can go on with pictures in system memory");
    (void)scheduler.resume(make_cpu_layout(old->take_items()), lost);  // if that fails too, next() finds out
  }

  // Before configure(): whether it may.
  bool on_gpu() const { return gpu && (scheduler.accelerator() || !scheduler.layout()); }

  std::string description() const {
    const std::string workers =
        "cpu (" + std::string(cpu.isa()) + "), " + std::to_string(scheduler.threads()) + " threads";
    return on_gpu() ? "hip (" + gpu->description() + "), " + workers : workers;
  }
};

Result<std::unique_ptr<Session>> Session::create(const SessionOptions &options) {
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
  if (options.batch < 0 || options.batch > kMostBatch)
    return Status(Code::invalid_argument, "batch must be 0 (by picture size) to " +
                                              std::to_string(kMostBatch) + ", not " +
                                              std::to_string(options.batch));
  auto plan = Plan::make(options.models, options.features);
  if (!plan.ok()) return plan.status();
  auto cpu = CpuBackend::choose();
  if (!cpu.ok()) return cpu.status();
  const int threads =
      options.threads > 0 ? options.threads : int(std::max(1u, std::thread::hardware_concurrency()));
  auto impl = std::make_unique<Impl>(std::move(*plan), *cpu, options, threads);
  if (Status s = impl->open_gpu(); !s.ok()) return s;
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
std::string Session::backend_description() const { return impl_->description(); }
std::string Session::backend_reason() const { return impl_->gpu ? impl_->cpu_reason : impl_->reason; }
std::shared_ptr<const Gpu> Session::gpu() const { return impl_->on_gpu() ? impl_->gpu->share() : nullptr; }
uint64_t Session::device_bytes() const {
  const Accelerator *accelerator = impl_->scheduler.accelerator();
  return accelerator ? accelerator->device_bytes() : 0;
}
uint64_t Session::pinned_bytes() const {
  const Accelerator *accelerator = impl_->scheduler.accelerator();
  return accelerator ? accelerator->pinned_bytes() : 0;
}
uint64_t Session::host_bytes() const { return impl_->scheduler.used_bytes(); }
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

bool Session::call_at(int frames) { return impl_->scheduler.call_at(frames); }
int Session::frames_at_a_time() const {
  const Accelerator *accelerator = impl_->scheduler.accelerator();
  return accelerator ? std::clamp(accelerator->places() / 4, 1, kMostAtATime) : 1;
}

Status Session::configure(const PictureFormat &ref, std::span<const PictureFormat> dist) {
  return impl_->configure(ref, dist);
}
Status Session::configure(const PictureFormat &ref, const PictureFormat &dist) {
  return impl_->configure(ref, {&dist, 1});
}

std::shared_ptr<const Importer> Session::importer() const {
  return impl_->on_gpu() ? impl_->gpu->importer() : nullptr;
}
uint8_t Session::host_planes(int picture) const {
  const FrameLayout *layout = impl_->scheduler.layout();
  return layout ? layout->host_planes(picture) : 0;
}

bool Session::scores_next() const { return impl_->scheduler.submitted() % uint64_t(impl_->subsample) == 0; }
bool Session::has_room() const { return impl_->scheduler.has_room(); }
bool Session::submit(Picture ref, std::span<Picture> dist) { return impl_->submit(std::move(ref), dist); }
bool Session::submit(Picture ref, Picture dist) { return impl_->submit(std::move(ref), {&dist, 1}); }
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
  if (Status s = impl_->scheduler.failure(); !s.ok() && !impl_->scheduler.can_resume()) {
    if (impl_->wanted != Backend::hip || s.code() != Code::resource) return s;
    return Status(s.code(),
                  "backend=hip: " + s.message() + "; with backend=auto the CPU goes on in its place");
  }
  return files_status();
}

Status Session::files_status() const {
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
  for (size_t i = 0; i < plan.passes.size(); ++i)
    for (int stage = 0; stage < layout->stages(i); ++stage)
      times.push_back(
          {plan.name_of(plan.passes[i]), stage, impl_->scheduler.stage_seconds(i + 1, size_t(stage))});
  if (impl_->scheduler.accelerator())
    times.push_back({"launch", 0, impl_->scheduler.stage_seconds(1 + layout->chains(), 0)});
  return times;
}

}  // namespace vmafhip
