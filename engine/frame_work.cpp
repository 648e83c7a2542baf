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
                         uint64_t subsample, std::vector<Scalers> scalers)
    : scalers_(std::move(scalers)), depth_(format.depth), distorted_(distorted), subsample_(subsample) {
  for (Item &item : items) {
    every_frame_ |= item.every_frame;
    reads_ |= item.reads;
    if (item.every_frame) reads_between_ |= item.reads;
    Chain chain;
    for (int stage = 0; stage < item.metric->stages(); ++stage) {
      chain.strips.push_back(item.metric->strips(stage));
      chain.tasks += chain.strips.back();
    }
    scratch_bytes_ = std::max(scratch_bytes_, aligned(item.metric->scratch_bytes()));
    chain.memory = frame_bytes_;
    frame_bytes_ = plus(frame_bytes_, aligned(item.metric->frame_bytes()));
    chain.partials = frame_bytes_;
    chain.partial_bytes = aligned(item.sums_bytes * uint64_t(distorted));
    frame_bytes_ = plus(frame_bytes_, times(chain.partial_bytes, uint64_t(chain.tasks)));
    chain.sums = sums_bytes_;
    sums_bytes_ += chain.partial_bytes;
    chain.item = std::move(item);
    chains_.push_back(std::move(chain));
  }
  add_picture(format, {Role::ref}, reads_.ref, reads_between_.ref);
  for (int i = 0; i < 2; ++i)
    add_picture(format, {Role::earlier, i}, reads_.earlier[size_t(i)], reads_between_.earlier[size_t(i)]);
  for (int i = 0; i < distorted; ++i) {
    const Scalers *scaled = scalers_.empty() ? nullptr : &scalers_[size_t(i)];
    add_picture(format, {Role::dist, i, scaled}, reads_.dist, reads_between_.dist);
    add_picture(format, {Role::earlier_dist, i, scaled}, reads_.earlier_dist, reads_between_.earlier_dist);
  }
  std::stable_partition(planes_.begin(), planes_.end(), [](const PlaneUse &use) { return use.scaler; });
}

void FrameLayout::add_picture(const PictureFormat &format, const PictureUse &picture, PlaneSet planes,
                              PlaneSet between) {
  if (format.chroma == Chroma::c400) planes &= kLuma;
  if (!planes) return;
  pictures_.push_back(picture);
  for (int plane = 0; plane < 3; ++plane) {
    if (!(planes >> plane & 1)) continue;
    const PlaneSize size = plane_size(format, plane);
    const uint64_t bytes = uint64_t(size.width) * uint64_t(size.height) * (format.depth > 8 ? 2 : 1);
    PlaneUse use{picture, plane, (between >> plane & 1) != 0, frame_bytes_};
    use.width = size.width;
    use.height = size.height;
    if (picture.scalers) use.scaler = (*picture.scalers)[size_t(plane)].get();
    if (use.scaler) scratch_bytes_ = std::max(scratch_bytes_, aligned(use.scaler->scratch_bytes()));
    const uint64_t strip_bytes = use.scaler ? kScaleBytes : kUnpackBytes;
    use.rows = ceil_div(size.height, int(std::min<uint64_t>(bytes / strip_bytes + 1, size.height)));
    use.strips = ceil_div(size.height, use.rows);
    // Pages of planes that are read in place are never touched and so cost no memory.
    frame_bytes_ = plus(frame_bytes_, aligned(bytes));
    planes_.push_back(use);
  }
}

Status FrameLayout::status() const {
  for (const Chain &chain : chains_)
    if (Status s = chain.item.metric->status(); !s.ok()) return s;
  return Status();
}

// ---- Progress ---------------------------------------------------------------------------------------------

FrameWork::FrameWork(const FrameLayout &layout)
    : layout_(layout),
      progress_(1 + layout.chains_.size()),
      dist_(size_t(layout.distorted_)),
      earlier_dist_(size_t(layout.distorted_)) {
  prepared_.reserve(layout.planes_.size());
}

bool FrameWork::allocate() {
  memory_ = vmafhip::allocate(layout_.frame_bytes_);
  return memory_ != nullptr;
}

Picture &FrameWork::picture(const FrameLayout::PictureUse &use) {
  switch (use.role) {
    case FrameLayout::Role::dist:
      return pictures_->dist[size_t(use.number)];
    case FrameLayout::Role::earlier:
      return pictures_->earlier[size_t(use.number)];
    case FrameLayout::Role::earlier_dist:
      return pictures_->earlier_dist[size_t(use.number)];
    default:
      return pictures_->ref;
  }
}

PlaneView &FrameWork::view(const FrameLayout::PlaneUse &use) {
  switch (use.picture.role) {
    case FrameLayout::Role::dist:
      return dist_[size_t(use.picture.number)][size_t(use.plane)];
    case FrameLayout::Role::earlier:
      return view_.earlier[size_t(use.picture.number)][size_t(use.plane)];
    case FrameLayout::Role::earlier_dist:
      return earlier_dist_[size_t(use.picture.number)][size_t(use.plane)];
    default:
      return view_.ref[size_t(use.plane)];
  }
}

