// The comparing thread: takes frames from the inbox, pairs them, hands pairs to the engine, and says what
// comes of it. It is the src pad's task; streaming threads only fill the inbox, engine workers only compute.
#pragma once
#include <gst/gst.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>

#include "engine/session.h"
#include "gst/vmafhip/aligner.h"
#include "gst/vmafhip/distance_watch.h"
#include "gst/vmafhip/inbox.h"
#include "gst/vmafhip/output.h"
#include "gst/vmafhip/report.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

class Comparer {
 public:
  // The pads of `element`; all outlive the comparer.
  Comparer(GstElement *element, GstPad *ref, GstPad *dist, GstPad *src);

  // Loads models and starts workers. The error has been posted if false.
  bool start(const Settings &settings);
  void stop();  // the task does not run

  // One turn of the task.
  void iterate();
  // Makes the running turn end soon, and further ones do nothing; off: the task may be started.
  void interrupt(bool on) { inbox_.interrupt(on); }
  // The selected stream was flushed: the next turn starts anew. While no turn runs, or from within one.
  void restart_output();

  Inbox &inbox() { return inbox_; }
  const Report &report() const { return report_; }
  const Settings &settings() const { return settings_; }
  // Any thread while started:
  int frames_held() const { return frames_held_; }  // buffers of one stream that are kept: for buffer pools
  GstClockTime latency() const;  // how long an output frame waits for its score when all is well
  void set_frame_duration(GstClockTime duration) { frame_duration_ = duration; }
  void set_frame_message(bool on) { frame_message_ = on; }
  void set_pool_method(PoolMethod method) { pool_method_ = method; }

 private:
  struct In {
    BufferPtr buffer;
    std::shared_ptr<const Stream> stream;
    guint64 ticket = 0;
    gsize bytes = 0;
    bool timed = false;
  };
  using Frames = Aligner<In>;
  struct Pair {
    Frames::Frame ref, dist;
  };

  GstPad *pad(Side side) const { return side == Side::ref ? ref_pad_ : dist_pad_; }
  void fetch(Side side);
  void accept(Side side, Item item);
  void idle(std::optional<Side> needed);
  void refuse_untimed(Side side, const Stream &stream);
  void say_starving(Side needed, bool fatal);
  void unmatched(Side side, const Frames::Frame &frame);
  void submit_pair();
  bool configure(const Pair &pair);
  PairInfo describe(const Pair &pair);
  void collect();
  void scored(const FrameScores &scores);
  // Waits until all is scored that can be; false: interrupted.
  bool await_scores();
  // The same with the last frames, which get no successor; the engine starts anew before the next pair.
  bool drain();
  void let_go();
  void begin_anew(const char *reason);
  void start_anew();
  void end_of_streams();
  void leave(GstFlowReturn flow);
  void fail(const Status &status);
  void say_not_simultaneous();
  void post(StructurePtr structure);

  GstElement *element_;
  GstPad *ref_pad_, *dist_pad_, *src_pad_;
  GParamSpec *last_score_spec_;
  Settings settings_;
  std::unique_ptr<Session> session_;
  Inbox inbox_;
  Output output_;
  Report report_;
  Frames aligner_;
  DistanceWatch distances_;
  std::optional<Pair> pair_;        // decided, not yet submitted
  std::deque<PairInfo> in_flight_;  // submitted, in order
  std::optional<std::pair<PictureFormat, PictureFormat>> configured_;
  FrameScores scores_;  // reused
  guint64 index_ = 0, frame_number_ = 0;
  guint64 index_at_start_ = 0;        // index_ when pools last started anew
  guint64 gap_bytes_ = 0;             // of output frames without partner since the last pair
  gint64 pair_time_ = 0;              // running time of the last pair's output frame
  bool finished_ = false;             // the engine has been told that no frame follows
  bool hurry_ = false;                // the next decision cannot wait for a frame
  bool flushed_ = false;              // a pad was, and what was in flight is not drained yet
  bool over_ = false;                 // until flush or stop
  bool pooled_ = false;               // everything scored so far is in a pooled message
  std::optional<Side> silent_;        // live: the pad that frames no longer wait for, as has been said
  std::atomic<bool> restart_{false};  // the selected stream was flushed
  std::atomic<int> frames_held_{0}, frames_awaited_{0};
  std::atomic<GstClockTime> frame_duration_{40 * GST_MSECOND};
  std::atomic<bool> frame_message_{true};
  std::atomic<PoolMethod> pool_method_{PoolMethod::mean};
};

}  // namespace vmafhip
