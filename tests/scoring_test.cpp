// From sums to rows of scores, with an extractor that is made up: outputs that a format does not have, values of the
// whole stream.
#include "engine/scoring.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

// Sums are the number of the frame; scores tell output and frame, late ones a frame later.
enum Output { kBright, kLate, kBlue, kError, kBlueError, kDebug };
constexpr OptionSpec kOptions[] = {
    {"debug", OptionType::boolean, "false", 0, 0, "", false, ""},
    {"enable_chroma", OptionType::boolean, "true", 0, 0, "", false, ""},
    {"enable_error", OptionType::boolean, "false", 0, 0, "", false, ""},
    {"enable_total", OptionType::boolean, "false", 0, 0, "", false, ""},
};
constexpr OutputSpec kOutputs[] = {
    {"luma", "", false, false},
    {"late", "", true, false},
    {.name = "blue", .alias = "", .chroma = true},
    {.name = "error", .alias = "", .when = "enable_error"},
    {.name = "blue_error", .alias = "", .when = "enable_error", .chroma = true},
    {.name = "internal", .alias = "", .debug = true},
};
constexpr OutputSpec kAggregates[] = {
    {.name = "total", .alias = "", .when = "enable_total"},
    {.name = "blue_total", .alias = "", .when = "enable_total", .chroma = true},
};

class MadeUpScorer final : public Scorer {
 public:
  MadeUpScorer(const Options &options, const PictureFormat &format)
      : chroma_(format.chroma != Chroma::c400 && options.boolean("enable_chroma")), depth_(format.depth) {}

  void add(uint64_t frame, const std::byte *sums, const Emit &emit) override {
    uint64_t value;
    std::memcpy(&value, sums, sizeof value);
    last_ = frame;
    total_ += value;
    emit(kBright, frame, double(value));
    emit(kError, frame, 100.0 * double(value));
    emit(kDebug, frame, depth_);
    if (frame > 0) emit(kLate, frame - 1, double(value));
    if (!chroma_) return;
    emit(kBlue, frame, -double(value));
    emit(kBlueError, frame, -100.0 * double(value));
  }
  void flush(const Emit &emit) override { emit(kLate, last_, -1); }
  void aggregate(const EmitAggregate &emit) const override {
    emit(0, double(total_));
    if (chroma_) emit(1, -double(total_));
  }
  void reset() override { total_ = 0; }

 private:
  const bool chroma_;
  const int depth_;
  uint64_t total_ = 0, last_ = 0;
};

const Extractor kMadeUp = {
    .name = "made_up",
    .options = kOptions,
    .outputs = kOutputs,
    .reads = [](const Options &) { return Reads::both(kLuma); },
    .lookahead = [](const Options &) { return 1; },
    .sums_bytes = sizeof(uint64_t),
    .add_sums = add_integer_sums<uint64_t>,
    .make_scorer = [](const Options &options, const PictureFormat &format) -> std::unique_ptr<Scorer> {
      return std::make_unique<MadeUpScorer>(options, format);
    },
    .aggregates = kAggregates,
};

class NoMetric final : public Metric {
 public:
  size_t scratch_bytes() const override { return 0; }
  void measure(const FrameView &, int, int, std::byte *, std::byte *, std::byte *) const override {}
};

constexpr PictureFormat kColour{16, 16, 8, Chroma::c420}, kGrey{16, 16, 8, Chroma::c400};

Plan plan_of(const OptionTexts &texts) {
  Plan plan;
  plan.extractors.push_back({&kMadeUp, texts, *Options::parse("made_up", kOptions, texts), {}, {}});
  plan.settle();
  return plan;
}

class ScoringTest : public testing::Test {
 protected:
  void start(const OptionTexts &texts, const PictureFormat &format, int distorted = 1, int subsample = 1) {
    scoring_ = std::make_unique<Scoring>(plan_of(texts), distorted, subsample);
    configure(format);
  }
  void configure(const PictureFormat &format) {
    ASSERT_TRUE(scoring_->configure(format).ok());
    std::vector<FrameLayout::Item> items;
    items.push_back({std::make_unique<NoMetric>(), sizeof(uint64_t), add_integer_sums<uint64_t>, {}, true});
    layout_ = std::make_unique<FrameLayout>(std::move(items), format, int(scoring_->distorted()));
  }
  // A frame with the value, of distorted picture d times 1000 ^ d.
  void add(uint64_t value) {
    ASSERT_FALSE(scoring_->complete());
    std::vector<std::byte> sums(layout_->sums_bytes());
    for (int d = 0; d < layout_->distorted(); ++d, value *= 1000)
      std::memcpy(&sums[layout_->sums_at(0, d)], &value, sizeof value);
    scoring_->add(sums.data(), *layout_);
  }
  FrameScores take() {
    FrameScores scores;
    EXPECT_TRUE(scoring_->complete());
    scoring_->give_out(scores);
    return scores;
  }

  std::unique_ptr<Scoring> scoring_;
  std::unique_ptr<FrameLayout> layout_;
};

using Names = std::vector<std::string>;

