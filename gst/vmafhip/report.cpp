#include "gst/vmafhip/report.h"

#include <algorithm>
#include <limits>

#include "gst/vmafhip/enums.h"
#include "gst/vmafhip/structures.h"

namespace vmafhip {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

GstStructure *pools_of(const char *name, const std::vector<GQuark> &fields,
                       const std::vector<RunningPool> &from, const std::vector<char> *present = nullptr) {
  GstStructure *s = gst_structure_new_empty(name);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (present && !(*present)[i]) continue;
    GstStructure *pool = gst_structure_new_empty("pool");
    for (const auto method : {PoolMethod::mean, PoolMethod::min, PoolMethod::max, PoolMethod::harmonic_mean})
      set_double(pool, nick_of(method), from[i].get(method));
    set_double(pool, "stddev", from[i].stddev());
    for (const auto &[name, percent] : {std::pair("p1", 1.), std::pair("p5", 5.), std::pair("p50", 50.)})
      set_double(pool, name, from[i].percentile(percent));
    take_structure(s, fields[i], pool);
  }
  return s;
}

std::string list(const std::vector<GQuark> &names) {
  std::string text;
  for (const GQuark name : names) text += (text.empty() ? "" : ", ") + std::string(g_quark_to_string(name));
  return text;
}

// Features that the format lacks have none.
guint64 frames_of(const Pools &pools) {
  guint64 frames = 0;
  for (const RunningPool &pool : pools.features) frames = std::max<guint64>(frames, pool.count());
  return frames;
}

gint64 now() { return g_get_monotonic_time() * 1000; }

}  // namespace

// ---- life --------------------------------------------------------------------------------------

Status Report::start(const Session &session, const std::string &score_source) {
  features_.clear();
  models_.clear();
  for (const std::string &name : session.feature_names())
    features_.push_back(g_quark_from_string(name.c_str()));
  for (const ModelInfo &m : session.models()) models_.push_back(g_quark_from_string(m.label.c_str()));
  aggregates_.clear();
  for (const std::string &name : session.aggregate_names())
    aggregates_.push_back(g_quark_from_string(name.c_str()));
  present_.assign(features_.size(), 1);

  source_is_model_ = !models_.empty();
  source_ = 0;
  if (!score_source.empty()) {
    const GQuark wanted = g_quark_from_string(score_source.c_str());
    const auto model = std::find(models_.begin(), models_.end(), wanted);
    const auto feature = std::find(features_.begin(), features_.end(), wanted);
    source_is_model_ = model != models_.end();
    if (!source_is_model_ && feature == features_.end())
      return Status(Code::invalid_argument, "score-source=\"" + score_source + "\" is neither a model (" +
                                                list(models_) + ") nor a feature (" + list(features_) + ")");
    source_ = size_t(source_is_model_ ? model - models_.begin() : feature - features_.begin());
  }

  std::lock_guard lock(mutex_);
  model_sources_.reset(gst_structure_new_empty("model-sources"));
  model_source_.clear();
  for (const ModelInfo &m : session.models()) {
    const std::string source(to_string(m.source));
    const std::string text = m.origin.empty() ? source : source + " " + m.origin;
    gst_structure_set(model_sources_.get(), m.label.c_str(), G_TYPE_STRING, text.c_str(), nullptr);
    if (model_source_.empty()) model_source_ = source;
  }
  describe_backend(session);
  counters_ = Counters();
  rate_ = FrameRate();
  last_time_.reset();
  last_score_ = pooled_score_ = kNone;
  sync_state_ = nullptr;
  offset_ = 0;
  started_ = running_ = true;
  return Status();
}

void Report::configure(const Session &session) {
  for (size_t i = 0; i < present_.size(); ++i) present_[i] = session.has_feature(i);
  set_backend(session);
}

void Report::set_backend(const Session &session) {
  std::lock_guard lock(mutex_);
  describe_backend(session);
}

void Report::describe_backend(const Session &session) {
  backend_ = session.backend_description();
  backend_reason_ = session.backend_reason();
}

void Report::stop() {
  std::lock_guard lock(mutex_);
  running_ = false;
}

// ---- messages ----------------------------------------------------------------------------------

StructurePtr Report::frame(const PairInfo &pair, const FrameScores &scores) const {
  const PictureScores &of = scores.dist.front();
  StructurePtr s(gst_structure_new(
      "vmafhip", "type", G_TYPE_STRING, "frame", "index", G_TYPE_UINT64, pair.index, "frame-number",
      G_TYPE_UINT64, pair.frame_number, "timestamp", G_TYPE_UINT64, pair.timestamp, "stream-time",
      G_TYPE_UINT64, pair.stream_time, "running-time", G_TYPE_UINT64, clock_time(pair.running_time),
      "duration", G_TYPE_UINT64, pair.duration, "dist-timestamp", G_TYPE_UINT64, pair.dist_timestamp,
      "dist-running-time", G_TYPE_UINT64, clock_time(pair.dist_running_time), nullptr));
  if (pair.running_time && pair.dist_running_time)
    gst_structure_set(s.get(), "distance", G_TYPE_INT64, *pair.dist_running_time - *pair.running_time,
                      nullptr);
  set_double(s.get(), "score", score(of));
  take_structure(s.get(), "models", values("models", models_, of.models));
  take_structure(s.get(), "features", values("features", features_, of.features));
  gst_structure_set(s.get(), "sync", G_TYPE_STRING, pair.sync, "repeated", G_TYPE_BOOLEAN,
                    gboolean(pair.repeated), "warm-up", G_TYPE_BOOLEAN, gboolean(scores.warm_up), nullptr);
  if (!model_source_.empty())
    gst_structure_set(s.get(), "model-source", G_TYPE_STRING, model_source_.c_str(), nullptr);
  return s;
}

