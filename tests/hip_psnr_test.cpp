// psnr, float_psnr and float_moment on the GPU: sums equal to those of the plain CPU code, bit for bit.
#include "tests/hip_colours.h"

namespace vmafhip {
namespace {

using namespace test;

class PsnrHip : public HipColours {
 protected:
  void expect_all_equal(const std::vector<Frame> &batch, const Layout &layout = {}) {
    for (const int planes : {1, 3}) {
      if (planes == 3 && batch[0].ref.format.chroma == Chroma::c400) continue;
      expect_equal(
          "psnr", [=](auto &device, auto &f, int n) { return hip::make_hip_psnr(device, planes, f, n); },
          [=](auto &k, auto &f, int n) { return make_cpu_psnr(k, planes, f, n); }, batch, layout);
    }
    expect_equal("float_psnr", hip::make_hip_float_psnr, make_cpu_float_psnr, batch, layout);
    expect_equal("float_moment", hip::make_hip_moment, make_cpu_moment, batch, layout);
  }
};

// Rows of any number of chunks and samples left over; any number of rows in the last group.
TEST_F(PsnrHip, Sizes) {
  int height = 1;
  for (const int width : {1, 2, 7, 15, 16, 17, 31, 33, 64, 127, 255, 511, 512, 513, 527, 1023, 1025, 1100})
    for (const int depth : {8, 10, 12, 16}) {
      const PictureFormat format = {width, height = height % 37 + 1, depth, Chroma::c444};
      expect_all_equal({{noise(format, 1), {noise(format, 2)}}});
    }
}

TEST_F(PsnrHip, Chroma) {
  for (const Chroma chroma : {Chroma::c400, Chroma::c420, Chroma::c422, Chroma::c444})
    for (const int depth : {8, 16}) {
      const PictureFormat format = {101, 71, depth, chroma};
      const Colours ref = noise(format, 1);
      expect_all_equal({{ref, {disturbed(ref, 5 << (depth - 8), 2)}}});
    }
}

// The largest differences in the longest rows, and numbers beyond the depth, which nothing forbids a stream to have.
TEST_F(PsnrHip, Extremes) {
  for (const int depth : {8, 10, 12, 16}) {
    const PictureFormat format = {32768, 5, depth, Chroma::c420};
    const int top = (1 << depth) - 1;
    const Colours black = plain(format, 0, 0, top), white = plain(format, top, top, 0);
    expect_all_equal({{black, {white, black}}});
    if (depth > 8) {
      const PictureFormat narrow = {75, 40, depth, Chroma::c422};
      const Colours beyond =
          paint(narrow, [](int p, int x, int y) { return (x * 7919 + y * 31 + p) & 65535; });
      expect_all_equal({{beyond, {noise(narrow, 1), beyond}}});
    }
  }
}

TEST_F(PsnrHip, Layouts) {
  for (const int depth : {8, 10, 16}) {
    const PictureFormat format = {71, 33, depth, Chroma::c420};
    const std::vector<Frame> frame = {{noise(format, 3), {noise(format, 4)}}};
    expect_all_equal(frame, {.padding = 26});
    expect_all_equal(frame, {.padding = 10, .upside = true});
    expect_all_equal(frame, {.padding = 2, .offset = 2});
    if (depth == 8) expect_all_equal(frame, {.padding = 9, .offset = 1});
  }
}

// More planes than a launch takes; several distorted pictures, in some frames fewer than in others.
TEST_F(PsnrHip, Batches) { expect_all_equal(uneven_batch({67, 37, 8, Chroma::c420}, 23)); }

}  // namespace
}  // namespace vmafhip
