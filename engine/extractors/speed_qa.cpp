// Extractor `speed_qa`: output and score. The arithmetic is in engine/arith/speed_qa.h.
#include <cstring>

#include "engine/arith/speed_qa.h"
#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OutputSpec kOutputs[] = {{"speed_qa", "", false, false}};

class SpeedQaScorer final : public Scorer {
 public:
  explicit SpeedQaScorer(const PictureFormat &format)
      : blocks_(static_cast<double>(format.width / kSpeedQaBlock) * (format.height / kSpeedQaBlock)) {}

  void add(uint64_t frame, const std::byte *bytes, const Emit &emit) override {
    SpeedQaSums sums;
    std::memcpy(&sums, bytes, sizeof sums);
    emit(0, frame, sums.spatial / blocks_ + sums.temporal / blocks_);
  }
  void flush(const Emit &) override {}
  void reset() override {}

 private:
  const double blocks_;
};

}  // namespace

const Extractor kSpeedQaExtractor = {
    .name = "speed_qa",
    .summary =
        "Entropy of 7x7 blocks of the distorted picture and of its change, without a reference, as a fork "
        "has it.",
    .exactness =
        "Within 3e-13 of the fork's scores, relative: the logarithm is our own, and sums go by rows of "
        "blocks.",
    .limits = {.min_width = kSpeedQaBlock, .min_height = kSpeedQaBlock},
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads{.dist = kLuma, .earlier_dist = kLuma}; },
    .lookahead = [](const Options &) { return 0; },
    .sums_bytes = sizeof(SpeedQaSums),
    .add_sums = add_double_sums<SpeedQaSums>,
    .make_scorer = [](const Options &, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<SpeedQaScorer>(format);
    },
};

}  // namespace vmafhip