TEST(ScoringPlan, OutputsByOptions) {
  EXPECT_EQ(plan_of({}).feature_names, (Names{"luma", "blue", "late"}));
  EXPECT_EQ(plan_of({}).aggregate_names, Names{});
  EXPECT_EQ(plan_of({{"enable_error", "true"}}).feature_names,
            (Names{"luma", "blue", "error", "blue_error", "late"}));
  const Plan plan = plan_of(
      {{"enable_error", "true"}, {"enable_chroma", "false"}, {"enable_total", "true"}, {"debug", "true"}});
  EXPECT_EQ(plan.feature_names, (Names{"luma", "error", "internal", "late"}));
  EXPECT_EQ(plan.aggregate_names, Names{"total"});
  EXPECT_EQ(plan_of({{"enable_total", "true"}}).aggregate_names, (Names{"total", "blue_total"}));
}

TEST(ScoringPlan, WhoCountsTheWholeStreamNeedsEveryFrame) {
  Extractor of_one_frame = kMadeUp;
  of_one_frame.lookahead = [](const Options &) { return 0; };
  const auto temporal = [&](const OptionTexts &texts) {
    return of_one_frame.temporal(*Options::parse("made_up", kOptions, texts));
  };
  EXPECT_FALSE(temporal({}));
  EXPECT_TRUE(temporal({{"enable_total", "true"}}));
}

TEST_F(ScoringTest, AFormatWithoutChromaHasNoScoresOfIt) {
  start({{"enable_error", "true"}}, kGrey);
  add(7);
  EXPECT_FALSE(scoring_->complete()) << "one is late";
  add(8);
  const FrameScores scores = take();
  const auto &features = scores.dist[0].features;
  ASSERT_EQ(features.size(), 5u);
  for (const size_t column : {1, 3}) {
    EXPECT_FALSE(scoring_->has(column));
    EXPECT_TRUE(std::isnan(features[column]));
    EXPECT_EQ(scoring_->feature_pools(0)[column].count(), 0u);
  }
  EXPECT_TRUE(scoring_->has(0));
  EXPECT_EQ(features[0], 7);
  EXPECT_EQ(features[2], 700);
  EXPECT_EQ(features[4], 8);
  EXPECT_EQ(scoring_->feature_pools(0)[0].count(), 1u);
}

TEST_F(ScoringTest, ChromaComesAndGoesWithTheFormat) {
  start({}, kColour);
  for (const PictureFormat &format : {kColour, kGrey, kColour}) {
    configure(format);
    for (uint64_t n = 1; n < 5; ++n) {
      add(n);
      if (n < 2) continue;
      const double blue = take().dist[0].features[1];
      if (format == kGrey)
        EXPECT_TRUE(std::isnan(blue));
      else
        EXPECT_EQ(blue, -double(n - 1));
    }
  }
}

// What they say goes with the frames that are out, not with those that are merely measured.
TEST_F(ScoringTest, AggregatesAreOfTheFramesGivenOut) {
  start({{"enable_total", "true"}}, kColour, 2);
  for (const double value : scoring_->aggregates(0)) EXPECT_TRUE(std::isnan(value));
  double total = 0;
  add(1);
  for (uint64_t n = 2; n < 6; ++n) {
    add(n);
    take();
    total += double(n - 1);
    EXPECT_EQ(scoring_->aggregates(0), (std::vector<double>{total, -total}));
    EXPECT_EQ(scoring_->aggregates(1), (std::vector<double>{1000 * total, -1000 * total}));
  }
  scoring_->flush();
  EXPECT_EQ(scoring_->aggregates(0)[0], total);
  take();
  EXPECT_EQ(scoring_->aggregates(0)[0], total + 5);
  scoring_->reset();
  EXPECT_TRUE(std::isnan(scoring_->aggregates(0)[0]));
  configure(kGrey);
  add(3);
  scoring_->flush();
  take();
  EXPECT_EQ(scoring_->aggregates(0)[0], 3);
  EXPECT_TRUE(std::isnan(scoring_->aggregates(0)[1])) << "there is no chroma to count";
}

// Frames 0, 3 and 6 of eight; the last one that is compared counts as well.
TEST_F(ScoringTest, AggregatesCountFramesThatAreNotScored) {
  start({{"enable_total", "true"}}, kColour, 1, 3);
  uint64_t total = 0, next = 0;
  for (uint64_t n = 0; n < 8; ++n) {
    total += 10 + n;
    add(10 + n);
    if (!scoring_->complete()) continue;
    EXPECT_EQ(take().index, next);
    uint64_t until = 0;
    for (uint64_t k = 0; k <= next; ++k) until += 10 + k;
    EXPECT_EQ(scoring_->aggregates(0)[0], double(until));
    next += 3;
  }
  EXPECT_EQ(next, 9u);
  scoring_->flush();
  EXPECT_EQ(scoring_->aggregates(0)[0], double(total));
}

TEST_F(ScoringTest, NothingWasAdded) {
  start({{"enable_total", "true"}}, kColour);
  scoring_->flush();
  EXPECT_FALSE(scoring_->complete());
  EXPECT_TRUE(std::isnan(scoring_->aggregates(0)[0]));
}

}  // namespace
}  // namespace vmafhip
