// Extractors `psnr`, `float_psnr` and `float_moment`: options, outputs, scores. The arithmetic is in
// engine/arith/psnr.h.
#include "engine/arith/psnr.h"

#include <algorithm>
#include <cstring>

#include "engine/arith/float_samples.h"
#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"enable_chroma", OptionType::boolean, "true", 0, 0, "", false, "Also measure the planes Cb and Cr."},
    {"enable_mse", OptionType::boolean, "false", 0, 0, "", false, "Also report mean squared errors."},
    {"enable_apsnr", OptionType::boolean, "false", 0, 0, "", false,
     "Also report the PSNR of the whole stream, from the sum of all squared errors, at its end."},
    {"reduced_hbd_peak", OptionType::boolean, "false", 0, 0, "", false,
     "Above 8 bits a peak of 255 moved up to the depth, in place of the largest sample."},
    {"min_sse", OptionType::real, "0", 0, 1.79769e308, "", false,
     "Sum of squared errors from which the largest PSNR follows; 0: the largest is 6 dB a bit and 12 dB."},
};

// Outputs of plane p: kPlane * p + kScore and + kError.
enum { kScore, kError, kPlane };

constexpr OutputSpec kOutputs[] = {
    {"psnr_y", "", false, false},
    {"mse_y", "", false, false, "enable_mse"},
    {"psnr_cb", "", false, false, "", true},
    {"mse_cb", "", false, false, "enable_mse", true},
    {"psnr_cr", "", false, false, "", true},
    {"mse_cr", "", false, false, "enable_mse", true},
};

constexpr OutputSpec kAggregates[] = {
    {"apsnr_y", "", false, false, "enable_apsnr"},
    {"apsnr_cb", "", false, false, "enable_apsnr", true},
    {"apsnr_cr", "", false, false, "enable_apsnr", true},
};

double samples_of(const PictureFormat &format, int plane) {
  const PlaneView size = rounded_down({}, format, plane);
  return static_cast<double>(size.width) * size.height;
}

class PsnrScorer final : public Scorer {
 public:
  PsnrScorer(const Options &options, const PictureFormat &format)
      : planes_(psnr_planes(options, format)), errors_(options.boolean("enable_mse")) {
    const double peak = psnr_peak(format.depth, options.boolean("reduced_hbd_peak"));
    const double least = options.real("min_sse");
    peak_squared_ = peak * peak;
    for (int p = 0; p < planes_; ++p) {
      samples_[p] = samples_of(format, p);
      caps_[p] = least == 0 ? psnr_cap(format.depth) : psnr_cap(peak_squared_, least, samples_[p]);
    }
  }

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    PsnrSums exact;
    std::memcpy(&exact, sums, sizeof exact);
    ++frames_;
    for (int p = 0; p < planes_; ++p) {
      squares_[p] += exact.squares[p];
      const double mse = static_cast<double>(exact.squares[p]) / samples_[p];
      emit(kPlane * p + kScore, frame, psnr_score(peak_squared_, mse, 1e-16, caps_[p]));
      if (errors_) emit(kPlane * p + kError, frame, mse);
    }
  }
  void flush(const Emit &) override {}
  void aggregate(const EmitAggregate &emit) const override {
    for (int p = 0; p < planes_; ++p)
      emit(p, psnr_aggregate(peak_squared_, static_cast<double>(squares_[p]),
                             static_cast<double>(frames_ * static_cast<uint64_t>(samples_[p]))));
  }
  void reset() override {
    frames_ = 0;
    std::fill(squares_, squares_ + 3, 0);
  }

 private:
  const int planes_;
  const bool errors_;
  double peak_squared_ = 0;
  double samples_[3] = {}, caps_[3] = {};
  // Of the whole stream. One frame can have 2^62 squares, at 16 bits and 32768 samples each way.
  uint64_t frames_ = 0;
  unsigned __int128 squares_[3] = {};
};

Status check_format(const Options &options, const PictureFormat &format) {
  if (psnr_planes(options, format) == 1 || samples_of(format, 1) > 0) return Status();
  return Status(Code::unsupported, "psnr needs chroma planes of at least 1x1 samples, a picture of " +
                                       std::to_string(format.width) + "x" + std::to_string(format.height) +
                                       " has none; psnr=enable_chroma=false measures luma alone");
}

