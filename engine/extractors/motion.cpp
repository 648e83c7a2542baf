// Extractors `motion` and `motion_v2`: options, outputs, scores. The arithmetic is in engine/arith/motion.h.
//
// motion_v2 is what a fork of libvmaf calls the same arithmetic, whose own `motion` is another: three-frame window
// only, names without aliases.
#include <cstring>

#include "engine/extractors/extractors.h"
#include "engine/extractors/motion_window.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"debug", OptionType::boolean, "false", 0, 0, "", false, "Also report the motion of the frame itself."},
    {"motion_force_zero", OptionType::boolean, "false", 0, 0, "force_0", true, "Report 0 for every frame."},
    {"motion_blend_factor", OptionType::real, "1", 0, 1, "mbf", true,
     "Weight in motion3 of motion beyond motion_blend_offset."},
    {"motion_blend_offset", OptionType::real, "40", 0, 1000, "mbo", true,
     "Motion from which on motion3 is weighted by motion_blend_factor."},
    {"motion_fps_weight", OptionType::real, "1", 0, 5, "mfw", true, "Factor on motion, for the frame rate."},
    {"motion_max_val", OptionType::real, "10000", 0, 10000, "mmxv", true, "Largest value of any output."},
    {"motion_five_frame_window", OptionType::boolean, "false", 0, 0, "mffw", true,
     "Compare with the frame before the previous one."},
    {"motion_moving_average", OptionType::boolean, "false", 0, 0, "mma", true,
     "Average motion3 with that of the previous frame."},
};

// motion_v2 has no `debug`, as it has no motion of the frame itself.
constexpr auto kV2Options = std::span(kOptions).subspan(1);

// Values of a frame, in the order of kOutputs.
enum Output { kSad, kMotion, kMotion2, kMotion3 };

constexpr OutputSpec kOutputs[] = {
    {"VMAF_integer_feature_motion_sad_score", "", false, false},
    {"VMAF_integer_feature_motion_score", "integer_motion", false, true},
    {"VMAF_integer_feature_motion2_score", "integer_motion2", true, false},
    {"VMAF_integer_feature_motion3_score", "integer_motion3", true, false},
};

constexpr OutputSpec kV2Outputs[] = {
    {"VMAF_integer_feature_motion_v2_sad_score", "", false, false},
    {"VMAF_integer_feature_motion2_v2_score", "", true, false},
    {"VMAF_integer_feature_motion3_v2_score", "", true, false},
};
// Where Output is in kV2Outputs; there is no motion of the frame itself.
constexpr int kV2Index[] = {0, -1, 1, 2};

class MotionScorer final : public Scorer {
  // What the window calls; these come first, since their types are deduced.
  auto first(const Emit &emit) {
    return [&](uint64_t count, double motion) {
      blended_ = motion_blend(motion, params_);
      for (uint64_t frame = 0; frame < count; frame++) {
        emit(kMotion2, frame, 0.0);
        emit(kMotion3, frame, blended_);
      }
    };
  }
  auto later(const Emit &emit) {
    return [&](uint64_t frame, double motion) {
      const double blended = motion_blend(motion, params_);
      emit(kMotion2, frame, motion);
      emit(kMotion3, frame, params_.moving_average ? (blended + blended_) / 2 : blended);
      blended_ = blended;
    };
  }

 public:
  MotionScorer(const Options &options, const PictureFormat &format)
      : params_(motion_params(options)),
        debug_(options.has("debug") && options.boolean("debug")),
        width_(format.width),
        height_(format.height),
        window_(motion_lag(params_)) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    MotionSums exact;
    std::memcpy(&exact, sums, sizeof exact);
    const bool compared = frame >= static_cast<uint64_t>(motion_lag(params_)) && !params_.force_zero;
    const double motion = compared ? motion_score(exact, width_, height_, params_) : 0.0;
    emit(kSad, frame, motion);
    if (debug_) emit(kMotion, frame, motion);
    if (params_.force_zero) {
      emit(kMotion2, frame, 0.0);
      emit(kMotion3, frame, 0.0);
    } else {
      window_.add(frame, motion, first(emit), later(emit));
    }
  }

  void flush(const Emit &emit) override {
    if (!params_.force_zero) window_.flush(first(emit), later(emit));
  }

  void reset() override {
    window_.reset();
    blended_ = 0;
  }

 private:
  const MotionParams params_;
  const bool debug_;
  const int width_, height_;
  MotionWindow window_;
  double blended_ = 0;  // motion3 of the previous frame before averaging
};

class MotionV2Scorer final : public Scorer {
 public:
  MotionV2Scorer(const Options &options, const PictureFormat &format) : scorer_(options, format) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    scorer_.add(frame, sums, renumbered(emit));
  }
  void flush(const Emit &emit) override { scorer_.flush(renumbered(emit)); }
  void reset() override { scorer_.reset(); }

 private:
  static Emit renumbered(const Emit &emit) {
    return [&emit](int output, uint64_t frame, double value) {
      if (kV2Index[output] >= 0) emit(kV2Index[output], frame, value);
    };
  }

  MotionScorer scorer_;
};

Reads reads(const Options &options) {
  const MotionParams params = motion_params(options);
  Reads reads;
  if (params.force_zero) return reads;
  reads.ref = kLuma;
  reads.earlier[size_t(motion_lag(params) - 1)] = kLuma;
  return reads;
}

// motion3 of frame 0 needs the first comparison, motion2 of a frame the next one.
int lookahead(const Options &options) { return reads(options).lookback(); }

}  // namespace

MotionParams motion_params(const Options &options) {
  MotionParams params;
  params.force_zero = options.boolean("motion_force_zero");
  params.blend_factor = options.real("motion_blend_factor");
  params.blend_offset = options.real("motion_blend_offset");
  params.fps_weight = options.real("motion_fps_weight");
  params.max_val = options.real("motion_max_val");
  params.five_frame_window = options.boolean("motion_five_frame_window");
  params.moving_average = options.boolean("motion_moving_average");
  return params;
}

const Extractor kMotionExtractor = {
    .name = "motion",
    .summary = "How much the blurred reference changes from frame to frame, in integers.",
    .exactness = "bits",
    .limits = {.min_width = kMotionMinSize, .min_height = kMotionMinSize},
    .options = kOptions,
    .outputs = kOutputs,
    .reads = reads,
    .lookahead = lookahead,
    .sums_bytes = sizeof(MotionSums),
    .add_sums = add_integer_sums<MotionSums>,
    .make_scorer = [](const Options &options, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<MotionScorer>(options, format);
    },
};

const Extractor kMotionV2Extractor = {
    .name = "motion_v2",
    .summary = "As motion, under the names of a fork of libvmaf.",
    .exactness = "bits",
    .limits = {.min_width = kMotionMinSize, .min_height = kMotionMinSize},
    .options = kV2Options,
    .outputs = kV2Outputs,
    .reads = reads,
    .lookahead = lookahead,
    .check_options =
        [](const Options &options) {
          return options.boolean("motion_five_frame_window")
                     ? Status(Code::unsupported,
                              "motion_v2 has no motion_five_frame_window; extractor motion has")
                     : Status();
        },
    .sums_bytes = sizeof(MotionSums),
    .add_sums = add_integer_sums<MotionSums>,
    .make_scorer = [](const Options &options, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<MotionV2Scorer>(options, format);
    },
};

}  // namespace vmafhip
