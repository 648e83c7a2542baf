// Helpers of the model tests: libvmaf's own model files, where a developer has them, and model files made up by a test.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/model.h"
#include "tests/golden.h"

namespace vmafhip {

// Path of libvmaf's model file NAME.json. Empty: not here.
std::string libvmaf_model(const std::string &name);

#define VMAFHIP_NEED_MODEL(path) \
  if ((path).empty())            \
  GTEST_SKIP() << "libvmaf's model files are not here; VMAFHIP_TEST_MODELS can name their folder"

// Frame by frame the scores of `features` in the golden section of a model. VMAF_integer_feature_adm2_score is
// integer_adm2 there, followed by what the model's options add.
std::vector<std::vector<double>> golden_features(const golden::Section &section,
                                                 const std::vector<ModelFeature> &features);

// A small correct model of two features (integer adm2, motion2) with two support vectors:
//   score = (4 exp(-|n - (0.5, 1)|^2 / 2) - 2 exp(-|n - (0, 0.25)|^2 / 2) - 0.125 + 0.25) / 0.0625
//   n = (2 adm2 - 1, 0.5 motion2 + 0.25)
nlohmann::json small_model();
double small_model_score(double adm2, double motion2);

// All scores of a model, and the first.
std::vector<double> predict(Model &model, std::span<const double> features, bool *extrapolated);
double first_score(Model &model, std::span<const double> features, bool *extrapolated);

// Writes a file for the running test and returns its path.
std::string write_file(const std::string &name, std::string_view text);

// Loads `text` as a model file.
Result<std::unique_ptr<Model>> load_text(std::string_view text, ModelRequest request = {});

}  // namespace vmafhip
