// What a session has to compute: the extractors that its models and features need, each once, and the
// columns in which their outputs and the models' scores are reported.
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
  std::string needed_by;               // label of the first model that needs it; "" if features alone do
};

struct PlannedModel {
  std::unique_ptr<Model> model;
  std::vector<int> columns;  // per feature of the model
  size_t first_score = 0;    // index into model_scores of its first score
};

struct Plan {
  std::vector<PlannedExtractor> extractors;  // order of first need: models, then features
  std::vector<PlannedModel> models;
  std::vector<std::string> remarks;        // what users should know of their requests
  std::vector<std::string> feature_names;  // by column; libvmaf's log names and order
  std::vector<std::string> aggregate_names;
  std::vector<std::string> model_scores;  // of all models: labels, and more of bootstrap collections
  Reads reads;                            // what all extractors read
  int lookahead = 0;                      // the largest of all extractors

  // `models` and `features` as in SessionOptions.
  static Result<Plan> make(const std::string &models, const std::string &features);
  // What follows from the extractors and their options: columns and names, what is read, who needs every frame.
  void settle();
};

}  // namespace vmafhip
