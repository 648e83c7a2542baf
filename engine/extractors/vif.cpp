// Extractor `vif`: options, outputs, scores. The arithmetic is in engine/arith/vif.h.
#include <cstring>

#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"debug", OptionType::boolean, "false", 0, 0, "", false,
     "Also report the combined score and numerators and denominators."},
    {"vif_enhn_gain_limit", OptionType::real, "100", 1, 100, "egl", true,
     "Largest contrast gain that counts as information; 1 ignores enhancement."},
    {"vif_skip_scale0", OptionType::boolean, "false", 0, 0, "ssclz", true,
     "Leave the finest scale out; its score is 0."},
};

constexpr OutputSpec kOutputs[] = {
    {"VMAF_integer_feature_vif_scale0_score", "integer_vif_scale0", false, false},
    {"VMAF_integer_feature_vif_scale1_score", "integer_vif_scale1", false, false},
    {"VMAF_integer_feature_vif_scale2_score", "integer_vif_scale2", false, false},
    {"VMAF_integer_feature_vif_scale3_score", "integer_vif_scale3", false, false},
    {"integer_vif", "", false, true},
    {"integer_vif_num", "", false, true},
    {"integer_vif_den", "", false, true},
    {"integer_vif_num_scale0", "", false, true},
    {"integer_vif_den_scale0", "", false, true},
    {"integer_vif_num_scale1", "", false, true},
    {"integer_vif_den_scale1", "", false, true},
    {"integer_vif_num_scale2", "", false, true},
    {"integer_vif_den_scale2", "", false, true},
    {"integer_vif_num_scale3", "", false, true},
    {"integer_vif_den_scale3", "", false, true},
};

class VifScorer final : public Scorer {
 public:
  explicit VifScorer(const Options &options)
      : params_(vif_params(options)), debug_(options.boolean("debug")) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    VifSums exact;
    std::memcpy(&exact, sums, sizeof exact);
    const VifScores scores = vif_finish(exact, params_);
    int output = 0;
    for (double score : scores.score) emit(output++, frame, score);
    if (!debug_) return;
    emit(output++, frame, scores.total);
    emit(output++, frame, scores.total_num);
    emit(output++, frame, scores.total_den);
    for (int s = 0; s < kVifScales; s++) {
      emit(output++, frame, scores.num[s]);
      emit(output++, frame, scores.den[s]);
    }
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const VifParams params_;
  const bool debug_;
};

}  // namespace

VifParams vif_params(const Options &options) {
  VifParams params;
  params.gain_limit = options.real("vif_enhn_gain_limit");
  params.skip_scale0 = options.boolean("vif_skip_scale0");
  return params;
}

const Extractor kVifExtractor = {
    .name = "vif",
    .options = kOptions,
    .outputs = kOutputs,
    .luma_only = [](const Options &) { return true; },
    .lookback = [](const Options &) { return 0; },
    .lookahead = [](const Options &) { return 0; },
    .check_options = [](const Options &) { return Status(); },
    .check_format = [](const Options &,
                       const PictureFormat &format) { return check_luma("vif", kVifMinSize, format); },
    .sums_bytes = sizeof(VifSums),
    .add_sums = add_integer_sums<VifSums>,
    .make_scorer = [](const Options &options, const PictureFormat &) -> std::unique_ptr<Scorer> {
      return std::make_unique<VifScorer>(options);
    },
};

}  // namespace vmafhip
