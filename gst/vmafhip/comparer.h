// The comparing thread: takes frames from the inbox, pairs them, hands pairs to the measurement, and pushes what may
// leave. It is the src pad's task; streaming threads only fill the inbox, engine workers only compute.
#pragma once
#include <gst/gst.h>

#include <atomic>
#include <optional>

#include "gst/vmafhip/frame.h"
#include "gst/vmafhip/inbox.h"
#include "gst/vmafhip/measurement.h"
#include "gst/vmafhip/output.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

class Comparer {
 public:
  // The pads of `element`; all outlive the comparer.
  Comparer(GstElement *element, GstPad *ref, GstPad *dist, GstPad *src);

  // Loads models and starts workers. The error has been posted if false.
  bool start(const Settings &settings);
  void stop();  // the task does not run

  // Runs on the src pad, which must be active.
  bool start_task();
  // Makes the running turn end soon, and further ones do nothing; off: the task may be started.
  void interrupt(bool on) { inbox_.interrupt(on); }
  // The action signals. Any thread, at any time, also from a handler that a turn of the task has called: the next
  // turn acts.
  enum Request : unsigned { kReset = 1, kPostPooled = 2 };
  void request(Request request);
  // The selected stream was flushed: the next turn starts anew. While no turn runs, or from within one.
  void restart_output();

  Inbox &inbox() { return inbox_; }
  Measurement &measurement() { return measurement_; }
  const Settings &settings() const { return settings_; }
  // Any thread while started:
  int frames_held() const { return frames_held_; }  // buffers of one stream that are kept: for buffer pools
  GstClockTime latency() const;  // how long an output frame waits for its score when all is well
  void set_frame_duration(GstClockTime duration) { frame_duration_ = duration; }

 private:
  GstPad *pad(Side side) const { return side == Side::ref ? ref_pad_ : dist_pad_; }
  void iterate();  // one turn of the task
  void fetch(Side side);
  void accept(Side side, Item item);
  void idle(std::optional<Side> needed);
  void refuse_untimed(Side side, const Stream &stream);
  void say_starving(Side needed, bool fatal);
  void unmatched(Side side, const FrameAligner::Frame &frame);
  void submit_pair();
  void start_anew();
  bool serve_requests();  // false: interrupted
  void end_of_streams();
  void leave(GstFlowReturn flow);

  GstElement *element_;
  GstPad *ref_pad_, *dist_pad_, *src_pad_;
  Settings settings_;
  Inbox inbox_;
  Output output_;
  Measurement measurement_;
  FrameAligner aligner_;
  std::optional<FramePair> pair_;     // decided, not yet submitted
  guint64 gap_bytes_ = 0;             // of output frames without partner since the last pair
  bool hurry_ = false;                // the next decision cannot wait for a frame
  bool flushed_ = false;              // a pad was, and what was in flight is not drained yet
  bool over_ = false;                 // until flush or stop
  std::optional<Side> silent_;        // live: the pad that frames no longer wait for, as has been said
  std::atomic<bool> restart_{false};  // the selected stream was flushed
  std::atomic<unsigned> requests_{0};
  std::atomic<int> frames_held_{0}, frames_awaited_{0};
  std::atomic<GstClockTime> frame_duration_{40 * GST_MSECOND};
};

}  // namespace vmafhip
