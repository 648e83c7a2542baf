// Properties that choose what is computed: `subsample` and `features`.
#include <gtest/gtest.h>

#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

std::string pair_of(int frames, const std::string &settings) {
  const std::string caps = caps_text("I420", 64, 64), n = std::to_string(frames);
  return "vmafhip name=v " + settings + " ! fakesink name=out videotestsrc pattern=ball num-buffers=" + n +
         " ! " + caps +
         " ! v.ref_sink videotestsrc pattern=ball background-color=0xff202020 num-buffers=" + n + " ! " +
         caps + " ! v.dist_sink";
}

TEST(Subsample, ScoresAreThoseOfTheSameFramesWithoutIt) {
  Pipeline full(pair_of(11, ""));
  ASSERT_EQ(full.run(), "eos");
  Pipeline some(pair_of(11, "subsample=3"));
  ASSERT_EQ(some.run(), "eos");
  ASSERT_EQ(some.frames.size(), 4u);
  for (guint64 i = 0; i < 4; ++i) {
    const GstStructure *s = some.frames[i].get(), *expected = full.frames[3 * i].get();
    EXPECT_EQ(number(s, "index"), i);
    for (const char *field : {"frame-number", "timestamp", "running-time", "dist-timestamp"})
      EXPECT_EQ(number(s, field), number(expected, field)) << field;
    EXPECT_EQ(real(s, "score"), real(expected, "score"));
    EXPECT_EQ(real_in(s, "features", "integer_motion2"), real_in(expected, "features", "integer_motion2"));
  }
  // All frames leave; those in between without meta.
  ASSERT_EQ(some.out.size(), 11u);
  for (size_t n = 0; n < 11; ++n) EXPECT_EQ(some.out[n].score_index, n % 3 ? -1 : gint64(n / 3)) << n;
  ASSERT_EQ(some.pooled.size(), 1u);
  const GstStructure *pooled = some.pooled[0].get();
  EXPECT_EQ(number(pooled, "frames"), 4u);
  EXPECT_EQ(number(pooled, "compared"), 11u);
  EXPECT_EQ(number(pooled, "scored"), 4u);
  double sum = 0;
  for (const auto &frame : some.frames) sum += real(frame.get(), "score");
  EXPECT_EQ(real(pooled, "score"), sum / 4);
}

// Frames in between wait for nothing: all but the last scored one's leave although no further frame has come.
TEST(Subsample, FramesInBetweenDoNotWait) {
  Pipeline pipeline(
      "vmafhip name=v subsample=4 ! fakesink name=out sync=false "
      "appsrc name=ref format=time caps=" +
      caps_text("I420", 64, 64) + " ! v.ref_sink " +
      "appsrc name=dist format=time caps=" + caps_text("I420", 64, 64) + " ! v.dist_sink");
  const clipgen::Generator clip("natural-blur", clipgen::Format{64, 64, 4, 8});
  const GstVideoInfo info = video_info("I420", 64, 64);
  for (const char *name : {"ref", "dist"})
    for (int n = 0; n < 4; ++n) {
      const auto role = name[0] == 'r' ? clipgen::Role::reference : clipgen::Role::distorted;
      GstBuffer *buffer = make_buffer(info, clip_planes(clip, role, n));
      GST_BUFFER_PTS(buffer) = GstClockTime(n) * 40 * GST_MSECOND;
      GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
      GstFlowReturn flow;
      g_signal_emit_by_name(pipeline.get(name), "push-buffer", buffer, &flow);
      gst_buffer_unref(buffer);
    }
  ASSERT_TRUE(pipeline.play());
  EXPECT_EQ(pipeline.wait_until([&] { return pipeline.count_out() == 4; }), "done");
  pipeline.stop();
  ASSERT_EQ(pipeline.frames.size(), 1u);
  EXPECT_EQ(pipeline.out[0].score_index, 0);
}

TEST(Subsample, BeginsAnewWithTheStream) {
  Pipeline pipeline(pair_of(5, "subsample=100"));
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(pipeline.run(), "eos");
    EXPECT_EQ(pipeline.frames.size(), 1u);
    pipeline.stop();
    pipeline.forget();
  }
}

TEST(Features, JoinThoseOfTheModels) {
  Pipeline plain(pair_of(3, "")), more(pair_of(3, "features=motion=motion_five_frame_window=true"));
  ASSERT_EQ(plain.run(), "eos");
  ASSERT_EQ(more.run(), "eos");
  ASSERT_EQ(more.frames.size(), 3u);
  EXPECT_EQ(real(more.frames[1].get(), "score"), real(plain.frames[1].get(), "score"));
  EXPECT_GE(real_in(more.frames[2].get(), "features", "integer_motion2_mffw"), 0);
}

TEST(Features, DoWithoutAModel) {
  Pipeline pipeline(pair_of(3, "model=\"\" features=vif|motion"));
  ASSERT_EQ(pipeline.run(), "eos");
  ASSERT_EQ(pipeline.frames.size(), 3u);
  for (const auto &frame : pipeline.frames)
    EXPECT_EQ(real(frame.get(), "score"), real_in(frame.get(), "features", "integer_vif_scale0"));
  ASSERT_EQ(pipeline.pooled.size(), 1u);
  EXPECT_EQ(real(pipeline.pooled[0].get(), "score"),
            pooled_in(pipeline.pooled[0].get(), "features", "integer_vif_scale0", "mean"));
}

TEST(Features, UnknownOnesAreAnErrorThatListsThem) {
  for (const auto &[setting, expected] :
       std::map<std::string, std::string>{{"features=viff", "vif"},
                                          {"features=vif=debuk=true", "debug"},
                                          {"model=\"\"", "nothing to compute"}}) {
    Pipeline pipeline(pair_of(1, setting));
    EXPECT_EQ(pipeline.run(), "error");
    ASSERT_EQ(pipeline.errors.size(), 1u) << setting;
    EXPECT_NE(pipeline.errors[0].find(expected), std::string::npos) << pipeline.errors[0];
  }
}

}  // namespace
}  // namespace vmafhip::test
