#include "gst/vmafhip/inbox.h"

#include <algorithm>

#include "gst/vmafhip/buffer_memory.h"
#include "gst/vmafhip/log.h"

#define GST_CAT_DEFAULT vmafhip_debug

namespace vmafhip {
namespace {

constexpr size_t kMostEvents = 1000, kMostUntimed = 1000;
constexpr std::chrono::milliseconds kLeastGrowthDelay{5}, kMostGrowthDelay{1000};
// For producers of a buffer to finish it, before it is copied: at a time, and in all.
constexpr int kFenceWait = 5;  // ms
constexpr std::chrono::seconds kMostFenceWait{1};

void let_go(GstBuffer *buffer) {
  if (buffer) gst_buffer_unref(buffer);
}

}  // namespace

void Inbox::start(const Limits &limits, std::optional<Side> shown) {
  std::array<Queue, 2> drop;
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < 2; ++i) {
    drop[i].items.swap(queues_[i].items);
    const bool flushing = queues_[i].flushing;  // belongs to the pad's activation
    queues_[i] = Queue();
    queues_[i].flushing = flushing;
    queues_[i].soft_limit = kBusyFrames;
  }
  limits_ = limits;
  shown_ = shown;
  copied_ = 0;
  kept_bytes_ = 0;
  flow_ = GST_FLOW_OK;
  live_ = independent_ = woken_ = warned_ = false;
  needed_.reset();
  starving_since_.reset();
}

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

GstFlowReturn Inbox::refusal(const Queue &q) const {
  if (q.flushing) return GST_FLOW_FLUSHING;
  if (flow_ != GST_FLOW_OK) return flow_;
  return q.ended ? GST_FLOW_EOS : GST_FLOW_OK;
}

GstFlowReturn Inbox::put(Side side, Item item) {
  std::unique_lock lock(mutex_);
  Queue &q = queue(side);
  if (!item.buffer) {
    if (const GstFlowReturn flow = refusal(q); flow != GST_FLOW_OK) return flow;
    if (item.reached && !item.event && !q.items.empty() && q.items.back().reached && !q.items.back().event) {
      q.items.back().reached = item.reached;  // the same, a little later
    } else if (q.items.size() - q.frames >= kMostEvents) {
      GST_WARNING("%zu events wait for frames already: a further one is dropped", kMostEvents);
      return GST_FLOW_OK;
    } else {
      q.items.push_back(std::move(item));
    }
    wake_locked();
    return GST_FLOW_OK;
  }
  const auto now = Clock::now();
  const auto fence_limit = now + kMostFenceWait;
  bool stays = false;  // although too many are kept
  if (q.last_arrival != Clock::time_point()) q.pace += (now - q.last_arrival - q.pace) / 8;
  for (;;) {
    if (const GstFlowReturn flow = refusal(q); flow != GST_FLOW_OK) {
      q.full = false;
      return flow;
    }
    if (!has_room(side, item, lock)) continue;
    if (stays || !keeps_too_many(q, item)) break;
    // While the engine is at work, room comes soon; while a frame is awaited, it may take long.
    if (!live_ && !needed_) {
      room_.wait(lock);
      continue;
    }
    lock.unlock();
    const bool written = is_written(item.buffer.get(), kFenceWait);
    const BufferPtr copy(written ? copy_to_system_memory(item.buffer.get()) : nullptr, let_go);
    lock.lock();
    if (copy) {
      if (item.leaves_itself) item.itself = keep(q, std::move(item.buffer));
      item.buffer = copy;
      item.scarce = false;
      ++copied_;
    }
    stays = !copy && (written || Clock::now() >= fence_limit);
  }
  // Waiting for room is not the source's pace.
  q.last_arrival = Clock::now();
  q.full = false;
  if (item.scarce) item.buffer = keep(q, std::move(item.buffer));
  ++q.frames;
  q.bytes += item.bytes;
  if (item.timed) q.newest = item.time;
  starving_since_.reset();
  warned_ = false;
  q.items.push_back(std::move(item));
  wake_locked();
  return GST_FLOW_OK;
}

