#include "examples/monitor/messages.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "examples/monitor/markup.h"

namespace monitor {

namespace {

constexpr Time kSecond = 1'000'000;
constexpr Time kTellEvery = 5 * kSecond, kTellEveryAtMost = 600 * kSecond;

double number(const GstStructure *s, const char *field, double otherwise = 0) {
  double value = otherwise;
  gst_structure_get_double(s, field, &value);
  return value;
}

uint64_t count(const GstStructure *s, const char *field) {
  guint64 value = 0;
  gst_structure_get_uint64(s, field, &value);
  return value;
}

std::string text(const GstStructure *s, const char *field) {
  const char *value = gst_structure_get_string(s, field);
  return value ? value : "";
}

const GstStructure *inner(const GstStructure *s, const char *field) {
  const GValue *value = gst_structure_get_value(s, field);
  return value && GST_VALUE_HOLDS_STRUCTURE(value) ? gst_value_get_structure(value) : nullptr;
}

template <typename Function>
void for_each(const GstStructure *s, Function function) {
  for (int i = 0; s && i < gst_structure_n_fields(s); ++i) {
    const char *name = gst_structure_nth_field_name(s, guint(i));
    function(name, gst_structure_get_value(s, name));
  }
}

Pooled pooled(const GstStructure *s) {
  return {
      number(s, "mean", NAN),   number(s, "min", NAN), number(s, "max", NAN), number(s, "harmonic-mean", NAN),
      number(s, "stddev", NAN), number(s, "p1", NAN),  number(s, "p5", NAN),  number(s, "p50", NAN)};
}

std::map<std::string, Pooled> pools(const GstStructure *message) {
  std::map<std::string, Pooled> found;
  for (const char *kind : {"models", "features"})
    for_each(inner(message, kind), [&](const char *name, const GValue *value) {
      if (GST_VALUE_HOLDS_STRUCTURE(value)) found[name] = pooled(gst_value_get_structure(value));
    });
  return found;
}

}  // namespace

void Messages::element(const GstStructure *message, const Thumbnails &ref, const Thumbnails &dist) {
  const std::string type = text(message, "type");
  Now &now = record_.now();
  if (type == "frame") {
    frame(message, ref, dist);
  } else if (type == "window") {
    now.window.reset();
    const auto found = pools(message);
    const auto pool = found.find(now.score_name);
    if (pool != found.end() && gst_structure_has_field(message, "score"))
      now.window = Window{g_get_real_time(), pool->second};
  } else if (type == "pooled") {
    if (count(message, "frames") > 0) now.pooled = pools(message);
  } else if (type == "alert") {
    alert(message);
  } else if (type == "sync") {
    sync(message);
  } else if (type == "reset") {
    const std::string reason = text(message, "reason");
    if (reason != "action")
      record_.event(EventKind::reset,
                    reason == "caps"    ? "Size or format has changed: pooling begins anew"
                    : reason == "flush" ? "A stream was flushed: pooling begins anew"
                                        : "A stream went on after its end: pooling begins anew",
                    g_get_real_time());
  }
  record_.changed();
}

void Messages::frame(const GstStructure *message, const Thumbnails &ref, const Thumbnails &dist) {
  Now &now = record_.now();
  const Time time = g_get_real_time();
  ++scored_;
  stream_time_ = count(message, "stream-time");
  double score = NAN;
  const bool has_score = gst_structure_get_double(message, "score", &score);
  now.features.clear();
  std::string name_of_score;  // a model's before a feature's
  for (const char *kind : {"models", "features"})
    for_each(inner(message, kind), [&](const char *name, const GValue *value) {
      if (!G_VALUE_HOLDS_DOUBLE(value)) return;
      const double number = now.features.emplace(name, g_value_get_double(value)).first->second;
      if (name_of_score.empty() && number == score) name_of_score = name;
    });
  if (!has_score) return;
  const auto known = now.features.find(now.score_name);
  if (known == now.features.end() || known->second != score) now.score_name = name_of_score;
  now.score = score;
  record_.score(time, score);

  // The first frames of a run lack motion and score lower for no fault of theirs.
  gboolean warm_up = FALSE;
  gst_structure_get_boolean(message, "warm-up", &warm_up);
  Candidate candidate{
      {.time = time, .stream_time = stream_time_, .score = score, .run = now.counters.restarts}, {}, {}};
  if (warm_up || !record_.among_worst(candidate)) return;
  candidate.small_reference = ref.find(count(message, "timestamp"));
  candidate.small_distorted = dist.find(count(message, "dist-timestamp"));
  record_.insert_worst(candidates_, std::move(candidate));
}

void Messages::keep_worst() {
  for (Candidate &c : candidates_) {
    if (!record_.among_worst(c)) continue;
    c.id = next_id();
    const auto &[ref, dist] = std::tie(c.small_reference, c.small_distorted);
    if (ref) c.reference = std::make_shared<std::string>(png_of(*ref));
    if (dist) c.distorted = std::make_shared<std::string>(png_of(*dist));
    if (ref && dist) c.difference = std::make_shared<std::string>(png_of_difference(*ref, *dist));
    record_.worst(std::move(c));
  }
  candidates_.clear();
}

void Messages::alert(const GstStructure *message) {
  Now &now = record_.now();
  const bool raised = text(message, "state") == "raised";
  const double score = number(message, "score", NAN), threshold = number(message, "threshold", NAN);
  const int decimals = decimals_of(now.score_name);
  if (raised == now.alert) return;
  now.alert = raised;
  if (raised) {
    ++now.counters.alerts;
    record_.event(EventKind::alert_raised,
                  "Score " + decimal(score, decimals) + ", the threshold is " + plain(threshold),
                  g_get_real_time());
  } else {
    record_.event(EventKind::alert_cleared,
                  std::isfinite(score) ? "Score " + decimal(score, decimals) : "What was measured has ended",
                  g_get_real_time());
  }
}

void Messages::sync(const GstStructure *message) {
  Now &now = record_.now();
  gint64 offset = 0;
  gst_structure_get_int64(message, "offset", &offset);
  now.sync_state = text(message, "state");
  now.offset_seconds = double(offset) / GST_SECOND;
  now.confidence = number(message, "confidence");
  std::string line;
  if (now.sync_state == "locked")
    line = "Locked: offset " + std::string(offset < 0 ? "" : "+") + decimal(now.offset_seconds, 3) +
           " s, added to the distorted stream's times; confidence " + decimal(now.confidence, 2);
  else if (now.sync_state == "searching")
    line = "Searching for the time offset of the streams";
  else if (now.sync_state == "lost")
    line = "The streams no longer show the same pictures: nothing is scored until they do";
  else
    line = "The pictures do not tell the offset: frames are paired by their time stamps";
  record_.event(EventKind::sync, line, g_get_real_time());
}

// A decoder may complain of each frame.
void Messages::warning(const std::string &text, bool about_file) {
  const int64_t now = g_get_monotonic_time(), since = now - last_warning_time_;
  if (!about_file && (since < kSecond / 2 || (text == last_warning_ && since < 60 * kSecond))) return;
  last_warning_ = text;
  last_warning_time_ = now;
  record_.event(about_file ? EventKind::file_error : EventKind::warning, text, g_get_real_time());
}

void Messages::stats(const GstStructure *stats, bool stopping) {
  Now &now = record_.now();
  Counters &sum = now.counters;
  sum.compared = before_.compared + count(stats, "compared");
  sum.scored = before_.scored + count(stats, "scored");
  sum.ref_unmatched = before_.ref_unmatched + count(stats, "ref-unmatched");
  sum.dist_unmatched = before_.dist_unmatched + count(stats, "dist-unmatched");
  sum.skipped = before_.skipped + count(stats, "skipped-overload");
  sum.repeated = before_.repeated + count(stats, "repeated");
  now.fps = number(stats, "fps");
  now.lag_seconds = double(count(stats, "lag")) / GST_SECOND;
  if (gst_structure_has_field(stats, "backend")) {
    now.backend = text(stats, "backend");
    now.backend_reason = text(stats, "backend-reason");
    now.model_source = text(stats, "model-source");
    gint64 offset = 0;
    gst_structure_get_int64(stats, "offset", &offset);
    now.offset_seconds = double(offset) / GST_SECOND;
  }
  keep_worst();
  if (!stopping) tell_dropped(sum);
  record_.changed();
}

// Gathered over 5 s, and over longer and longer while it goes on: 30 against 25 frames/s never ends.
void Messages::tell_dropped(const Counters &now) {
  const Time time = g_get_monotonic_time();
  if (time < next_tell_) return;
  const uint64_t ref = now.ref_unmatched - told_.ref_unmatched,
                 dist = now.dist_unmatched - told_.dist_unmatched;
  const uint64_t skipped = now.skipped - told_.skipped;
  told_ = now;
  if (ref + dist + skipped == 0) {
    tell_every_ = next_tell_ = 0;
    return;
  }
  tell_every_ = std::clamp(2 * tell_every_, kTellEvery, kTellEveryAtMost);
  next_tell_ = time + tell_every_;
  std::string line;
  if (ref + dist > 0)
    line =
        std::to_string(ref) + " reference and " + std::to_string(dist) + " distorted frames had no partner";
  if (skipped > 0)
    line += (line.empty() ? "" : "; ") + std::to_string(skipped) +
            " pairs were left out, as scoring is slower than the frames";
  record_.event(EventKind::dropped, line, g_get_real_time());
}

void Messages::run_begins() {
  Now &now = record_.now();
  if (now.sync_state.empty()) return;
  now.sync_state = "searching";
  now.confidence = 0;
}

void Messages::run_ends() {
  Now &now = record_.now();
  keep_worst();
  before_ = now.counters;
  scored_ = 0;
  tell_every_ = next_tell_ = 0;  // what the next run drops is news
  now.score.reset();
  now.window.reset();
  now.features.clear();
  now.fps = now.stream_fps = now.lag_seconds = 0;
  if (now.alert) {
    now.alert = false;
    record_.event(EventKind::alert_cleared, "What was measured has ended", g_get_real_time());
  }
  record_.changed();
}

}  // namespace monitor
