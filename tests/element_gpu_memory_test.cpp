// Pictures that come in GPU memory, the simulated GPU's: the CPU's scores in every bit without an upload where the GPU can
// read them, by way of the host where it cannot; which memory the pads offer; and how neighbours come to the same GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/fake_gpu/gsthip.h"
#include "tests/formats.h"
#include "tests/gpu_buffers.h"
#include "tests/hipsim_control.h"

namespace vmafhip::test {
namespace {

using Next = std::function<GstBuffer *()>;
constexpr int kWidth = 66, kHeight = 50, kFrames = 3;

const FormatCase &format(const std::string &name) {
  return *std::ranges::find_if(kFormats, [&](const FormatCase &f) { return f.name == name; });
}

Next source(const FormatCase &f, clipgen::Role role, int width = kWidth, int height = kHeight,
            int frames = kFrames) {
  const auto clip = std::make_shared<clipgen::Generator>(clip_for(f, width, height, frames));
  const GstVideoInfo info = video_info(f.name, width, height);
  return [=, n = 0]() mutable -> GstBuffer * {
    if (n == frames) return nullptr;
    Layout layout;
    layout.video_meta = true;
    layout.stride_padding = 64;
    GstBuffer *buffer = make_buffer(info, clip_planes(*clip, role, n), layout);
    return stamp(buffer, n++);
  };
}

Next on_gpu(const GpuBuffers &gpu, Next next) {
  return [&gpu, next]() -> GstBuffer * {
    GstBuffer *buffer = next();
    return buffer ? gpu.upload(buffer) : nullptr;
  };
}

std::string caps_of(const FormatCase &f, const char *feature = nullptr, int width = kWidth,
                    int height = kHeight) {
  std::string caps = caps_text(f.name, width, height);
  if (feature) caps.insert(caps.find(','), std::string("(") + feature + ")");
  return caps;
}

std::unique_ptr<Pipeline> make(const std::string &properties, const std::string &ref_caps,
                               const std::string &dist_caps) {
  return std::make_unique<Pipeline>("vmafhip name=v threads=2 " + properties +
                                    " ! fakesink async=false appsrc name=ref caps=" + ref_caps +
                                    " ! v.ref_sink appsrc name=dist caps=" + dist_caps + " ! v.dist_sink");
}

guint64 pooled(const Pipeline &pipeline, const char *name) {
  return pipeline.pooled.empty() ? G_MAXUINT64 : number(pipeline.pooled.back().get(), name);
}
// Imported and copied.
std::pair<guint64, guint64> ways(const Pipeline &pipeline) {
  return {pooled(pipeline, "imported"), pooled(pipeline, "copied")};
}
using Ways = std::pair<guint64, guint64>;

class ElementGpuMemory : public testing::Test {
 protected:
  void SetUp() override { sim_.reset("devices=2"); }
  void TearDown() override {
    EXPECT_EQ(sim_.leaks(), 0u);
    EXPECT_EQ(sim_.reports(), "");
  }
  static std::vector<std::vector<uint64_t>> values(Pipeline &pipeline) {
    EXPECT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
    EXPECT_TRUE(pipeline.warnings.empty()) << pipeline.warnings[0];
    return value_bits(pipeline);
  }
  // What the CPU says of pictures in system memory.
  static std::vector<std::vector<uint64_t>> expected(const FormatCase &f,
                                                     const std::string &properties = "") {
    auto pipeline = make(properties + " backend=cpu", caps_of(f), caps_of(f));
    pipeline->feed("ref", source(f, clipgen::Role::reference));
    pipeline->feed("dist", source(f, clipgen::Role::distorted));
    auto scores = values(*pipeline);
    EXPECT_EQ(scores.size(), size_t(kFrames));
    return scores;
  }
  static std::unique_ptr<Pipeline> in_gpu_memory(const FormatCase &f, const GpuBuffers &gpu,
                                                 const std::string &properties,
                                                 const char *feature = "memory:HIPMemory") {
    auto pipeline = make(properties, caps_of(f, feature), caps_of(f, feature));
    pipeline->feed("ref", on_gpu(gpu, source(f, clipgen::Role::reference)));
    pipeline->feed("dist", on_gpu(gpu, source(f, clipgen::Role::distorted)));
    return pipeline;
  }
  HipSim sim_;
};

// ---- Where pictures are read ------------------------------------------------------------------------------

TEST_F(ElementGpuMemory, IsReadWhereItIs) {
  const std::string metrics = "model=vmaf_v0.6.1 features=psnr|ssim";
  for (const char *name : {"I420", "NV12", "YV12", "GRAY8", "P010_10LE", "I422_10LE", "Y444_16LE"}) {
    SCOPED_TRACE(name);
    const FormatCase &f = format(name);
    const std::string asked = f.gray() ? "" : metrics;
    const auto wanted = expected(f, asked);
    const GpuBuffers gpu(0);
    auto pipeline = in_gpu_memory(f, gpu, asked + " backend=hip device=0");
    EXPECT_EQ(values(*pipeline), wanted);
    EXPECT_EQ(ways(*pipeline), Ways(2 * kFrames, 0));
    EXPECT_EQ(gpu.counts().downloads, 0);
    pipeline.reset();
    EXPECT_EQ(gpu.counts().alive, 0);
  }
}

// Nothing goes to the device but what goes there once, such as tables.
TEST_F(ElementGpuMemory, IsNotUploaded) {
  const FormatCase &f = format("NV12");
  const std::string caps = caps_of(f, "memory:HIPMemory");
  const auto uploaded = [&](int frames, bool there) {
    const GpuBuffers gpu(0);
    std::array<std::vector<GstBuffer *>, 2> buffers;
    for (const auto role : {clipgen::Role::reference, clipgen::Role::distorted}) {
      Next next = source(f, role, kWidth, kHeight, frames);
      if (there) next = on_gpu(gpu, next);
      while (GstBuffer *buffer = next()) buffers[role == clipgen::Role::distorted].push_back(buffer);
    }
    const auto give = [](std::vector<GstBuffer *> &all) -> Next {
      return [&all, n = size_t(0)]() mutable { return n < all.size() ? all[n++] : nullptr; };
    };
    auto pipeline = make("features=psnr backend=hip device=0", caps, caps);
    pipeline->feed("ref", give(buffers[0]));
    pipeline->feed("dist", give(buffers[1]));
    const auto before = sim_.traffic();
    values(*pipeline);
    return sim_.traffic().upload_bytes - before.upload_bytes;
  };
  EXPECT_EQ(uploaded(1, true), uploaded(5, true));
  EXPECT_GE(uploaded(5, false) - uploaded(5, true), 5u * 2 * kWidth * kHeight * 3 / 2);
}

TEST_F(ElementGpuMemory, OfAnotherGpuComesThroughTheHost) {
  const FormatCase &f = format("NV12");
  const GpuBuffers gpu(1);
  auto pipeline = in_gpu_memory(f, gpu, "backend=hip device=0");
  EXPECT_EQ(values(*pipeline), expected(f));
  EXPECT_EQ(ways(*pipeline), Ways(0, 2 * kFrames));
  EXPECT_EQ(gpu.counts().downloads, 2 * kFrames);
}

// Each pad by itself, from buffer to buffer.
TEST_F(ElementGpuMemory, BesideSystemMemory) {
  const FormatCase &f = format("I420");
  const GpuBuffers gpu(0);
  auto pipeline = make("backend=hip device=0", caps_of(f), caps_of(f, "memory:HIPMemory"));
  pipeline->feed("ref", [&gpu, next = source(f, clipgen::Role::reference), n = 0]() mutable -> GstBuffer * {
    GstBuffer *buffer = next();
    return buffer && n++ == 1 ? gpu.upload(buffer) : buffer;
  });
  pipeline->feed("dist", on_gpu(gpu, source(f, clipgen::Role::distorted)));
  EXPECT_EQ(values(*pipeline), expected(f));
  EXPECT_EQ(ways(*pipeline), Ways(kFrames + 1, 0));
}

TEST_F(ElementGpuMemory, TheCpuGetsCopies) {
  const FormatCase &f = format("P010_10LE");
  const GpuBuffers gpu(0);
  auto pipeline = in_gpu_memory(f, gpu, "backend=cpu");
  EXPECT_EQ(values(*pipeline), expected(f));
  EXPECT_EQ(ways(*pipeline), Ways(0, 2 * kFrames));
}

// The processor scales distorted pictures of another size.
TEST_F(ElementGpuMemory, ScaledPicturesAreCopied) {
  const FormatCase &f = format("I420");
  const GpuBuffers gpu(0);
  std::vector<std::vector<uint64_t>> scores[2];
  for (const bool there : {false, true}) {
    const char *feature = there ? "memory:HIPMemory" : nullptr;
    auto pipeline = make(there ? "backend=hip device=0" : "backend=cpu", caps_of(f, feature),
                         caps_of(f, feature, 96, 72));
    Next ref = source(f, clipgen::Role::reference), dist = source(f, clipgen::Role::distorted, 96, 72);
    pipeline->feed("ref", there ? on_gpu(gpu, ref) : ref);
    pipeline->feed("dist", there ? on_gpu(gpu, dist) : dist);
    EXPECT_EQ(pipeline->run(), "eos");
    scores[there] = value_bits(*pipeline);
    if (there) {
      EXPECT_EQ(gpu.counts().downloads, kFrames);
    }
  }
  EXPECT_EQ(scores[0].size(), size_t(kFrames));
  EXPECT_EQ(scores[0], scores[1]);
}

// Heat maps are the CPU's: it reads luma, and the GPU reads all.
TEST_F(ElementGpuMemory, BothReadIt) {
  const FormatCase &f = format("I420");
  constexpr int kWide = 216, kLow = 36;  // CAMBI's least width
  const GpuBuffers gpu(0);
  std::vector<std::vector<uint64_t>> scores[2];
  for (const bool there : {false, true}) {
    const std::string caps = caps_of(f, there ? "memory:HIPMemory" : nullptr, kWide, kLow);
    auto pipeline = make("features=psnr|cambi=heatmaps_path=" + testing::TempDir() +
                             (there ? " backend=hip device=0" : " backend=cpu"),
                         caps, caps);
    Next ref = source(f, clipgen::Role::reference, kWide, kLow, 1);
    Next dist = source(f, clipgen::Role::distorted, kWide, kLow, 1);
    pipeline->feed("ref", there ? on_gpu(gpu, ref) : ref);
    pipeline->feed("dist", there ? on_gpu(gpu, dist) : dist);
    scores[there] = values(*pipeline);
    if (!there) continue;
    EXPECT_EQ(ways(*pipeline), Ways(2, 0));
    EXPECT_GE(gpu.counts().downloads, 1);
  }
  EXPECT_EQ(scores[0].size(), 1u);
  EXPECT_EQ(scores[0], scores[1]);
}

TEST_F(ElementGpuMemory, OffsetsAreFoundInIt) {
  const FormatCase &f = format("I420");
  const GpuBuffers gpu(0);
  auto pipeline = in_gpu_memory(f, gpu, "backend=hip device=0 sync=content");
  EXPECT_EQ(pipeline->run(), "eos");
  EXPECT_EQ(value_bits(*pipeline).size(), size_t(kFrames));
  EXPECT_GT(gpu.counts().downloads, 0);
}

TEST_F(ElementGpuMemory, TooSmallForItsCaps) {
  const FormatCase &f = format("I420");
  const GpuBuffers gpu(0);
  auto pipeline =
      make("backend=hip device=0", caps_of(f, "memory:HIPMemory"), caps_of(f, "memory:HIPMemory"));
  pipeline->feed("ref", on_gpu(gpu, source(f, clipgen::Role::reference)));
  pipeline->feed("dist", [&gpu, next = source(f, clipgen::Role::distorted)]() -> GstBuffer * {
    GstBuffer *buffer = next();
    if (!buffer) return nullptr;
    gst_buffer_get_video_meta(buffer)->stride[2] *= 3;
    return gpu.upload(buffer);
  });
  EXPECT_EQ(pipeline->run(), "error");
  ASSERT_FALSE(pipeline->errors.empty());
  EXPECT_NE(pipeline->errors[0].find("plane 2"), std::string::npos) << pipeline->errors[0];
}

// Pictures that only a failed GPU reaches are lost, and with them frames in progress: one error, no hang.
TEST_F(ElementGpuMemory, IsLostWithTheGpu) {
  const FormatCase &f = format("I420");
  const std::string caps = caps_of(f, "memory:HIPMemory");
  for (const char *backend : {"auto", "hip"}) {
    SCOPED_TRACE(backend);
    const GpuBuffers gpu(0);
    auto pipeline = make(std::string("device=0 backend=") + backend, caps, caps);
    pipeline->feed("ref", on_gpu(gpu, source(f, clipgen::Role::reference, kWidth, kHeight, 12)));
    pipeline->feed("dist", on_gpu(gpu, source(f, clipgen::Role::distorted, kWidth, kHeight, 12)));
    sim_.configure("fail=launch:5");
    EXPECT_EQ(pipeline->run(), "error");
    ASSERT_FALSE(pipeline->errors.empty());
    EXPECT_NE(pipeline->errors[0].find("GPU"), std::string::npos) << pipeline->errors[0];
    pipeline.reset();
    sim_.configure("fail=");
    EXPECT_EQ(gpu.counts().alive, 0);
  }
}

// ---- What the pads offer ----------------------------------------------------------------------------------

bool offers(Pipeline &pipeline, const char *pad_name, const char *feature) {
  GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), pad_name);
  GstCaps *caps = gst_pad_query_caps(pad, nullptr);
  bool found = false;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    found = found || gst_caps_features_contains(gst_caps_get_features(caps, i), feature);
  EXPECT_TRUE(gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:SystemMemory"))
      << "what every element has comes first";
  gst_caps_unref(caps);
  gst_object_unref(pad);
  return found;
}

TEST_F(ElementGpuMemory, IsOfferedByWhoCanReadIt) {
  const std::string caps = caps_of(format("I420"));
  const auto offered = [&](const std::string &properties, GstState state) {
    auto pipeline = make(properties, caps, caps);
    EXPECT_TRUE(pipeline->play(state));
    std::string all;
    for (const char *pad : {"ref_sink", "dist_sink"})
      for (const char *feature : {"memory:CUDAMemory", "memory:HIPMemory"})
        if (offers(*pipeline, pad, feature)) all += std::string(pad) + " " + feature + ", ";
    return all;
  };
  const std::string nothing,
      everything =
          "ref_sink memory:CUDAMemory, ref_sink memory:HIPMemory, dist_sink memory:CUDAMemory, "
          "dist_sink memory:HIPMemory, ",
      of_amd = "ref_sink memory:HIPMemory, dist_sink memory:HIPMemory, ";
  EXPECT_EQ(offered("backend=cpu", GST_STATE_READY), nothing);
  EXPECT_EQ(offered("backend=cpu", GST_STATE_PAUSED), nothing);
  EXPECT_EQ(offered("backend=auto", GST_STATE_READY), everything) << "it is not known yet";
  EXPECT_EQ(offered("backend=auto", GST_STATE_PAUSED), of_amd);
  EXPECT_EQ(offered("backend=hip", GST_STATE_PAUSED), of_amd);
  sim_.configure("devices=0");
  EXPECT_EQ(offered("backend=auto", GST_STATE_PAUSED), nothing) << "there is no GPU";
}

// ---- The same GPU -----------------------------------------------------------------------------------------

// The library of GStreamer's that neighbours have loaded, found by its soname from now on.
FakeGstHip &fake_gst_hip() {
  static FakeGstHip *const fake = [] {
    void *library = ::dlopen(VMAFHIP_FAKES "/libfake_gsthip.so", RTLD_NOW);
    if (!library) throw std::runtime_error(::dlerror());
    return reinterpret_cast<FakeGstHip *(*)()>(::dlsym(library, "fake_gst_hip"))();
  }();
  return *fake;
}

// As neighbours do. Null: it has none to share.
std::unique_ptr<GstContext, Unref<GstContext>> ask(Pipeline &pipeline, const char *pad_name,
                                                   const char *type) {
  GstQuery *query = gst_query_new_context(type);
  GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), pad_name);
  GstContext *context = nullptr;
  if (gst_pad_query(pad, query)) gst_query_parse_context(query, &context);
  if (context) gst_context_ref(context);
  gst_object_unref(pad);
  gst_query_unref(query);
  return std::unique_ptr<GstContext, Unref<GstContext>>(context);
}

