#include "tests/clipgen/clipgen.h"

#include <algorithm>
#include <stdexcept>

namespace vmafhip::clipgen {
namespace {

static_assert((-1 >> 1) == -1, "needs arithmetic right shift of negative values");

// ---------------------------------------------------------------- numbers --

// Scene samples are computed on a 16-bit scale whatever the output depth.
constexpr int32_t kSceneMid = 32768;
constexpr int32_t kSceneMax = 65535;
constexpr int32_t kStudioMin = 16 << 8;
constexpr int32_t kStudioMax = 235 << 8;

int32_t clamp_to(int64_t value, int32_t low, int32_t high) {
  return static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(value, low), high));
}

int64_t floor_div(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - ((value % divisor != 0) && ((value < 0) != (divisor < 0)));
}

int64_t floor_mod(int64_t value, int64_t divisor) { return value - floor_div(value, divisor) * divisor; }

// Nearest integer to value / divisor (divisor > 0), halves away from zero.
int64_t round_div(int64_t value, int64_t divisor) {
  return value >= 0 ? (value + divisor / 2) / divisor : -((-value + divisor / 2) / divisor);
}

uint32_t mix(uint32_t h) {  // Murmur3 finalizer
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  h ^= h >> 16;
  return h;
}

uint32_t hash(uint32_t seed, int32_t a, int32_t b, int32_t c) {
  uint32_t h = mix(seed + 0x9e3779b9u);
  h = mix(h ^ (static_cast<uint32_t>(a) + 0x7f4a7c15u));
  h = mix(h ^ (static_cast<uint32_t>(b) + 0x94d049bbu));
  h = mix(h ^ (static_cast<uint32_t>(c) + 0xbf58476du));
  return h;
}

// Triangle wave: bounces between 0 and range.
int64_t bounce(int64_t position, int64_t range) {
  if (range <= 0) return 0;
  const int64_t phase = floor_mod(position, 2 * range);
  return phase <= range ? phase : 2 * range - phase;
}

// Zero-mean bell-shaped noise in [-510, 510] with standard deviation ~147.8.
int32_t grain_noise(uint32_t seed, int32_t frame, int32_t x, int32_t y) {
  const uint32_t h = hash(seed, frame, x, y);
  return static_cast<int32_t>((h & 255) + ((h >> 8) & 255) + ((h >> 16) & 255) + (h >> 24)) - 510;
}

// ------------------------------------------------------------ value noise --

struct Octave {
  int log2_cell;  // lattice spacing is 2^log2_cell luma pixels
  int32_t gain;   // contribution = gain * noise / 256, noise in [-32768, 32767]
};

int64_t smoothstep_q12(int64_t t) { return (t * t * (3 * 4096 - 2 * t)) >> 24; }

// Adds one octave of value noise to a row of accumulators. Sample i of the row
// is at luma position (origin_x + i * step_x, origin_y), in 1/256 pixel.
void add_noise_row(uint32_t seed, const Octave &octave, int64_t origin_x, int64_t step_x, int64_t origin_y,
                   std::vector<int64_t> &row) {
  const int shift = octave.log2_cell + 8;
  const int64_t mask = (int64_t{1} << shift) - 1;
  const auto lattice = [&](int64_t i, int64_t j) {
    return static_cast<int64_t>(
               hash(seed, octave.log2_cell, static_cast<int32_t>(i), static_cast<int32_t>(j)) >> 16) -
           32768;
  };
  const int64_t cell_y = origin_y >> shift;
  const int64_t weight_y = smoothstep_q12(((origin_y & mask) << 12) >> shift);
  const auto column = [&](int64_t i) {
    return (lattice(i, cell_y) * (4096 - weight_y) + lattice(i, cell_y + 1) * weight_y) >> 12;
  };
  int64_t cell_x = (origin_x >> shift) - 1;
  int64_t left = 0;
  int64_t right = column(cell_x + 1);
  int64_t x = origin_x;
  for (int64_t &sum : row) {
    while (cell_x < (x >> shift)) {
      ++cell_x;
      left = right;
      right = column(cell_x + 1);
    }
    const int64_t weight_x = smoothstep_q12(((x & mask) << 12) >> shift);
    const int64_t noise = (left * (4096 - weight_x) + right * weight_x) >> 12;
    sum += (noise * octave.gain) >> 8;
    x += step_x;
  }
}

