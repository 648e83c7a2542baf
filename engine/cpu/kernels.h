// The metrics as compiled for one instruction set: plain functions in tables, one table a metric.
//
// The files that implement them are compiled once per instruction set with VMAFHIP_ISA as their namespace. They
// instantiate no template with external linkage, so that nothing compiled for a wider instruction set
// can be shared with code that runs everywhere. Scratch memory is handed in, 64-byte aligned.
#pragma once
#include "engine/cpu/adm.h"
#include "engine/cpu/adm_float.h"
#include "engine/cpu/ansnr.h"
#include "engine/cpu/cambi.h"
#include "engine/cpu/ciede.h"
#include "engine/cpu/motion.h"
#include "engine/cpu/motion_float.h"
#include "engine/cpu/psnr.h"
#include "engine/cpu/psnr_hvs.h"
#include "engine/cpu/scale.h"
#include "engine/cpu/speed.h"
#include "engine/cpu/speed_qa.h"
#include "engine/cpu/ssim.h"
#include "engine/cpu/ssim_integer.h"
#include "engine/cpu/ssimulacra2.h"
#include "engine/cpu/vif.h"
#include "engine/cpu/vif_float.h"

namespace vmafhip {

// Each table is a struct of the metric's header, which the metric's file defines once per instruction set. Pointers
// to them stand here, so that nothing is initialised by code.
struct CpuKernels {
  const char *isa;

  const AdmKernels *adm;
  const AdmFloatKernels *adm_float;
  const AnsnrKernels *ansnr;
  const CambiKernels *cambi;
  const CiedeKernels *ciede;
  const MotionKernels *motion;
  const MotionFloatKernels *motion_float;
  const PsnrKernels *psnr;
  const PsnrHvsKernels *psnr_hvs;
  const ScaleKernels *scale;
  const SpeedKernels *speed;
  const SpeedQaKernels *speed_qa;
  const Ssimulacra2Kernels *ssimulacra2;
  const SsimKernels *ssim;
  const SsimIntegerKernels *ssim_integer;
  const VifKernels *vif;
  const VifFloatKernels *vif_float;
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