guint device_in(const GstContext *context) {
  guint number = G_MAXUINT;
  gst_structure_get_uint(gst_context_get_structure(context), "device-id", &number);
  return number;
}

std::string device_used(const Pipeline &pipeline) {
  const char *text = gst_structure_get_string(pipeline.pooled.back().get(), "backend");
  return text ? text : "";
}

TEST_F(ElementGpuMemory, NeighboursAreGivenTheSameGpu) {
  FakeGstHip &fake = fake_gst_hip();
  const FormatCase &f = format("NV12");
  const std::string caps = caps_of(f, "memory:HIPMemory");
  for (const char *pad : {"ref_sink", "dist_sink", "src"}) {
    auto pipeline = make("backend=hip device=1", caps, caps);
    ASSERT_TRUE(pipeline->play(GST_STATE_READY));
    const auto context = ask(*pipeline, pad, "gst.hip.device");
    ASSERT_TRUE(context);
    EXPECT_EQ(device_in(context.get()), 1u);
    EXPECT_FALSE(ask(*pipeline, pad, "gst.cuda.context")) << "it is AMD's";
    EXPECT_FALSE(ask(*pipeline, pad, "gst.gl.GLDisplay"));
    EXPECT_EQ(fake.devices, 1);
  }
  EXPECT_EQ(fake.devices, 0);
  auto pipeline = make("backend=cpu", caps, caps);
  ASSERT_TRUE(pipeline->play(GST_STATE_READY));
  EXPECT_FALSE(ask(*pipeline, "ref_sink", "gst.hip.device"));
}

