#include "gst/vmafhip/monitor.h"

#include <limits>

#include "gst/vmafhip/structures.h"

namespace vmafhip {

void Monitor::start(guint64 window, size_t features, size_t models) {
  clock_ = WindowClock(window);
  // Without windows there is nothing to pool.
  features_.assign(window > 0 ? features : 0, RunningPool());
  models_.assign(window > 0 ? models : 0, RunningPool());
  late_.clear();
  alert_ = Alert();
  last_time_.reset();
}

void Monitor::reach(std::optional<gint64> time, GstClockTime duration, PoolMethod method) {
  if (!time) return;
  const auto passed = clock_.reach(*time, GST_CLOCK_TIME_IS_VALID(duration) ? duration : 0);
  if (passed.window) post_window(*passed.window, method);
  if (passed.empty) post_window(*passed.empty, method);
}

void Monitor::pool(const PictureScores &scores) {
  for (size_t i = 0; i < features_.size(); ++i) features_[i].add(scores.features[i]);
  for (size_t i = 0; i < models_.size(); ++i) models_[i].add(scores.models[i]);
}

void Monitor::pool_late() {
  for (const Late &late : late_) pool(late.scores);
  late_.clear();
}

// A source has begun anew without saying so: what seemed late is the present.
void Monitor::turn_back(PoolMethod method) {
  if (const auto span = clock_.finish()) post_window(*span, method);
  for (const Late &late : late_) {
    reach(late.time, late.duration, method);
    pool(late.scores);
  }
  late_.clear();
}

void Monitor::scored(const PairInfo &pair, const PictureScores &scores, PoolMethod method,
                     const AlertRule &rule) {
  if (pair.running_time && clock_.before(*pair.running_time)) {
    late_.push_back({*pair.running_time, pair.duration, scores});
    if (late_.size() > most_late_) turn_back(method);
  } else {
    pool_late();
    pool(scores);
  }
  rule_ = rule;
  last_time_ = pair.running_time;
  const double score = report_.score(scores);
  if (const auto change = alert_.add(rule, score, pair.running_time))
    post_alert(*change, score, pair.running_time);
}

void Monitor::finish(PoolMethod method) {
  pool_late();
  if (const auto span = clock_.finish()) post_window(*span, method);
  if (const auto change = alert_.finish())
    post_alert(*change, std::numeric_limits<double>::quiet_NaN(), last_time_);
}

void Monitor::post_window(const WindowClock::Span &span, PoolMethod method) {
  StructurePtr s = report_.pooled("window", {features_, models_}, method);
  gst_structure_set(s.get(), "start", G_TYPE_UINT64, clock_time(span.start), "stop", G_TYPE_UINT64,
                    clock_time(span.stop), nullptr);
  for (auto *pools : {&features_, &models_})
    for (RunningPool &pool : *pools) pool.reset();
  post_(std::move(s));
}

void Monitor::post_alert(const Alert::Change &change, double score, std::optional<gint64> time) {
  StructurePtr s(gst_structure_new("vmafhip", "type", G_TYPE_STRING, "alert", "state", G_TYPE_STRING,
                                   change.raised ? "raised" : "cleared", "source", G_TYPE_STRING,
                                   report_.score_name(), "running-time", G_TYPE_UINT64, clock_time(time),
                                   "since", G_TYPE_UINT64, clock_time(change.since), nullptr));
  set_double(s.get(), "score", score);
  set_double(s.get(), "threshold", rule_.threshold);
  post_(std::move(s));
}

}  // namespace vmafhip
