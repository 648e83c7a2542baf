// Everything the element says about scores: the structures of messages and buffer metas, and the statistics.
#pragma once
#include <gst/gst.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/session.h"
#include "gst/vmafhip/frame_rate.h"
#include "gst/vmafhip/handles.h"
#include "gst/vmafhip/read_counts.h"
#include "gst/vmafhip/settings.h"

namespace vmafhip {

// What is known of a compared pair beside its scores. Times in ns.
struct PairInfo {
  guint64 index = 0, frame_number = 0;
  GstClockTime timestamp = GST_CLOCK_TIME_NONE, stream_time = GST_CLOCK_TIME_NONE,
               duration = GST_CLOCK_TIME_NONE;
  GstClockTime dist_timestamp = GST_CLOCK_TIME_NONE;
  std::optional<gint64> running_time, dist_running_time;  // none without time stamps
  const char *sync = "";                                  // nick of the way in which the partners were found
  bool repeated = false;  // the distorted frame is not the reference's own partner
  guint64 ticket = 0;     // of the output frame, see Output
};

struct Counters {
  guint64 ref_frames = 0, dist_frames = 0;  // that arrived
  guint64 compared = 0, scored = 0;
  guint64 ref_unmatched = 0, dist_unmatched = 0;
  guint64 unknowable = 0;   // sync=content: compared by time stamps, as the pictures do not tell the offset
  guint64 repeated = 0;     // compared with the distorted frame then on screen
  guint64 late = 0;         // scored after their output buffer had left without
  guint64 held_copied = 0;  // copied, as the source has few buffers and they had to wait
  guint64 skipped_overload = 0;  // pairs that a live pipeline had no time to score
  guint64 extrapolated = 0;
  ReadCounts read;
};

// The pools of the same frames, by feature and by model, and their values of the whole, if there are any.
struct Pools {
  const std::vector<RunningPool> &features, &models;
  const std::vector<double> *aggregates = nullptr;
};

// A running time as messages carry it: GST_CLOCK_TIME_NONE if it is unknown or before 0.
inline GstClockTime clock_time(std::optional<gint64> time) {
  return time && *time >= 0 ? GstClockTime(*time) : GST_CLOCK_TIME_NONE;
}

// Owned by the comparing thread, except for what says "any thread".
class Report {
 public:
  // Before frames: takes the names from the session and looks up Settings::score_source, which must be one of them.
  Status start(const Session &session, const std::string &score_source);
  // The session has been configured: what its format lacks is left out from now on.
  void configure(const Session &session);
  // What computes has changed: the GPU is lost.
  void set_backend(const Session &session);
  // Afterwards stats() tells of the run that was.
  void stop();

  // The `frame` message's structure.
  StructurePtr frame(const PairInfo &pair, const FrameScores &scores) const;
  // The structure of a `pooled` or `window` message over `pools`.
  StructurePtr pooled(const char *type, const Pools &pools, PoolMethod method) const;

  // What `score` fields, last-score and alerts speak of, as Settings::score_source says: a score, and its name.
  double score(const PictureScores &scores) const;
  double score(const Pools &pools, PoolMethod method) const;
  const char *score_name() const;

  // Changes the counters under the lock.
  template <class Change>
  void count(Change &&change) {
    std::lock_guard lock(mutex_);
    change(counters_);
  }
  // A frame was scored; `pools` have it.
  void scored(const PairInfo &pair, const PictureScores &scores, const Pools &pools, PoolMethod method);
  // sync=content: what is known of the offset; state is a literal.
  void set_sync(const char *state, gint64 offset);
  // Running times begin anew.
  void restart_clock();

  // Any thread:
  // `newest`: running time of the newest reference frame that has arrived.
  StructurePtr stats(std::optional<gint64> newest) const;
  StructurePtr counters() const;  // as in `pooled`
  double last_score() const;      // NaN before the first

 private:
  void add_origin(GstStructure *s) const;         // back end, model source, offset
  void add_counters(GstStructure *s) const;       // mutex_ held
  void describe_backend(const Session &session);  // mutex_ held

  std::vector<GQuark> features_, models_, aggregates_;
  std::vector<char> present_;  // per feature
  bool source_is_model_ = true;
  size_t source_ = 0;  // index into models_ or features_

  mutable std::mutex mutex_;
  std::string backend_, backend_reason_;  // written by the comparing thread
  std::string model_source_;              // changes in start() alone
  StructurePtr model_sources_;
  Counters counters_;
  FrameRate rate_;
  std::optional<gint64> last_time_;   // running time of the reference frame scored last
  const char *sync_state_ = nullptr;  // sync=content
  gint64 offset_ = 0;
  double last_score_, pooled_score_;
  bool started_ = false, running_ = false;
};

}  // namespace vmafhip
