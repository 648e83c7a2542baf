// Extractor `float_vif`: options, outputs, scores. The arithmetic is in engine/arith/vif_float.h.
#include <cstring>
#include <string>

#include "engine/extractors/extractors.h"
#include "engine/extractors/float_options.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"debug", OptionType::boolean, "false", 0, 0, "", false,
     "Also report the combined score and numerators and denominators."},
    {"vif_enhn_gain_limit", OptionType::real, "100", 1, 100, "egl", true,
     "Largest contrast gain that counts as information; 1 ignores enhancement."},
    {"vif_kernelscale", OptionType::real, "1", 0.1, 4, "ks", true,
     "Factor on the size of the Gaussian windows, of libvmaf's list: 0.5, 1, 1.5, 2, 2.4, 3 and others."},
    {"vif_prescale", OptionType::real, "1", 0.1, 4, "ps", true,
     "Factor on width and height of the pictures before they are compared."},
    {"vif_prescale_method", OptionType::string, "nearest", 0, 0, "pm", true,
     "How they are rescaled: nearest, bilinear, bicubic or lanczos4."},
    {"vif_scale1_min_val", OptionType::real, "0", 0, 1, "s1miv", true, "Smallest score of scale 1."},
    {"vif_scale2_min_val", OptionType::real, "0", 0, 1, "s2miv", true, "Smallest score of scale 2."},
    {"vif_scale3_min_val", OptionType::real, "0", 0, 1, "s3miv", true, "Smallest score of scale 3."},
    {"vif_sigma_nsq", OptionType::real, "2", 0, 5, "snsq", true,
     "Variance of the noise of vision, in squares of a step of 8-bit video."},
    {"vif_skip_scale0", OptionType::boolean, "false", 0, 0, "ssclz", true,
     "Leave the finest scale out; its score is 0."},
};

constexpr OutputSpec kOutputs[] = {
    {"VMAF_feature_vif_scale0_score", "vif_scale0", false, false},
    {"VMAF_feature_vif_scale1_score", "vif_scale1", false, false},
    {"VMAF_feature_vif_scale2_score", "vif_scale2", false, false},
    {"VMAF_feature_vif_scale3_score", "vif_scale3", false, false},
    {"vif", "", false, true},
    {"vif_num", "", false, true},
    {"vif_den", "", false, true},
    {"vif_num_scale0", "", false, true},
    {"vif_den_scale0", "", false, true},
    {"vif_num_scale1", "", false, true},
    {"vif_den_scale1", "", false, true},
    {"vif_num_scale2", "", false, true},
    {"vif_den_scale2", "", false, true},
    {"vif_num_scale3", "", false, true},
    {"vif_den_scale3", "", false, true},
};

class VifFloatScorer final : public Scorer {
 public:
  explicit VifFloatScorer(const Options &options)
      : params_(vif_float_params(options)), debug_(options.boolean("debug")) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    VifFloatSums total;
    std::memcpy(&total, sums, sizeof total);
    const VifFloatScores scores = vif_float_finish(total, params_);
    int output = 0;
    for (double score : scores.score) emit(output++, frame, score);
    if (!debug_) return;
    emit(output++, frame, scores.total);
    emit(output++, frame, scores.total_num);
    emit(output++, frame, scores.total_den);
    for (int s = 0; s < kVifFloatScales; s++) {
      emit(output++, frame, scores.num[s]);
      emit(output++, frame, scores.den[s]);
    }
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const VifFloatParams params_;
  const bool debug_;
};

Status check_options(const Options &options) {
  const Status scale = check_kernel_scale("float_vif", options, "vif_kernelscale");
  return scale.ok() ? check_float_scaling("float_vif", options, "vif_prescale_method") : scale;
}

Status check_format(const Options &options, const PictureFormat &format) {
  const VifFloatParams params = vif_float_params(options);
  const int width = float_scaled_size(format.width, params.prescale),
            height = float_scaled_size(format.height, params.prescale), least = vif_float_min_size(params);
  const bool large = width > kVifFloatMostSamples || height > kVifFloatMostSamples;
  if (width >= least && height >= least && !large) return Status();
  const auto text = [](int w, int h) { return std::to_string(w) + "x" + std::to_string(h); };
  const int limit = large ? kVifFloatMostSamples : least;
  std::string picture = "the picture is " + text(format.width, format.height);
  if (params.prescale != 1) picture += ", " + text(width, height) + " after vif_prescale";
  return Status(Code::unsupported, std::string("float_vif needs at ") + (large ? "most " : "least ") +
                                       text(limit, limit) + " samples" +
                                       (large ? ", " : " at this vif_kernelscale, ") + picture);
}

}  // namespace

VifFloatParams vif_float_params(const Options &options) {
  VifFloatParams params;
  params.gain_limit = options.real("vif_enhn_gain_limit");
  params.kernel_scale = options.real("vif_kernelscale");
  params.prescale = options.real("vif_prescale");
  params.prescale_method = float_scaling_of(options.string("vif_prescale_method"));
  params.noise = options.real("vif_sigma_nsq");
  params.min_val[1] = options.real("vif_scale1_min_val");
  params.min_val[2] = options.real("vif_scale2_min_val");
  params.min_val[3] = options.real("vif_scale3_min_val");
  params.skip_scale0 = options.boolean("vif_skip_scale0");
  return params;
}

const Extractor kVifFloatExtractor = {
    .name = "float_vif",
    .summary = "Visual information fidelity on four scales (VIF), in single precision.",
    .exactness = "bits",
    .limits = {.min_width = kVifFloatMinSize, .min_height = kVifFloatMinSize, .common_depths = true},
    .options = kOptions,
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads::both(kLuma); },
    .lookahead = [](const Options &) { return 0; },
    .check_options = check_options,
    .check_format = check_format,
    .sums_bytes = sizeof(VifFloatSums),
    .add_sums = add_float_sums<VifFloatSums>,
    .make_scorer = [](const Options &options, const PictureFormat &) -> std::unique_ptr<Scorer> {
      return std::make_unique<VifFloatScorer>(options);
    },
};

}  // namespace vmafhip
