// The inbox's room: how many frames a pad may hold, of whose buffers, and when a source that waits is let in.
#include <algorithm>

#include "gst/vmafhip/inbox.h"

namespace vmafhip {
namespace {

constexpr size_t kMostUntimed = 1000;
constexpr std::chrono::milliseconds kLeastGrowthDelay{5}, kMostGrowthDelay{1000};

}  // namespace

// The first frame always has room: without it nothing could ever go on.
bool Inbox::at_limit(const Queue &q, const Item &item) const {
  if (q.frames == 0) return false;
  if (queues_[0].bytes + queues_[1].bytes + kept_bytes_ + item.bytes > limits_.bytes) return true;
  if (!item.timed) return q.frames >= kMostUntimed;
  const auto first =
      std::find_if(q.items.begin(), q.items.end(), [](const Item &i) { return i.buffer && i.timed; });
  return first != q.items.end() && item.time >= first->time &&
         guint64(item.time - first->time) >= limits_.window;
}

// How late the awaited pad must be before the other may grow by a frame.
Inbox::Clock::duration Inbox::growth_delay(const Queue &awaited) const {
  return std::clamp<Clock::duration>(3 * awaited.pace, kLeastGrowthDelay, kMostGrowthDelay);
}

guint64 Inbox::busy_limit(const Queue &q, const Item &item) const {
  guint64 frames = std::min<guint64>(depth_, limits_.bytes / kBusyPart / std::max<gsize>(item.bytes, 1));
  // Those that are kept are never so many that one of these would have to be copied.
  if (item.scarce) frames = std::min<guint64>(frames, guint64(std::max(most_kept(item) - 3, 0)));
  return std::max(q.soft_limit, std::clamp(frames, kBusyFrames, kMostBusyFrames));
}

// Whoever has found a queue of many full sleeps until half of it is free; but not while the other pad is awaited, which
// may hang on what this source brings next.
bool Inbox::is_busy(Side side, const Item &item) const {
  const Queue &q = queue(side);
  const guint64 limit = busy_limit(q, item);
  const bool several = q.blocked == Blocked::busy && limit > 2 * kBusyFrames && needed_ != other(side);
  return !live_ && (several ? q.frames > limit / 2 : q.frames >= limit);
}

// When a pad that is busy may grow, as the comparing thread waits for the other one alone.
std::optional<Inbox::Clock::time_point> Inbox::growth_due(Side side) const {
  const Queue &awaited = queue(other(side));
  if (needed_ != other(side) || awaited.frames > 0) return {};
  return needed_since_ + growth_delay(awaited);
}

bool Inbox::grows(Side side) {
  const auto due = growth_due(side);
  if (!due || Clock::now() < *due) return false;
  Queue &q = queue(side);
  needed_since_ = Clock::now();
  q.soft_limit = std::max(q.soft_limit, q.frames + 1);
  return true;
}

// Whether the frame may be queued; if not, waits until it is worth to ask again.
bool Inbox::has_room(Side side, const Item &item, Lock &lock) {
  Queue &q = queue(side);
  const bool full = at_limit(q, item);
  if (full != q.full) {
    q.full = full;
    wake_locked();
  }
  if (!full && (!is_busy(side, item) || grows(side))) {
    q.blocked = Blocked::no;
    return true;
  }
  sleep(side, full ? Blocked::full : Blocked::busy, item, lock);
  return false;
}

// Returns at once if there is somebody to wake first, for the caller to ask again.
void Inbox::sleep(Side side, Blocked why, const Item &item, Lock &lock) {
  Queue &q = queue(side);
  if (lock.ring()) return;
  q.blocked = why;
  q.at_door = &item;
  if (const auto due = growth_due(side); due && why == Blocked::busy)
    room_[size_t(side)].wait_until(lock, *due);
  else
    room_[size_t(side)].wait(lock);
  q.at_door = nullptr;
}

// Wakes sources that find room now.
void Inbox::let_in() {
  for (const Side side : {Side::ref, Side::dist}) {
    Queue &q = queue(side);
    if (!q.at_door) continue;
    const Item &item = *q.at_door;
    const bool stays_out = q.blocked == Blocked::full   ? at_limit(q, item)
                           : q.blocked == Blocked::busy ? is_busy(side, item)
                                                        : keeps_too_many(q, item) && !needed_;
    if (stays_out) continue;
    ++wakes_.sources;
    q.at_door = nullptr;
    ring_room_[size_t(side)] = true;
  }
}

// All of them, to look for themselves.
void Inbox::wake_sources() { ring_room_ = {true, true}; }

// Of a source's scarce buffers, while nothing is measured.
int Inbox::most_kept(const Item &item) const {
  const int has = int(item.most_buffers);
  // One is for the source to fill, and what is behind the element may keep one that it shows.
  return has == 0 ? limits_.buffers - 1 : std::min(limits_.buffers - 1, has < 5 ? has - 1 : has - 2);
}

bool Inbox::keeps_too_many(const Queue &q, const Item &item) const {
  if (!item.scarce) return false;
  // A live source cannot wait until one comes back.
  const bool comes_back = item.most_buffers == 0 && !live_;
  return *q.kept - (comes_back ? measured_.load() : 0) >= most_kept(item);
}

BufferPtr Inbox::keep(Queue &q, BufferPtr buffer) {
  ++*q.kept;
  GstBuffer *raw = buffer.get();
  return BufferPtr(raw, [original = std::move(buffer), kept = q.kept](GstBuffer *) mutable {
    original.reset();
    --*kept;
  });
}

}  // namespace vmafhip
