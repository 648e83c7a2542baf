// Between the comparing thread and the engine: sets the engine to the pairs' formats, hands pairs over, collects
// scores in order, and says what comes of them (messages, metas, pools). Which frames are pairs is the comparer's affair.
//
// Owned by the comparing thread, except for what says "any thread".
#pragma once
#include <gst/gst.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "engine/session.h"
#include "gst/vmafhip/distance_watch.h"
#include "gst/vmafhip/frame.h"
#include "gst/vmafhip/gpu_sharing.h"
#include "gst/vmafhip/inbox.h"
#include "gst/vmafhip/monitor.h"
#include "gst/vmafhip/output.h"
#include "gst/vmafhip/pairing.h"
#include "gst/vmafhip/picture_reader.h"
#include "gst/vmafhip/picture_watch.h"
#include "gst/vmafhip/report.h"
#include "gst/vmafhip/results.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

class Measurement {
 public:
  // All outlive the measurement. Waits for scores in `inbox`; scores go to the frames held in `output`.
  Measurement(GstElement *element, Inbox &inbox, Output &output, PictureReader &reader, GpuSharing &sharing);

  // Loads models and starts workers. The error has been posted if false.
  bool start(const Settings &settings);
  // What is in flight is scored first, and the last pooled message posted unless it has been: who stops without an
  // end of the streams loses nothing. The comparing thread does not run.
  void stop();

  enum class Submitted {
    done,
    no_room,      // the pair stays; ask again when the inbox wakes
    interrupted,  // the pair stays
    failed,       // the error has been posted
  };
  Submitted submit(std::optional<FramePair> &pair);  // both pictures are written

  // The pair is not scored, for want of time, which is counted and said; `lag`: how far in ns scores are behind.
  void leave_out(const FramePair &pair, gint64 lag);

  // Takes the scores that are complete. False: the engine has failed, and the error has been posted.
  bool collect();
  // The inbox is woken for scores as soon as there is one, or, for whoever waits for room, when there is room for
  // several pairs. False: it is so already.
  bool wakes_at(bool several);
  // Waits until all is scored that can be; false: interrupted. If the engine fails meanwhile, collect() says so.
  bool await_scores();
  // The same with the last frames, which get no successor; the engine starts anew before the next pair.
  bool drain();
  // Frames whose score needs a successor leave without it; it is reported when it comes. Waits for the others.
  void let_go();
  // After drain(), or when what is in flight is void: pools and temporal features start anew. Says so if anything
  // was scored since the last time, or in any case if it was asked for.
  void begin_anew(const char *reason, bool asked_for = false);
  // The `pooled` message of the end.
  void end();
  // The same in between, of what has been taken, without a new start.
  void post_pooled();
  // sync=content: what has become known of the offset.
  void tell(const SyncNews &news);
  // What was compared before counts: its scores come out first, then the error. Never `done`.
  Submitted fail(const Status &status);
  // A reference frame will not be scored.
  void passed_over(const FrameAligner::Frame &frame);

  gint64 last_time() const { return last_time_; }  // running time of the last pair's output frame
  int max_in_flight() const { return session_->max_in_flight(); }
  int lookahead() const { return session_->lookahead(); }
  Report &report() { return report_; }

  // Any thread:
  const Report &report() const { return report_; }
  // Takes over those settings that may change while the stream runs.
  void update(const Settings &settings);

 private:
  Submitted configure(const FramePair &pair);
  // Posts the first of two pads' errors.
  Submitted refuse(const Status &ref, const Status &dist);
  PairInfo describe(const FramePair &pair);
  void scored(const FrameScores &scores);
  // The engine's, after what it has remarked on the way.
  Session::Next next();
  // Posts what the engine remarks, each text once.
  void say_remarks();
  void say_in_flight();
  // The engine has failed: what came before counts, then the error.
  void lose();
  // Posts the warnings that files cannot be written, once.
  void check_files();
  // Says what is to be said of the frames since the last new start.
  void conclude(bool with_pooled);
  void post(StructurePtr structure);
  Pools pools() const {
    return {session_->feature_pools(), session_->model_pools(), &session_->aggregates()};
  }

  // What may change while the stream runs.
  struct Live {
    bool frame_message = true;
    PoolMethod pool_method = PoolMethod::mean;
    AlertRule alert;
  };
  Live live() const {
    std::lock_guard lock(live_mutex_);
    return live_;
  }

  GstElement *element_;
  Inbox &inbox_;
  Output &output_;
  PictureReader &reader_;
  GpuSharing &sharing_;
  Report report_;
  Results results_;
  Monitor monitor_;
  GParamSpec *last_score_spec_;
  Settings settings_;
  std::unique_ptr<Session> session_;
  DistanceWatch distances_;
  PictureWatch pictures_;
  std::deque<PairInfo> in_flight_;  // submitted and to be scored, in order
  std::optional<std::pair<PictureFormat, PictureFormat>> configured_;
  FrameScores scores_;  // reused
  guint64 index_ = 0, frame_number_ = 0;
  guint64 index_at_start_ = 0;  // index_ when pools last started anew
  gint64 last_time_ = 0;
  int wakes_at_ = 1;       // measured frames
  PairInfo last_;          // the pair scored last
  bool finished_ = false;  // the engine has been told that no frame follows
  bool pooled_ = false;    // everything scored so far is in a pooled message
  std::set<std::string> remarks_said_;
  bool untimed_said_ = false, scaled_said_ = false, failure_said_ = false;  // have been warned of
  bool lost_ = false;                                                       // the engine has failed
  mutable std::mutex live_mutex_;
  Live live_;
};

}  // namespace vmafhip
