// What is copied because its source has few buffers: when, what of, and what leaves in its place.

#include <unistd.h>

#include "gst/vmafhip/buffer_memory.h"
#include "tests/dmabufs.h"
#include "tests/fences.h"
#include "tests/inbox_run.h"

namespace vmafhip::test {
namespace {

constexpr gsize kBytes = 1000;

// A frame in a dma-buf, all of its bytes `value`.
Item scarce(gint64 time_ms, guint8 value = 0) {
  Item item = frame(time_ms);
  const int fd = memfd(kBytes);
  const std::vector<guint8> bytes(kBytes, value);
  EXPECT_EQ(::pwrite(fd, bytes.data(), kBytes, 0), gssize(kBytes));
  item.buffer = adopt(gst_buffer_new());
  gst_buffer_append_memory(item.buffer.get(), dmabuf_memory(fd, kBytes));
  item.scarce = true;
  return item;
}

// The value of all bytes, -1 if they differ.
int value_of(GstBuffer *buffer) {
  std::vector<guint8> bytes(kBytes);
  EXPECT_EQ(gst_buffer_extract(buffer, 0, bytes.data(), kBytes), kBytes);
  for (const guint8 b : bytes)
    if (b != bytes[0]) return -1;
  return bytes[0];
}

class Copies : public InboxTest {
 protected:
  // One is kept, all others are copied.
  void SetUp() override {
    inbox_.start({guint64(5'000 * kMs), guint64(1) << 30, 2}, Side::dist);
    inbox_.set_live(true);
    ASSERT_EQ(inbox_.put(Side::dist, scarce(0)), GST_FLOW_OK);
  }
  Item taken() {
    Item shown, item;
    while (inbox_.show(shown)) {
    }
    EXPECT_EQ(inbox_.take(Side::dist, item), Taken::item);
    return item;
  }
};

TEST_F(Copies, AreInSystemMemory) {
  Item item = scarce(40, 7);
  ASSERT_EQ(inbox_.put(Side::dist, std::move(item)), GST_FLOW_OK);
  EXPECT_EQ(inbox_.copied(), 1u);
  taken();
  const Item copy = taken();
  EXPECT_TRUE(dmabuf_descriptors(copy.buffer.get()).empty());
  EXPECT_EQ(value_of(copy.buffer.get()), 7);
}

TEST_F(Copies, AreMadeOnceTheFrameIsWritten) {
  Item item = scarce(40, 1);
  GstBuffer *buffer = item.buffer.get();
  Fence fence(buffer);
  auto put = put_later(Side::dist, std::move(item));
  EXPECT_TRUE(blocks(put));
  EXPECT_EQ(inbox_.copied(), 0u);
  gst_buffer_memset(buffer, 0, 9, kBytes);
  fence.signal();
  EXPECT_EQ(result(put), GST_FLOW_OK);
  EXPECT_EQ(inbox_.copied(), 1u);
  taken();
  EXPECT_EQ(value_of(taken().buffer.get()), 9);
}

TEST_F(Copies, AreNotMadeOnceThereIsRoom) {
  Item item = scarce(40);
  Fence fence(item.buffer.get());
  auto put = put_later(Side::dist, std::move(item));
  EXPECT_TRUE(blocks(put));
  taken();  // and lets it go
  EXPECT_EQ(result(put), GST_FLOW_OK);
  EXPECT_EQ(inbox_.copied(), 0u);
}

// Whoever waits for a fence that is never signalled can be stopped, and goes on after a second.
TEST_F(Copies, DoNotWaitForEver) {
  Item item = scarce(40), next = scarce(80);
  Fence fence(item.buffer.get()), other(next.buffer.get());
  auto put = put_later(Side::dist, std::move(item));
  EXPECT_EQ(result(put), GST_FLOW_OK);
  EXPECT_EQ(inbox_.copied(), 0u);
  EXPECT_EQ(inbox_.level(Side::dist).frames, 2u);
  auto flushed = put_later(Side::dist, std::move(next));
  inbox_.flush(Side::dist, true);
  EXPECT_EQ(result(flushed), GST_FLOW_FLUSHING);
}

// Reading beyond the end of an object is fatal.
TEST_F(Copies, AreNotMadeOfWhatIsNotThere) {
  Item item = frame(40);
  item.buffer = adopt(gst_buffer_new());
  item.scarce = true;
  gst_buffer_append_memory(item.buffer.get(), dmabuf_memory(memfd(10), 1 << 20));
  ASSERT_EQ(inbox_.put(Side::dist, std::move(item)), GST_FLOW_OK);
  EXPECT_EQ(inbox_.copied(), 0u);
  EXPECT_EQ(inbox_.level(Side::dist).frames, 2u);
}

// Where the copy must not leave, the frame itself does; until then it is one of those that are kept.
TEST_F(Copies, FrameItselfLeaves) {
  Item item = scarce(40, 5);
  item.leaves_itself = true;
  GstBuffer *itself = item.buffer.get();
  ASSERT_EQ(inbox_.put(Side::dist, std::move(item)), GST_FLOW_OK);
  Item first, shown;
  ASSERT_TRUE(inbox_.show(first));
  EXPECT_FALSE(first.itself);
  ASSERT_TRUE(inbox_.show(shown));
  ASSERT_TRUE(shown.itself);
  EXPECT_EQ(shown.itself.get(), itself);
  EXPECT_NE(shown.buffer.get(), itself);
  EXPECT_EQ(value_of(shown.buffer.get()), 5);
  first = Item();
  taken();
  ASSERT_EQ(inbox_.put(Side::dist, scarce(80)), GST_FLOW_OK);
  EXPECT_EQ(inbox_.copied(), 2u);
  shown.itself.reset();
  taken();
  taken();
  ASSERT_EQ(inbox_.put(Side::dist, scarce(120)), GST_FLOW_OK);
  EXPECT_EQ(inbox_.copied(), 2u);
}

}  // namespace
}  // namespace vmafhip::test
