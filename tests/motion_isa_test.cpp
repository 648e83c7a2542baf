// Motion on every instruction set against the plain one, bit for bit, and what the cut into strips must not change.
#include "engine/arith/motion.h"

#include <string>

#include "tests/isa_run.h"

namespace vmafhip {
namespace {

using namespace test;

MotionSums sum_of(const CpuKernels &kernels, const MotionParams &params, const StoredFrame &frame,
                  Order order = {}) {
  const PlaneView &ref = frame.view.ref[0];
  const auto metric = make_cpu_motion(kernels, params, {ref.width, ref.height, ref.depth, Chroma::c400},
                                      static_cast<int>(frame.view.dist.size()));
  const auto sums = measure_sums<MotionSums>(*metric, frame.view, order);
  for (const MotionSums &other : sums) EXPECT_EQ(other.sad, sums[0].sad) << "reference only";
  return sums[0];
}

void expect_equal(const Luma &earlier, const Luma &current, const Layout &layout = {}) {
  const StoredFrame frame({current, earlier}, {current}, layout);
  const uint64_t want = sum_of(plain_kernels(), {}, frame).sad;
  for (const CpuKernels *kernels : wide_kernels())
    EXPECT_EQ(sum_of(*kernels, {}, frame).sad, want)
        << kernels->isa << ", " << current.width << "x" << current.height << ", depth " << current.depth;
}

TEST(MotionIsa, EverySize) {
  for (int width = 3; width <= 160; ++width)
    for (int depth : {8, 10, 16}) {
      const int height = 3 + width % 9;
      expect_equal(noise(width, height, depth, 1), noise(width, height, depth, 2));
    }
  for (int height = 3; height <= 70; ++height) expect_equal(noise(37, height, 8, 1), noise(37, height, 8, 2));
}

TEST(MotionIsa, EveryDepth) {
  for (int depth = 8; depth <= 16; ++depth) {
    expect_equal(noise(203, 41, depth, 1), noise(203, 41, depth, 2));
    expect_equal(waves(203, 41, depth, 0), waves(203, 41, depth, 3));
  }
}

// The largest differences of either sign, and all that alternate.
TEST(MotionIsa, Stress) {
  for (int depth = 8; depth <= 16; ++depth) {
    const auto pictures = stress_pictures(75, 20, depth);
    for (const Luma &a : pictures)
      for (const Luma &b : pictures) expect_equal(a, b);
  }
}

// Differences of half of the range and one less or more, of either sign, everywhere and in some rows or places alone.
TEST(MotionIsa, DifferencesOfHalfTheRange) {
  for (int depth : {8, 9, 10, 12, 15, 16}) {
    const int half = 1 << (depth - 1);
    for (const int size : {half - 1, half, half + 1})
      for (const int sign : {-1, 1})
        for (const int where : {0, 1, 2}) {
          const int low = (1 << depth) / 4;
          const auto there = [&](int x, int y) {
            return where == 0 || (where == 1 && y % 11 == 5) || (where == 2 && x == 69 && y == 17);
          };
          const Luma a = paint(70, 41, depth, [&](int, int) { return sign > 0 ? low + size : low; });
          const Luma b = paint(70, 41, depth, [&](int x, int y) {
            const int other = sign > 0 ? low : low + size;
            return there(x, y) ? other : sign > 0 ? other + size - 3 : other - size + 3;
          });
          expect_equal(a, b);
        }
  }
}

TEST(MotionIsa, AnyLayout) {
  for (int depth : {8, 10, 16}) {
    const Luma a = noise(71, 45, depth, 3), b = noise(71, 45, depth, 4);
    expect_equal(a, b, {.padding = 26});
    expect_equal(a, b, {.padding = 10, .upside = true});
    if (depth == 8) {
      expect_equal(a, b, {.padding = 3, .offset = 1});
    }
  }
}

TEST(MotionIsa, LargePictures) {
  expect_equal(waves(1920, 1080, 8, 0), waves(1920, 1080, 8, 5));
  expect_equal(waves(1283, 727, 10, 0), waves(1283, 727, 10, 5));
}

TEST(MotionIsa, StripsInAnyOrder) {
  const std::vector<const CpuKernels *> all = all_kernels();
  const StoredFrame frame({waves(1100, 801, 8, 0), waves(1100, 801, 8, 7), waves(1100, 801, 8, 13)},
                          {waves(1100, 801, 8, 1), waves(1100, 801, 8, 2), waves(1100, 801, 8, 3)});
  MotionParams two_back;
  two_back.five_frame_window = true;
  for (const CpuKernels *kernels : all) {
    const uint64_t want = sum_of(*kernels, {}, frame).sad;
    EXPECT_EQ(sum_of(*kernels, {}, frame, {.backwards = true}).sad, want);
    EXPECT_EQ(sum_of(*kernels, {}, frame, {.threads = 4}).sad, want);
    EXPECT_NE(sum_of(*kernels, two_back, frame).sad, want);
    const Rubbish scratch(kernels->motion->scratch_bytes(1100, 801));
    for (int rows : {1, 2, 3, 100}) {
      uint64_t sad = 0;
      for (int first = 0; first < 801; first += rows)
        sad += kernels->motion->sad(frame.view.earlier[0][0], frame.view.ref[0], first,
                                    smaller(first + rows, 801), scratch.get());
      EXPECT_EQ(sad, want) << kernels->isa << ", " << rows;
    }
  }
}

}  // namespace
}  // namespace vmafhip
