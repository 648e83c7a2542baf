// Extractor `vif`: options, outputs, scores. The arithmetic is in engine/arith/vif.h.
#include <cstring>

#include "engine/extractors/extractors.h"
#include "engine/view.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"debug", OptionType::boolean, "false", 0, 0, "", false,
     "Also report the combined score and numerators and denominators.", true},
    {"enable_chroma", OptionType::boolean, "false", 0, 0, "", true,
     "Also score both chroma planes, as a fork of libvmaf does."},
    {"vif_enhn_gain_limit", OptionType::real, "100", 1, 100, "egl", true,
     "Largest contrast gain that counts as information; 1 ignores enhancement.", true},
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
    {"integer_vif_scale0_cb", "", false, false, "enable_chroma"},
    {"integer_vif_scale1_cb", "", false, false, "enable_chroma"},
    {"integer_vif_scale2_cb", "", false, false, "enable_chroma"},
    {"integer_vif_scale3_cb", "", false, false, "enable_chroma"},
    {"integer_vif_scale0_cr", "", false, false, "enable_chroma"},
    {"integer_vif_scale1_cr", "", false, false, "enable_chroma"},
    {"integer_vif_scale2_cr", "", false, false, "enable_chroma"},
    {"integer_vif_scale3_cr", "", false, false, "enable_chroma"},
};

constexpr int kDebugOutputs = 3 + 2 * kVifScales;

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
    if (debug_) add_debug(output, frame, scores, emit);
    if (!params_.chroma) return;
    output += kDebugOutputs;
    for (const auto &plane : scores.chroma)
      for (double score : plane) emit(output++, frame, score);
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  static void add_debug(int output, uint64_t frame, const VifScores &scores, const Emit &emit) {
    emit(output++, frame, scores.total);
    emit(output++, frame, scores.total_num);
    emit(output++, frame, scores.total_den);
    for (int s = 0; s < kVifScales; s++) {
      emit(output++, frame, scores.num[s]);
      emit(output++, frame, scores.den[s]);
    }
  }

  const VifParams params_;
  const bool debug_;
};

Status check_format(const Options &options, const PictureFormat &format) {
  if (!options.boolean("enable_chroma")) return Status();
  if (format.chroma == Chroma::c400)
    return Status(Code::unsupported, "vif with enable_chroma needs pictures with chroma");
  const PlaneSize size = plane_size(format, 1);
  if (size.width >= kVifMinSize && size.height >= kVifMinSize) return Status();
  return Status(Code::unsupported,
                "vif with enable_chroma needs chroma planes of at least 16x16 samples, they are " +
                    std::to_string(size.width) + "x" + std::to_string(size.height));
}

}  // namespace

VifParams vif_params(const Options &options) {
  VifParams params;
  params.gain_limit = options.real("vif_enhn_gain_limit");
  params.skip_scale0 = options.boolean("vif_skip_scale0");
  params.chroma = options.boolean("enable_chroma");
  return params;
}

const Extractor kVifExtractor = {
    .name = "vif",
    .summary = "Visual information fidelity on four scales (VIF), in integers.",
    .exactness = "bits",
    .limits = {.min_width = kVifMinSize, .min_height = kVifMinSize},
    .options = kOptions,
    .outputs = kOutputs,
    .reads =
        [](const Options &options) {
          return Reads::both(options.boolean("enable_chroma") ? kAllPlanes : kLuma);
        },
    .lookahead = [](const Options &) { return 0; },
    .check_format = check_format,
    .sums_bytes = sizeof(VifSums),
    .add_sums = add_integer_sums<VifSums>,
    .make_scorer = [](const Options &options, const PictureFormat &) -> std::unique_ptr<Scorer> {
      return std::make_unique<VifScorer>(options);
    },
};

}  // namespace vmafhip
