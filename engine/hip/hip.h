// The GPU back end: one HipMetric per extractor that has kernels. Options without kernels yield null: then the CPU
// measures.
#pragma once
#include <memory>
#include <vector>

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
#include "engine/hip/device.h"
#include "engine/hip/metric.h"
#include "engine/picture.h"

namespace vmafhip::hip {

// Throw DeviceError; the metric is used no longer than the device. `format` is that of all pictures of a frame, of
// which `distorted` are compared with one reference.
// `sets`, here and of VIF, differ in what OptionSpec::one_pass allows alone.
std::unique_ptr<HipMetric> make_hip_adm(const Device &device, const std::vector<AdmParams> &sets,
                                        const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_adm_float(const Device &device, const AdmFloatParams &params,
                                              const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_ansnr(const Device &device, const PictureFormat &format, int distorted);
// Without heat maps.
std::unique_ptr<HipMetric> make_hip_cambi(const Device &device, const CambiParams &params,
                                          const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_ciede(const Device &device, const CiedeParams &params,
                                          const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_motion(const Device &device, const MotionParams &params,
                                           const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_motion_float(const Device &device, const MotionFloatParams &params,
                                                 const PictureFormat &format, int distorted);
// `planes`, 1 or 3, are measured.
std::unique_ptr<HipMetric> make_hip_psnr(const Device &device, int planes, const PictureFormat &format,
                                         int distorted);
std::unique_ptr<HipMetric> make_hip_float_psnr(const Device &device, const PictureFormat &format,
                                               int distorted);
std::unique_ptr<HipMetric> make_hip_moment(const Device &device, const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_psnr_hvs(const Device &device, const PictureFormat &format,
                                             int distorted);
std::unique_ptr<HipMetric> make_hip_ssim_integer(const Device &device, const PictureFormat &format,
                                                 int distorted);
std::unique_ptr<HipMetric> make_hip_ssimulacra2(const Device &device, const Ssimulacra2Params &params,
                                                const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_speed_chroma(const Device &device, const SpeedParams &params,
                                                 const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_speed_qa(const Device &device, const PictureFormat &format,
                                             int distorted);
std::unique_ptr<HipMetric> make_hip_speed_temporal(const Device &device, const SpeedParams &params,
                                                   const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_ssim(const Device &device, const SsimParams &params,
                                         const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_vif(const Device &device, const std::vector<VifParams> &sets,
                                        const PictureFormat &format, int distorted);
std::unique_ptr<HipMetric> make_hip_vif_float(const Device &device, const VifFloatParams &params,
                                              const PictureFormat &format, int distorted);

}  // namespace vmafhip::hip
