// Frames in dma-bufs (memfds in their place): the scores of system memory in every bit, no copies, each object mapped
// once, and what is said when something is wrong with one.
#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "tests/dmabufs.h"
#include "tests/formats.h"
#include "tests/still_clip.h"

namespace vmafhip::test {
namespace {

using Next = std::function<GstBuffer *()>;
constexpr int kFrames = 2;

const FormatCase &format(const std::string &name) {
  return *std::ranges::find_if(kFormats, [&](const FormatCase &f) { return f.name == name; });
}

// The pictures of a pad, made once.
struct Clip {
  GstVideoInfo info;
  std::vector<Planes> frames;
  Clip(const FormatCase &f, int width, int height, clipgen::Role role, int count = kFrames)
      : info(video_info(f.name, width, height)) {
    const auto generator = clip_for(f, width, height, count);
    for (int n = 0; n < count; ++n) frames.push_back(clip_planes(generator, role, n));
  }
};

Next source(const Clip &clip, const Layout &layout = {}) {
  return [&clip, layout, n = 0]() mutable -> GstBuffer * {
    if (n == int(clip.frames.size())) return nullptr;
    GstBuffer *buffer = make_buffer(clip.info, clip.frames[size_t(n)], layout);
    return stamp(buffer, n++);
  };
}

Next in_dmabufs(Next next, const Objects &objects = {}) {
  return [=]() -> GstBuffer * {
    GstBuffer *buffer = next();
    return buffer ? in_memfds(buffer, objects) : nullptr;
  };
}

std::string dmabuf_caps(const char *name, int width, int height, int fps_n = 25, int fps_d = 1) {
  std::string caps = caps_text(name, width, height, fps_n, fps_d);
  return caps.insert(caps.find(','), "(memory:DMABuf)");
}

std::unique_ptr<Pipeline> make(const std::string &caps, Next ref, Next dist,
                               const std::string &properties = "") {
  auto pipeline =
      std::make_unique<Pipeline>("vmafhip name=v threads=2 backend=cpu " + properties +
                                 " ! fakesink name=out async=false appsrc name=ref caps=" + caps +
                                 " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
  pipeline->feed("ref", std::move(ref));
  pipeline->feed("dist", std::move(dist));
  return pipeline;
}

std::vector<std::vector<uint64_t>> run(Pipeline &pipeline) {
  EXPECT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  EXPECT_TRUE(pipeline.warnings.empty()) << pipeline.warnings[0];
  return value_bits(pipeline);
}

guint64 pooled(const Pipeline &pipeline, const char *name) {
  return pipeline.pooled.empty() ? G_MAXUINT64 : number(pipeline.pooled.back().get(), name);
}

// Pictures by the way they were read: imported, registered, mapped, copied, held-copied.
using Ways = std::array<guint64, 5>;
Ways ways(const Pipeline &pipeline) {
  return {pooled(pipeline, "imported"), pooled(pipeline, "registered"), pooled(pipeline, "mapped"),
          pooled(pipeline, "copied"), pooled(pipeline, "held-copied")};
}

// ---- where planes lie --------------------------------------------------------------------------

struct Case {
  const char *name, *format;
  int width, height;
  Layout layout;
  Objects objects;
};
void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

class InDmaBufs : public testing::TestWithParam<Case> {};

TEST_P(InDmaBufs, ScoresAreThoseOfSystemMemory) {
  const Case &c = GetParam();
  const FormatCase &f = format(c.format);
  const Clip ref(f, c.width, c.height, clipgen::Role::reference),
      dist(f, c.width, c.height, clipgen::Role::distorted);
  const auto dmabufs = [&](const Clip &clip) { return in_dmabufs(source(clip, c.layout), c.objects); };
  auto plain = make(caps_text(f.name, c.width, c.height), source(ref), source(dist), "features=psnr");
  const auto expected = run(*plain);
  ASSERT_EQ(expected.size(), size_t(kFrames));
  EXPECT_EQ(ways(*plain), (Ways{}));
  EXPECT_EQ(pooled(*plain, "objects-mapped"), 0u);

  for (const auto &text : {caps_text, dmabuf_caps}) {
    const std::string caps = text(f.name, c.width, c.height, 25, 1);
    auto both = make(caps, dmabufs(ref), dmabufs(dist), "features=psnr");
    EXPECT_EQ(run(*both), expected) << caps;
    EXPECT_EQ(ways(*both), (Ways{0, 0, 2 * kFrames, 0, 0})) << caps;
    EXPECT_EQ(pooled(*both, "objects-imported"), 0u);
    EXPECT_EQ(both->out.size(), size_t(kFrames));
  }
  // An altered picture has another score.
  auto same = make(caps_text(f.name, c.width, c.height), dmabufs(ref), dmabufs(ref), "features=psnr");
  const auto best = run(*same);
  EXPECT_GT(std::bit_cast<double>(best[0].back()), std::bit_cast<double>(expected[0].back()));
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, InDmaBufs,
    testing::Values(
        Case{"I420", "I420", 70, 50, {}, {}},
        Case{"LargerObjects", "I420", 70, 50, {}, {.before = 4096, .behind = 100}},
        Case{"NV12", "NV12", 70, 50, {}, {}}, Case{"P010", "P010_10LE", 70, 50, {}, {.before = 64}},
        Case{"Gray", "GRAY8", 66, 50, {}, {}},
        Case{"OddStride", "NV12", 1366, 768, {.stride_padding = 42, .video_meta = true}, {}},
        Case{
            "OffsetPlanes", "I420", 70, 50, {.stride_padding = 26, .plane_gap = 130, .video_meta = true}, {}},
        Case{"AnObjectAPlane", "I420", 70, 50, {.video_meta = true, .split_memories = true}, {.before = 10}},
        Case{"TwoMemories",
             "NV12",
             70,
             50,
             {.stride_padding = 58, .plane_gap = 2, .video_meta = true, .split_memories = true},
             {}},
        Case{"MemoriesOfOneObject",
             "I420_10LE",
             70,
             50,
             {.video_meta = true, .split_memories = true},
             {.one = true, .before = 4098}},
        Case{"WithoutMeta", "I420", 70, 50, {.split_memories = true}, {}}),
    [](const auto &info) { return info.param.name; });

// ---- pools -------------------------------------------------------------------------------------

// Pictures of 64x64, GRAY8.
const GstVideoInfo kStill = video_info("GRAY8", 64, 64);
std::string still_caps(bool feature = false) {
  return feature ? dmabuf_caps("GRAY8", 64, 64) : caps_text("GRAY8", 64, 64);
}
Next still(int frames, bool bad, int first = 0) {
  return [=, n = first]() mutable { return n < frames ? picture(n++, bad) : nullptr; };
}

struct Pool {
  explicit Pool(guint count, const GstVideoInfo &info = kStill) : pool(memfd_pool(info, count)) {}
  ~Pool() {
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
  }
  Pool(const Pool &) = delete;
  Next fill(Next next) const {
    return [next = std::move(next), pool = this->pool] {
      GstBuffer *buffer = next();
      return buffer ? from_pool(pool, buffer) : nullptr;
    };
  }
  GstBufferPool *pool;
};

// Frames come when no more than `ahead` are on their way.
class Pace {
 public:
  void start(Pipeline &pipeline) { pipeline_ = &pipeline; }
  Next keep(Next next, int ahead, std::function<void(int)> at = {}) {
    return [=, this, n = 0]() mutable {
      for (; pipeline_.load() && int(pipeline_.load()->count_out()) + ahead <= n && !over_;) g_usleep(200);
      if (at) at(n);
      ++n;
      return next();
    };
  }
  ~Pace() { over_ = true; }

 private:
  std::atomic<Pipeline *> pipeline_{nullptr};
  std::atomic<bool> over_{false};
};

TEST(Pools, EachObjectIsMappedOnce) {
  constexpr int kMany = 200;
  constexpr guint kBuffers = 6;
  const Pool ref(kBuffers), dist(kBuffers);
  Pace pace;
  std::array<int, 2> descriptors{};
  const auto count = [&](int n) {
    if (n == 50) descriptors[0] = open_descriptors();
    if (n == kMany - 1) descriptors[1] = open_descriptors();
  };
  auto pipeline = make(still_caps(true), pace.keep(ref.fill(still(kMany, false)), 3, count),
                       pace.keep(dist.fill(still(kMany, true)), 3));
  pace.start(*pipeline);
  const auto bits = run(*pipeline);
  ASSERT_EQ(bits.size(), size_t(kMany));
  EXPECT_EQ(bits[1], bits.back());
  EXPECT_EQ(ways(*pipeline), (Ways{0, 0, 2 * kMany, 0, 0}));
  EXPECT_EQ(pooled(*pipeline, "objects-mapped"), 2 * kBuffers);
  EXPECT_EQ(descriptors[0], descriptors[1]);
  EXPECT_GT(descriptors[0], int(2 * 2 * kBuffers));
}

// As with a camera: four buffers, each on both pads.
TEST(Pools, NothingIsCopiedBehindATee) {
  constexpr int kMany = 40;
  const Pool camera(4);
  Pace pace;
  Pipeline pipeline(
      "vmafhip name=v backend=cpu threads=1 ! fakesink name=out async=false sync=false appsrc name=source "
      "is-live=true "
      "caps=" +
      still_caps() + " ! tee name=t ! queue ! v.ref_sink t. ! queue ! v.dist_sink");
  pipeline.feed("source", pace.keep(camera.fill(still(kMany, false)), 2));
  pace.start(pipeline);
  EXPECT_EQ(run(pipeline).size(), size_t(kMany));
  EXPECT_EQ(ways(pipeline), (Ways{0, 0, 2 * kMany, 0, 0}));
  EXPECT_EQ(pooled(pipeline, "objects-mapped"), 4u);  // once for both pads
}

// The partners come ten frames later, and the source has six buffers.
class BehindAnEncoder : public testing::TestWithParam<bool> {};

TEST_P(BehindAnEncoder, IsCopied) {
  constexpr int kMany = 30;
  std::atomic<int> came{0};
  const auto late = [&came](Next next) -> Next {
    return [&came, next, n = 0]() mutable {
      while (came < (n + 10 < kMany ? n + 10 : kMany)) g_usleep(200);
      ++n;
      return next();
    };
  };
  const auto counted = [&came](Next next) -> Next {
    return [&came, next] {
      GstBuffer *buffer = next();
      ++came;
      return buffer;
    };
  };
  auto plain = make(still_caps(), still(kMany, false), still(kMany, true));
  const auto expected = run(*plain);
  const Pool camera(6);
  auto pipeline =
      make(still_caps(GetParam()), counted(camera.fill(still(kMany, false))), late(still(kMany, true)));
  // What leaves under caps of dma-bufs is one.
  std::atomic<int> others{0};
  GstPad *pad = gst_element_get_static_pad(pipeline->get("out"), "sink");
  const auto look = [](GstPad *, GstPadProbeInfo *info, gpointer others) {
    GstMemory *memory = gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
    *static_cast<std::atomic<int> *>(others) += !gst_is_dmabuf_memory(memory);
    return GST_PAD_PROBE_OK;
  };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, look, &others, nullptr);
  gst_object_unref(pad);
  EXPECT_EQ(run(*pipeline), expected);
  EXPECT_GE(pooled(*pipeline, "held-copied"), 5u);
  EXPECT_EQ(pooled(*pipeline, "mapped") + pooled(*pipeline, "held-copied"), guint64(kMany));
  ASSERT_EQ(pipeline->out.size(), size_t(kMany));
  for (size_t n = 0; n < kMany; ++n) EXPECT_EQ(pipeline->out[n].pts, n * kFrame);
  EXPECT_EQ(others > 0, !GetParam());
}
INSTANTIATE_TEST_SUITE_P(Caps, BehindAnEncoder, testing::Bool(),
                         [](const auto &info) { return info.param ? "DmaBuf" : "Plain"; });

bool wait_for(const std::function<bool()> &done) {
  for (int i = 0; i < 20'000 && !done(); ++i) g_usleep(1000);
  return done();
}

// Objects are let go with the pool that they come from, while the element goes on.
TEST(Pools, AreForgottenWhenTheyGo) {
  constexpr int kMany = 20;
  auto old = std::make_unique<Pool>(5);
  const Pool next(4);
  Pace pace;
  Next from_old = old->fill(still(4, false)), from_next = next.fill(still(kMany, false, 4));
  const auto change = [&, n = 0]() mutable -> GstBuffer * {
    if (n < 4) return ++n, from_old();
    if (n == 10) {  // those of the old one have left
      const int before = open_descriptors();
      old.reset();
      EXPECT_TRUE(wait_for([&] { return open_descriptors() <= before - 5 - 4; }))
          << before << " " << open_descriptors();
    }
    ++n;
    return from_next();
  };
  auto pipeline = make(still_caps(), pace.keep(change, 2), pace.keep(still(kMany, true), 2));
  pace.start(*pipeline);
  run(*pipeline);
  EXPECT_EQ(pooled(*pipeline, "mapped"), guint64(kMany));
}

}  // namespace
}  // namespace vmafhip::test
