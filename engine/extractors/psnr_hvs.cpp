// Extractor `psnr_hvs`: outputs and scores. The arithmetic is in engine/arith/psnr_hvs.h.
#include "engine/arith/psnr_hvs.h"

#include <cstring>

#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OutputSpec kOutputs[] = {
    {"psnr_hvs_y", "", false, false},
    {"psnr_hvs_cb", "", false, false},
    {"psnr_hvs_cr", "", false, false},
    {"psnr_hvs", "", false, false},
};

class PsnrHvsScorer final : public Scorer {
 public:
  explicit PsnrHvsScorer(const PictureFormat &format) : depth_(format.depth) {
    for (int p = 0; p < 3; ++p) {
      const PlaneView size = rounded_down({}, format, p);
      blocks_[p] = static_cast<int64_t>(hvs_blocks_across(size.width)) * hvs_blocks_across(size.height);
    }
  }

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    PsnrHvsSums exact;
    std::memcpy(&exact, sums, sizeof exact);
    double mean[3];
    for (int p = 0; p < 3; ++p) {
      mean[p] = hvs_mean(exact.errors[p], blocks_[p], depth_);
      emit(p, frame, hvs_decibels(mean[p]));
    }
    emit(3, frame, hvs_decibels(mean[0] * 0.8 + 0.1 * (mean[1] + mean[2])));
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const int depth_;
  int64_t blocks_[3];
};

Status check_format(const Options &, const PictureFormat &format) {
  const PlaneView chroma = rounded_down({}, format, 1);
  if (chroma.width >= kHvsSize && chroma.height >= kHvsSize) return Status();
  return Status(Code::unsupported, "psnr_hvs needs chroma planes of at least 8x8 samples, they are " +
                                       std::to_string(chroma.width) + "x" + std::to_string(chroma.height));
}

}  // namespace

const Extractor kPsnrHvsExtractor = {
    .name = "psnr_hvs",
    .summary =
        "Peak signal-to-noise ratio weighted by the eye's sensitivity and masking (PSNR-HVS-M), in dB.",
    .exactness = "bits",
    .limits = {.min_width = kHvsSize, .min_height = kHvsSize, .chroma = true, .max_depth = kHvsMostDepth},
    .options = {},
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads::both(kAllPlanes); },
    .lookahead = [](const Options &) { return 0; },
    .check_format = check_format,
    .sums_bytes = sizeof(PsnrHvsSums),
    .add_sums = add_float_sums<PsnrHvsSums>,
    .make_scorer = [](const Options &, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<PsnrHvsScorer>(format);
    },
};

}  // namespace vmafhip
