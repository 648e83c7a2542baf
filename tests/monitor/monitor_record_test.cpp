// What a record keeps: seconds, events, the worst frames; bounded, in order.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "examples/monitor/record.h"

namespace {

using namespace monitor;

constexpr Time kStart = 1'700'000'000'000'000;
constexpr uint64_t kSecond = 1'000'000'000;  // of a stream

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
    EXPECT_EQ(record.seconds().size(), 24u) << first << ": 20 before, 4 after, none in both";
    EXPECT_EQ(record.seconds().front().second, (kStart - kHour) / 1'000'000) << first;
    EXPECT_EQ(record.events().front().time, back) << first;
    EXPECT_EQ(record.worst_frames()[0].time, back) << first;
  }
}

TEST(RecordTest, TheHourOfTheWorstFramesMovesWithTheClock) {
  Record record("channel", "rendition", "", "");
  record.tick(kStart);
  for (size_t n = 0; n < Record::kWorst; ++n) record.worst({.time = kStart, .score = 10, .run = n});
  record.tick(kStart - 3'600'000'000);
  record.tick(kStart - 1'000'000);
  EXPECT_FALSE(record.among_worst({.score = 50})) << "of the same hour";
  record.tick(kStart);
  EXPECT_TRUE(record.among_worst({.score = 50})) << "the first of its hour";
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
    const WorstFrame frame{.id = uint64_t(n), .stream_time = n * kSecond, .score = double((n * 7) % 30)};
    EXPECT_EQ(record.among_worst(frame), record.worst_frames().size() < Record::kWorst ||
                                             frame.score < record.worst_frames().back().score);
    record.worst(frame);
  }
  ASSERT_EQ(record.worst_frames().size(), Record::kWorst);
  for (size_t n = 0; n < Record::kWorst; ++n) EXPECT_EQ(record.worst_frames()[n].score, double(n));
}

TEST(RecordTest, TheWorstOfSixHoursAreKnownWhenOlderOnesLeave) {
  constexpr Time kMinute = 60'000'000;
  Record record("channel", "rendition", "", "");
  const auto add = [&](Time minute, double score) {
    record.tick(kStart + minute * kMinute);
    const WorstFrame frame{.time = kStart + minute * kMinute, .score = score};
    if (record.among_worst(frame)) record.worst(frame);
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
    record.worst({.time = kStart, .stream_time = uint64_t(score) * kSecond, .score = score});
  }
  EXPECT_EQ(record.seconds()[0].worst, 9);
  EXPECT_EQ(record.worst_frames()[0].score, 9);
  EXPECT_EQ(record.worst_frames()[2].score, 1);
  for (unsigned n = 10; n < 20; ++n) record.worst({.time = kStart, .stream_time = n * kSecond, .score = 5});
  EXPECT_EQ(record.worst_frames().size(), Record::kWorst);
  EXPECT_FALSE(record.among_worst({.stream_time = 30 * kSecond, .score = 4}));
  EXPECT_TRUE(record.among_worst({.stream_time = 30 * kSecond, .score = 6}));
  EXPECT_FALSE(record.among_worst({.stream_time = 9 * kSecond, .score = 8})) << "9 stands for that moment";
}

std::vector<double> scores_of(const Record &record) {
  std::vector<double> scores;
  for (const WorstFrame &frame : record.worst_frames()) scores.push_back(frame.score);
  return scores;
}

TEST(RecordTest, TheWorstOfAMomentStandsForIt) {
  Record record("channel", "rendition", "", "");
  const auto add = [&](double seconds, double score, uint64_t run = 0) {
    record.worst({.time = kStart, .stream_time = uint64_t(seconds * kSecond), .score = score, .run = run});
  };
  add(10, 50);
  add(10.9, 60);
  EXPECT_EQ(scores_of(record), (std::vector<double>{50})) << "a better one of the same moment";
  add(10.9, 50);
  EXPECT_EQ(scores_of(record), (std::vector<double>{50})) << "the first of the same score";
  add(11, 60);
  EXPECT_EQ(scores_of(record), (std::vector<double>{50, 60})) << "a second later, whenever it was seen";
  add(10.5, 40);
  EXPECT_EQ(scores_of(record), (std::vector<double>{40})) << "a worse one, in place of both";
  add(10.5, 45, 1);
  EXPECT_EQ(scores_of(record), (std::vector<double>{40, 45})) << "another run has other moments";
  // A dip as long as that is one moment, and leaves the others their places.
  for (int n = 0; n < 20; ++n) add(100 + 0.5 * n, 70 - n);
  EXPECT_EQ(scores_of(record), (std::vector<double>{40, 45, 51}));
}

TEST(RecordTest, WithoutTheStreamsTimeAMomentIsOfTheClock) {
  Record record("channel", "rendition", "", "");
  record.worst({.time = kStart, .score = 50});
  record.worst({.time = kStart + 999'999, .stream_time = 77 * kSecond, .score = 60});
  record.worst({.time = kStart + 1'000'000, .score = 70});
  EXPECT_EQ(scores_of(record), (std::vector<double>{50, 70}));
}

TEST(RecordTest, AMomentIsOneOverTheTurnOfAnHour) {
  Record record("channel", "rendition", "", "");
  record.worst({.time = kStart, .stream_time = 0, .score = 90});
  record.worst({.time = kStart + 3'599'900'000, .stream_time = 3599 * kSecond, .score = 60});
  record.tick(kStart + 3'600'000'000);
  record.worst({.time = kStart + 3'600'000'000, .stream_time = 3599 * kSecond + 1, .score = 50});
  EXPECT_EQ(scores_of(record), (std::vector<double>{50, 90}));
}

TEST(RecordTest, WhatWasReplacedIsFoundForAWhile) {
  Record record("channel", "rendition", "", "");
  const auto add = [&](uint64_t id) {
    record.worst({.id = id, .time = kStart, .stream_time = id * kSecond, .score = 100. - double(id)});
  };
  for (uint64_t id = 1; id <= 20; ++id) add(id);
  for (uint64_t id = 1; id <= 20; ++id) {
    const WorstFrame *found = record.find_worst(id);
    ASSERT_TRUE(found) << id;
    EXPECT_EQ(found->id, id);
  }
  EXPECT_FALSE(record.find_worst(21));
  for (uint64_t id = 21; id <= 40; ++id) add(id);
  EXPECT_FALSE(record.find_worst(10)) << "what is kept is bounded";
  EXPECT_TRUE(record.find_worst(11));
}

TEST(RecordTest, SlowIsWhatStaysBehindItsStream) {
  Record record("channel", "rendition", "", "");
  Now &now = record.now();
  now.state = State::running;
  Time time = kStart;
  const auto slow_after = [&](int ticks) {
    while (ticks-- > 0) record.tick(time += 1'000'000);
    return now.slow;
  };
  now.fps = 5.4;
  EXPECT_FALSE(slow_after(10)) << "as fast as it goes: no clock sets a pace";
  now.stream_fps = 30;
  EXPECT_FALSE(slow_after(4)) << "not the first frames";
  EXPECT_TRUE(slow_after(1));
  now.fps = 29;
  EXPECT_FALSE(slow_after(1));
  EXPECT_FALSE(slow_after(10)) << "no further behind than counting may be";
  now.fps = 26;
  EXPECT_TRUE(slow_after(5));
  int told = 0;
  record.on_change = [&](const Record &) { ++told; };
  now.state = State::lost;
  EXPECT_FALSE(slow_after(1)) << "another word is for that";
  EXPECT_EQ(told, 1);
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
