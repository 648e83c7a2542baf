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

  size_t (*adm_scratch_bytes)(int width, int height);
  void (*adm)(const PlaneView &ref, const PlaneView &dist, const AdmParams &params, std::byte *scratch,
              AdmSums *sums);

  size_t (*motion_scratch_bytes)(int width, int height);
  uint64_t (*motion_sad)(const PlaneView &earlier, const PlaneView &current, std::byte *scratch);
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
