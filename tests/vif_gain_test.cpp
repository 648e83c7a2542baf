// VIF in GPU kernels: the integer arithmetic that stands for the definition's doubles (kernels/vif_statistics.h), against the
// definition. Compiled as host C++, with reciprocals that are wrong by as much as those of GPUs may be, and more.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/numbers.h"
#include "tests/metric_run.h"

namespace vmafhip {
namespace {

int reciprocal_error = 0;  // in units in the last place
float inexact_reciprocal(float v) {
  float r = 1.0f / v;
  for (int i = 0; i < std::abs(reciprocal_error); ++i)
    r = std::nextafterf(r, reciprocal_error > 0 ? 1.0f : 0.0f);
  return r;
}

}  // namespace
}  // namespace vmafhip

#define gpu_reciprocal inexact_reciprocal
#include "kernels/vif_statistics.h"

namespace vmafhip {
namespace {

struct Tables {
  std::vector<uint16_t> whole = std::vector<uint16_t>(kVifLogEntries);
  std::vector<uint16_t> folded = std::vector<uint16_t>(kVifFoldedEntries);

  Tables() {
    vif_fill_log_table(whole.data());
    vif_fold_log_table(whole.data(), folded.data());
  }
};

const Tables &tables() {
  static const Tables tables;
  return tables;
}

// Every entry in every octave, with all bits that are cut off set and not.
TEST(VifGain, FoldedTableGivesTheLogarithms) {
  const Tables &t = tables();
  int wrong = 0;
  for (int shift = 0; shift <= 16; ++shift)
    for (uint32_t i = 32768; i < 65536; ++i)
      for (uint32_t rest : {0u, (1u << shift) - 1}) {
        const uint32_t v = (i << shift) + rest;
        wrong += vif_folded_log2(t.folded.data(), v) - kVifLogBias != t.whole[i - 32768] + 2048 * shift;
      }
  EXPECT_EQ(wrong, 0);
}

int64_t by_definition(VifStatistics s, double gain_limit) {
  VifScaleSums sums;
  vif_add_distorted(s, tables().whole.data(), &gain_limit, 1, &sums);
  return sums.num_log;
}

constexpr int32_t kMost = 1073741824;  // 2^30: half the range, squared
constexpr double kLimits[] = {1, 1.0001, 1.2, 1.999999, 2, 3.7, 100};

class Triples {
 public:
  explicit Triples(uint32_t seed) : noise_(seed) {}

  // Variances and covariance of pixels that reach the gain; not always such as pictures have.
  VifStatistics next() {
    for (;;) {
      VifStatistics s = {between(kVifNoise, 1 << (18 + noise_.below(13))), 0, 0};
      s.ref = smaller(s.ref, kMost);
      switch (noise_.below(6)) {
        case 0:  // the same picture
          s.dist = s.cross = s.ref;
          break;
        case 1: {  // cross^2 / ref a whole number, or very nearly one
          const int k = between(1, 64), m = s.ref / (k * k);
          s = {m * k * k + noise_.below(3) - 1, between(1, kMost), m * k + (noise_.below(8) == 0)};
          break;
        }
        case 2: {  // what is left unexplained is about nothing
          s.cross = static_cast<int32_t>(std::sqrt(double(s.ref) * between(1, s.ref)));
          s.dist = static_cast<int32_t>(double(s.cross) * s.cross / s.ref) + noise_.below(5) - 1;
          break;
        }
        case 3:  // gains about 1 and 2
          s.cross =
              static_cast<int32_t>(smaller<int64_t>(int64_t{s.ref} * between(1, 2) + between(-2, 2), kMost));
          s.dist = between(1, kMost);
          break;
        case 4:  // large gains
          s.ref = smaller(s.ref, 1 << 22);
          s.cross = between(s.ref, kMost);
          s.dist = between(1, kMost);
          break;
        default:  // anything
          s.cross = between(1, smaller(s.ref + s.ref / 8, kMost));
          s.dist = between(1, kMost >> noise_.below(13));
      }
      if (s.ref >= kVifNoise && s.ref <= kMost && s.dist > 0 && s.cross > 0) return s;
    }
  }

