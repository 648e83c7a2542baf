// What a bootstrap collection says of one frame beyond its base model's score: the members' scores, and what their
// spread tells. The members were trained on random choices of the data; how far they differ shows how sure the score is.
#pragma once
#include <string>
#include <vector>

#include "engine/model/model_file.h"

namespace vmafhip {

class Collection {
 public:
  // At least one member. Their finishes are as asked for, transform off unless enabled.
  explicit Collection(std::vector<ModelFile> members) : members_(std::move(members)) {}

  // LABEL_0001 …, LABEL_bagging, LABEL_stddev, LABEL_ci_p95_lo, LABEL_ci_p95_hi.
  std::vector<std::string> names(const std::string &label) const;
  // `raw`: predict_raw() of each member; is sorted. `scores` goes with names().
  void score(std::span<double> raw, std::span<double> scores) const;

  const std::vector<ModelFile> &members() const { return members_; }

 private:
  std::vector<ModelFile> members_;
};

}  // namespace vmafhip
