// The inbox between streaming threads and the comparing thread: room, ends, flushing, starvation. That something
// blocks is seen by waiting a little; that something goes on, by waiting as long as it takes.
#include "gst/vmafhip/inbox.h"

#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

using namespace std::chrono_literals;
using Taken = Inbox::Taken;
using Woken = Inbox::Woken;

constexpr gint64 kMs = 1'000'000;
constexpr Inbox::Limits kRoomy = {guint64(5'000 * kMs), guint64(1) << 30};
constexpr auto kLittle = 100ms;
constexpr auto kAges = 60s;

Item frame(gint64 time_ms, gsize bytes = 1) {
  Item item;
  item.buffer = adopt(gst_buffer_new());
  item.time = time_ms * kMs;
  item.timed = true;
  item.bytes = bytes;
  return item;
}

Item untimed_frame() {
  Item item = frame(0);
  item.timed = false;
  return item;
}

Item event() {
  Item item;
  item.event.reset(gst_event_new_gap(0, 1));
  return item;
}

class InboxTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }
  void SetUp() override { inbox_.start(kRoomy); }

  // A put() on a thread of its own.
  std::future<GstFlowReturn> put_later(Side side, Item item) {
    auto shared = std::make_shared<Item>(std::move(item));
    return std::async(std::launch::async,
                      [this, side, shared] { return inbox_.put(side, std::move(*shared)); });
  }
  std::future<Woken> wait_later(std::optional<Side> needed) {
    return std::async(std::launch::async, [this, needed] { return inbox_.wait(needed); });
  }
  // Time of the next frame in ms, -1 an event, -2 the end, -3 nothing.
  gint64 take(Side side) {
    Item item;
    switch (inbox_.take(side, item)) {
      case Taken::item:
        return item.buffer ? item.time / kMs : -1;
      case Taken::ended:
        return -2;
      case Taken::nothing:
        break;
    }
    return -3;
  }
  void fill(Side side, int frames) {
    for (int n = 0; n < frames; ++n) ASSERT_EQ(inbox_.put(side, frame(40 * n)), GST_FLOW_OK);
  }

  Inbox inbox_;
};

template <class T>
bool blocks(std::future<T> &future) {
  return future.wait_for(kLittle) == std::future_status::timeout;
}

template <class T>
T result(std::future<T> &future) {
  if (future.wait_for(kAges) == std::future_status::timeout) {
    ADD_FAILURE() << "still blocked";
    std::abort();  // the future would wait for ever
  }
  return future.get();
}

// The comparing thread while it waits for `needed`; takes nothing.
class Waiter {
 public:
  Waiter(Inbox &inbox, std::optional<Side> needed)
      : inbox_(inbox), thread_([this, needed] {
          while (inbox_.wait(needed) != Woken::interrupted) {
          }
        }) {}
  ~Waiter() {
    inbox_.interrupt(true);
    thread_.join();
    inbox_.interrupt(false);
  }

 private:
  Inbox &inbox_;
  std::thread thread_;
};

// ---- Room -------------------------------------------------------------------------------------------------

TEST_F(InboxTest, BusyPadHoldsThreeFrames) {
  for (const Side side : {Side::ref, Side::dist}) {
    fill(side, 3);
    auto fourth = put_later(side, frame(120));
    EXPECT_TRUE(blocks(fourth));
    EXPECT_EQ(inbox_.level(side).frames, 3u);
    EXPECT_EQ(take(side), 0);
    EXPECT_EQ(result(fourth), GST_FLOW_OK);
    for (const gint64 time : {40, 80, 120, -3}) EXPECT_EQ(take(side), time);
  }
}

TEST_F(InboxTest, GrowsWhileTheOtherPadIsAwaited) {
  Waiter waiter(inbox_, Side::ref);
  fill(Side::dist, 20);  // blocks for ever if it does not grow
  EXPECT_EQ(inbox_.level(Side::dist).frames, 20u);
}

TEST_F(InboxTest, DoesNotGrowWhileTheEngineIsAwaited) {
  Waiter waiter(inbox_, std::nullopt);
  fill(Side::dist, 3);
  auto fourth = put_later(Side::dist, frame(120));
  EXPECT_TRUE(blocks(fourth));
  take(Side::dist);
  EXPECT_EQ(result(fourth), GST_FLOW_OK);
}

