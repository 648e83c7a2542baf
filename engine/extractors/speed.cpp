// Extractors `speed_chroma` and `speed_temporal`: options, outputs, scores. The arithmetic is in engine/arith/speed.h.
#include <cstring>
#include <string>

#include "engine/extractors/extractors.h"
#include "engine/extractors/float_options.h"

namespace vmafhip {
namespace {

// In the options of both extractors.
constexpr OptionSpec kKernelScale = {
    "speed_kernelscale",
    OptionType::real,
    "1",
    0.1,
    4,
    "ks",
    true,
    "Scale of the low-pass filters: 1, or another of the ratios that libvmaf knows."};
constexpr OptionSpec kPrescale = {"speed_prescale",
                                  OptionType::real,
                                  "1",
                                  0.1,
                                  4,
                                  "ps",
                                  true,
                                  "Factor by which planes are scaled before they are measured."};
constexpr OptionSpec kPrescaleMethod = {"speed_prescale_method",
                                        OptionType::string,
                                        "nearest",
                                        0,
                                        0,
                                        "psm",
                                        true,
                                        "How planes are scaled: nearest, bilinear, bicubic or lanczos4."};
constexpr OptionSpec kSigma = {
    "speed_sigma_nn", OptionType::real, "0.29", 0.1, 2, "snn", true, "Variance of the neural noise."};
constexpr OptionSpec kFloor = {
    "speed_nn_floor",
    OptionType::real,
    "0",
    0,
    1,
    "nnf",
    true,
    "Share by which a block's variance must exceed that of the neural noise to count."};

constexpr OptionSpec kChromaOptions[] = {
    kKernelScale,
    kPrescale,
    kPrescaleMethod,
    kSigma,
    kFloor,
    {"speed_max_val", OptionType::real, "1000", 0, 1000, "mxv", true, "Largest value of any output."},
    {"speed_weight_var_mode", OptionType::integer, "0", 0, 6, "wvm", true,
     "Whose variance weights a block's entropy: 0 each picture's own, 1 the reference's, 2 the distorted's, "
     "3 their mean; 4, 5, 6: reference its own, distorted the mean of both, 3:1, 1:3."},
};

constexpr OptionSpec kTemporalOptions[] = {
    kKernelScale,
    kPrescale,
    kPrescaleMethod,
    kSigma,
    kFloor,
    {"speed_max_val", OptionType::real, "1000", 0, 1000, "mxv", true,
     "Accepted and without effect, as in libvmaf."},
    {"speed_use_ref_diff", OptionType::boolean, "false", 0, 0, "urd", true,
     "Take the distorted picture's change from its frame before to the reference."},
};

constexpr OutputSpec kChromaOutputs[] = {
    {"Speed_chroma_feature_speed_chroma_u_score", "speed_chroma_u", false, false},
    {"Speed_chroma_feature_speed_chroma_v_score", "speed_chroma_v", false, false},
    {"Speed_chroma_feature_speed_chroma_uv_score", "speed_chroma_uv", false, false},
};

constexpr OutputSpec kTemporalOutputs[] = {
    {"Speed_temporal_feature_speed_temporal_score", "speed_temporal", false, false},
};

SpeedParams common_params(const Options &options) {
  SpeedParams params;
  params.kernel_scale = options.real("speed_kernelscale");
  params.prescale = options.real("speed_prescale");
  params.method = float_scaling_of(options.string("speed_prescale_method"));
  params.sigma = options.real("speed_sigma_nn");
  params.floor = options.real("speed_nn_floor");
  return params;
}

// Only one strip has anything to say.
void speed_add_sums(std::byte *total, const std::byte *partial) {
  SpeedSums a, b;
  std::memcpy(&a, total, sizeof a);
  std::memcpy(&b, partial, sizeof b);
  for (int plane = 0; plane < 2; ++plane) {
    a.score[plane] += b.score[plane];
    a.singular[plane] |= b.singular[plane];
  }
  std::memcpy(total, &a, sizeof a);
}

class ChromaScorer final : public Scorer {
 public:
  explicit ChromaScorer(const Options &options) : params_(speed_chroma_params(options)) {}