// Whether the frame may be queued; if not, waits until it is worth to ask again.
bool Inbox::has_room(Side side, const Item &item, std::unique_lock<std::mutex> &lock) {
  Queue &q = queue(side);
  const Queue &awaited = queue(other(side));
  const bool full = at_limit(q, item);
  if (full != q.full) {
    q.full = full;
    wake_locked();
  }
  if (!full && (q.frames < q.soft_limit || live_)) return true;
  if (full || needed_ != other(side) || awaited.frames > 0) {
    room_.wait(lock);
    return false;
  }
  const auto due = needed_since_ + growth_delay(awaited);
  if (Clock::now() < due) {
    room_.wait_until(lock, due);
    return false;
  }
  needed_since_ = Clock::now();
  ++q.soft_limit;
  return true;
}

bool Inbox::keeps_too_many(const Queue &q, const Item &item) const {
  if (!item.scarce) return false;
  const int has = int(item.most_buffers);
  // One is for the source to fill, and what is behind the element may keep one that it shows.
  const int most =
      has == 0 ? limits_.buffers - 1 : std::min(limits_.buffers - 1, has < 5 ? has - 1 : has - 2);
  return *q.kept >= most;
}

BufferPtr Inbox::keep(Queue &q, BufferPtr buffer) {
  ++*q.kept;
  GstBuffer *raw = buffer.get();
  return BufferPtr(raw, [original = std::move(buffer), kept = q.kept](GstBuffer *) mutable {
    original.reset();
    --*kept;
  });
}

void Inbox::wake_locked() {
  woken_ = true;
  changed_.notify_all();
}

void Inbox::end(Side side) {
  std::lock_guard lock(mutex_);
  queue(side).ended = true;
  wake_locked();
}

void Inbox::reopen(Side side) {
  std::lock_guard lock(mutex_);
  queue(side).ended = false;
}

void Inbox::flush(Side side, bool on) {
  std::deque<Item> drop;  // released outside the lock
  std::lock_guard lock(mutex_);
  Queue &q = queue(side);
  drop.swap(q.items);
  q.frames = q.bytes = q.shown = 0;
  q.newest.reset();
  q.flushing = on;
  q.full = false;
  if (!on) {
    q.ended = false;
    q.restarted = true;
    q.soft_limit = kBusyFrames;
  }
  starving_since_.reset();
  wake_locked();
  room_.notify_all();
}

void Inbox::refuse(Side side, bool on) {
  std::lock_guard lock(mutex_);
  queue(side).flushing = on;
  room_.notify_all();
}

void Inbox::set_live(bool live) {
  std::lock_guard lock(mutex_);
  live_ = live;
  room_.notify_all();
}

bool Inbox::live() const {
  std::lock_guard lock(mutex_);
  return live_;
}

void Inbox::set_independent(bool independent) {
  std::lock_guard lock(mutex_);
  independent_ = independent;
}

bool Inbox::restarted(Side side) {
  std::lock_guard lock(mutex_);
  return std::exchange(queue(side).restarted, false);
}

bool Inbox::show(Item &item) {
  std::lock_guard lock(mutex_);
  Queue &q = queue(*shown_);
  if (q.restarted || q.shown == q.items.size()) return false;
  Item &next = q.items[q.shown];
  item = Item();
  item.buffer = next.buffer;
  item.itself = std::move(next.itself);
  item.event = std::move(next.event);
  item.stream = next.stream;
  item.time = next.time;
  item.timed = next.timed;
  if (!next.buffer && !next.reached && !next.segment_done)
    q.items.erase(q.items.begin() + gssize(q.shown));
  else
    ++q.shown;
  return true;
}

