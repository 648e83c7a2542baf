// Metrics as Prometheus reads them: what is there, what is absent, and that no name spoils the text.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "examples/monitor/metrics.h"
#include "tests/comma_locale.h"
#include "tests/monitor/sample_records.h"

namespace {

using namespace monitor;

constexpr Time kStarted = 1'700'000'000'250'000;

std::string text_of(const SampleRecords &samples, MetricsFormat format = MetricsFormat::text) {
  return metrics_text(samples.const_pointers(), kStarted, format);
}

// Samples by what stands before their values.
std::map<std::string, double> read_samples(const std::string &text) {
  std::map<std::string, double> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.rfind(' ');
    EXPECT_TRUE(samples.emplace(line.substr(0, space), std::stod(line.substr(space + 1))).second) << line;
  }
  return samples;
}

TEST(MetricsTest, EveryValue) {
  SampleRecords samples;
  samples[0].event(EventKind::retry, "", kStarted);
  samples[0].event(EventKind::retry, "", kStarted);
  const auto read = read_samples(text_of(samples));
  const auto value = [&](const std::string &name, const std::string &more = "") {
    const auto found = read.find("vmafhip_" + name + "{channel=\"news\",rendition=\"720p\"" + more + "}");
    EXPECT_NE(found, read.end()) << name << more;
    return found == read.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
  };
  EXPECT_EQ(value("up"), 1);
  EXPECT_EQ(value("alert"), 0);
  EXPECT_EQ(value("score"), 91.25);
  EXPECT_EQ(value("window_score_mean"), 92.5);
  EXPECT_EQ(value("window_score_min"), 88.75);
  EXPECT_EQ(value("window_score_max"), 95.25);
  EXPECT_EQ(value("window_score_p5"), 89.5);
  EXPECT_EQ(value("feature", ",feature=\"integer_adm2\""), 0.9875);
  EXPECT_EQ(value("frames_compared_total"), 1500);
  EXPECT_EQ(value("frames_scored_total"), 1498);
  EXPECT_EQ(value("frames_repeated_total"), 6);
  EXPECT_EQ(value("frames_dropped_total", ",reason=\"skipped\""), 5);
  EXPECT_EQ(value("frames_unmatched_total", ",pad=\"reference\""), 3);
  EXPECT_EQ(value("frames_unmatched_total", ",pad=\"distorted\""), 2);
  EXPECT_EQ(value("alerts_total"), 2);
  EXPECT_EQ(value("restarts_total"), 1);
  EXPECT_EQ(value("events_total", ",kind=\"retry\""), 2);
  EXPECT_EQ(value("events_total", ",kind=\"lost\""), 0) << "counters are there from the start";
  EXPECT_EQ(value("sync_offset_seconds"), 0.48);
  EXPECT_EQ(value("sync_confidence"), 0.96875);
  EXPECT_EQ(value("score_lag_seconds"), 0.25);
  EXPECT_EQ(value("frames_per_second"), 25);
  EXPECT_EQ(value("backend_info", ",backend=\"cpu\",model_source=\"fitted\""), 1);
  EXPECT_EQ(read.at("process_start_time_seconds"), 1'700'000'000.25);
  EXPECT_GT(read.at("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(read.at("process_cpu_seconds_total"), 0);
  EXPECT_GE(read.at("process_open_fds"), 3);
}

TEST(MetricsTest, WhatIsNotKnownIsAbsent) {
  SampleRecords samples;
  std::set<std::string> names;
  for (const auto &[name, value] : read_samples(text_of(samples))) {
    if (name.find("\"360p\"") != std::string::npos) names.insert(name.substr(0, name.find('{')));
  }
  EXPECT_TRUE(names.contains("vmafhip_up"));
  EXPECT_TRUE(names.contains("vmafhip_frames_compared_total"));
  for (const char *name : {"vmafhip_score", "vmafhip_window_score_mean", "vmafhip_feature",
                           "vmafhip_sync_offset_seconds", "vmafhip_backend_info"}) {
    EXPECT_FALSE(names.contains(name)) << name;
  }
}

TEST(MetricsTest, SynchronisationIsThatOfTheRunUnderWay) {
  SampleRecords samples;
  const auto said = [&](State state) {
    samples[0].now().state = state;
    const std::string text = text_of(samples);
    EXPECT_EQ(text.find("vmafhip_sync_offset_seconds{") != std::string::npos,
              text.find("vmafhip_sync_confidence{") != std::string::npos);
    return text.find("vmafhip_sync_confidence{") != std::string::npos;
  };
  for (State state : {State::connecting, State::running}) EXPECT_TRUE(said(state)) << state_name(state);
  for (State state : {State::lost, State::repeating, State::ended, State::failed})
    EXPECT_FALSE(said(state)) << state_name(state);
}

TEST(MetricsTest, StatesAndAlerts) {
  SampleRecords samples;
  samples[0].now().alert = true;
  for (State state : {State::connecting, State::lost, State::repeating, State::ended, State::failed}) {
    samples[0].now().state = state;
    const auto read = read_samples(text_of(samples));
    for (size_t n = 0; n < kStates; ++n) {
      const State other = static_cast<State>(n);
      EXPECT_EQ(read.at(std::string("vmafhip_state{channel=\"news\",rendition=\"720p\",state=\"") +
                        state_name(other) + "\"}"),
                other == state);
    }
    EXPECT_EQ(read.at("vmafhip_up{channel=\"news\",rendition=\"720p\"}"), 0);
    EXPECT_EQ(read.at("vmafhip_alert{channel=\"news\",rendition=\"720p\"}"), 1);
  }
}

TEST(MetricsTest, WhatIsNoNumberIsAbsent) {
  SampleRecords samples;
  samples[0].now().window->score.p5 = std::numeric_limits<double>::quiet_NaN();
  samples[0].now().lag_seconds = std::numeric_limits<double>::infinity();
  const std::string text = text_of(samples);
  EXPECT_EQ(text.find("vmafhip_window_score_p5"), std::string::npos);
  EXPECT_EQ(text.find("vmafhip_score_lag_seconds{channel=\"news\",rendition=\"720p\"}"), std::string::npos);
  EXPECT_NE(text.find("vmafhip_window_score_min"), std::string::npos);
}

TEST(MetricsTest, HostileNames) {
  Record record("a\"b\\c\nd", "caf\xe9", "", "");
  record.now().features["\xff"] = 1;
  const Record *pointer = &record;
  const std::string text = metrics_text({&pointer, 1}, kStarted, MetricsFormat::text);
  EXPECT_NE(text.find("vmafhip_up{channel=\"a\\\"b\\\\c\\nd\",rendition=\"caf\xef\xbf\xbd\"} 0\n"),
            std::string::npos);
  EXPECT_NE(text.find("feature=\"\xef\xbf\xbd\"} 1\n"), std::string::npos);
}

TEST(MetricsTest, FamiliesAreWholeAndNamedOnce) {
  for (MetricsFormat format : {MetricsFormat::text, MetricsFormat::openmetrics}) {
    std::set<std::string> seen;
    std::string family;
    std::istringstream lines(text_of(SampleRecords(), format));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# HELP ")) {
        family = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_TRUE(seen.insert(family).second) << line;
      } else if (line.starts_with("# TYPE ")) {
        EXPECT_EQ(line.substr(7, line.find(' ', 7) - 7), family);
      } else if (line != "# EOF") {
        EXPECT_TRUE(line.starts_with(family)) << line;
      }
    }
    EXPECT_GT(seen.size(), 20u);
  }
}

TEST(MetricsTest, OpenMetricsDiffersInCountersFactsAndTheEnd) {
  const std::string text = text_of(SampleRecords(), MetricsFormat::openmetrics);
  EXPECT_NE(text.find("# HELP vmafhip_frames_compared "), std::string::npos);
  EXPECT_NE(text.find("# TYPE vmafhip_frames_compared counter\nvmafhip_frames_compared_total{"),
            std::string::npos);
  EXPECT_NE(text.find("# TYPE vmafhip_backend info\nvmafhip_backend_info{"), std::string::npos);
  EXPECT_NE(text.find("# TYPE vmafhip_monitor info\nvmafhip_monitor_info{"), std::string::npos);
  EXPECT_NE(text.find("# TYPE vmafhip_score gauge\nvmafhip_score{"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  EXPECT_EQ(text.find("# EOF"), text.size() - 6) << "once";
}

TEST(MetricsTest, NumbersHavePointsInEveryLocale) {
  const SampleRecords samples;
  const vmafhip::test::CommaLocale locale;
  if (!locale.good()) GTEST_SKIP() << "no locale with a decimal comma could be made";
  EXPECT_NE(text_of(samples).find("rendition=\"720p\"} 91.25\n"), std::string::npos);
}

}  // namespace
