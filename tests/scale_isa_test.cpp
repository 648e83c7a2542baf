// Scaling on every instruction set against the plain one, bit for bit, whatever lies in memory and however.
#include <string>

#include "tests/scale_run.h"

namespace vmafhip {
namespace {

using namespace test;

void expect_equal(const Luma &in, int width, int height, int depth, ScaleMethod method,
                  const Layout &layout = {}) {
  const Luma want = scaled(plain_kernels(), in, width, height, depth, method);
  if (layout.padding || layout.offset || layout.upside) {
    ASSERT_EQ(scaled(plain_kernels(), in, width, height, depth, method, layout).samples, want.samples);
  }
  for (const CpuKernels *kernels : wide_kernels())
    ASSERT_EQ(scaled(*kernels, in, width, height, depth, method, layout).samples, want.samples)
        << kernels->isa << ", " << name_of(method) << ", " << in.width << "x" << in.height << " to " << width
        << "x" << height << ", depth " << in.depth << " to " << depth;
}

TEST(ScaleIsa, EveryWidth) {
  for (const ScaleMethod method : kScaleMethods)
    for (int width = 1; width <= 140; ++width)
      for (const auto &[from, to] : {std::pair{8, 8}, {10, 10}, {16, 16}, {8, 10}}) {
        expect_equal(noise(47, 5, from, uint32_t(width)), width, 7, to, method);
        expect_equal(noise(width, 5, from, uint32_t(width)), 47, 4, to, method);
      }
}

// One input and many, outputs likewise: all ways of filtering a row.
TEST(ScaleIsa, EveryRatio) {
  for (const ScaleMethod method : kScaleMethods)
    for (const int depth : {8, 12})
      for (int in : {1, 2, 3, 31, 64, 100, 127, 128, 200, 256, 257, 260, 400, 640, 1000, 2111})
        for (int out : {33, 64, 97, 128, 200}) {
          if (in > 64 * out) continue;
          expect_equal(noise(in, 3, depth, uint32_t(in + out)), out, 5, depth, method);
          expect_equal(noise(20, in, depth, uint32_t(in + out)), 40, out, depth, method);
        }
}

TEST(ScaleIsa, EveryPairOfDepths) {
  for (const ScaleMethod method : kScaleMethods)
    for (int from = 8; from <= 16; ++from)
      for (int to = from; to <= 16; ++to)
        for (const auto &[width, height] : {std::pair{121, 50}, {121, 30}, {90, 50}, {70, 20}, {90, 30}})
          expect_equal(noise(90, 30, from, uint32_t(from * to)), width, height, to, method);
}

// Black and white as dense as can be, where sums and overshoot are largest.
TEST(ScaleIsa, Stress) {
  for (const ScaleMethod method : kScaleMethods)
    for (int depth = 8; depth <= 16; ++depth)
      for (const Luma &in : stress_pictures(75, 20, depth)) {
        expect_equal(in, 130, 37, depth, method);
        expect_equal(in, 75, 37, depth, method);
        expect_equal(in, 130, 20, depth, method);
        expect_equal(in, 40, 11, 16, method);
        expect_equal(in, 13, 9, depth, method);
      }
}

TEST(ScaleIsa, AnyLayout) {
  for (const int depth : {8, 10}) {
    const Luma in = noise(71, 45, depth, 3);
    expect_equal(in, 100, 80, depth, ScaleMethod::bicubic, {.padding = 26});
    expect_equal(in, 100, 80, depth, ScaleMethod::bicubic, {.padding = 10, .upside = true});
    expect_equal(in, 100, 80, depth, ScaleMethod::bicubic, {.padding = 3, .offset = 1});
  }
}

// High bits of words, interleaved samples: as pictures come, without unpacking first.
TEST(ScaleIsa, WordsShiftedAndInterleaved) {
  const std::vector<const CpuKernels *> all = all_kernels();
  for (const int depth : {8, 10, 12})
    for (const int step : {1, 2, 3})
      for (const int shift : {0, depth > 8 ? 16 - depth : 0}) {
        const Luma in = noise(61, 33, depth, uint32_t(step));
        const size_t bytes = depth > 8 ? 2 : 1;
        std::vector<uint8_t> memory(size_t(61 * 33 * step) * bytes, 0xee);
        for (size_t i = 0; i < in.samples.size(); ++i) {
          const int word = in.samples[i] << shift | ((1 << shift) - 1);
          memory[i * size_t(step) * bytes] = uint8_t(word);
          if (bytes == 2) memory[i * size_t(step) * bytes + 1] = uint8_t(word >> 8);
        }
        Picture picture;
        picture.format = {61, 33, depth, Chroma::c400};
        picture.shift = shift;
        picture.planes[0] = {memory.data(), ptrdiff_t(61 * step) * ptrdiff_t(bytes), 61, 33, step};
        for (const auto &[width, height] : {std::pair{90, 50}, {61, 50}, {90, 33}, {61, 33}}) {
          const Luma want = scaled(plain_kernels(), in, width, height, depth, ScaleMethod::lanczos);
          for (const CpuKernels *kernels : all)
            ASSERT_EQ(scaled(*kernels, picture, Luma(width, height, depth), ScaleMethod::lanczos).samples,
                      want.samples)
                << kernels->isa << " " << depth << " " << step << " " << shift;
        }
      }
}

TEST(ScaleIsa, LargePictures) {
  for (const ScaleMethod method : kScaleMethods) {
    expect_equal(waves(1280, 720, 8, 0), 1920, 1080, 8, method);
    expect_equal(waves(960, 540, 10, 0), 1920, 1080, 10, method);
    expect_equal(waves(1920, 1080, 8, 0), 1280, 720, 10, method);
    expect_equal(waves(1921, 1083, 8, 0), 333, 211, 8, method);
  }
}

TEST(ScaleIsa, StripsInAnyOrder) {
  for (const CpuKernels *kernels : wide_kernels()) {
    const Luma in = waves(211, 131, 8, 0);
    for (const auto &[width, height] : {std::pair{300, 200}, {100, 60}, {211, 200}, {300, 131}}) {
      const Luma want = scaled(plain_kernels(), in, width, height, 8, ScaleMethod::bicubic);
      for (const int rows : {1, 3, 50})
        ASSERT_EQ(scaled(*kernels, in, width, height, 8, ScaleMethod::bicubic, {}, {rows, true}).samples,
                  want.samples);
    }
  }
}

}  // namespace
}  // namespace vmafhip
