// Extractors `float_ssim` and `float_ms_ssim`: options, outputs, scores. The arithmetic is in engine/arith/ssim.h.
#include <cstring>
#include <limits>

#include "engine/arith/ssim_decimate.h"
#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kLcs = {"enable_lcs",
                             OptionType::boolean,
                             "false",
                             0,
                             0,
                             "",
                             false,
                             "Also report the means of luminance, contrast and structure."};
constexpr OptionSpec kDb = {
    "enable_db", OptionType::boolean,
    "false",     0,
    0,           "",
    false,       "Report the score in dB, -10 log10(1 - score); equal pictures give +inf."};
constexpr OptionSpec kClip = {
    "clip_db", OptionType::boolean,
    "false",   0,
    0,         "",
    false,     "Cap the dB at what half a squared step of error in the whole picture gives."};

constexpr OptionSpec kOptions[] = {
    kLcs,
    kDb,
    kClip,
    {"scale", OptionType::integer, "0", 0, kSsimMaxFactor, "", false,
     "Factor by which pictures are decimated before; 0 chooses one that brings the shorter side near 256."},
};
constexpr OptionSpec kMultiScaleOptions[] = {kLcs, kDb, kClip};

// In the order of kOutputs.
enum Output { kScore, kL, kC, kS };
constexpr OutputSpec kOutputs[] = {
    {"float_ssim", "", false, false},
    {"float_ssim_l", "", false, false, "enable_lcs"},
    {"float_ssim_c", "", false, false, "enable_lcs"},
    {"float_ssim_s", "", false, false, "enable_lcs"},
};

// The score, then l of all scales, c of all, s of all.
constexpr OutputSpec kMultiScaleOutputs[] = {
    {"float_ms_ssim", "", false, false},
    {"float_ms_ssim_l_scale0", "", false, false, "enable_lcs"},
    {"float_ms_ssim_l_scale1", "", false, false, "enable_lcs"},
    {"float_ms_ssim_l_scale2", "", false, false, "enable_lcs"},
    {"float_ms_ssim_l_scale3", "", false, false, "enable_lcs"},
    {"float_ms_ssim_l_scale4", "", false, false, "enable_lcs"},
    {"float_ms_ssim_c_scale0", "", false, false, "enable_lcs"},
    {"float_ms_ssim_c_scale1", "", false, false, "enable_lcs"},
    {"float_ms_ssim_c_scale2", "", false, false, "enable_lcs"},
    {"float_ms_ssim_c_scale3", "", false, false, "enable_lcs"},
    {"float_ms_ssim_c_scale4", "", false, false, "enable_lcs"},
    {"float_ms_ssim_s_scale0", "", false, false, "enable_lcs"},
    {"float_ms_ssim_s_scale1", "", false, false, "enable_lcs"},
    {"float_ms_ssim_s_scale2", "", false, false, "enable_lcs"},
    {"float_ms_ssim_s_scale3", "", false, false, "enable_lcs"},
    {"float_ms_ssim_s_scale4", "", false, false, "enable_lcs"},
};

int factor_of(const Options &options, int width, int height) {
  const int scale = options.integer("scale");
  return scale > 0 ? scale : ssim_automatic_factor(width, height);
}

Status check_size(const Options &options, const PictureFormat &format) {
  const int factor = factor_of(options, format.width, format.height);
  const int width = ssim_decimated(format.width, factor), height = ssim_decimated(format.height, factor);
  if (width >= kSsimTaps && height >= kSsimTaps) return Status();
  const auto text = [](int w, int h) { return std::to_string(w) + "x" + std::to_string(h); };
  return Status(Code::unsupported, "float_ssim needs at least " + text(kSsimTaps, kSsimTaps) +
                                       " samples, the picture of " + text(format.width, format.height) +
                                       " decimated by " + std::to_string(factor) + " has " +
                                       text(width, height) + "; a smaller option scale leaves more");
}

// What both scores have in common: the conversion to dB.
class SsimScorer : public Scorer {
 public:
  SsimScorer(const Options &options, const PictureFormat &format)
      : lcs_(options.boolean("enable_lcs")), decibels_(options.boolean("enable_db")) {
    if (options.boolean("clip_db")) cap_ = ssim_decibel_cap(format.width, format.height, format.depth);
  }
  void flush(const Emit &) override {}
  void reset() override {}

