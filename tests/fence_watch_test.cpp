// Who waits for fences is called when they are signalled, and not for ever.
#include "gst/vmafhip/fence_watch.h"

#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>

#include <condition_variable>

#include "gst/vmafhip/handles.h"
#include "tests/dmabufs.h"
#include "tests/fences.h"

namespace vmafhip::test {
namespace {

using namespace std::chrono_literals;

BufferPtr buffer(int memories = 1) {
  GstBuffer *made = gst_buffer_new();
  for (int i = 0; i < memories; ++i) gst_buffer_append_memory(made, dmabuf_memory(memfd(100), 100));
  return adopt(made);
}

class FenceWatchTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }

  void wake() {
    std::lock_guard lock(mutex_);
    ++calls_;
    called_.notify_all();
  }
  int calls() {
    std::lock_guard lock(mutex_);
    return calls_;
  }
  // Until so many calls have been.
  bool wait_for_calls(int calls) {
    std::unique_lock lock(mutex_);
    return called_.wait_for(lock, 60s, [&] { return calls_ >= calls; });
  }
  static bool is_written(FenceWatch &watch, GstBuffer *buffer) { return !watch.unwritten({&buffer, 1}); }
  bool is_written(GstBuffer *buffer) { return is_written(watch_, buffer); }
  // Until the buffer is written, as it is told.
  bool wait_until_written(GstBuffer *buffer) {
    for (int calls = 1; !is_written(buffer); ++calls)
      if (!wait_for_calls(calls)) return false;
    return true;
  }

  std::mutex mutex_;
  std::condition_variable called_;
  int calls_ = 0;
  FenceWatch watch_{[this] { wake(); }, {100h, 100h}};
};

TEST_F(FenceWatchTest, NothingIsWaitedForWithoutFences) {
  const int before = open_descriptors();
  EXPECT_TRUE(is_written(adopt(gst_buffer_new_allocate(nullptr, 100, nullptr)).get()));
  EXPECT_TRUE(is_written(adopt(gst_buffer_new()).get()));
  EXPECT_TRUE(is_written(buffer(2).get()));
  EXPECT_EQ(watch_.waited(), 0ns);
  EXPECT_EQ(open_descriptors(), before);  // no thread was started
  EXPECT_EQ(calls(), 0);
}

TEST_F(FenceWatchTest, CallsWhenTheFenceIsSignalled) {
  const BufferPtr late = buffer();
  Fence fence(late.get());
  EXPECT_FALSE(is_written(late.get()));
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(is_written(late.get()));
  EXPECT_EQ(calls(), 0);
  EXPECT_GE(watch_.waited(), 50ms);
  fence.signal();
  ASSERT_TRUE(wait_for_calls(1));
  EXPECT_TRUE(is_written(late.get()));
  EXPECT_EQ(watch_.waited(), 0ns);
}

TEST_F(FenceWatchTest, WaitsForAllMemories) {
  const BufferPtr late = buffer(3), first = adopt(gst_buffer_new());
  gst_buffer_append_memory(first.get(), gst_buffer_get_memory(late.get(), 0));
  auto all = std::make_unique<Fence>(late.get());
  Fence one(first.get());  // of that memory alone, instead of the one of all
  EXPECT_FALSE(is_written(late.get()));
  all->signal();
  ASSERT_TRUE(wait_for_calls(1));
  EXPECT_FALSE(is_written(late.get()));
  one.signal();
  EXPECT_TRUE(wait_until_written(late.get()));
}

// A buffer that is left out is not waited for any more, nor kept.
TEST_F(FenceWatchTest, GoesOnToAnother) {
  const int before = open_descriptors();
  const BufferPtr next = buffer();
  Fence second(next.get());
  {
    const BufferPtr left_out = buffer();
    Fence first(left_out.get());
    EXPECT_FALSE(is_written(left_out.get()));
    EXPECT_FALSE(is_written(next.get()));
  }
  second.signal();
  EXPECT_TRUE(wait_until_written(next.get()));
  watch_.stop();
  EXPECT_EQ(open_descriptors(), before + 2);  // of `next` and its fence
}

TEST_F(FenceWatchTest, TheSameNumberOfAnotherBuffer) {
  const auto descriptor = [](const BufferPtr &buffer) {
    return gst_dmabuf_memory_get_fd(gst_buffer_peek_memory(buffer.get(), 0));
  };
  BufferPtr gone = buffer();
  const int number = descriptor(gone);
  Fence fence(gone.get());
  EXPECT_FALSE(is_written(gone.get()));
  gone.reset();
  BufferPtr next;
  std::vector<BufferPtr> others;
  for (int i = 0; i < 100 && !next; ++i) {
    const BufferPtr made = buffer();
    (descriptor(made) == number ? next : others.emplace_back()) = made;
  }
  ASSERT_TRUE(next);
  Fence again(next.get());
  EXPECT_FALSE(is_written(next.get()));
  again.signal();
  EXPECT_TRUE(wait_until_written(next.get()));
}

// However often it is asked of both: patience is that with the one that is late.
TEST_F(FenceWatchTest, SaysWhichIsLate) {
  const BufferPtr good = buffer(), late = buffer(), later = buffer();
  GstBuffer *const all[] = {good.get(), late.get(), later.get()};
  Fence fence(late.get()), other(later.get());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(watch_.unwritten(all), 1u);
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_GE(watch_.waited(), 50ms);
  fence.signal();
  ASSERT_TRUE(wait_for_calls(1));
  EXPECT_EQ(watch_.unwritten(all), 2u);
  EXPECT_GE(watch_.waited(), 50ms);
  other.signal();
  ASSERT_TRUE(wait_for_calls(2));
  EXPECT_EQ(watch_.unwritten(all), std::nullopt);
}

TEST_F(FenceWatchTest, EndsWhileItWaits) {
  const BufferPtr never = buffer();
  const int before = open_descriptors();
  Fence fence(never.get());
  for (int round = 0; round < 3; ++round) {
    EXPECT_FALSE(is_written(never.get()));
    watch_.stop();
    EXPECT_EQ(watch_.waited(), 0ns);
    EXPECT_EQ(open_descriptors(), before + 1);  // the fence's
  }
  EXPECT_EQ(calls(), 0);
}

TEST_F(FenceWatchTest, PatienceEndsTwice) {
  FenceWatch watch([this] { wake(); }, {50ms, 150ms});
  const BufferPtr never = buffer();
  Fence fence(never.get());
  int expected = 0;
  for (const auto limit : {50ms, 150ms})
    while (!is_written(watch, never.get()) && watch.waited() < limit) ASSERT_TRUE(wait_for_calls(++expected));
  EXPECT_GE(expected, 1);
  EXPECT_LE(expected, 2);
  const int before = calls();
  EXPECT_FALSE(is_written(watch, never.get()));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(calls(), before);
  fence.signal();
  EXPECT_TRUE(wait_for_calls(before + 1));
}

}  // namespace
}  // namespace vmafhip::test