// --------------------------------------------------------------- geometry --

struct Raster {
  int width, height;
  std::vector<int32_t> samples;

  Raster(int w, int h) : width(w), height(h), samples(static_cast<size_t>(w) * h) {}
  int32_t &at(int x, int y) { return samples[static_cast<size_t>(y) * width + x]; }
  int32_t at(int x, int y) const { return samples[static_cast<size_t>(y) * width + x]; }
  int32_t clamped(int x, int y) const {
    return at(std::min(std::max(x, 0), width - 1), std::min(std::max(y, 0), height - 1));
  }
};

// ----------------------------------------------------------------- scenes --

enum class Content { natural, cut, gradient, grain, stripes, white_noise, flat, black };

struct Scene {
  const Format &format;
  Content content;
  uint32_t seed;
};

// Parameters that change at a scene cut.
struct Shot {
  uint32_t seed;
  int64_t pan_x, pan_y;  // 1/256 luma pixel per frame
  int32_t base;          // mean luma, 16-bit scale
};

Shot shot_at(const Scene &scene, int frame) {
  const bool second = scene.content == Content::cut && frame >= scene.format.frames / 2;
  if (second) return {scene.seed + 7919, -592, 208, 38000};
  return {scene.seed, 352, 96, 27000};
}

const Octave kLumaOctaves[] = {{7, 64}, {6, 60}, {5, 52}, {4, 44}, {3, 34}, {2, 24}, {1, 15}, {0, 8}};
const Octave kMaskOctaves[] = {{8, 200}, {6, 100}};
const Octave kChromaOctaves[] = {{7, 56}, {5, 32}, {3, 12}};

// A textured background: octave noise whose strength varies over the picture,
// so that smooth and busy areas both occur, on a diagonal ramp.
void render_texture(const Scene &scene, int frame, int plane, Raster &out) {
  const Format &f = scene.format;
  const Shot shot = shot_at(scene, frame);
  const int sx = plane ? f.sub_x : 1, sy = plane ? f.sub_y : 1;
  const int64_t origin_x = shot.pan_x * frame, pan_y = shot.pan_y * frame;
  std::vector<int64_t> texture(out.width), mask(out.width);
  for (int y = 0; y < out.height; ++y) {
    const int64_t luma_y = static_cast<int64_t>(y) * sy;
    const int64_t origin_y = luma_y * 256 + pan_y;
    std::fill(texture.begin(), texture.end(), 0);
    std::fill(mask.begin(), mask.end(), 0);
    if (plane == 0) {
      for (const Octave &o : kLumaOctaves) add_noise_row(shot.seed, o, origin_x, 256, origin_y, texture);
      for (const Octave &o : kMaskOctaves) add_noise_row(shot.seed + 101, o, origin_x, 256, origin_y, mask);
    } else {
      for (const Octave &o : kChromaOctaves)
        add_noise_row(shot.seed + 500 + plane, o, origin_x, 256 * sx, origin_y, texture);
    }
    for (int x = 0; x < out.width; ++x) {
      if (plane == 0) {
        const int64_t strength = clamp_to(160 + (mask[x] >> 7), 12, 384);  // /256
        const int64_t ramp = (int64_t{14000} * x) / f.width - (int64_t{7000} * y) / f.height;
        out.at(x, y) = clamp_to(shot.base + ramp + ((texture[x] * strength) >> 8), kStudioMin, kStudioMax);
      } else {
        out.at(x, y) = clamp_to(kSceneMid + texture[x], kStudioMin, 240 << 8);
      }
    }
  }
}

