// Frames in dma-bufs (memfds in their place): the scores of system memory in every bit, no copies, each object mapped
// once, and what is said when something is wrong with one.
#include <gst/allocators/allocators.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/dmabuf_run.h"

namespace vmafhip::test {
namespace {

// ---- where planes lie --------------------------------------------------------------------------

class InDmaBufs : public testing::TestWithParam<Case> {};

TEST_P(InDmaBufs, ScoresAreThoseOfSystemMemory) {
  const Case &c = GetParam();
  const FormatCase &f = format(c.format);
  const Film ref(f, c.width, c.height, clipgen::Role::reference),
      dist(f, c.width, c.height, clipgen::Role::distorted);
  const auto dmabufs = [&](const Film &clip) { return in_dmabufs(source(clip, c.layout), c.objects); };
  auto plain =
      make(caps_text(f.name, c.width, c.height), source(ref), source(dist), "backend=cpu features=psnr");
  const auto expected = run(*plain);
  ASSERT_EQ(expected.size(), size_t(kFrames));
  EXPECT_EQ(ways(*plain), (Ways{}));
  EXPECT_EQ(pooled(*plain, "objects-mapped"), 0u);

  for (const auto &text : {caps_text, dmabuf_caps}) {
    const std::string caps = text(f.name, c.width, c.height, 25, 1);
    auto both = make(caps, dmabufs(ref), dmabufs(dist), "backend=cpu features=psnr");
    EXPECT_EQ(run(*both), expected) << caps;
    EXPECT_EQ(ways(*both), (Ways{0, 0, 2 * kFrames, 0, 0})) << caps;
    EXPECT_EQ(pooled(*both, "objects-imported"), 0u);
    EXPECT_EQ(both->out.size(), size_t(kFrames));
  }
  // An altered picture has another score.
  auto same =
      make(caps_text(f.name, c.width, c.height), dmabufs(ref), dmabufs(ref), "backend=cpu features=psnr");
  const auto best = run(*same);
  EXPECT_GT(std::bit_cast<double>(best[0].back()), std::bit_cast<double>(expected[0].back()));
}

INSTANTIATE_TEST_SUITE_P(Layouts, InDmaBufs, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.name); });

