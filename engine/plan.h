// What a session has to compute: the extractors that its models and features need, each once, the passes that measure
// them, and the columns in which their outputs and the models' scores are reported.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/model.h"
#include "engine/options.h"
#include "engine/registry.h"
#include "engine/status.h"

namespace vmafhip {

struct PlannedExtractor {
  const Extractor *extractor;
  OptionTexts texts;
  Options options;                     // of the texts
  std::vector<int> columns;            // per output of the extractor: its column, -1 = not reported
  std::vector<int> aggregate_columns;  // per aggregate
  bool temporal = false;               // needs every frame, also those that are not scored
  size_t pass = 0;                     // that measures it
  int option_set = 0;                  // which one of the pass
  std::string needed_by;               // label of the first model that needs it; "" if features alone do
};

// What one metric measures: an extractor with one or more sets of options.
struct PlannedPass {
  const Extractor *extractor;
  std::vector<size_t> members;  // indices of Plan::extractors
  Reads reads;
  bool temporal = false;
};

struct PlannedModel {
  std::unique_ptr<Model> model;
  std::vector<int> columns;  // per feature of the model
  size_t first_score = 0;    // index into model_scores of its first score
};

struct Plan {
  std::vector<PlannedExtractor> extractors;  // order of first need: models, then features
  std::vector<PlannedPass> passes;           // order of their first members
  std::vector<PlannedModel> models;
  std::vector<std::string> remarks;        // what users should know of their requests
  std::vector<std::string> feature_names;  // by column; libvmaf's log names and order
  std::vector<std::string> aggregate_names;
  std::vector<std::string> model_scores;  // of all models: labels, and more of bootstrap collections
  Reads reads;                            // what all extractors read
  int lookahead = 0;                      // the largest of all extractors

  // `models` and `features` as in SessionOptions.
  static Result<Plan> make(const std::string &models, const std::string &features);
  // What follows from the extractors and their options: columns and names, what is read, who needs every frame, passes.
  void settle();

  std::vector<const Options *> options_of(const PlannedPass &pass) const;
  // Names of the members: "vif", "vif+vif_egl_1".
  std::string name_of(const PlannedPass &pass) const;
};

}  // namespace vmafhip
