// Extractor `float_adm`: options, outputs, scores. The arithmetic is in engine/arith/adm_float.h.
#include <cstring>

#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"debug", OptionType::boolean, "false", 0, 0, "", false,
     "Also report the combined numerators and denominators."},
    {"adm_enhn_gain_limit", OptionType::real, "100", 1, 100, "egl", true,
     "Largest contrast gain that counts as restored detail; 1 ignores enhancement."},
    {"adm_norm_view_dist", OptionType::real, "3", 0.75, 24, "nvd", true,
     "Viewing distance in heights of the display."},
    {"adm_noise_weight", OptionType::real, "0.03125", 0, 1500, "nw", true,
     "Noise added to every band before bands are pooled, as a share of the area."},
    {"adm_csf_scale", OptionType::real, "1", 0, 50, "scf", true,
     "Factor on the contrast sensitivity of the bands h and v in CSF mode 1."},
    {"adm_csf_diag_scale", OptionType::real, "1", 0, 50, "scfd", true,
     "Factor on the contrast sensitivity of the band d in CSF mode 1."},
    {"adm_ref_display_height", OptionType::integer, "1080", 1, 4320, "rdf", true,
     "Height of the display in lines."},
    {"adm_csf_mode", OptionType::integer, "0", 0, 9, "csf", true,
     "Contrast sensitivity: 0 is Watson's model, 1 Barten's, 2 libvmaf's own; others count as 0."},
    {"adm_bypass_cm", OptionType::integer, "0", 0, 1, "bcm", true, "1 leaves contrast masking out."},
    {"adm_adm3_apply_hm", OptionType::boolean, "false", 0, 0, "aah", true,
     "adm3 is the harmonic mean of adm2 and aim."},
    {"adm_p_norm", OptionType::real, "3", 1, 20, "apn", true, "Exponent with which samples are pooled."},
    {"adm_dlm_weight", OptionType::real, "0.5", 0, 1, "dlmw", true,
     "Weight of adm2 in adm3; the rest goes to 1 - aim."},
    {"adm_min_val", OptionType::real, "0", 0, 1, "min", true, "Smallest value of adm3."},
    {"adm_f1s0", OptionType::real, "-1", -1, 10, "f1s0", true,
     "Contrast sensitivity of the bands h and v at scale 0; below 0 that of adm_csf_mode."},
    {"adm_f1s1", OptionType::real, "-1", -1, 10, "f1s1", true, "The same at scale 1."},
    {"adm_f1s2", OptionType::real, "-1", -1, 10, "f1s2", true, "The same at scale 2."},
    {"adm_f1s3", OptionType::real, "-1", -1, 10, "f1s3", true, "The same at scale 3."},
    {"adm_f2s0", OptionType::real, "-1", -1, 10, "f2s0", true,
     "Contrast sensitivity of the band d at scale 0; below 0 that of adm_csf_mode."},
    {"adm_f2s1", OptionType::real, "-1", -1, 10, "f2s1", true, "The same at scale 1."},
    {"adm_f2s2", OptionType::real, "-1", -1, 10, "f2s2", true, "The same at scale 2."},
    {"adm_f2s3", OptionType::real, "-1", -1, 10, "f2s3", true, "The same at scale 3."},
    {"adm_skip_aim_scale", OptionType::integer, "-1", 0, 3, "sasc", true,
     "Scale that aim leaves out; -1: none."},
    {"adm_skip_scale0", OptionType::boolean, "false", 0, 0, "ssz", true, "Leave the finest scale out."},
};

constexpr OutputSpec kOutputs[] = {
    {"VMAF_feature_adm2_score", "adm2", false, false},
    {"VMAF_feature_aim_score", "aim", false, false},
    {"VMAF_feature_adm3_score", "adm3", false, false},
    {"VMAF_feature_adm_scale0_score", "adm_scale0", false, false},
    {"VMAF_feature_adm_scale1_score", "adm_scale1", false, false},
    {"VMAF_feature_adm_scale2_score", "adm_scale2", false, false},
    {"VMAF_feature_adm_scale3_score", "adm_scale3", false, false},
    {"adm", "", false, true},
    {"adm_num", "", false, true},
    {"adm_den", "", false, true},
    {"adm_num_scale0", "", false, true},
    {"adm_den_scale0", "", false, true},
    {"adm_num_scale1", "", false, true},
    {"adm_den_scale1", "", false, true},
    {"adm_num_scale2", "", false, true},
    {"adm_den_scale2", "", false, true},
    {"adm_num_scale3", "", false, true},
    {"adm_den_scale3", "", false, true},
};

class AdmFloatScorer final : public Scorer {
 public:
  AdmFloatScorer(const Options &options, const PictureFormat &format)
      : params_(adm_float_params(options, format)), debug_(options.boolean("debug")) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    AdmFloatSums rounded;
    std::memcpy(&rounded, sums, sizeof rounded);
    const AdmFloatScores scores = adm_float_finish(rounded, params_);
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
  const AdmFloatParams params_;
  const bool debug_;
};

}  // namespace

AdmFloatParams adm_float_params(const Options &options, const PictureFormat &format) {
  AdmFloatOptions out;
  out.norm_view_dist = options.real("adm_norm_view_dist");
  out.ref_display_height = options.integer("adm_ref_display_height");
  out.csf_mode = options.integer("adm_csf_mode");
  out.csf_scale = options.real("adm_csf_scale");
  out.csf_diag_scale = options.real("adm_csf_diag_scale");
  for (int s = 0; s < kAdmScales; s++)
    for (int direction = 0; direction < 2; direction++)
      out.factor[s][direction] = options.real((direction ? "adm_f2s" : "adm_f1s") + std::to_string(s));
  out.gain_limit = options.real("adm_enhn_gain_limit");
  out.noise_weight = options.real("adm_noise_weight");
  out.bypass_masking = options.integer("adm_bypass_cm") != 0;
  out.p_norm = options.real("adm_p_norm");
  out.dlm_weight = options.real("adm_dlm_weight");
  out.min_val = options.real("adm_min_val");
  out.harmonic = options.boolean("adm_adm3_apply_hm");
  out.skip_aim_scale = options.integer("adm_skip_aim_scale");
  out.skip_scale0 = options.boolean("adm_skip_scale0");
  return adm_float_configure(out, format.width, format.height);
}

const Extractor kAdmFloatExtractor = {
    .name = "float_adm",
    .summary = "Detail loss and additive impairments on four wavelet scales (ADM), in single precision.",
    .exactness =
        "Within 1.7e-7 of libvmaf's scores, relative, and 9 of 10 of them equal in all bits: libvmaf divides "
        "by means of the processor's estimate of a reciprocal, which differs between vendors.",
    .limits = {.min_width = kAdmFloatMinSize, .min_height = kAdmFloatMinSize, .common_depths = true},
    .options = kOptions,
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads::both(kLuma); },
    .lookahead = [](const Options &) { return 0; },
    .sums_bytes = sizeof(AdmFloatSums),
    .add_sums = add_float_sums<AdmFloatSums>,
    .make_scorer = [](const Options &options, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<AdmFloatScorer>(options, format);
    },
};

}  // namespace vmafhip
