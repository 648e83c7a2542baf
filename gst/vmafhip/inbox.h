// Where frames of both pads wait: streaming threads put, the comparing thread takes.
//
// Room. While the comparing thread is busy, a pad may hold a few frames only: a slow engine then slows
// its sources down instead of filling memory. While it waits for one pad, the other may hold more and
// more, up to the window (time) and the byte limit: that is what lets one branch of a tee pass through an
// encoder that needs fifty frames before it gives one. It grows by a frame each time the awaited pad has
// been late by more than its usual pace, so that a merely slower source does not fill the window.
//
// Sleep. To wake a thread takes as long as the GPU needs for a small frame, so nobody is woken who would find nothing to
// do: a source that has waited for room, when there is room for several frames; the comparing thread, by what it waits
// for. A frame that it waits for wakes it at once, be it the only one.
//
// Buffers. A source may have no more buffers than it was asked for, so a pad keeps only that many of the source's own,
// beside those that the engine measures: these come back whatever the source does. A frame that comes when as many are
// kept already is copied, in the thread that brings it: it has to wait, since others wait before it. Where a copy must not
// leave in its place, as its caps tell of other memory, the frame itself leaves as soon as it can.
//
// One pad full to the limit while the other is awaited in vain is a deadlock if both hang on one source, and a
// pad without a source gives nothing: wait() then reports starvation instead of waiting for ever. More time is given
// once the other pad has ended, since what is awaited may hang behind an encoder that is at work on all it was given.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "gst/vmafhip/aligner.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/stream.h"

namespace vmafhip {

// A frame, or something that must keep its place among the frames: an event to be passed on, the news that time has
// moved on without a frame, the end of a segment.
struct Item {
  BufferPtr buffer;
  EventPtr event;
  std::shared_ptr<const Stream> stream;
  gint64 time = 0;  // running time, ns; meaningless without time stamps
  bool timed = false;
  gsize bytes = 0;
  // Whether the source may be unable to make further buffers as long as this one is kept, and how many it has at
  // most; 0 = not known, but no fewer than it was asked for.
  bool scarce = false;
  guint most_buffers = 0;
  bool leaves_itself = false;     // no copy in other memory may leave in its place
  BufferPtr itself;               // then, if `buffer` is a copy
  std::optional<gint64> reached;  // no frame before this running time follows
  bool segment_done = false;
};

class Inbox {
 public:
  // That a pad may hold while the comparing thread is busy: at least, and for an engine that takes many at a time, as long
  // as they are a small part of all bytes.
  static constexpr guint64 kBusyFrames = 3, kMostBusyFrames = 16, kBusyPart = 8;

  // How long a pad is waited for until that must be said, and until nothing will come.
  struct Patience {
    std::chrono::milliseconds warn, fail;
  };
  struct Patiences {
    Patience stuck{std::chrono::seconds(1), std::chrono::seconds(5)};     // the other pad is full
    Patience silent{std::chrono::seconds(10), std::chrono::seconds(60)};  // ... has ended
    // Two sources of their own cannot block each other.
    Patience independent{std::chrono::seconds(1), std::chrono::seconds(60)};
    // Nothing is linked to the awaited pad, and nothing ever was; it may be any time.
    Patience unlinked{std::chrono::seconds(10), std::chrono::hours(24 * 365 * 100)};
  };

  struct Limits {
    guint64 window;  // ns between the oldest and the newest frame that wait on one pad
    guint64 bytes;   // of all frames that wait
    int buffers = std::numeric_limits<int>::max();  // scarce ones that are kept of one pad
    bool leaves_at_once = false;  // frames of the shown side, whether or not they are compared
    Patiences patience{};
  };

  // `shown`: the side that show() must have seen before take() gives it.
  void start(const Limits &limits, std::optional<Side> shown = {});

  // ---- streaming threads ----

  // Waits for room. OK, FLUSHING, or what stop() said.
  GstFlowReturn put(Side side, Item item);
  void end(Side side);     // no further frame
  void reopen(Side side);  // frames may follow after all
  // `on`: drop what waits and refuse frames; off: start anew, restarted() reports it once.
  void flush(Side side, bool on);
  void refuse(Side side, bool on);  // while its pad is not active
  // A live source cannot wait for the other stream for ever: a full pad is then reported as overflow.
  void set_live(bool live);
  bool live() const;

  // ---- comparing thread ----

  // Whether the pad was flushed since the last call. Until then take() gives nothing: new frames must not meet old ones.
  bool restarted(Side side);
  // Whether frames may come: they wait, or the pad has not ended.
  bool open(Side side) const;
  // What waits on the shown side and has not been shown yet, oldest first: frames stay, events and what leaves itself are
  // moved into `item`. False: all has been shown.
  bool show(Item &item);
  enum class Taken { item, ended, nothing };
  Taken take(Side side, Item &item);

