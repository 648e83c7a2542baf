// Cameras of the kernel's vivid driver, whose buffers V4L2 exports as dma-bufs: one object a picture, or one a plane.
#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "tests/vm/comparison.h"
#include "tests/vm/kernel_witness.h"
#include "tests/vm/reading.h"

namespace vmafhip::test {
namespace {

constexpr int kFrames = 12;
constexpr int kColourBars = 0, kNoise = 21;
constexpr double kSame = 60;  // PSNR of two pictures of 8 bits that are the same

struct Camera {
  const char *name, *device, *format;
  guint memories;
};
void PrintTo(const Camera &camera, std::ostream *out) { *out << camera.name; }

// What comes to a sink pad of "v".
struct Arrivals {
  std::atomic<int> buffers{0}, strange{0};  // strange: without the memories that the camera has
  guint memories = 0;
  bool copy = false;               // replaces what comes by copies in system memory
  std::set<std::string> pictures;  // that were copied: their checksums

  void watch(Pipeline &pipeline, const char *name) {
    GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), name);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, probe, this, nullptr);
    gst_object_unref(pad);
  }
  static GstPadProbeReturn probe(GstPad *, GstPadProbeInfo *info, gpointer data) {
    auto &self = *static_cast<Arrivals *>(data);
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    ++self.buffers;
    bool good = gst_buffer_n_memory(buffer) == self.memories;
    for (guint n = 0; n < gst_buffer_n_memory(buffer); ++n)
      good = good && gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer, n));
    self.strange += !good;
    if (self.copy) {
      GstBuffer *copy = gst_buffer_copy_deep(buffer);
      GstMapInfo map;
      gst_buffer_map(copy, &map, GST_MAP_READ);
      gchar *sum = g_compute_checksum_for_data(G_CHECKSUM_MD5, map.data, map.size);
      self.pictures.insert(sum);
      g_free(sum);
      gst_buffer_unmap(copy, &map);
      GST_PAD_PROBE_INFO_DATA(info) = copy;
      gst_buffer_unref(buffer);
    }
    return GST_PAD_PROBE_OK;
  }
};

class Cameras : public testing::TestWithParam<Camera> {
 protected:
  // The camera's pictures go to ref_sink, and through `to_dist` to dist_sink.
  // `pattern` is one of vivid's.
  void run(const std::string &to_dist, int pattern = kColourBars) {
    const Camera &camera = GetParam();
    pipeline_ = std::make_unique<Pipeline>(
        std::string(
            "vmafhip name=v threads=2 backend=cpu model=\"\" features=psnr ! "
            "fakesink async=false enable-last-sample=false v4l2src name=camera io-mode=dmabuf device=") +
        camera.device + " extra-controls=c,test_pattern=" + std::to_string(pattern) +
        " num-buffers=" + std::to_string(kFrames) + " ! video/x-raw,format=" + camera.format +
        ",framerate=10/1 ! capsfilter name=size caps=video/x-raw,width=320,height=180 ! tee name=t t. ! "
        "queue ! v.ref_sink t. ! queue ! " +
        to_dist + "v.dist_sink");
    ref_.memories = dist_.memories = camera.memories;
    ref_.watch(*pipeline_, "ref_sink");
    dist_.watch(*pipeline_, "dist_sink");
    GstPad *pad = gst_element_get_static_pad(pipeline_->get("camera"), "src");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, pace, this, nullptr);
    gst_object_unref(pad);
    play();
  }
  void play() {
    passed_ = 0;
    psnr_.clear();
    pipeline_->forget();
    ASSERT_EQ(pipeline_->run(), "eos") << (pipeline_->errors.empty() ? "" : pipeline_->errors[0]);
    EXPECT_TRUE(pipeline_->warnings.empty()) << pipeline_->warnings[0];
    for (const char *feature : {"psnr_y", "psnr_cb", "psnr_cr"})
      for (const StructurePtr &frame : pipeline_->frames)
        psnr_[feature].insert(real_in(frame.get(), "features", feature));
    // A slow machine may have no time for all.
    skipped_ = stats_number(pipeline_->get("v"), "skipped-overload");
    EXPECT_GT(scored(), 0u);
    EXPECT_EQ(ref_.strange, 0);
  }
  size_t scored() const { return pipeline_->frames.size(); }
  // Lets a frame of the camera pass when all but one of those before it are scored, however long that takes: it has
  // buffers for so many, and none has to be copied for want of more.
  static GstPadProbeReturn pace(GstPad *, GstPadProbeInfo *, gpointer data) {
    auto &self = *static_cast<Cameras *>(data);
    GstElement *v = self.pipeline_->get("v");
    const auto done = [v] { return stats_number(v, "scored") + stats_number(v, "skipped-overload"); };
    for (int ms = 0; ms < 20'000 && self.passed_ >= done() + 2; ms += 5) g_usleep(5000);
    ++self.passed_;
    return GST_PAD_PROBE_OK;
  }

  std::unique_ptr<Pipeline> pipeline_;
  Arrivals ref_, dist_;
  std::map<std::string, std::set<double>> psnr_;  // of all frames
  guint64 skipped_ = 0, passed_ = 0;
};

