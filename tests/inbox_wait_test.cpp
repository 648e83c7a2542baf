// The inbox between streaming threads and the comparing thread: who waits for whom, and what ends it: ends, flushes,
// stops, overflow, starvation.
#include "tests/inbox_run.h"

namespace vmafhip::test {
namespace {

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

// A pad that nobody feeds is told of soon here, and given up soon where the other one is full. Whoever has another patience
// than it should waits for an hour.
constexpr Inbox::Patience kSoon{50ms, 250ms};
constexpr Inbox::Limits hasty(guint64 window, guint64 bytes = guint64(1) << 30) {
  Inbox::Limits limits{window, bytes};
  limits.patience = {
      .stuck = kSoon, .silent = {1h, 1h}, .independent = {1h, 1h}, .unlinked = {kSoon.warn, 1h}};
  return limits;
}

// Waits until it is something else than a change.
Woken next_woken(Inbox &inbox, Side needed, bool has_source = true) {
  Woken woken;
  do woken = inbox.wait(needed, has_source);
  while (woken == Woken::changed);
  return woken;
}

// A warning, once, and failure, neither before its time.
void expect_starvation(Inbox &inbox, Side needed, bool has_source = true) {
  const auto start = std::chrono::steady_clock::now();
  const auto waited = [&] { return std::chrono::steady_clock::now() - start; };
  EXPECT_EQ(next_woken(inbox, needed, has_source), Woken::starving);
  EXPECT_GE(waited(), kSoon.warn);
  EXPECT_EQ(next_woken(inbox, needed, has_source), Woken::starved);
  EXPECT_GE(waited(), kSoon.fail);
}

TEST_F(InboxTest, StarvationWarnsThenFails) {
  // A full window, full bytes, a pad without a source.
  Inbox bytes, never;
  inbox_.start(hasty(100 * kMs));
  bytes.start(hasty(5'000 * kMs, 3));
  never.start(hasty(5'000 * kMs));
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
  inbox_.start(hasty(100 * kMs));
  fill(Side::dist, 3);
  auto blocked = put_later(Side::dist, frame(120));
  for (int round = 0; round < 2; ++round) {  // the warning comes each time, and the time starts anew
    EXPECT_EQ(next_woken(inbox_, Side::ref), Woken::starving);
    EXPECT_EQ(inbox_.put(Side::ref, frame(0)), GST_FLOW_OK);
    EXPECT_EQ(inbox_.wait(Side::ref), Woken::changed);
    take(Side::ref);
  }
  inbox_.stop(GST_FLOW_EOS);
  EXPECT_EQ(result(blocked), GST_FLOW_EOS);
}

TEST_F(InboxTest, NoStarvationWhileThePadHasRoom) {
  inbox_.start(hasty(5'000 * kMs));
  fill(Side::dist, 2);
  auto waiting = wait_later(Side::ref);  // the source of the other pad may be slow itself
  EXPECT_EQ(waiting.wait_for(kSoon.warn + 200ms), std::future_status::timeout);
  inbox_.wake();
  EXPECT_EQ(result(waiting), Woken::changed);
}

// An encoder may take its time after the end of the other stream.
TEST_F(InboxTest, MorePatienceAfterTheOthersEnd) {
  inbox_.start(hasty(5'000 * kMs));
  inbox_.end(Side::dist);
  EXPECT_EQ(inbox_.wait(Side::ref), Woken::changed);
  auto waiting = wait_later(Side::ref);
  EXPECT_EQ(waiting.wait_for(kSoon.fail + 200ms), std::future_status::timeout);
  EXPECT_EQ(inbox_.put(Side::ref, frame(0)), GST_FLOW_OK);
  EXPECT_EQ(result(waiting), Woken::changed);
}

// ---- All at once ------------------------------------------------------------------------------------------

TEST_F(InboxTest, APadWithoutSourceIsSaidAndWaitedFor) {
  inbox_.start(hasty(5'000 * kMs));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(inbox_.wait(Side::ref, false), Woken::starving);
  EXPECT_GE(std::chrono::steady_clock::now() - start, kSoon.warn);
  auto waiting = std::async(std::launch::async, [this] { return inbox_.wait(Side::ref, false); });
  EXPECT_TRUE(blocks(waiting));
  EXPECT_EQ(inbox_.put(Side::ref, frame(0)), GST_FLOW_OK);
  EXPECT_EQ(result(waiting), Woken::changed);
}

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
}  // namespace vmafhip::test
