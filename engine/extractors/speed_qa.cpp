// Extractor `speed_qa`: output and score. The arithmetic is in engine/arith/speed_qa.h.
#include <cstring>

#include "engine/arith/speed_qa.h"
#include "engine/extractors/extractors.h"

namespace vmafhip {
namespace {

constexpr OutputSpec kOutputs[] = {{"speed_qa", "", false, false}};

// Rows are added in one strip: all others' shares are 0.
void add_sums(std::byte *total, const std::byte *partial) {
  SpeedQaSums a, b;
  std::memcpy(&a, total, sizeof a);
  std::memcpy(&b, partial, sizeof b);
  a.spatial += b.spatial;
  a.temporal += b.temporal;
  std::memcpy(total, &a, sizeof a);
}

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
    .summary = "Entropy of 7x7 blocks of the distorted picture and of its change; no reference (a fork's).",
    .exactness = "3e-13 relative: own logarithm, and sums by rows of blocks",
    .limits = {.min_width = kSpeedQaBlock, .min_height = kSpeedQaBlock},
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads{.dist = kLuma, .earlier_dist = kLuma}; },
    .lookahead = [](const Options &) { return 0; },
    .sums_bytes = sizeof(SpeedQaSums),
    .add_sums = add_sums,
    .make_scorer = [](const Options &, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<SpeedQaScorer>(format);
    },
};

}  // namespace vmafhip