// A striped disc that bounces inside the picture and a checkered bar that
// travels along its lower part: hard edges with motion of their own.
void render_objects(const Scene &scene, int frame, int plane, Raster &out) {
  const Format &f = scene.format;
  const int sx = plane ? f.sub_x : 1, sy = plane ? f.sub_y : 1;
  const int64_t radius = std::max(4, std::min(f.width, f.height) / 6);
  const int64_t disc_x = radius + bounce(f.width / 5 + 7 * frame, f.width - 2 * radius);
  const int64_t disc_y = radius + bounce(f.height / 7 + 3 * frame, f.height - 2 * radius);
  const int64_t bar_width = std::max(8, f.width / 4), bar_height = std::max(4, f.height / 12);
  const int64_t bar_x = bounce(f.width / 3 + 5 * frame, f.width - bar_width);
  const int64_t bar_y = f.height - 2 * bar_height;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const int64_t luma_x = static_cast<int64_t>(x) * sx, luma_y = static_cast<int64_t>(y) * sy;
      const int64_t dx = luma_x - disc_x, dy = luma_y - disc_y;
      if (dx * dx + dy * dy < radius * radius) {
        const bool bright = ((dx + dy) >> 3) & 1;
        if (plane == 0)
          out.at(x, y) = bright ? 52000 : 12000;
        else
          out.at(x, y) = (plane == 1) == bright ? 44000 : 22000;
      }
      const int64_t bx = luma_x - bar_x, by = luma_y - bar_y;
      if (bx >= 0 && bx < bar_width && by >= 0 && by < bar_height) {
        const bool bright = ((bx >> 1) ^ (by >> 1)) & 1;
        if (plane == 0)
          out.at(x, y) = bright ? 56000 : 6000;
        else
          out.at(x, y) = kSceneMid;
      }
    }
  }
}

// Adds grain of standard deviation ~ strength * 148 / 256 on the 16-bit scale.
void add_scene_grain(uint32_t seed, int frame, int plane, int32_t strength, Raster &out) {
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      const int32_t noise = grain_noise(seed + 9000 + plane, frame, x, y);
      out.at(x, y) = clamp_to(out.at(x, y) + ((noise * strength) >> 8), 0, kSceneMax);
    }
}

// Slow ramps and one soft, drifting glow: the picture that shows banding.
void render_gradient(const Scene &scene, int frame, int plane, Raster &out) {
  const Format &f = scene.format;
  const int sx = plane ? f.sub_x : 1, sy = plane ? f.sub_y : 1;
  const int64_t glow_x = bounce(f.width / 4 + 2 * frame, f.width);
  const int64_t glow_y = f.height / 3;
  const int64_t reach = static_cast<int64_t>(f.width) * f.width / 4;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const int64_t luma_x = static_cast<int64_t>(x) * sx, luma_y = static_cast<int64_t>(y) * sy;
      const int64_t dx = luma_x - glow_x, dy = luma_y - glow_y;
      const int64_t glow = std::max<int64_t>(0, 9000 - 9000 * (dx * dx + dy * dy) / reach);
      const int64_t ramp = 10000 * luma_x / f.width + 6000 * luma_y / f.height;
      if (plane == 0)
        out.at(x, y) = clamp_to(14000 + ramp + glow, kStudioMin, kStudioMax);
      else
        out.at(x, y) = clamp_to(kSceneMid + (plane == 1 ? ramp - 8000 : 8000 - ramp) / 2 + glow / 3,
                                kStudioMin, 240 << 8);
    }
  }
}

