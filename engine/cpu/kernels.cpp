// The table of one instruction set.
#include "engine/cpu/kernels.h"

#define VMAFHIP_TEXT(name) #name
#define VMAFHIP_NAME(name) VMAFHIP_TEXT(name)

namespace vmafhip::VMAFHIP_ISA {

size_t vif_scratch_bytes(int width, int distorted);
void vif(const VifStrip &strip);
int32_t vif_log2_of(const uint16_t *log_table, uint64_t v);
size_t adm_scratch_bytes(const AdmParams &params, int distorted);
size_t adm_frame_bytes(const AdmParams &params, int distorted);
void adm(const AdmStrip &strip);
double adm_float(int64_t v);
size_t motion_scratch_bytes(int width, int height);
uint64_t motion_sad(const PlaneView &earlier, const PlaneView &current, int first, int last,
                    std::byte *scratch);
size_t scale_scratch_bytes(const ScalePlan &plan);
void scale(const ScaleStrip &strip);

const CpuKernels kernels = {VMAFHIP_NAME(VMAFHIP_ISA),
                            vif_scratch_bytes,
                            vif,
                            vif_log2_of,
                            adm_scratch_bytes,
                            adm_frame_bytes,
                            adm,
                            adm_float,
                            motion_scratch_bytes,
                            motion_sad,
                            scale_scratch_bytes,
                            scale};

}  // namespace vmafhip::VMAFHIP_ISA
