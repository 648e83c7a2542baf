// Between the comparing thread and the engine: sets the engine to the pairs' formats, hands pairs over, collects
// scores in order, and says what comes of them (messages, metas, pools). Which frames are pairs is the comparer's affair.
//
// Owned by the comparing thread, except for what says "any thread".
#pragma once
#include <gst/gst.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "engine/session.h"
#include "gst/vmafhip/distance_watch.h"
#include "gst/vmafhip/frame.h"
#include "gst/vmafhip/inbox.h"
#include "gst/vmafhip/output.h"
#include "gst/vmafhip/picture_watch.h"
#include "gst/vmafhip/report.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

class Measurement {
 public:
  // All outlive the measurement. Waits for scores in `inbox`; scores go to the frames held in `output`.
  Measurement(GstElement *element, Inbox &inbox, Output &output);

  // Loads models and starts workers. The error has been posted if false.
  bool start(const Settings &settings);
  void stop();

  enum class Submitted {
    done,
    no_room,      // the pair stays; ask again when the inbox wakes
    interrupted,  // the pair stays
    failed,       // the error has been posted
  };
  Submitted submit(std::optional<FramePair> &pair);

  // Takes the scores that are complete.
  void collect();
  // Waits until all is scored that can be; false: interrupted.
  bool await_scores();
  // The same with the last frames, which get no successor; the engine starts anew before the next pair.
  bool drain();
  // Frames whose score needs a successor leave without it; it is reported when it comes. Waits for the others.
  void let_go();
  // After drain(), or when what is in flight is void: pools and temporal features start anew.
  void begin_anew(const char *reason);
  // The `pooled` message of the end.
  void end();

  gint64 last_time() const { return last_time_; }  // running time of the last pair's output frame
  int max_in_flight() const { return session_->max_in_flight(); }
  int lookahead() const { return session_->lookahead(); }
  Report &report() { return report_; }

  // Any thread:
  const Report &report() const { return report_; }
  void set_frame_message(bool on) { frame_message_ = on; }
  void set_pool_method(PoolMethod method) { pool_method_ = method; }

 private:
  Submitted configure(const FramePair &pair);
  // Posts the first of two pads' errors.
  Submitted refuse(const Status &ref, const Status &dist);
  // What was compared before counts: its scores come out first, then the error.
  Submitted fail(const Status &status);
  PairInfo describe(const FramePair &pair);
  void scored(const FrameScores &scores);
  void say_not_simultaneous();
  void post(StructurePtr structure);

  GstElement *element_;
  Inbox &inbox_;
  Output &output_;
  GParamSpec *last_score_spec_;
  Settings settings_;
  std::unique_ptr<Session> session_;
  Report report_;
  DistanceWatch distances_;
  PictureWatch pictures_;
  std::deque<PairInfo> in_flight_;  // submitted and to be scored, in order
  std::optional<std::pair<PictureFormat, PictureFormat>> configured_;
  FrameScores scores_;  // reused
  guint64 index_ = 0, frame_number_ = 0;
  guint64 index_at_start_ = 0;  // index_ when pools last started anew
  gint64 last_time_ = 0;
  bool finished_ = false;  // the engine has been told that no frame follows
  bool pooled_ = false;    // everything scored so far is in a pooled message
  std::atomic<bool> frame_message_{true};
  std::atomic<PoolMethod> pool_method_{PoolMethod::mean};
};

}  // namespace vmafhip