// Full-swing stripes, bars and checks: the extremes of every filter.
void render_stripes(const Scene &scene, int frame, int plane, Raster &out) {
  const Format &f = scene.format;
  const int sx = plane ? f.sub_x : 1, sy = plane ? f.sub_y : 1;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const int luma_x = x * sx + frame, luma_y = y * sy;
      const int band = 4 * luma_y / f.height;
      bool bright = false;
      if (band == 0)
        bright = (luma_x ^ luma_y) & 1;
      else if (band == 1)
        bright = (luma_x >> 2) & 1;
      else if (band == 2)
        bright = ((luma_x >> 4) ^ (luma_y >> 4)) & 1;
      else
        bright = (luma_y >> 3) & 1;
      out.at(x, y) = bright == (plane != 2) ? kSceneMax : 0;
    }
  }
}

Raster render_scene(const Scene &scene, int frame, int plane) {
  Raster out(scene.format.plane_width(plane), scene.format.plane_height(plane));
  const auto fill = [&](int32_t value) { std::fill(out.samples.begin(), out.samples.end(), value); };
  switch (scene.content) {
    case Content::natural:
    case Content::cut:
    case Content::grain:
      render_texture(scene, frame, plane, out);
      render_objects(scene, frame, plane, out);
      add_scene_grain(scene.seed, frame, plane,
                      scene.content == Content::grain ? (plane ? 1500 : 3600) : (plane ? 200 : 480), out);
      break;
    case Content::gradient:
      render_gradient(scene, frame, plane, out);
      add_scene_grain(scene.seed, frame, plane, 100, out);
      break;
    case Content::stripes:
      render_stripes(scene, frame, plane, out);
      break;
    case Content::white_noise:
      for (int y = 0; y < out.height; ++y)
        for (int x = 0; x < out.width; ++x)
          out.at(x, y) = static_cast<int32_t>(hash(scene.seed + 77 + plane, frame, x, y) >> 16);
      break;
    case Content::flat:
      fill(plane == 0 ? 90 << 8 : plane == 1 ? 110 << 8 : 150 << 8);
      break;
    case Content::black:
      fill(plane == 0 ? 0 : kSceneMid);
      break;
  }
  const int shift = 16 - scene.format.depth;
  for (int32_t &sample : out.samples) sample >>= shift;
  return out;
}

// ------------------------------------------------------------ distortions --
// These act on reference samples of the output depth. Strengths are given for
// 8-bit samples and scale with depth through `unit` = 1 << (depth - 8).

enum class Distortion {
  same,
  blur,
  block,
  noise,
  band,
  sharpen,
  black_frames,
  freeze,
  rescale,
  shift,
  offset,
  invert,
  white
};

struct Range {
  int32_t unit, mid, max;
};

int32_t quantise(int32_t sample, int32_t step, const Range &range) {
  return clamp_to(floor_div(sample + step / 2, step) * step, 0, range.max);
}

// One pass of the separable 1-4-6-4-1 kernel, edges replicated.
Raster binomial_blur(const Raster &in) {
  static const int kKernel[5] = {1, 4, 6, 4, 1};
  Raster rows(in.width, in.height), out(in.width, in.height);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      int32_t sum = 0;
      for (int k = 0; k < 5; ++k) sum += kKernel[k] * in.clamped(x, y + k - 2);
      rows.at(x, y) = sum;
    }
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      int64_t sum = 128;
      for (int k = 0; k < 5; ++k) sum += static_cast<int64_t>(kKernel[k]) * rows.clamped(x + k - 2, y);
      out.at(x, y) = static_cast<int32_t>(sum >> 8);
    }
  return out;
}

Raster blur_and_quantise(const Raster &in, int strength, const Range &range) {
  Raster out = in;
  for (int pass = 0; pass < strength; ++pass) out = binomial_blur(out);
  for (int32_t &sample : out.samples) sample = quantise(sample, strength * range.unit, range);
  return out;
}

// Hadamard-order index of each sequency.
const int kHadamardIndex[8] = {0, 4, 6, 2, 3, 7, 5, 1};

void hadamard8(int64_t *a) {
  for (int half = 1; half < 8; half *= 2)
    for (int i = 0; i < 8; ++i)
      if (!(i & half)) {
        const int64_t sum = a[i] + a[i + half], difference = a[i] - a[i + half];
        a[i] = sum;
        a[i + half] = difference;
      }
}

