// Kernels of psnr, float_psnr and float_moment: sums over planes, which take the time to read these
// (engine/arith/psnr.h has the definitions). Several distorted pictures that are compared with one reference find it in
// the GPU's cache: less than a frame is read in between.
#include "kernels/numbers.h"
#include "kernels/psnr_args.h"
#include "kernels/samples.h"
#include "kernels/sums.h"

using namespace vmafhip;

namespace {

// What a thread adds up: 32768 / 32 / 16 chunks of 4 rows and 16 bytes at most, 4096 samples.

// Of squared differences of bytes, a^2 - 2ab + b^2 modulo 2^32: their sum is below 4096 * 255^2 < 2^32.
struct ByteSquares {
  uint32_t squares = 0, products = 0;

  GPU_FN void add(uint32_t a, uint32_t b) {
    squares = gpu_dot4(b, b, gpu_dot4(a, a, squares));
    products = gpu_dot4(a, b, products);
  }
  GPU_FN uint64_t sum() const { return squares - 2 * products; }
};

GPU_FN uint32_t low_half(uint32_t v) { return v & 0xffff; }
GPU_FN uint32_t high_half(uint32_t v) { return v >> 16; }

GPU_FN uint32_t square_of_difference(uint32_t a, uint32_t b) {
  const uint32_t d = a - b;
  return d * d;
}
GPU_FN uint32_t rounded_square_of(int32_t v) {
  return static_cast<uint32_t>(rounded_square(static_cast<float>(v)));
}

struct WordSquares {
  uint64_t squares = 0;

  GPU_FN void add(uint32_t a, uint32_t b) {
    squares += square_of_difference(low_half(a), low_half(b));
    squares += square_of_difference(high_half(a), high_half(b));
  }
  GPU_FN uint64_t sum() const { return squares; }
};

struct RoundedSquares {
  uint64_t squares = 0;

  GPU_FN void add(uint32_t a, uint32_t b) {
    squares += rounded_square_of(static_cast<int32_t>(low_half(a) - low_half(b)));
    squares += rounded_square_of(static_cast<int32_t>(high_half(a) - high_half(b)));
  }
  GPU_FN uint64_t sum() const { return squares; }
};

struct ByteMoments {
  uint32_t first = 0, second = 0;

  GPU_FN void add(uint32_t v) {
    first = gpu_dot4(v, 0x01010101, first);
    second = gpu_dot4(v, v, second);
  }
};

template <bool kRounded>
struct WordMoments {
  uint32_t first = 0;
  uint64_t second = 0;

  GPU_FN void add_sample(uint32_t v) {
    first += v;
    second += kRounded ? rounded_square_of(static_cast<int32_t>(v)) : v * v;
  }
  GPU_FN void add(uint32_t v) {
    add_sample(low_half(v));
    add_sample(high_half(v));
  }
};

// The first of the rows that this warp takes.
GPU_FN int first_row() {
  return static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / static_cast<unsigned>(gpu_warp_size())) *
         kPsnrRows;
}

template <class Sample, class Sums>
GPU_FN void add_squares(const SquaresArgs &args) {
  const SquaresArgs::Item &item = args.items[blockIdx.z];
  const int first = first_row();
  if (first >= item.height) return;
  Sums sums;
  read_rows<Sample, kPsnrRows>({item.planes.ref, item.planes.dist}, first, item.width, item.height,
                               [&](const Words4(&chunks)[2]) {
#pragma unroll
                                 for (int k = 0; k < 4; k++)
                                   sums.add(word_of(chunks[0], k), word_of(chunks[1], k));
                               });
  gpu_add_warp(item.sum, sums.sum());
}

template <class Sample, class Sums>
GPU_FN void add_moments(const MomentsArgs &args) {
  const MomentsArgs::Item &item = args.items[blockIdx.z];
  const int first = first_row();
  if (first >= args.height) return;
  Sums sums;
  read_rows<Sample, kPsnrRows>({item.plane}, first, args.width, args.height, [&](const Words4(&chunk)[1]) {
#pragma unroll
    for (int k = 0; k < 4; k++) sums.add(word_of(chunk[0], k));
  });
  static_assert(sizeof(Moments) == 2 * sizeof(uint64_t));
  const DeviceAddress<uint64_t> totals = address_cast<uint64_t>(item.sums);
  gpu_add_warp(totals, uint64_t{sums.first});
  gpu_add_warp(totals + 1, uint64_t{sums.second});
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kPsnrThreads, 3) psnr_squares_8(SquaresArgs args) {
  add_squares<uint8_t, ByteSquares>(args);
}
GPU_KERNEL void GPU_BOUNDS(kPsnrThreads, 3) psnr_squares_16(SquaresArgs args) {
  add_squares<uint16_t, WordSquares>(args);
}
// Each square rounded to f32.
GPU_KERNEL void GPU_BOUNDS(kPsnrThreads, 3) psnr_squares_rounded(SquaresArgs args) {
  add_squares<uint16_t, RoundedSquares>(args);
}
GPU_KERNEL void GPU_BOUNDS(kPsnrThreads, 3) psnr_moments_8(MomentsArgs args) {
  add_moments<uint8_t, ByteMoments>(args);
}
GPU_KERNEL void GPU_BOUNDS(kPsnrThreads, 3) psnr_moments_16(MomentsArgs args) {
  add_moments<uint16_t, WordMoments<false>>(args);
}
GPU_KERNEL void GPU_BOUNDS(kPsnrThreads, 3) psnr_moments_rounded(MomentsArgs args) {
  add_moments<uint16_t, WordMoments<true>>(args);
}
