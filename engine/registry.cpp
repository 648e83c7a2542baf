// The table of extractors, and the one file that knows the back ends.
#include "engine/registry.h"

#include "engine/cpu/cpu.h"
#include "engine/cpu/isa.h"
#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

// In libvmaf's order, then those of its fork: the first one that provides an output serves it.
constexpr const Extractor *kExtractors[] = {&kAdmExtractor, &kMotionExtractor, &kVifExtractor,
                                            &kMotionV2Extractor};

}  // namespace

std::span<const Extractor *const> extractors() { return kExtractors; }

const Extractor *find_extractor(std::string_view name) {
  for (const Extractor *extractor : kExtractors)
    if (name == extractor->name) return extractor;
  return nullptr;
}

const Extractor *find_provider(std::string_view output) {
  for (const Extractor *extractor : kExtractors)
    for (const OutputSpec &spec : extractor->outputs)
      if (output == spec.name) return extractor;
  return nullptr;
}

std::string log_name(const OutputSpec &output, const Options &options) {
  const bool has_alias = output.alias[0] != '\0';
  return (has_alias ? output.alias : output.name) + options.suffix();
}

Status check_luma(const char *metric, int size, const PictureFormat &format) {
  const std::string picture =
      "the picture is " + std::to_string(format.width) + "x" + std::to_string(format.height);
  if (format.width < size || format.height < size) {
    const std::string limit = std::to_string(size) + "x" + std::to_string(size);
    return Status(Code::unsupported,
                  std::string(metric) + " needs at least " + limit + " samples, " + picture);
  }
  if (format.depth < 8 || format.depth > 16)
    return Status(Code::unsupported, std::string(metric) + " needs 8 to 16 bits a sample, " + picture +
                                         " at " + std::to_string(format.depth) + " bits");
  return Status();
}

Result<CpuBackend> CpuBackend::choose() {
  const auto kernels = choose_cpu_kernels();
  if (!kernels.ok()) return kernels.status();
  return CpuBackend(**kernels);
}

const char *CpuBackend::isa() const { return kernels_->isa; }

std::unique_ptr<Metric> CpuBackend::make(const Extractor &extractor, const Options &options,
                                         const PictureFormat &format, int distorted) const {
  if (&extractor == &kVifExtractor) return make_cpu_vif(*kernels_, vif_params(options), format, distorted);
  if (&extractor == &kAdmExtractor)
    return make_cpu_adm(*kernels_, adm_params(options, format), format, distorted);
  if (&extractor == &kMotionExtractor || &extractor == &kMotionV2Extractor)
    return make_cpu_motion(*kernels_, motion_params(options), format, distorted);
  return nullptr;
}

std::unique_ptr<PlaneScaler> CpuBackend::make_scaler(const PlaneScaling &scaling) const {
  return make_cpu_scaler(*kernels_, scaling);
}

}  // namespace vmafhip