StructurePtr Report::pooled(const char *type, const Pools &pools, PoolMethod method) const {
  StructurePtr s(gst_structure_new("vmafhip", "type", G_TYPE_STRING, type, "frames", G_TYPE_UINT64,
                                   frames_of(pools), "pool-method", G_TYPE_STRING, nick_of(method), nullptr));
  set_double(s.get(), "score", score(pools, method));
  take_structure(s.get(), "models", pools_of("models", models_, pools.models));
  take_structure(s.get(), "features", pools_of("features", features_, pools.features, &present_));
  if (pools.aggregates && !aggregates_.empty())
    take_structure(s.get(), "aggregates", values("aggregates", aggregates_, *pools.aggregates));
  add_origin(s.get());
  std::lock_guard lock(mutex_);
  add_counters(s.get());
  return s;
}

void Report::add_origin(GstStructure *s) const {
  // Pairing by time stamps or order shifts nothing.
  gst_structure_set(s, "backend", G_TYPE_STRING, backend_.c_str(), "offset", G_TYPE_INT64, offset_, nullptr);
  if (!backend_reason_.empty())
    gst_structure_set(s, "backend-reason", G_TYPE_STRING, backend_reason_.c_str(), nullptr);
  if (sync_state_) gst_structure_set(s, "sync-state", G_TYPE_STRING, sync_state_, nullptr);
  if (!model_source_.empty())
    gst_structure_set(s, "model-source", G_TYPE_STRING, model_source_.c_str(), nullptr);
}

// ---- score -------------------------------------------------------------------------------------

double Report::score(const PictureScores &scores) const {
  return (source_is_model_ ? scores.models : scores.features)[source_];
}

double Report::score(const Pools &pools, PoolMethod method) const {
  return (source_is_model_ ? pools.models : pools.features)[source_].get(method);
}

const char *Report::score_name() const {
  return g_quark_to_string((source_is_model_ ? models_ : features_)[source_]);
}

// ---- statistics --------------------------------------------------------------------------------

void Report::scored(const PairInfo &pair, const PictureScores &scores, const Pools &pools,
                    PoolMethod method) {
  const double pooled = score(pools, method);
  std::lock_guard lock(mutex_);
  ++counters_.scored;
  counters_.extrapolated += scores.extrapolated;
  rate_.add(now());
  if (pair.running_time) last_time_ = pair.running_time;
  last_score_ = score(scores);
  pooled_score_ = pooled;
}

void Report::set_sync(const char *state, gint64 offset) {
  std::lock_guard lock(mutex_);
  sync_state_ = state;
  offset_ = offset;
}

void Report::restart_clock() {
  std::lock_guard lock(mutex_);
  last_time_.reset();
}

void Report::add_counters(GstStructure *s) const {
  gst_structure_set(s, "ref-frames", G_TYPE_UINT64, counters_.ref_frames, "dist-frames", G_TYPE_UINT64,
                    counters_.dist_frames, "compared", G_TYPE_UINT64, counters_.compared, "scored",
                    G_TYPE_UINT64, counters_.scored, "ref-unmatched", G_TYPE_UINT64, counters_.ref_unmatched,
                    "dist-unmatched", G_TYPE_UINT64, counters_.dist_unmatched, "unknowable", G_TYPE_UINT64,
                    counters_.unknowable, "repeated", G_TYPE_UINT64, counters_.repeated, "late",
                    G_TYPE_UINT64, counters_.late, "held-copied", G_TYPE_UINT64, counters_.held_copied,
                    "skipped-overload", G_TYPE_UINT64, counters_.skipped_overload, "extrapolated",
                    G_TYPE_UINT64, counters_.extrapolated, nullptr);
  const ReadCounts &read = counters_.read;
  gst_structure_set(s, "imported", G_TYPE_UINT64, read.imported, "registered", G_TYPE_UINT64, read.registered,
                    "mapped", G_TYPE_UINT64, read.mapped, "copied", G_TYPE_UINT64, read.copied,
                    "objects-imported", G_TYPE_UINT64, read.objects_imported, "objects-registered",
                    G_TYPE_UINT64, read.objects_registered, "objects-mapped", G_TYPE_UINT64,
                    read.objects_mapped, nullptr);
}

StructurePtr Report::counters() const {
  StructurePtr s(gst_structure_new_empty("counters"));
  std::lock_guard lock(mutex_);
  add_counters(s.get());
  return s;
}

StructurePtr Report::stats(std::optional<gint64> newest) const {
  StructurePtr s(gst_structure_new_empty("vmafhip-stats"));
  std::lock_guard lock(mutex_);
  add_counters(s.get());
  if (!started_) return s;
  add_origin(s.get());
  gst_structure_set(s.get(), "model-sources", GST_TYPE_STRUCTURE, model_sources_.get(), nullptr);
  set_double(s.get(), "last-score", last_score_);
  set_double(s.get(), "pooled-score", pooled_score_);
  if (!running_) return s;
  set_double(s.get(), "fps", rate_.per_second(now()).value_or(kNone));
  if (newest && last_time_)
    gst_structure_set(s.get(), "lag", G_TYPE_UINT64, guint64(std::max<gint64>(*newest - *last_time_, 0)),
                      nullptr);
  return s;
}

double Report::last_score() const {
  std::lock_guard lock(mutex_);
  return started_ ? last_score_ : kNone;
}

}  // namespace vmafhip
