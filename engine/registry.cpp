// The table of extractors, and the one file that knows the back ends.
#include "engine/registry.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "engine/cpu/cpu.h"
#include "engine/cpu/isa.h"
#include "engine/extractors/extractors.h"
#include "engine/hip/accelerator.h"
#include "engine/hip/external.h"
#include "engine/hip/hip.h"

namespace vmafhip {
namespace {

template <class OfOptions>
using MakeCpu = std::unique_ptr<Metric> (*)(const CpuKernels &, OfOptions, const PictureFormat &,
                                            int distorted);
// Null if there are no kernels for the options.
template <class OfOptions>
using MakeHip = std::unique_ptr<hip::HipMetric> (*)(const hip::Device &, OfOptions, const PictureFormat &,
                                                    int distorted);
struct Entry {
  const Extractor *extractor;
  MakeCpu<const Options &> make_cpu;
  MakeHip<const Options &> make_hip = nullptr;
  // In place of both, of extractors that measure several sets of options in one pass.
  MakeCpu<OptionSets> make_cpu_of_sets = nullptr;
  MakeHip<OptionSets> make_hip_of_sets = nullptr;

  constexpr bool complete() const { return (make_cpu && make_hip) || (make_cpu_of_sets && make_hip_of_sets); }
};

// What `params` makes of each set.
template <class Params>
auto each(OptionSets sets, Params params) {
  std::vector<decltype(params(*sets[0]))> all;
  for (const Options *options : sets) all.push_back(params(*options));
  return all;
}

// A line an extractor: in libvmaf's order, then those of its fork. The first one that provides an output serves it.
constexpr Entry kEntries[] = {
    {&kFloatPsnrExtractor, [](auto &k, auto &, auto &f, int n) { return make_cpu_float_psnr(k, f, n); },
     [](auto &d, auto &, auto &f, int n) { return hip::make_hip_float_psnr(d, f, n); }},
    {&kFloatAnsnrExtractor, [](auto &k, auto &, auto &f, int n) { return make_cpu_ansnr(k, f, n); },
     [](auto &d, auto &, auto &f, int n) { return hip::make_hip_ansnr(d, f, n); }},
    {&kAdmFloatExtractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_adm_float(k, adm_float_params(o, f), f, n); },
     [](auto &d, auto &o, auto &f, int n) {
       return hip::make_hip_adm_float(d, adm_float_params(o, f), f, n);
     }},
    {&kVifFloatExtractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_vif_float(k, vif_float_params(o), f, n); },
     [](auto &d, auto &o, auto &f, int n) { return hip::make_hip_vif_float(d, vif_float_params(o), f, n); }},
    {&kMotionFloatExtractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_motion_float(k, motion_float_params(o), f, n); },
     [](auto &d, auto &o, auto &f, int n) {
       return hip::make_hip_motion_float(d, motion_float_params(o), f, n);
     }},
    {&kFloatMomentExtractor, [](auto &k, auto &, auto &f, int n) { return make_cpu_moment(k, f, n); },
     [](auto &d, auto &, auto &f, int n) { return hip::make_hip_moment(d, f, n); }},
    {&kFloatMsSsimExtractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_ssim(k, ms_ssim_params(o), f, n); },
     [](auto &d, auto &o, auto &f, int n) { return hip::make_hip_ssim(d, ms_ssim_params(o), f, n); }},
    {&kFloatSsimExtractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_ssim(k, ssim_params(o, f), f, n); },
     [](auto &d, auto &o, auto &f, int n) { return hip::make_hip_ssim(d, ssim_params(o, f), f, n); }},
    {&kCiedeExtractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_ciede(k, ciede_params(o), f, n); },
     [](auto &d, auto &o, auto &f, int n) { return hip::make_hip_ciede(d, ciede_params(o), f, n); }},
    {&kPsnrExtractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_psnr(k, psnr_planes(o, f), f, n); },
     [](auto &d, auto &o, auto &f, int n) { return hip::make_hip_psnr(d, psnr_planes(o, f), f, n); }},
    {&kPsnrHvsExtractor, [](auto &k, auto &, auto &f, int n) { return make_cpu_psnr_hvs(k, f, n); },
     [](auto &d, auto &, auto &f, int n) { return hip::make_hip_psnr_hvs(d, f, n); }},
    {.extractor = &kAdmExtractor,
     .make_cpu_of_sets =
         [](auto &k, auto sets, auto &f, int n) {
           return make_cpu_adm(k, each(sets, [&](auto &o) { return adm_params(o, f); }), f, n);
         },
     .make_hip_of_sets =
         [](auto &d, auto sets, auto &f, int n) {
           return hip::make_hip_adm(d, each(sets, [&](auto &o) { return adm_params(o, f); }), f, n);
         }},
    {&kMotionExtractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_motion(k, motion_params(o), f, n); },
     [](auto &d, auto &o, auto &f, int n) { return hip::make_hip_motion(d, motion_params(o), f, n); }},
    {.extractor = &kVifExtractor,
     .make_cpu_of_sets = [](auto &k, auto sets, auto &f,
                            int n) { return make_cpu_vif(k, each(sets, vif_params), f, n); },
     .make_hip_of_sets = [](auto &d, auto sets, auto &f,
                            int n) { return hip::make_hip_vif(d, each(sets, vif_params), f, n); }},
    {&kCambiExtractor,
     [](auto &k, auto &o, auto &f, int n) {
       return make_cpu_cambi(k, cambi_params(o, f), f, n, o.string("heatmaps_path"));
     },
     [](auto &d, auto &o, auto &f, int n) {
       // Heat maps are the CPU's.
       return o.string("heatmaps_path").empty() ? hip::make_hip_cambi(d, cambi_params(o, f), f, n) : nullptr;
     }},
    {&kSpeedChromaExtractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_speed_chroma(k, speed_chroma_params(o), f, n); },
     [](auto &d, auto &o, auto &f, int n) {
       return hip::make_hip_speed_chroma(d, speed_chroma_params(o), f, n);
     }},
    {&kSpeedTemporalExtractor,
     [](auto &k, auto &o, auto &f, int n) {
       return make_cpu_speed_temporal(k, speed_temporal_params(o), f, n);
     },
     [](auto &d, auto &o, auto &f, int n) {
       return hip::make_hip_speed_temporal(d, speed_temporal_params(o), f, n);
     }},
    {&kSsimIntegerExtractor, [](auto &k, auto &, auto &f, int n) { return make_cpu_ssim_integer(k, f, n); },
     [](auto &d, auto &, auto &f, int n) { return hip::make_hip_ssim_integer(d, f, n); }},
    {&kSsimulacra2Extractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_ssimulacra2(k, ssimulacra2_params(o), f, n); },
     [](auto &d, auto &o, auto &f, int n) {
       return hip::make_hip_ssimulacra2(d, ssimulacra2_params(o), f, n);
     }},
    {&kSpeedQaExtractor, [](auto &k, auto &, auto &f, int n) { return make_cpu_speed_qa(k, f, n); },
     [](auto &d, auto &, auto &f, int n) { return hip::make_hip_speed_qa(d, f, n); }},
    {&kMotionV2Extractor,
     [](auto &k, auto &o, auto &f, int n) { return make_cpu_motion(k, motion_params(o), f, n); },
     [](auto &d, auto &o, auto &f, int n) { return hip::make_hip_motion(d, motion_params(o), f, n); }},
};
static_assert(std::ranges::all_of(kEntries, &Entry::complete), "all extractors have kernels, too");

