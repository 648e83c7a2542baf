// The inbox between streaming threads and the comparing thread: how much it takes, of whose buffers, and in which order
// it gives.
#include "tests/inbox_run.h"

namespace vmafhip::test {
namespace {

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

}  // namespace
}  // namespace vmafhip::test
