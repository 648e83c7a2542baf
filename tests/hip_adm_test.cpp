// ADM on the GPU: sums equal to those of the plain CPU code, bit for bit, whatever the size, depth, options, memory
// layout and batch. Runs with warps of 32 and of 64.
#include <array>
#include <cmath>
#include <string>

#include "engine/arith/adm.h"
#include "engine/hip/hip.h"
#include "kernels/adm_args.h"
#include "tests/adm_pictures.h"
#include "tests/hip_run.h"
#include "tests/isa_run.h"

namespace vmafhip {
namespace {

using namespace test;

PictureFormat format_of(const Luma &luma) { return {luma.width, luma.height, luma.depth, Chroma::c400}; }

AdmSums cpu_sums(const AdmOptions &options, const Luma &ref, const Luma &dist) {
  const auto metric =
      make_cpu_adm(plain_kernels(), {adm_configure(options, ref.width, ref.height)}, format_of(ref), 1);
  const StoredFrame frame({ref}, {dist});
  return measure_sums<AdmSums>(*metric, frame.view)[0];
}

std::string difference(const AdmSums &got, const AdmSums &want) {
  static constexpr const char *kNames[] = {"num", "aim", "den"};
  constexpr size_t kNumbers = sizeof(AdmScaleSums) / sizeof(uint64_t);
  uint64_t a[kAdmScales][kNumbers], b[kAdmScales][kNumbers];
  std::memcpy(a, &got, sizeof got);
  std::memcpy(b, &want, sizeof want);
  for (size_t s = 0; s < kAdmScales; ++s)
    for (size_t i = 0; i < kNumbers; ++i)
      if (a[s][i] != b[s][i])
        return std::string(kNames[i / kAdmBands]) + " of scale " + std::to_string(s) + ", band " +
               std::to_string(i % kAdmBands) + ": " + std::to_string(static_cast<int64_t>(a[s][i])) +
               ", not " + std::to_string(static_cast<int64_t>(b[s][i]));
  return "";
}

struct Pictures {
  Luma ref;
  std::vector<Luma> dist;
};

class AdmHip : public HipTest {
 protected:
  // Sums of a batch, each of all sets of options. All pictures have one format, all frames as many distorted pictures.
  template <class Sums = AdmSums>
  std::vector<std::vector<Sums>> measure(const std::vector<AdmOptions> &sets,
                                         const std::vector<Pictures> &batch, const Layout &layout = {}) {
    const Luma &like = batch[0].ref;
    std::vector<AdmParams> params;
    for (const AdmOptions &options : sets) params.push_back(adm_configure(options, like.width, like.height));
    const auto metric =
        hip::make_hip_adm(*device_, params, format_of(like), static_cast<int>(batch[0].dist.size()));
    std::list<StoredFrame> stored;
    DeviceFrames frames(stream_);
    for (const Pictures &pictures : batch)
      frames.add(stored.emplace_back(std::vector{pictures.ref}, pictures.dist, layout).view);
    return measure_on<Sums>(stream_, *metric, frames.frames());
  }