Inbox::Taken Inbox::take(Side side, Item &item) {
  std::lock_guard lock(mutex_);
  Queue &q = queue(side);
  if (q.restarted) return Taken::nothing;
  if (q.items.empty()) return q.ended ? Taken::ended : Taken::nothing;
  if (shown_ == side && q.shown == 0) return Taken::nothing;
  item = std::move(q.items.front());
  q.items.pop_front();
  if (q.shown > 0) --q.shown;
  if (item.buffer) {
    --q.frames;
    q.bytes -= item.bytes;
    q.full = false;  // or the one that waits for room says so again
    room_.notify_all();
  }
  return Taken::item;
}

bool Inbox::open(Side side) const {
  std::lock_guard lock(mutex_);
  const Queue &q = queue(side);
  return !q.ended || !q.items.empty();
}

// How long it makes sense to wait for `needed`; none: as long as it takes.
std::optional<Inbox::Patience> Inbox::patience(Side needed, bool has_source) const {
  const Queue &awaited = queue(needed), &partner = queue(other(needed));
  if (!awaited.items.empty() || awaited.ended || awaited.flushing) return {};
  const bool never_fed = awaited.last_arrival == Clock::time_point();
  if (partner.full && independent_) return kIndependent;
  if (partner.full || (partner.ended && never_fed && !has_source)) return kStuck;
  // Nothing is blocked: an encoder may be at work on all that it was given.
  if (partner.ended) return kSilent;
  if (never_fed && !has_source) return kUnlinked;
  return {};
}

Inbox::Woken Inbox::wait(std::optional<Side> needed, bool has_source) {
  std::unique_lock lock(mutex_);
  needed_ = needed;
  needed_since_ = Clock::now();
  room_.notify_all();  // the other pad may grow now, the engine may have let go of buffers
  auto result = Woken::changed;
  while (!std::exchange(woken_, false) && !(needed && queue(*needed).restarted)) {
    if (interrupted_) {
      result = Woken::interrupted;
      break;
    }
    const auto limit = needed ? patience(*needed, has_source) : std::nullopt;
    if (!limit) {
      changed_.wait(lock);
      continue;
    }
    if (live_ && queue(other(*needed)).full) {
      result = Woken::overflow;
      break;
    }
    const auto now = Clock::now();
    if (!starving_since_) starving_since_ = now;
    if (now - *starving_since_ >= limit->fail) {
      result = Woken::starved;
      break;
    }
    if (!warned_ && now - *starving_since_ >= limit->warn) {
      warned_ = true;
      result = Woken::starving;
      break;
    }
    changed_.wait_until(lock, *starving_since_ + (warned_ ? limit->fail : limit->warn));
  }
  if (interrupted_) result = Woken::interrupted;
  needed_.reset();
  return result;
}

void Inbox::set_kept_bytes(guint64 bytes) {
  std::lock_guard lock(mutex_);
  if (bytes < kept_bytes_) room_.notify_all();
  kept_bytes_ = bytes;
}

void Inbox::wake() {
  std::lock_guard lock(mutex_);
  wake_locked();
}

void Inbox::interrupt(bool on) {
  std::lock_guard lock(mutex_);
  interrupted_ = on;
  changed_.notify_all();
}

void Inbox::hold(bool on) {
  std::lock_guard lock(mutex_);
  holds_ += on ? 1 : -1;
  wake_locked();
}

void Inbox::wait_while_held() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return holds_ == 0 || interrupted_; });
}

bool Inbox::interrupted() const {
  std::lock_guard lock(mutex_);
  return interrupted_;
}

void Inbox::stop(GstFlowReturn flow) {
  std::lock_guard lock(mutex_);
  flow_ = flow;
  room_.notify_all();
}

Inbox::Level Inbox::level(Side side) const {
  std::lock_guard lock(mutex_);
  const Queue &q = queue(side);
  return {q.frames, q.bytes, q.full, q.newest};
}

guint64 Inbox::copied() const {
  std::lock_guard lock(mutex_);
  return copied_;
}

}  // namespace vmafhip
