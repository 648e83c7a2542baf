// Banding on the GPU: means equal to those of the plain CPU code, bit for bit, whatever the size, depth, options, memory
// layout, batch and number of pictures. Runs with warps of 32 and of 64.
#include <string>

#include "engine/extractors/extractors.h"
#include "engine/hip/hip.h"
#include "tests/cambi_pictures.h"
#include "tests/hip_run.h"
#include "tests/isa_run.h"

namespace vmafhip {
namespace {

using namespace test;

const OptionTexts kFull = {{"full_ref", "true"}};
// The reference takes the same way as the distorted picture: now and then is enough.
OptionTexts some_full(int n) { return n % 4 == 1 ? kFull : OptionTexts(); }

struct Frame {
  Luma ref;
  std::vector<Luma> dist;
};

// As for high resolutions: the first scale has half the target's size.
const OptionTexts kHalf = {{"cambi_high_res_speedup", "1080"}};

CambiParams params_of(const Luma &luma, const OptionTexts &texts) {
  CambiParams params =
      cambi_params(parse(extractor("cambi"), texts), {luma.width, luma.height, luma.depth, Chroma::c400});
  params.half |= texts.contains("cambi_high_res_speedup");  // of small pictures, too
  return params;
}

class CambiHip : public HipTest {
 protected:
  using Sums = std::vector<std::vector<CambiSums>>;

  Sums measure(const std::vector<Frame> &clip, const OptionTexts &texts, const Layout &layout = {}) {
    const Luma &first = clip[0].dist[0];
    const CambiParams params = params_of(first, texts);
    const auto metric = hip::make_hip_cambi(*device_, params, {}, static_cast<int>(clip[0].dist.size()));
    std::list<StoredFrame> stored;
    DeviceFrames frames(stream_);
    for (const Frame &frame : clip) {
      FrameView view = stored.emplace_back(std::vector{frame.ref}, frame.dist, layout).view;
      if (!params.full_ref) view.ref = {};  // nobody has it on the device
      frames.add(view);
    }
    return measure_on<CambiSums>(stream_, *metric, frames.frames());
  }

  static Sums cpu(const std::vector<Frame> &clip, const OptionTexts &texts) {
    Sums sums;
    for (const Frame &frame : clip) {
      const StoredFrame stored({frame.ref}, frame.dist);
      const auto metric = make_cpu_cambi(plain_kernels(), params_of(frame.ref, texts), {},
                                         static_cast<int>(frame.dist.size()));
      sums.push_back(measure_sums<CambiSums>(*metric, stored.view));
    }
    return sums;
  }

