// Float motion on every instruction set against the plain one, bit for bit, and what the cut into strips must not
// change. That the sums are right is for motion_float_test.cpp.
#include "engine/arith/motion_float.h"
#include "tests/isa_run.h"

namespace vmafhip {
namespace {

using namespace test;

MotionFloatSums sum_of(const CpuKernels &kernels, const MotionFloatParams &params, const StoredFrame &frame,
                       Order order = {}) {
  const PlaneView &ref = frame.view.ref[0];
  const auto metric = make_cpu_motion_float(kernels, params, {ref.width, ref.height, ref.depth, Chroma::c400},
                                            static_cast<int>(frame.view.dist.size()));
  const auto sums = measure_sums<MotionFloatSums>(*metric, frame.view, order);
  for (const MotionFloatSums &other : sums) EXPECT_TRUE(same_sums<MotionFloatSums>({other}, {sums[0]}));
  return sums[0];
}

void expect_equal(const Luma &earlier, const Luma &current, const MotionFloatParams &params = {},
                  const Layout &layout = {}) {
  const StoredFrame frame({current, earlier}, {current}, layout);
  const MotionFloatSums want = sum_of(plain_kernels(), params, frame);
  for (const CpuKernels *kernels : wide_kernels())
    EXPECT_TRUE(same_sums<MotionFloatSums>({sum_of(*kernels, params, frame)}, {want}))
        << kernels->isa << ", " << current.width << "x" << current.height << ", depth " << current.depth
        << ", filter " << params.filter_size << (params.add_scale1 ? ", two sizes" : "");
}

std::vector<MotionFloatParams> variants() {
  std::vector<MotionFloatParams> all(4);
  all[1].filter_size = 1;
  all[2].filter_size = 3;
  all[3].add_scale1 = true;
  return all;
}

TEST(MotionFloatIsa, EverySize) {
  for (const MotionFloatParams &params : variants()) {
    for (int width = 3; width <= 86; ++width) {
      const int depth = width % 2 ? 8 : 10, height = 3 + width % 37;
      expect_equal(noise(width, height, depth, 1), noise(width, height, depth, 2), params);
    }
    for (int height = 3; height <= 70; ++height)
      expect_equal(noise(37, height, 8, 1), noise(37, height, 8, 2), params);
  }
}

TEST(MotionFloatIsa, Stress) {
  for (int depth : {8, 12, 16}) {
    const auto pictures = stress_pictures(75, 20, depth);
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) expect_equal(a, b);
  }
}

TEST(MotionFloatIsa, AnyLayout) {
  for (int depth : {8, 10, 16}) {
    const Luma a = noise(71, 45, depth, 3), b = noise(71, 45, depth, 4);
    expect_equal(a, b, {}, {.padding = 26});
    expect_equal(a, b, {}, {.padding = 10, .upside = true});
    if (depth == 8) expect_equal(a, b, {}, {.padding = 3, .offset = 1});
  }
}

TEST(MotionFloatIsa, LargePictures) {
  expect_equal(waves(1920, 1080, 8, 0), waves(1920, 1080, 8, 5));
  expect_equal(waves(643, 411, 10, 0), waves(643, 411, 10, 5), variants()[2]);
}

TEST(MotionFloatIsa, StripsInAnyOrder) {
  const std::vector<const CpuKernels *> all = all_kernels();
  const StoredFrame frame({waves(211, 401, 8, 0), waves(211, 401, 8, 7)},
                          {waves(211, 401, 8, 1), waves(211, 401, 8, 2), waves(211, 401, 8, 3)});
  for (const MotionFloatParams &params : variants())
    for (const CpuKernels *kernels : all) {
      const MotionFloatSums want = sum_of(*kernels, params, frame);
      EXPECT_TRUE(same_sums<MotionFloatSums>({sum_of(*kernels, params, frame, {.backwards = true})}, {want}));
      EXPECT_TRUE(same_sums<MotionFloatSums>({sum_of(*kernels, params, frame, {.threads = 4})}, {want}));
    }
}

// Where strips are cut decides nothing: rows are summed by themselves.
TEST(MotionFloatIsa, AnyCut) {
  const StoredFrame frame({waves(83, 101, 8, 0), waves(83, 101, 8, 7)}, {waves(83, 101, 8, 1)});
  const FloatFilter filter = motion_float_filter(5);
  const std::vector<const CpuKernels *> all = all_kernels();
  for (const CpuKernels *kernels : all) {
    const auto sums_at = [&](int rows) {
      std::vector<float> sums(101);
      const Rubbish scratch(kernels->motion_float->scratch_bytes(83));
      for (int first = 0; first < 101; first += rows)
        kernels->motion_float->measure({frame.view.earlier[0][0],
                                        frame.view.ref[0],
                                        83,
                                        101,
                                        first,
                                        smaller(first + rows, 101),
                                        &filter,
                                        sums.data(),
                                        {},
                                        0,
                                        scratch.get()});
      return sums;
    };
    const std::vector<float> want = sums_at(101);
    for (int rows : {1, 2, 3, 16, 50}) EXPECT_EQ(sums_at(rows), want) << kernels->isa << ", " << rows;
  }
}

}  // namespace
}  // namespace vmafhip