TEST_F(InboxTest, KeepsWhatItHasGrownTo) {
  {
    Waiter waiter(inbox_, Side::ref);
    fill(Side::dist, 10);
  }
  for (int n = 0; n < 10; ++n) take(Side::dist);
  fill(Side::dist, 10);  // busy again, and no wait for the other's lateness
}

TEST_F(InboxTest, SlowerSourceDoesNotFillTheWindow) {
  std::atomic<bool> done{false};
  std::thread fast([&] {
    for (int n = 0; !done; ++n)
      if (inbox_.put(Side::dist, frame(n)) != GST_FLOW_OK) break;
  });
  std::thread slow([&] {
    for (int n = 0; n < 25; ++n) {
      inbox_.put(Side::ref, frame(n));
      std::this_thread::sleep_for(20ms);
    }
    inbox_.end(Side::ref);
  });
  guint64 most = 0;
  for (gint64 got = 0; got != -2; most = std::max(most, inbox_.level(Side::dist).frames)) {
    got = take(Side::ref);
    if (got == -3)
      inbox_.wait(Side::ref);
    else
      take(Side::dist);
  }
  done = true;
  inbox_.stop(GST_FLOW_EOS);
  fast.join();
  slow.join();
  EXPECT_LT(most, 25u) << "a frame each 5 ms would make it about 60";
}

TEST_F(InboxTest, NotBeyondTheWindow) {
  inbox_.start({guint64(100 * kMs), guint64(1) << 30});
  Waiter waiter(inbox_, Side::ref);
  fill(Side::dist, 3);
  auto at_window = put_later(Side::dist, frame(100));
  EXPECT_TRUE(blocks(at_window));
  EXPECT_EQ(take(Side::dist), 0);  // the oldest is at 40 ms now
  EXPECT_EQ(result(at_window), GST_FLOW_OK);
  // Each pad has a window of its own.
  EXPECT_EQ(inbox_.put(Side::ref, frame(9000)), GST_FLOW_OK);
}

