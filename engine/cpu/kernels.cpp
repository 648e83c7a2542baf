// The table of one instruction set.
#include "engine/cpu/kernels.h"

#define VMAFHIP_TEXT(name) #name
#define VMAFHIP_NAME(name) VMAFHIP_TEXT(name)

namespace vmafhip::VMAFHIP_ISA {

extern const AdmFloatKernels adm_float_kernels;
extern const AdmKernels adm_kernels;
extern const AnsnrKernels ansnr_kernels;
extern const CambiKernels cambi_kernels;
extern const CiedeKernels ciede_kernels;
extern const MotionFloatKernels motion_float_kernels;
extern const MotionKernels motion_kernels;
extern const PsnrHvsKernels psnr_hvs_kernels;
extern const PsnrKernels psnr_kernels;
extern const ScaleKernels scale_kernels;
extern const SpeedKernels speed_kernels;
extern const SpeedQaKernels speed_qa_kernels;
extern const SsimIntegerKernels ssim_integer_kernels;
extern const SsimKernels ssim_kernels;
extern const Ssimulacra2Kernels ssimulacra2_kernels;
extern const VifFloatKernels vif_float_kernels;
extern const VifKernels vif_kernels;

const CpuKernels kernels = {
    .isa = VMAFHIP_NAME(VMAFHIP_ISA),
    .adm = &adm_kernels,
    .adm_float = &adm_float_kernels,
    .ansnr = &ansnr_kernels,
    .cambi = &cambi_kernels,
    .ciede = &ciede_kernels,
    .motion = &motion_kernels,
    .motion_float = &motion_float_kernels,
    .psnr = &psnr_kernels,
    .psnr_hvs = &psnr_hvs_kernels,
    .scale = &scale_kernels,
    .speed = &speed_kernels,
    .speed_qa = &speed_qa_kernels,
    .ssimulacra2 = &ssimulacra2_kernels,
    .ssim = &ssim_kernels,
    .ssim_integer = &ssim_integer_kernels,
    .vif = &vif_kernels,
    .vif_float = &vif_float_kernels,
};

}  // namespace vmafhip::VMAFHIP_ISA
