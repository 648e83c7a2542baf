// When a frame of a live pipeline must leave, score or not: its running time plus the latency that the element
// reports. Keeps the pipeline's clock, and wakes the comparing thread when a deadline comes.
#pragma once
#include <gst/gst.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "gst/vmafhip/aligner.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

class Inbox;

class Deadlines {
 public:
  // Both outlive it.
  Deadlines(GstElement *element, Inbox &inbox);
  ~Deadlines();
  Deadlines(const Deadlines &) = delete;

  // frames_awaited: that must follow before a score is complete.
  void start(const Settings &settings, int frames_awaited);
  void stop();

  // ---- any thread ----

  // In PAUSED the clock goes on and the stream does not.
  void set_playing(bool playing) { playing_ = playing; }
  // What a latency query of the pad's peer has answered.
  void set_upstream(Side side, bool live, GstClockTime least);
  bool live() const { return upstream_[0].live || upstream_[1].live; }
  // Of the stream that leaves. True: latency() has changed by it.
  bool set_frame_duration(GstClockTime duration);
  GstClockTime frame_duration() const { return frame_duration_; }
  // What the element adds to the latency of its sources: how long a frame waits for its score.
  GstClockTime latency() const;

  // ---- comparing thread ----

  // Looks at the clock; false: nothing is due at any time, as the pipeline is not live or does not play.
  bool look();
  bool due(gint64 running_time) const;
  // Wakes the inbox when a frame of that running time is due; replaces what was asked before.
  void wake_at(gint64 running_time);
  void cancel();
  // The present running time, less the latency of the sources: when a frame that comes now was due to come.
  gint64 arrival() const { return gint64(now_ - base_) - gint64(upstream_latency()); }

 private:
  struct Upstream {
    std::atomic<bool> live{false};
    std::atomic<GstClockTime> least{0};
  };
  GstClockTime upstream_latency() const;
  GstClockTime time_of(gint64 running_time) const;

  struct Bell;  // what the clock's thread rings; outlives us there
  GstElement *element_;
  std::shared_ptr<Bell> bell_;
  std::array<Upstream, 2> upstream_;
  std::atomic<bool> playing_{false};
  std::atomic<GstClockTime> frame_duration_;
  std::atomic<gint64> max_score_delay_{-1};
  std::atomic<int> frames_awaited_{0};

  ClockPtr clock_;
  GstClockTime now_ = 0, base_ = 0;
  GstClockID id_ = nullptr;
  GstClockTime set_for_ = 0;
};

}  // namespace vmafhip