constexpr auto kExtractors = [] {
  std::array<const Extractor *, std::size(kEntries)> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = kEntries[i].extractor;
  return all;
}();

}  // namespace

std::span<const Extractor *const> extractors() { return kExtractors; }

// Null if it is none of ours.
static const Entry *find_entry(const Extractor &extractor) {
  for (const Entry &entry : kEntries)
    if (entry.extractor == &extractor) return &entry;
  return nullptr;
}

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

Status Extractor::check(const Options &options, const PictureFormat &format) const {
  const auto size = [](int width, int height) {
    return std::to_string(width) + "x" + std::to_string(height);
  };
  const std::string metric = name, picture = "the picture is " + size(format.width, format.height);
  if (format.width < limits.min_width || format.height < limits.min_height)
    return Status(Code::unsupported, metric + " needs at least " + size(limits.min_width, limits.min_height) +
                                         " samples, " + picture);
  const bool common = format.depth == 8 || format.depth == 10 || format.depth == 12 || format.depth == 16;
  if (format.depth < 8 || format.depth > limits.max_depth || (limits.common_depths && !common)) {
    const std::string top = std::to_string(limits.max_depth);
    const std::string depths = !limits.common_depths    ? "8 to " + top
                               : limits.max_depth == 16 ? "8, 10, 12 or 16"
                                                        : "8, 10 or " + top;
    return Status(Code::unsupported, metric + " needs " + depths + " bits a sample, " + picture + " at " +
                                         std::to_string(format.depth) + " bits");
  }
  if (limits.chroma && format.chroma == Chroma::c400)
    return Status(Code::unsupported, metric + " needs pictures with chroma, these have luma alone");
  return check_format ? check_format(options, format) : Status();
}

