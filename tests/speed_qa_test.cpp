// speed_qa: an evaluation by the book with the C library's logarithm, every instruction set, strips, and what it reads.
#include "engine/arith/speed_qa.h"

#include <cmath>

#include "tests/speed_run.h"

namespace vmafhip {
namespace {

using namespace test;

double book_entropy(int width, int height, const std::function<double(int, int)> &value) {
  const double window[] = {558, 4504, 15754, 23903, 15754, 4504, 558};
  double weights = 0, total = 0;
  for (double a : window)
    for (double b : window) weights += a * b;
  for (int by = 0; by < height / 7; ++by)
    for (int bx = 0; bx < width / 7; ++bx) {
      double mean = 0, square = 0;
      for (int y = 0; y < 7; ++y)
        for (int x = 0; x < 7; ++x) {
          const double v = value(7 * bx + x, 7 * by + y), weight = window[y] * window[x] / weights;
          mean += weight * v;
          square += weight * v * v;
        }
      total += 0.5 * (2.0471975511965977 + std::log2(std::max(square - mean * mean, 0.0) + 1));
    }
  return total / ((width / 7) * (height / 7));
}

std::vector<double> book(const std::vector<Colours> &pictures) {
  const PictureFormat &f = pictures[0].format;
  const double scale = f.depth > 8 ? 255.0 / ((1 << f.depth) - 1) : 1;
  std::vector<double> scores;
  for (size_t n = 0; n < pictures.size(); ++n) {
    const Luma &now = pictures[n].planes[0];
    double score = book_entropy(f.width, f.height, [&](int x, int y) { return now.at(x, y) * scale; });
    if (n > 0) {
      const Luma &before = pictures[n - 1].planes[0];
      score += book_entropy(f.width, f.height, [&](int x, int y) {
        return std::trunc((now.at(x, y) - before.at(x, y)) * scale);
      });
    }
    scores.push_back(score);
  }
  return scores;
}

TEST(SpeedQa, EqualsTheBook) {
  for (int depth : {8, 9, 10, 12, 16})
    for (const auto &[width, height] :
         std::vector<std::pair<int, int>>{{7, 7}, {13, 9}, {64, 50}, {201, 33}}) {
      const PictureFormat format = {width, height, depth, Chroma::c420};
      ColourClip clip;
      for (uint32_t n = 0; n < 3; ++n) clip.dist.push_back(noise(format, n));
      clip.dist.push_back(plain(format, 1, 1, 1));
      clip.dist.push_back(disturbed(clip.dist.back(), 3, 5));
      clip.ref = std::vector<Colours>(clip.dist.size(), plain(format, 0, 0, 0));
      const auto want = book(clip.dist), scores = run_colours("speed_qa", {}, clip).at("speed_qa");
      ASSERT_EQ(scores.size(), want.size());
      for (size_t n = 0; n < want.size(); ++n) EXPECT_NEAR(scores[n], want[n], 1e-13 * want[n]) << depth;
    }
}

// A block without variance counts as half the constant, and so does a difference of none.
TEST(SpeedQa, FlatPictures) {
  const PictureFormat format = {50, 40, 8, Chroma::c420};
  const Colours grey = plain(format, 90, 0, 0);
  const auto scores = run_colours("speed_qa", {}, {{grey, grey}, {grey, grey}}).at("speed_qa");
  EXPECT_NEAR(scores[0], kSpeedQaEntropy / 2, 1e-12);
  EXPECT_NEAR(scores[1], kSpeedQaEntropy, 1e-12);
}

TEST(SpeedQa, LayoutDoesNotMatter) {
  for (int depth : {8, 10}) {
    const PictureFormat format = {95, 63, depth, Chroma::c420};
    const ColourClip clip = {{noise(format, 1), noise(format, 2)}, {noise(format, 3), noise(format, 4)}};
    const Scores want = run_colours("speed_qa", {}, clip);
    EXPECT_EQ(run_colours("speed_qa", {}, clip, {.padding = 6, .upside = true}), want);
    if (depth == 8) {
      EXPECT_EQ(run_colours("speed_qa", {}, clip, {.padding = 3, .offset = 1}), want);
    }
  }
}

TEST(SpeedQa, EveryInstructionSet) {
  const Extractor &e = extractor("speed_qa");
  for (int width = 7; width <= 160; width += width < 70 ? 1 : 13)
    for (int depth : {8, 10, 16}) {
      const PictureFormat format = {width, 7 + width % 23, depth, Chroma::c420};
      const ColourClip clip = {{noise(format, 1), noise(format, 2)}, {noise(format, 3), noise(format, 4)}};
      const StoredPair frame(clip, 1);
      const auto want = measure_colours(e, *make_cpu_speed_qa(plain_kernels(), format, 1), frame.view);
      for (const CpuKernels *kernels : wide_kernels())
        EXPECT_EQ(measure_colours(e, *make_cpu_speed_qa(*kernels, format, 1), frame.view), want)
            << kernels->isa << ", " << width << ", depth " << depth;
    }
}

TEST(SpeedQa, StripsAndPictures) {
  const PictureFormat format = {1300, 700, 8, Chroma::c420};
  const Extractor &e = extractor("speed_qa");
  const std::vector<Colours> dists = {noise(format, 2), noise(format, 3), plain(format, 9, 9, 9)};
  const StoredColours frame(dists[0], dists);
  const auto metric = CpuBackend::choose()->make(e, parse(e, {}), format, 3);
  EXPECT_GT(metric->strips(0), 6);
  const auto want = measure_colours(e, *metric, frame.view);
  EXPECT_EQ(measure_colours(e, *metric, frame.view, {.backwards = true}), want);
  EXPECT_EQ(measure_colours(e, *metric, frame.view, {.threads = 4}), want);
  for (size_t d = 0; d < dists.size(); ++d) {
    const StoredColours alone(dists[0], {dists[d]});
    EXPECT_EQ(measure_colours(e, *metric, alone.view)[0], want[d]) << d;
  }
}

TEST(SpeedQa, ReadsNoReference) {
  const Extractor &e = extractor("speed_qa");
  const Reads reads = e.reads(parse(e, {}));
  EXPECT_EQ(reads.ref, 0);
  EXPECT_EQ(reads.earlier[0], 0);
  EXPECT_TRUE(e.temporal(parse(e, {})));
  EXPECT_TRUE(e.check(parse(e, {}), {7, 7, 8, Chroma::c400}).ok());
  EXPECT_FALSE(e.check(parse(e, {}), {6, 7, 8, Chroma::c420}).ok());
}

}  // namespace
}  // namespace vmafhip
