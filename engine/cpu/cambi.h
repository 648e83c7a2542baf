// Banding on the CPU: what cambi_metric.cpp, compiled for the baseline, calls of cambi.cpp, compiled for each instruction
// set, and how a frame's memory is laid out.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/cambi.h"
#include "engine/metric.h"

namespace vmafhip {

// A plane of filtered codes with kCambiKept: what a scale's c-values are made from. Columns on either side of the
// picture are zeros.
struct CambiPlane {
  uint16_t *base = nullptr;  // row 0, column 0
  ptrdiff_t stride = 0;      // in words
  int width = 0, height = 0;
};
constexpr int kCambiBefore = 32, kCambiBehind = 96;  // columns of zeros; 31 of them fill up the last vector

// Columns of a scale that are worked on as one: their histograms stay in the cache.
constexpr int kCambiTile = 256;

// c-values of a tile: those that are not 0 and zeros, in no order that matters.
struct CambiTile {
  float *values = nullptr;  // kCambiTile for each row
  // Filled by the tile: how many values stand there, how many of them are not 0, their sum in units of 2^-24.
  struct Found {
    int64_t values, positive;
    uint64_t sum;
  } *found = nullptr;
};

// One picture of a frame at one target size.
struct CambiPicture {
  CambiTarget target;
  CambiPlane plane[kCambiScales];
  const int32_t *columns = nullptr, *rows = nullptr;  // samples to take; null: all
};

struct CambiKernels {
  size_t (*scratch_bytes)(const CambiParams &params, int width);  // of the widest target
  // Rows [first, last) of the first scale.
  void (*prepare)(const CambiParams &params, const PlaneView &from, const CambiPicture &to, int first,
                  int last, std::byte *scratch);
  // The other scales.
  void (*scales)(const CambiPicture &picture, std::byte *scratch);
  // Columns from `first` on of a scale, kCambiTile at most. `map` is null or takes the heat map of the whole plane.
  void (*tile)(const CambiParams &params, const CambiPicture &picture, int scale, int first,
               const CambiTile &to, uint16_t *map, std::byte *scratch);
  // The mean of the `top` largest of all tiles' values, which are lost.
  double (*mean)(const CambiTile *tiles, int count, int64_t top, std::byte *scratch);
};

}  // namespace vmafhip
