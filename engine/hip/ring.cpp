#include "engine/hip/ring.h"

#include <algorithm>
#include <utility>

#include "engine/hip/calls.h"
#include "engine/memory.h"
#include "engine/view.h"

namespace vmafhip::hip {
namespace {

// Kernels read 128 bytes at a time. Widths that are multiples of it leave no gaps between rows, which copies like.
constexpr size_t kRowAlign = 128;

}  // namespace

Ring::Layout Ring::layout(const HipBackend::Work &work, uint64_t &block_bytes) {
  Layout pictures(1 + size_t(work.distorted));
  block_bytes = 0;
  for (size_t picture = 0; picture < pictures.size(); ++picture)
    for (int n = 0; n < 3; ++n) {
      const PlaneSize size = plane_size(work.format, n);
      if (!((picture == 0 ? work.ref : work.dist) >> n & 1) || size.width == 0) continue;
      RingPlane &plane = pictures[picture][size_t(n)];
      plane.used = true;
      plane.at = block_bytes;
      plane.width = size.width;
      plane.height = size.height;
      plane.row = size_t(size.width) * (work.format.depth > 8 ? 2 : 1);
      plane.stride = int64_t((plane.row + kRowAlign - 1) / kRowAlign * kRowAlign);
      block_bytes = plus(block_bytes, times(uint64_t(plane.stride), uint64_t(size.height)));
    }
  return pictures;
}

uint64_t Ring::most_bytes(const HipBackend::Work &work, int frames) {
  uint64_t block_bytes = 0;
  layout(work, block_bytes);
  return times(block_bytes, uint64_t(frames + work.lookback));
}

Ring::Ring(const Device &device, const UploadMemory &own, const HipBackend::Work &work, int frames)
    : device_(device),
      own_(own),
      layout_(layout(work, block_bytes_)),
      depth_(work.format.depth),
      lookback_(uint64_t(work.lookback)),
      sent_events_{Event(device), Event(device)},
      most_(size_t(frames) + lookback_),
      stream_(device) {
  free_.reserve(most_);
  for (; made_ < 1 + lookback_; ++made_) free_.emplace_back(device_, block_bytes_);
}

bool Ring::prepare(uint64_t oldest) {
  for (; first_ + lookback_ < oldest; ++first_) {
    free_.push_back(std::move(held_.front()));
    held_.pop_front();
  }
  // With what was made in the beginning there is a free one as soon as all others are measured.
  if (free_.empty()) {
    if (made_ >= most_ || short_of_memory_) return false;
    try {
      free_.emplace_back(device_, block_bytes_);
      ++made_;
    } catch (const DeviceError &error) {
      if (!error.out_of_memory()) throw;
      short_of_memory_ = true;
      return false;
    }
  }
  held_.push_back(std::move(free_.back()));
  free_.pop_back();
  return true;
}

void Ring::clear() {
  for (Block &block : held_) free_.push_back(std::move(block));
  held_.clear();
  first_ = 0;
  copies_.clear();
  sent_ = arrived_ = 0;
}

bool Ring::is_read_there(const PlaneView &given, const RingPlane &here) const {
  return given.memory == MemoryKind::device && (!here.used || readable_on_device(given, depth_));
}

void Ring::upload(uint64_t number, const FrameView &view) {
  const DeviceAddress<std::byte> to = block(number).address();
  const size_t first = copies_.size();
  std::optional<Unpacker::Launch> unpack;
  const auto bring = [&](const Views &views, size_t picture) {
    for (size_t n = 0; n < 3; ++n) {
      const PlaneView &from = views[n];
      const RingPlane &here = layout_[picture][n];
      if (!from.data || is_read_there(from, here)) continue;
      if (from.memory == MemoryKind::device) {
        if (!unpacker_) unpacker_.emplace(device_, depth_);
        if (!unpack) unpack.emplace(*unpacker_, stream_);
        unpack->add(from, {to + int64_t(here.at), here.stride, here.width, here.height});
      } else {
        add({pointer((to + int64_t(here.at)).value), size_t(here.stride), from.data, size_t(from.stride),
             here.row, size_t(here.height)},
            first);
      }
    }
  };
  bring(view.ref, 0);
  for (size_t d = 0; d < view.dist.size(); ++d) bring(view.dist[d], 1 + d);
  if (unpack) unpack->flush();
}

// One copy where it goes on behind the one before, on both sides. Drivers refuse copies that leave what was allocated or pinned
// at once: on the device that is the frame's block, on the host a piece of the upload memory. Planes elsewhere may each be
// pinned by themselves, as those of dma-bufs are, which lie page by page beside each other.
void Ring::add(Upload copy, size_t first_of_frame) {
  if (copy.to_stride == copy.width && copy.from_stride == copy.width)
    copy.width *= std::exchange(copy.rows, 1);
  if (copies_.size() > first_of_frame) {
    Upload &last = copies_.back();
    if (last.rows == 1 && copy.rows == 1 && static_cast<std::byte *>(last.to) + last.width == copy.to &&
        static_cast<const std::byte *>(last.from) + last.width == copy.from &&
        own_.in_one_piece(last.from, last.width + copy.width)) {
      last.width += copy.width;
      return;
    }
  }
  copies_.push_back(copy);
}

void Ring::send() {
  if (copies_.empty()) return;
  stream_.upload(copies_);
  copies_.clear();
  stream_.record(sent_events_[sent_++ % sent_events_.size()]);
  arrived_ = std::max(arrived_, sent_ - std::min<uint64_t>(sent_, sent_events_.size()));
}

bool Ring::is_sending() {
  while (arrived_ < sent_ && sent_events_[arrived_ % sent_events_.size()].done()) ++arrived_;
  return sent_ - arrived_ == sent_events_.size();
}

DevicePlane Ring::plane(const PlaneView &given, uint64_t number, int picture, int plane) const {
  const RingPlane &here = layout_[size_t(picture)][size_t(plane)];
  if (is_read_there(given, here))
    return {{uint64_t(reinterpret_cast<uintptr_t>(given.data))}, int64_t{given.stride}};
  if (!here.used) return {};
  return {address_cast<const uint8_t>(block(number).address()) + int64_t(here.at), here.stride};
}

DeviceViews Ring::views(const Views &given, uint64_t number, int picture) const {
  return {plane(given[0], number, picture, 0), plane(given[1], number, picture, 1),
          plane(given[2], number, picture, 2)};
}

}  // namespace vmafhip::hip
