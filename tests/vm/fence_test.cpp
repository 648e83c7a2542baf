// Pictures whose producer is still writing: their scores are those of what is written in the end, and meanwhile nothing
// else stands still.
#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/dmabufs.h"
#include "tests/vm/comparison.h"
#include "tests/vm/vgem.h"

namespace vmafhip::test {
namespace {

// A producer that has handed a buffer over before it was written.
class LateProducer {
 public:
  // Leaves in the dma-buf what is no picture, for now.
  GstBuffer *take(GstBuffer *buffer) {
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_READ);
    picture_.assign(map.data, map.data + map.size);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_memset(buffer, 0, 0, picture_.size());
    buffer = in_objects(buffer, {}, vgem_object);
    const int fd = gst_dmabuf_memory_get_fd(gst_buffer_peek_memory(buffer, 0));
    at_ = ::mmap(nullptr, picture_.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT_NE(at_, MAP_FAILED);
    fence_ = vgem().begin_write(fd);
    since_ = Clock::now();
    return buffer;
  }
  ~LateProducer() {
    if (at_) ::munmap(at_, picture_.size());
  }
  // The kernel gives up after 10 s: whether there is time left to see that nobody waits so long.
  bool is_early() const { return Clock::now() - since_ < std::chrono::seconds(4); }
  // Writes and says so. False: too late.
  bool finish() const {
    std::copy(picture_.begin(), picture_.end(), static_cast<guint8 *>(at_));
    return vgem().end_write(fence_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<guint8> picture_;
  void *at_ = nullptr;
  uint32_t fence_ = 0;
  Clock::time_point since_;
};

constexpr int kFrames = 4;

class Fences : public testing::Test {
 protected:
  // The frame of that number has a late producer, on one side.
  void make(clipgen::Role side, int late) {
    Comparison c;
    c.frames = kFrames;
    c.properties += " model=\"\" features=psnr";
    expected_ = c.scores();
    c.dmabuf_caps = true;
    c.change_ref = c.change_dist = [](GstBuffer *buffer, int) { return in_objects(buffer, {}, vgem_object); };
    (side == clipgen::Role::reference ? c.change_ref : c.change_dist) = [this, late](GstBuffer *buffer,
                                                                                     int n) {
      return n == late ? producer_.take(buffer) : in_objects(buffer, {}, vgem_object);
    };
    pipeline_ = c.pipeline();
    for (const char *name : {"ref_sink", "dist_sink"}) {
      GstPad *pad = gst_element_get_static_pad(pipeline_->get("v"), name);
      gst_pad_add_probe(
          pad, GstPadProbeType(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
          [](GstPad *, GstPadProbeInfo *info, gpointer self) {
            if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
              ++static_cast<Fences *>(self)->arrived_;
            else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
              ++static_cast<Fences *>(self)->ended_;
            return GST_PAD_PROBE_OK;
          },
          this, nullptr);
      gst_object_unref(pad);
    }
  }
  // Plays until so many frames are scored and as many as can be have come, and looks whether more are scored.
  void play_until_late(size_t scored) {
    ASSERT_TRUE(pipeline_->play());
    ASSERT_EQ(pipeline_->wait_until([&] { return pipeline_->frames.size() >= scored && ended_ == 2; }),
              "done");
    pipeline_->wait(0.1);
    ASSERT_EQ(value_bits(*pipeline_), Bits(expected_.begin(), expected_.begin() + long(scored)));
  }
  void finish() {
    if (!producer_.finish()) GTEST_SKIP() << "this machine took longer than the kernel waits for a device";
    EXPECT_EQ(pipeline_->wait(), "eos");
    EXPECT_EQ(value_bits(*pipeline_), expected_);
    EXPECT_TRUE(pipeline_->warnings.empty()) << pipeline_->warnings[0];
  }

  LateProducer producer_;
  Bits expected_;
  std::atomic<int> arrived_{0}, ended_{0};
  std::unique_ptr<Pipeline> pipeline_;
};

TEST_F(Fences, ScoresWaitAndStreamsDoNot) {
  make(clipgen::Role::distorted, 1);
  play_until_late(1);
  EXPECT_EQ(arrived_, 2 * kFrames);
  finish();
}

TEST_F(Fences, TheEndWaits) {
  make(clipgen::Role::reference, kFrames - 1);
  play_until_late(kFrames - 1);
  finish();
}

// Frames that come after it are scored although the one before it is still being written.
TEST_F(Fences, FlushDoesNot) {
  make(clipgen::Role::distorted, 1);
  play_until_late(1);
  if (!producer_.is_early()) GTEST_SKIP() << "this machine is too slow";
  GstPad *pads[] = {gst_element_get_static_pad(pipeline_->get("ref"), "src"),
                    gst_element_get_static_pad(pipeline_->get("dist"), "src")};
  for (GstPad *pad : pads) EXPECT_TRUE(gst_pad_push_event(pad, gst_event_new_flush_start()));
  for (GstPad *pad : pads) EXPECT_TRUE(gst_pad_push_event(pad, gst_event_new_flush_stop(TRUE)));
  const auto clip = std::make_shared<clipgen::Generator>(clip_for(kI420, 70, 50, kFrames));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  std::thread push([&] {
    for (const auto &[pad, role] :
         {std::pair{pads[0], clipgen::Role::reference}, {pads[1], clipgen::Role::distorted}}) {
      GstBuffer *buffer = make_buffer(video_info("I420", 70, 50), clip_planes(*clip, role, 0));
      gst_pad_push_event(pad, gst_event_new_segment(&segment));
      gst_pad_push(pad, stamp(in_objects(buffer, {}, vgem_object), 0));
      gst_pad_push_event(pad, gst_event_new_eos());
    }
  });
  pipeline_->forget();
  EXPECT_EQ(pipeline_->wait(), "eos");
  push.join();
  EXPECT_EQ(value_bits(*pipeline_), Bits(1, expected_[0]));
  EXPECT_TRUE(producer_.finish());
  for (GstPad *pad : pads) gst_object_unref(pad);
}

TEST_F(Fences, StopDoesNot) {
  make(clipgen::Role::distorted, 1);
  play_until_late(1);
  if (!producer_.is_early()) GTEST_SKIP() << "this machine is too slow";
  pipeline_->stop();
  EXPECT_TRUE(producer_.finish());
}

}  // namespace
}  // namespace vmafhip::test