// Of several, the session takes the one that was told.
TEST_F(ElementGpuMemory, SessionsTakeTheGpuThatIsShared) {
  FakeGstHip &fake = fake_gst_hip();
  const FormatCase &f = format("NV12");
  const auto wanted = expected(f);
  for (const bool asked : {false, true}) {
    const int waits = fake.waits;
    const std::string caps = caps_of(f, "memory:HIPMemory");
    auto pipeline = make("backend=hip", caps, caps);
    std::unique_ptr<GpuBuffers> gpu;
    if (asked) {
      const GpuBuffers busy(0);  // of those that are used less it would be the other
      ASSERT_TRUE(pipeline->play(GST_STATE_READY));
      const auto context = ask(*pipeline, "ref_sink", "gst.hip.device");
      ASSERT_TRUE(context);
      gpu = std::make_unique<GpuBuffers>(int(device_in(context.get())));
    } else {
      GstContext *context = gst_context_new("gst.hip.device", TRUE);
      gst_structure_set(gst_context_writable_structure(context), "device-id", G_TYPE_UINT, 1u, nullptr);
      gst_element_set_context(pipeline->element(), context);
      gst_context_unref(context);
      gpu = std::make_unique<GpuBuffers>(1);
    }
    pipeline->feed("ref", on_gpu(*gpu, source(f, clipgen::Role::reference)));
    pipeline->feed("dist", on_gpu(*gpu, source(f, clipgen::Role::distorted)));
    EXPECT_EQ(values(*pipeline), wanted);
    EXPECT_EQ(ways(*pipeline), Ways(2 * kFrames, 0)) << device_used(*pipeline);
    EXPECT_EQ(fake.waits - waits, 2 * kFrames) << "for what writes to each picture";
  }
}

// Elements that appear later, such as decoders in a decodebin, find it in their bin.
TEST_F(ElementGpuMemory, BinsAreToldOfTheGpu) {
  FakeGstHip &fake = fake_gst_hip();
  const std::string caps = caps_of(format("NV12"));
  {
    auto pipeline = make("backend=hip device=1", caps, caps);
    ASSERT_TRUE(pipeline->play(GST_STATE_PAUSED));
    GstContext *context = gst_element_get_context(pipeline->element(), "gst.hip.device");
    ASSERT_TRUE(context);
    EXPECT_EQ(device_in(context), 1u);
    pipeline.reset();
    EXPECT_EQ(fake.devices, 1) << "somebody has it still";
    gst_context_unref(context);
  }
  EXPECT_EQ(fake.devices, 0);
  EXPECT_EQ(sim_.leaks(), 0u);
}

}  // namespace
}  // namespace vmafhip::test