  enum class Woken {
    changed,      // something happened; look again
    interrupted,  // flush or stop
    overflow,     // live: the other pad is full, do not wait for this one
    starving,     // nothing has come for so long that it must be said (once a starvation); see Patience
    starved,      // ... for so long that nothing will come
  };
  // Waits until something changes; `needed`: the pad whose frame is waited for, none: the engine; `has_source`: something
  // is linked to it. Of streams that are not live, frames that are not waited for do not end it.
  Woken wait(std::optional<Side> needed, bool has_source = true);
  Woken wait_for_frames();  // of either pad
  // How many frames the engine takes at a time.
  void set_depth(int frames);
  // Pairs that the engine measures, and will whatever comes; any thread.
  void set_measured(int pairs) { measured_ = pairs; }
  // Whether both pads are known to have sources of their own; until start().
  void set_independent(bool independent);
  // Bytes of frames that were taken and wait elsewhere: they count towards the limit.
  void set_kept_bytes(guint64 bytes);
  void wake();              // any thread, also the engine's
  void interrupt(bool on);  // wait() returns at once while set; any thread
  // While a hold is on, wait_while_held() waits: both streams are about to move, and frames of the one that has moved
  // must not meet those of the one that has not. Any thread; may be nested.
  void hold(bool on);
  void wait_while_held();  // or until interrupted
  bool interrupted() const;
  void stop(GstFlowReturn flow);  // put() returns this from now on

  struct Level {
    guint64 frames, bytes;
    bool full;                     // a frame waits for room, for the window's or the bytes' sake
    std::optional<gint64> newest;  // running time of the newest frame that has come in
  };
  Level level(Side side) const;
  guint64 copied() const;  // frames that were, so far
  // How often threads that slept have been woken since start(), for tests.
  struct Wakes {
    guint64 sources = 0, comparing = 0;
  };
  Wakes wakes() const;

 private:
  using Clock = std::chrono::steady_clock;
  // What a source waits for.
  enum class Blocked { no, busy, full, buffers };
  struct Queue {
    std::deque<Item> items;
    guint64 frames = 0, bytes = 0;
    guint64 soft_limit = 0;  // frames it may hold while the comparing thread is busy
    size_t shown = 0;        // items at the front that have been
    bool ended = false, flushing = false, restarted = false, full = false;
    std::optional<gint64> newest;  // running time of the frame that came last
    Blocked blocked = Blocked::no;
    const Item *at_door = nullptr;  // of the source that waits
    // Kept by anybody in the element; outlives the inbox in the buffers' deleters.
    std::shared_ptr<std::atomic<int>> kept = std::make_shared<std::atomic<int>>(0);
    Clock::time_point last_arrival{};
    Clock::duration pace{};  // smoothed time between arrivals
  };
  Queue &queue(Side side) { return queues_[side == Side::ref ? 0 : 1]; }
  const Queue &queue(Side side) const { return queues_[side == Side::ref ? 0 : 1]; }
  GstFlowReturn refusal(const Queue &q) const;
  bool at_limit(const Queue &q, const Item &item) const;
  guint64 busy_limit(const Queue &q, const Item &item) const;
  bool is_busy(Side side, const Item &item) const;
  bool grows(Side side);
  class Lock;
  bool has_room(Side side, const Item &item, Lock &lock);
  int most_kept(const Item &item) const;
  bool keeps_too_many(const Queue &q, const Item &item) const;
  std::optional<Clock::time_point> growth_due(Side side) const;
  void sleep(Side side, Blocked why, const Item &item, Lock &lock);
  void let_in();
  void wake_sources();
  // The source's own buffer, counted as kept until it is let go.
  static BufferPtr keep(Queue &q, BufferPtr buffer);
  std::optional<Patience> patience(Side needed, bool has_source) const;
  enum class WaitFor { engine, side, any_frame };
  Woken wait(WaitFor what, std::optional<Side> needed, bool has_source);
  bool is_there(WaitFor what, std::optional<Side> needed) const;
  Clock::duration growth_delay(const Queue &awaited) const;
  void wake_locked();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::array<std::condition_variable, 2> room_;
  bool ring_changed_ = false;  // once the mutex is free
  std::array<bool, 2> ring_room_{};
  std::array<Queue, 2> queues_;
  Limits limits_{};
  guint64 kept_bytes_ = 0;
  std::optional<Side> shown_;
  guint64 copied_ = 0, depth_ = kBusyFrames;
  std::atomic<int> measured_{0};
  Wakes wakes_;
  bool live_ = false, independent_ = false, woken_ = false, interrupted_ = false;
  int holds_ = 0;
  GstFlowReturn flow_ = GST_FLOW_OK;
  std::optional<WaitFor> waits_for_;  // the comparing thread, now
  std::optional<Side> needed_;        // the side that it waits for
  Clock::time_point needed_since_{};  // or since the last growth it caused
  std::optional<Clock::time_point> starving_since_;
  bool warned_ = false;
};

// Of the mutex. Whom it is to wake it wakes when the mutex is free, or they would only wait for that.
class Inbox::Lock : public std::unique_lock<std::mutex> {
 public:
  explicit Lock(Inbox &inbox) : std::unique_lock<std::mutex>(inbox.mutex_), inbox_(inbox) {}
  ~Lock() { let_go(); }
  // Now rather than later. False: there is nobody, and the mutex has been held all the time.
  bool ring() {
    if (!inbox_.ring_changed_ && !inbox_.ring_room_[0] && !inbox_.ring_room_[1]) return false;
    let_go();
    lock();
    return true;
  }

 private:
  void let_go() {
    if (!owns_lock()) return;
    const bool changed = std::exchange(inbox_.ring_changed_, false);
    const std::array<bool, 2> room = std::exchange(inbox_.ring_room_, {});
    unlock();
    if (changed) inbox_.changed_.notify_all();
    for (size_t i = 0; i < 2; ++i)
      if (room[i]) inbox_.room_[i].notify_all();
  }
  Inbox &inbox_;
};

}  // namespace vmafhip
