// Structural similarity on every instruction set against the plain one, bit for bit, and what the cut into strips and
// the number of distorted pictures must not change.
#include "engine/arith/ssim.h"

#include "tests/isa_run.h"
#include "tests/ssim_params.h"

namespace vmafhip {
namespace {

using namespace test;

std::vector<MsSsimSums> sums_of(const CpuKernels &kernels, const SsimParams &params, const StoredFrame &frame,
                                Order order = {}) {
  const PlaneView &ref = frame.view.ref[0];
  const auto metric = make_cpu_ssim(kernels, params, {ref.width, ref.height, ref.depth, Chroma::c400},
                                    static_cast<int>(frame.view.dist.size()));
  return measure_sums<MsSsimSums>(*metric, frame.view, order);
}

void expect_equal(const SsimParams &params, const Luma &a, const Luma &b, const Layout &layout = {}) {
  const StoredFrame frame({a}, {b}, layout);
  const auto want = sums_of(plain_kernels(), params, frame);
  for (const CpuKernels *kernels : wide_kernels())
    EXPECT_TRUE(same_sums(sums_of(*kernels, params, frame), want))
        << kernels->isa << ", " << a.width << "x" << a.height << ", depth " << a.depth << ", factor "
        << params.factor << (params.multi_scale ? ", multi-scale" : "");
}

TEST(SsimIsa, EverySize) {
  for (int width = 11; width <= 160; ++width) {
    const int depth = width % 3 == 0 ? 16 : width % 3 == 1 ? 8 : 10, height = 11 + width % 7;
    const Luma a = noise(width, height, depth, 1);
    expect_equal(single(1), a, distorted_from(a, 2));
  }
  for (int height = 11; height <= 40; ++height) {
    const Luma a = noise(37, height, 8, 1);
    expect_equal(single(1), a, distorted_from(a, 2));
  }
}

TEST(SsimIsa, EveryFactor) {
  for (int factor = 2; factor <= kSsimMaxFactor; ++factor)
    for (int more = 0; more < factor; ++more) {
      const Luma a = noise(17 * factor + more, 12 * factor + more, more % 2 == 0 ? 8 : 12, 3);
      expect_equal(single(factor), a, distorted_from(a, 4));
    }
}

TEST(SsimIsa, EveryWidthOfScales) {
  for (int width = 176; width <= 240; ++width) {
    const Luma a = noise(width, 176 + width % 5, width % 2 == 0 ? 8 : 10, 5);
    expect_equal(multi(true), a, distorted_from(a, 6));
  }
}

// Flat, saturated, alternating.
TEST(SsimIsa, Stress) {
  for (int depth : {8, 12, 16}) {
    const auto pictures = stress_pictures(75, 20, depth);
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) expect_equal(single(1), a, b);
    const auto large = stress_pictures(181, 177, depth);
    for (const Luma &b : large) expect_equal(multi(true), large[0], b);
  }
}

TEST(SsimIsa, AnyLayout) {
  for (int depth : {8, 10}) {
    const Luma a = noise(189, 179, depth, 3), b = distorted_from(a, 4);
    for (const SsimParams &params : {single(1), single(3), multi(true)}) {
      expect_equal(params, a, b, {.padding = 26});
      expect_equal(params, a, b, {.padding = 10, .upside = true});
      if (depth == 8) {
        expect_equal(params, a, b, {.padding = 3, .offset = 1});
      }
    }
  }
}

// Parts that are not asked for are left out; the others stay.
TEST(SsimIsa, PartsDoNotDependOnEachOther) {
  const std::vector<const CpuKernels *> all = all_kernels();
  const Luma a = noise(190, 178, 8, 7);
  const StoredFrame frame({a}, {distorted_from(a, 8)});
  for (const CpuKernels *kernels : all) {
    const SsimSums whole = sums_of(*kernels, single(1), frame)[0].scale[0];
    const SsimSums score = sums_of(*kernels, single(1, false), frame)[0].scale[0];
    EXPECT_EQ(score.lcs, whole.lcs);
    EXPECT_EQ(score.l, 0);
    const MsSsimSums scales = sums_of(*kernels, multi(true), frame)[0],
                     fewer = sums_of(*kernels, multi(false), frame)[0];
    for (int i = 0; i < kMsSsimScales; ++i) {
      EXPECT_EQ(fewer.scale[i].c, scales.scale[i].c);
      EXPECT_EQ(fewer.scale[i].s, scales.scale[i].s);
      EXPECT_EQ(fewer.scale[i].l, i == kMsSsimScales - 1 ? scales.scale[i].l : 0);
    }
    EXPECT_EQ(scales.scale[0].l, whole.l);
    EXPECT_EQ(scales.scale[0].c, whole.c);
    EXPECT_EQ(scales.scale[0].s, whole.s);
  }
}

TEST(SsimIsa, StripsInAnyOrderAndManyPictures) {
  const std::vector<const CpuKernels *> all = all_kernels();
  const Luma a = waves(701, 563, 8, 0);
  const std::vector<Luma> distorted = {waves(701, 563, 8, 1), distorted_from(a, 2), a};
  const StoredFrame frame({a}, distorted);
  for (const SsimParams &params : {single(1), single(2), multi(true)})
    for (const CpuKernels *kernels : all) {
      const auto want = sums_of(*kernels, params, frame);
      EXPECT_TRUE(same_sums(sums_of(*kernels, params, frame, {.backwards = true}), want));
      EXPECT_TRUE(same_sums(sums_of(*kernels, params, frame, {.threads = 4}), want));
      for (size_t d = 0; d < distorted.size(); ++d) {
        const StoredFrame alone({a}, {distorted[d]});
        EXPECT_TRUE(same_sums(sums_of(*kernels, params, alone), {want[d]})) << d;
      }
    }
}

// A frame may have fewer distorted pictures than memory was made for.
TEST(SsimIsa, FewerPicturesThanRoom) {
  const Luma a = noise(200, 190, 8, 1), b = distorted_from(a, 2);
  const StoredFrame frame({a}, {b});
  for (const SsimParams &params : {single(1), single(2), multi(true)}) {
    const auto metric = make_cpu_ssim(plain_kernels(), params, {200, 190, 8, Chroma::c400}, 3);
    EXPECT_TRUE(
        same_sums(measure_sums<MsSsimSums>(*metric, frame.view), sums_of(plain_kernels(), params, frame)));
  }
}

}  // namespace
}  // namespace vmafhip
