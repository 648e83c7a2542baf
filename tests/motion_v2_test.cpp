// motion_v2 against the figures of the fork of libvmaf that has it, on the golden clips, to the last bit.
#include <bit>

#include "engine/session.h"
#include "tests/clip_picture.h"
#include "tests/golden.h"
#include "tests/metric_run.h"

namespace vmafhip {
namespace {

using namespace test;

Luma luma_of(const Picture &picture) {
  const Plane &plane = picture.planes[0];
  return paint(plane.width, plane.height, picture.format.depth, [&](int x, int y) {
    const auto *row = static_cast<const uint8_t *>(plane.data) + y * plane.stride;
    if (picture.format.depth == 8) return static_cast<int>(row[x]);
    uint16_t word;
    std::memcpy(&word, row + 2 * x, 2);
    return static_cast<int>(word);
  });
}

TEST(MotionV2, EqualsTheFork) {
  const char *names[] = {"VMAF_integer_feature_motion_v2_sad_score", "VMAF_integer_feature_motion2_v2_score",
                         "VMAF_integer_feature_motion3_v2_score"};
  int compared = 0;
  for (const std::string &name : golden::case_names()) {
    const golden::Golden &golden = golden::load(name);
    if (!golden.has("fork") || !golden.run("fork").scores.count(names[0])) continue;
    SCOPED_TRACE(name);
    const clipgen::Generator generator = generator_of(golden.parameters());
    std::vector<Luma> ref;
    for (int i = 0; i < generator.format().frames; ++i)
      ref.push_back(luma_of(to_picture(generator.format(), generator.frame(clipgen::Role::reference, i))));
    const Scores scores = run("motion_v2", {}, ref, ref);
    EXPECT_EQ(scores.size(), std::size(names));
    for (const char *score : names) {
      const std::vector<double> &want = golden.score("fork", score);
      ASSERT_EQ(scores.at(score).size(), want.size());
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(std::bit_cast<uint64_t>(scores.at(score)[i]), std::bit_cast<uint64_t>(want[i]))
            << score << " of frame " << i;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(MotionV2, IsMotionUnderOtherNames) {
  const std::vector<Luma> ref = formula_refs(4, 10);
  const OptionTexts texts = {{"motion_moving_average", "true"}, {"motion_blend_factor", "0.5"}};
  const Scores v2 = run("motion_v2", texts, ref, ref), motion = run("motion", texts, ref, ref);
  EXPECT_EQ(v2.at("VMAF_integer_feature_motion2_v2_score_mbf_0.5_mma"),
            motion.at("integer_motion2_mbf_0.5_mma"));
  EXPECT_EQ(v2.at("VMAF_integer_feature_motion3_v2_score_mbf_0.5_mma"),
            motion.at("integer_motion3_mbf_0.5_mma"));
}

TEST(MotionV2, HasNoFiveFrameWindow) {
  const Extractor &e = extractor("motion_v2");
  EXPECT_TRUE(e.check(parse(e, {})).ok());
  const Status refused = e.check(parse(e, {{"motion_five_frame_window", "true"}}));
  EXPECT_EQ(refused.code(), Code::unsupported);
  EXPECT_EQ(refused.message(), "motion_v2 has no motion_five_frame_window; extractor motion has");
}

}  // namespace
}  // namespace vmafhip
