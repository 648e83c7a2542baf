// Banding on the CPU: what cambi_metric.cpp calls.
#include "engine/cpu/cambi.h"

#include "engine/cpu/cambi_counts.h"
#include "engine/cpu/cambi_mean.h"
#include "engine/cpu/cambi_rows.h"
#include "engine/cpu/kernels.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

size_t scratch_bytes(const CambiParams &params, int width) {
  Arena rows(nullptr), counts(nullptr), mean(nullptr);
  CambiPrepared prepared(&rows, width);
  CambiCounts counted(&counts, params);
  mean.take<uint32_t>(kCambiDigits * kCambiCounts);
  return larger(rows.used(), larger(counts.used(), mean.used()));
}

void prepare(const CambiParams &params, const PlaneView &from, const CambiPicture &to, int first, int last,
             std::byte *scratch) {
  Arena arena(scratch);
  const CambiPrepared rows(&arena, to.target.width);
  if (params.depth == 8)
    CambiPreparation<uint8_t>(params, from, to, rows).run(first, last);
  else
    CambiPreparation<uint16_t>(params, from, to, rows).run(first, last);
}

void scales(const CambiPicture &picture, std::byte *scratch) {
  Arena arena(scratch);
  const CambiPrepared rows(&arena, picture.target.width);
  for (int scale = 1; scale < kCambiScales; scale++)
    cambi_halve(picture.plane[scale - 1], picture.plane[scale], rows);
}

void tile(const CambiParams &params, const CambiPicture &picture, int scale, int first, const CambiTile &to,
          uint16_t *map, std::byte *scratch) {
  Arena arena(scratch);
  const CambiCounts memory(&arena, params);
  CambiTiling(params, picture, scale, first, to, map, memory).run();
}

double mean(const CambiTile *tiles, int count, int64_t top, std::byte *scratch) {
  Arena arena(scratch);
  return cambi_mean(tiles, count, top, arena.take<uint32_t>(kCambiDigits * kCambiCounts));
}

}  // namespace

extern const CambiKernels cambi_kernels = {scratch_bytes, prepare, scales, tile, mean};

}  // namespace vmafhip::VMAFHIP_ISA
