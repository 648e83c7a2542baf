// SSIMULACRA 2: structural similarity, artefacts and lost detail in the colour space XYB, on up to six scales.
//
//   samples -> R'G'B' -> linear RGB -> XYB     floats, as are the pictures of coarser scales: means of 2x2 linear pixels
//   Gaussian means of a, b, a^2, b^2, ab       floats, by recursion along rows and then along columns
//   three maps, their sums and 4th powers      doubles
//   score = 100 - 10 v^0.63                    v: weighted sum of means and 4th roots; 100 is identical
//
// Every operation is where the scalar code of libvmaf's fork has it, and every map has its bits. Only the sums are
// taken in another order, which leaves the last bits of a double to them: each column of a map is summed from the top,
// and lane_sum.h adds the columns.
#pragma once
#include <cmath>
#include <cstdint>

#include "engine/arith/lane_sum.h"
#include "engine/arith/real.h"

namespace vmafhip {

constexpr int kSsimulacra2Scales = 6;
constexpr int kSsimulacra2MinSize = 8;  // of a scale, in both directions
constexpr int kSsimulacra2Channels = 3, kSsimulacra2Maps = 3;

struct Ssimulacra2Params {
  int yuv_matrix = 0;  // 0: BT.709 limited, 1: BT.601 limited, 2: BT.709 full, 3: BT.601 full
};

// Of maps (structure, artefacts, lost detail) and then of their 4th powers.
struct Ssimulacra2Sums {
  double sum[kSsimulacra2Scales][kSsimulacra2Channels][2 * kSsimulacra2Maps] = {};
};

// Scales that a picture has.
VMAFHIP_HD int ssimulacra2_scales(int width, int height) {
  int scales = 0;
  while (scales < kSsimulacra2Scales && width >= kSsimulacra2MinSize && height >= kSsimulacra2MinSize) {
    scales++;
    width = (width + 1) / 2;
    height = (height + 1) / 2;
  }
  return scales;
}

// ---- Colours. Chroma is replicated: that of pixel (x, y) is at x / 2, y / 2 where it is halved, its planes rounded up.

struct Ssimulacra2Range {
  float step;  // 1 / the largest code: black is 16/255 at every depth
  float black, luma, chroma;
  float r_cr, g_cb, g_cr, b_cb;
};

VMAFHIP_HD Ssimulacra2Range ssimulacra2_range(const Ssimulacra2Params &params, int depth) {
  const bool full = params.yuv_matrix >= 2, bt601 = params.yuv_matrix % 2 == 1;
  const float kr = bt601 ? 0.299f : 0.2126f, kg = bt601 ? 0.587f : 0.7152f, kb = bt601 ? 0.114f : 0.0722f;
  Ssimulacra2Range range;
  range.step = 1.0f / static_cast<float>((1 << depth) - 1);
  range.black = full ? 0.0f : 16.0f / 255.0f;
  range.luma = full ? 1.0f : 255.0f / 219.0f;
  range.chroma = full ? 1.0f : 255.0f / 224.0f;
  range.r_cr = 2.0f * (1.0f - kr);
  range.b_cb = 2.0f * (1.0f - kb);
  range.g_cb = -(2.0f * kb * (1.0f - kb)) / kg;
  range.g_cr = -(2.0f * kr * (1.0f - kr)) / kg;
  return range;
}

template <class R>
struct Ssimulacra2Colour {
  R plane[kSsimulacra2Channels];  // R, G, B or X, Y, B
};

template <class R>
VMAFHIP_HD R ssimulacra2_unit(R v) {
  return minimum(maximum(v, splat<R>(0.0)), splat<R>(1.0));
}

// R'G'B' from 0 to 1 of codes.
template <class R>
VMAFHIP_HD Ssimulacra2Colour<R> ssimulacra2_coded(R luma, R cb, R cr, const Ssimulacra2Range &range) {
  const R y = (luma * range.step - range.black) * range.luma;
  const R u = (cb * range.step - 0.5f) * range.chroma, v = (cr * range.step - 0.5f) * range.chroma;
  return {ssimulacra2_unit(y + v * range.r_cr), ssimulacra2_unit((y + u * range.g_cb) + v * range.g_cr),
          ssimulacra2_unit(y + u * range.b_cb)};
}

// sRGB's curve in 1023 straight pieces: value at i / 1023, and from there to the next one.
struct Ssimulacra2Piece {
  float value, step;
};
constexpr int kSsimulacra2Pieces = 1024;

inline void ssimulacra2_fill_curve(Ssimulacra2Piece *curve) {
  for (int i = 0; i < kSsimulacra2Pieces; i++) {
    const double v = i / 1023.0;
    curve[i].value = static_cast<float>(v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
    curve[i].step = 0.0f;
    if (i > 0) curve[i - 1].step = curve[i].value - curve[i - 1].value;
  }
}

// Where a coded value lies: piece truncate(position), and how far into it.
template <class R>
VMAFHIP_HD R ssimulacra2_position(R coded) {
  return coded * 1023.0f;
}

// Cube root of x from 2^-100 to 2^100, a few units in the last place off: the third of the exponent and two of
// Newton's steps.
template <class R>
VMAFHIP_HD R ssimulacra2_root(R x) {
  R y = real_of(bits_of(x) / 3 + 0x2a5137a0);
  y = (2.0f * y + x / (y * y)) * (1.0f / 3.0f);
  return (2.0f * y + x / (y * y)) * (1.0f / 3.0f);
}

// Linear RGB is never negative, so that roots are of kBias at least.
template <class R>
VMAFHIP_HD Ssimulacra2Colour<R> ssimulacra2_xyb(const Ssimulacra2Colour<R> &rgb) {
  constexpr float kBias = 0.0037930732552754493f;
  constexpr float kL[] = {0.30f, 1.0f - 0.30f - 0.078f, 0.078f};
  constexpr float kM[] = {0.23f, 1.0f - 0.23f - 0.078f, 0.078f};
  constexpr float kS0 = 0.24342268924547819f, kS1 = 0.20476744424496821f;
  constexpr float kS[] = {kS0, kS1, 1.0f - kS0 - kS1};
  const float black = ssimulacra2_root(kBias);
  const R r = rgb.plane[0], g = rgb.plane[1], b = rgb.plane[2];
  const R l = ssimulacra2_root(((r * kL[0] + g * kL[1]) + b * kL[2]) + kBias) - black;
  const R m = ssimulacra2_root(((r * kM[0] + g * kM[1]) + b * kM[2]) + kBias) - black;
  const R s = ssimulacra2_root(((r * kS[0] + g * kS[1]) + b * kS[2]) + kBias) - black;
  const R x = 0.5f * (l - m), y = 0.5f * (l + m);
  return {x * 14.0f + 0.42f, y + 0.01f, (s - y) + 0.55f};
}

// A pixel of the next scale; beyond the last column and row these repeat.
template <class R>
VMAFHIP_HD R ssimulacra2_half(R top_left, R top_right, R bottom_left, R bottom_right) {
  return (((top_left + top_right) + bottom_left) + bottom_right) * 0.25f;
}

// ---- Blur: a Gaussian of sigma 1.5, approximated by three cosines over 2 N - 1 samples, zeros beyond the border.
//
// Output t of n is that of step t for steps t = 1 - N to n - 1, whose input is sample t - N - 1 plus sample t + N - 1;
// states start at 0. Each cosine, w = k pi / (2 N) for k = 1, 3, 5, is a recursion with the factor -2 cos w; the
// weights make the three sums agree with the Gaussian's. tests/ssimulacra2_test.cpp derives both.

constexpr int kSsimulacra2Radius = 5;                       // N
constexpr int kSsimulacra2Ahead = kSsimulacra2Radius - 1;   // from an output to the latest input
constexpr int kSsimulacra2Window = 2 * kSsimulacra2Radius;  // between the two inputs
VMAFHIP_TABLE float kSsimulacra2BlurWeights[] = {0.0552952364f, -0.0588366874f, 0.0129558193f};
VMAFHIP_TABLE float kSsimulacra2BlurFactors[] = {-1.90211308f, -1.17557049f, -1.22464685e-16f};

template <class R>
struct Ssimulacra2Blur {
  R last[3], before[3];
};

template <class R>
VMAFHIP_HD R ssimulacra2_blur_step(Ssimulacra2Blur<R> &state, R oldest, R newest) {
  const R sum = oldest + newest;
  R out[3];
  for (int k = 0; k < 3; k++) {
    out[k] =
        (sum * kSsimulacra2BlurWeights[k] - state.last[k] * kSsimulacra2BlurFactors[k]) - state.before[k];
    state.before[k] = state.last[k];
    state.last[k] = out[k];
  }
  return (out[0] + out[1]) + out[2];
}

// ---- Maps

template <class R>
struct Ssimulacra2Pixel {
  R a, b;                       // reference and distorted
  R mean_a, mean_b;             // blurred
  R mean_aa, mean_bb, mean_ab;  // blurred products
};

template <class W>
struct Ssimulacra2Values {
  W map[kSsimulacra2Maps];
};

// By how much the distorted picture is further from its mean; less than 0 where it is nearer.
template <class R>
VMAFHIP_HD WideOf<R> ssimulacra2_gain(R a, R b, R mean_a, R mean_b) {
  using W = WideOf<R>;
  const W edge_a = absolute(widen(a) - widen(mean_a)), edge_b = absolute(widen(b) - widen(mean_b));
  return (1.0 + edge_b) / (1.0 + edge_a) - 1.0;
}

template <class R>
VMAFHIP_HD Ssimulacra2Values<WideOf<R>> ssimulacra2_maps(const Ssimulacra2Pixel<R> &p) {
  using W = WideOf<R>;
  constexpr float kFloor = 0.0009f;
  const R apart = p.mean_a - p.mean_b;
  const R means = 1.0f - apart * apart;
  const R structure = 2.0f * (p.mean_ab - p.mean_a * p.mean_b) + kFloor;
  const R contrast = ((p.mean_aa - p.mean_a * p.mean_a) + (p.mean_bb - p.mean_b * p.mean_b)) + kFloor;
  const W zero = splat<W>(0.0);
  const W loss = 1.0 - widen(means) * widen(structure) / widen(contrast);
  const W gain = ssimulacra2_gain(p.a, p.b, p.mean_a, p.mean_b);
  return {maximum(loss, zero), maximum(gain, zero), maximum(-gain, zero)};
}

// The second of these maps.
constexpr int kSsimulacra2Artefacts = 1;
template <class R>
VMAFHIP_HD WideOf<R> ssimulacra2_artefacts(R a, R b, R mean_a, R mean_b) {
  return maximum(ssimulacra2_gain(a, b, mean_a, mean_b), splat<WideOf<R>>(0.0));
}

template <class W>
VMAFHIP_HD W ssimulacra2_power4(W v) {
  const W square = v * v;
  return square * square;
}

// ---- Score

// By channel and scale; in a row: means of the three maps, then 4th roots.
constexpr double kSsimulacra2Weights[kSsimulacra2Channels][kSsimulacra2Scales][2 * kSsimulacra2Maps] = {
    {
        {0, 0.0007376606707406586, 0, 0, 0.0007793481682867309, 0},
        {0, 0.0004371155730107379, 0, 1.1041726426657346, 0.00066284834129271, 0.00015231632783718752},
        {0, 0.0016406437456599754, 0, 1.8422455520539298, 11.441172603757666, 0},
        {0.0007989109436015163, 0.000176816438078653, 0, 1.8787594979546387, 10.94906990605142, 0},
        {0.0007289346991508072, 0.9677937080626833, 0, 0.00014003424285435884, 0.9981766977854967,
         0.00031949755934435053},
        {0.0004550992113792063, 0, 0, 0.0013648766163243398, 0, 0},
    },
    {
        {0, 0, 0, 7.466890328078848, 0, 17.445833984131262},
        {0.0006235601634041466, 0, 0, 6.683678146179332, 0.00037724407979611296, 1.027889937768264},
        {225.20515300849274, 0, 0, 19.213238186143016, 0.0011401524586618361, 0.001237755635509985},
        {176.39317598450694, 0, 0, 24.43300999870476, 0.28520802612117757, 0.0004485436923833408},
        {0, 0, 0, 34.77906344483772, 44.835625328877896, 0},
        {0, 0, 0, 0, 0, 0},
    },
    {
        {0, 0.0008680556573291698, 0, 0, 0, 0},
        {0, 0.0005313191874358747, 0, 0.00016533814161379112, 0, 0},
        {0, 0, 0, 0.0004179171803251336, 0.0017290828234722833, 0},
        {0.0020827005846636437, 0, 0, 8.826982764996862, 23.19243343998926, 0},
        {95.1080498811086, 0.9863978034400682, 0.9834382792465353, 0.0012286405048278493, 171.2667255897307,
         0.9807858872435379},
        {0, 0, 0, 0.0005130064588990679, 0, 0.00010854057858411537},
    },
};

// Whether the maps of structure and of lost detail have no weight. Then they are left out, and so is what they alone would
// need: squares and products. Their sums are 0. (Host only, and of no linkage as all here.)
[[gnu::always_inline]] static inline constexpr bool ssimulacra2_artefacts_alone(int scale, int channel) {
  for (int k = 0; k < 2 * kSsimulacra2Maps; k++)
    if (k % kSsimulacra2Maps != kSsimulacra2Artefacts && kSsimulacra2Weights[channel][scale][k] != 0)
      return false;
  return true;
}

inline double ssimulacra2_score(const Ssimulacra2Sums &sums, int width, int height) {
  const int scales = ssimulacra2_scales(width, height);
  double one_pixel[kSsimulacra2Scales] = {};
  for (int s = 0; s < scales; s++) {
    one_pixel[s] = 1.0 / (static_cast<double>(width) * height);
    width = (width + 1) / 2;
    height = (height + 1) / 2;
  }
  double v = 0;
  for (int c = 0; c < kSsimulacra2Channels; c++)
    for (int s = 0; s < scales; s++)
      for (int k = 0; k < 2 * kSsimulacra2Maps; k++) {
        double mean = sums.sum[s][c][k] * one_pixel[s];
        if (k >= kSsimulacra2Maps) mean = std::sqrt(std::sqrt(mean));
        v += kSsimulacra2Weights[c][s][k] * std::fabs(mean);
      }
  v *= 0.9562382616834844;
  v = 2.326765642916932 * v - 0.020884521182843837 * v * v + 6.248496625763138e-05 * v * v * v;
  return v > 0 ? 100.0 - 10.0 * std::pow(v, 0.6276336467831387) : 100.0;
}

}  // namespace vmafhip
