// Extractor `ssimulacra2`: options, outputs, scores. The arithmetic is in engine/arith/ssimulacra2.h.
#include <cstring>

#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kOptions[] = {
    {"yuv_matrix", OptionType::integer, "0", 0, 3, "", false,
     "Colour matrix and range of the samples: 0 is BT.709 limited, 1 BT.601 limited, 2 BT.709 full, 3 BT.601 "
     "full."},
};

constexpr OutputSpec kOutputs[] = {{"ssimulacra2", "", false, false}};

class Ssimulacra2Scorer final : public Scorer {
 public:
  explicit Ssimulacra2Scorer(const PictureFormat &format) : width_(format.width), height_(format.height) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    Ssimulacra2Sums sum;
    std::memcpy(&sum, sums, sizeof sum);
    emit(0, frame, ssimulacra2_score(sum, width_, height_));
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const int width_, height_;
};

}  // namespace

Ssimulacra2Params ssimulacra2_params(const Options &options) { return {options.integer("yuv_matrix")}; }

const Extractor kSsimulacra2Extractor = {
    .name = "ssimulacra2",
    .summary =
        "Structure, artefacts and lost detail in colours on six scales (SSIMULACRA 2); 100 is identical.",
    .exactness = "Within 1e-11: sums follow columns, all before them is equal to the last bit.",
    .limits = {.min_width = kSsimulacra2MinSize, .min_height = kSsimulacra2MinSize, .chroma = true},
    .options = kOptions,
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads::both(kAllPlanes); },
    .lookahead = [](const Options &) { return 0; },
    .sums_bytes = sizeof(Ssimulacra2Sums),
    .add_sums = add_double_sums<Ssimulacra2Sums>,
    .make_scorer = [](const Options &, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<Ssimulacra2Scorer>(format);
    },
};

}  // namespace vmafhip
