// Extractor `ssim`: the integer structural similarity of libvmaf's fork. The arithmetic is in
// engine/arith/ssim_integer.h.
#include <cstring>

#include "engine/arith/ssim_integer.h"
#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OutputSpec kOutputs[] = {{"ssim", "", false, false}};

class SsimIntegerScorer final : public Scorer {
 public:
  explicit SsimIntegerScorer(const PictureFormat &format) : width_(format.width), height_(format.height) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    SsimIntegerSums sum;
    std::memcpy(&sum, sums, sizeof sum);
    emit(0, frame, ssim_integer_score(sum, width_, height_));
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const int width_, height_;
};

}  // namespace

const Extractor kSsimIntegerExtractor = {
    .name = "ssim",
    .summary = "Structural similarity of luma (SSIM) under a window of 9x9 integer weights.",
    .exactness =
        "Within 1e-12 of the fork's scores: terms are added row by row; at 16 bits, where the fork's peak "
        "overflows and its scores are wrong, scores are what was meant.",
    .options = {},
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads::both(kLuma); },
    .lookahead = [](const Options &) { return 0; },
    .sums_bytes = sizeof(SsimIntegerSums),
    .add_sums = add_double_sums<SsimIntegerSums>,
    .make_scorer = [](const Options &, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<SsimIntegerScorer>(format);
    },
};

}  // namespace vmafhip
