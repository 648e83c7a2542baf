// speed_qa on the CPU: neighbouring blocks on vectors.
#include "engine/arith/speed_qa.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/floats.h"
#include "engine/cpu/speed_qa.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

constexpr int kLanes = kFloats / 2;

struct Scratch {
  double *column[kSpeedQaBlock];  // a row's samples by their column in a block
  double *mean, *square;

  Scratch(Arena *arena, int width) {
    const size_t blocks = static_cast<size_t>(width / kSpeedQaBlock);
    for (double *&samples : column) samples = arena->take<double>(blocks, 0, kLanes);
    mean = arena->take<double>(blocks, 0, kLanes);
    square = arena->take<double>(blocks, 0, kLanes);
  }
};

// Samples of a row, or the differences of two, in steps of 8 bits; differences are whole steps.
template <class Sample>
void read_row(const PlaneView &plane, const PlaneView &before, int y, int blocks, const Scratch &scratch) {
  const double scale = speed_qa_scale(plane.depth);
  const Sample *now = row_of<Sample>(plane, y);
  const Sample *then = before.data ? row_of<Sample>(before, y) : nullptr;
  for (int c = 0; c < kSpeedQaBlock; c++) {
    double *to = scratch.column[c];
    if (then) {
      for (int b = 0; b < blocks; b++) {
        const int at = kSpeedQaBlock * b + c,
                  difference = static_cast<int>(now[at]) - static_cast<int>(then[at]);
        to[b] = static_cast<int>(difference * scale);
      }
    } else {
      for (int b = 0; b < blocks; b++) to[b] = now[kSpeedQaBlock * b + c] * scale;
    }
  }
}

size_t scratch_bytes(int width) {
  Arena arena(nullptr);
  Scratch scratch(&arena, width);
  return arena.used();
}

double row(const SpeedQaWeights &weights, const PlaneView &plane, const PlaneView &before, int row,
           std::byte *memory) {
  using Moments = SpeedQaMoments<F64>;
  Arena arena(memory);
  const Scratch scratch(&arena, plane.width);
  const int blocks = plane.width / kSpeedQaBlock;
  for (int b = 0; b < blocks + kLanes; b++) scratch.mean[b] = scratch.square[b] = 0;
  for (double *samples : scratch.column)
    for (int b = blocks; b < blocks + kLanes; b++) samples[b] = 0;

  for (int r = 0; r < kSpeedQaBlock; r++) {
    const int y = kSpeedQaBlock * row + r;
    if (plane.depth == 8)
      read_row<uint8_t>(plane, before, y, blocks, scratch);
    else
      read_row<uint16_t>(plane, before, y, blocks, scratch);
    for (int b = 0; b < blocks; b += kLanes) {
      Moments moments = {load_doubles(scratch.mean + b), load_doubles(scratch.square + b)};
      for (int c = 0; c < kSpeedQaBlock; c++)
        Moments::add(moments, weights.at[r][c], load_doubles(scratch.column[c] + b));
      store_vector(scratch.mean + b, moments.mean);
      store_vector(scratch.square + b, moments.square);
    }
  }

  for (int b = 0; b < blocks; b += kLanes)
    store_vector(scratch.mean + b,
                 Moments::entropy({load_doubles(scratch.mean + b), load_doubles(scratch.square + b)}));
  double sum = 0;
  for (int b = 0; b < blocks; b++) sum += scratch.mean[b];
  return sum;
}

}  // namespace

extern const SpeedQaKernels speed_qa_kernels = {scratch_bytes, row};

}  // namespace vmafhip::VMAFHIP_ISA
