// Model files: what their keys mean, and that predictions equal libvmaf's.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "engine/model/model_file.h"
#include "tests/comma_locale.h"
#include "tests/small_model.h"

namespace vmafhip {
namespace {

using nlohmann::json;

std::unique_ptr<Model> load(const json &file, const ModelRequest &request = {}) {
  auto model = load_text(file.dump(), request);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return model.ok() ? std::move(*model) : nullptr;
}

double predict(const json &file, std::vector<double> features, const ModelRequest &request = {}) {
  const auto model = load(file, request);
  bool extrapolated = false;
  const double score = model ? first_score(*model, features, &extrapolated) : NAN;
  EXPECT_FALSE(extrapolated);
  return score;
}

// A model whose score before the transform is its first feature.
json identity_model() {
  json file = small_model();
  json &dict = file["model_dict"];
  dict["norm_type"] = "none";
  dict.erase("slopes");
  dict.erase("intercepts");
  dict["model"] = "svm_type nu_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n";
  return file;
}

double transformed(const json &transform, double y) {
  json file = identity_model();
  file["model_dict"]["score_transform"] = transform;
  file["model_dict"]["score_transform"]["enabled"] = true;
  return predict(file, {y, 0});
}

// GTK applications and gst-launch-1.0 take over the user's locale.
TEST(Model, NoLocaleMatters) {
  const test::CommaLocale locale;
  if (!locale.good()) GTEST_SKIP() << "no locale with a decimal comma can be made here (package locales)";
  json file = small_model();
  file["model_dict"]["feature_opts_dicts"] = json::array({{{"adm_dlm_weight", 0.75}}, json::object()});
  const auto model = load(file);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->features()[0].options.at("adm_dlm_weight"), "0.75");
  bool extrapolated = false;
  const double features[] = {0.99, 1.5};
  EXPECT_EQ(first_score(*model, features, &extrapolated), small_model_score(0.99, 1.5));
}

TEST(Model, RescaledRbf) {
  for (double adm2 : {0.0, 0.3, 0.99, 1.17})
    for (double motion2 : {0.0, 1.5, 24.0})
      EXPECT_EQ(predict(small_model(), {adm2, motion2}), small_model_score(adm2, motion2));
}

TEST(Model, FaceOfAFile) {
  const auto model = load(small_model());
  EXPECT_EQ(model->label(), "model");
  EXPECT_EQ(model->source(), ModelSource::file);
  EXPECT_EQ(to_string(model->source()), "file");
  EXPECT_TRUE(std::filesystem::exists(model->origin()));
  ASSERT_EQ(model->features().size(), 2u);
  EXPECT_EQ(model->features()[0].output, "VMAF_integer_feature_adm2_score");
  EXPECT_TRUE(model->features()[0].options.empty());
  ModelRequest named;
  named.label = "mine";
  EXPECT_EQ(load(small_model(), named)->label(), "mine");
}

TEST(Model, TypesAndNulls) {
  for (const char *type : {"LIBSVMNUSVR", "BOOTSTRAP_LIBSVMNUSVR", "RESIDUEBOOTSTRAP_LIBSVMNUSVR"}) {
    json file = small_model();
    file["model_dict"]["model_type"] = type;
    for (const char *key :
         {"score_clip", "score_transform", "feature_opts_dicts", "chroma_correction_parameter"})
      file["model_dict"][key] = nullptr;
    file["model_dict"]["feature_dict"] = {{"VMAF_feature", {"adm2"}}};
    EXPECT_EQ(predict(file, {0.5, 1}), small_model_score(0.5, 1));
  }
}

TEST(Model, NormNone) {
  json file = small_model();
  file["model_dict"]["norm_type"] = "none";
  file["model_dict"].erase("slopes");
  file["model_dict"].erase("intercepts");
  // Normalisation taken back by hand: same n, same sum.
  EXPECT_DOUBLE_EQ(predict(file, {2 * 0.75 - 1, 0.5 * 3 + 0.25}), small_model_score(0.75, 3) * 0.0625 - 0.25);
}

TEST(Model, Kernels) {
  const auto score = [](const std::string &header) {
    json file = identity_model();
    file["model_dict"]["model"] =
        "svm_type epsilon_svr\n" + header + "nr_class 2\ntotal_sv 2\nrho 0.5\nSV\n2 1:0.25 2:+1\n-1 1:-3\n";
    return predict(file, {0.5, 2});
  };
  const double d1 = 0.5 * 0.25 + 2, d2 = -1.5;
  EXPECT_EQ(score("kernel_type linear\n"), 2 * d1 - d2 - 0.5);
  EXPECT_EQ(score("kernel_type polynomial\ndegree 3\ngamma 0.5\ncoef0 1\n"),
            2 * std::pow(0.5 * d1 + 1, 3) - std::pow(0.5 * d2 + 1, 3) - 0.5);
  EXPECT_EQ(score("kernel_type polynomial\ndegree 6\ngamma 2\ncoef0 1\n"),
            2 * std::pow(2 * d1 + 1, 6) - std::pow(2 * d2 + 1, 6) - 0.5);
  EXPECT_EQ(score("kernel_type polynomial\ndegree 0\ngamma 0.5\ncoef0 1\n"), 0.5);
  EXPECT_EQ(score("kernel_type sigmoid\ngamma 0.5\ncoef0 1\n"),
            2 * std::tanh(0.5 * d1 + 1) - std::tanh(0.5 * d2 + 1) - 0.5);
}

TEST(Model, LibsvmTextMayHaveCarriageReturnsAndUnusedKeys) {
  json file = identity_model();
  file["model_dict"]["model"] =
      "svm_type nu_svr\r\nkernel_type linear\r\nlabel 1 2\r\nprobA 0.1\r\nnr_sv 1 1\r\n\r\ntotal_sv 1\r\nrho "
      "0\r\nSV\r\n"
      "1\t1:1 \r\n\r\n";
  EXPECT_EQ(predict(file, {42, 0}), 42);
}

TEST(Model, OptionsPassThroughSinglePrecision) {
  json file = small_model();
  file["model_dict"]["feature_opts_dicts"] = {{{"a", 1.0},
                                               {"b", 0.06},
                                               {"c", 0.1234567},
                                               {"d", true},
                                               {"e", false},
                                               {"f", "bilinear"},
                                               {"g", nullptr},
                                               {"h", 1080}},
                                              json::object()};
  const auto model = load(file);
  EXPECT_EQ(model->features()[0].options, (OptionTexts{{"a", "1"},
                                                       {"b", "0.06"},
                                                       {"c", "0.123457"},
                                                       {"d", "true"},
                                                       {"e", "false"},
                                                       {"f", "bilinear"},
                                                       {"h", "1080"}}));
  EXPECT_TRUE(model->features()[1].options.empty());
}

TEST(Model, Clip) {
  json file = identity_model();
  file["model_dict"]["score_clip"] = {0, 110};
  EXPECT_EQ(predict(file, {-1, 0}), 0);
  EXPECT_EQ(predict(file, {109.5, 0}), 109.5);
  EXPECT_EQ(predict(file, {111, 0}), 110);
  ModelRequest request;
  request.disable_clip = true;
  EXPECT_EQ(predict(file, {111, 0}, request), 111);
  EXPECT_EQ(predict(identity_model(), {111, 0}), 111);
}

TEST(Model, TransformIsOffUnlessEnabled) {
  json file = identity_model();
  json &transform = file["model_dict"]["score_transform"];
  transform = {{"p0", 1.5}, {"p1", 2}, {"p2", -0.25}};
  EXPECT_EQ(predict(file, {10, 0}), 10);
  ModelRequest request;
  request.enable_transform = true;
  EXPECT_EQ(predict(file, {10, 0}, request), 1.5 + 20 - 25);
  transform["enabled"] = false;
  EXPECT_EQ(predict(file, {10, 0}), 10);
  transform["enabled"] = true;
  EXPECT_EQ(predict(file, {10, 0}), 1.5 + 20 - 25);
  // A model without a transform has none to enable.
  EXPECT_EQ(predict(identity_model(), {10, 0}, request), 10);
}

TEST(Model, TransformComesBeforeTheClip) {
  json file = identity_model();
  file["model_dict"]["score_clip"] = {0, 100};
  file["model_dict"]["score_transform"] = {{"p0", -50}, {"p1", 1}, {"enabled", true}};
  EXPECT_EQ(predict(file, {140, 0}), 90);
}

TEST(Model, TransformPolynomial) {
  EXPECT_EQ(transformed({{"p0", 3}}, 10), 3);
  EXPECT_EQ(transformed({{"p1", 3}}, 10), 30);
  EXPECT_EQ(transformed({{"p2", 3}}, 10), 300);
  EXPECT_EQ(transformed(json::object(), 10), 10);
  EXPECT_EQ(transformed({{"p2", 1}, {"out_lte_in", "true"}}, 10), 10);
  EXPECT_EQ(transformed({{"p2", 1}, {"out_lte_in", "true"}}, 0.5), 0.25);
  EXPECT_EQ(transformed({{"p2", 1}, {"out_gte_in", "true"}}, 0.5), 0.5);
  EXPECT_EQ(transformed({{"p2", 1}, {"out_gte_in", "true"}}, 10), 100);
  EXPECT_EQ(transformed({{"p2", 1}, {"out_gte_in", "false"}}, 0.5), 0.25);
}

TEST(Model, TransformKnots) {
  const json knots = {{"knots", {{0, 10}, {20, 30}, {40, 30}, {80, 70}}}};
  EXPECT_EQ(transformed(knots, 0), 10);
  EXPECT_EQ(transformed(knots, 5), 15);
  EXPECT_EQ(transformed(knots, -4), 6);  // the first segment goes on
  EXPECT_EQ(transformed(knots, 20), 30);
  EXPECT_EQ(transformed(knots, 33), 30);  // horizontal
  EXPECT_EQ(transformed(knots, 40), 30);
  EXPECT_EQ(transformed(knots, 60), 50);
  EXPECT_EQ(transformed(knots, 100), 90);  // so does the last
  // Horizontal ends stay horizontal.
  const json flat = {{"knots", {{1, 2}, {3, 2}, {5, 6}, {6, 6}}}};
  EXPECT_EQ(transformed(flat, -100), 2);
  EXPECT_EQ(transformed(flat, 4), 4);
  EXPECT_EQ(transformed(flat, 100), 6);
  // After the polynomial, before the bounds.
  EXPECT_EQ(transformed({{"p1", 2}, {"knots", {{0, 0}, {10, 1}}}, {"out_gte_in", "true"}}, 5), 5);
  EXPECT_EQ(transformed({{"p1", 2}, {"knots", {{0, 0}, {10, 1}}}}, 5), 1);
}

TEST(Model, ChromaCorrection) {
  json file = small_model();
  json &dict = file["model_dict"];
  dict["feature_names"] = {"Speed_chroma_feature_speed_chroma_uv_score", "VMAF_integer_feature_adm3_score"};
  dict["chroma_correction_parameter"] = 1.5;
  const auto raw = [](double speed, double adm3) { return small_model_score(speed, adm3); };
  EXPECT_EQ(predict(file, {3, 0.75}), raw(3, 0.75));
  EXPECT_DOUBLE_EQ(predict(file, {0, 0.75}), raw(1.5 * (1 - 0.75), 0.75));
  EXPECT_NE(predict(file, {0, 0.75}), raw(0, 0.75));
  dict["chroma_correction_parameter"] = 0;
  EXPECT_EQ(predict(file, {0, 0.75}), raw(0, 0.75));
  dict["feature_names"] = {"a", "b"};  // 0 means none: no feature of that kind is needed
  EXPECT_EQ(predict(file, {0, 0.75}), raw(0, 0.75));
}

TEST(Model, Overloads) {
  json file = small_model();
  file["model_dict"]["feature_opts_dicts"] = {{{"adm_csf_mode", 1}, {"adm_enhn_gain_limit", 100}},
                                              json::object()};
  ModelRequest request;
  request.overloads["adm"]["adm_enhn_gain_limit"] = "1.0";
  const auto model = load(file, request);
  EXPECT_EQ(model->features()[0].options, (OptionTexts{{"adm_csf_mode", "1"}, {"adm_enhn_gain_limit", "1"}}));
  EXPECT_TRUE(model->features()[1].options.empty());

  request.overloads["vif"]["vif_enhn_gain_limit"] = "1.0";
  const auto refused = load_text(file.dump(), request);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("'vif'"), std::string::npos) << refused.status().message();
  EXPECT_NE(refused.status().message().find("it uses: adm, motion"), std::string::npos)
      << refused.status().message();
}

