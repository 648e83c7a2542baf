// Extractor `float_ansnr`: outputs and scores. The arithmetic is in engine/arith/ansnr.h.
#include "engine/arith/ansnr.h"

#include <cstring>

#include "engine/arith/float_samples.h"
#include "engine/arith/psnr.h"
#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OutputSpec kOutputs[] = {{"float_ansnr", "", false, false}, {"float_anpsnr", "", false, false}};

class AnsnrScorer final : public Scorer {
 public:
  explicit AnsnrScorer(const PictureFormat &format)
      : samples_(static_cast<double>(format.width) * format.height),
        cap_(psnr_cap(format.depth)),
        peak_(static_cast<double>(psnr_peak(format.depth, false)) * float_sample_step(format.depth)) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    AnsnrSums exact;
    std::memcpy(&exact, sums, sizeof exact);
    emit(0, frame, ansnr_score(exact, cap_));
    emit(1, frame, anpsnr_score(exact, peak_, samples_, cap_));
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const double samples_, cap_, peak_;
};

}  // namespace

const Extractor kFloatAnsnrExtractor = {
    .name = "float_ansnr",
    .summary =
        "Signal-to-noise ratios of luma, in dB, of a smoothed reference and a more smoothed distorted "
        "picture.",
    .exactness = "bits",
    .limits = {.min_width = kAnsnrMinSize, .min_height = kAnsnrMinSize, .common_depths = true},
    .options = {},
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads::both(kLuma); },
    .lookahead = [](const Options &) { return 0; },
    .sums_bytes = sizeof(AnsnrSums),
    .add_sums = add_float_sums<AnsnrSums>,
    .make_scorer = [](const Options &, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<AnsnrScorer>(format);
    },
};

}  // namespace vmafhip
