// What users of other tools complain of, reproduced; here it must not happen. Further ones: Life.PlayTwice,
// SharedBuffers, Depths, EveryFormat, Errors.UnknownModel, and element_memory_test.
#include <gtest/gtest.h>

#include <bit>
#include <future>
#include <numeric>

#include "tests/numbered.h"

namespace vmafhip::test {
namespace {

constexpr GstClockTime kFrame = 40 * GST_MSECOND;

std::string two_apps(const std::string &settings = "") {
  return "vmafhip name=v " + settings + " ! fakesink name=out appsrc name=ref caps=" + numbered_caps(25, 1) +
         " ! v.ref_sink appsrc name=dist caps=" + numbered_caps(25, 1) + " ! v.dist_sink";
}

// The numbered clip, some frames of it left out or spoilt.
std::function<GstBuffer *()> clip(int count, std::vector<int> left_out = {}, std::vector<int> spoilt = {}) {
  return [=, all = numbered_clip(count, 25, 1), n = 0]() mutable -> GstBuffer * {
    for (;; ++n) {
      GstBuffer *buffer = all();
      if (buffer && std::count(left_out.begin(), left_out.end(), n)) {
        gst_buffer_unref(buffer);
        continue;
      }
      if (std::count(spoilt.begin(), spoilt.end(), n))
        gst_buffer_memset(buffer, 0, 128, gst_buffer_get_size(buffer));
      ++n;
      return buffer;
    }
  };
}

TEST(Complaints, TimeStampOfAnotherFrame) {
  for (const int threads : {1, 4}) {
    Pipeline pipeline(two_apps("threads=" + std::to_string(threads)));
    pipeline.feed("ref", clip(30));
    pipeline.feed("dist", clip(30, {}, {11, 29}));
    ASSERT_EQ(pipeline.run(), "eos");
    ASSERT_EQ(pipeline.frames.size(), 30u);
    for (int i = 0; i < 30; ++i) {
      const GstStructure *s = pipeline.frames[size_t(i)].get();
      EXPECT_EQ(number(s, "timestamp"), guint64(i) * kFrame);
      EXPECT_EQ(number(s, "dist-timestamp"), guint64(i) * kFrame);
      // One of the spoilt picture itself, on its own buffer.
      EXPECT_EQ(real_in(s, "features", "integer_vif_scale0") < 0.5, i == 11 || i == 29) << i;
      EXPECT_EQ(pipeline.out[size_t(i)].pts, guint64(i) * kFrame);
      EXPECT_EQ(pipeline.out[size_t(i)].score_index, i);
    }
  }
}

TEST(Complaints, FirstOrLastFrameMissingWithThreads) {
  for (const int threads : {1, 2, 3, 4, 7, 16})
    for (const int count : {1, 2, 3, 5, 17}) {
      Pipeline pipeline(two_apps("threads=" + std::to_string(threads)));
      pipeline.feed("ref", clip(count));
      pipeline.feed("dist", clip(count));
      ASSERT_EQ(pipeline.run(), "eos");
      ASSERT_EQ(pipeline.frames.size(), size_t(count)) << threads << " threads";
      ASSERT_EQ(pipeline.out.size(), size_t(count));
      for (int i = 0; i < count; ++i) {
        EXPECT_EQ(number(pipeline.frames[size_t(i)].get(), "index"), guint64(i));
        EXPECT_EQ(number(pipeline.frames[size_t(i)].get(), "timestamp"), guint64(i) * kFrame);
        EXPECT_EQ(pipeline.out[size_t(i)].score_index, i);
      }
      ASSERT_EQ(pipeline.pooled.size(), 1u);
      EXPECT_EQ(number(pipeline.pooled[0].get(), "frames"), guint64(count));
    }
}

TEST(Complaints, ScoreOfADroppedFrameTakenFromItsNeighbour) {
  const std::vector<int> lost = {0, 7, 8, 15, 29};
  Pipeline pipeline(two_apps());
  pipeline.feed("ref", clip(30));
  pipeline.feed("dist", clip(30, lost));
  Witness witness(pipeline);
  ASSERT_EQ(pipeline.run(), "eos");
  witness.expect_true_pairs();
  EXPECT_EQ(pipeline.frames.size(), 25u);
  ASSERT_EQ(pipeline.out.size(), 30u);
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(pipeline.out[size_t(i)].score_index<0, std::count(lost.begin(), lost.end(), i)> 0) << i;
}

TEST(Complaints, TwoAnalysesAtOnce) {
  const auto scores = [](int i) {
    const std::string models[] = {"vmaf_v0.6.1", "vmaf_4k_v0.6.1", "vmaf_v0.6.1neg|vmaf_v0.6.1"};
    Pipeline pipeline(two_apps("threads=" + std::to_string(1 + i % 3) + " model=" + models[i % 3]));
    pipeline.feed("ref", clip(20 + i));
    pipeline.feed("dist", clip(20 + i, {}, {i}));
    EXPECT_EQ(pipeline.run(), "eos");
    std::vector<guint64> bits;
    for (const StructurePtr &s : pipeline.frames)
      bits.push_back(std::bit_cast<guint64>(real(s.get(), "score")));
    EXPECT_EQ(bits.size(), size_t(20 + i));
    return bits;
  };
  for (const int count : {2, 8}) {
    std::vector<std::future<std::vector<guint64>>> together;
    for (int i = 0; i < count; ++i) together.push_back(std::async(std::launch::async, scores, i));
    for (int i = 0; i < count; ++i) EXPECT_EQ(together[size_t(i)].get(), scores(i)) << i << " of " << count;
  }
}

// What was scored until the application stopped is still told, though no end of the stream ever came.
TEST(Complaints, ResultsLostWithoutEos) {
  Pipeline pipeline(two_apps());
  pipeline.feed("ref", clip(kMostNumbered));
  pipeline.feed("dist", clip(kMostNumbered, {}, {3, 9}));
  ASSERT_TRUE(pipeline.play());
  ASSERT_EQ(pipeline.wait_until([&] { return pipeline.frames.size() >= 20; }), "done");
  ASSERT_EQ(gst_element_set_state(pipeline.element(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  pipeline.wait_until([] { return true; });  // the rest of the bus
  double sum = 0;
  for (const StructurePtr &s : pipeline.frames) sum += real(s.get(), "score");
  const double mean = sum / double(pipeline.frames.size());
  for (const bool null : {false, true}) {
    if (null) pipeline.stop();
    EXPECT_EQ(counter(pipeline, "scored"), pipeline.frames.size());
    GstStructure *stats = nullptr;
    g_object_get(pipeline.get("v"), "stats", &stats, nullptr);
    EXPECT_NEAR(real(stats, "pooled-score"), mean, 1e-9);
    EXPECT_EQ(real(stats, "last-score"), real(pipeline.frames.back().get(), "score"));
    gst_structure_free(stats);
  }
}

// A distorted stream that begins later in the recording: what has no partner is left out, and no source fails.
TEST(Complaints, InternalDataStreamErrorForALateStart) {
  std::vector<int> first;
  for (int i = 0; i < 750; ++i) first.push_back(i);
  for (const bool dist_late : {true, false}) {
    Pipeline pipeline(two_apps());
    pipeline.feed(dist_late ? "ref" : "dist", clip(800));
    pipeline.feed(dist_late ? "dist" : "ref", clip(800, first));
    ASSERT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
    EXPECT_TRUE(pipeline.errors.empty());
    ASSERT_EQ(pipeline.frames.size(), 50u);
    EXPECT_EQ(number(pipeline.frames[0].get(), "timestamp"), 750 * kFrame);
    EXPECT_EQ(counter(pipeline, dist_late ? "ref-unmatched" : "dist-unmatched"), 750u);
  }
}

// One that begins later on the clock: it is waited for.
TEST(Complaints, InternalDataStreamErrorForASlowStart) {
  Pipeline pipeline(two_apps());
  std::promise<void> waits;
  pipeline.feed("ref", clip(40));
  pipeline.feed("dist", [all = clip(40), n = 0, until = waits.get_future().share()]() mutable {
    if (n++ == 0) until.wait();
    return all();
  });
  ASSERT_TRUE(pipeline.play());
  EXPECT_EQ(pipeline.wait_until([&] { return counter(pipeline, "ref-queue-frames") >= 30; }), "done");
  waits.set_value();
  EXPECT_EQ(pipeline.wait(), "eos");
  EXPECT_EQ(pipeline.frames.size(), 40u);
  EXPECT_TRUE(pipeline.warnings.empty());
}

}  // namespace
}  // namespace vmafhip::test