class Environment {
 public:
  void set(const char *name, const char *value) {
    const char *before = std::getenv(name);
    saved_.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() {
    for (auto item = saved_.rbegin(); item != saved_.rend(); ++item)
      item->second ? setenv(item->first.c_str(), item->second->c_str(), 1) : unsetenv(item->first.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> saved_;
};

TEST(ModelLookup, Folders) {
  Environment environment;
  environment.set("VMAFHIP_MODEL_PATH", "/first::relative:/first");
  environment.set("XDG_DATA_HOME", "/home-data");
  environment.set("XDG_DATA_DIRS", "/d1:ignored:/d2");
  EXPECT_EQ(model_folders(), (std::vector<std::string>{
                                 "/first", "relative", "/home-data/vmafhip/model", "/home-data/vmaf/model",
                                 "/d1/vmafhip/model", "/d1/vmaf/model", "/d2/vmafhip/model", "/d2/vmaf/model",
                                 "/usr/local/share/model", "/usr/share/model"}));
  environment.set("VMAFHIP_MODEL_PATH", nullptr);
  environment.set("XDG_DATA_HOME", nullptr);
  environment.set("XDG_DATA_DIRS", nullptr);
  environment.set("HOME", "/me");
  EXPECT_EQ(model_folders(),
            (std::vector<std::string>{"/me/.local/share/vmafhip/model", "/me/.local/share/vmaf/model",
                                      "/usr/local/share/vmafhip/model", "/usr/local/share/vmaf/model",
                                      "/usr/share/vmafhip/model", "/usr/share/vmaf/model",
                                      "/usr/local/share/model", "/usr/share/model"}));
}

TEST(ModelLookup, ByName) {
  const std::string folder =
      std::filesystem::path(write_file("mine.json", small_model().dump())).parent_path();
  Environment environment;
  environment.set("VMAFHIP_MODEL_PATH", ("/nowhere:" + folder).c_str());
  for (const char *name : {"mine", "mine.json"}) {
    ModelRequest request;
    request.version = name;
    auto model = load_model(request);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ((*model)->origin(), folder + "/mine.json");
    EXPECT_EQ((*model)->label(), "mine");
  }
  // A file wins over the fitted surface of its name, and a damaged one is an error rather than passed over.
  write_file("vmaf_v0.6.1.json", small_model().dump());
  ModelRequest request;
  request.version = "vmaf_v0.6.1";
  EXPECT_EQ((*load_model(request))->source(), ModelSource::file);
  write_file("vmaf_v0.6.1.json", "{");
  auto damaged = load_model(request);
  ASSERT_FALSE(damaged.ok());
  EXPECT_NE(damaged.status().message().find(folder + "/vmaf_v0.6.1.json"), std::string::npos);
}

TEST(ModelLookup, UnknownName) {
  Environment environment;
  environment.set("VMAFHIP_MODEL_PATH", "/one");
  ModelRequest request;
  request.version = "vmaf_v9";
  const auto model = load_model(request);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), Code::not_found);
  for (const char *part : {"'vmaf_v9'", "vmaf_v0.6.1, vmaf_v0.6.1neg, vmaf_4k_v0.6.1, vmaf_4k_v0.6.1neg",
                           "vmaf_v9.json", "/one, ", "/usr/share/model", "Netflix"})
    EXPECT_NE(model.status().message().find(part), std::string::npos)
        << part << " in " << model.status().message();
  EXPECT_FALSE(load_model({}).ok());
}

// libvmaf's own scores from libvmaf's own features. A libm whose exp() rounds otherwise may move the last digits.
struct GoldenRun {
  const char *version, *suffix;
};

class GoldenModel : public testing::TestWithParam<GoldenRun> {};

TEST_P(GoldenModel, PredictsLibvmafsScores) {
  const auto [version, suffix] = GetParam();
  ModelRequest request;
  request.path = libvmaf_model(version);
  request.label = "vmaf";
  VMAFHIP_NEED_MODEL(request.path);
  request.enable_transform = std::string_view(suffix) == "+transform";
  request.disable_clip = std::string_view(suffix) == "+noclip";
  const auto model = load_model(request);
  ASSERT_TRUE(model.ok()) << model.status().message();

  int frames = 0, values = 0, equal = 0;
  for (const std::string &name : golden::case_names()) {
    const golden::Golden &file = golden::load(name);
    const std::string title = "model " + std::string(version) + suffix;
    if (!file.has(title)) {  // libvmaf refused this clip
      EXPECT_TRUE(file.errors().contains(title)) << name << " lacks " << title;
      continue;
    }
    const golden::Section &run = file.run(title);
    const auto features = golden_features(run, (*model)->features());
    for (size_t f = 0; f < features.size(); ++f) {
      bool extrapolated = false;
      const std::vector<double> scores = predict(**model, features[f], &extrapolated);
      ++frames;
      for (size_t i = 0; i < scores.size(); ++i) {
        const double expected = run.scores.at((*model)->scores()[i])[f];
        EXPECT_NEAR(scores[i], expected, 1e-11) << (*model)->scores()[i] << " of " << name << " frame " << f;
        ++values;
        equal += scores[i] == expected;
      }
    }
  }
  EXPECT_GT(frames, 22 * 2);
  RecordProperty("frames", frames);
  RecordProperty("bit_equal", equal);
  std::printf("%s%s: %d of %d values equal to the last bit\n", version, suffix, equal, values);
}

INSTANTIATE_TEST_SUITE_P(
    , GoldenModel,
    testing::Values(GoldenRun{"vmaf_v0.6.1", ""}, GoldenRun{"vmaf_v0.6.1neg", ""},
                    GoldenRun{"vmaf_4k_v0.6.1", ""}, GoldenRun{"vmaf_4k_v0.6.1neg", ""},
                    GoldenRun{"vmaf_v0.6.1", "+transform"}, GoldenRun{"vmaf_v0.6.1", "+noclip"},
                    GoldenRun{"vmaf_float_v0.6.1", ""}, GoldenRun{"vmaf_float_v0.6.1neg", ""},
                    GoldenRun{"vmaf_float_4k_v0.6.1", ""}, GoldenRun{"vmaf_v1.0.16_3d0h", ""},
                    GoldenRun{"vmaf_v1.0.16_3d0h", "+noclip"}, GoldenRun{"vmaf_v1.0.16_1d5h_2160", ""},
                    GoldenRun{"vmaf_v1.0.16_hfr_3d0h", ""}, GoldenRun{"vmaf_v1.0.16_hfr_1d5h_2160", ""},
                    GoldenRun{"vmaf_b_v0.6.3", ""}, GoldenRun{"vmaf_float_b_v0.6.3", ""}),
    [](const auto &info) {
      std::string name = std::string(info.param.version) + info.param.suffix;
      for (char &c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

TEST(ModelFiles, EveryOneIsRead) {
  const std::string any = libvmaf_model("vmaf_v0.6.1");
  VMAFHIP_NEED_MODEL(any);
  int read = 0;
  for (const auto &entry : std::filesystem::directory_iterator(std::filesystem::path(any).parent_path())) {
    if (entry.path().extension() != ".json") continue;
    ModelRequest request;
    request.path = entry.path().string();
    const auto model = load_model(request);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const bool bootstrap = request.path.find("_b_") != std::string::npos;
    EXPECT_EQ((*model)->scores().size(), bootstrap ? 25u : 1u) << request.path;
    ++read;
  }
  EXPECT_GE(read, 4);
}

}  // namespace
}  // namespace vmafhip
