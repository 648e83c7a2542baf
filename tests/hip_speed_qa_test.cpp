// speed_qa on the GPU: sums equal to those of the plain CPU code, bit for bit. Runs with warps of 32 and of 64.
#include "tests/hip_clip.h"

namespace vmafhip {
namespace {

using namespace test;

class SpeedQaHip : public HipClips {
 protected:
  void expect_clip(const PictureFormat &format, int distorted, size_t count, const Layout &layout = {}) {
    expect_equal_clip(
        "speed_qa",
        [](const hip::Device &d, const PictureFormat &f, int n) { return hip::make_hip_speed_qa(d, f, n); },
        [](const CpuKernels &k, const PictureFormat &f, int n) { return make_cpu_speed_qa(k, f, n); }, format,
        distorted, count, layout);
  }
};

// Of the least size, and around the blocks of samples that a block of threads takes.
TEST_F(SpeedQaHip, Sizes) {
  for (const auto &[width, height] : std::vector<std::pair<int, int>>{
           {7, 7}, {13, 20}, {14, 13}, {48, 49}, {889, 15}, {895, 7}, {896, 8}, {903, 14}, {1799, 7}})
    expect_clip({width, height, 8, Chroma::c420}, 1, 2);
}

TEST_F(SpeedQaHip, DepthsAndLayouts) {
  for (int depth = 8; depth <= 16; ++depth) {
    const PictureFormat format = {93, 40, depth, Chroma::c444};
    const int word = depth > 8 ? 2 : 1;
    expect_clip(format, 1, 2);
    expect_clip(format, 1, 2, {.padding = 5 * word});
    expect_clip(format, 1, 2, {.padding = 3 * word, .upside = true});
  }
}

// More pictures than a launch takes.
TEST_F(SpeedQaHip, Batches) {
  expect_clip({30, 22, 8, Chroma::c420}, 1, 70);
  expect_clip({30, 22, 10, Chroma::c420}, 5, 14);
}

}  // namespace
}  // namespace vmafhip
