// Integer ADM: detail loss and additive impairments of luma, as defined by libvmaf's `adm`.
//
// Four wavelet levels. On each, the distorted bands h, v, d are decoupled into a restored part (what is left of
// the reference's detail) and an additive part (everything else); both are weighted by the eye's contrast
// sensitivity, masked by each other and pooled with exponent 3 over the inner 80 % of the band:
//
//   num  restored, masked by the additive part    adm2 = sum of num / sum of den
//   aim  additive, masked by the restored part    aim  = sum of aim / sum of den
//   den  reference, not masked                    adm3 = blend of adm2 and 1 - aim
//
// Sums are exact integers, rounded once a row. What follows from options and size alone, the CSF among it, is
// worked out once by adm_configure(); adm_finish() turns a frame's sums into scores on the host.
#pragma once
#include <cmath>
#include <cstdint>

#include "engine/arith/adm_csf.h"
#include "engine/arith/hd.h"

namespace vmafhip {

constexpr int kAdmScales = 4;
constexpr int kAdmBands = 3;     // h, v, d
constexpr int kAdmMinSize = 33;  // below it the coarsest level has fewer than five samples to filter

// Wavelet filters in units of 2^-15.5; the low pass sums to sqrt(2), the high pass to 0.
VMAFHIP_TABLE int32_t kAdmLow[4] = {15826, 27411, 7345, -4240};
VMAFHIP_TABLE int32_t kAdmHigh[4] = {-4240, -7345, 27411, -15826};
static_assert(kAdmLow[0] + kAdmLow[1] + kAdmLow[2] + kAdmLow[3] == 46342);
static_assert(kAdmHigh[0] + kAdmHigh[1] + kAdmHigh[2] + kAdmHigh[3] == 0);

// Right shifts after the vertical and the horizontal filter. Level 0 shifts by the depth vertically.
VMAFHIP_TABLE int kAdmVerticalShift[kAdmScales] = {-1, 0, 16, 16};
VMAFHIP_TABLE int kAdmHorizontalShift[kAdmScales] = {16, 15, 16, 15};

// Where tap k of the wavelet reads: -1 is sample 1, but n is sample n - 1 again.
VMAFHIP_HD constexpr int adm_index(int k, int n) { return k < 0 ? -k : k >= n ? 2 * n - 1 - k : k; }

struct AdmOptions {
  double norm_view_dist = 3.0;    // viewing distance in picture heights, 0.75 to 24
  int ref_display_height = 1080;  // lines of the display, 1 to 4320
  int csf_mode = 0;               // 0 Watson 97, 2 and 3 blended tables
  double gain_limit = 100.0;      // 1 to 100; 1 counts no enhancement (NEG)
  double noise_weight = 0.03125;  // 0 to 1500
  double dlm_weight = 0.5;        // weight of adm2 in adm3, 0 to 1
  double min_val = 0.0;           // floor of adm3, 0 to 1
  bool skip_aim = false;
  bool skip_scale0 = false;
};

// What is fixed for one scale.
struct AdmScaleParams {
  int width, height;             // of a band
  int left, top, right, bottom;  // region that is pooled, ends exclusive
  uint32_t csf[kAdmBands];       // u16 range at scale 0
  int col_shift[kAdmBands];      // masked sums: rounding shift of a value,
  int row_shift;                 //   and of a row's sum
  int den_col_shift, den_row_shift;
  float sensitivity[2];  // CSF for h and v, for d
  double cubed[2];       // its third power
  float noise;           // what noise_weight adds to each band
};

struct AdmParams {
  AdmOptions options;
  int width, height;  // of the frame
  AdmScaleParams scale[kAdmScales];
};

struct AdmScaleSums {
  int64_t num[kAdmBands] = {}, aim[kAdmBands] = {};
  uint64_t den[kAdmBands] = {};
};

struct AdmSums {
  AdmScaleSums scale[kAdmScales];
};

// ---- Per sample: decoupling -------------------------------------------------------------------------------

// Are the (h, v) vectors of reference and distorted band less than one degree apart?
// All terms are sums of products of band samples, exact before they are rounded to f32.
VMAFHIP_HD bool adm_same_angle(float dot, float ref_norm, float dist_norm) {
  constexpr float cos2 = 0.99969541886f;  // f32 of cos^2(1 degree), 0x3f7fec0a
  const double d = dot;
  return (d >= 0) & (d * d >= (static_cast<double>(cos2) * ref_norm) * dist_norm);
}

// Ratio dist / ref, clamped to 0..1, in units of 2^-15. Integer definition: the reciprocal of the leading 15 bits
// of |ref|, times dist.
VMAFHIP_HD int32_t adm_ratio(int32_t ref, int32_t dist) {
  if (ref == 0) return 32768;
  const uint32_t size = magnitude(ref);
  const int shift = size < 32768 ? 0 : highest_bit(size) - 14;
  const uint32_t lead = static_cast<uint32_t>((size + half_of(shift)) >> shift);
  const int64_t reciprocal = (int64_t{1} << 30) / lead;
  const int64_t ratio =
      ((ref < 0 ? -reciprocal : reciprocal) * dist + (int64_t{1} << (14 + shift))) >> (15 + shift);
  return static_cast<int32_t>(smaller(larger(ratio, int64_t{0}), int64_t{32768}));
}

// adm_ratio() for |ref| up to 32768, without branches and 64-bit products. `along` is dist with the sign of ref
// divided out. The f64 quotient cannot round up to an integer and all products are exact; beyond twice |ref| the
// ratio is 1 in any case, so that cutting `along` off there changes nothing and keeps the ratio in range of i32.
VMAFHIP_HD int32_t adm_ratio_small(int32_t ref, int32_t along) {
  const int32_t size = larger(static_cast<int32_t>(magnitude(ref)), 1);
  const int32_t reciprocal = static_cast<int32_t>(1073741824.0 / size);
  const int32_t cut = smaller(larger(along, 0), 2 * size);
  return smaller(static_cast<int32_t>(static_cast<double>(reciprocal) * cut * 0x1p-15 + 0.5), 32768);
}

// The restored sample: the reference times `ratio`; if the angles agree, an enhancement of up to `gain_limit`
// counts as restored as well. Truncates toward zero where the limit decides.
VMAFHIP_HD int32_t adm_restore(int32_t ref, int32_t dist, int32_t ratio, bool same_angle, double gain_limit) {
  const int32_t restored = static_cast<int32_t>((static_cast<int64_t>(ratio) * ref + 16384) >> 15);
  if (!same_angle || ratio == 0 || ref == 0) return restored;
  const double limit = restored * gain_limit;
  return static_cast<int32_t>(ref > 0 ? smaller(static_cast<double>(dist), limit)
                                      : larger(static_cast<double>(dist), limit));
}

// ---- Per sample: masking ----------------------------------------------------------------------------------

// Weights of a masking sample: on itself and on its eight neighbours.
struct AdmMask {
  int32_t centre, neighbour;
};

// Scale 0: rounding terms and shifts per band; functions, as device code cannot index host tables. The odd 65535
// is part of the definition.
VMAFHIP_HD constexpr int32_t adm_mask_round0(int band) { return band == 2 ? 65535 : 16384; }
VMAFHIP_HD constexpr int adm_mask_shift0(int band) { return band == 2 ? 17 : 15; }
VMAFHIP_HD constexpr int adm_threshold_shift0(int band) { return band == 2 ? 12 : 10; }
// Of the square of what is left above the threshold.
VMAFHIP_HD constexpr int adm_square_shift(int scale, int band) { return scale == 0 && band != 2 ? 29 : 30; }

// csf below 2^16 and |masker| up to 2^15 make the product at most 2^31 in magnitude.
VMAFHIP_HD AdmMask adm_mask0(int32_t masker, uint32_t csf, int band) {
  const int32_t product = static_cast<int32_t>(csf * static_cast<uint32_t>(masker) +
                                               static_cast<uint32_t>(adm_mask_round0(band)));
  const int32_t c = static_cast<int16_t>(product >> adm_mask_shift0(band));
  const int32_t size = c < 0 ? -c : c;
  return {static_cast<int16_t>((8738 * size + 2048) >> 12), static_cast<int16_t>((4369 * size + 2048) >> 12)};
}

// Scales 1 to 3: the rounding term of the shift by 32 is minus one half; so a masker of 0 weighs -1.
VMAFHIP_HD int32_t adm_weighted(int32_t sample, uint32_t csf) {
  return static_cast<int32_t>(
      static_cast<uint32_t>((multiply_wrapping(sample, csf) + (uint64_t{1} << 27)) >> 28));
}

VMAFHIP_HD AdmMask adm_mask(int32_t masker, uint32_t csf) {
  constexpr uint64_t half = uint64_t{1} << 31;
  const uint64_t size = magnitude(adm_weighted(masker, csf));
  return {static_cast<int32_t>(static_cast<uint32_t>((286331153u * size - half) >> 32)),
          static_cast<int32_t>(static_cast<uint32_t>((143165577u * size - half) >> 32))};
}

// What is left of the weighted signal above the threshold, 0 or more.
VMAFHIP_HD int32_t adm_above0(int32_t signal, uint32_t csf, uint32_t threshold, int band) {
  const uint32_t size = magnitude(static_cast<int32_t>(csf * static_cast<uint32_t>(signal)));
  return larger(static_cast<int32_t>(size - (threshold << adm_threshold_shift0(band))), 0);
}

VMAFHIP_HD int32_t adm_above(int32_t signal, uint32_t csf, uint32_t threshold) {
  return larger(static_cast<int32_t>(magnitude(adm_weighted(signal, csf)) - threshold), 0);
}

// Third power of x >= 0: (x^2 >> square_shift, as i32) * x, then >> shift with rounding. The square can exceed
// i32 on extreme contrast and then counts as negative. The result carries an offset of 2^63 >> shift, so that the
// final shift is a logical one, which SSE2 has for 64-bit lanes; a row of n samples is to be freed of n offsets.
VMAFHIP_HD uint64_t adm_cube_offset(int32_t x, int square_shift, int shift) {
  const uint64_t wide = static_cast<uint64_t>(static_cast<uint32_t>(x)) * static_cast<uint32_t>(x);
  const int32_t square = static_cast<int32_t>(
      static_cast<uint32_t>((wide + (uint64_t{1} << (square_shift - 1))) >> square_shift));
  const uint64_t cube = multiply_wrapping(square, static_cast<uint32_t>(x));
  return (cube + static_cast<uint64_t>(half_of(shift)) + (uint64_t{1} << 63)) >> shift;
}

// ---- Per sample: denominator ------------------------------------------------------------------------------

VMAFHIP_HD uint64_t adm_cube_den0(int32_t ref) {
  const uint32_t size = magnitude(ref);
  return static_cast<uint64_t>(size * size) * size;
}

// The rounding term of the square is a whole step, not a half.
VMAFHIP_HD constexpr int adm_den_square_shift(int scale) { return scale == 2 ? 30 : 31; }

VMAFHIP_HD uint64_t adm_cube_den(int32_t ref, int scale, int shift) {
  const uint64_t size = magnitude(ref);
  const int q = adm_den_square_shift(scale);
  return (((size * size + (uint64_t{1} << q)) >> q) * size + static_cast<uint64_t>(half_of(shift))) >> shift;
}

// ---- Host: contrast sensitivity ---------------------------------------------------------------------------

// Tables of modes 2 and 3 exist for these displays only; nvd * rdh is at least 3240.
struct AdmCsfRow {
  int ref_display_height;
  double norm_view_dist;
  float mode2[2][kAdmScales], mode3[2][kAdmScales];  // [h and v | d][scale]
};

constexpr AdmCsfRow kAdmCsfRows[] = {
    {1080,
     3.0,
     {{.01183f, .025026f, .04295f, .058621f}, {.004302f, .011778f, .023918f, .035901f}},
     {{.011249f, .022606f, .035930f, .045673f}, {.004097f, .010921f, .021430f, .031313f}}},
    {2160,
     1.5,
     {{.01183f, .025026f, .04295f, .058621f}, {.004302f, .011778f, .023918f, .035901f}},
     {{.011249f, .022606f, .035930f, .045673f}, {.004097f, .010921f, .021430f, .031313f}}},
    {1080,
     5.0,
     {{.004212f, .014809f, .029642f, .047464f}, {.000984f, .005852f, .0146f, .027574f}},
     {{.004052f, .013939f, .026298f, .038833f}, {.000927f, .005544f, .013415f, .024515f}}},
    {2160,
     3.0,
     {{.00226f, .01183f, .025026f, .04295f}, {.000479f, .004302f, .011778f, .023918f}},
     {{.002166f, .011249f, .022606f, .035930f}, {.000447f, .004097f, .010921f, .021430f}}},
    {2160,
     5.0,
     {{.000092f, .004212f, .014809f, .029642f}, {.000050f, .000984f, .005852f, .0146f}},
     {{.000077f, .004052f, .013939f, .026298f}, {.000045f, .000927f, .005544f, .013415f}}},
    {720,
     5.0,
     {{.010144f, .022561f, .040309f, .05672f}, {.003463f, .010282f, .021839f, .034641f}},
     {{.009689f, .020577f, .034162f, .044523f}, {.003302f, .009579f, .019661f, .030318f}}},
};

// Null if the tables have no such display.
inline const AdmCsfRow *adm_csf_row(double norm_view_dist, int ref_display_height) {
  for (const AdmCsfRow &row : kAdmCsfRows)
    if (row.ref_display_height == ref_display_height && row.norm_view_dist == norm_view_dist) return &row;
  return nullptr;
}

// Sensitivity at a scale for the bands h and v (direction 0) or d (1).
inline float adm_sensitivity(const AdmOptions &options, int scale, int direction) {
  if (options.csf_mode != 0) {
    const AdmCsfRow *row = adm_csf_row(options.norm_view_dist, options.ref_display_height);
    if (!row) return 0.0f;
    return options.csf_mode == 2 ? row->mode2[direction][scale] : row->mode3[direction][scale];
  }
  return adm_watson(adm_density(options.norm_view_dist, options.ref_display_height), scale, direction);
}

// ---- Host: configuration ----------------------------------------------------------------------------------

inline float adm_cube_root(float v) { return std::pow(v, 1.0f / 3.0f); }

// options.csf_mode other than 1 and, in modes 2 and 3, a display in the tables.
inline AdmParams adm_configure(const AdmOptions &options, int width, int height) {
  AdmParams params = {};
  params.options = options;
  params.width = width;
  params.height = height;
  // The one display whose scale 0 factors libvmaf writes down instead of computing; they differ by some units.
  const bool standard =
      options.csf_mode == 0 && std::fabs(options.norm_view_dist * options.ref_display_height - 3240.0) < 1e-8;
  for (int s = 0; s < kAdmScales; s++) {
    AdmScaleParams &p = params.scale[s];
    p.width = width = (width + 1) / 2;
    p.height = height = (height + 1) / 2;
    p.left = static_cast<int>(width * 0.1 - 0.5);
    p.top = static_cast<int>(height * 0.1 - 0.5);
    p.right = width - p.left;
    p.bottom = height - p.top;

    for (int direction = 0; direction < 2; direction++) {
      p.sensitivity[direction] = adm_sensitivity(options, s, direction);
      p.cubed[direction] = std::pow(static_cast<double>(p.sensitivity[direction]), 3.0);
    }
    for (int band = 0; band < kAdmBands; band++) {
      const double sensitivity = p.sensitivity[band == 2];
      if (s > 0)
        p.csf[band] = static_cast<uint32_t>(static_cast<int64_t>(sensitivity * 0x1p32));
      else if (standard)
        p.csf[band] = band == 2 ? 49417 : 36453;
      else
        p.csf[band] =
            static_cast<uint16_t>(static_cast<int32_t>(sensitivity * (band == 2 ? 0x1p23 : 0x1p21)));
    }

    const double columns = std::log2(static_cast<double>(width));
    for (int band = 0; band < kAdmBands; band++)
      p.col_shift[band] = static_cast<int>(std::ceil(s > 0       ? columns
                                                     : band == 2 ? columns - 3
                                                                 : columns - 4));
    p.row_shift = static_cast<int>(std::ceil(std::log2(static_cast<double>(height))));

    const int region_width = p.right - p.left, region_height = p.bottom - p.top;
    const double area = static_cast<double>(region_width) * region_height;
    if (s == 0) {
      p.den_col_shift = 0;
      p.den_row_shift = larger(static_cast<int>(std::ceil(std::log2(area) - 20)), 0);
    } else {
      p.den_col_shift = static_cast<int>(std::ceil(std::log2(static_cast<double>(region_width))));
      p.den_row_shift = static_cast<int>(std::ceil(std::log2(static_cast<double>(region_height))));
    }
    p.noise = adm_cube_root(static_cast<float>(area * options.noise_weight));
  }
  return params;
}

// ---- Host: scores -----------------------------------------------------------------------------------------

// The cube root of each band's masked sum, plus noise, over the three bands.
inline float adm_pool_masked(const AdmScaleParams &p, int scale, const int64_t sums[kAdmBands], float noise) {
  constexpr int bits0[kAdmBands] = {52, 52, 57};
  constexpr int bits[kAdmScales] = {0, 45, 39, 36};
  volatile float total = 0;
  for (int band = 0; band < kAdmBands; band++) {
    const int shift = p.col_shift[band] + p.row_shift;
    volatile float sum;
    if (scale == 0)
      sum = static_cast<float>(static_cast<double>(sums[band]) / std::ldexp(1.0, bits0[band] - shift));
    else
      sum = static_cast<float>(sums[band]) / std::ldexp(1.0f, bits[scale] - shift);
    const volatile float root = adm_cube_root(sum);
    const volatile float term = root + noise;
    total = band == 0 ? term : total + term;
  }
  return total;
}

inline float adm_pool_den(const AdmScaleParams &p, int scale, const uint64_t sums[kAdmBands]) {
  constexpr int bits[kAdmScales] = {18, 32, 27, 23};
  volatile float total = 0;
  for (int band = 0; band < kAdmBands; band++) {
    const double unit = std::ldexp(1.0, bits[scale] - p.den_col_shift - p.den_row_shift);
    const volatile float sum =
        static_cast<float>(static_cast<double>(sums[band]) / unit * p.cubed[band == 2]);
    const volatile float root = adm_cube_root(sum);
    const volatile float term = root + p.noise;
    total = band == 0 ? term : total + term;
  }
  return total;
}

struct AdmScores {
  double adm2, aim, adm3;
  double score[kAdmScales];
  float num[kAdmScales], den[kAdmScales];
  double total_num, total_den;
};

inline AdmScores adm_finish(const AdmSums &sums, const AdmParams &params) {
  const AdmOptions &options = params.options;
  AdmScores out = {};
  double aim = 0;
  for (int s = 0; s < kAdmScales; s++) {
    const AdmScaleParams &p = params.scale[s];
    const AdmScaleSums &sum = sums.scale[s];
    volatile float aim_s = 0;
    if (s == 0 && options.skip_scale0) {
      out.num[s] = 0;
      out.den[s] = static_cast<float>(1e-10);
    } else {
      out.num[s] = adm_pool_masked(p, s, sum.num, p.noise);
      out.den[s] = adm_pool_den(p, s, sum.den);
      if (!options.skip_aim) aim_s = adm_pool_masked(p, s, sum.aim, 0.0f);
    }
    out.total_num += out.num[s];
    out.total_den += out.den[s];
    aim += aim_s;
    out.score[s] = static_cast<double>(out.num[s]) / static_cast<double>(out.den[s]);
  }
  const double limit = 1e-10 * (static_cast<int64_t>(params.width) * params.height) / (1920.0 * 1080.0);
  if (out.total_num < limit) out.total_num = 0;
  if (out.total_den < limit) out.total_den = 0;
  // Nothing to lose: only possible without noise.
  out.adm2 = out.total_den == 0 ? 1.0 : out.total_num / out.total_den;
  out.aim = out.total_den == 0 ? 0.0 : aim / out.total_den;
  out.adm3 =
      larger(out.adm2 * options.dlm_weight + (1 - out.aim) * (1 - options.dlm_weight), options.min_val);
  return out;
}

}  // namespace vmafhip
