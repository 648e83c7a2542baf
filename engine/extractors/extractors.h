// The extractors that exist, and their options in the form in which metrics take them.
#pragma once
#include "engine/arith/adm.h"
#include "engine/arith/adm_float.h"
#include "engine/arith/cambi.h"
#include "engine/arith/ciede.h"
#include "engine/arith/motion.h"
#include "engine/arith/motion_float.h"
#include "engine/arith/speed.h"
#include "engine/arith/ssim.h"
#include "engine/arith/ssimulacra2.h"
#include "engine/arith/vif.h"
#include "engine/arith/vif_float.h"
#include "engine/registry.h"

namespace vmafhip {

extern const Extractor kAdmExtractor;
extern const Extractor kAdmFloatExtractor;
extern const Extractor kCambiExtractor;
extern const Extractor kCiedeExtractor;
extern const Extractor kFloatAnsnrExtractor;
extern const Extractor kFloatMomentExtractor;
extern const Extractor kFloatMsSsimExtractor;
extern const Extractor kFloatPsnrExtractor;
extern const Extractor kFloatSsimExtractor;
extern const Extractor kMotionExtractor;
extern const Extractor kMotionFloatExtractor;
extern const Extractor kMotionV2Extractor;
extern const Extractor kPsnrExtractor;
extern const Extractor kPsnrHvsExtractor;
extern const Extractor kSpeedChromaExtractor;
extern const Extractor kSpeedQaExtractor;
extern const Extractor kSpeedTemporalExtractor;
extern const Extractor kSsimIntegerExtractor;
extern const Extractor kSsimulacra2Extractor;
extern const Extractor kVifExtractor;
extern const Extractor kVifFloatExtractor;

AdmFloatParams adm_float_params(const Options &options, const PictureFormat &format);
AdmParams adm_params(const Options &options, const PictureFormat &format);
CambiParams cambi_params(const Options &options, const PictureFormat &format);
CiedeParams ciede_params(const Options &options);
MotionFloatParams motion_float_params(const Options &options);
MotionParams motion_params(const Options &options);
SsimParams ms_ssim_params(const Options &options);
// Planes that psnr measures, 1 or 3.
int psnr_planes(const Options &options, const PictureFormat &format);
SpeedParams speed_chroma_params(const Options &options);
SpeedParams speed_temporal_params(const Options &options);
SsimParams ssim_params(const Options &options, const PictureFormat &format);
Ssimulacra2Params ssimulacra2_params(const Options &options);
VifFloatParams vif_float_params(const Options &options);
VifParams vif_params(const Options &options);

}  // namespace vmafhip
