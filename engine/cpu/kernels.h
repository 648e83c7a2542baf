// The metrics as compiled for one instruction set: plain functions in a table.
//
// The files that implement them are compiled once per instruction set with VMAFHIP_ISA as their namespace. They
// instantiate no template with external linkage, so that nothing compiled for a wider instruction set
// can be shared with code that runs everywhere. Scratch memory is handed in, 64-byte aligned.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/adm.h"
#include "engine/arith/motion.h"
#include "engine/cpu/vif.h"
#include "engine/metric.h"

namespace vmafhip {

struct CpuKernels {
  const char *isa;

  // Working memory for strips of planes up to `width`.
  size_t (*vif_scratch_bytes)(int width, int distorted);
  void (*vif)(const VifStrip &strip);
  // The logarithm that the statistics use, for tests: vif_log2().
  int32_t (*vif_log2)(const uint16_t *log_table, uint64_t v);

  // Rows [first, last) of the bands of one scale; a scale needs all rows of the one before. `partial` gets AdmSums
  // for each distorted picture, of which there are up to `distorted`.
  size_t (*adm_scratch_bytes)(const AdmParams &params, int distorted);
  size_t (*adm_frame_bytes)(const AdmParams &params, int distorted);
  void (*adm)(const FrameView &frame, const AdmParams &params, int distorted, int scale, int first, int last,
              std::byte *frame_memory, std::byte *scratch, std::byte *partial);

  size_t (*motion_scratch_bytes)(int width, int height);
  // Rows [first, last) of the picture.
  uint64_t (*motion_sad)(const PlaneView &earlier, const PlaneView &current, int first, int last,
                         std::byte *scratch);
};

namespace scalar {
extern const CpuKernels kernels;
}
#if defined(__x86_64__)
namespace avx2 {
extern const CpuKernels kernels;
}
namespace avx512 {
extern const CpuKernels kernels;
}
#endif

}  // namespace vmafhip