constexpr OutputSpec kFloatOutputs[] = {{"float_psnr", "", false, false}};

class FloatPsnrScorer final : public Scorer {
 public:
  explicit FloatPsnrScorer(const PictureFormat &format)
      : samples_(samples_of(format, 0)),
        step_(float_sample_step(format.depth)),
        cap_(psnr_cap(format.depth)),
        peak_(psnr_peak(format.depth, false) * step_) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    FloatPsnrSums exact;
    std::memcpy(&exact, sums, sizeof exact);
    const double mse = static_cast<double>(exact.squares) * (step_ * step_) / samples_;
    emit(0, frame, psnr_score(peak_ * peak_, mse, 1e-10, cap_));
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const double samples_, step_, cap_, peak_;
};

constexpr OutputSpec kMomentOutputs[] = {
    {"float_moment_ref1st", "", false, false},
    {"float_moment_dis1st", "", false, false},
    {"float_moment_ref2nd", "", false, false},
    {"float_moment_dis2nd", "", false, false},
};

class MomentScorer final : public Scorer {
 public:
  explicit MomentScorer(const PictureFormat &format)
      : samples_(samples_of(format, 0)), step_(float_sample_step(format.depth)) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    MomentSums exact;
    std::memcpy(&exact, sums, sizeof exact);
    const auto mean = [&](uint64_t sum, double unit) { return static_cast<double>(sum) * unit / samples_; };
    emit(0, frame, mean(exact.ref.first, step_));
    emit(1, frame, mean(exact.dist.first, step_));
    emit(2, frame, mean(exact.ref.second, step_ * step_));
    emit(3, frame, mean(exact.dist.second, step_ * step_));
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const double samples_, step_;
};

}  // namespace

int psnr_planes(const Options &options, const PictureFormat &format) {
  return options.boolean("enable_chroma") && format.chroma != Chroma::c400 ? 3 : 1;
}

const Extractor kPsnrExtractor = {
    .name = "psnr",
    .summary = "Peak signal-to-noise ratio of each plane, in dB.",
    .exactness = "bits",
    .limits = {.common_depths = true},
    .options = kOptions,
    .outputs = kOutputs,
    .reads =
        [](const Options &options) {
          return Reads::both(options.boolean("enable_chroma") ? kAllPlanes : kLuma);
        },
    .lookahead = [](const Options &) { return 0; },
    .check_format = check_format,
    .sums_bytes = sizeof(PsnrSums),
    .add_sums = add_integer_sums<PsnrSums>,
    .make_scorer = [](const Options &options, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<PsnrScorer>(options, format);
    },
    .aggregates = kAggregates,
};

const Extractor kFloatPsnrExtractor = {
    .name = "float_psnr",
    .summary = "Peak signal-to-noise ratio of luma, in dB, in steps of 8-bit video whatever the depth.",
    .exactness = "bits",
    .limits = {.common_depths = true},
    .options = {},
    .outputs = kFloatOutputs,
    .reads = [](const Options &) { return Reads::both(kLuma); },
    .lookahead = [](const Options &) { return 0; },
    .sums_bytes = sizeof(FloatPsnrSums),
    .add_sums = add_integer_sums<FloatPsnrSums>,
    .make_scorer = [](const Options &, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<FloatPsnrScorer>(format);
    },
};

const Extractor kFloatMomentExtractor = {
    .name = "float_moment",
    .summary = "Means of luma and of its squares, of the reference and of the distorted picture.",
    .exactness = "bits",
    .limits = {.common_depths = true},
    .options = {},
    .outputs = kMomentOutputs,
    .reads = [](const Options &) { return Reads::both(kLuma); },
    .lookahead = [](const Options &) { return 0; },
    .sums_bytes = sizeof(MomentSums),
    .add_sums = add_integer_sums<MomentSums>,
    .make_scorer = [](const Options &, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<MomentScorer>(format);
    },
};

}  // namespace vmafhip
