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

}  // namespace
}  // namespace vmafhip::test
