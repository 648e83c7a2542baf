// Everything the element says about scores: messages, buffer metas, statistics.
#pragma once
#include <gst/gst.h>

#include <mutex>
#include <vector>

#include "engine/session.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

// What is known of a compared pair beside its scores. Times in ns.
struct PairInfo {
  guint64 index = 0, frame_number = 0;
  GstClockTime timestamp = GST_CLOCK_TIME_NONE, stream_time = GST_CLOCK_TIME_NONE,
               duration = GST_CLOCK_TIME_NONE;
  GstClockTime dist_timestamp = GST_CLOCK_TIME_NONE;
  gint64 running_time = 0, dist_running_time = 0;
  bool timed = false;  // both running times are meaningful
  guint64 ticket = 0;  // of the output frame, see Output
};

struct Counters {
  guint64 ref_frames = 0, dist_frames = 0;  // that arrived
  guint64 compared = 0, scored = 0;
  guint64 ref_unmatched = 0, dist_unmatched = 0;
  guint64 extrapolated = 0;
};

// Owned by the comparing thread, except for what says "any thread".
class Report {
 public:
  // Before frames: takes the names from the session.
  void start(const Session &session);

  // The `frame` message's structure.
  StructurePtr frame(const PairInfo &pair, const FrameScores &scores);
  // The `pooled` message's structure, over what the session has given out since its last reset.
  StructurePtr pooled(const Session &session, PoolMethod method);
  // The score that `score` fields and last-score speak of: the first model's, else the first feature's.
  double main_score(const FrameScores &scores) const;

  // Changes the counters under the lock.
  template <class Change>
  void count(Change &&change) {
    std::lock_guard lock(mutex_);
    change(counters_);
  }
  void scored(const Session &session, const FrameScores &scores, PoolMethod method);

  // Any thread:
  StructurePtr stats() const;
  double last_score() const;  // NaN before the first

 private:
  void add_counters(GstStructure *s) const;  // mutex_ held

  std::vector<GQuark> features_, models_;
  std::string backend_, model_source_;
  StructurePtr model_sources_;

  mutable std::mutex mutex_;
  Counters counters_;
  double last_score_, pooled_score_;
  bool started_ = false;
};

}  // namespace vmafhip
