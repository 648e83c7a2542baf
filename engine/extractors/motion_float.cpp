// Extractor `float_motion`: options, outputs, scores. The arithmetic is in engine/arith/motion_float.h.
#include <cstring>
#include <string>

#include "engine/extractors/extractors.h"
#include "engine/extractors/motion_window.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"debug", OptionType::boolean, "true", 0, 0, "", false, "Also report the motion of the frame itself."},
    {"motion_add_scale1", OptionType::boolean, "false", 0, 0, "mdc", true,
     "Add the motion of the filtered planes at half size."},
    {"motion_add_uv", OptionType::boolean, "false", 0, 0, "mau", true,
     "Add the motion of both chroma planes."},
    {"motion_blend_factor", OptionType::real, "1", 0, 1, "mbf", true,
     "Weight in motion3 of motion beyond motion_blend_offset."},
    {"motion_blend_offset", OptionType::real, "40", 0, 1000, "mbo", true,
     "Motion from which on motion3 is weighted by motion_blend_factor."},
    {"motion_filter_size", OptionType::integer, "5", 0, 9, "mfs", true,
     "Taps of the low-pass: 1 for none, 3 for three; all other values stand for five."},
    {"motion_force_zero", OptionType::boolean, "false", 0, 0, "force_0", true, "Report 0 for every frame."},
    {"motion_fps_weight", OptionType::real, "1", 0, 5, "mfw", true, "Factor on motion, for the frame rate."},
    {"motion_max_val", OptionType::real, "10000", 0, 10000, "mmxv", true, "Largest value of any output."},
};

// Values of a frame, in the order of kOutputs.
enum Output { kMotion2, kMotion, kMotion3 };

// libvmaf writes motion2 of the first frame at once, so that it comes first in its logs.
constexpr OutputSpec kOutputs[] = {
    {"VMAF_feature_motion2_score", "motion2", false, false},
    {"VMAF_feature_motion_score", "motion", false, true},
    {"VMAF_feature_motion3_score", "motion3", true, false},
};

MotionFloatShape shape_of(const Options &options, const PictureFormat &format) {
  return motion_float_shape(format.width, format.height, chroma_shift_x(format.chroma),
                            chroma_shift_y(format.chroma), motion_float_params(options));
}

class MotionFloatScorer final : public Scorer {
  // What the window calls; these come first, since their types are deduced.
  auto first(const Emit &emit) const {
    return [&](uint64_t count, double motion) {
      for (uint64_t frame = 0; frame < count; frame++) {
        emit(kMotion2, frame, 0.0);
        emit(kMotion3, frame, motion_blend(motion, params_));
      }
    };
  }
  auto later(const Emit &emit) const {
    return [&](uint64_t frame, double motion) {
      emit(kMotion2, frame, smaller(motion, params_.max_val));
      emit(kMotion3, frame, motion_blend(motion, params_));
    };
  }

 public:
  MotionFloatScorer(const Options &options, const PictureFormat &format)
      : params_(motion_float_params(options)),
        debug_(options.boolean("debug")),
        shape_(shape_of(options, format)),
        window_(motion_lag(params_)) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    MotionFloatSums total;
    std::memcpy(&total, sums, sizeof total);
    const bool compared = frame > 0 && !params_.force_zero;
    // Not limited yet: motion3 is blended first.
    const double motion = compared ? motion_float_score(total, shape_, params_) * params_.fps_weight : 0.0;
    if (debug_) emit(kMotion, frame, smaller(motion, params_.max_val));
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

  void reset() override { window_.reset(); }

 private:
  const MotionFloatParams params_;
  const bool debug_;
  const MotionFloatShape shape_;
  MotionWindow window_;
};

Reads reads(const Options &options) {
  Reads reads;
  if (options.boolean("motion_force_zero")) return reads;
  reads.ref = reads.earlier[0] = options.boolean("motion_add_uv") ? kAllPlanes : kLuma;
  return reads;
}

// motion3 of frame 0 needs the first comparison, motion2 of a frame the next one.
int lookahead(const Options &options) { return reads(options).lookback(); }

Status check_format(const Options &options, const PictureFormat &format) {
  if (!options.boolean("motion_add_uv")) return Status();
  if (format.chroma == Chroma::c400)
    return Status(Code::unsupported,
                  "float_motion with motion_add_uv needs pictures with chroma, these have luma alone");
  const MotionFloatShape shape = shape_of(options, format);
  if (shape.width[1] >= kMotionMinSize && shape.height[1] >= kMotionMinSize) return Status();
  return Status(Code::unsupported,
                "float_motion with motion_add_uv needs chroma planes of at least 3x3 samples, they are " +
                    std::to_string(shape.width[1]) + "x" + std::to_string(shape.height[1]));
}

}  // namespace

MotionFloatParams motion_float_params(const Options &options) {
  MotionFloatParams params;
  params.force_zero = options.boolean("motion_force_zero");
  params.blend_factor = options.real("motion_blend_factor");
  params.blend_offset = options.real("motion_blend_offset");
  params.fps_weight = options.real("motion_fps_weight");
  params.max_val = options.real("motion_max_val");
  params.filter_size = options.integer("motion_filter_size");
  params.add_scale1 = options.boolean("motion_add_scale1");
  params.add_chroma = options.boolean("motion_add_uv");
  return params;
}

const Extractor kMotionFloatExtractor = {
    .name = "float_motion",
    .summary = "How much the blurred reference changes from frame to frame, in single precision.",
    .exactness = "bits",
    .limits = {.min_width = kMotionMinSize, .min_height = kMotionMinSize, .common_depths = true},
    .options = kOptions,
    .outputs = kOutputs,
    .reads = reads,
    .lookahead = lookahead,
    .check_format = check_format,
    .sums_bytes = sizeof(MotionFloatSums),
    .add_sums = add_float_sums<MotionFloatSums>,
    .make_scorer = [](const Options &options, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<MotionFloatScorer>(options, format);
    },
};

}  // namespace vmafhip