TEST_F(InboxTest, NotBeyondTheBytesOfBothPads) {
  inbox_.start({guint64(5'000 * kMs), 1000});
  EXPECT_EQ(inbox_.put(Side::ref, frame(0, 400)), GST_FLOW_OK);
  EXPECT_EQ(inbox_.put(Side::dist, frame(0, 300)), GST_FLOW_OK);
  EXPECT_EQ(inbox_.put(Side::dist, frame(40, 300)), GST_FLOW_OK);
  EXPECT_EQ(inbox_.level(Side::dist).bytes, 600u);
  auto too_much = put_later(Side::dist, frame(80, 1));
  EXPECT_TRUE(blocks(too_much));
  EXPECT_EQ(take(Side::ref), 0);
  EXPECT_EQ(result(too_much), GST_FLOW_OK);
  EXPECT_EQ(inbox_.level(Side::dist).bytes, 601u);
  EXPECT_EQ(inbox_.level(Side::ref).bytes, 0u);
}

TEST_F(InboxTest, FirstFrameAlwaysHasRoom) {
  inbox_.start({0, 0});
  for (const Side side : {Side::ref, Side::dist}) {
    EXPECT_EQ(inbox_.put(side, frame(0, 5000)), GST_FLOW_OK);
    auto second = put_later(side, frame(1));
    EXPECT_TRUE(blocks(second));
    take(side);
    EXPECT_EQ(result(second), GST_FLOW_OK);
  }
}

TEST_F(InboxTest, LargestWindowIsNoLimit) {
  inbox_.start({G_MAXUINT64, G_MAXUINT64});
  Waiter waiter(inbox_, Side::ref);
  fill(Side::dist, 10);
  EXPECT_EQ(inbox_.put(Side::dist, frame(1'000'000'000)), GST_FLOW_OK);
}

TEST_F(InboxTest, FramesWithoutTimeTakeNoneOfTheWindow) {
  Waiter waiter(inbox_, Side::ref);
  EXPECT_EQ(inbox_.put(Side::dist, untimed_frame()), GST_FLOW_OK);
  EXPECT_EQ(inbox_.put(Side::dist, frame(9000)), GST_FLOW_OK);
  EXPECT_EQ(inbox_.put(Side::dist, untimed_frame()), GST_FLOW_OK);
  EXPECT_EQ(inbox_.put(Side::dist, frame(9040)), GST_FLOW_OK);
  auto beyond = put_later(Side::dist, frame(14000));
  EXPECT_TRUE(blocks(beyond));
  for (int n = 0; n < 2; ++n) take(Side::dist);
  EXPECT_EQ(result(beyond), GST_FLOW_OK);
}

TEST_F(InboxTest, EventsKeepTheirPlaceAndNeedNoRoom) {
  fill(Side::ref, 3);
  EXPECT_EQ(inbox_.put(Side::ref, event()), GST_FLOW_OK);
  auto fourth = put_later(Side::ref, frame(120));
  EXPECT_EQ(take(Side::ref), 0);
  EXPECT_EQ(result(fourth), GST_FLOW_OK);
  EXPECT_EQ(inbox_.put(Side::ref, event()), GST_FLOW_OK);
  for (const gint64 what : {40, 80, -1, 120, -1, -3}) EXPECT_EQ(take(Side::ref), what);
}

TEST_F(InboxTest, EventsAreBounded) {
  for (int n = 0; n < 1500; ++n) ASSERT_EQ(inbox_.put(Side::ref, event()), GST_FLOW_OK);
  EXPECT_EQ(inbox_.put(Side::ref, frame(7)), GST_FLOW_OK);
  for (int n = 0; n < 1000; ++n) ASSERT_EQ(take(Side::ref), -1);
  EXPECT_EQ(take(Side::ref), 7);
  EXPECT_EQ(take(Side::ref), -3);
}

TEST_F(InboxTest, FramesWithoutTimeAreBoundedByNumber) {
  Waiter waiter(inbox_, Side::ref);
  inbox_.set_live(true);  // nothing else than the limits counts
  for (int n = 0; n < 1000; ++n) ASSERT_EQ(inbox_.put(Side::dist, untimed_frame()), GST_FLOW_OK);
  auto beyond = put_later(Side::dist, untimed_frame());
  EXPECT_TRUE(blocks(beyond));
  take(Side::dist);
  EXPECT_EQ(result(beyond), GST_FLOW_OK);
}

TEST_F(InboxTest, NewsOfTheTimeTakeOnePlace) {
  for (int n = 0; n < 5000; ++n) {
    Item item;
    item.reached = n;
    ASSERT_EQ(inbox_.put(Side::ref, std::move(item)), GST_FLOW_OK);
  }
  Item item;
  ASSERT_EQ(inbox_.take(Side::ref, item), Taken::item);
  EXPECT_EQ(item.reached, 4999);
  EXPECT_EQ(inbox_.take(Side::ref, item), Taken::nothing);
}

// ---- The source's own buffers -----------------------------------------------------------------------------

class Buffers : public InboxTest {
 protected:
  // A frame of a source that has `most` buffers; *freed is set when it gets this one back.
  static Item scarce(gint64 time_ms, bool *freed = nullptr, guint most = 0) {
    Item item = frame(time_ms);
    item.scarce = true;
    item.most_buffers = most;
    if (freed)
      gst_mini_object_weak_ref(
          GST_MINI_OBJECT_CAST(item.buffer.get()),
          [](gpointer data, GstMiniObject *) { *static_cast<bool *>(data) = true; }, freed);
    return item;
  }
  static constexpr Inbox::Limits kFour = {guint64(5'000 * kMs), guint64(1) << 30, 4};
};

TEST_F(Buffers, BeyondThoseThatWereAskedForCopiesWait) {
  inbox_.start(kFour);
  Waiter waiter(inbox_, Side::ref);
  bool freed[10] = {};
  for (int n = 0; n < 10; ++n) ASSERT_EQ(inbox_.put(Side::dist, scarce(40 * n, &freed[n])), GST_FLOW_OK);
  // Three are kept, the fourth is the source's.
  for (int n = 0; n < 10; ++n) EXPECT_EQ(freed[n], n >= 3) << n;
  EXPECT_EQ(inbox_.copied(), 7u);
  for (int n = 0; n < 10; ++n) EXPECT_EQ(take(Side::dist), 40 * n);
  EXPECT_TRUE(freed[0]) << "nobody has it any more";
  for (int n = 0; n < 3; ++n) EXPECT_EQ(inbox_.put(Side::dist, scarce(400 + n)), GST_FLOW_OK);
  EXPECT_EQ(inbox_.copied(), 7u) << "there is room for originals again";
}

TEST_F(Buffers, WhoeverKeepsOneCounts) {
  inbox_.start(kFour);
  Waiter waiter(inbox_, Side::ref);
  std::vector<Item> kept(3);
  for (int n = 0; n < 3; ++n) {
    inbox_.put(Side::dist, scarce(40 * n));
    ASSERT_EQ(inbox_.take(Side::dist, kept[size_t(n)]), Taken::item);
  }
  inbox_.put(Side::dist, scarce(120));
  EXPECT_EQ(inbox_.copied(), 1u);
  kept.pop_back();
  inbox_.put(Side::dist, scarce(160));
  EXPECT_EQ(inbox_.copied(), 1u);
  // Each pad has its own.
  inbox_.put(Side::ref, scarce(0));
  EXPECT_EQ(inbox_.copied(), 1u);
}

TEST_F(Buffers, SmallPool) {
  inbox_.start(kFour);
  Waiter waiter(inbox_, Side::ref);
  for (int n = 0; n < 5; ++n) inbox_.put(Side::dist, scarce(40 * n, nullptr, 2));
  EXPECT_EQ(inbox_.copied(), 4u);
  for (int n = 5; n < 10; ++n) inbox_.put(Side::dist, scarce(40 * n, nullptr, 1));
  EXPECT_EQ(inbox_.copied(), 9u);
}

// Room comes soon: the source waits as it would for any slow element, and nothing is copied.
TEST_F(Buffers, NoCopyWhileTheEngineIsAtWork) {
  inbox_.start({guint64(5'000 * kMs), guint64(1) << 30, 3});
  Waiter waiter(inbox_, std::nullopt);
  for (int n = 0; n < 2; ++n) inbox_.put(Side::dist, scarce(40 * n));
  auto third = put_later(Side::dist, scarce(80));
  EXPECT_TRUE(blocks(third));
  take(Side::dist);
  inbox_.wake();  // as the engine does when it has let go of one
  EXPECT_EQ(result(third), GST_FLOW_OK);
  EXPECT_EQ(inbox_.copied(), 0u);
}

TEST_F(Buffers, PlentifulOnesAreNeverCopied) {
  inbox_.start(kFour);
  Waiter waiter(inbox_, Side::ref);
  fill(Side::dist, 20);
  EXPECT_EQ(inbox_.copied(), 0u);
}

TEST_F(Buffers, CopyHasFlagsTimesAndMetas) {
  inbox_.start({guint64(5'000 * kMs), guint64(1) << 30, 1});
  Waiter waiter(inbox_, Side::ref);
  Item item = scarce(40);
  GstBuffer *buffer = item.buffer.get();
  gst_buffer_append_memory(buffer, gst_allocator_alloc(nullptr, 100, nullptr));
  gst_buffer_memset(buffer, 0, 7, 100);
  GST_BUFFER_PTS(buffer) = 40;
  GST_BUFFER_DTS(buffer) = 30;
  GST_BUFFER_DURATION(buffer) = 20;
  GST_BUFFER_OFFSET(buffer) = 10;
  GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_MARKER);
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);
  crop->x = 3;
  gsize offsets[4] = {5};
  gint strides[4] = {9};
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 9, 10, 1, offsets,
                                 strides);
  static const gchar *tags[] = {nullptr};
  gst_meta_register_custom("InboxTestMeta", tags, nullptr, nullptr, nullptr);
  gst_structure_set(gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer, "InboxTestMeta")), "n",
                    G_TYPE_INT, 42, nullptr);
  ASSERT_EQ(inbox_.put(Side::dist, std::move(item)), GST_FLOW_OK);
  ASSERT_EQ(inbox_.copied(), 1u);
  ASSERT_EQ(inbox_.take(Side::dist, item), Taken::item);
  GstBuffer *copy = item.buffer.get();
  EXPECT_EQ(GST_BUFFER_PTS(copy), 40u);
  EXPECT_EQ(GST_BUFFER_DTS(copy), 30u);
  EXPECT_EQ(GST_BUFFER_DURATION(copy), 20u);
  EXPECT_EQ(GST_BUFFER_OFFSET(copy), 10u);
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(copy, GST_BUFFER_FLAG_DISCONT));
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(copy, GST_BUFFER_FLAG_MARKER));
  ASSERT_NE(gst_buffer_get_video_crop_meta(copy), nullptr);
  EXPECT_EQ(gst_buffer_get_video_crop_meta(copy)->x, 3u);
  ASSERT_NE(gst_buffer_get_video_meta(copy), nullptr);
  EXPECT_EQ(gst_buffer_get_video_meta(copy)->offset[0], 5u);
  EXPECT_EQ(gst_buffer_get_video_meta(copy)->stride[0], 9);
  GstCustomMeta *custom = gst_buffer_get_custom_meta(copy, "InboxTestMeta");
  ASSERT_NE(custom, nullptr);
  gint n = 0;
  EXPECT_TRUE(gst_structure_get_int(gst_custom_meta_get_structure(custom), "n", &n));
  EXPECT_EQ(n, 42);
  guint8 bytes[100];
  ASSERT_EQ(gst_buffer_extract(copy, 0, bytes, 100), 100u);
  EXPECT_EQ(bytes[99], 7);
}

// ---- What is shown before it is taken ---------------------------------------------------------------------

TEST_F(InboxTest, ShownSideGivesNothingUnseen) {
  inbox_.start(kRoomy, Side::ref);
  fill(Side::ref, 2);
  inbox_.put(Side::ref, event());
  inbox_.put(Side::ref, frame(80));
  inbox_.end(Side::ref);
  EXPECT_EQ(take(Side::ref), -3);
  Item item;
  for (const gint64 time : {0, 40, -1, 80}) {
    ASSERT_TRUE(inbox_.show(item));
    EXPECT_EQ(item.buffer ? item.time / kMs : -1, time);
    if (time == 0) {
      EXPECT_EQ(take(Side::ref), 0);
      EXPECT_EQ(take(Side::ref), -3);
    }
  }
  EXPECT_FALSE(inbox_.show(item));
  // The event has gone where it was shown.
  for (const gint64 time : {40, 80, -2}) EXPECT_EQ(take(Side::ref), time);
  fill(Side::dist, 1);
  EXPECT_EQ(take(Side::dist), 0) << "the other side needs no showing";
}

TEST_F(InboxTest, FlushForgetsWhatWasShown) {
  inbox_.start(kRoomy, Side::ref);
  fill(Side::ref, 2);
  Item item;
  EXPECT_TRUE(inbox_.show(item));
  inbox_.flush(Side::ref, true);
  EXPECT_FALSE(inbox_.show(item));
  inbox_.flush(Side::ref, false);
  inbox_.put(Side::ref, frame(7));
  EXPECT_FALSE(inbox_.show(item)) << "until the flush has been noticed";
  EXPECT_TRUE(inbox_.restarted(Side::ref));
  EXPECT_EQ(take(Side::ref), -3);
  EXPECT_TRUE(inbox_.show(item));
  EXPECT_EQ(take(Side::ref), 7);
}

// ---- Ends -------------------------------------------------------------------------------------------------

TEST_F(InboxTest, EndComesAfterTheFrames) {
  fill(Side::ref, 2);
  inbox_.end(Side::ref);
  EXPECT_EQ(inbox_.put(Side::ref, frame(80)), GST_FLOW_EOS);
  EXPECT_EQ(inbox_.put(Side::ref, event()), GST_FLOW_EOS);
  for (const gint64 what : {0, 40, -2, -2}) EXPECT_EQ(take(Side::ref), what);
  EXPECT_EQ(take(Side::dist), -3);
  inbox_.reopen(Side::ref);
  EXPECT_EQ(take(Side::ref), -3);
  EXPECT_EQ(inbox_.put(Side::ref, frame(80)), GST_FLOW_OK);
  EXPECT_EQ(take(Side::ref), 80);
}

TEST_F(InboxTest, EndWakes) {
  auto waiting = wait_later(Side::ref);
  inbox_.end(Side::ref);
  EXPECT_EQ(result(waiting), Woken::changed);
}

TEST_F(InboxTest, StartForgetsEverything) {
  fill(Side::ref, 3);
  inbox_.end(Side::ref);
  inbox_.stop(GST_FLOW_ERROR);
  inbox_.start(kRoomy);
  EXPECT_EQ(take(Side::ref), -3);
  EXPECT_EQ(inbox_.level(Side::ref).bytes, 0u);
  fill(Side::ref, 3);
}

// ---- Flush, stop, interrupt -------------------------------------------------------------------------------

TEST_F(InboxTest, FlushDropsAndUnblocks) {
  fill(Side::ref, 3);
  fill(Side::dist, 2);
  auto blocked = put_later(Side::ref, frame(120));
  EXPECT_TRUE(blocks(blocked));
  inbox_.flush(Side::ref, true);
  EXPECT_EQ(result(blocked), GST_FLOW_FLUSHING);
  EXPECT_EQ(inbox_.put(Side::ref, frame(160)), GST_FLOW_FLUSHING);
  EXPECT_EQ(inbox_.put(Side::ref, event()), GST_FLOW_FLUSHING);
  EXPECT_EQ(take(Side::ref), -3);
  EXPECT_EQ(inbox_.level(Side::ref).bytes, 0u);
  EXPECT_FALSE(inbox_.restarted(Side::ref));

  inbox_.flush(Side::ref, false);
  EXPECT_TRUE(inbox_.restarted(Side::ref));
  EXPECT_FALSE(inbox_.restarted(Side::ref));
  EXPECT_FALSE(inbox_.restarted(Side::dist));
  EXPECT_EQ(inbox_.put(Side::ref, frame(0)), GST_FLOW_OK);
  EXPECT_EQ(inbox_.level(Side::dist).frames, 2u) << "the other pad is not touched";
}

TEST_F(InboxTest, FlushTakesTheEndBack) {
  inbox_.end(Side::ref);
  inbox_.flush(Side::ref, true);
  inbox_.flush(Side::ref, false);
  EXPECT_EQ(take(Side::ref), -3);
  EXPECT_EQ(inbox_.put(Side::ref, frame(0)), GST_FLOW_OK);
}

TEST_F(InboxTest, StoppedPutReturnsWhatStopSaid) {
  fill(Side::ref, 3);
  auto blocked = put_later(Side::ref, frame(120));
  EXPECT_TRUE(blocks(blocked));
  inbox_.stop(GST_FLOW_NOT_NEGOTIATED);
  EXPECT_EQ(result(blocked), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_EQ(inbox_.put(Side::dist, frame(0)), GST_FLOW_NOT_NEGOTIATED);
  inbox_.flush(Side::ref, true);
  EXPECT_EQ(inbox_.put(Side::ref, frame(0)), GST_FLOW_FLUSHING) << "flushing goes first";
  inbox_.flush(Side::ref, false);
  inbox_.stop(GST_FLOW_OK);
  EXPECT_EQ(inbox_.put(Side::ref, frame(0)), GST_FLOW_OK);
}

TEST_F(InboxTest, InactivePadRefuses) {
  inbox_.refuse(Side::dist, true);
  EXPECT_EQ(inbox_.put(Side::dist, frame(0)), GST_FLOW_FLUSHING);
  inbox_.start(kRoomy);  // is about the comparing side, not about the pad
  EXPECT_EQ(inbox_.put(Side::dist, frame(0)), GST_FLOW_FLUSHING);
  inbox_.refuse(Side::dist, false);
  EXPECT_EQ(inbox_.put(Side::dist, frame(0)), GST_FLOW_OK);
}

TEST_F(InboxTest, InterruptWakesAsLongAsItIsSet) {
  auto waiting = wait_later(Side::ref);
  EXPECT_TRUE(blocks(waiting));
  inbox_.interrupt(true);
  EXPECT_EQ(result(waiting), Woken::interrupted);
  EXPECT_TRUE(inbox_.interrupted());
  inbox_.wake();
  EXPECT_EQ(inbox_.wait(Side::ref), Woken::interrupted) << "goes before changes";
  EXPECT_EQ(inbox_.wait(std::nullopt), Woken::interrupted);
  inbox_.interrupt(false);
  EXPECT_FALSE(inbox_.interrupted());
  waiting = wait_later(Side::ref);
  EXPECT_TRUE(blocks(waiting));
  inbox_.wake();
  EXPECT_EQ(result(waiting), Woken::changed);
}

TEST_F(InboxTest, WhatHappensBeforeTheWaitIsNotMissed) {
  inbox_.wake();
  EXPECT_EQ(inbox_.wait(std::nullopt), Woken::changed);
  inbox_.put(Side::ref, frame(0));
  EXPECT_EQ(inbox_.wait(Side::ref), Woken::changed);
  auto waiting = wait_later(Side::dist);
  EXPECT_TRUE(blocks(waiting)) << "each thing wakes once";
  inbox_.put(Side::dist, event());
  EXPECT_EQ(result(waiting), Woken::changed);
}

// ---- Live -------------------------------------------------------------------------------------------------

TEST_F(InboxTest, LivePadFillsTheWindowUnasked) {
  inbox_.set_live(true);
  fill(Side::ref, 100);
}

TEST_F(InboxTest, LiveOverflowIsReportedAtOnce) {
  inbox_.start({guint64(100 * kMs), guint64(1) << 30});
  inbox_.set_live(true);
  fill(Side::ref, 3);
  auto blocked = put_later(Side::ref, frame(120));
  while (inbox_.wait(Side::dist) != Woken::overflow) {
  }
  EXPECT_EQ(inbox_.wait(Side::dist), Woken::overflow) << "as long as it lasts";
  EXPECT_EQ(take(Side::ref), 0);
  EXPECT_EQ(result(blocked), GST_FLOW_OK);
}

TEST_F(InboxTest, NobodyWaitsAfterAStop) {
  inbox_.start({guint64(100 * kMs), guint64(1) << 30});
  inbox_.set_live(true);
  fill(Side::ref, 3);
  auto blocked = put_later(Side::ref, frame(120));
  while (inbox_.wait(Side::dist) != Woken::overflow) {
  }
  inbox_.stop(GST_FLOW_EOS);
  EXPECT_EQ(result(blocked), GST_FLOW_EOS);
  inbox_.stop(GST_FLOW_OK);
  auto waiting = wait_later(Side::dist);
  EXPECT_TRUE(blocks(waiting)) << "the pad that was full has nobody at its door any more";
  inbox_.wake();
  EXPECT_EQ(result(waiting), Woken::changed);
}

// ---- Starvation -------------------------------------------------------------------------------------------

// Waits until it is something else than a change; what, and after which time.
std::pair<Woken, std::chrono::duration<double>> next_woken(Inbox &inbox, Side needed,
                                                           bool has_source = true) {
  const auto start = std::chrono::steady_clock::now();
  Woken woken;
  do woken = inbox.wait(needed, has_source);
  while (woken == Woken::changed);
  return {woken, std::chrono::steady_clock::now() - start};
}

// A warning after kStuck.warn, once, and failure after kStuck.fail.
void expect_starvation(Inbox &inbox, Side needed, bool has_source = true) {
  const auto [first, until_warning] = next_woken(inbox, needed, has_source);
  EXPECT_EQ(first, Woken::starving);
  EXPECT_GE(until_warning.count(), 0.9);
  const auto [second, until_failure] = next_woken(inbox, needed, has_source);
  EXPECT_EQ(second, Woken::starved);
  EXPECT_GE((until_warning + until_failure).count(), 4.9);
}

TEST_F(InboxTest, StarvationWarnsThenFails) {
  // Three ways at the same time, since each takes five seconds: a full window, full bytes, a pad without a source.
  Inbox bytes, never;
  inbox_.start({guint64(100 * kMs), guint64(1) << 30});
  bytes.start({guint64(5'000 * kMs), 3});
  never.start(kRoomy);
  std::vector<std::future<void>> all;
  for (Inbox *full : {&inbox_, &bytes}) {
    all.push_back(std::async(std::launch::async, [full] {
      for (int n = 0; n < 4; ++n)
        EXPECT_EQ(full->put(Side::dist, frame(40 * n)), n < 3 ? GST_FLOW_OK : GST_FLOW_ERROR);
    }));
    all.push_back(std::async(std::launch::async, [full] {
      expect_starvation(*full, Side::ref);
      full->stop(GST_FLOW_ERROR);
    }));
  }
  all.push_back(std::async(std::launch::async, [&never] {
    never.put(Side::ref, frame(0));
    never.end(Side::ref);
    expect_starvation(never, Side::dist, false);
  }));
  for (auto &one : all) one.get();
}

TEST_F(InboxTest, FrameEndsTheStarvation) {
  inbox_.start({guint64(100 * kMs), guint64(1) << 30});
  fill(Side::dist, 3);
  auto blocked = put_later(Side::dist, frame(120));
  for (int round = 0; round < 2; ++round) {  // the warning comes each time, and the time starts anew
    EXPECT_EQ(next_woken(inbox_, Side::ref).first, Woken::starving);
    EXPECT_EQ(inbox_.put(Side::ref, frame(0)), GST_FLOW_OK);
    EXPECT_EQ(inbox_.wait(Side::ref), Woken::changed);
    take(Side::ref);
  }
  inbox_.stop(GST_FLOW_EOS);
  EXPECT_EQ(result(blocked), GST_FLOW_EOS);
}

TEST_F(InboxTest, NoStarvationWhileThePadHasRoom) {
  fill(Side::dist, 2);
  EXPECT_EQ(inbox_.wait(Side::ref), Woken::changed);
  auto waiting = wait_later(Side::ref);  // the source of the other pad may be slow itself
  EXPECT_EQ(waiting.wait_for(Inbox::kStuck.warn + 200ms), std::future_status::timeout);
  inbox_.wake();
  EXPECT_EQ(result(waiting), Woken::changed);
}

// An encoder may take its time after the end of the other stream.
TEST_F(InboxTest, MorePatienceAfterTheOthersEnd) {
  inbox_.end(Side::dist);
  EXPECT_EQ(inbox_.wait(Side::ref), Woken::changed);
  auto waiting = wait_later(Side::ref);
  EXPECT_EQ(waiting.wait_for(Inbox::kStuck.fail + 200ms), std::future_status::timeout);
  EXPECT_EQ(inbox_.put(Side::ref, frame(0)), GST_FLOW_OK);
  EXPECT_EQ(result(waiting), Woken::changed);
}

// ---- All at once ------------------------------------------------------------------------------------------

TEST_F(InboxTest, NothingIsLostOrReordered) {
  constexpr int kFrames = 1500;
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (const Side side : {Side::ref, Side::dist})
    threads.emplace_back([&, side] {
      for (int n = 0; n < kFrames; ++n) {
        if (n % 7 == 0) inbox_.put(side, event());
        EXPECT_EQ(inbox_.put(side, frame(n)), GST_FLOW_OK);
      }
      inbox_.end(side);
    });
  threads.emplace_back([&] {
    while (!done) {
      inbox_.wake();
      inbox_.level(Side::ref);
      std::this_thread::yield();
    }
  });
  int next[2] = {0, 0};
  for (int turn = 0;; ++turn) {
    const int s = turn % 2;
    const Side side = s == 0 ? Side::ref : Side::dist;
    gint64 got = take(side);
    while (got == -3 || got == -1) {
      if (got == -3) inbox_.wait(side);
      got = take(side);
    }
    if (got == -2) break;
    ASSERT_EQ(got, next[s]++);
  }
  done = true;
  EXPECT_EQ(next[0], kFrames);
  while (take(Side::dist) != -2) ++next[1];
  EXPECT_EQ(next[1], kFrames);
  for (auto &thread : threads) thread.join();
}

TEST_F(InboxTest, FlushesInTheMiddle) {
  std::atomic<bool> done{false};
  std::thread source([&] {
    for (int n = 0; !done; ++n) inbox_.put(Side::ref, frame(n));
  });
  std::thread comparing([&] {
    while (inbox_.wait(Side::dist) != Woken::interrupted) take(Side::ref);
  });
  for (int n = 0; n < 200; ++n) {
    inbox_.flush(Side::ref, true);
    inbox_.flush(Side::ref, false);
    std::this_thread::yield();
    EXPECT_TRUE(inbox_.restarted(Side::ref));
  }
  done = true;
  inbox_.interrupt(true);
  comparing.join();
  inbox_.stop(GST_FLOW_EOS);
  source.join();
}

}  // namespace
}  // namespace vmafhip
