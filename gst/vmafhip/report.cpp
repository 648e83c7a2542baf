#include "gst/vmafhip/report.h"

#include <cmath>
#include <limits>

#include "gst/vmafhip/enums.h"

namespace vmafhip {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// A value that is not finite is left out.
void set_double(GstStructure *s, GQuark field, double value) {
  if (!std::isfinite(value)) return;
  GValue v = G_VALUE_INIT;
  g_value_init(&v, G_TYPE_DOUBLE);
  g_value_set_double(&v, value);
  gst_structure_id_take_value(s, field, &v);
}

void set_double(GstStructure *s, const char *field, double value) {
  set_double(s, g_quark_from_string(field), value);
}

void take_structure(GstStructure *s, GQuark field, GstStructure *inner) {
  GValue v = G_VALUE_INIT;
  g_value_init(&v, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&v, inner);
  gst_structure_id_take_value(s, field, &v);
}

void take_structure(GstStructure *s, const char *field, GstStructure *inner) {
  take_structure(s, g_quark_from_string(field), inner);
}

GstClockTime clock_time(const PairInfo &pair, gint64 time) {
  return pair.timed && time >= 0 ? GstClockTime(time) : GST_CLOCK_TIME_NONE;
}

GstStructure *values(const char *name, const std::vector<GQuark> &fields,
                     const std::vector<double> &numbers) {
  GstStructure *s = gst_structure_new_empty(name);
  for (size_t i = 0; i < fields.size(); ++i) set_double(s, fields[i], numbers[i]);
  return s;
}

GstStructure *pools(const char *name, const std::vector<GQuark> &fields,
                    const std::vector<RunningPool> &from) {
  GstStructure *s = gst_structure_new_empty(name);
  for (size_t i = 0; i < fields.size(); ++i) {
    GstStructure *pool = gst_structure_new_empty("pool");
    for (const auto method : {PoolMethod::mean, PoolMethod::min, PoolMethod::max, PoolMethod::harmonic_mean})
      set_double(pool, nick_of(method), from[i].get(method));
    take_structure(s, fields[i], pool);
  }
  return s;
}

double pooled_main(const Session &session, PoolMethod method) {
  const auto &pools = session.model_pools().empty() ? session.feature_pools() : session.model_pools();
  return pools.front().get(method);
}

}  // namespace

void Report::start(const Session &session) {
  features_.clear();
  models_.clear();
  for (const std::string &name : session.feature_names())
    features_.push_back(g_quark_from_string(name.c_str()));
  std::lock_guard lock(mutex_);
  model_sources_.reset(gst_structure_new_empty("model-sources"));
  model_source_.clear();
  for (const ModelInfo &m : session.models()) {
    models_.push_back(g_quark_from_string(m.label.c_str()));
    const std::string source(to_string(m.source));
    const std::string text = m.origin.empty() ? source : source + " " + m.origin;
    gst_structure_set(model_sources_.get(), m.label.c_str(), G_TYPE_STRING, text.c_str(), nullptr);
    if (model_source_.empty()) model_source_ = source;
  }
  backend_ = session.backend_description();
  counters_ = Counters();
  last_score_ = pooled_score_ = kNone;
  started_ = true;
}

StructurePtr Report::frame(const PairInfo &pair, const FrameScores &scores) {
  const PictureScores &of = scores.dist.front();
  StructurePtr s(gst_structure_new(
      "vmafhip", "type", G_TYPE_STRING, "frame", "index", G_TYPE_UINT64, pair.index, "frame-number",
      G_TYPE_UINT64, pair.frame_number, "timestamp", G_TYPE_UINT64, pair.timestamp, "stream-time",
      G_TYPE_UINT64, pair.stream_time, "running-time", G_TYPE_UINT64, clock_time(pair, pair.running_time),
      "duration", G_TYPE_UINT64, pair.duration, "dist-timestamp", G_TYPE_UINT64, pair.dist_timestamp,
      "dist-running-time", G_TYPE_UINT64, clock_time(pair, pair.dist_running_time), nullptr));
  if (pair.timed)
    gst_structure_set(s.get(), "distance", G_TYPE_INT64, pair.dist_running_time - pair.running_time, nullptr);
  set_double(s.get(), "score", main_score(scores));
  take_structure(s.get(), "models", values("models", models_, of.models));
  take_structure(s.get(), "features", values("features", features_, of.features));
  gst_structure_set(s.get(), "repeated", G_TYPE_BOOLEAN, FALSE, "warm-up", G_TYPE_BOOLEAN,
                    gboolean(scores.warm_up), nullptr);
  if (!model_source_.empty())
    gst_structure_set(s.get(), "model-source", G_TYPE_STRING, model_source_.c_str(), nullptr);
  return s;
}

StructurePtr Report::pooled(const Session &session, PoolMethod method) {
  StructurePtr s(gst_structure_new("vmafhip", "type", G_TYPE_STRING, "pooled", "frames", G_TYPE_UINT64,
                                   session.feature_pools().front().count(), "pool-method", G_TYPE_STRING,
                                   nick_of(method), nullptr));
  set_double(s.get(), "score", pooled_main(session, method));
  take_structure(s.get(), "models", pools("models", models_, session.model_pools()));
  take_structure(s.get(), "features", pools("features", features_, session.feature_pools()));
  gst_structure_set(s.get(), "backend", G_TYPE_STRING, backend_.c_str(), nullptr);
  if (!model_source_.empty())
    gst_structure_set(s.get(), "model-source", G_TYPE_STRING, model_source_.c_str(), nullptr);
  std::lock_guard lock(mutex_);
  add_counters(s.get());
  return s;
}

double Report::main_score(const FrameScores &scores) const {
  const PictureScores &of = scores.dist.front();
  return of.models.empty() ? of.features.front() : of.models.front();
}

void Report::scored(const Session &session, const FrameScores &scores, PoolMethod method) {
  const double pooled = pooled_main(session, method);
  std::lock_guard lock(mutex_);
  ++counters_.scored;
  counters_.extrapolated += scores.dist.front().extrapolated;
  last_score_ = main_score(scores);
  pooled_score_ = pooled;
}

void Report::add_counters(GstStructure *s) const {
  gst_structure_set(s, "ref-frames", G_TYPE_UINT64, counters_.ref_frames, "dist-frames", G_TYPE_UINT64,
                    counters_.dist_frames, "compared", G_TYPE_UINT64, counters_.compared, "scored",
                    G_TYPE_UINT64, counters_.scored, "ref-unmatched", G_TYPE_UINT64, counters_.ref_unmatched,
                    "dist-unmatched", G_TYPE_UINT64, counters_.dist_unmatched, "extrapolated", G_TYPE_UINT64,
                    counters_.extrapolated, nullptr);
}

StructurePtr Report::stats() const {
  StructurePtr s(gst_structure_new_empty("vmafhip-stats"));
  std::lock_guard lock(mutex_);
  add_counters(s.get());
  if (!started_) return s;
  gst_structure_set(s.get(), "backend", G_TYPE_STRING, backend_.c_str(), "model-sources", GST_TYPE_STRUCTURE,
                    model_sources_.get(), nullptr);
  set_double(s.get(), "last-score", last_score_);
  set_double(s.get(), "pooled-score", pooled_score_);
  return s;
}

double Report::last_score() const {
  std::lock_guard lock(mutex_);
  return started_ ? last_score_ : kNone;
}

}  // namespace vmafhip
