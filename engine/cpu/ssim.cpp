// Structural similarity on the CPU: windows and decimation of strips.
#include "engine/cpu/floats.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/ssim_decimate.h"
#include "engine/cpu/ssim_windows.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

size_t window_scratch_bytes(int distorted) {
  Arena arena(nullptr);
  SsimScratch memory(&arena, distorted);
  return arena.used();
}

size_t decimate_scratch_bytes(int width) {
  Arena box(nullptr), half(nullptr);
  SsimBoxScratch of_box(&box, width);
  SsimHalfScratch of_half(&half, width);
  return larger(box.used(), half.used());
}

void decimate(const SsimDecimateStrip &strip) {
  Arena arena(strip.scratch);
  if (strip.factor == 0) {
    ssim_half(strip, SsimHalfScratch(&arena, strip.from.width));
    return;
  }
  const SsimBoxScratch memory(&arena, strip.from.width);
  if (ssim_box_is_exact(strip.factor))
    ssim_box(strip, memory, memory.exact);
  else
    ssim_box(strip, memory, memory.rounded);
}

}  // namespace

extern const SsimKernels ssim_kernels = {window_scratch_bytes, ssim_window_strip, decimate_scratch_bytes,
                                         decimate};

}  // namespace vmafhip::VMAFHIP_ISA