  void expect_equal(const Luma &ref, const Luma &dist, const AdmOptions &options = {},
                    const Layout &layout = {}) {
    EXPECT_EQ(difference(measure({options}, {{ref, {dist}}}, layout)[0][0], cpu_sums(options, ref, dist)), "")
        << ref.width << "x" << ref.height << ", depth " << ref.depth << ", gain limit " << options.gain_limit;
  }
};

// Options whose arithmetic differs.
std::vector<AdmOptions> variants() {
  std::vector<AdmOptions> out(12);
  out[1].gain_limit = 1;
  out[2].gain_limit = 1.2;
  out[3].gain_limit = 2;
  out[4].gain_limit = 1.0001;
  out[5].gain_limit = 99.99;
  out[6].csf_mode = 2;
  out[7].csf_mode = 3;
  out[7].norm_view_dist = 5;
  out[8].norm_view_dist = 24;
  out[8].ref_display_height = 4320;
  out[9].norm_view_dist = 0.75;
  out[9].ref_display_height = 4320;
  out[10].skip_aim = true;
  out[11].skip_scale0 = true;
  return out;
}

// Strips have 60 columns of a band, or 124: bands of so many, one less and one more, and of all smaller sizes; bands of
// the coarsest scale of three samples and more.
TEST_F(AdmHip, WidthsAroundStrips) {
  std::vector<int> widths;
  for (int width = kAdmMinSize; width <= 72; ++width) widths.push_back(width);
  for (int columns : {60, 120, 124, 248})
    for (int width = 2 * columns - 3; width <= 2 * columns + 3; ++width) widths.push_back(width);
  for (int width : widths) {
    const Luma ref = noise(width, kAdmMinSize + width % 3, width % 2 ? 8 : 10, static_cast<uint32_t>(width));
    expect_equal(ref, distorted_from(ref, 2));
  }
}

TEST_F(AdmHip, Heights) {
  for (int height = kAdmMinSize; height <= 100; ++height) {
    const Luma ref = waves(35, height, height % 2 ? 10 : 8, height);
    expect_equal(ref, distorted_from(ref, 2));
  }
}

// Parts of 6 to 32 rows, many strips.
TEST_F(AdmHip, LargerPictures) {
  for (const auto &[width, height, depth] :
       std::vector<std::tuple<int, int, int>>{{500, 331, 8}, {1283, 77, 10}, {131, 515, 12}, {96, 2050, 8}}) {
    const Luma ref = waves(width, height, depth, 0);
    expect_equal(ref, distorted_from(ref, 5));
  }
}

TEST_F(AdmHip, DepthsAndOptions) {
  for (int depth = 8; depth <= 16; ++depth) {
    const Luma ref = noise(51, 37, depth, 1), wave = waves(51, 37, depth, 0);
    for (const AdmOptions &options : variants()) {
      expect_equal(ref, distorted_from(ref, 2), options);
      expect_equal(wave, distorted_from(wave, 3), options);
    }
    expect_equal(ref, noise(51, 37, depth, 9));
  }
}

// Flat, saturated, ramps, impulses, checkerboards, stripes, full-range noise: all against all, in deeper pictures
// some.
TEST_F(AdmHip, Stress) {
  for (int depth : {8, 10, 16}) {
    std::vector<Luma> pictures = stress_pictures(63, 40, depth);
    const int top = (1 << depth) - 1;
    for (int period : {2, 4, 8, 16})  // extreme contrast at each scale
      pictures.push_back(
          paint(63, 40, depth, [&](int x, int y) { return (x / period + y / period) % 2 ? top : 0; }));
    pictures.push_back(
        paint(63, 40, depth, [&](int x, int y) { return x * 13 % 63 == 5 && y % 9 == 4 ? top : 0; }));
    pictures.push_back(paint(63, 40, depth, [&](int x, int y) { return (3 * x + y) * top / 300; }));
    const size_t count = pictures.size();
    for (size_t i = 0; i < count; ++i)
      for (size_t step = depth == 8 ? 1 : 4; step <= count; step += depth == 8 ? 1 : 4)
        expect_equal(pictures[i], pictures[(i + step) % count]);
    AdmOptions limited;
    limited.gain_limit = 1;
    for (const Luma &dist : pictures) expect_equal(pictures.back(), dist, limited);
  }
}

// Black and white at random: the largest band samples that there are, of either sign. Sums are added thread by thread.
TEST_F(AdmHip, ExtremeNoise) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const int depth = 8 + static_cast<int>(seed % 9), top = (1 << depth) - 1, block = 1 << (seed % 4);
    const Luma ref = black_and_white(80, 60, depth, block, 2 * seed),
               dist = black_and_white(80, 60, depth, block, 2 * seed + 1);
    expect_equal(ref, dist, variants()[seed]);
    expect_equal(ref, paint(80, 60, depth, [&](int x, int y) { return top - ref.at(x, y); }));
  }
}