 private:
  int32_t between(int32_t low, int32_t high) {
    const uint64_t random = uint64_t{noise_.next()} << 24 | noise_.next();
    return low + static_cast<int32_t>(random % (static_cast<uint64_t>(int64_t{high} - low) + 1));
  }
  test::Noise noise_;
};

template <int kLimitsAtOnce>
void expect_definition_where_sure(int count) {
  Triples triples(kLimitsAtOnce);
  int wrong = 0, sure_of = 0;
  for (int i = 0; i < count; ++i) {
    reciprocal_error = i % 5 - 2;
    const VifStatistics s = triples.next();
    const double limits[] = {kLimits[i % std::size(kLimits)],
                             kLimits[i / std::size(kLimits) % std::size(kLimits)]};
    VifThreadSums<kLimitsAtOnce> got;
    if (vif_add_pixel<false>(tables().folded.data(), {s.ref, s.dist, s.cross}, true,
                             VifLimits<kLimitsAtOnce>(limits), &got))
      continue;
    ++sure_of;
    for (int k = 0; k < kLimitsAtOnce; ++k)
      if (got.num_log[k] != by_definition(s, limits[k]) && ++wrong < 5)
        ADD_FAILURE() << s.ref << ", " << s.dist << ", " << s.cross << ", limit " << limits[k] << " of "
                      << limits[0] << ": " << got.num_log[k] << ", not " << by_definition(s, limits[k]);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(sure_of, count / 3);
}

TEST(VifGain, IntegersEqualTheDefinitionWhereTheyAreSure) { expect_definition_where_sure<1>(1000000); }
TEST(VifGain, OfTwoLimitsToo) { expect_definition_where_sure<2>(1000000); }

// As 1 cuts gains off where integers still tell what remains.
TEST(VifGain, IntegersAreSureOfGainsAboveALimitOf1) {
  const double limits[] = {100, 1};
  VifThreadSums<2> sums;
  EXPECT_FALSE(vif_add_pixel<false>(tables().folded.data(), {1000003, 3000000, 1500001}, true,
                                    VifLimits<2>(limits), &sums));
  EXPECT_LT(sums.num_log[1], sums.num_log[0]);
}

// Or the GPU would be busy with doubles. The margin about whole numbers leaves one pixel in 2048 to them.
TEST(VifGain, IntegersAreSureOfNearlyAllThatPicturesHave) {
  test::Noise noise(3);
  int not_sure = 0;
  const int count = 200000;
  for (int i = 0; i < count; ++i) {
    reciprocal_error = i % 3 - 1;
    const int32_t ref = kVifNoise + static_cast<int32_t>(noise.next() * 40),
                  dist = ref / 4 * 3 + noise.below(1 << 17),
                  cross = static_cast<int32_t>(0.8 * std::sqrt(double(ref) * dist));
    not_sure += !vif_gain(ref, dist, cross).sure;
  }
  EXPECT_LT(not_sure, count / 1000);
}

TEST(VifGain, DoublesEqualTheDefinition) {
  Triples triples(2);
  int wrong = 0;
  for (int i = 0; i < 500000; ++i) {
    const VifStatistics s = triples.next();
    const double limit = kLimits[i % std::size(kLimits)];
    wrong += vif_gain_exact(tables().folded.data(), s.ref, s.dist, s.cross, limit) != by_definition(s, limit);
  }
  EXPECT_EQ(wrong, 0);
}

// A pixel at a time: which sum it goes to.
TEST(VifGain, PixelsGoToTheSumsOfTheDefinition) {
  const Tables &t = tables();
  const int32_t values[] = {-kMost, -5, -1, 0, 1, 7, kVifNoise - 1, kVifNoise, kVifNoise + 1, 400000, kMost};
  reciprocal_error = 0;
  for (int32_t ref : values)
    for (int32_t dist : values)
      for (int32_t cross : values) {
        VifScaleSums want;
        const VifStatistics definition = {ref, larger(dist, 0), cross};
        vif_add_reference(ref, t.whole.data(), &want);
        const double limit = 100;
        vif_add_distorted(definition, t.whole.data(), &limit, 1, &want);
        const VifLimits<1> limits(&limit);
        VifThreadSums<1> got;
        if (vif_add_pixel<true>(t.folded.data(), {ref, dist, cross}, true, limits, &got))
          vif_add_exact(t.folded.data(), {ref, dist, cross}, &limit, &got);
        EXPECT_EQ(int64_t{got.num_log[0]}, want.num_log) << ref << ", " << dist << ", " << cross;
        EXPECT_EQ(int64_t{got.den_log}, want.den_log) << ref;
        EXPECT_EQ(static_cast<int64_t>(got.num_low), want.num_low) << ref << ", " << dist;
        EXPECT_EQ(int64_t{got.den_low}, want.den_low) << ref;

        VifThreadSums<1> none;
        EXPECT_FALSE(vif_add_pixel<true>(t.folded.data(), {ref, dist, cross}, false, limits, &none));
        EXPECT_EQ(none.num_log[0] + none.den_log + none.num_low + none.den_low, 0u)
            << "a pixel outside the plane";
      }
}

// What several pixels give together is what each gives alone: those of all kinds, in the plane and beyond, mixed.
template <int kLimitsAtOnce>
void expect_some_as_each(int count) {
  constexpr int kSome = 4;
  Triples triples(7 + kLimitsAtOnce);
  test::Noise noise(11);
  const uint16_t *folded = tables().folded.data();
  int wrong = 0, unsure_of = 0;
  for (int i = 0; i < count; ++i) {
    reciprocal_error = i % 5 - 2;
    const double values[] = {kLimits[i % std::size(kLimits)], 1};
    const VifLimits<kLimitsAtOnce> limits(values);
    VifPixel pixels[kSome];
    bool live[kSome];
    VifThreadSums<kLimitsAtOnce> want, got;
    uint32_t want_unsure = 0;
    for (int k = 0; k < kSome; ++k) {
      const VifStatistics s = triples.next();
      pixels[k] = {s.ref, s.dist, s.cross};
      // One of a low variance, of a negative one, or not correlated, now and then.
      switch (noise.below(16)) {
        case 0:
          pixels[k].ref = kVifNoise - 1 - noise.below(1000);
          break;
        case 1:
          pixels[k].dist = -noise.below(1000);
          break;
        case 2:
          pixels[k].cross = -noise.below(1000);
          break;
        default:
          break;
      }
      live[k] = noise.below(8) != 0;
      want_unsure |= uint32_t{vif_add_pixel<true>(folded, pixels[k], live[k], limits, &want)} << k;
    }
    const uint32_t unsure = vif_add_some<true>(folded, pixels, live, limits, &got);
    unsure_of += unsure != 0;
    bool equal = unsure == want_unsure && got.den_log == want.den_log && got.den_low == want.den_low &&
                 got.num_low == want.num_low;
    for (int k = 0; k < kLimitsAtOnce; ++k) equal &= got.num_log[k] == want.num_log[k];
    if (!equal && ++wrong < 5) ADD_FAILURE() << "pixels " << i << ": " << unsure << ", not " << want_unsure;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(unsure_of, count / 50);
}

TEST(VifGain, SeveralPixelsGiveWhatEachDoes) { expect_some_as_each<1>(200000); }
TEST(VifGain, SeveralPixelsGiveWhatEachDoesWithTwoLimits) { expect_some_as_each<2>(200000); }

}  // namespace
}  // namespace vmafhip
