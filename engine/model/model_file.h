// libvmaf's model file: a JSON object with one regression model, or with the models of a bootstrap collection.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model.h"
#include "engine/model/finish.h"
#include "engine/model/svm.h"

namespace vmafhip {

// SpEED chroma is 0 where a picture has no or constant chroma, which would count as perfect. Its score is
// then taken from adm3 instead: parameter * (1 - adm3).
struct ChromaCorrection {
  double parameter;
  size_t guiding, guided;  // adm3, speed_chroma: indices into the features
};

// slope * value + intercept.
struct Line {
  double slope = 1, intercept = 0;
};

struct ModelFile {
  std::vector<ModelFeature> features;
  Line score;                // of the regression's output: taken back after it
  std::vector<Line> inputs;  // per feature; slope 1, intercept 0 with norm_type "none"
  bool normalised = true;    // false: norm_type "none"
  std::optional<ChromaCorrection> chroma;
  Svm svm;
  Finish finish;
  bool transform_enabled = false;  // unless the user asks, a transform is off that does not say "enabled"
};

struct ModelSet {
  ModelFile base;                  // the file's model; of a collection, the one trained on all data
  std::vector<ModelFile> members;  // of a collection: at least one, of any features; otherwise none
};

// Every key of `text` is checked. Throws Refused naming the key.
ModelSet parse_model_file(std::string_view text);

// Reads and parses. Throws Refused naming the file and the key.
ModelSet read_model_file(const std::string &path);

// Score of one frame, before transform and clip. f64 in libvmaf's order of operations.
double predict_raw(const ModelFile &model, std::span<const double> features);

}  // namespace vmafhip