  void add(uint64_t frame, const std::byte *bytes, const Emit &emit) override {
    SpeedSums sums;
    std::memcpy(&sums, bytes, sizeof sums);
    const float u = sums.score[0], v = sums.score[1];
    const bool flat_u = sums.singular[0], flat_v = sums.singular[1];
    // A plane that could not be analysed leaves the score to the other.
    const float both = flat_u && !flat_v ? v : flat_v && !flat_u ? u : (u + v) / 2;
    int output = 0;
    for (const float score : {u, v, both}) emit(output++, frame, smaller<double>(score, params_.max_val));
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const SpeedParams params_;
};

class TemporalScorer final : public Scorer {
 public:
  void add(uint64_t frame, const std::byte *bytes, const Emit &emit) override {
    SpeedSums sums;
    std::memcpy(&sums, bytes, sizeof sums);
    emit(0, frame, sums.score[0]);
  }
  void flush(const Emit &) override {}
  void reset() override {}
};

Status check_options(const char *extractor, const Options &options) {
  const Status scale = check_kernel_scale(extractor, options, "speed_kernelscale");
  return scale.ok() ? check_float_scaling(extractor, options, "speed_prescale_method") : scale;
}

Status check_size(const char *metric, const Options &options, SpeedPlaneSize size, const char *planes) {
  const SpeedShape shape = speed_shape(common_params(options), size.width, size.height);
  if (shape.blocks() > 0) return Status();
  const auto text = [](int width, int height) {
    return std::to_string(width) + "x" + std::to_string(height);
  };
  const char *when = shape.prescaled ? " after speed_prescale" : "";
  return Status(Code::unsupported, std::string(metric) + " needs " + planes + " of at least " +
                                       text(kSpeedMinSize, kSpeedMinSize) + " samples" + when +
                                       ", they are " + text(shape.width, shape.height));
}

}  // namespace

SpeedParams speed_chroma_params(const Options &options) {
  SpeedParams params = common_params(options);
  params.max_val = options.real("speed_max_val");
  params.weight_mode = options.integer("speed_weight_var_mode");
  return params;
}

SpeedParams speed_temporal_params(const Options &options) {
  SpeedParams params = common_params(options);
  params.use_ref_diff = options.boolean("speed_use_ref_diff");
  return params;
}

const Extractor kSpeedChromaExtractor = {
    .name = "speed_chroma",
    .summary = "Difference of the entropies of the chroma planes' blocks on a coarse scale (SpEED-QA).",
    .exactness = "bits",
    .limits = {.chroma = true, .common_depths = true},
    .options = kChromaOptions,
    .outputs = kChromaOutputs,
    .reads = [](const Options &) { return Reads::both(kChroma); },
    .lookahead = [](const Options &) { return 0; },
    .check_options = [](const Options &options) { return check_options("speed_chroma", options); },
    .check_format =
        [](const Options &options, const PictureFormat &format) {
          const SpeedPlaneSize size = speed_chroma_size(
              format.width, format.height, chroma_shift_x(format.chroma), chroma_shift_y(format.chroma));
          return check_size("speed_chroma", options, size, "chroma planes");
        },
    .sums_bytes = sizeof(SpeedSums),
    .add_sums = speed_add_sums,
    .make_scorer = [](const Options &options, const PictureFormat &) -> std::unique_ptr<Scorer> {
      return std::make_unique<ChromaScorer>(options);
    },
};

const Extractor kSpeedTemporalExtractor = {
    .name = "speed_temporal",
    .summary = "Difference of the entropies of blocks in frame differences, on a coarse scale (SpEED-QA).",
    .exactness = "bits",
    .limits = {.common_depths = true},
    .options = kTemporalOptions,
    .outputs = kTemporalOutputs,
    .reads =
        [](const Options &options) {
          Reads reads = {.ref = kLuma, .earlier = {kLuma, 0}, .earlier_dist = kLuma};
          if (!options.boolean("speed_use_ref_diff")) reads.dist = kLuma;
          return reads;
        },
    .lookahead = [](const Options &) { return 0; },
    .check_options = [](const Options &options) { return check_options("speed_temporal", options); },
    .check_format =
        [](const Options &options, const PictureFormat &format) {
          return check_size("speed_temporal", options, {format.width, format.height}, "pictures");
        },
    .sums_bytes = sizeof(SpeedSums),
    .add_sums = speed_add_sums,
    .make_scorer = [](const Options &, const PictureFormat &) -> std::unique_ptr<Scorer> {
      return std::make_unique<TemporalScorer>();
    },
};

}  // namespace vmafhip
