// The inbox between streaming threads and the comparing thread: whom it wakes, and whom it lets sleep. Counted, not timed.
#include "tests/inbox_run.h"

namespace vmafhip::test {
namespace {

constexpr int kDeep = int(Inbox::kMostBusyFrames);

class Wakes : public InboxTest {
 protected:
  Item scarce(gint64 time_ms, guint most = 0) {
    Item item = frame(time_ms);
    item.scarce = true;
    item.most_buffers = most;
    return item;
  }
  guint64 sources() const { return inbox_.wakes().sources; }
  guint64 comparing() const { return inbox_.wakes().comparing; }
};

// ---- The comparing thread ---------------------------------------------------------------------------------

TEST_F(Wakes, OnlyTheFrameThatIsWaitedFor) {
  auto waiting = wait_later(Side::ref);
  EXPECT_TRUE(blocks(waiting));
  fill(Side::dist, 3);
  EXPECT_TRUE(blocks(waiting));
  EXPECT_EQ(comparing(), 0u);
  EXPECT_EQ(inbox_.put(Side::ref, frame(0)), GST_FLOW_OK);
  EXPECT_EQ(result(waiting), Woken::changed) << "a single one, at once";
  EXPECT_EQ(comparing(), 1u);
}

TEST_F(Wakes, NoFrameWhileTheEngineIsWaitedFor) {
  auto waiting = wait_later(std::nullopt);
  EXPECT_TRUE(blocks(waiting));
  for (const Side side : {Side::ref, Side::dist}) fill(side, 3);
  EXPECT_TRUE(blocks(waiting));
  inbox_.wake();
  EXPECT_EQ(result(waiting), Woken::changed);
  EXPECT_EQ(comparing(), 1u);
}

TEST_F(Wakes, AFrameOfEitherPad) {
  for (const Side side : {Side::ref, Side::dist}) {
    auto waiting = std::async(std::launch::async, [this] { return inbox_.wait_for_frames(); });
    EXPECT_TRUE(blocks(waiting));
    fill(side, 1);
    EXPECT_EQ(result(waiting), Woken::changed);
    EXPECT_EQ(inbox_.wait_for_frames(), Woken::changed) << "it is there";
    EXPECT_EQ(take(side), 0);
  }
}

TEST_F(Wakes, AnyFrameOfALiveStream) {
  inbox_.set_live(true);
  EXPECT_EQ(inbox_.wait(std::nullopt), Woken::changed) << "that it is live is news";
  for (const auto needed : {std::optional<Side>(Side::ref), std::optional<Side>()}) {
    auto waiting = wait_later(needed);
    EXPECT_TRUE(blocks(waiting));
    fill(Side::dist, 1);
    EXPECT_EQ(result(waiting), Woken::changed);
  }
}

// An event may have nothing before it, and leave.
TEST_F(Wakes, AnyEvent) {
  auto waiting = wait_later(std::nullopt);
  EXPECT_TRUE(blocks(waiting));
  inbox_.put(Side::dist, event());
  EXPECT_EQ(result(waiting), Woken::changed);
}

TEST_F(Wakes, AFrameThatLeavesAtOnce) {
  Inbox::Limits limits = kRoomy;
  limits.leaves_at_once = true;
  inbox_.start(limits, Side::ref);
  auto waiting = wait_later(Side::dist);
  EXPECT_TRUE(blocks(waiting));
  fill(Side::ref, 1);
  EXPECT_EQ(result(waiting), Woken::changed);
}

// ---- Sources ----------------------------------------------------------------------------------------------

TEST_F(Wakes, ASourceWhenHalfOfADeepQueueIsFree) {
  inbox_.set_depth(100);
  fill(Side::ref, kDeep);
  auto next = put_later(Side::ref, frame(40 * kDeep));
  EXPECT_TRUE(blocks(next));
  for (int n = 0; n < kDeep / 2 - 1; ++n) EXPECT_EQ(take(Side::ref), 40 * n);
  EXPECT_TRUE(blocks(next));
  EXPECT_EQ(sources(), 0u);
  take(Side::ref);
  EXPECT_EQ(result(next), GST_FLOW_OK);
  EXPECT_EQ(sources(), 1u);
  // Those that follow find room.
  for (int n = 1; n < kDeep / 2; ++n) EXPECT_EQ(inbox_.put(Side::ref, frame(40 * (kDeep + n))), GST_FLOW_OK);
  EXPECT_EQ(inbox_.level(Side::ref).frames, guint64(kDeep));
}

TEST_F(Wakes, TheOtherSourceIsLetSleep) {
  fill(Side::ref, 3);
  fill(Side::dist, 3);
  auto ref = put_later(Side::ref, frame(120)), dist = put_later(Side::dist, frame(120));
  EXPECT_TRUE(blocks(ref));
  EXPECT_TRUE(blocks(dist));
  take(Side::dist);
  EXPECT_EQ(result(dist), GST_FLOW_OK);
  EXPECT_TRUE(blocks(ref));
  EXPECT_EQ(sources(), 1u);
  take(Side::ref);
  EXPECT_EQ(result(ref), GST_FLOW_OK);
}

// An encoder between the two gives a frame for each that it gets, and needs more before the first one than a queue holds: no
// frame has to wait until it seems late.
TEST_F(Wakes, ASourceAtOnceWhenTheOtherPadIsAwaited) {
  inbox_.set_depth(100);
  fill(Side::dist, kDeep);
  auto next = put_later(Side::dist, frame(40 * kDeep));
  EXPECT_TRUE(blocks(next));
  take(Side::dist);
  EXPECT_TRUE(blocks(next));
  EXPECT_EQ(sources(), 0u);
  auto waiting = wait_later(Side::ref);
  EXPECT_EQ(result(next), GST_FLOW_OK);
  EXPECT_EQ(sources(), 1u) << "it did not come in by being late";
  inbox_.wake();
  EXPECT_EQ(result(waiting), Woken::changed);
}

TEST_F(Wakes, ADeepQueueGrowsLikeAnyOther) {
  inbox_.set_depth(100);
  fill(Side::dist, kDeep);
  auto next = put_later(Side::dist, frame(40 * kDeep));
  EXPECT_TRUE(blocks(next));
  Waiter waiter(inbox_, Side::ref);
  EXPECT_EQ(result(next), GST_FLOW_OK);
  for (int n = 1; n < 10; ++n) EXPECT_EQ(inbox_.put(Side::dist, frame(40 * (kDeep + n))), GST_FLOW_OK);
}

TEST_F(Wakes, LargeFramesDoNotFillADeepQueue) {
  inbox_.start({guint64(5'000 * kMs), 8000});
  inbox_.set_depth(100);
  for (int n = 0; n < 5; ++n) EXPECT_EQ(inbox_.put(Side::ref, frame(40 * n, 200)), GST_FLOW_OK);
  auto next = put_later(Side::ref, frame(200, 200));
  EXPECT_TRUE(blocks(next)) << "an eighth of all bytes is there";
  take(Side::ref);
  EXPECT_EQ(result(next), GST_FLOW_OK);
}

TEST_F(Wakes, ADeepQueueKeepsNoneThatWouldHaveToBeCopied) {
  inbox_.start({guint64(5'000 * kMs), guint64(1) << 30, 10});
  inbox_.set_depth(100);
  for (int n = 0; n < 6; ++n) EXPECT_EQ(inbox_.put(Side::ref, scarce(40 * n)), GST_FLOW_OK);
  auto next = put_later(Side::ref, scarce(240));
  EXPECT_TRUE(blocks(next));
  take(Side::ref);
  EXPECT_EQ(result(next), GST_FLOW_OK);
  EXPECT_EQ(inbox_.copied(), 0u);
}

// ---- Buffers that the engine measures ---------------------------------------------------------------------

TEST_F(Wakes, WhatIsMeasuredComesBack) {
  inbox_.start({guint64(5'000 * kMs), guint64(1) << 30, 4});
  Waiter waiter(inbox_, Side::ref);
  inbox_.set_measured(5);
  std::vector<Item> kept(5);
  for (int n = 0; n < 5; ++n) {
    inbox_.put(Side::dist, scarce(40 * n));
    ASSERT_EQ(inbox_.take(Side::dist, kept[size_t(n)]), Taken::item);
  }
  for (int n = 0; n < 3; ++n) inbox_.put(Side::dist, scarce(200 + 40 * n));
  EXPECT_EQ(inbox_.copied(), 0u);
  inbox_.put(Side::dist, scarce(320));
  EXPECT_EQ(inbox_.copied(), 1u);
}

// Who has few says how many: the engine's are of these. And a live source has to have one now.
TEST_F(Wakes, ButNotToASourceOfFewOrALiveOne) {
  inbox_.start({guint64(5'000 * kMs), guint64(1) << 30, 4});
  Waiter waiter(inbox_, Side::ref);
  inbox_.set_measured(5);
  for (int n = 0; n < 4; ++n) inbox_.put(Side::dist, scarce(40 * n, 20));
  EXPECT_EQ(inbox_.copied(), 1u);
  inbox_.set_live(true);
  for (int n = 0; n < 4; ++n) inbox_.put(Side::ref, scarce(40 * n));
  EXPECT_EQ(inbox_.copied(), 2u);
}

// ---- In a steady stream -----------------------------------------------------------------------------------

// The engine, which takes several pairs at a time, is what all wait for: sources take a turn for several frames.
TEST_F(Wakes, FewInASteadyStream) {
  constexpr int kFrames = 1600, kAtATime = 8;
  inbox_.set_depth(100);
  std::vector<std::thread> threads;
  for (const Side side : {Side::ref, Side::dist})
    threads.emplace_back([this, side] {
      for (int n = 0; n < kFrames; ++n) EXPECT_EQ(inbox_.put(side, frame(n)), GST_FLOW_OK);
    });
  const auto has_many =
      [this](Side side) {  // its source may sleep as soon as there are more than half of all
        const auto level = inbox_.level(side);
        return level.frames > guint64(kDeep) / 2 || level.newest == (kFrames - 1) * kMs;
      };
  for (int n = 0; n < kFrames; ++n) {
    while (n % kAtATime == 0 && !(has_many(Side::ref) && has_many(Side::dist))) std::this_thread::yield();
    for (const Side side : {Side::ref, Side::dist}) ASSERT_EQ(take(side), n);
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_LE(sources(), 2u * kFrames / kAtATime);
  EXPECT_EQ(comparing(), 0u);
}

}  // namespace
}  // namespace vmafhip::test
