// Float VIF on every instruction set against the plain one, bit for bit, and what the cut into strips and further
// distorted pictures must not change. That the sums are right is for vif_float_test.cpp.
#include <string>

#include "engine/arith/vif_float.h"
#include "tests/isa_run.h"

namespace vmafhip {
namespace {

using namespace test;

std::vector<VifFloatSums> sums_of(const CpuKernels &kernels, const VifFloatParams &params,
                                  const StoredFrame &frame, Order order = {}) {
  const PlaneView &luma = frame.view.ref[0];
  const auto metric = make_cpu_vif_float(kernels, params, {luma.width, luma.height, luma.depth, Chroma::c400},
                                         static_cast<int>(frame.view.dist.size()));
  return measure_sums<VifFloatSums>(*metric, frame.view, order);
}

void expect_equal(const Luma &ref, const Luma &dist, const VifFloatParams &params,
                  const Layout &layout = {}) {
  const StoredFrame frame({ref}, {dist}, layout);
  const auto want = sums_of(plain_kernels(), params, frame);
  for (const CpuKernels *kernels : wide_kernels())
    EXPECT_TRUE(same_sums(sums_of(*kernels, params, frame), want))
        << kernels->isa << ", " << ref.width << "x" << ref.height << ", depth " << ref.depth
        << ", kernel scale " << params.kernel_scale << ", noise " << params.noise;
}

TEST(VifFloatIsa, EverySize) {
  for (int width = 16; width <= 86; ++width) {
    const Luma ref = waves(width, 16 + width % 23, width % 2 ? 8 : 10, width);
    expect_equal(ref, distorted_from(ref, static_cast<uint32_t>(width)), {});
  }
  for (int height = 16; height <= 70; ++height) {
    const Luma ref = noise(16 + height % 19, height, height % 2 ? 8 : 12, static_cast<uint32_t>(height));
    expect_equal(ref, distorted_from(ref, 1), {});
  }
}

TEST(VifFloatIsa, EveryOption) {
  VifFloatParams variants[10];
  variants[0].gain_limit = 1;
  variants[1].kernel_scale = 0.5;
  variants[2].kernel_scale = 360.0 / 97;
  variants[3].noise = 0;
  variants[4].noise = 0.4;
  variants[5].skip_scale0 = true;
  for (int i = 6; i < 10; ++i) variants[i].prescale = i % 2 ? 0.6 : 1.7;
  variants[7].prescale_method = FloatScaling::bilinear;
  variants[8].prescale_method = FloatScaling::bicubic;
  variants[9].prescale_method = FloatScaling::lanczos4;
  for (const VifFloatParams &params : variants)
    for (int width : {61, 96, 131}) {
      const Luma ref = waves(width, 75, 8, 3);
      expect_equal(ref, distorted_from(ref, 9), params);
    }
}

TEST(VifFloatIsa, Stress) {
  for (int depth : {8, 16}) {
    const auto pictures = stress_pictures(45, 37, depth);
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) expect_equal(a, b, {});
  }
}

TEST(VifFloatIsa, AnyLayout) {
  for (int depth : {8, 10}) {
    const Luma ref = waves(71, 45, depth, 1), dist = distorted_from(ref, 4);
    expect_equal(ref, dist, {}, {.padding = 26});
    expect_equal(ref, dist, {}, {.padding = 10, .upside = true});
    if (depth == 8) expect_equal(ref, dist, {}, {.padding = 3, .offset = 1});
  }
}

TEST(VifFloatIsa, LargePictures) {
  const Luma ref = waves(643, 411, 8, 0);
  expect_equal(ref, distorted_from(ref, 2), {});
  const Luma wide = waves(5003, 16, 10, 0);
  expect_equal(wide, distorted_from(wide, 2), {});
}

TEST(VifFloatIsa, StripsAndThreads) {
  const Luma ref = waves(203, 395, 8, 0);
  const std::vector<Luma> dists = {distorted_from(ref, 1), noise(203, 395, 8, 2), ref};
  const StoredFrame together({ref}, dists);
  VifFloatParams rescaled;
  rescaled.prescale = 1.25;
  rescaled.prescale_method = FloatScaling::bicubic;
  for (const VifFloatParams &params : {VifFloatParams(), rescaled})
    for (const CpuKernels *kernels : all_kernels()) {
      const auto want = sums_of(*kernels, params, together);
      EXPECT_TRUE(same_sums(sums_of(*kernels, params, together, {.backwards = true}), want)) << kernels->isa;
      EXPECT_TRUE(same_sums(sums_of(*kernels, params, together, {.threads = 4}), want)) << kernels->isa;
      for (size_t d = 0; d < dists.size(); ++d) {
        const StoredFrame alone({ref}, {dists[d]});
        EXPECT_TRUE(same_sums(sums_of(*kernels, params, alone), {want[d]})) << kernels->isa << ", " << d;
      }
      EXPECT_NE(want[0].num[0], want[1].num[0]);
    }
}

// Where strips are cut decides nothing: rows are summed by themselves.
TEST(VifFloatIsa, AnyCut) {
  const Luma ref = waves(83, 121, 8, 0), dist = distorted_from(ref, 1);
  const StoredLuma stored_ref(ref, {}), stored_dist(dist, {});
  const VifFloatTerms terms = vif_float_terms({});
  const FloatFilter filter = vif_float_filter(0, 1), next = vif_float_filter(1, 1);
  for (const CpuKernels *kernels : all_kernels()) {
    const auto sums_at = [&](int rows) {
      const ptrdiff_t half_stride = vif_float_stride(41);
      std::vector<float> num(121), den(121);
      std::vector<float> half(static_cast<size_t>(half_stride) * 60 * 2, -1.0f);
      VifFloatPicture pictures[2];
      pictures[0] = {stored_ref.view(), nullptr, half.data()};
      pictures[1] = {stored_dist.view(), nullptr, half.data() + half_stride * 60};
      const Rubbish scratch(kernels->vif_float->scratch_bytes(83, 8, 1));
      for (int first = 0; first < 121; first += rows)
        kernels->vif_float->measure({83, 121, first, smaller(first + rows, 121), pictures, 1, 0, half_stride,
                                     &filter, &next, &terms, num.data(), den.data(), scratch.get()});
      std::vector<float> all = num;
      all.insert(all.end(), den.begin(), den.end());
      for (int y = 0; y < 120; ++y)
        for (int x = 0; x < 41; ++x) all.push_back(half[static_cast<size_t>(y * half_stride + x)]);
      return all;
    };
    const std::vector<float> want = sums_at(121);
    for (int rows : {2, 6, 16, 34, 100}) EXPECT_EQ(sums_at(rows), want) << kernels->isa << ", " << rows;
  }
}

}  // namespace
}  // namespace vmafhip
