// From samples to the coarse scale of SpEED: prescaling where it is asked for, low-pass and decimation. Only rows
// that are kept are filtered.
#pragma once
#include "engine/cpu/arena.h"
#include "engine/cpu/float_scale.h"
#include "engine/cpu/speed.h"

namespace vmafhip {
namespace {

constexpr int kSpeedRing = 16;  // source rows kept for scaling: at least the spread of its taps

struct SpeedReduceMemory {
  float *sums;    // a filtered row, with mirrored columns on either side
  float *scaled;  // the rest only if prescaled: a row of it,
  float *source;  // kSpeedRing source rows, row y at y % kSpeedRing,
  int *held;      // and which they are
  ptrdiff_t stride = 0;

  SpeedReduceMemory(Arena *arena, const SpeedSetup &setup) {
    const size_t width = static_cast<size_t>(setup.shape.width);
    sums = arena->take<float>(width, kFilterMostTaps, kFilterMostTaps);
    scaled = source = nullptr;
    held = nullptr;
    if (!setup.shape.prescaled) return;
    stride = (setup.shape.from_width + 15) / 16 * 16;
    scaled = arena->take<float>(width, 0, kFloatScaleBeyond);
    source = arena->take<float>(static_cast<size_t>(stride) * kSpeedRing);
    held = arena->take<int>(kSpeedRing);
  }
};

// to[x] = plane - minus, in units of 2^(8 - depth).
template <class Sample>
void speed_source_row(const SpeedStrip &strip, int y, int width, float *to) {
  const float unit = speed_unit(strip.plane.depth);
  const Sample *from = row_of<Sample>(strip.plane, y);
  if (strip.minus.data) {
    const Sample *minus = row_of<Sample>(strip.minus, y);
#pragma GCC ivdep
    for (int x = 0; x < width; x++)
      to[x] = static_cast<float>(static_cast<int>(from[x]) - static_cast<int>(minus[x])) * unit;
  } else {
    const int middle = speed_middle(strip.plane.depth);
#pragma GCC ivdep
    for (int x = 0; x < width; x++) to[x] = static_cast<float>(static_cast<int>(from[x]) - middle) * unit;
  }
}

// sums[x] += tap * (plane - minus).
template <class Sample>
void speed_add_row(const SpeedStrip &strip, int y, float tap, int width, float *sums) {
  const float unit = tap * speed_unit(strip.plane.depth);
  const Sample *from = row_of<Sample>(strip.plane, y);
  if (strip.minus.data) {
    const Sample *minus = row_of<Sample>(strip.minus, y);
#pragma GCC ivdep
    for (int x = 0; x < width; x++)
      sums[x] += unit * static_cast<float>(static_cast<int>(from[x]) - static_cast<int>(minus[x]));
  } else {
    const int middle = speed_middle(strip.plane.depth);
#pragma GCC ivdep
    for (int x = 0; x < width; x++) sums[x] += unit * static_cast<float>(static_cast<int>(from[x]) - middle);
  }
}

// Row y of the prescaled plane.
template <class Sample>
void speed_scaled_row(const SpeedSetup &setup, const SpeedStrip &strip, int y,
                      const SpeedReduceMemory &memory) {
  const float *rows[kFloatScaleMostTaps];
  float weights[kFloatScaleMostTaps];
  const FloatScaleAxis &down = *setup.down;
  for (int t = 0; t < float_scale_taps(setup.params.method); t++) {
    const int from = down.index[t * down.stride + y], slot = from % kSpeedRing;
    float *row = memory.source + slot * memory.stride;
    if (memory.held[slot] != from) speed_source_row<Sample>(strip, from, setup.shape.from_width, row);
    memory.held[slot] = from;
    rows[t] = row;
    weights[t] = down.weight[t * down.stride + y];
  }
  float_scale_row(setup.params.method, *setup.across, rows, weights, memory.scaled);
}

template <class Sample>
void speed_reduce(const SpeedSetup &setup, const SpeedStrip &strip, const SpeedReduceMemory &memory) {
  const FloatFilter &filter = setup.antialias;
  const int width = setup.shape.width, height = setup.shape.height;
  const int radius = filter_radius(filter.length);
  float *sums = memory.sums;
  if (setup.shape.prescaled)
    for (int slot = 0; slot < kSpeedRing; slot++) memory.held[slot] = -1;
  for (int row = strip.first; row < strip.last; row++) {
    for (int x = 0; x < width; x++) sums[x] = 0;
    for (int k = 0; k < filter.length; k++) {
      const int y = mirror(row * kSpeedStep - radius + k, height);
      if (setup.shape.prescaled) {
        speed_scaled_row<Sample>(setup, strip, y, memory);
        const float tap = filter.tap[k];
#pragma GCC ivdep
        for (int x = 0; x < width; x++) sums[x] += tap * memory.scaled[x];
      } else {
        speed_add_row<Sample>(strip, y, filter.tap[k], width, sums);
      }
    }
    for (int i = 1; i <= radius; i++) {
      sums[-i] = sums[i];
      sums[width - 1 + i] = sums[width - 1 - i];
    }
    float *to = strip.coarse + static_cast<ptrdiff_t>(row) * setup.shape.columns;
    for (int column = 0; column < setup.shape.columns; column++) {
      const float *from = sums + column * kSpeedStep - radius;
      float sum = 0;
      for (int k = 0; k < filter.length; k++) sum += filter.tap[k] * from[k];
      to[column] = sum;
    }
  }
}

}  // namespace
}  // namespace vmafhip
