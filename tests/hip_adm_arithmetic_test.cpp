// What ADM's kernels compute in another way than engine/arith/adm.h defines, number by number: the reciprocal, the angle
// between vectors, decoupling and weights. No device.
#define GPU_SIMULATED 1
#include "kernels/device.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "engine/arith/adm.h"
#include "kernels/adm_decouple.h"
#include "kernels/adm_masking.h"

namespace vmafhip {
namespace {

class Random {
 public:
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  // 0 to n - 1.
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  // Of either sign, all magnitudes up to `most` about equally frequent.
  int32_t any(int64_t most) {
    const int64_t size = std::min<int64_t>(below(int64_t{1} << below(33)), most);
    return static_cast<int32_t>(next() & 1 ? size : -size);
  }

 private:
  uint64_t state_ = 88172645463325252u;
};

float moved(float v, int ulps) {
  for (; ulps > 0; --ulps) v = std::nextafter(v, std::numeric_limits<float>::max());
  for (; ulps < 0; ++ulps) v = std::nextafter(v, 0.0f);
  return v;
}

// Largest samples of bands, from the filters' taps.
constexpr int32_t kMostSample0 = 22931, kMostSample = 2110000000;

TEST(AdmHipArithmetic, BandSamplesAreBounded) {
  const int64_t taps =
      std::abs(kAdmLow[0]) + std::abs(kAdmLow[1]) + std::abs(kAdmLow[2]) + std::abs(kAdmLow[3]);
  EXPECT_EQ(taps, 54822);
  for (int depth = 8; depth <= 16; ++depth) {
    const int64_t after_rows = ((taps << (depth - 1)) + (1 << (depth - 1))) >> depth;
    EXPECT_LE((after_rows * taps + 32768) >> 16, kMostSample0) << depth;
  }
}

// With reciprocals that are off by two units in the last place, where GPUs promise one.
TEST(AdmHipArithmetic, ReciprocalIsExact) {
  for (int ulps = -2; ulps <= 2; ++ulps)
    for (uint32_t size = 1; size <= 32768; ++size)
      ASSERT_EQ(adm_reciprocal(size, moved(1.0f / static_cast<float>(size), ulps)), (1u << 30) / size)
          << size << ", " << ulps;
}

// What f32 is sure of is so in the text's f64; and it is sure of all but what is close.
TEST(AdmHipArithmetic, AngleNearTheLimit) {
  Random random;
  int unsure = 0;
  for (int i = 0; i < 100000; ++i) {
    const float ref = static_cast<float>(1 + random.below(int64_t{1} << random.below(63))),
                dist = static_cast<float>(1 + random.below(int64_t{1} << random.below(63)));
    const double limit = std::sqrt(0.99969541886 * ref * dist);
    for (int ulps = -12; ulps <= 12; ++ulps) {
      const AdmAngle angle = {moved(static_cast<float>(limit), ulps), ref, dist};
      bool sure = true;
      const bool quick = angle.quick(&sure);
      unsure += !sure;
      if (sure) {
        ASSERT_EQ(quick, angle.exact()) << angle.dot << ", " << ref << ", " << dist;
      }
      if (ulps < -9 || ulps > 9) {
        ASSERT_TRUE(sure) << ulps;
      }
    }
  }
  EXPECT_GT(unsure, 100000);
}

template <int kScale>
void expect_same_angles(int32_t most) {
  Random random;
  for (int i = 0; i < 300000; ++i) {
    int32_t ref[2] = {random.any(most), random.any(most)}, dist[2] = {random.any(most), random.any(most)};
    if (i % 3 == 0) {  // turned by about a degree
      const double turn = (i % 2 ? 1 : -1) * 3.14159265358979 / 180 *
                          (1 + 1e-6 * static_cast<double>(random.below(3))),
                   gain = 1.0 / static_cast<double>(1 + random.below(4));
      dist[0] = static_cast<int32_t>(gain * 0.7 * (ref[0] * std::cos(turn) - ref[1] * std::sin(turn)));
      dist[1] = static_cast<int32_t>(gain * 0.7 * (ref[0] * std::sin(turn) + ref[1] * std::cos(turn)));
    }
    const auto dot = [](const int32_t *a, const int32_t *b) {
      return static_cast<float>(static_cast<int64_t>(a[0]) * b[0] + static_cast<int64_t>(a[1]) * b[1]);
    };
    const bool want = adm_same_angle(dot(ref, dist), dot(ref, ref), dot(dist, dist));
    const AdmAngle angle = adm_angle<kScale>(ref, dist);
    bool sure = true;
    const bool quick = angle.quick(&sure);
    ASSERT_EQ(sure ? quick : angle.exact(), want)
        << ref[0] << ", " << ref[1] << "; " << dist[0] << ", " << dist[1];
  }
}

TEST(AdmHipArithmetic, AnglesOfVectors) {
  expect_same_angles<0>(kMostSample0);
  expect_same_angles<1>(kMostSample);
}

template <int kScale>
void expect_same_decoupling(int32_t ref, int32_t dist) {
  const AdmDecoupled got = adm_attenuate<kScale>(ref, dist);
  const auto with_sign = [&](uint32_t size) { return (static_cast<int32_t>(size) ^ got.sign) - got.sign; };
  const int32_t ratio = adm_ratio(ref, dist);
  ASSERT_EQ(with_sign(got.restored), adm_restore(ref, dist, ratio, false, 1)) << ref << ", " << dist;
  ASSERT_EQ(got.size, magnitude(ref));
  for (uint32_t limit : {1u, 2u, 100u})
    ASSERT_EQ(with_sign(adm_enhance<kScale>(got, limit)), adm_restore(ref, dist, ratio, true, limit))
        << ref << ", " << dist << ", " << limit;
  for (double limit : {1.0, 1.0001, 1.2, 37.5, 100.0})
    ASSERT_EQ(with_sign(adm_enhance(got, limit)), adm_restore(ref, dist, ratio, true, limit))
        << ref << ", " << dist << ", " << limit;
}

TEST(AdmHipArithmetic, Decoupling) {
  Random random;
  for (int i = 0; i < 300000; ++i)
    expect_same_decoupling<0>(random.any(kMostSample0), random.any(kMostSample0));
  for (int i = 0; i < 300000; ++i)
    expect_same_decoupling<1>(random.any(kMostSample), random.any(kMostSample));
  // Around the reference, twice of it and the powers of 2 where the reciprocal's shift changes.
  for (int bit = 0; bit < 31; ++bit)
    for (int64_t near = -2; near <= 2; ++near)
      for (int64_t times = -1; times <= 5; ++times)
        for (int64_t off = -2; off <= 2; ++off) {
          const int64_t ref = (int64_t{1} << bit) + near, dist = ref * times / 2 + off;
          if (std::abs(dist) > kMostSample) continue;
          expect_same_decoupling<1>(static_cast<int32_t>(ref), static_cast<int32_t>(dist));
          expect_same_decoupling<1>(static_cast<int32_t>(-ref), static_cast<int32_t>(dist));
          if (ref <= kMostSample0 && std::abs(dist) <= kMostSample0)
            expect_same_decoupling<0>(static_cast<int32_t>(-ref), static_cast<int32_t>(dist));
        }
}

// Largest factors of scale 0 for h and v, and for d; largest sensitivity of later scales.
constexpr uint32_t kMostCsf[2] = {36453, 49417};

TEST(AdmHipArithmetic, SensitivityIsBounded) {
  const auto check = [](const AdmOptions &options) {
    const AdmParams params = adm_configure(options, 64, 64);
    for (int band = 0; band < kAdmBands; ++band) EXPECT_LE(params.scale[0].csf[band], kMostCsf[band == 2]);
    for (int s = 1; s < kAdmScales; ++s)
      for (int band = 0; band < kAdmBands; ++band) EXPECT_LT(params.scale[s].csf[band], 1u << 28);
  };
  AdmOptions options;
  for (int height = 135; height <= 4320; ++height) {
    options.ref_display_height = height;
    options.norm_view_dist = 3240.0 / height;
    for (; options.norm_view_dist <= 24; options.norm_view_dist *= 1.1)
      if (options.norm_view_dist >= 0.75 && options.norm_view_dist * height >= 3240) check(options);
  }
  for (const AdmCsfRow &row : kAdmCsfRows)
    for (int mode : {2, 3}) {
      options.csf_mode = mode;
      options.norm_view_dist = row.norm_view_dist;
      options.ref_display_height = row.ref_display_height;
      check(options);
    }
}

template <int kBand>
void expect_same_weights(int32_t sample, uint32_t csf0, uint32_t csf) {
  const int32_t sign = sample >> 31;
  if (magnitude(sample) <= static_cast<uint32_t>(kMostSample0)) {
    AdmWeights weights;
    const uint32_t size = adm_weigh<0, kBand>(magnitude(sample), sign, csf0, &weights);
    const AdmMask mask = adm_mask0(sample, csf0, kBand);
    ASSERT_EQ(weights.neighbour, mask.neighbour) << sample << ", " << csf0 << ", " << kBand;
    ASSERT_EQ(weights.centre, mask.centre) << sample << ", " << csf0 << ", " << kBand;
    ASSERT_EQ(size, magnitude(static_cast<int32_t>(csf0) * sample));
  }
  AdmWeights weights;
  const uint32_t size = adm_weigh<1, kBand>(magnitude(sample), sign, csf, &weights);
  const AdmMask mask = adm_mask(sample, csf);
  ASSERT_EQ(weights.neighbour, mask.neighbour) << sample << ", " << csf;
  ASSERT_EQ(weights.centre, mask.centre) << sample << ", " << csf;
  ASSERT_EQ(size, magnitude(adm_weighted(sample, csf)));
}

TEST(AdmHipArithmetic, Weights) {
  Random random;
  for (int32_t sample = -kMostSample0; sample <= kMostSample0; ++sample) {
    expect_same_weights<0>(sample, kMostCsf[0], 265000000);
    expect_same_weights<2>(sample, kMostCsf[1], 1);
  }
  for (int i = 0; i < 300000; ++i) {
    const int32_t sample = random.any(i % 2 ? kMostSample : kMostSample0);
    const auto csf = static_cast<uint32_t>(random.below(1 << 28));
    expect_same_weights<1>(sample, static_cast<uint32_t>(random.below(kMostCsf[0] + 1)), csf);
    expect_same_weights<2>(sample, static_cast<uint32_t>(random.below(kMostCsf[1] + 1)), csf);
  }
}

template <int kScale>
void expect_same_cubes(Random &random) {
  AdmScaleArgs args = {};
  for (int i = 0; i < 200000; ++i) {
    const int shift = static_cast<int>(random.below(16));
    args.scale.col_shift[0] = args.scale.col_shift[1] = args.scale.col_shift[2] = args.scale.den_col_shift =
        shift;
    for (int b : {0, 2}) {
      args.halves.square[b == 2] = static_cast<uint64_t>(half_of(adm_square_shift(kScale, b)));
      args.halves.cube[b == 2] = half_of(shift);
    }
    args.halves.den_square = uint64_t{1} << adm_den_square_shift(kScale);
    args.halves.den_cube = static_cast<uint64_t>(half_of(shift));
    const uint32_t size = magnitude(random.any(kScale == 0 ? 1133000000 : kMostSample));
    const int32_t threshold = random.any(200000);
    const auto expect = [&](auto number) {
      constexpr int kBand = decltype(number)::value;
      const uint32_t limit = static_cast<uint32_t>(threshold)
                             << (kScale == 0 ? adm_threshold_shift0(kBand) : 0);
      const int32_t above = larger(static_cast<int32_t>(size - limit), 0);
      const uint64_t want =
          adm_cube_offset(above, adm_square_shift(kScale, kBand), shift) - ((uint64_t{1} << 63) >> shift);
      ASSERT_EQ((adm_masked_cube<kScale, kBand>(size, threshold, kAdmPooled, args)), want)
          << size << ", " << threshold << ", " << shift;
      ASSERT_EQ((adm_masked_cube<kScale, kBand>(size, threshold, kAdmNotPooled, args)), 0u);
    };
    expect(std::integral_constant<int, 0>());
    expect(std::integral_constant<int, 2>());
    const int32_t ref = random.any(kScale == 0 ? kMostSample0 : kMostSample);
    ASSERT_EQ(adm_reference_cube<kScale>(magnitude(ref), args),
              kScale == 0 ? adm_cube_den0(ref) : adm_cube_den(ref, kScale, shift));
  }
}

TEST(AdmHipArithmetic, Cubes) {
  Random random;
  expect_same_cubes<0>(random);
  expect_same_cubes<1>(random);
  expect_same_cubes<2>(random);
}

}  // namespace
}  // namespace vmafhip