// Pictures made of a filter's signs reach the largest samples that there are, and sums of products of 63 bits.
TEST_F(AdmHip, LargestSampleOfTheCoarsestScale) {
  AdmOptions options;
  options.csf_mode = 2;
  const auto rows = coarsest_weights(160, 5, kAdmHigh), columns = coarsest_weights(160, 5, kAdmLow);
  for (int depth : {8, 16}) {
    const int top = (1 << depth) - 1;
    const Luma picture = paint(160, 160, depth, [&](int x, int y) {
      return rows[static_cast<size_t>(y)] * columns[static_cast<size_t>(x)] > 0 ? top : 0;
    });
    const Luma flat = paint(160, 160, depth, [&](int, int) { return 1 << (depth - 1); });
    const Luma inverse = paint(160, 160, depth, [&](int x, int y) { return top - picture.at(x, y); });
    for (const Luma &dist : {picture, inverse, flat}) {
      expect_equal(picture, dist, options);
      expect_equal(dist, picture, options);
    }
  }
}

// Planes need not be aligned beyond their samples; rows can lie upside down.
TEST_F(AdmHip, AnyLayout) {
  for (int depth : {8, 10}) {
    const int bytes = depth > 8 ? 2 : 1;
    const Luma ref = noise(130, 37, depth, 3), dist = noise(130, 37, depth, 4);
    for (int padding : {0, 1, 2, 3, 6, 126})
      for (int offset : {0, 1, 2, 3, 4}) {
        const Layout layout = {
            .padding = padding * bytes, .upside = padding % 2 == 0, .offset = offset * bytes};
        expect_equal(ref, dist, {}, layout);
      }
  }
}

// One picture out of line, and all that share its launch are read sample by sample.
TEST_F(AdmHip, LayoutsMayDiffer) {
  const Luma ref = noise(132, 37, 8, 3), dist = noise(132, 37, 8, 4);
  const AdmSums want = cpu_sums({}, ref, dist);
  const auto metric =
      hip::make_hip_adm(*device_, {adm_configure({}, ref.width, ref.height)}, format_of(ref), 1);
  for (int odd = 0; odd < 4; ++odd) {
    std::vector<StoredLuma> stored;
    for (int i = 0; i < 4; ++i)
      stored.emplace_back(i % 2 ? dist : ref, i == odd ? Layout{.padding = 4, .offset = 1} : Layout{});
    DeviceFrames frames(stream_);
    for (size_t f = 0; f < 2; ++f) {
      const Views views = {stored[2 * f + 1].view()};
      FrameView frame;
      frame.ref[0] = stored[2 * f].view();
      frame.dist = {&views, 1};
      frames.add(frame);
    }
    for (const auto &sums : measure_on<AdmSums>(stream_, *metric, frames.frames()))
      EXPECT_EQ(difference(sums[0], want), "");
  }
}

TEST_F(AdmHip, SeveralDistortedPicturesAndBatches) {
  for (int distorted : {1, 3})
    for (int count = 1; count <= 5; ++count) {
      std::vector<Pictures> batch;
      for (int f = 0; f < count; ++f) {
        Pictures pictures = {waves(90, 45, 8, f), {}};
        for (int d = 0; d < distorted; ++d)
          pictures.dist.push_back(d == 1 ? noise(90, 45, 8, static_cast<uint32_t>(f))
                                         : distorted_from(pictures.ref, static_cast<uint32_t>(f + d)));
        batch.push_back(pictures);
      }
      const auto got = measure({AdmOptions()}, batch);
      for (size_t f = 0; f < batch.size(); ++f)
        for (size_t d = 0; d < batch[f].dist.size(); ++d)
          EXPECT_EQ(difference(got[f][d], cpu_sums({}, batch[f].ref, batch[f].dist[d])), "")
              << "frame " << f << " of " << count << ", picture " << d;
    }
}

