#include "gst/vmafhip/inbox.h"

#include <algorithm>

#include "gst/vmafhip/buffer_memory.h"
#include "gst/vmafhip/log.h"

#define GST_CAT_DEFAULT vmafhip_debug

namespace vmafhip {
namespace {

constexpr size_t kMostEvents = 1000;
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
  depth_ = kBusyFrames;
  measured_ = 0;
  wakes_ = {};
  kept_bytes_ = 0;
  flow_ = GST_FLOW_OK;
  live_ = independent_ = woken_ = warned_ = false;
  needed_.reset();
  starving_since_.reset();
}

GstFlowReturn Inbox::refusal(const Queue &q) const {
  if (q.flushing) return GST_FLOW_FLUSHING;
  if (flow_ != GST_FLOW_OK) return flow_;
  return q.ended ? GST_FLOW_EOS : GST_FLOW_OK;
}

GstFlowReturn Inbox::put(Side side, Item item) {
  Lock lock(*this);
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
  bool is_copy = false;
  if (q.last_arrival != Clock::time_point()) q.pace += (now - q.last_arrival - q.pace) / 8;
  for (;;) {
    if (const GstFlowReturn flow = refusal(q); flow != GST_FLOW_OK) {
      q.full = false;
      q.blocked = Blocked::no;
      return flow;
    }
    if (!has_room(side, item, lock)) continue;
    if (stays || !keeps_too_many(q, item)) break;
    // While the engine is at work, room comes soon; while a frame is awaited, it may take long.
    if (!live_ && !needed_) {
      sleep(side, Blocked::buffers, item, lock);
      continue;
    }
    lock.ring();
    lock.unlock();
    const bool written = is_written(item.buffer.get(), kFenceWait);
    const BufferPtr copy(written ? copy_to_system_memory(item.buffer.get()) : nullptr, let_go);
    lock.lock();
    if (copy) {
      if (item.leaves_itself) item.itself = keep(q, std::move(item.buffer));
      item.buffer = copy;
      item.scarce = false;
      ++copied_;
      is_copy = true;
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
  const bool leaves = shown_ == side && (item.itself || limits_.leaves_at_once);
  const bool waited_for = waits_for_ == WaitFor::any_frame || needed_ == side;
  q.items.push_back(std::move(item));
  if (live_ || leaves || is_copy || waited_for) wake_locked();
  return GST_FLOW_OK;
}

void Inbox::wake_locked() {
  if (waits_for_ && !woken_) ++wakes_.comparing;
  woken_ = ring_changed_ = true;
}

void Inbox::end(Side side) {
  Lock lock(*this);
  queue(side).ended = true;
  wake_locked();
}

void Inbox::reopen(Side side) {
  std::lock_guard lock(mutex_);
  queue(side).ended = false;
}

void Inbox::flush(Side side, bool on) {
  std::deque<Item> drop;  // released outside the lock
  Lock lock(*this);
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
  wake_sources();
}

void Inbox::refuse(Side side, bool on) {
  Lock lock(*this);
  queue(side).flushing = on;
  wake_sources();
}

void Inbox::set_live(bool live) {
  Lock lock(*this);
  if (live && !live_) wake_locked();  // what waits has a time to leave
  live_ = live;
  wake_sources();
}

void Inbox::set_depth(int frames) {
  Lock lock(*this);
  depth_ = guint64(std::max(frames, 0));
  let_in();
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
  Lock lock(*this);
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
    q.full = q.at_door && q.blocked == Blocked::full && at_limit(q, *q.at_door);
    let_in();
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
  if (partner.full && independent_) return limits_.patience.independent;
  if (partner.full || (partner.ended && never_fed && !has_source)) return limits_.patience.stuck;
  // Nothing is blocked: an encoder may be at work on all that it was given.
  if (partner.ended) return limits_.patience.silent;
  if (never_fed && !has_source) return limits_.patience.unlinked;
  return {};
}

Inbox::Woken Inbox::wait(std::optional<Side> needed, bool has_source) {
  return wait(needed ? WaitFor::side : WaitFor::engine, needed, has_source);
}

Inbox::Woken Inbox::wait_for_frames() { return wait(WaitFor::any_frame, {}, true); }

// Whether it has come before the wait.
bool Inbox::is_there(WaitFor what, std::optional<Side> needed) const {
  if (needed) return !queue(*needed).items.empty() || queue(*needed).restarted;
  return what == WaitFor::any_frame && queues_[0].frames + queues_[1].frames > 0;
}

Inbox::Woken Inbox::wait(WaitFor what, std::optional<Side> needed, bool has_source) {
  Lock lock(*this);
  waits_for_ = what;
  needed_ = needed;
  needed_since_ = Clock::now();
  let_in();  // the engine may have let go of buffers
  lock.ring();
  auto result = Woken::changed;
  while (!std::exchange(woken_, false) && !is_there(what, needed)) {
    if (interrupted_) {
      result = Woken::interrupted;
      break;
    }
    const auto now = Clock::now();
    auto until = Clock::time_point::max();
    if (needed && queue(other(*needed)).at_door && queue(other(*needed)).blocked == Blocked::busy) {
      const auto due = growth_due(other(*needed));
      if (due && *due > now)
        until = *due;
      else if (due)
        room_[size_t(other(*needed))].notify_one();
    }
    if (const auto limit = needed ? patience(*needed, has_source) : std::nullopt) {
      if (live_ && queue(other(*needed)).full) {
        result = Woken::overflow;
        break;
      }
      if (!starving_since_) starving_since_ = now;
      if (!warned_ && now - *starving_since_ >= limit->warn) {
        warned_ = true;
        result = Woken::starving;
        break;
      }
      if (now - *starving_since_ >= limit->fail) {
        result = Woken::starved;
        break;
      }
      until = std::min<Clock::time_point>(until, *starving_since_ + (warned_ ? limit->fail : limit->warn));
    }
    if (until == Clock::time_point::max())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, until);
  }
  if (interrupted_) result = Woken::interrupted;
  waits_for_.reset();
  needed_.reset();
  return result;
}

void Inbox::set_kept_bytes(guint64 bytes) {
  Lock lock(*this);
  const bool less = bytes < kept_bytes_;
  kept_bytes_ = bytes;
  if (less) let_in();
}

void Inbox::wake() {
  Lock lock(*this);
  wake_locked();
}

void Inbox::interrupt(bool on) {
  Lock lock(*this);
  interrupted_ = on;
  ring_changed_ = true;
}

void Inbox::hold(bool on) {
  Lock lock(*this);
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
  Lock lock(*this);
  flow_ = flow;
  wake_sources();
}

Inbox::Level Inbox::level(Side side) const {
  std::lock_guard lock(mutex_);
  const Queue &q = queue(side);
  return {q.frames, q.bytes, q.full, q.newest};
}

Inbox::Wakes Inbox::wakes() const {
  std::lock_guard lock(mutex_);
  return wakes_;
}

guint64 Inbox::copied() const {
  std::lock_guard lock(mutex_);
  return copied_;
}

}  // namespace vmafhip
