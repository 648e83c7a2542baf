// speed_qa (engine/arith/speed_qa.h has the definition): entropies of the blocks of a row, a thread each, added up from left
// to right.
#include "kernels/speed_qa_args.h"
#include "kernels/tile.h"

using namespace vmafhip;

namespace {

// Entropy of a block of numbers; read(row, column) gives them.
template <class Read>
GPU_FN double speed_qa_entropy(const SpeedQaWeights &weights, const Read &read) {
  using Moments = SpeedQaMoments<double>;
  Moments moments;
  for (int r = 0; r < kSpeedQaBlock; r++)
#pragma unroll
    for (int c = 0; c < kSpeedQaBlock; c++) Moments::add(moments, weights.at[r][c], read(r, c));
  return Moments::entropy(moments);
}

// Block (0, y, z): row y of blocks of picture z.
template <class Sample>
GPU_FN void speed_qa_row(const SpeedQaArgs &args) {
  constexpr int kHalf = kSpeedQaThreads / 2;
  GPU_SHARED double entropies[2][kSpeedQaThreads];
  const SpeedQaArgs::Picture &picture = args.pictures[blockIdx.z];
  const int thread = static_cast<int>(threadIdx.x), y = kSpeedQaBlock * static_cast<int>(blockIdx.y),
            width = kSpeedQaBlock * args.blocks;
  const double scale = speed_qa_scale(args.depth);
  const bool temporal = static_cast<bool>(picture.before.data);
  // One thread of each half of the block adds up: the one in space, the other in time.
  double sum = 0;
  for (int first = 0; first < args.blocks; first += kSpeedQaThreads) {
    const int block = first + thread, count = smaller(kSpeedQaThreads, args.blocks - first);
    gpu_sync();
    if (block < args.blocks) {
      const auto now = [&](int r, int c) {
        return static_cast<int>(tile_row<Sample>(picture.plane, y + r, width)[kSpeedQaBlock * block + c]);
      };
      const auto then = [&](int r, int c) {
        return static_cast<int>(tile_row<Sample>(picture.before, y + r, width)[kSpeedQaBlock * block + c]);
      };
      entropies[0][thread] = speed_qa_entropy(args.weights, [&](int r, int c) { return now(r, c) * scale; });
      if (temporal)
        entropies[1][thread] = speed_qa_entropy(args.weights, [&](int r, int c) {
          return static_cast<double>(static_cast<int>((now(r, c) - then(r, c)) * scale));
        });
    }
    gpu_sync();
    if (thread == 0 || (thread == kHalf && temporal)) {
      const double *from = entropies[thread / kHalf];
#pragma unroll 8
      for (int b = 0; b < count; b++) sum += from[b];
    }
  }
  SpeedQaSums &sums = *(picture.rows + blockIdx.y).get();
  if (thread == 0) sums.spatial = sum;
  if (thread == kHalf) sums.temporal = sum;
}

}  // namespace

GPU_KERNEL void GPU_BOUNDS(kSpeedQaThreads, 4) speed_qa_8(SpeedQaArgs args) { speed_qa_row<uint8_t>(args); }
GPU_KERNEL void GPU_BOUNDS(kSpeedQaThreads, 4) speed_qa_16(SpeedQaArgs args) { speed_qa_row<uint16_t>(args); }