 protected:
  double reported(double score) const { return decibels_ ? ssim_decibels(score, cap_) : score; }
  bool lcs() const { return lcs_; }

 private:
  const bool lcs_, decibels_;
  double cap_ = std::numeric_limits<double>::infinity();
};

class SingleScaleScorer final : public SsimScorer {
 public:
  SingleScaleScorer(const Options &options, const PictureFormat &format) : SsimScorer(options, format) {
    const int factor = factor_of(options, format.width, format.height);
    windows_ = ssim_windows(ssim_decimated(format.width, factor), ssim_decimated(format.height, factor));
  }
  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    MsSsimSums all;
    std::memcpy(&all, sums, sizeof all);
    const SsimSums &sum = all.scale[0];
    emit(kScore, frame, reported(ssim_mean(sum.lcs, windows_)));
    if (!lcs()) return;
    emit(kL, frame, ssim_mean(sum.l, windows_));
    emit(kC, frame, ssim_mean(sum.c, windows_));
    emit(kS, frame, ssim_mean(sum.s, windows_));
  }

 private:
  int64_t windows_;
};

class MultiScaleScorer final : public SsimScorer {
 public:
  MultiScaleScorer(const Options &options, const PictureFormat &format) : SsimScorer(options, format) {
    int width = format.width, height = format.height;
    for (int64_t &windows : windows_) {
      windows = ssim_windows(width, height);
      width = ssim_decimated(width, 2);
      height = ssim_decimated(height, 2);
    }
  }
  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    MsSsimSums sum;
    std::memcpy(&sum, sums, sizeof sum);
    float mean[3][kMsSsimScales];
    for (int i = 0; i < kMsSsimScales; ++i) {
      mean[0][i] = ssim_mean(sum.scale[i].l, windows_[i]);
      mean[1][i] = ssim_mean(sum.scale[i].c, windows_[i]);
      mean[2][i] = ssim_mean(sum.scale[i].s, windows_[i]);
    }
    emit(0, frame, reported(ms_ssim_score(mean[0], mean[1], mean[2])));
    if (!lcs()) return;
    for (int part = 0; part < 3; ++part)
      for (int i = 0; i < kMsSsimScales; ++i) emit(1 + part * kMsSsimScales + i, frame, mean[part][i]);
  }

 private:
  int64_t windows_[kMsSsimScales];
};

constexpr char kExactness[] =
    "Equal to the last bit on all golden clips; f64 sums, whose order is not libvmaf's, are rounded to f32.";

}  // namespace

SsimParams ssim_params(const Options &options, const PictureFormat &format) {
  SsimParams params;
  params.lcs = options.boolean("enable_lcs");
  params.factor = factor_of(options, format.width, format.height);
  return params;
}

SsimParams ms_ssim_params(const Options &options) {
  SsimParams params;
  params.multi_scale = true;
  params.lcs = options.boolean("enable_lcs");
  return params;
}

const Extractor kFloatSsimExtractor = {
    .name = "float_ssim",
    .summary =
        "Structural similarity of luma (SSIM) under a Gaussian window of 11x11, at about 256 rows or "
        "columns.",
    .exactness = kExactness,
    .limits = {.min_width = kSsimTaps, .min_height = kSsimTaps},
    .options = kOptions,
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads::both(kLuma); },
    .lookahead = [](const Options &) { return 0; },
    .check_format = check_size,
    .sums_bytes = sizeof(MsSsimSums),
    .add_sums = add_double_sums<MsSsimSums>,
    .make_scorer = [](const Options &options, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<SingleScaleScorer>(options, format);
    },
};

const Extractor kFloatMsSsimExtractor = {
    .name = "float_ms_ssim",
    .summary = "Structural similarity of luma on five scales, each half the one before (MS-SSIM).",
    .exactness = kExactness,
    .limits = {.min_width = kMsSsimMinSize, .min_height = kMsSsimMinSize},
    .options = kMultiScaleOptions,
    .outputs = kMultiScaleOutputs,
    .reads = [](const Options &) { return Reads::both(kLuma); },
    .lookahead = [](const Options &) { return 0; },
    .sums_bytes = sizeof(MsSsimSums),
    .add_sums = add_double_sums<MsSsimSums>,
    .make_scorer = [](const Options &options, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<MultiScaleScorer>(options, format);
    },
};

}  // namespace vmafhip
