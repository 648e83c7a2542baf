// What a record keeps: seconds, events, the worst frames; bounded, in order.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "examples/monitor/record.h"

namespace {

using namespace monitor;

constexpr Time kStart = 1'700'000'000'000'000;

TEST(RecordTest, ScoresOfASecondAreOnePoint) {
  Record record("channel", "rendition", "file:///ref", "file:///dist");
  record.score(kStart, 90);
  record.score(kStart + 400'000, 70);
  record.score(kStart + 999'999, 80);
  record.score(kStart + 1'000'000, 50);
  ASSERT_EQ(record.seconds().size(), 2u);
  EXPECT_EQ(record.seconds()[0].second, kStart / 1'000'000);
  EXPECT_DOUBLE_EQ(record.seconds()[0].mean, 80);
  EXPECT_EQ(record.seconds()[0].worst, 70);
  EXPECT_EQ(record.seconds()[0].frames, 3u);
  EXPECT_EQ(record.seconds()[1].mean, 50);
}

TEST(RecordTest, AClockThatIsCorrectedByLittleAddsToTheOpenSecond) {
  Record record("channel", "rendition", "", "");
  record.score(kStart, 90);
  record.score(kStart - 4'000'000, 70);
  ASSERT_EQ(record.seconds().size(), 1u);
  EXPECT_EQ(record.seconds()[0].second, kStart / 1'000'000);
  EXPECT_EQ(record.seconds()[0].frames, 2u);
}

TEST(RecordTest, WhatIsKeptMovesWithAClockThatIsSetBack) {
  constexpr Time kHour = 3'600'000'000, kBack = kHour - 500'000;  // and not by whole seconds
  for (const char *first : {"score", "event", "tick"}) {
    Record record("channel", "rendition", "", "");
    Time time = kStart;
    for (; time < kStart + 20'000'000; time += 500'000) record.score(time, 90);
    record.event(EventKind::sync, "before", time);
    record.worst({.id = 1, .time = time, .score = 40});
    time -= kBack;
    if (first == std::string("score")) record.score(time, 70);
    if (first == std::string("event")) record.event(EventKind::warning, "after", time);
    if (first == std::string("tick")) record.tick(time);
    const Time back = time;
    for (; time < back + 3'000'000; time += 500'000) record.score(time, 70);
    int64_t before = 0;
    for (const Second &second : record.seconds()) {
      EXPECT_GT(second.second, before) << first;
      EXPECT_LT(second.frames, 5u) << first << ": no second gathers an hour";
      before = second.second;
    }
    EXPECT_EQ(before, (time - 500'000) / 1'000'000) << first;
    EXPECT_NEAR(double(record.seconds().size()), 23, 1) << first;
    EXPECT_EQ(record.seconds().front().second, (kStart - kHour) / 1'000'000) << first;
    EXPECT_EQ(record.events().front().time, back) << first;
    EXPECT_EQ(record.worst_frames()[0].time, back) << first;
  }
}

TEST(RecordTest, TheHourOfTheWorstFramesMovesWithTheClock) {
  Record record("channel", "rendition", "", "");
  record.tick(kStart);
  for (size_t n = 0; n < Record::kWorst; ++n) record.worst({.time = kStart, .score = 10});
  record.tick(kStart - 3'600'000'000);
  record.tick(kStart - 1'000'000);
  EXPECT_FALSE(record.among_worst(50)) << "of the same hour";
  record.tick(kStart);
  EXPECT_TRUE(record.among_worst(50)) << "the first of its hour";
}

TEST(RecordTest, AClockThatIsSetBackIsTold) {
  Record record("channel", "rendition", "", "");
  record.score(kStart, 90);
  int told = 0;
  record.on_change = [&](const Record &) { ++told; };
  record.tick(kStart + 1'000'000);
  EXPECT_EQ(told, 0);
  record.tick(kStart - 3'600'000'000);
  EXPECT_EQ(told, 1) << "what readers have is no longer so";
}

TEST(RecordTest, MemoryIsBounded) {
  Record record("channel", "rendition", "", "");
  for (size_t n = 0; n < Record::kSeconds + 10; ++n) record.score(kStart + Time(n) * 1'000'000, 50);
  EXPECT_EQ(record.seconds().size(), Record::kSeconds);
  EXPECT_EQ(record.seconds().front().second, kStart / 1'000'000 + 10);
  for (size_t n = 0; n < Record::kEvents + 10; ++n)
    record.event(EventKind::warning, std::to_string(n), kStart);
  EXPECT_EQ(record.events().size(), Record::kEvents);
  EXPECT_EQ(record.events().front().text, "10");
}

TEST(RecordTest, EventsAreNumberedOverAllRecords) {
  Record one("channel", "one", "", ""), two("channel", "two", "", "");
  std::vector<uint64_t> ids;
  one.on_event = two.on_event = [&](const Record &, const Event &event) { ids.push_back(event.id); };
  one.event(EventKind::lost, "gone", kStart);
  two.event(EventKind::started, "", kStart);
  one.event(EventKind::retry, "", kStart);
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids[1], ids[0] + 1);
  EXPECT_EQ(ids[2], ids[0] + 2);
}

TEST(RecordTest, TheWorstTenAreKeptWorstFirst) {
  Record record("channel", "rendition", "", "");
  for (int n = 0; n < 30; ++n) {
    const double score = (n * 7) % 30;
    EXPECT_EQ(record.among_worst(score),
              record.worst_frames().size() < Record::kWorst || score < record.worst_frames().back().score);
    record.worst({.id = uint64_t(n), .score = score});
  }
  ASSERT_EQ(record.worst_frames().size(), Record::kWorst);
  for (size_t n = 0; n < Record::kWorst; ++n) EXPECT_EQ(record.worst_frames()[n].score, double(n));
}

TEST(RecordTest, TheWorstOfSixHoursAreKnownWhenOlderOnesLeave) {
  constexpr Time kMinute = 60'000'000;
  Record record("channel", "rendition", "", "");
  const auto add = [&](Time minute, double score) {
    record.tick(kStart + minute * kMinute);
    if (record.among_worst(score)) record.worst({.time = kStart + minute * kMinute, .score = score});
  };
  for (int n = 0; n < 20; ++n) add(n, 10 + n);
  for (int n = 0; n < 20; ++n) add(90 + n, 40 + n);
  const auto shown = [&] {
    std::vector<double> scores;
    for (const WorstFrame &frame : record.worst_frames()) scores.push_back(frame.score);
    return scores;
  };
  EXPECT_EQ(shown(), (std::vector<double>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
  record.tick(kStart + 364 * kMinute + 1);
  EXPECT_EQ(shown(), (std::vector<double>{15, 16, 17, 18, 19, 40, 41, 42, 43, 44}));
  record.tick(kStart + 600 * kMinute);
  EXPECT_EQ(shown(), std::vector<double>());
  add(600, 80);
  EXPECT_EQ(shown(), std::vector<double>{80});
}

TEST(RecordTest, ScoresOlderThanSixHoursLeaveUnlessAllHasEnded) {
  for (const State state : {State::lost, State::ended, State::failed}) {
    Record record("channel", "rendition", "", "");
    record.score(kStart, 90);
    record.worst({.time = kStart, .score = 40});
    record.now().state = state;
    record.tick(kStart + 7 * 3'600'000'000);
    EXPECT_EQ(record.seconds().empty(), state == State::lost);
    EXPECT_EQ(record.worst_frames().empty(), state == State::lost);
  }
}

TEST(RecordTest, HigherMayBeWorse) {
  Record record("channel", "rendition", "", "", true);
  for (const double score : {3.0, 9.0, 1.0}) {
    record.score(kStart, score);
    record.worst({.time = kStart, .score = score});
  }
  EXPECT_EQ(record.seconds()[0].worst, 9);
  EXPECT_EQ(record.worst_frames()[0].score, 9);
  EXPECT_EQ(record.worst_frames()[2].score, 1);
  for (int n = 0; n < 10; ++n) record.worst({.time = kStart, .score = 5});
  EXPECT_EQ(record.worst_frames().size(), Record::kWorst);
  EXPECT_FALSE(record.among_worst(4));
  EXPECT_TRUE(record.among_worst(6));
}

TEST(RecordTest, ChangesAreToldOnceASecond) {
  Record record("channel", "rendition", "", "");
  int told = 0;
  record.on_change = [&](const Record &) { ++told; };
  record.changed();
  record.changed();
  EXPECT_EQ(told, 0);
  record.tick(kStart);
  EXPECT_EQ(told, 1);
  record.tick(kStart);
  EXPECT_EQ(told, 1);
}

}  // namespace