// In-place 8-point Walsh-Hadamard transform, coefficients in sequency order.
void walsh_hadamard8(int64_t *v, int stride) {
  int64_t a[8];
  for (int i = 0; i < 8; ++i) a[i] = v[i * stride];
  hadamard8(a);
  for (int i = 0; i < 8; ++i) v[i * stride] = a[kHadamardIndex[i]];
}

// Undoes walsh_hadamard8 up to a factor of 8.
void inverse_walsh_hadamard8(int64_t *v, int stride) {
  int64_t a[8];
  for (int i = 0; i < 8; ++i) a[kHadamardIndex[i]] = v[i * stride];
  hadamard8(a);
  for (int i = 0; i < 8; ++i) v[i * stride] = a[i];
}

// Block-transform coding: 8x8 Walsh-Hadamard, uniform quantisation whose step
// grows with sequency, inverse. Edges replicated into partial blocks.
Raster block_quantise(const Raster &in, int strength, const Range &range) {
  Raster out(in.width, in.height);
  int64_t block[64];
  for (int by = 0; by < in.height; by += 8)
    for (int bx = 0; bx < in.width; bx += 8) {
      for (int i = 0; i < 64; ++i) block[i] = in.clamped(bx + i % 8, by + i / 8);
      for (int i = 0; i < 8; ++i) walsh_hadamard8(block + 8 * i, 1);
      for (int i = 0; i < 8; ++i) walsh_hadamard8(block + i, 8);
      for (int i = 0; i < 64; ++i) {
        const int64_t step = int64_t{8} * strength * range.unit * (2 + i % 8 + i / 8) / 2;
        block[i] = round_div(block[i], step) * step;
      }
      for (int i = 0; i < 8; ++i) inverse_walsh_hadamard8(block + i, 8);
      for (int i = 0; i < 8; ++i) inverse_walsh_hadamard8(block + 8 * i, 1);
      for (int i = 0; i < 64; ++i) {
        const int x = bx + i % 8, y = by + i / 8;
        if (x < in.width && y < in.height) out.at(x, y) = clamp_to(round_div(block[i], 64), 0, range.max);
      }
    }
  return out;
}

Raster add_noise(const Raster &in, uint32_t seed, int frame, int plane, int strength, const Range &range) {
  Raster out = in;
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      const int64_t noise = grain_noise(seed + 4242 + plane, frame, x, y);
      out.at(x, y) = clamp_to(in.at(x, y) + round_div(noise * strength * range.unit, 148), 0, range.max);
    }
  return out;
}

Raster band(const Raster &in, int strength, const Range &range) {
  Raster out = in;
  for (int32_t &sample : out.samples) sample = quantise(sample, strength * range.unit, range);
  return out;
}

// Unsharp masking followed by a contrast gain about mid grey.
Raster sharpen(const Raster &in, int strength, int plane, const Range &range) {
  const Raster soft = binomial_blur(in);
  Raster out = in;
  for (size_t i = 0; i < in.samples.size(); ++i) {
    const int64_t sharp = in.samples[i] + round_div(int64_t{strength} * (in.samples[i] - soft.samples[i]), 8);
    const int64_t gain = plane == 0 ? 16 + strength / 4 : 16;  // /16
    out.samples[i] = clamp_to(range.mid + round_div((sharp - range.mid) * gain, 16), 0, range.max);
  }
  return out;
}

