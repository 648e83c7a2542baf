// The metrics as compiled for one instruction set: plain functions in a table.
//
// The files that implement them are compiled once per instruction set with VMAFHIP_ISA as their namespace. They
// instantiate no template with external linkage, so that nothing compiled for a wider instruction set
// can be shared with code that runs everywhere. Scratch memory is handed in, 64-byte aligned.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/arith/motion.h"
#include "engine/cpu/adm.h"
#include "engine/cpu/scale.h"
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

  size_t (*adm_scratch_bytes)(const AdmParams &params, int distorted);
  size_t (*adm_frame_bytes)(const AdmParams &params, int distorted);
  void (*adm)(const AdmStrip &strip);
  // The nearest f32 of an integer, as the angles of scales 1 to 3 are compared, for tests.
  double (*adm_float)(int64_t v);

  size_t (*motion_scratch_bytes)(int width, int height);
  // Rows [first, last) of the picture.
  uint64_t (*motion_sad)(const PlaneView &earlier, const PlaneView &current, int first, int last,
                         std::byte *scratch);

  size_t (*scale_scratch_bytes)(const ScalePlan &plan);
  void (*scale)(const ScaleStrip &strip);
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
