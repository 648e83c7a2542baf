// The alert's logic: thresholds, hysteresis, durations, gaps, changing rules.
#include "gst/vmafhip/alert.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vmafhip {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kSecond = 1'000'000'000;

// "+3@1": raised at the 3rd score (from 0), since second 1. "-": cleared. Scores come a second apart.
std::string changes(const AlertRule &rule, const std::vector<double> &scores) {
  Alert alert;
  std::string text;
  for (size_t i = 0; i < scores.size(); ++i)
    if (const auto change = alert.add(rule, scores[i], int64_t(i) * kSecond))
      text += (change->raised ? "+" : "-") + std::to_string(i) + "@" +
              std::to_string(*change->since / kSecond) + " ";
  return text;
}

TEST(Alert, OffWithoutThreshold) { EXPECT_EQ(changes({}, {0, 100, -50}), ""); }

TEST(Alert, RaisedAndClearedAtTheThreshold) {
  EXPECT_EQ(changes({.threshold = 80}, {90, 79, 70, 81, 79, 80}), "+1@1 -3@1 +4@4 -5@4 ");
  EXPECT_EQ(changes({.threshold = 80}, {80, 80, 80}), "");  // at the threshold is not beyond it
}

TEST(Alert, Above) {
  EXPECT_EQ(changes({.threshold = 3, .clear = 1, .direction = AlertDirection::above}, {3, 4, 2, 3, 1, 2}),
            "+1@1 -4@1 ");
}

TEST(Alert, Hysteresis) {
  EXPECT_EQ(changes({.threshold = 80, .clear = 85}, {90, 79, 81, 84, 79, 84.9, 85, 81, 79}),
            "+1@1 -6@1 +8@8 ");
}

// A clear level on the wrong side would raise and clear with every frame.
TEST(Alert, ClearLevelBeyondTheThresholdIsTheThreshold) {
  EXPECT_EQ(changes({.threshold = 80, .clear = 60}, {75, 75, 75, 80}), "+0@0 -3@0 ");
  EXPECT_EQ(changes({.threshold = 3, .clear = 9, .direction = AlertDirection::above}, {5, 5, 5, 3}),
            "+0@0 -3@0 ");
}

TEST(Alert, MustLast) {
  const AlertRule rule{.threshold = 80, .duration = 3 * kSecond};
  EXPECT_EQ(changes(rule, {70, 70, 70, 90, 70, 70, 70, 70, 70, 90}), "+7@4 -9@4 ");
  EXPECT_EQ(changes(rule, {70, 70, 70}), "");
  // One score between threshold and clear level is not beyond: the run is broken.
  EXPECT_EQ(changes({.threshold = 80, .clear = 90, .duration = 2 * kSecond}, {70, 70, 85, 70, 70, 70}),
            "+5@3 ");
}

TEST(Alert, ScoresThatAreNotFiniteSayNothing) {
  EXPECT_EQ(changes({.threshold = 80, .duration = 2 * kSecond}, {70, kNan, 70, kNan, 90}), "+2@0 -4@0 ");
  EXPECT_EQ(changes({.threshold = 80}, {-INFINITY, 70}), "+1@1 ");
}

TEST(Alert, TimeGoesOnWhileNothingIsScored) {
  Alert alert;
  const AlertRule rule{.threshold = 80, .duration = 5 * kSecond};
  EXPECT_FALSE(alert.add(rule, 70, 0));
  const auto change = alert.add(rule, 70, 60 * kSecond);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->since, 0);
  EXPECT_FALSE(alert.add(rule, 70, 600 * kSecond));  // stays
  EXPECT_TRUE(alert.add(rule, 90, 601 * kSecond));
}

TEST(Alert, TimeThatRunsBackwardsBeginsTheRunAnew) {
  Alert alert;
  const AlertRule rule{.threshold = 80, .duration = 5 * kSecond};
  EXPECT_FALSE(alert.add(rule, 70, 100 * kSecond));
  EXPECT_FALSE(alert.add(rule, 70, 10 * kSecond));
  EXPECT_FALSE(alert.add(rule, 70, 14 * kSecond));
  EXPECT_EQ(alert.add(rule, 70, 15 * kSecond)->since, 10 * kSecond);
}

TEST(Alert, WithoutTimeStampsOnlyRulesWithoutDurationRaise) {
  Alert alert;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(alert.add({.threshold = 80, .duration = 1}, 70, std::nullopt));
  const auto change = alert.add({.threshold = 80}, 70, std::nullopt);
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->since);
}

TEST(Alert, RulesMayChange) {
  Alert alert;
  EXPECT_TRUE(alert.add({.threshold = 80}, 70, 0)->raised);
  EXPECT_FALSE(alert.add({.threshold = 75, .clear = 90}, 70, 1));  // still beyond
  EXPECT_FALSE(alert.add({.threshold = 60}, 70, 2)->raised);       // no longer
  EXPECT_TRUE(alert.add({.threshold = 80}, 70, 3)->raised);
  EXPECT_FALSE(alert.add({}, 70, 4)->raised);  // switched off
  EXPECT_FALSE(alert.add({}, 70, 5));
  // A run under another rule does not count.
  EXPECT_FALSE(alert.add({.threshold = 80, .duration = 10}, 70, 100));
  EXPECT_FALSE(alert.add({.threshold = 85, .duration = 10}, 70, 110));
  EXPECT_EQ(alert.add({.threshold = 85, .duration = 10}, 70, 120)->since, 110);
}

TEST(Alert, TheEndClears) {
  Alert alert;
  EXPECT_FALSE(alert.finish());
  const AlertRule rule{.threshold = 80, .duration = 5};
  alert.add(rule, 70, 0);
  EXPECT_FALSE(alert.finish());
  EXPECT_FALSE(alert.add(rule, 70, 6));  // the run began anew
  EXPECT_TRUE(alert.add(rule, 70, 11)->raised);
  const auto change = alert.finish();
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->raised);
  EXPECT_EQ(change->since, 6);
  EXPECT_FALSE(alert.finish());
}

}  // namespace
}  // namespace vmafhip
