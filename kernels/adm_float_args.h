// Launch arguments of float ADM. A launch does one scale, of frames of one reference and some distorted pictures each.
#pragma once
#include "engine/arith/adm_float.h"
#include "kernels/args.h"

namespace vmafhip {

// Of a launch: planes, and distorted pictures of a frame.
constexpr int kAdmFloatPlanes = 96;
constexpr int kAdmFloatDistorted = 15;

// A block takes a band of rows of the region that is pooled and walks along it, since sums along rows go from left to
// right: so many rows and columns at a step, and one more on each side, whose weights they need.
constexpr int kAdmFloatThreads = 256;
constexpr int kAdmFloatRows = 8, kAdmFloatColumns = 64;

// Sums of the rows of a distorted picture: num of h, v, d, then aim.
constexpr int kAdmFloatPictureSums = 2 * kAdmBands;

// blockIdx: band, 0, frame.
struct AdmFloatArgs {
  // Pictures, or low bands of the scale before: of each frame the reference, then `distorted` pictures.
  DevicePlane planes[kAdmFloatPlanes];
  // Sums of rows, of the first frame: of each band as many as the region has rows.
  DeviceAddress<float> den, pictures;
  int64_t frame_floats;  // from frame to frame
  AdmFloatScaleParams scale;
  int32_t distorted;
  int32_t width, height;  // of the planes
  float step;
  float exponent;
  bool bypass_masking;
  double gain_limit;
};

// Low bands; blockIdx: kAdmFloatThreads columns, row, plane.
struct AdmFloatLowArgs {
  struct Plane {
    DevicePlane from;
    DeviceAddress<float> to;
  } planes[kAdmFloatPlanes];
  int32_t width, height;        // of `from`
  int32_t to_width, to_stride;  // floats
  float step;
};

static_assert(sizeof(AdmFloatArgs) <= 4096 && sizeof(AdmFloatLowArgs) <= 4096);

}  // namespace vmafhip