// Halve by 2x2 averaging, then double with bilinear weights 9-3-3-1.
Raster halve_and_double(const Raster &in) {
  Raster half((in.width + 1) / 2, (in.height + 1) / 2);
  for (int y = 0; y < half.height; ++y)
    for (int x = 0; x < half.width; ++x)
      half.at(x, y) = (in.clamped(2 * x, 2 * y) + in.clamped(2 * x + 1, 2 * y) +
                       in.clamped(2 * x, 2 * y + 1) + in.clamped(2 * x + 1, 2 * y + 1) + 2) >>
                      2;
  Raster out(in.width, in.height);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      const int near_x = x / 2, near_y = y / 2;
      const int far_x = near_x + (x % 2 ? 1 : -1), far_y = near_y + (y % 2 ? 1 : -1);
      out.at(x, y) = (9 * half.clamped(near_x, near_y) + 3 * half.clamped(far_x, near_y) +
                      3 * half.clamped(near_x, far_y) + half.clamped(far_x, far_y) + 8) >>
                     4;
    }
  return out;
}

struct Recipe {
  const char *name;
  Content content;
  Distortion distortion;
  int strength;
  const char *purpose;
};

const Recipe kRecipes[] = {
    {"natural-same", Content::natural, Distortion::same, 0, "identical pair"},
    {"natural-blur", Content::natural, Distortion::blur, 2, "blur and quantisation"},
    {"natural-block", Content::natural, Distortion::block, 6, "8x8 block coding"},
    {"natural-coarse", Content::natural, Distortion::block, 24, "very coarse 8x8 block coding"},
    {"natural-noise", Content::natural, Distortion::noise, 6, "additive noise"},
    {"natural-sharpen", Content::natural, Distortion::sharpen, 8, "enhancement: NEG models differ"},
    {"natural-rescale", Content::natural, Distortion::rescale, 0, "half-resolution rendition"},
    {"natural-shift", Content::natural, Distortion::shift, 1, "displaced by one sample"},
    {"natural-offset", Content::natural, Distortion::offset, 3, "brightness offset"},
    {"natural-freeze", Content::natural, Distortion::freeze, 3, "every third frame is repeated twice"},
    {"natural-blackframes", Content::natural, Distortion::black_frames, 4, "one frame in four is black"},
    {"natural-invert", Content::natural, Distortion::invert, 0, "negative image: worst case"},
    {"cut-block", Content::cut, Distortion::block, 10, "scene cut, block coding"},
    {"cut-blur", Content::cut, Distortion::blur, 1, "scene cut, light blur"},
    {"grain-blur", Content::grain, Distortion::blur, 1, "film grain, denoised"},
    {"grain-block", Content::grain, Distortion::block, 12, "film grain, block coding"},
    {"gradient-same", Content::gradient, Distortion::same, 0, "gradients, identical pair"},
    {"gradient-band", Content::gradient, Distortion::band, 4, "banding"},
    {"gradient-fineband", Content::gradient, Distortion::band, 1, "banding one 8-bit level high"},
    {"gradient-noise", Content::gradient, Distortion::noise, 2, "gradients, additive noise"},
    {"stripes-same", Content::stripes, Distortion::same, 0, "full-swing patterns, identical pair"},
    {"stripes-blur", Content::stripes, Distortion::blur, 3, "full-swing patterns, blurred"},
    {"stripes-invert", Content::stripes, Distortion::invert, 0, "full-swing patterns, inverted"},
    {"white-noise", Content::white_noise, Distortion::noise, 20, "full-range white noise plus noise"},
    {"flat-same", Content::flat, Distortion::same, 0, "constant frames, identical pair"},
    {"flat-offset", Content::flat, Distortion::offset, 2, "constant frames, brightness offset"},
    {"flat-noise", Content::flat, Distortion::noise, 3, "noise on constant frames"},
    {"black-same", Content::black, Distortion::same, 0, "black frames, identical pair"},
    {"black-white", Content::black, Distortion::white, 0, "black against full white: worst error"},
};

const Recipe &find_recipe(const std::string &name) {
  for (const Recipe &recipe : kRecipes)
    if (name == recipe.name) return recipe;
  throw std::invalid_argument("unknown clip '" + name + "'");
}

void fill(Raster &raster, int32_t value) { std::fill(raster.samples.begin(), raster.samples.end(), value); }

