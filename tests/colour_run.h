// For the tests of metrics that read all planes: pictures in colour, and a metric run over them on any instruction set.
#pragma once
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "engine/view.h"
#include "tests/isa_run.h"

namespace vmafhip::test {

// Y, U, V; chroma of odd sizes is rounded up.
struct Colours {
  PictureFormat format;
  std::vector<Luma> planes;
};

// Fills with function(plane, x, y), coordinates of the plane.
template <class Function>
Colours paint(const PictureFormat &format, Function function) {
  Colours out{format, {}};
  for (int p = 0; p < 3; ++p) {
    const PlaneSize size = plane_size(format, p);
    out.planes.push_back(
        paint(size.width, size.height, format.depth, [&](int x, int y) { return function(p, x, y); }));
  }
  return out;
}

inline Colours noise(const PictureFormat &format, uint32_t seed) {
  Noise source(seed);
  return paint(format, [&](int, int, int) { return source.below(1 << format.depth); });
}

inline Colours plain(const PictureFormat &format, int y, int u, int v) {
  const int values[] = {y, u, v};
  return paint(format, [&](int p, int, int) { return values[p]; });
}

// Moves each sample by less than `most`.
inline Colours disturbed(const Colours &from, int most, uint32_t seed) {
  Noise source(seed);
  const int top = (1 << from.format.depth) - 1;
  return paint(from.format, [&](int p, int x, int y) {
    const int sample = from.planes[static_cast<size_t>(p)].at(x, y) + source.below(2 * most - 1) - most + 1;
    return std::clamp(sample, 0, top);
  });
}

// Frame n of a clip at 8 or 10 bits of which libvmaf's and its fork's figures are known to 12 digits: 576x432, 4:2:0, a
// sawtooth with noise in every other square of 64x64, coarsely quantised in the distorted picture.
struct CheckPair {
  Colours ref, dist;
};
inline CheckPair check_pair(int depth, int n) {
  const auto value = [=](bool distorted, int p, int x, int y) {
    const uint32_t a = static_cast<uint32_t>((3 * x + 2 * y + 8 * n + 50 * p) >> 2) & 255;
    const uint32_t t = a < 128 ? 2 * a : 510 - 2 * a;
    uint32_t q = (static_cast<uint32_t>(x) * 73856093u) ^ (static_cast<uint32_t>(y) * 19349663u) ^
                 (static_cast<uint32_t>(n + 1) * 83492791u) ^ (static_cast<uint32_t>(p + 1) * 2654435761u);
    q ^= q >> 13;
    q *= 0x5bd1e995u;
    q ^= q >> 15;
    const bool on = ((x >> 6) + (y >> 6)) & 1;
    const uint32_t r = 16 + ((200 * t) >> 8) + (on ? (q & 15) >> 1 : 0);
    const uint32_t wide = 4 * r + (on ? (q >> 16) & 3 : 0);
    if (depth == 8) return static_cast<int>(distorted ? 4 * (r >> 2) + (on ? (q >> 8) & 3 : 1) : r);
    return static_cast<int>(distorted ? 16 * (wide >> 4) + (on ? (q >> 20) & 7 : 4) : wide);
  };
  const PictureFormat format = {576, 432, depth, Chroma::c420};
  const auto picture = [&](bool distorted) {
    return paint(format, [&](int p, int x, int y) { return value(distorted, p, x, y); });
  };
  return {picture(false), picture(true)};
}

// A frame in memory: a reference and distorted pictures.
struct StoredColours {
  std::vector<std::unique_ptr<StoredLuma>> memory;
  std::vector<Views> dist;
  FrameView view;

  StoredColours(const Colours &ref, const std::vector<Colours> &dists, const Layout &layout = {}) {
    const auto store = [&](const Colours &picture) {
      Views views;
      for (size_t p = 0; p < 3; ++p) {
        memory.push_back(std::make_unique<StoredLuma>(picture.planes[p], layout));
        views[p] = memory.back()->view();
      }
      return views;
    };
    view.ref = store(ref);
    for (const Colours &picture : dists) dist.push_back(store(picture));
    view.dist = dist;
  }
  StoredColours(const StoredColours &) = delete;
};

// Sums of each distorted picture.
inline std::vector<Bytes> measure_colours(const Extractor &extractor, const Metric &metric,
                                          const FrameView &frame, Order order = {}) {
  return measure_bytes(metric, frame, extractor.sums_bytes, extractor.add_sums, order);
}

// The one score of an extractor that has one and looks at nothing but the frame.
inline double score_colours(const Extractor &extractor, const OptionTexts &texts, const Colours &ref,
                            const Colours &dist, const Layout &layout = {}) {
  const Options options = parse(extractor, texts);
  const StoredColours frame(ref, {dist}, layout);
  const auto metric = CpuBackend::choose()->make(extractor, options, ref.format);
  const Bytes sums = measure_colours(extractor, *metric, frame.view)[0];
  double score = -12345;
  extractor.make_scorer(options, ref.format)->add(0, sums.data(), [&](int output, uint64_t, double value) {
    EXPECT_EQ(output, 0);
    score = value;
  });
  return score;
}

inline void expect_layout_does_not_matter(const Extractor &extractor) {
  for (int depth : {8, 10}) {
    const PictureFormat format = {91, 23, depth, Chroma::c420};
    const Colours ref = noise(format, 1), dist = noise(format, 2);
    const auto score = [&](const Layout &layout) { return score_colours(extractor, {}, ref, dist, layout); };
    EXPECT_EQ(score({.padding = 14}), score({}));
    EXPECT_EQ(score({.padding = 6, .upside = true}), score({}));
    if (depth == 8) EXPECT_EQ(score({.padding = 3, .offset = 1}), score({}));
  }
}

// A metric of each instruction set must give what the plain one gives, in every byte.
using MakeMetric =
    std::function<std::unique_ptr<Metric>(const CpuKernels &, const PictureFormat &, int distorted)>;

inline void expect_equal_colours(const Extractor &extractor, const MakeMetric &make, const Colours &ref,
                                 const std::vector<Colours> &dists, const Layout &layout = {}) {
  const StoredColours frame(ref, dists, layout);
  const PictureFormat &f = ref.format;
  const int distorted = static_cast<int>(dists.size());
  const auto want = measure_colours(extractor, *make(plain_kernels(), f, distorted), frame.view);
  for (const CpuKernels *kernels : wide_kernels())
    EXPECT_EQ(measure_colours(extractor, *make(*kernels, f, distorted), frame.view), want)
        << kernels->isa << ", " << f.width << "x" << f.height << ", depth " << f.depth << ", chroma "
        << static_cast<int>(f.chroma);
}

}  // namespace vmafhip::test
