// Launch arguments of unpacking: planes as others lay them out, to planes as metrics read them.
#pragma once
#include "kernels/args.h"

namespace vmafhip {

// Columns and rows of which a block gives samples; a thread has four columns of some rows. blockIdx.z is the plane.
constexpr int kUnpackThreads = 256;
constexpr int kUnpackSamples = 4;
constexpr int kUnpackThreadsOfRow = 64;
constexpr int kUnpackRowsOfThread = 4;
constexpr int kUnpackColumns = kUnpackThreadsOfRow * kUnpackSamples;
constexpr int kUnpackRows = kUnpackThreads / kUnpackThreadsOfRow * kUnpackRowsOfThread;
constexpr int kUnpackMostPlanes = 64;

struct UnpackArgs {
  // A sample is (word >> down) << up.
  struct Item {
    DevicePlane from;  // at any address
    DeviceAddress<uint8_t>
        to;  // rows begin at multiples of 8 bytes, and have room for a multiple of four samples
    int64_t to_stride;
    int32_t width, height;
    int32_t step;  // samples from one to the next
    uint8_t sample_bytes, down, up;
  } items[kUnpackMostPlanes];
};
static_assert(sizeof(UnpackArgs) <= 4096);

}  // namespace vmafhip
