// Extractor `adm`: options, outputs, scores. The arithmetic is in engine/arith/adm.h.
#include <cstring>

#include "engine/extractors/extractors.h"
#include "engine/text.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"debug", OptionType::boolean, "false", 0, 0, "", false,
     "Also report the combined numerators and denominators.", true},
    {"adm_csf_scale", OptionType::real, "1", 0, 50, "scf", true,
     "Factor on the contrast sensitivity of the bands h and v in CSF mode 1."},
    {"adm_csf_diag_scale", OptionType::real, "1", 0, 50, "scfd", true,
     "Factor on the contrast sensitivity of the band d in CSF mode 1."},
    {"adm_dlm_weight", OptionType::real, "0.5", 0, 1, "dlmw", true,
     "Weight of adm2 in adm3; the rest goes to 1 - aim.", true},
    {"adm_enhn_gain_limit", OptionType::real, "100", 1, 100, "egl", true,
     "Largest contrast gain that counts as restored detail; 1 ignores enhancement.", true},
    {"adm_norm_view_dist", OptionType::real, "3", 0.75, 24, "nvd", true,
     "Viewing distance in heights of the display."},
    {"adm_ref_display_height", OptionType::integer, "1080", 1, 4320, "rdh", true,
     "Height of the display in lines."},
    {"adm_csf_mode", OptionType::integer, "0", 0, 3, "csf", true,
     "Contrast sensitivity: 0 is Watson's model, 2 and 3 are blends with Barten's; 1 is not available."},
    {"adm_noise_weight", OptionType::real, "0.03125", 0, 1500, "nw", true,
     "Noise added to every band before bands are pooled, as a share of the area.", true},
    {"adm_skip_aim", OptionType::boolean, "false", 0, 0, "", false,
     "Leave additive impairments out; aim is 0."},
    {"adm_skip_scale0", OptionType::boolean, "false", 0, 0, "ssz", true, "Leave the finest scale out."},
    {"adm_min_val", OptionType::real, "0", 0, 1, "min", true, "Smallest value of adm3.", true},
};

constexpr OutputSpec kOutputs[] = {
    {"VMAF_integer_feature_adm2_score", "integer_adm2", false, false},
    {"VMAF_integer_feature_aim_score", "integer_aim", false, false},
    {"VMAF_integer_feature_adm3_score", "integer_adm3", false, false},
    {"integer_adm_scale0", "", false, false},
    {"integer_adm_scale1", "", false, false},
    {"integer_adm_scale2", "", false, false},
    {"integer_adm_scale3", "", false, false},
    {"integer_adm", "", false, true},
    {"integer_adm_num", "", false, true},
    {"integer_adm_den", "", false, true},
    {"integer_adm_num_scale0", "", false, true},
    {"integer_adm_den_scale0", "", false, true},
    {"integer_adm_num_scale1", "", false, true},
    {"integer_adm_den_scale1", "", false, true},
    {"integer_adm_num_scale2", "", false, true},
    {"integer_adm_den_scale2", "", false, true},
    {"integer_adm_num_scale3", "", false, true},
    {"integer_adm_den_scale3", "", false, true},
};

class AdmScorer final : public Scorer {
 public:
  AdmScorer(const Options &options, const PictureFormat &format)
      : params_(adm_params(options, format)), debug_(options.boolean("debug")) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    AdmSums exact;
    std::memcpy(&exact, sums, sizeof exact);
    const AdmScores scores = adm_finish(exact, params_);
    int output = 0;
    emit(output++, frame, scores.adm2);
    emit(output++, frame, scores.aim);
    emit(output++, frame, scores.adm3);
    for (double score : scores.score) emit(output++, frame, score);
    if (!debug_) return;
    emit(output++, frame, scores.adm2);
    emit(output++, frame, scores.total_num);
    emit(output++, frame, scores.total_den);
    for (int s = 0; s < kAdmScales; s++) {
      emit(output++, frame, scores.num[s]);
      emit(output++, frame, scores.den[s]);
    }
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const AdmParams params_;
  const bool debug_;
};

AdmOptions adm_options(const Options &options) {
  AdmOptions out;
  out.norm_view_dist = options.real("adm_norm_view_dist");
  out.ref_display_height = options.integer("adm_ref_display_height");
  out.csf_mode = options.integer("adm_csf_mode");
  out.gain_limit = options.real("adm_enhn_gain_limit");
  out.noise_weight = options.real("adm_noise_weight");
  out.dlm_weight = options.real("adm_dlm_weight");
  out.min_val = options.real("adm_min_val");
  out.skip_aim = options.boolean("adm_skip_aim");
  out.skip_scale0 = options.boolean("adm_skip_scale0");
  return out;
}

std::string display_text(double norm_view_dist, int ref_display_height) {
  return std::to_string(ref_display_height) + " at " + to_text(norm_view_dist);
}

Status check_options(const Options &all) {
  const AdmOptions options = adm_options(all);
  const std::string display = display_text(options.norm_view_dist, options.ref_display_height);
  if (options.csf_mode == 1)
    return Status(
        Code::unsupported,
        "adm: adm_csf_mode=1 is not available, because libvmaf does not define it consistently (its code "
        "paths disagree); use 0, 2 or 3");
  if (options.norm_view_dist * options.ref_display_height < 3.0 * 1080)
    return Status(Code::invalid_argument,
                  "adm: adm_norm_view_dist * adm_ref_display_height must be at least 3240, not " + display);
  if (options.csf_mode != 0 && !adm_csf_row(options.norm_view_dist, options.ref_display_height)) {
    std::string message = "adm: adm_csf_mode=" + std::to_string(options.csf_mode) +
                          " is not defined for adm_ref_display_height " + display +
                          " (adm_norm_view_dist), only for ";
    std::vector<std::string> displays;
    for (const AdmCsfRow &row : kAdmCsfRows)
      displays.push_back(display_text(row.norm_view_dist, row.ref_display_height));
    return Status(Code::invalid_argument, message + join(displays));
  }
  return Status();
}

}  // namespace

AdmParams adm_params(const Options &options, const PictureFormat &format) {
  return adm_configure(adm_options(options), format.width, format.height);
}

const Extractor kAdmExtractor = {
    .name = "adm",
    .summary = "Detail loss and additive impairments on four wavelet scales (ADM), in integers.",
    .exactness = "bits",
    .limits = {.min_width = kAdmMinSize, .min_height = kAdmMinSize},
    .options = kOptions,
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads::both(kLuma); },
    .lookahead = [](const Options &) { return 0; },
    .check_options = check_options,
    .sums_bytes = sizeof(AdmSums),
    .add_sums = add_integer_sums<AdmSums>,
    .make_scorer = [](const Options &options, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<AdmScorer>(options, format);
    },
};

}  // namespace vmafhip
