#include "tests/small_model.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/model_files.h"
#include "tests/scratch_folder.h"

namespace vmafhip {

std::string libvmaf_model(const std::string &name) {
  const std::string path = test::model_files() + "/" + name + ".json";
  return std::filesystem::is_regular_file(path) ? path : std::string();
}

std::vector<std::vector<double>> golden_features(const golden::Section &section,
                                                 const std::vector<ModelFeature> &features) {
  constexpr std::string_view kMiddle = "_feature_", kTail = "_score";
  std::vector<std::vector<double>> frames;
  for (size_t i = 0; i < features.size(); ++i) {
    const std::string &output = features[i].output;
    const size_t start = output.find(kMiddle) + kMiddle.size();
    const std::string alias = (output.starts_with("VMAF_integer") ? "integer_" : "") +
                              output.substr(start, output.size() - start - kTail.size());
    for (const auto &[name, scores] : section.scores) {
      if (name != alias && !name.starts_with(alias + "_")) continue;
      frames.resize(scores.size());
      for (size_t f = 0; f < scores.size(); ++f) frames[f].push_back(scores[f]);
    }
    for (const auto &frame : frames)
      if (frame.size() != i + 1) throw std::runtime_error(alias + " is there not at all or more than once");
  }
  return frames;
}

nlohmann::json small_model() {
  return nlohmann::json::parse(R"({
    "param_dict": {"C": 4.0},
    "model_dict": {
      "model_type": "LIBSVMNUSVR",
      "norm_type": "linear_rescale",
      "feature_names": ["VMAF_integer_feature_adm2_score", "VMAF_integer_feature_motion2_score"],
      "slopes": [0.0625, 2.0, 0.5],
      "intercepts": [-0.25, -1, 0.25],
      "model": "svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.125\nSV\n4 1:0.5 2:1 \n-2 2:0.25 \n"
    }
  })");
}

double small_model_score(double adm2, double motion2) {
  const double n1 = 2 * adm2 - 1, n2 = 0.5 * motion2 + 0.25;
  double sum = 4 * std::exp(-0.5 * ((n1 - 0.5) * (n1 - 0.5) + (n2 - 1) * (n2 - 1)));
  sum += -2 * std::exp(-0.5 * (n1 * n1 + (n2 - 0.25) * (n2 - 0.25)));
  return (sum - 0.125 + 0.25) / 0.0625;
}

std::vector<double> predict(Model &model, std::span<const double> features, bool *extrapolated) {
  std::vector<double> scores(model.scores().size());
  model.predict(features, scores, extrapolated);
  return scores;
}

double first_score(Model &model, std::span<const double> features, bool *extrapolated) {
  return predict(model, features, extrapolated)[0];
}

std::string write_file(const std::string &name, std::string_view text) {
  static const test::ScratchFolder scratch;
  const std::string folder = scratch.path(testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

Result<std::unique_ptr<Model>> load_text(std::string_view text, ModelRequest request) {
  request.version.clear();
  request.path = write_file("model.json", text);
  return load_model(request);
}

}  // namespace vmafhip
