// What tests of frames in dma-bufs share: clips, pools, and pipelines that compare them.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "tests/dmabufs.h"
#include "tests/formats.h"
#include "tests/still_clip.h"

namespace vmafhip::test {

using Next = std::function<GstBuffer *()>;
constexpr int kFrames = 2;

inline const FormatCase &format(const std::string &name) {
  return *std::ranges::find_if(kFormats, [&](const FormatCase &f) { return f.name == name; });
}

// Pictures of a pad, made once.
struct Film {
  GstVideoInfo info;
  std::vector<Planes> frames;
  Film(const FormatCase &f, int width, int height, clipgen::Role role, int count = kFrames)
      : info(video_info(f.name, width, height)) {
    const auto generator = clip_for(f, width, height, count);
    for (int n = 0; n < count; ++n) frames.push_back(clip_planes(generator, role, n));
  }
};

inline Next source(const Film &clip, const Layout &layout = {}) {
  return [&clip, layout, n = 0]() mutable -> GstBuffer * {
    if (n == int(clip.frames.size())) return nullptr;
    GstBuffer *buffer = make_buffer(clip.info, clip.frames[size_t(n)], layout);
    return stamp(buffer, n++);
  };
}

inline Next in_dmabufs(Next next, const Objects &objects = {}) {
  return [=]() -> GstBuffer * {
    GstBuffer *buffer = next();
    return buffer ? in_memfds(buffer, objects) : nullptr;
  };
}

inline std::string dmabuf_caps(const char *name, int width, int height, int fps_n = 25, int fps_d = 1) {
  std::string caps = caps_text(name, width, height, fps_n, fps_d);
  return caps.insert(caps.find(','), "(memory:DMABuf)");
}

inline std::unique_ptr<Pipeline> make(const std::string &caps, Next ref, Next dist,
                                      const std::string &properties = "backend=cpu") {
  auto pipeline =
      std::make_unique<Pipeline>("vmafhip name=v threads=2 " + properties +
                                 " ! fakesink name=out async=false appsrc name=ref caps=" + caps +
                                 " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
  pipeline->feed("ref", std::move(ref));
  pipeline->feed("dist", std::move(dist));
  return pipeline;
}

inline std::vector<std::vector<uint64_t>> run(Pipeline &pipeline) {
  EXPECT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  EXPECT_TRUE(pipeline.warnings.empty()) << pipeline.warnings[0];
  return value_bits(pipeline);
}

inline guint64 pooled(const Pipeline &pipeline, const char *name) {
  return pipeline.pooled.empty() ? G_MAXUINT64 : number(pipeline.pooled.back().get(), name);
}

// Pictures by the way they were read: imported, registered, mapped, copied, held-copied.
using Ways = std::array<guint64, 5>;
inline Ways ways(const Pipeline &pipeline) {
  return {pooled(pipeline, "imported"), pooled(pipeline, "registered"), pooled(pipeline, "mapped"),
          pooled(pipeline, "copied"), pooled(pipeline, "held-copied")};
}

// How pictures lie in their objects.
struct Case {
  const char *name, *format;
  int width, height;
  Layout layout;
  Objects objects;
};
inline void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

inline const Case kCases[] = {
    {"I420", "I420", 70, 50, {}, {}},
    {"LargerObjects", "I420", 70, 50, {}, {.before = 4096, .behind = 100}},
    {"NV12", "NV12", 70, 50, {}, {}},
    {"P010", "P010_10LE", 70, 50, {}, {.before = 64}},
    {"Gray", "GRAY8", 66, 50, {}, {}},
    {"OddStride", "NV12", 1366, 768, {.stride_padding = 42, .video_meta = true}, {}},
    {"OffsetPlanes", "I420", 70, 50, {.stride_padding = 26, .plane_gap = 130, .video_meta = true}, {}},
    {"AnObjectAPlane", "I420", 70, 50, {.video_meta = true, .split_memories = true}, {.before = 10}},
    {"TwoMemories",
     "NV12",
     70,
     50,
     {.stride_padding = 58, .plane_gap = 2, .video_meta = true, .split_memories = true},
     {}},
    {"MemoriesOfOneObject",
     "I420_10LE",
     70,
     50,
     {.video_meta = true, .split_memories = true},
     {.one = true, .before = 4098}},
    {"WithoutMeta", "I420", 70, 50, {.split_memories = true}, {}}};

// ---- pools -------------------------------------------------------------------------------------

// Pictures of 64x64, GRAY8.
inline const GstVideoInfo kStill = video_info("GRAY8", 64, 64);
inline std::string still_caps(bool feature = false) {
  return feature ? dmabuf_caps("GRAY8", 64, 64) : caps_text("GRAY8", 64, 64);
}
inline Next still(int frames, bool bad, int first = 0) {
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

// Frames come when no more than `ahead` are on their way, and when the pipeline has stopped.
class Pace {
 public:
  void start(Pipeline &pipeline) { pipeline_ = &pipeline; }
  Next keep(Next next, int ahead, std::function<void(int)> at = {}) {
    return [=, this, n = 0]() mutable {
      for (Pipeline *p; (p = pipeline_) && !p->stopped() && int(p->count_out()) + ahead <= n;) g_usleep(200);
      if (at) at(n);
      ++n;
      return next();
    };
  }

 private:
  std::atomic<Pipeline *> pipeline_{nullptr};
};

}  // namespace vmafhip::test