  void expect_equal(const std::vector<Frame> &clip, const OptionTexts &texts = {},
                    const Layout &layout = {}) {
    const Sums want = cpu(clip, texts), got = measure(clip, texts, layout);
    ASSERT_EQ(got.size(), want.size());
    for (size_t f = 0; f < want.size(); ++f) {
      ASSERT_EQ(got[f].size(), want[f].size());
      for (size_t d = 0; d < want[f].size(); ++d)
        for (int s = 0; s < kCambiScales; ++s) {
          const Luma &ref = clip[f].ref;
          const std::string where = std::to_string(ref.width) + "x" + std::to_string(ref.height) +
                                    ", depth " + std::to_string(ref.depth) + ", scale " + std::to_string(s) +
                                    ", frame " + std::to_string(f) + ", picture " + std::to_string(d);
          EXPECT_TRUE(same(got[f][d].enc[s], want[f][d].enc[s]))
              << got[f][d].enc[s] << " for " << want[f][d].enc[s] << ", " << where;
          EXPECT_TRUE(same(got[f][d].src[s], want[f][d].src[s]))
              << got[f][d].src[s] << " for " << want[f][d].src[s] << " of the reference, " << where;
        }
    }
  }
  static bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }
};

Frame frame(int width, int height, int depth, uint32_t seed) {
  return {patchwork(width, height, depth, seed), {patchwork(width, height, depth, seed + 1)}};
}

// The pictures have banding at all.
TEST_F(CambiHip, HasBanding) {
  const std::vector<Frame> clip = {frame(333, 217, 8, 1)};
  const auto sums = cpu(clip, {});
  for (const double mean : sums[0][0].enc) EXPECT_GT(mean, 0);
}

// Around the columns and rows that blocks take, and the least ones of the last scale.
TEST_F(CambiHip, Sizes) {
  for (int width : {216, 217, 223, 224, 225, 241, 255, 256, 257, 289, 320})
    expect_equal({frame(width, 1 + width % 13, width % 2 ? 8 : 10, 1)}, some_full(width));
  for (int width : {1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65})
    expect_equal({frame(width, 216 + width % 3, 8, 3)}, some_full(width));
}

TEST_F(CambiHip, Depths) {
  for (int depth = 8; depth <= 16; ++depth) expect_equal({frame(230, 25, depth, 5)}, some_full(depth));
}

// Also samples beyond the depth's range.
TEST_F(CambiHip, Extremes) {
  for (int depth : {8, 12, 16})
    for (const Luma &picture : stress_pictures(221, 11, depth)) expect_equal({{picture, {picture}}}, {});
  for (int code : {0, 1, 64, 1023, 1024, 65535}) {
    const Luma flat = paint(230, 40, 10, [&](int x, int) { return x < 100 ? 500 : code; });
    expect_equal({{flat, {flat}}}, {{"tvi_threshold", "0.0001"}});
  }
}

TEST_F(CambiHip, LayoutDoesNotMatter) {
  for (int depth : {8, 10})
    for (const Layout &layout : odd_layouts(depth)) expect_equal({frame(260, 21, depth, 7)}, kFull, layout);
}

TEST_F(CambiHip, Options) {
  const std::vector<Frame> clip = {frame(270, 53, 8, 9)};
  for (const OptionTexts &texts : std::vector<OptionTexts>{
           {{"max_log_contrast", "0"}},
           {{"max_log_contrast", "1"}},
           {{"max_log_contrast", "5"}, {"tvi_threshold", "0.001"}},
           {{"window_size", "127"}, {"max_log_contrast", "3"}, {"eotf", "pq"}},
           {{"window_size", "15"}},
           {{"topk", "0.0001"}},
           {{"topk", "0.05"}, {"tvi_threshold", "0.005"}},
           {{"topk", "1"}},
           {{"cambi_vis_lum_threshold", "1"}},
           {{"cambi_vis_lum_threshold", "300"}, {"tvi_threshold", "1"}},
           {{"enc_bitdepth", "10"}},
       }) {
    SCOPED_TRACE(texts.begin()->first + "=" + texts.begin()->second);
    expect_equal(clip, texts);
  }
}

// Pictures are scaled first.
TEST_F(CambiHip, TargetSizes) {
  const std::vector<Frame> narrow = {frame(241, 156, 8, 9)}, deep = {frame(251, 157, 10, 9)};
  const OptionTexts smaller = {{"enc_width", "240"}, {"enc_height", "151"}},
                    both = {{"enc_width", "217"}, {"enc_height", "150"}, {"full_ref", "true"}},
                    larger = {{"src_width", "320"}, {"src_height", "200"}, {"full_ref", "true"}};
  expect_equal(narrow, smaller);
  expect_equal(narrow, larger);
  expect_equal(deep, smaller);
  expect_equal(deep, both);
}

// Windows up to the widest.
TEST_F(CambiHip, WideWindows) {
  for (const auto &[window, size] : std::vector<std::pair<int, int>>{{65, 1540}, {127, 1580}, {127, 3060}}) {
    expect_equal({frame(size, 6, 8, 11)}, {{"window_size", std::to_string(window)}});
    expect_equal({frame(5, size, 8, 13)}, {{"window_size", std::to_string(window)}});
  }
}

TEST_F(CambiHip, HalvedFirst) {
  for (int width : {216, 217, 255, 256, 257, 258}) expect_equal({frame(width, 1 + width % 40, 8, 15)}, kHalf);
  for (int height : {255, 256, 257, 258}) expect_equal({frame(height % 9, height, 10, 17)}, kHalf);
}

TEST_F(CambiHip, BatchesAndPictures) {
  std::vector<Frame> clip;
  for (uint32_t f = 0; f < 12; ++f)
    clip.push_back({patchwork(216, 3, 8, f), {patchwork(216, 3, 8, f + 40), patchwork(216, 3, 8, f + 80)}});
  clip[3].dist[1] = clip[3].ref;
  for (size_t f = 0; f < 22; ++f) clip.push_back(Frame(clip[f / 2]));
  static_assert(34 > kMostPairs && 2 * 34 > 2 * kMostPairs);
  expect_equal(clip, kFull);
}

}  // namespace
}  // namespace vmafhip