// More pairs than a launch takes, with a frame that is cut in two.
// Limits that kernels take by twos, and the odd one; sets with the same limit.
TEST_F(AdmHip, SetsOfOptions) {
  constexpr double kSets[][4] = {{100, 1, 100, 1}, {1, 100, 1.2, 1}, {3.7, 1.0001, 2, 1}};
  using OfSets = std::array<AdmSums, std::size(kSets[0])>;
  for (const int depth : {8, 10})
    for (const auto &limits : kSets) {
      std::vector<AdmOptions> sets(std::size(limits));
      for (size_t s = 0; s < sets.size(); ++s) {
        sets[s].gain_limit = limits[s];
        sets[s].skip_aim = limits[0] == 3.7;
      }
      std::vector<Pictures> batch;
      for (int f = 0; f < 2; ++f) {
        const Luma ref = waves(140, 67, depth, f);
        batch.push_back({ref, {distorted_from(ref, 2), black_and_white(140, 67, depth, 2, 5)}});
      }
      const auto got = measure<OfSets>(sets, batch);
      for (size_t f = 0; f < batch.size(); ++f)
        for (size_t d = 0; d < batch[f].dist.size(); ++d)
          for (size_t s = 0; s < sets.size(); ++s)
            EXPECT_EQ(difference(got[f][d][s], cpu_sums(sets[s], batch[f].ref, batch[f].dist[d])), "")
                << "frame " << f << ", picture " << d << ", set " << s << ", limit " << limits[s]
                << ", depth " << depth;
    }
}

TEST_F(AdmHip, MorePairsThanALaunchTakes) {
  for (size_t distorted : {size_t{1}, size_t{7}}) {
    std::vector<Pictures> batch(kMostPairs / distorted + 2, {noise(36, 33, 8, 1), {}});
    for (size_t f = 0; f < batch.size(); ++f) {
      batch[f].ref = noise(36, 33, 8, static_cast<uint32_t>(f));
      for (size_t d = 0; d < distorted; ++d)
        batch[f].dist.push_back(distorted_from(batch[f].ref, static_cast<uint32_t>(f * distorted + d)));
    }
    const auto got = measure({AdmOptions()}, batch);
    for (size_t f = 0; f < batch.size(); ++f)
      for (size_t d = 0; d < distorted; ++d)
        EXPECT_EQ(difference(got[f][d], cpu_sums({}, batch[f].ref, batch[f].dist[d])), "")
            << "frame " << f << ", picture " << d;
  }
}

// Frames may have fewer distorted pictures than there is memory for.
TEST_F(AdmHip, FewerDistortedPictures) {
  const Luma ref = waves(80, 40, 10, 0), dist = distorted_from(ref, 1);
  const auto metric =
      hip::make_hip_adm(*device_, {adm_configure({}, ref.width, ref.height)}, format_of(ref), 3);
  const StoredFrame frame({ref}, {dist});
  const DeviceFrames frames(stream_, {&frame.view, &frame.view});
  for (const auto &sums : measure_on<AdmSums>(stream_, *metric, frames.frames()))
    EXPECT_EQ(difference(sums[0], cpu_sums({}, ref, dist)), "");
}

TEST_F(AdmHip, RowsTooFarApart) {
  const Luma ref = waves(40, 40, 8, 0);
  const auto metric =
      hip::make_hip_adm(*device_, {adm_configure({}, ref.width, ref.height)}, format_of(ref), 1);
  const StoredFrame stored({ref}, {ref});
  const DeviceFrames frames(stream_, {&stored.view});
  hip::DeviceFrame frame = frames.frames()[0];
  const std::vector<hip::DeviceViews> dists = {{DevicePlane{frame.ref[0].data, int64_t{1} << 31}}};
  frame.dist = dists;
  try {
    measure_on<AdmSums>(stream_, *metric, {frame});
    ADD_FAILURE() << "no error";
  } catch (const hip::DeviceError &error) {
    EXPECT_NE(std::string(error.what()).find("2147483648 bytes apart"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace vmafhip
