// What a record keeps: seconds, events, the worst frames; bounded, in order.
#include <gtest/gtest.h>

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
  EXPECT_EQ(record.seconds()[0].min, 70);
  EXPECT_EQ(record.seconds()[0].frames, 3u);
  EXPECT_EQ(record.seconds()[1].mean, 50);
}

TEST(RecordTest, AClockThatIsSetBackAddsToTheOpenSecond) {
  Record record("channel", "rendition", "", "");
  record.score(kStart, 90);
  record.score(kStart - 3'600'000'000, 70);
  ASSERT_EQ(record.seconds().size(), 1u);
  EXPECT_EQ(record.seconds()[0].frames, 2u);
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

TEST(RecordTest, ChangesAreToldOnceASecond) {
  Record record("channel", "rendition", "", "");
  int told = 0;
  record.on_change = [&](const Record &) { ++told; };
  record.changed();
  EXPECT_EQ(told, 1);
  record.changed();
  record.changed();
  EXPECT_EQ(told, 1);
  record.tick();
  EXPECT_EQ(told, 2);
  record.tick();
  EXPECT_EQ(told, 2);
}

}  // namespace