TEST_P(Cameras, ToBothPads) {
  const KernelWitness witness;
  run("");
  EXPECT_EQ(ref_.buffers, kFrames);
  EXPECT_EQ(dist_.strange, 0);
  EXPECT_EQ(scored() + skipped_, size_t(kFrames));
  for (const auto &[feature, values] : psnr_) EXPECT_EQ(values, std::set{kSame}) << feature;
  const Reading r = reading(*pipeline_);
  EXPECT_EQ(r, (Reading{.mapped = 2 * scored(), .objects_mapped = r.objects_mapped}));
  EXPECT_GT(r.objects_mapped, 0u);
  EXPECT_EQ(r.objects_mapped % GetParam().memories, 0u);
  const auto counts = witness.counts();
  EXPECT_EQ(counts.mapped, int(r.objects_mapped));
  EXPECT_EQ(counts.begin_read, counts.end_read);
}

// What is read of the dma-bufs is what GStreamer reads, and the pictures are moving ones.
TEST_P(Cameras, AgainstACopy) {
  dist_.copy = true;
  run("");
  EXPECT_GT(dist_.pictures.size(), 1u);
  for (const auto &[feature, values] : psnr_) EXPECT_EQ(values, std::set{kSame}) << feature;
  EXPECT_EQ(reading(*pipeline_).mapped, scored());
}

TEST_P(Cameras, ThroughAnEncoder) {
  for (const char *element : {"x264enc", "avdec_h264"})
    if (GstElementFactory *factory = gst_element_factory_find(element))
      gst_object_unref(factory);
    else
      GTEST_SKIP() << "there is no " << element;
  run("x264enc tune=zerolatency speed-preset=ultrafast threads=1 ! avdec_h264 max-threads=1 ! ", kNoise);
  EXPECT_EQ(dist_.buffers, kFrames);
  EXPECT_EQ(scored() + skipped_, size_t(kFrames));
  EXPECT_GT(*psnr_["psnr_y"].begin(), 15);
  EXPECT_LT(*psnr_["psnr_y"].rbegin(), kSame - 10);
  const Reading r = reading(*pipeline_);
  EXPECT_EQ(r.mapped, scored());
  EXPECT_EQ(r.copied + r.held_copied, 0u);
}

// The camera makes other buffers, for which it has to be rid of those that it had.
TEST_P(Cameras, AgainInAnotherSize) {
  run("");
  const guint64 objects = reading(*pipeline_).objects_mapped;
  ASSERT_EQ(gst_element_set_state(pipeline_->element(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(mappings(), 0);
  GstCaps *caps = gst_caps_from_string("video/x-raw,width=640,height=360");
  g_object_set(pipeline_->get("size"), "caps", caps, nullptr);
  gst_caps_unref(caps);
  play();
  for (const auto &[feature, values] : psnr_) EXPECT_EQ(values, std::set{kSame}) << feature;
  EXPECT_GT(objects, 0u);
  EXPECT_EQ(reading(*pipeline_).mapped, 2 * scored());
}

INSTANTIATE_TEST_SUITE_P(Formats, Cameras,
                         testing::Values(Camera{"I420", "/dev/video0", "I420", 1},
                                         Camera{"NV12", "/dev/video0", "NV12", 1},
                                         Camera{"YM12", "/dev/video1", "I420", 3},
                                         Camera{"NM12", "/dev/video1", "NV12", 2}),
                         [](const auto &info) { return info.param.name; });

// The example, as it is called; it is for people, so what it prints is looked at.
TEST(CameraScript, ReadsACameraInPlace) {
  gchar *out = nullptr, *errors = nullptr;
  gint status = -1;
  const char *call[] = {
      "bash",   VMAFHIP_SOURCE_ROOT "/examples/gst-launch/camera.sh",          "--frames",    "6",
      "--caps", "video/x-raw,format=NV12,width=320,height=180,framerate=10/1", "/dev/video0", nullptr};
  // Where it stays is looked at on the processor: the simulated GPU of other tests would take it.
  gchar **environment = g_environ_unsetenv(g_get_environ(), "VMAFHIP_HIP_LIBRARY");
  ASSERT_TRUE(g_spawn_sync(nullptr, const_cast<gchar **>(call), environment, G_SPAWN_SEARCH_PATH, nullptr,
                           nullptr, &out, &errors, &status, nullptr));
  g_strfreev(environment);
  const std::string shown = out, complaints = errors;
  g_free(out);
  g_free(errors);
  EXPECT_TRUE(g_spawn_check_wait_status(status, nullptr)) << shown << complaints;
  EXPECT_NE(shown.find(" mapped, backend: cpu"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("copied"), std::string::npos) << shown;
  EXPECT_NE(complaints.find(" 6 frames "), std::string::npos) << complaints;  // progress
  EXPECT_NE(complaints.find(" vmaf_v0.6.1 "), std::string::npos) << complaints;
}

}  // namespace
}  // namespace vmafhip::test