// What a distortion makes of the reference's frame `frame`.
Raster distort(const Recipe &recipe, uint32_t seed, int depth, Raster ref, int frame, int plane) {
  const Range range{1 << (depth - 8), 1 << (depth - 1), (1 << depth) - 1};
  const int strength = recipe.strength;
  switch (recipe.distortion) {
    case Distortion::same:
    case Distortion::freeze:
      break;
    case Distortion::blur:
      return blur_and_quantise(ref, strength, range);
    case Distortion::block:
      return block_quantise(ref, strength, range);
    case Distortion::noise:
      return add_noise(ref, seed, frame, plane, strength, range);
    case Distortion::band:
      return band(ref, strength, range);
    case Distortion::sharpen:
      return sharpen(ref, strength, plane, range);
    case Distortion::black_frames:
      if (frame % strength == strength - 1) fill(ref, plane == 0 ? 16 * range.unit : range.mid);
      break;
    case Distortion::rescale:
      return halve_and_double(ref);
    case Distortion::shift: {
      Raster out = ref;
      for (int y = 0; y < ref.height; ++y)
        for (int x = 0; x < ref.width; ++x) out.at(x, y) = ref.clamped(x - strength, y);
      return out;
    }
    case Distortion::offset:
      for (int32_t &sample : ref.samples) sample = clamp_to(sample + strength * range.unit, 0, range.max);
      break;
    case Distortion::invert:
      for (int32_t &sample : ref.samples) sample = range.max - sample;
      break;
    case Distortion::white:
      fill(ref, range.max);
      break;
  }
  return ref;
}

void check_range(const char *what, int value, int low, int high) {
  if (value < low || value > high)
    throw std::invalid_argument(std::string(what) + " must be from " + std::to_string(low) + " to " +
                                std::to_string(high));
}

}  // namespace

void Format::set_chroma(const std::string &chroma) {
  if (chroma != "420" && chroma != "422" && chroma != "444")
    throw std::invalid_argument("chroma must be 420, 422 or 444");
  sub_x = chroma == "444" ? 1 : 2;
  sub_y = chroma == "420" ? 2 : 1;
}

std::vector<Clip> clips() {
  std::vector<Clip> list;
  for (const Recipe &recipe : kRecipes) list.push_back({recipe.name, recipe.purpose});
  return list;
}

Generator::Generator(const std::string &clip, const Format &format, uint32_t seed)
    : clip_(clip), format_(format), seed_(seed) {
  find_recipe(clip);
  check_range("width", format.width, 1, 16384);
  check_range("height", format.height, 1, 16384);
  check_range("frames", format.frames, 1, 100000);
  check_range("depth", format.depth, 8, 16);
  check_range("sub_x", format.sub_x, 1, 2);
  check_range("sub_y", format.sub_y, 1, 2);
}

std::vector<uint16_t> Generator::plane(Role role, int frame, int plane) const {
  const Recipe &recipe = find_recipe(clip_);
  const Scene scene{format_, recipe.content, seed_};
  const bool distorted = role == Role::distorted;
  const int shown =
      distorted && recipe.distortion == Distortion::freeze ? frame - frame % recipe.strength : frame;
  Raster raster = render_scene(scene, shown, plane);
  if (distorted) raster = distort(recipe, seed_, format_.depth, std::move(raster), frame, plane);
  return {raster.samples.begin(), raster.samples.end()};
}

std::vector<uint8_t> Generator::frame(Role role, int frame) const {
  std::vector<uint8_t> bytes;
  bytes.reserve(format_.frame_bytes());
  for (int p = 0; p < 3; ++p)
    for (const uint16_t sample : plane(role, frame, p)) {
      bytes.push_back(static_cast<uint8_t>(sample & 255));
      if (format_.depth > 8) bytes.push_back(static_cast<uint8_t>(sample >> 8));
    }
  return bytes;
}

}  // namespace vmafhip::clipgen
