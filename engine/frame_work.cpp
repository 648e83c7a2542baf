#include "engine/frame_work.h"

#include <algorithm>
#include <cstring>

#include "engine/view.h"

namespace vmafhip {
namespace {

// Small enough for several workers, large enough that taking a task costs nothing beside it.
constexpr uint64_t kUnpackBytes = 512 * 1024, kScaleBytes = 192 * 1024;

int ceil_div(int a, int b) { return (a + b - 1) / b; }

}  // namespace

void FramePictures::clear() {
  ref = Picture();
  earlier = {};
  for (Picture &picture : dist) picture = Picture();
  for (Picture &picture : earlier_dist) picture = Picture();
}

// ---- Layout -----------------------------------------------------------------------------------------------

FrameLayout::FrameLayout(std::vector<Item> items, const PictureFormat &format, int distorted,
                         uint64_t subsample, std::vector<Scalers> scalers, DeviceUse device)
    : scalers_(std::move(scalers)),
      depth_(format.depth),
      distorted_(distorted),
      subsample_(subsample),
      device_(std::move(device)) {
  for (Item &item : items) {
    add_reads(scored_, item);
    if (item.every_frame) add_reads(between_, item);
    Chain chain;
    for (int stage = 0; item.metric && stage < item.metric->stages(); ++stage) {
      chain.strips.push_back(item.metric->strips(stage));
      chain.tasks += chain.strips.back();
    }
    if (item.metric) scratch_bytes_ = std::max(scratch_bytes_, aligned(item.metric->scratch_bytes()));
    chain.memory = frame_bytes_;
    if (item.metric) frame_bytes_ = plus(frame_bytes_, aligned(item.metric->frame_bytes()));
    chain.partials = frame_bytes_;
    chain.partial_bytes = aligned(item.sums_bytes * uint64_t(distorted * item.option_sets));
    frame_bytes_ = plus(frame_bytes_, times(chain.partial_bytes, uint64_t(chain.tasks)));
    chain.sums = sums_bytes_;
    sums_bytes_ += chain.partial_bytes;
    chain.item = std::move(item);
    chains_.push_back(std::move(chain));
  }
  metric_bytes_ = frame_bytes_;
  // What the accelerator reads of earlier pictures goes to it while they are current, unless it reads them where they are.
  const auto current = [](bool on_device, PlaneSet now, PlaneSet later) {
    return on_device ? now : PlaneSet(now | later);
  };
  const AllReads &all = scored_, &few = between_;
  const auto ref = [&](const Reads &r) {
    return current(device_.ref, r.ref, PlaneSet(r.earlier[0] | r.earlier[1]));
  };
  add_picture(format, {Role::ref}, {all.metrics.ref, few.metrics.ref, ref(all.device), ref(few.device)});
  for (int i = 0; i < 2; ++i) {
    const auto n = size_t(i);
    add_picture(
        format, {Role::earlier, i},
        {all.metrics.earlier[n], few.metrics.earlier[n], all.device.earlier[n], few.device.earlier[n]});
  }
  for (int i = 0; i < distorted; ++i) {
    const Scalers *scaled = scalers_.empty() ? nullptr : &scalers_[size_t(i)];
    const bool there = dist_on_device(i);
    add_picture(format, {Role::dist, i, scaled},
                {all.metrics.dist, few.metrics.dist, current(there, all.device.dist, all.device.earlier_dist),
                 current(there, few.device.dist, few.device.earlier_dist)});
    add_picture(format, {Role::earlier_dist, i, scaled},
                {all.metrics.earlier_dist, few.metrics.earlier_dist, all.device.earlier_dist,
                 few.device.earlier_dist});
  }
  std::stable_partition(planes_.begin(), planes_.end(), [](const PlaneUse &use) { return use.scaler; });
}

void FrameLayout::add_reads(AllReads &all, const Item &item) const {
  all.any = true;
  if (item.metric) {
    all.metrics |= item.reads;
    all.holds |= item.reads;
    return;
  }
  all.device_any = true;
  all.device |= item.reads;
  Reads holds = item.reads;
  holds.ref |= PlaneSet(item.reads.earlier[0] | item.reads.earlier[1]);
  holds.dist |= item.reads.earlier_dist;
  all.holds |= holds;
}

void FrameLayout::add_picture(const PictureFormat &format, const PictureUse &picture,
                              const PlaneReads &reads) {
  PlaneSet planes = PlaneSet(reads.metrics | reads.device);
  if (format.chroma == Chroma::c400) planes &= kLuma;
  if (!planes) return;
  pictures_.push_back(picture);
  const bool on_device = picture.role == Role::ref || picture.role == Role::earlier
                             ? device_.ref
                             : dist_on_device(picture.number);
  for (int plane = 0; plane < 3; ++plane) {
    if (!(planes >> plane & 1)) continue;
    const auto when = [&](PlaneSet scored, PlaneSet between) {
      return between >> plane & 1 ? When::always : scored >> plane & 1 ? When::scored : When::never;
    };
    const PlaneSize size = plane_size(format, plane);
    PlaneUse use{picture, plane, when(reads.metrics, reads.metrics_between),
                 when(reads.device, reads.device_between)};
    use.upload = use.device != When::never && !on_device && is_current(picture.role);
    if (use.upload) (picture.role == Role::ref ? uploads_ref_ : uploads_dist_) |= PlaneSet(1 << plane);
    uint64_t &total = use.upload ? upload_bytes_ : frame_bytes_;
    use.buffer = total;
    use.width = size.width;
    use.height = size.height;
    const uint64_t bytes = plane_bytes(use);
    if (picture.scalers) use.scaler = (*picture.scalers)[size_t(plane)].get();
    if (use.scaler) scratch_bytes_ = std::max(scratch_bytes_, aligned(use.scaler->scratch_bytes()));
    const uint64_t strip_bytes = use.scaler ? kScaleBytes : kUnpackBytes;
    use.rows = ceil_div(size.height, int(std::min<uint64_t>(bytes / strip_bytes + 1, size.height)));
    use.strips = ceil_div(size.height, use.rows);
    // Pages of planes that are read in place are never touched and so cost no memory.
    if (use.upload || use.metrics != When::never) total = plus(total, aligned(bytes));
    planes_.push_back(use);
  }
}

// Of a frame's pictures.
template <class Pictures>
auto &FrameLayout::picture(Pictures &pictures, const PictureUse &use) {
  switch (use.role) {
    case Role::dist:
      return pictures.dist[size_t(use.number)];
    case Role::earlier:
      return pictures.earlier[size_t(use.number)];
    case Role::earlier_dist:
      return pictures.earlier_dist[size_t(use.number)];
    default:
      return pictures.ref;
  }
}

bool FrameLayout::in_place(const PlaneUse &use, const Picture &from) const {
  return !use.scaler && from.planes[size_t(use.plane)].data && readable_in_place(from, use.plane, depth_);
}

PlaneView FrameLayout::direct(const PlaneUse &use, const Picture &from) const {
  const Plane &plane = from.planes[size_t(use.plane)];
  PlaneView there = {plane.data, plane.stride, plane.width, plane.height, depth_, from.format.memory};
  if (there.memory == MemoryKind::device) return there;
  if (plane.device && !use.scaler) {
    there.data = reinterpret_cast<const void *>(uintptr_t(plane.device));
    there.memory = MemoryKind::device;
    there.depth = from.format.depth;
    there.step = plane.step;
    there.shift = from.shift;
    // What had to be unpacked was so while it was current.
    return use.upload || readable_on_device(there, depth_) ? there : PlaneView();
  }
  // Drivers copy no rows from the last to the first.
  const bool copied =
      there.memory == MemoryKind::pinned && use.upload && in_place(use, from) && plane.stride > 0;
  return copied ? there : PlaneView();
}

bool FrameLayout::read_later(const Picture &picture, bool is_ref) const {
  // Only what reads every frame reads earlier ones.
  const auto earlier = [&](const Reads &reads) {
    return PlaneSet(is_ref ? reads.earlier[0] | reads.earlier[1] : reads.earlier_dist);
  };
  if (device_.keeps || earlier(between_.metrics)) return true;
  for (const PlaneUse &use : planes_) {
    const Role role = use.picture.role;
    if (role == (is_ref ? Role::earlier : Role::earlier_dist) && use.device != When::never &&
        direct(use, picture).data)
      return true;
  }
  return false;
}

bool FrameLayout::readable(uint64_t frame, const FramePictures &pictures) const {
  return std::none_of(planes_.begin(), planes_.end(), [&](const PlaneUse &use) {
    const Plane &plane = picture(pictures, use.picture).planes[size_t(use.plane)];
    return reads(use.metrics, frame) && plane.device && !plane.data;
  });
}

PlaneSet FrameLayout::host_planes(int picture) const {
  PlaneSet planes = 0;
  for (const PlaneUse &use : planes_) {
    const bool is_ref = use.picture.role == Role::ref || use.picture.role == Role::earlier;
    if ((is_ref ? 0 : 1 + use.picture.number) == picture && (use.metrics != When::never || use.scaler))
      planes |= PlaneSet(1 << use.plane);
  }
  return planes;
}

Status FrameLayout::status() const {
  for (const Chain &chain : chains_)
    if (chain.item.metric)
      if (Status s = chain.item.metric->status(); !s.ok()) return s;
  return Status();
}

// Last stages have few strips: over all of its time, a frame keeps about a third as many workers busy as it has strips to a
// stage. Simulated with the times that strips of vmaf_v0.6.1 and v1.0.16 take, 2 to 128 workers get through as many frames
// with these as with one each, which for 64 workers would take 3.5 (1080p) or 9 times (2160p) the memory.
int FrameLayout::useful_frames(int workers) const {
  int64_t stages = 0, strips = 0;
  for (const Chain &chain : chains_) {
    stages = std::max(stages, int64_t(chain.strips.size()));
    strips += chain.tasks;
  }
  return strips == 0 ? workers : int(std::min<int64_t>(workers, 2 + 3 * stages * workers / strips));
}

std::vector<FrameLayout::Item> FrameLayout::take_items() {
  std::vector<Item> items;
  for (Chain &chain : chains_) items.push_back(std::move(chain.item));
  return items;
}

// ---- Progress ---------------------------------------------------------------------------------------------

FrameWork::FrameWork(const FrameLayout &layout, Accelerator *accelerator, int place)
    : layout_(layout),
      accelerator_(accelerator),
      place_(place),
      progress_(1 + layout.chains_.size() + 1),
      used_(layout.planes_.size()),
      view_(layout.distorted_),
      device_view_(layout.distorted_) {
  prepared_.reserve(layout.planes_.size());
}

bool FrameWork::allocate() {
  memory_ = vmafhip::allocate(layout_.frame_bytes_);
  return memory_ != nullptr;
}

uint64_t FrameWork::used_bytes() const {
  uint64_t bytes = layout_.metric_bytes_;
  for (size_t i = 0; i < used_.size(); ++i)
    if (used_[i]) bytes += layout_.plane_bytes(layout_.planes_[i]);
  return bytes;
}

void FrameWork::View::begin(uint64_t index) {
  for (Views &views : dist) views = {};
  for (Views &views : earlier_dist) views = {};
  frame = FrameView();
  frame.index = index;
  frame.dist = dist;
  frame.earlier_dist = earlier_dist;
}

PlaneView &FrameWork::View::plane(const FrameLayout::PlaneUse &use) {
  switch (use.picture.role) {
    case FrameLayout::Role::dist:
      return dist[size_t(use.picture.number)][size_t(use.plane)];
    case FrameLayout::Role::earlier:
      return frame.earlier[size_t(use.picture.number)][size_t(use.plane)];
    case FrameLayout::Role::earlier_dist:
      return earlier_dist[size_t(use.picture.number)][size_t(use.plane)];
    default:
      return frame.ref[size_t(use.plane)];
  }
}

Picture &FrameWork::picture(const FrameLayout::PictureUse &use) const {
  return FrameLayout::picture(*pictures_, use);
}

std::byte *FrameWork::buffer(const FrameLayout::PlaneUse &use) const {
  std::byte *const memory = use.upload ? accelerator_->upload_memory(place_) : memory_.get();
  return memory ? memory + use.buffer : nullptr;
}

void FrameWork::begin(uint64_t index, FramePictures &pictures, std::byte *sums) {
  pictures_ = &pictures;
  sums_ = sums;
  view_.begin(index);
  device_view_.begin(index);
  prepared_.clear();
  int strips = 0;
  scaled_strips_ = 0;
  for (size_t i = 0; i < layout_.planes_.size(); ++i) {
    const FrameLayout::PlaneUse &use = layout_.planes_[i];
    const Picture &from = picture(use.picture);
    const Plane &plane = from.planes[size_t(use.plane)];
    const bool metrics = metrics_read(use), device = device_reads(use);
    // There may be no earlier frame, or nothing of it that is read where it is.
    if (!(plane.data || plane.device) || !(metrics || device)) continue;
    const PlaneView direct = device ? layout_.direct(use, from) : PlaneView();
    if (direct.data) device_view_.plane(use) = direct;
    const bool upload = device && use.upload && !direct.data, readable = in_place(use, from);
    if (metrics && readable)
      view_.plane(use) = {plane.data,   plane.stride,   plane.width,
                          plane.height, layout_.depth_, from.format.memory};
    if (!upload && (readable || !metrics)) continue;
    if (use.scaler) scaled_strips_ += use.strips;
    prepared_.push_back(int(i));
    used_[i] = !use.upload;
    strips += use.strips;
  }
  open_chains_ = 1;
  progress_[0] = {0, strips, 0, 0};
  ready_ = strips;
  for (size_t chain = 1; chain < progress_.size(); ++chain) progress_[chain] = {};
  if (strips == 0) open(0);
}

// What was prepared is read in its buffer by all that do not read it where it was. Workers have asked for that before,
// which may take long.
void FrameWork::view_prepared() {
  for (const int i : prepared_) {
    const FrameLayout::PlaneUse &use = layout_.planes_[size_t(i)];
    PlaneView prepared = packed_view(buffer(use), {use.width, use.height}, layout_.depth_);
    if (metrics_read(use) && !view_.plane(use).data) view_.plane(use) = prepared;
    prepared.memory = MemoryKind::pinned;
    if (use.upload && device_reads(use) && !device_view_.plane(use).data) device_view_.plane(use) = prepared;
  }
}

// Opens what may run now that the current stage of `chain` is done.
void FrameWork::open(size_t chain) {
  if (chain == 0) {
    view_prepared();
    --open_chains_;
    if (layout_.accelerates(index())) {
      ++open_chains_;
      ++ready_;
      progress_.back() = {0, 1, 0, 0};
    }
    for (size_t i = 1; i + 1 < progress_.size(); ++i) {
      if (!layout_.chains_[i - 1].item.metric || !measures(layout_.chains_[i - 1])) continue;
      ++open_chains_;
      progress_[i].stage = -1;
      open(i);
    }
    return;
  }
  const std::vector<int> &strips = layout_.chains_[chain - 1].strips;
  Progress &p = progress_[chain];
  do {
    ++p.stage;
  } while (p.stage < int(strips.size()) && strips[size_t(p.stage)] == 0);
  if (p.stage == int(strips.size())) {
    p = {p.stage, 0, 0, 0};
    --open_chains_;
    return;
  }
  p = {p.stage, strips[size_t(p.stage)], 0, 0};
  ready_ += p.strips;
}

// What comes first has the largest number. Chains that begin to read the pictures keep pace with each other, down the rows,
// so that one finds in the cache what another has read: 2 to 4 % less time at 1080p and 2160p.
int FrameWork::urgency(size_t chain, bool in_a_hurry) const {
  constexpr int kMost = 1'000'000, kPerStage = 10'000;
  const Progress &p = progress_[chain];
  if (chain + 1 == progress_.size()) return 2 * kMost;
  if (chain == 0) return 0;
  if (p.stage == 0 && !in_a_hurry) return kMost - int(int64_t(kPerStage) * p.taken / p.strips);
  return kPerStage * (layout_.stages(chain - 1) - p.stage);
}

bool FrameWork::take(Task &task, bool in_a_hurry) {
  if (ready_ == 0) return false;
  size_t best = 0;
  int most = -1;
  for (size_t chain = 0; chain < progress_.size(); ++chain) {
    if (progress_[chain].taken == progress_[chain].strips) continue;
    const int here = urgency(chain, in_a_hurry);
    if (here <= most) continue;
    most = here;
    best = chain;
  }
  Progress &p = progress_[best];
  task = {int(best), p.stage, p.taken++};
  if (best == 0) task.stage = task.strip < scaled_strips_ ? 1 : 0;
  --ready_;
  return true;
}

// What closes it is both: start() has returned, and the sums are there.
bool FrameWork::end_accelerated() {
  if (++progress_.back().done == 2) --open_chains_;
  return open_chains_ == 0;
}

bool FrameWork::accelerated() { return end_accelerated(); }

bool FrameWork::done(const Task &task) {
  if (size_t(task.chain) + 1 == progress_.size()) return end_accelerated();
  Progress &p = progress_[size_t(task.chain)];
  if (++p.done == p.strips) open(size_t(task.chain));
  return open_chains_ == 0;
}

void FrameWork::release_prepared(std::vector<std::shared_ptr<const void>> &out) {
  // Frames that the accelerator has nothing to do with are begun anew as well when it fails while they are under way.
  if (layout_.can_be_redone()) return;
  for (const FrameLayout::PictureUse &used : layout_.pictures_) {
    Picture &from = picture(used);
    bool needed = false;
    for (const FrameLayout::PlaneUse &use : layout_.planes_)
      needed |= use.picture.role == used.role && use.picture.number == used.number &&
                ((metrics_read(use) && in_place(use, from)) ||
                 (device_reads(use) && layout_.direct(use, from).data));
    if (!needed && from.owner) out.push_back(std::move(from.owner));
  }
}

// ---- Work -------------------------------------------------------------------------------------------------

std::byte *FrameWork::partial(const FrameLayout::Chain &chain, int stage, int strip) const {
  int number = strip;
  for (int i = 0; i < stage; ++i) number += chain.strips[size_t(i)];
  return memory_.get() + chain.partials + uint64_t(number) * chain.partial_bytes;
}

void FrameWork::run(const Task &task, std::byte *scratch) {
  if (task.chain == 0) return prepare(task.strip, scratch);
  if (size_t(task.chain) + 1 == progress_.size())
    return accelerator_->start(place_, device_view_.frame, sums_);
  const FrameLayout::Chain &chain = layout_.chains_[size_t(task.chain - 1)];
  chain.item.metric->measure(view_.frame, task.stage, task.strip, memory_.get() + chain.memory, scratch,
                             partial(chain, task.stage, task.strip));
}

void FrameWork::prepare(int strip, std::byte *scratch) {
  for (const int i : prepared_) {
    const FrameLayout::PlaneUse &use = layout_.planes_[size_t(i)];
    if (strip < use.strips) {
      const Picture &from = picture(use.picture);
      const int first = strip * use.rows, last = std::min(first + use.rows, use.height);
      std::byte *const to = buffer(use);
      if (!to) return;  // the accelerator has failed, and there is no further task of the frame
      if (use.scaler)
        use.scaler->scale(from, use.plane, to, first, last, scratch);
      else if (use.upload && !metrics_read(use))
        unpack_rows_for_device(from, use.plane, layout_.depth_, to, first, last);
      else
        unpack_rows(from, use.plane, layout_.depth_, to, first, last);
      return;
    }
    strip -= use.strips;
  }
}

void FrameWork::add_up() const {
  for (const FrameLayout::Chain &chain : layout_.chains_) {
    if (!chain.item.metric && measures(chain)) continue;
    std::memset(sums_ + chain.sums, 0, chain.partial_bytes);
    for (int task = 0; task < chain.tasks && measures(chain); ++task) {
      const std::byte *share = memory_.get() + chain.partials + uint64_t(task) * chain.partial_bytes;
      for (int i = 0; i < layout_.distorted_ * chain.item.option_sets; ++i) {
        const uint64_t at = uint64_t(i) * chain.item.sums_bytes;
        chain.item.add_sums(sums_ + chain.sums + at, share + at);
      }
    }
  }
}

}  // namespace vmafhip