// ---- pools -------------------------------------------------------------------------------------

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
  std::unique_ptr<Pipeline> pipeline;
  const auto late = [&](Next next) -> Next {
    return [&, next, n = 0]() mutable {
      while (came < (n + 10 < kMany ? n + 10 : kMany) && !pipeline->stopped()) g_usleep(200);
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
  pipeline =
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

// What a test that fails in mid-run leaves behind: feeders that wait for frames which never leave.
TEST(Pools, PaceEndsWithThePipeline) {
  Pace pace;
  auto pipeline = make(still_caps(), pace.keep(still(1, false), 0), pace.keep(still(1, true), 0));
  pace.start(*pipeline);
  ASSERT_TRUE(pipeline->play());
}

// What was made anew for each frame has no pool that tells.
TEST(Pools, AreForgottenWhenOtherMemoryComes) {
  constexpr int kMany = 200, kDmaBufs = 10;
  std::array<int, 2> descriptors{};
  const auto count = [&](int n) {
    if (n == kDmaBufs + 10) descriptors[0] = open_descriptors();
    if (n == kMany - 1) descriptors[1] = open_descriptors();
  };
  const auto first_dmabufs = [](Next next) -> Next {
    return [next, n = 0]() mutable {
      GstBuffer *buffer = next();
      return n++ < kDmaBufs ? in_memfds(buffer) : buffer;
    };
  };
  Pace pace;
  auto pipeline = make(still_caps(), pace.keep(first_dmabufs(still(kMany, false)), 3, count),
                       pace.keep(first_dmabufs(still(kMany, true)), 3));
  pace.start(*pipeline);
  run(*pipeline);
  EXPECT_EQ(pooled(*pipeline, "mapped"), 2u * kDmaBufs);
  EXPECT_EQ(descriptors[0] - descriptors[1], 2 * kDmaBufs);
}

// Memory that is made anew for each frame, as some decoders do: descriptors have the same numbers again and again.
TEST(Pools, AreNotNeeded) {
  constexpr int kMany = 12;
  const Film ref(format("I420"), 66, 50, clipgen::Role::reference, kMany),
      dist(format("I420"), 66, 50, clipgen::Role::distorted, kMany);
  const std::string caps = caps_text("I420", 66, 50);
  auto plain = make(caps, source(ref), source(dist));
  const auto expected = run(*plain);
  Pace pace;
  auto pipeline = make(caps, pace.keep(in_dmabufs(source(ref)), 3), pace.keep(in_dmabufs(source(dist)), 3));
  pace.start(*pipeline);
  EXPECT_EQ(run(*pipeline), expected);
  EXPECT_EQ(pooled(*pipeline, "objects-mapped"), 2u * kMany);
}

// ---- other ways through the element --------------------------------------------------------------

TEST(DmaBufs, OneOfTwo) {
  const FormatCase &f = format("NV12");
  const Film ref(f, 70, 50, clipgen::Role::reference), dist(f, 70, 50, clipgen::Role::distorted);
  const std::string caps = caps_text("NV12", 70, 50);
  const auto expected = run(*make(caps, source(ref), source(dist)));
  auto pipeline = make(caps, in_dmabufs(source(ref)), source(dist));
  EXPECT_EQ(run(*pipeline), expected);
  EXPECT_EQ(ways(*pipeline), (Ways{0, 0, kFrames, 0, 0}));
}

TEST(DmaBufs, AreCropped) {
  const FormatCase &f = format("P010_10LE");
  const Film ref(f, 80, 60, clipgen::Role::reference), dist(f, 80, 60, clipgen::Role::distorted);
  const std::string caps = caps_text("P010_10LE", 80, 60);
  const auto scores = [&](bool dmabufs) {
    const auto pad = [&](const Film &clip) -> Next {
      return [next = source(clip), dmabufs] {
        GstBuffer *buffer = next();
        if (!buffer) return buffer;
        add_crop_meta(buffer, {3, 5, 72, 50});
        return dmabufs ? in_memfds(buffer, {.before = 100}) : buffer;
      };
    };
    auto pipeline = make(caps, pad(ref), pad(dist), "backend=cpu ref_sink::crop-top=4 dist_sink::crop-top=4");
    return run(*pipeline);
  };
  const auto expected = scores(false);
  ASSERT_EQ(expected.size(), size_t(kFrames));
  EXPECT_EQ(scores(true), expected);
}

// Signatures are made of them, and each is read twice.
TEST(DmaBufs, ContentFindsTheOffset) {
  constexpr int kMany = 60, kShift = 7;
  const FormatCase &f = format("GRAY8");
  const Film ref(f, 96, 64, clipgen::Role::reference, kMany),
      dist(f, 96, 64, clipgen::Role::distorted, kMany);
  const auto late = [&](bool dmabufs) -> Next {
    return [next = dmabufs ? in_dmabufs(source(dist)) : source(dist), n = kShift]() mutable {
      GstBuffer *buffer = next();
      return buffer ? stamp(buffer, n++) : buffer;
    };
  };
  const auto all = [&](bool dmabufs) {
    auto pipeline = make(caps_text("GRAY8", 96, 64), dmabufs ? in_dmabufs(source(ref)) : source(ref),
                         late(dmabufs), "backend=cpu sync=content sync-window=1000000000");
    EXPECT_EQ(pipeline->run(), "eos");
    EXPECT_NEAR(double(signed_number(pipeline->pooled.back().get(), "offset")), -kShift * 4e7, 1e6);
    return value_bits(*pipeline);
  };
  const auto expected = all(false);
  EXPECT_GT(expected.size(), 10u);
  EXPECT_EQ(all(true), expected);
}

// ---- what goes wrong ---------------------------------------------------------------------------

// `make_wrong` spoils frame 1 of dist_sink: the error names the pad, and these words.
void expect_error(const std::function<GstBuffer *()> &make_wrong, const std::vector<std::string> &words) {
  auto pipeline =
      make(still_caps(), still(3, false), [&, next = in_dmabufs(still(3, true)), n = 0]() mutable {
        return n++ == 1 ? stamp(make_wrong(), 1) : next();
      });
  EXPECT_EQ(pipeline->run(), "error");
  ASSERT_FALSE(pipeline->errors.empty());
  expect_words(pipeline->errors[0], {"dist_sink"});
  expect_words(pipeline->errors[0], words);
  EXPECT_EQ(pipeline->frames.size(), 1u);  // what came before counts
}

GstBuffer *of_memories(std::initializer_list<GstMemory *> memories) {
  GstBuffer *buffer = gst_buffer_new();
  for (GstMemory *memory : memories) gst_buffer_append_memory(buffer, memory);
  return buffer;
}
GstBuffer *of_memory(GstMemory *memory) { return of_memories({memory}); }

TEST(WrongDmaBufs, ClosedDescriptor) {
  static constexpr int kNobodys = 987;  // so that no other file gets the number
  expect_error(
      [] {
        const int fd = memfd(64 * 64);
        EXPECT_EQ(::dup2(fd, kNobodys), kNobodys);
        ::close(fd);
        GstAllocator *allocator = gst_dmabuf_allocator_new();
        GstMemory *memory = gst_dmabuf_allocator_alloc_with_flags(allocator, kNobodys, 64 * 64,
                                                                  GST_FD_MEMORY_FLAG_DONT_CLOSE);
        gst_object_unref(allocator);
        ::close(kNobodys);
        return of_memory(memory);
      },
      {"file descriptor 987", "must stay open"});
}

TEST(WrongDmaBufs, ObjectTooSmall) {
  expect_error([] { return of_memory(dmabuf_memory(memfd(1000), 64 * 64)); }, {"4096 bytes", "has 1000"});
}

// Where no plane begins, and which GStreamer maps to put the picture together.
TEST(WrongDmaBufs, ObjectInTheMiddleTooSmall) {
  constexpr int kSize = 256;
  constexpr gsize kBytes = kSize * kSize * 3 / 2;
  const auto picture = [](gsize middle, int n) {
    return stamp(of_memories({dmabuf_memory(memfd(1000), 1000), dmabuf_memory(memfd(middle), 60'000),
                              dmabuf_memory(memfd(kBytes - 61'000), kBytes - 61'000)}),
                 n);
  };
  const auto film = [&](gsize last) -> Next {
    return [=, n = 0]() mutable {
      GstBuffer *buffer = n < 2 ? picture(n == 1 ? last : 60'000, n) : nullptr;
      ++n;
      return buffer;
    };
  };
  const std::string caps = caps_text("I420", kSize, kSize);
  EXPECT_EQ(run(*make(caps, film(60'000), film(60'000))).size(), 2u);
  auto pipeline = make(caps, film(60'000), film(100));
  EXPECT_EQ(pipeline->run(), "error");
  ASSERT_FALSE(pipeline->errors.empty());
  expect_words(pipeline->errors[0], {"dist_sink", "60000 bytes", "has 100"});
}

TEST(WrongDmaBufs, ObjectBesideSystemMemoryTooSmall) {
  expect_error(
      [] {
        return of_memories(
            {gst_allocator_alloc(nullptr, 32 * 64, nullptr), dmabuf_memory(memfd(10), 32 * 64)});
      },
      {"2048 bytes", "has 10"});
}

// Of other producers' allocators.
TEST(WrongDmaBufs, FileTooSmall) {
  expect_error(
      [] {
        GstAllocator *allocator = gst_fd_allocator_new();
        GstMemory *memory = gst_fd_allocator_alloc(allocator, memfd(10), 64 * 64, GST_FD_MEMORY_FLAG_NONE);
        gst_object_unref(allocator);
        return of_memory(memory);
      },
      {"4096 bytes", "has 10"});
}

TEST(WrongDmaBufs, MemoryTooSmall) {
  expect_error(
      [] {
        GstMemory *memory = dmabuf_memory(memfd(64 * 64), 64 * 64);
        gst_memory_resize(memory, 10, 64 * 64 - 10);
        return of_memory(memory);
      },
      {"plane 0", "beyond its memory"});
}

TEST(WrongDmaBufs, PlaneOutside) {
  expect_error(
      [] {
        GstBuffer *buffer = of_memory(dmabuf_memory(memfd(64 * 64), 64 * 64));
        gsize offset[] = {1 << 20};
        gint stride[] = {64};
        gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 64, 64, 1,
                                       offset, stride);
        return buffer;
      },
      {"plane 0", "begins at byte 1048576 of 4096"});
}

// A frame that would have to be copied is looked at first: reading beyond an object's end is fatal.
TEST(WrongDmaBufs, AreNotCopied) {
  auto pipeline = make(
      still_caps(),
      [n = 0]() mutable -> GstBuffer * {
        return n < 40 ? stamp(of_memory(dmabuf_memory(memfd(1000), 64 * 64)), n++) : nullptr;
      },
      [n = 0]() mutable -> GstBuffer * {
        if (n++ == 0) g_usleep(300'000);  // meanwhile the others are too many
        return n == 1 ? picture(0, true) : nullptr;
      });
  EXPECT_EQ(pipeline->run(), "error");
  ASSERT_FALSE(pipeline->errors.empty());
  expect_words(pipeline->errors[0], {"ref_sink", "has 1000"});
}

// ---- endings -----------------------------------------------------------------------------------

TEST(Endings, LeaveNoDescriptor) {
  const int before = open_descriptors();
  for (const bool stop : {false, true}) {
    const Pool ref(8), dist(8);
    auto pipeline = make(still_caps(true), ref.fill(still(1000, false)), dist.fill(still(1000, true)));
    ASSERT_TRUE(pipeline->play());
    pipeline->wait_until([&] { return pipeline->count_out() >= 5; });
    if (!stop) {
      gst_element_send_event(pipeline->get("v"), gst_event_new_eos());
      EXPECT_EQ(pipeline->wait(), "eos");
      EXPECT_EQ(pooled(*pipeline, "scored"), pipeline->frames.size());
    }
    gst_buffer_pool_set_active(ref.pool, FALSE);  // whoever waits for a buffer goes on
    gst_buffer_pool_set_active(dist.pool, FALSE);
    pipeline->stop();
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace vmafhip::test
