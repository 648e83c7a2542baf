// Extractor `ciede`: options, outputs, scores. The arithmetic is in engine/arith/ciede.h.
#include <cmath>
#include <cstring>

#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"plain_422", OptionType::boolean, "false", 0, 0, "", true,
     "Take each 4:2:2 chroma sample for its own two pixels, where libvmaf halves rows in place of columns."},
};

constexpr OutputSpec kOutputs[] = {{"ciede2000", "", false, false}};

class CiedeScorer final : public Scorer {
 public:
  explicit CiedeScorer(const PictureFormat &format)
      : pixels_(static_cast<double>(format.width) * format.height) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    CiedeSums sum;
    std::memcpy(&sum, sums, sizeof sum);
    emit(0, frame, 45.0 - 20.0 * std::log10(sum.difference / pixels_));
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const double pixels_;
};

}  // namespace

CiedeParams ciede_params(const Options &options) { return {options.boolean("plain_422")}; }

const Extractor kCiedeExtractor = {
    .name = "ciede",
    .summary = "Mean colour difference (CIEDE2000), in dB: 45 - 20 log10 of it.",
    .exactness =
        "Within 2e-7 of libvmaf's scores: its own functions run on vectors, 14 times as fast; where luma "
        "is odd, the last chroma sample stands for what libvmaf reads beyond it.",
    .limits = {.chroma = true, .common_depths = true},
    .options = kOptions,
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads::both(kAllPlanes); },
    .lookahead = [](const Options &) { return 0; },
    .sums_bytes = sizeof(CiedeSums),
    .add_sums = add_double_sums<CiedeSums>,
    .make_scorer = [](const Options &, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<CiedeScorer>(format);
    },
    .remark = [](const Options &options, const PictureFormat &format) -> std::string {
      if (format.chroma != Chroma::c422 || options.boolean("plain_422")) return {};
      return "ciede of 4:2:2 pictures is libvmaf's, which takes the chroma of other pixels (its axes are "
             "swapped); "
             "ciede=plain_422=true measures the pictures as they are";
    },
};

}  // namespace vmafhip
