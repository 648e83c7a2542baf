// Launch arguments of float VIF. A launch does one scale, of frames of one reference and some distorted pictures each.
#pragma once
#include "engine/arith/vif_float.h"
#include "kernels/float_scale_args.h"
#include "kernels/float_tile_args.h"

namespace vmafhip {

// Of a launch: planes, and distorted pictures of a frame.
constexpr int kVifFloatPlanes = 96;
constexpr int kVifFloatDistorted = 31;

// Statistics. blockIdx: band, 0, frame.
struct VifFloatArgs {
  // Of each frame the reference, then `distorted` pictures.
  DevicePlane planes[kVifFloatPlanes];
  // Sums of rows of the first frame: `height` of the reference, then of each distorted picture.
  DeviceAddress<float> den, num;
  int64_t frame_floats;  // from frame to frame
  FloatFilter filter;
  VifFloatTerms terms;
  int32_t distorted;
  int32_t width, height;
  float step;
};

// Planes made of others. The next scale: blockIdx: band, step, plane. Scale 0 if it is not the pictures themselves:
// blockIdx: 256 columns, row, plane.
struct VifFloatPlaneArgs {
  struct Plane {
    DevicePlane from;
    DeviceAddress<float> to;
  } planes[kVifFloatPlanes];
  FloatFilter filter;
  FloatScaleArgs scale;
  int32_t width, height;  // of `from`
  int32_t to_width, to_height;
  float step;
};

static_assert(sizeof(VifFloatArgs) <= 4096 && sizeof(VifFloatPlaneArgs) <= 4096);

}  // namespace vmafhip
