// The line of scores on the terminal: percentage, time left, and what each rendition is at; and events as they come.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "examples/monitor/progress.h"

namespace {

using namespace monitor;

constexpr int64_t kSecond = 1'000'000;

class ProgressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    to_ = open_memstream(&text_, &size_);
    record("far");
  }
  void TearDown() override {
    fclose(to_);
    free(text_);
  }

  Record &record(const char *name, bool errors = false) {
    return *records_.emplace_back(&kept_.emplace_back("news", name, "", "", errors));
  }
  void start(bool is_terminal, bool several_channels = false) {
    progress_ = std::make_unique<Progress>(several_channels, to_, is_terminal, kSecond);
  }
  // What this second adds; time counts from the start.
  std::string shown(double done, int64_t seconds, bool ends = true) {
    const size_t before = written();
    progress_->show(records_, done, ends, (1 + seconds) * kSecond);
    written();
    return text_ + before;
  }
  size_t written() {
    fflush(to_);
    return size_;
  }

  FILE *to_ = nullptr;
  char *text_ = nullptr;
  size_t size_ = 0;
  std::deque<Record> kept_;
  std::vector<Record *> records_;  // all of them
  std::unique_ptr<Progress> progress_;
};

constexpr const char *kAgain = "\r\033[K";  // a terminal: the line is written over

TEST_F(ProgressTest, PercentageAndTimeLeft) {
  start(true);
  EXPECT_EQ(shown(0, 0), std::string(kAgain) + "0 %, far connecting");
  EXPECT_EQ(shown(0.25, 10), std::string(kAgain) + "25 %, 0:30 left, far connecting");
  EXPECT_EQ(shown(0.5, 20), std::string(kAgain) + "50 %, 0:20 left, far connecting");
  EXPECT_EQ(shown(0.996, 249), std::string(kAgain) + "99 %, 0:01 left, far connecting");
  EXPECT_EQ(shown(1, 250), std::string(kAgain) + "100 %, far connecting");
}

TEST_F(ProgressTest, TimeLeftAfterARestartCountsFromThere) {
  start(true);
  EXPECT_EQ(shown(0.5, 1000), std::string(kAgain) + "50 %, 16:40 left, far connecting");
  EXPECT_EQ(shown(0, 1001), std::string(kAgain) + "0 %, far connecting");
  EXPECT_EQ(shown(0.1, 1011), std::string(kAgain) + "10 %, 1:30 left, far connecting");
  // Also where it was not known in between.
  EXPECT_EQ(shown(-1, 1012), std::string(kAgain) + "16:52, far connecting");
  EXPECT_EQ(shown(0.25, 1022), std::string(kAgain) + "25 %, 0:30 left, far connecting");
}

TEST_F(ProgressTest, WhatBeginsAgainHasNoTimeLeft) {
  start(true);
  EXPECT_EQ(shown(0.25, 10, false), std::string(kAgain) + "25 %, far connecting");
}

TEST_F(ProgressTest, WithoutALengthTimeIsCounted) {
  start(true);
  EXPECT_EQ(shown(-1, 7), std::string(kAgain) + "0:07, far connecting");
  EXPECT_EQ(shown(-1, 3723), std::string(kAgain) + "1:02:03, far connecting");
}

TEST_F(ProgressTest, ElsewhereALineEveryTenSeconds) {
  start(false);
  std::string all;
  for (int second = 1; second <= 20; ++second) all += shown(second / 40., second);
  EXPECT_EQ(all, "25 %, 0:30 left, far connecting\n50 %, 0:20 left, far connecting\n");
}

TEST_F(ProgressTest, StatesAndScores) {
  Record &near = record("near");
  near.now().score = 93.25;
  near.now().fps = 24.96;
  start(true, true);
  EXPECT_EQ(shown(-1, 1), std::string(kAgain) + "0:01, news/far connecting, news/near 93.2 (25.0 frames/s)");
  near.now().alert = true;
  records_[0]->now().state = State::lost;
  EXPECT_EQ(shown(-1, 2), std::string(kAgain) + "0:02, news/far " + state_text(State::lost) +
                              ", news/near 93.2 ALERT (25.0 frames/s)");
}

TEST_F(ProgressTest, SaysWhatIsSlowerThanItsStream) {
  Now &now = records_[0]->now();
  now.score = 93.25;
  now.fps = 28.5;
  now.stream_fps = 30000. / 1001;
  start(true);
  EXPECT_EQ(shown(-1, 1), std::string(kAgain) + "0:01, far 93.2 (28.5 of 29.97 frames/s)");
  now.fps = 5.44;
  now.stream_fps = 30;
  now.slow = true;
  EXPECT_EQ(shown(-1, 2),
            std::string(kAgain) + "0:02, far 93.2 (5.4 of 30 frames/s: slower than the stream)");
}

TEST_F(ProgressTest, EventsAreLinesOfTheirOwn) {
  start(true);
  shown(-1, 1);
  records_[0]->event(EventKind::lost, "gone", 0);
  const std::string text = shown(-1, 2);
  EXPECT_EQ(text.substr(0, 4), kAgain) << "the open line is cleared first: " << text;
  EXPECT_NE(text.find(" far: lost: gone\n\r\033[K0:02"), std::string::npos) << text;
  EXPECT_EQ(shown(-1, 3), std::string(kAgain) + "0:03, far connecting") << "each event once";
}

TEST_F(ProgressTest, TheSummaryHasARowForEach) {
  record("a rendition with a long name").now().counters.scored = 7;
  Now &now = records_[0]->now();
  now.score_name = "vmaf";
  now.pooled["vmaf"] = {
      .mean = 91, .min = 80.5, .max = 99, .harmonic_mean = 90, .stddev = 1, .p1 = 81, .p5 = 82, .p50 = 91};
  start(false);
  progress_->summary(records_, to_);
  written();
  EXPECT_STREQ(text_,
               "rendition                           mean         min          p5    harmonic    frames\n"
               "far                            91.000000   80.500000   82.000000   90.000000         0\n"
               "a rendition with a long name           -           -           -           -         7\n");
}

TEST_F(ProgressTest, TheSummaryEndsWithWhatHasFailedAndWhy) {
  records_[0]->event(EventKind::lost, "There is no video in it", 0);
  record("near").now().state = State::failed;
  records_[0]->now().state = State::failed;
  record("well").now().state = State::ended;
  start(false);
  progress_->summary(records_, to_);
  written();
  const std::string text = text_;
  const std::string end = "\nfar failed: There is no video in it\nnear failed\n";
  ASSERT_GE(text.size(), end.size());
  EXPECT_EQ(text.substr(text.size() - end.size()), end) << text;
}

TEST_F(ProgressTest, TheSummaryOfMeasuresOfErrorsHasTheirBadSide) {
  Now &now = record("errors", true).now();
  now.score_name = "cambi";
  now.pooled["cambi"] = {
      .mean = 4, .min = 0, .max = 9.5, .harmonic_mean = 0, .stddev = 2.25, .p1 = 0, .p5 = 0, .p50 = 3};
  start(false);
  progress_->summary(records_, to_);
  written();
  EXPECT_STREQ(text_,
               "rendition        mean         min          p5    harmonic    frames\n"
               "far                 -           -           -           -         0\n"
               "rendition        mean         max         p50      stddev    frames\n"
               "errors       4.000000    9.500000    3.000000    2.250000         0\n");
}

}  // namespace
