// From the sums of frame after frame to scores: the serial part of a session, on its owner's thread.
//
// Scores of a frame come in as rows, one per distorted picture, since temporal features are known only after a later
// frame. Rows are given out in order as soon as they are full.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/frame_work.h"
#include "engine/metric.h"
#include "engine/plan.h"
#include "engine/pool.h"
#include "engine/session.h"
#include "engine/status.h"

namespace vmafhip {

class Scoring {
 public:
  // Every `subsample`th frame is scored.
  Scoring(Plan plan, int distorted, int subsample);
  Scoring(const Scoring &) = delete;  // emitters point here

  const Plan &plan() const { return plan_; }
  size_t distorted() const { return pictures_.size(); }
  // The error names a model and a feature that the format does not have.
  Status configure(const PictureFormat &format);
  // Whether pictures of the format have the feature; if not, its values are NaN and its pools empty.
  bool has(size_t feature) const { return present_[feature]; }
  void reset();

  // Sums of the next frame.
  void add(const std::byte *sums, const FrameLayout &layout);
  uint64_t added() const { return added_; }
  // No frame follows. Once until reset().
  void flush();
  bool flushed() const { return flushed_; }
  // The next frame to give out is complete. Add no further frames then: rows for lookahead + 2 frames are all there are.
  bool complete() const;
  void give_out(FrameScores &out);

  const std::vector<RunningPool> &feature_pools(size_t dist) const { return pictures_[dist].feature_pools; }
  const std::vector<RunningPool> &model_pools(size_t dist) const { return pictures_[dist].model_pools; }
  // Over the frames up to the last one given out, and in the end over all; NaN if there are none.
  const std::vector<double> &aggregates(size_t dist) const { return pictures_[dist].aggregates; }

 private:
  struct Row {
    std::vector<double> values, aggregates;
    int filled = 0;
  };
  struct PerPicture {                              // per distorted picture
    std::vector<std::unique_ptr<Scorer>> scorers;  // per extractor
    std::vector<Emit> emit;                        // per extractor
    std::vector<double> aggregates;
    std::vector<Row> rows;  // frame n is in rows[n % size]
    std::vector<RunningPool> feature_pools, model_pools;
  };
  void take(size_t picture, size_t extractor, int output, uint64_t frame, double value);
  void aggregate(const PerPicture &picture, std::vector<double> &out) const;
  void aggregate_all();
  void give_out(PerPicture &picture, PictureScores &out);
  bool scores(uint64_t frame) const { return frame % subsample_ == 0; }
  uint64_t next_out() const { return given_out_ * subsample_; }

  Plan plan_;
  std::vector<PerPicture> pictures_;
  std::vector<char> present_;  // per feature
  int wanted_ = 0;             // how many are
  std::vector<double> model_inputs_;
  const uint64_t subsample_;
  uint64_t added_ = 0;      // frames
  uint64_t given_out_ = 0;  // scored ones
  bool flushed_ = false;
};

}  // namespace vmafhip
