// Decides when a score is bad enough for long enough to say so, and when it is good again. Pure C++.
//
// A score is beyond if it is below the threshold, or above it, as `direction` says. The alert is raised by the first score
// that lies beyond at least `duration` after the first of an unbroken run of such scores; it is cleared, at once, by a
// score that has come back to `clear`. Scores between the two change nothing (hysteresis).
//
// While nothing is scored, nothing changes, and time goes on: two scores beyond the threshold, an hour apart with
// nothing between them, are a run of an hour.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace vmafhip {

enum class AlertDirection { below, above };

struct AlertRule {
  double threshold = std::numeric_limits<double>::quiet_NaN();  // NaN: no alerts
  double clear = std::numeric_limits<double>::quiet_NaN();      // NaN, or beyond the threshold: the threshold
  uint64_t duration = 0;                                        // ns
  AlertDirection direction = AlertDirection::below;             // of the threshold: where scores are beyond

  bool above() const { return direction == AlertDirection::above; }
  bool needs_time() const { return !std::isnan(threshold) && duration > 0; }
  bool beyond(double score) const { return above() ? score > threshold : score < threshold; }
  // NaN without a threshold.
  double clear_level() const {
    if (std::isnan(clear) || std::isnan(threshold)) return threshold;
    return above() ? std::fmin(clear, threshold) : std::fmax(clear, threshold);
  }
  bool good(double score) const { return above() ? score <= clear_level() : score >= clear_level(); }
  bool same(const AlertRule &o) const {
    auto equal = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    return equal(threshold, o.threshold) && equal(clear, o.clear) && duration == o.duration &&
           direction == o.direction;
  }
};

class Alert {
 public:
  // What changed. `since`: when the run of scores that raised the alert began; none without time stamps.
  struct Change {
    bool raised = false;
    std::optional<int64_t> since;
  };

  // The score of the frame at `time` (ns; none: without time stamps a run has no length, and only a rule without
  // duration raises). A score that is not finite says nothing. The rule may differ from call to call: a run under
  // another rule does not count, and without a threshold a raised alert is cleared.
  std::optional<Change> add(const AlertRule &rule, double score, std::optional<int64_t> time) {
    if (!std::isfinite(score)) return {};
    const bool new_rule = !rule.same(rule_);
    rule_ = rule;
    if (raised_) return std::isnan(rule.threshold) || rule.good(score) ? finish() : std::nullopt;
    if (new_rule) running_ = false;
    if (!rule.beyond(score)) {
      running_ = false;
      return {};
    }
    if (!running_ || (time && since_ && *time < *since_)) {  // or the clock began anew
      running_ = true;
      since_ = time;
    }
    const uint64_t lasted = time && since_ ? uint64_t(*time - *since_) : 0;
    if (lasted < rule.duration) return {};
    raised_ = true;
    return Change{true, since_};
  }

  // The stream ends or begins anew: no run goes on, and a raised alert is cleared.
  std::optional<Change> finish() {
    running_ = false;
    if (!raised_) return {};
    raised_ = false;
    return Change{false, since_};
  }

  bool raised() const { return raised_; }

 private:
  AlertRule rule_;
  bool running_ = false, raised_ = false;
  std::optional<int64_t> since_;
};

}  // namespace vmafhip
