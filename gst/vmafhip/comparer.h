// The comparing thread: takes frames from the inbox, pairs them, hands pairs to the measurement, and pushes what may
// leave. It is the src pad's task; streaming threads only fill the inbox, engine workers only compute.
//
// A frame of the selected stream is in line to leave as soon as it has come, whether or not it is paired yet: in a live
// pipeline it leaves in time, and may find its partner later, as long as the inbox keeps it.
#pragma once
#include <gst/gst.h>

#include <array>
#include <atomic>
#include <deque>
#include <optional>

#include "gst/vmafhip/deadlines.h"
#include "gst/vmafhip/fence_watch.h"
#include "gst/vmafhip/frame.h"
#include "gst/vmafhip/gpu_sharing.h"
#include "gst/vmafhip/inbox.h"
#include "gst/vmafhip/measurement.h"
#include "gst/vmafhip/on_screen.h"
#include "gst/vmafhip/output.h"
#include "gst/vmafhip/pairing.h"
#include "gst/vmafhip/picture_reader.h"
#include "gst/vmafhip/settings.h"
#include "gst/vmafhip/thinning.h"

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
  // Between PAUSED and PLAYING: deadlines are those of a stream that plays.
  void set_playing(bool playing);
  // The action signals. Any thread, at any time, also from a handler that a turn of the task has called: the next
  // turn acts.
  enum Request : unsigned { kReset = 1, kPostPooled = 2 };
  void request(Request request);
  // The selected stream was flushed: the next turn starts anew. While no turn runs, or from within one.
  void restart_output();

  Inbox &inbox() { return inbox_; }
  Measurement &measurement() { return measurement_; }
  Deadlines &deadlines() { return deadlines_; }
  GpuSharing &sharing() { return sharing_; }
  // Any thread while started:
  int frames_held() const { return frames_held_; }  // buffers of one stream that are kept: for buffer pools

 private:
  GstPad *pad(Side side) const { return side == Side::ref ? ref_pad_ : dist_pad_; }
  void iterate();  // one turn of the task
  void admit();    // frames and events of the selected stream take their place in the output
  GstFlowReturn let_out();
  void follow_flushes_and_ends();
  void fetch(Side side);
  void accept(Side side, Item item);
  void idle(std::optional<Side> needed, bool for_room = false);
  void say_starving(Side needed, bool fatal);
  void say_sync();
  void unmatched(Side side, FrameAligner::Frame frame);
  std::optional<FrameAligner::Frame> on_screen(gint64 time) const;
  void push_arrival();
  void submit_pair();
  bool is_pressed() const;
  void wait_for_producer(Side side);
  void fail(const Status &status);
  void leave_out_pair();
  size_t most_waiting_pairs() const;
  void start_anew();
  bool serve_requests();  // false: interrupted
  void forget_frames();
  void end_of_segments();
  void end_of_streams();
  void leave(GstFlowReturn flow);

  GstElement *element_;
  GstPad *ref_pad_, *dist_pad_, *src_pad_;
  Settings settings_;
  Inbox inbox_;
  Output output_;
  GpuSharing sharing_;
  PictureReader reader_;
  Measurement measurement_;
  Deadlines deadlines_;
  FenceWatch fences_;
  Pairing pairing_;
  OnScreen<FrameAligner::Frame> on_screen_;
  Thinning thinning_;
  struct Arrival {
    Side side;
    FrameAligner::Frame frame;
  };
  std::optional<Arrival> arrival_;  // taken, not yet pushed to the pairing
  std::optional<FramePair> pair_;   // decided, not yet submitted
  bool chosen_ = false;             // it is not left out for want of time
  bool waited_ = false;             // it has waited for room in the engine

  std::deque<guint64> tickets_;                 // of output frames that are still in the inbox
  FrameInterval pace_;                          // of the selected stream, as it comes
  gint64 newest_ = 0;                           // running time of its newest frame
  std::array<std::optional<gint64>, 2> times_;  // running times of the frames taken last
  std::array<bool, 2> paused_{};                // a segment is done, and nothing has come since
  guint64 gap_bytes_ = 0;                       // of output frames without partner since the last pair
  bool hurry_ = false;                          // the next decision cannot wait for a frame
  bool flushed_ = false;                        // a pad was, and what was in flight is not drained yet
  bool over_ = false;                           // until flush or stop

  // What has been said, or counted.
  std::optional<Side> silent_;  // live: the pad that frames no longer wait for
  bool far_apart_said_ = false, narrow_said_ = false, unwritten_said_ = false;
  guint64 copied_ = 0;

  // Set by other threads.
  std::atomic<bool> restart_{false};  // the selected stream was flushed
  std::atomic<unsigned> requests_{0};
  std::atomic<int> frames_held_{0};  // set by start() and stop(), read by any
};

}  // namespace vmafhip
