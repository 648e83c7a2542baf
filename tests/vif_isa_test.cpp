// VIF on every instruction set against the plain one, bit for bit, and what the cut into strips, further distorted
// pictures and chroma must not change. That the sums are right is for vif_test.cpp.
#include <array>
#include <string>

#include "engine/arith/vif.h"
#include "tests/isa_run.h"

namespace vmafhip {
namespace {

using namespace test;

std::vector<VifSums> sums_of(const CpuKernels &kernels, const VifParams &params, const StoredFrame &frame,
                             Chroma chroma = Chroma::c400, Order order = {}) {
  const PlaneView &luma = frame.view.ref[0];
  const auto metric = make_cpu_vif(kernels, {params}, {luma.width, luma.height, luma.depth, chroma},
                                   static_cast<int>(frame.view.dist.size()));
  return measure_sums<VifSums>(*metric, frame.view, order);
}

std::string describe(const VifScaleSums *got, const VifScaleSums *want, const std::string &plane) {
  for (int s = 0; s < kVifScales; ++s) {
    const struct {
      const char *name;
      int64_t got, want;
    } sums[] = {{"num_log", got[s].num_log, want[s].num_log},
                {"den_log", got[s].den_log, want[s].den_log},
                {"num_low", got[s].num_low, want[s].num_low},
                {"den_low", got[s].den_low, want[s].den_low}};
    for (const auto &sum : sums)
      if (sum.got != sum.want)
        return plane + ", scale " + std::to_string(s) + ", " + sum.name + ": " + std::to_string(sum.got) +
               ", not " + std::to_string(sum.want);
  }
  return "";
}

std::string describe(const VifSums &got, const VifSums &want) {
  return describe(got.scale, want.scale, "luma") + describe(got.chroma[0], want.chroma[0], "Cb") +
         describe(got.chroma[1], want.chroma[1], "Cr");
}

// All instruction sets give the sums of the plain one.
void expect_equal(const Luma &ref, const Luma &dist, const VifParams &params, const Layout &layout = {}) {
  const StoredFrame frame({ref}, {dist}, layout);
  const auto want = sums_of(plain_kernels(), params, frame);
  for (const CpuKernels *kernels : wide_kernels())
    EXPECT_EQ(describe(sums_of(*kernels, params, frame)[0], want[0]), "")
        << kernels->isa << ", " << ref.width << "x" << ref.height << ", depth " << ref.depth << ", limit "
        << params.gain_limit;
}

constexpr VifParams kVariants[] = {{}, {1.0}, {1.25}, {100, true}};

// Every entry of the table, in arguments of all magnitudes, with all bits that are cut off set and not.
TEST(VifIsa, LogarithmsEqualTheTable) {
  std::vector<uint16_t> table(kVifLogEntries);
  vif_fill_log_table(table.data());
  for (const CpuKernels *kernels : all_kernels())
    for (int shift : {2, 3, 9, 16, 28}) {
      int wrong = 0;
      for (uint64_t i = 32768; i < 65536; ++i)
        for (uint64_t rest : {uint64_t{0}, (uint64_t{1} << shift) - 1}) {
          const uint64_t v = (i << shift) + rest;
          wrong += kernels->vif->log2(table.data(), v) != vif_log2(table.data(), v);
        }
      EXPECT_EQ(wrong, 0) << kernels->isa << ", shift " << shift;
    }
  for (const CpuKernels *kernels : all_kernels())
    for (int shift : {2, 3, 7, 8, 9, 15}) {
      int wrong = 0;
      for (uint32_t i = 32768; i < 65536; ++i)
        for (uint32_t rest : {0u, (1u << shift) - 1}) {
          const uint32_t v = (i << shift) + rest;
          wrong += kernels->vif->log2_below_31_bits(table.data(), v) != vif_log2(table.data(), v);
        }
      EXPECT_EQ(wrong, 0) << kernels->isa << ", shift " << shift << ", below 31 bits";
    }
}

TEST(VifIsa, EverySmallWidth) {
  for (int width = 16; width <= 200; ++width)
    for (int depth : {8, 10}) {
      const Luma ref = width % 2 ? noise(width, 16 + width % 23, depth, static_cast<uint32_t>(width))
                                 : waves(width, 16 + width % 23, depth, width);
      expect_equal(ref, distorted_from(ref, 5), {});
    }
}

// Rows are measured in chunks of 256 columns, of which a few are summed with the chunk before.
TEST(VifIsa, WidthsAroundTheChunksOfColumns) {
  for (const auto &[first, last] : {std::pair{246, 306}, std::pair{502, 562}})
    for (int width = first; width <= last; ++width) {
      const Luma ref = waves(width, 16, 8 + width % 9, width);
      expect_equal(ref, distorted_from(ref, 5), {});
    }
}

TEST(VifIsa, EverySmallHeight) {
  for (int height = 16; height <= 110; ++height) {
    const Luma ref = waves(35, height, 9, height);
    expect_equal(ref, distorted_from(ref, 6), {});
  }
}

TEST(VifIsa, StressPicturesAtEveryDepth) {
  for (int depth = 8; depth <= 16; ++depth) {
    const auto pictures = stress_pictures(69, 37, depth);
    for (const Luma &ref : pictures)
      for (const Luma &dist : pictures) expect_equal(ref, dist, {});
  }
}

TEST(VifIsa, EveryOptionAtEveryDepth) {
  for (int depth = 8; depth <= 16; ++depth)
    for (const VifParams &params : kVariants) {
      const Luma ref = waves(333, 130, depth, 3);
      expect_equal(ref, distorted_from(ref, 7), params);
    }
}

TEST(VifIsa, LargePictures) {
  for (const auto &[width, height, depth] : {std::array{1920, 1080, 8}, std::array{1283, 723, 10},
                                             std::array{2048, 98, 16}, std::array{4099, 33, 8}}) {
    const Luma ref = waves(width, height, depth, 1);
    expect_equal(ref, distorted_from(ref, 8), {});
  }
}

// The most that a strip's sums of 32 bits can be asked for: black and white at random, and wide rows.
TEST(VifIsa, WideRowsOfTheLargestVariance) {
  Luma ref = noise(16384, 96, 8, 1);
  for (auto &sample : ref.samples) sample = sample < 128 ? 0 : 255;
  expect_equal(ref, ref, {});
}

TEST(VifIsa, AnyLayout) {
  for (int depth : {8, 12}) {
    const Luma ref = waves(91, 50, depth, 4), dist = distorted_from(ref, 9);
    const auto want = sums_of(plain_kernels(), {}, StoredFrame({ref}, {dist}));
    for (const Layout &layout :
         {Layout{.padding = 26}, Layout{.padding = 10, .upside = true}, Layout{.padding = 6, .offset = 2}})
      for (const CpuKernels *kernels : all_kernels())
        EXPECT_EQ(describe(sums_of(*kernels, {}, StoredFrame({ref}, {dist}, layout))[0], want[0]), "")
            << kernels->isa;
  }
}

TEST(VifIsa, SeveralDistortedPicturesAreAsManyRuns) {
  for (int depth : {8, 10, 16})
    for (const VifParams &params : kVariants) {
      const Luma ref = waves(157, 110, depth, 2);
      const std::vector<Luma> dists = {distorted_from(ref, 1), noise(157, 110, depth, 3), ref};
      const StoredFrame together({ref}, dists);
      for (const CpuKernels *kernels : all_kernels()) {
        const auto got = sums_of(*kernels, params, together);
        for (size_t d = 0; d < dists.size(); ++d) {
          const StoredFrame alone({ref}, {dists[d]});
          EXPECT_EQ(describe(got[d], sums_of(*kernels, params, alone)[0]), "") << kernels->isa << ", " << d;
        }
      }
    }
}

// Whatever comes first, and sets of options with the same limit too.
TEST(VifIsa, SetsOfOptionsAreAsManyRuns) {
  constexpr double kLimits[][4] = {{100, 1, 1.25, 1}, {1, 100, 1, 2}, {3.7, 3.7, 3.7, 3.7}};
  using OfSets = std::array<VifSums, std::size(kLimits[0])>;
  for (int depth : {8, 10, 16})
    for (const bool skip : {false, true}) {
      const Luma ref = waves(157, 110, depth, 2);
      const std::vector<Luma> dists = {distorted_from(ref, 1), noise(157, 110, depth, 3), ref};
      const StoredFrame frame({ref}, dists);
      for (const auto &limits : kLimits) {
        std::vector<VifParams> sets;
        for (const double limit : limits) sets.push_back({limit, skip});
        for (const CpuKernels *kernels : all_kernels()) {
          const auto metric = make_cpu_vif(*kernels, sets, {157, 110, depth, Chroma::c400}, 3);
          const auto got = measure_sums<OfSets>(*metric, frame.view);
          for (size_t s = 0; s < sets.size(); ++s) {
            const auto want = sums_of(*kernels, sets[s], frame);
            for (size_t d = 0; d < dists.size(); ++d)
              EXPECT_EQ(describe(got[d][s], want[d]), "")
                  << kernels->isa << ", picture " << d << ", limit " << limits[s] << " of " << limits[0];
          }
        }
      }
    }
}

TEST(VifIsa, StripsInAnyOrderOnAnyThreads) {
  const Luma ref = waves(130, 811, 8, 2);
  const StoredFrame frame({ref}, {distorted_from(ref, 1), distorted_from(ref, 2)});
  for (const CpuKernels *kernels : all_kernels()) {
    const auto want = sums_of(*kernels, {}, frame);
    for (const Order &order : {Order{true, 1}, Order{false, 3}, Order{true, 4}})
      EXPECT_TRUE(same_sums(sums_of(*kernels, {}, frame, Chroma::c400, order), want)) << kernels->isa;
  }
}

// A chroma plane is measured as a picture of its size would be, also where the size of luma is odd.
TEST(VifIsa, ChromaPlanesAreMeasuredAsLuma) {
  struct Case {
    Chroma chroma;
    int width, height, chroma_width, chroma_height;
  };
  for (const Case &c : {Case{Chroma::c420, 131, 205, 66, 103}, Case{Chroma::c422, 64, 33, 32, 33},
                        Case{Chroma::c444, 40, 47, 40, 47}})
    for (int depth : {8, 10}) {
      const Luma ref[3] = {waves(c.width, c.height, depth, 1),
                           waves(c.chroma_width, c.chroma_height, depth, 2),
                           waves(c.chroma_width, c.chroma_height, depth, 3)};
      const Luma dist[3] = {distorted_from(ref[0], 1), distorted_from(ref[1], 2), distorted_from(ref[2], 3)};
      StoredFrame frame({ref[0]}, {dist[0]});
      const StoredFrame cb({ref[1]}, {dist[1]}), cr({ref[2]}, {dist[2]});
      frame.view.ref[1] = cb.view.ref[0];
      frame.view.ref[2] = cr.view.ref[0];
      frame.views[0][1] = cb.views[0][0];
      frame.views[0][2] = cr.views[0][0];
      for (const CpuKernels *kernels : all_kernels())
        for (bool skip : {false, true}) {
          const VifParams luma_only = {1.25, skip, false}, all = {1.25, skip, true},
                          full = {1.25, false, false};
          const VifSums got = sums_of(*kernels, all, frame, c.chroma)[0];
          EXPECT_EQ(describe(got.scale, sums_of(*kernels, luma_only, frame)[0].scale, "luma"), "");
          EXPECT_EQ(describe(got.chroma[0], sums_of(*kernels, full, cb)[0].scale, "Cb"), "") << kernels->isa;
          EXPECT_EQ(describe(got.chroma[1], sums_of(*kernels, full, cr)[0].scale, "Cr"), "") << kernels->isa;
        }
    }
}

}  // namespace
}  // namespace vmafhip