void FrameWork::begin(uint64_t index, FramePictures &pictures) {
  pictures_ = &pictures;
  view_ = FrameView();
  view_.index = index;
  view_.dist = dist_;
  view_.earlier_dist = earlier_dist_;
  for (Views &views : dist_) views = {};
  for (Views &views : earlier_dist_) views = {};
  prepared_.clear();
  int strips = 0;
  scaled_strips_ = 0;
  for (size_t i = 0; i < layout_.planes_.size(); ++i) {
    const FrameLayout::PlaneUse &use = layout_.planes_[i];
    const Picture &from = picture(use.picture);
    if (!reads(use) || !from.planes[size_t(use.plane)].data) continue;  // there may be no earlier frame
    std::byte *buffer = memory_.get() + use.buffer;
    if (use.scaler) {
      view(use) = packed_view(buffer, {use.width, use.height}, layout_.depth_);
      scaled_strips_ += use.strips;
    } else {
      view(use) = planned_view(from, use.plane, layout_.depth_, buffer);
      if (readable_in_place(from, use.plane, layout_.depth_)) continue;
    }
    prepared_.push_back(int(i));
    strips += use.strips;
  }
  open_chains_ = 1;
  progress_[0] = {0, strips, 0, 0};
  ready_ = strips;
  for (size_t chain = 1; chain < progress_.size(); ++chain) progress_[chain] = {};
  if (strips == 0) open(0);
}

// Opens what may run now that the current stage of `chain` is done.
void FrameWork::open(size_t chain) {
  if (chain == 0) {
    --open_chains_;
    for (size_t i = 1; i < progress_.size(); ++i) {
      if (!measures(layout_.chains_[i - 1])) continue;
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

bool FrameWork::take(Task &task) {
  if (ready_ == 0) return false;
  size_t best = 0;
  int most = -1;
  for (size_t chain = 0; chain < progress_.size(); ++chain) {
    const Progress &p = progress_[chain];
    if (p.taken == p.strips) continue;
    const int to_go = chain == 0 ? 1 : layout_.stages(chain - 1) - p.stage;
    if (to_go <= most) continue;
    most = to_go;
    best = chain;
  }
  Progress &p = progress_[best];
  task = {int(best), p.stage, p.taken++};
  if (best == 0) task.stage = task.strip < scaled_strips_ ? 1 : 0;
  --ready_;
  return true;
}

bool FrameWork::done(const Task &task) {
  Progress &p = progress_[size_t(task.chain)];
  if (++p.done == p.strips) open(size_t(task.chain));
  return open_chains_ == 0;
}

void FrameWork::release_prepared(std::vector<std::shared_ptr<const void>> &out) {
  for (const FrameLayout::PictureUse &used : layout_.pictures_) {
    Picture &from = picture(used);
    bool in_place = false;
    for (const FrameLayout::PlaneUse &use : layout_.planes_)
      in_place |= use.picture.role == used.role && use.picture.number == used.number && reads(use) &&
                  !use.scaler && readable_in_place(from, use.plane, layout_.depth_);
    if (!in_place && from.owner) out.push_back(std::move(from.owner));
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
  const FrameLayout::Chain &chain = layout_.chains_[size_t(task.chain - 1)];
  chain.item.metric->measure(view_, task.stage, task.strip, memory_.get() + chain.memory, scratch,
                             partial(chain, task.stage, task.strip));
}

void FrameWork::prepare(int strip, std::byte *scratch) {
  for (const int i : prepared_) {
    const FrameLayout::PlaneUse &use = layout_.planes_[size_t(i)];
    if (strip < use.strips) {
      const Picture &from = picture(use.picture);
      std::byte *buffer = memory_.get() + use.buffer;
      const int first = strip * use.rows, last = std::min(first + use.rows, use.height);
      if (use.scaler)
        use.scaler->scale(from, use.plane, buffer, first, last, scratch);
      else
        unpack_rows(from, use.plane, layout_.depth_, buffer, first, last);
      return;
    }
    strip -= use.strips;
  }
}

void FrameWork::add_up(std::byte *sums) const {
  std::memset(sums, 0, layout_.sums_bytes_);
  for (const FrameLayout::Chain &chain : layout_.chains_)
    for (int task = 0; task < chain.tasks && measures(chain); ++task) {
      const std::byte *share = memory_.get() + chain.partials + uint64_t(task) * chain.partial_bytes;
      for (int d = 0; d < layout_.distorted_; ++d) {
        const uint64_t at = uint64_t(d) * chain.item.sums_bytes;
        chain.item.add_sums(sums + chain.sums + at, share + at);
      }
    }
}

}  // namespace vmafhip
