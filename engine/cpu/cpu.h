// The CPU back end: one Metric per extractor, and the scaling of planes, on the chosen instruction set.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/metric.h"
#include "engine/picture.h"
#include "engine/scaler.h"

namespace vmafhip {

// `sets`, here and of VIF, differ in what OptionSpec::one_pass allows alone.
std::unique_ptr<Metric> make_cpu_adm(const CpuKernels &kernels, const std::vector<AdmParams> &sets,
                                     const PictureFormat &format, int distorted);
std::unique_ptr<Metric> make_cpu_adm_float(const CpuKernels &kernels, const AdmFloatParams &params,
                                           const PictureFormat &format, int distorted);
std::unique_ptr<Metric> make_cpu_ansnr(const CpuKernels &kernels, const PictureFormat &format, int distorted);
// `heat_maps`: the folder that they go to, or empty.
std::unique_ptr<Metric> make_cpu_cambi(const CpuKernels &kernels, const CambiParams &params,
                                       const PictureFormat &format, int distorted,
                                       const std::string &heat_maps = {});
std::unique_ptr<Metric> make_cpu_ciede(const CpuKernels &kernels, const CiedeParams &params,
                                       const PictureFormat &format, int distorted);
std::unique_ptr<Metric> make_cpu_float_psnr(const CpuKernels &kernels, const PictureFormat &format,
                                            int distorted);
std::unique_ptr<Metric> make_cpu_moment(const CpuKernels &kernels, const PictureFormat &format,
                                        int distorted);
std::unique_ptr<Metric> make_cpu_motion(const CpuKernels &kernels, const MotionParams &params,
                                        const PictureFormat &format, int distorted);
std::unique_ptr<Metric> make_cpu_motion_float(const CpuKernels &kernels, const MotionFloatParams &params,
                                              const PictureFormat &format, int distorted);
// `planes`: 1 or 3.
std::unique_ptr<Metric> make_cpu_psnr(const CpuKernels &kernels, int planes, const PictureFormat &format,
                                      int distorted);
std::unique_ptr<Metric> make_cpu_psnr_hvs(const CpuKernels &kernels, const PictureFormat &format,
                                          int distorted);
std::unique_ptr<Metric> make_cpu_speed_chroma(const CpuKernels &kernels, const SpeedParams &params,
                                              const PictureFormat &format, int distorted);
std::unique_ptr<Metric> make_cpu_speed_qa(const CpuKernels &kernels, const PictureFormat &format,
                                          int distorted);
std::unique_ptr<Metric> make_cpu_speed_temporal(const CpuKernels &kernels, const SpeedParams &params,
                                                const PictureFormat &format, int distorted);
std::unique_ptr<Metric> make_cpu_ssim(const CpuKernels &kernels, const SsimParams &params,
                                      const PictureFormat &format, int distorted);
std::unique_ptr<Metric> make_cpu_ssim_integer(const CpuKernels &kernels, const PictureFormat &format,
                                              int distorted);
std::unique_ptr<Metric> make_cpu_ssimulacra2(const CpuKernels &kernels, const Ssimulacra2Params &params,
                                             const PictureFormat &format, int distorted);
std::unique_ptr<Metric> make_cpu_vif(const CpuKernels &kernels, const std::vector<VifParams> &sets,
                                     const PictureFormat &format, int distorted);
std::unique_ptr<Metric> make_cpu_vif_float(const CpuKernels &kernels, const VifFloatParams &params,
                                           const PictureFormat &format, int distorted);

std::unique_ptr<PlaneScaler> make_cpu_scaler(const CpuKernels &kernels, const PlaneScaling &scaling);

}  // namespace vmafhip