bool Extractor::reports(const OutputSpec &output, const Options &options) const {
  if (output.debug && !options.boolean("debug")) return false;
  if (*output.when && !options.boolean(output.when)) return false;
  return !output.chroma || !options.has("enable_chroma") || options.boolean("enable_chroma");
}

bool Extractor::temporal(const Options &options) const {
  return reads(options).lookback() > 0 || lookahead(options) > 0 ||
         std::any_of(aggregates.begin(), aggregates.end(),
                     [&](const OutputSpec &aggregate) { return reports(aggregate, options); });
}

bool Extractor::one_pass(const Options &a, const Options &b) const {
  const Entry *entry = find_entry(*this);
  if (!entry || !entry->make_cpu_of_sets) return false;
  return std::all_of(options.begin(), options.end(),
                     [&](const OptionSpec &option) { return option.one_pass || a.same(option.name, b); });
}

Result<CpuBackend> CpuBackend::choose() {
  const auto kernels = choose_cpu_kernels();
  if (!kernels.ok()) return kernels.status();
  return CpuBackend(**kernels);
}

const char *CpuBackend::isa() const { return kernels_->isa; }

std::unique_ptr<Metric> CpuBackend::make(const Extractor &extractor, OptionSets options,
                                         const PictureFormat &format, int distorted) const {
  const Entry *entry = find_entry(extractor);
  if (!entry) return nullptr;
  return entry->make_cpu_of_sets ? entry->make_cpu_of_sets(*kernels_, options, format, distorted)
                                 : entry->make_cpu(*kernels_, *options[0], format, distorted);
}

std::unique_ptr<PlaneScaler> CpuBackend::make_scaler(const PlaneScaling &scaling) const {
  return make_cpu_scaler(*kernels_, scaling);
}

Result<HipBackend> HipBackend::open(int number) {
  auto device = hip::Device::open(number);
  if (!device.ok()) return device.status();
  HipBackend backend(std::move(*device));
  backend.importer_ = hip::make_importer(backend.device_->share());
  return backend;
}

namespace {

class SharedDevice final : public Gpu {
 public:
  explicit SharedDevice(std::shared_ptr<const hip::Device> device) : device_(std::move(device)) {}
  Vendor vendor() const override {
    return device_->api().vendor == hip::Vendor::amd ? Vendor::amd : Vendor::nvidia;
  }
  int number() const override { return device_->number(); }
  void *context() const override { return vendor() == Vendor::nvidia ? device_->context() : nullptr; }
  bool reads(uint64_t address) const override { return device_->reads(address); }
  void await_default_stream(uint64_t address) const override { device_->await_default_stream(address); }

 private:
  std::shared_ptr<const hip::Device> device_;
};

}  // namespace

std::shared_ptr<const Gpu> HipBackend::share() const {
  return std::make_shared<SharedDevice>(device_->share());
}

Result<std::shared_ptr<const Gpu>> Gpu::open(int number) {
  auto device = hip::Device::open(number, hip::Device::Use::others);
  if (!device.ok()) return device.status();
  return std::shared_ptr<const Gpu>(std::make_shared<SharedDevice>(std::move(*device)));
}

std::string HipBackend::description() const { return device_->description(); }

Result<HipBackend::DeviceMetric> HipBackend::make(const Extractor &extractor, OptionSets options,
                                                  const PictureFormat &format, int distorted) const {
  const Entry *entry = find_entry(extractor);
  if (!entry) return DeviceMetric();
  const hip::CurrentDevice current(*device_);  // a metric may put tables there
  try {
    auto metric = entry->make_hip_of_sets ? entry->make_hip_of_sets(*device_, options, format, distorted)
                                          : entry->make_hip(*device_, *options[0], format, distorted);
    if (!metric) return DeviceMetric();
    // Whoever holds a metric holds the device.
    return DeviceMetric(metric.release(), [device = device_](const hip::HipMetric *m) {
      const hip::CurrentDevice there(*device);
      delete m;
    });
  } catch (const hip::DeviceError &error) {
    return hip::status_of(*device_, error);
  }
}

Result<std::unique_ptr<Accelerator>> HipBackend::make_accelerator(Work work) const {
  return hip::make_accelerator(device_, std::move(work));
}

}  // namespace vmafhip
