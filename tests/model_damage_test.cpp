// Damaged and hostile model files: an error that names file and key, or a finite score; never more.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "tests/small_model.h"

namespace vmafhip {
namespace {

using nlohmann::json;

std::string error(std::string_view text, Code code = Code::invalid_argument) {
  const auto model = load_text(text);
  EXPECT_FALSE(model.ok()) << text.substr(0, 500);
  if (model.ok()) return "";
  EXPECT_EQ(model.status().code(), code) << model.status().message();
  EXPECT_NE(model.status().message().find("model.json': "), std::string::npos) << model.status().message();
  EXPECT_LT(model.status().message().size(), 1000u);
  return model.status().message();
}

#define EXPECT_SAYS(message, part)                                                         \
  do {                                                                                     \
    const std::string said = message;                                                      \
    EXPECT_NE(said.find(part), std::string::npos) << said << "\n  does not say: " << part; \
  } while (0)

std::string with(const char *key, json value) {
  json file = small_model();
  file["model_dict"][key] = std::move(value);
  return file.dump();
}

std::string with_svm(const std::string &text) { return with("model", text); }

std::string with_transform(json transform) { return with("score_transform", std::move(transform)); }

TEST(ModelDamage, CutOffAnywhere) {
  const std::string text = small_model().dump();
  for (size_t size = 0; size < text.size(); ++size) error(std::string_view(text).substr(0, size));
}

TEST(ModelDamage, NotAModel) {
  EXPECT_SAYS(error(""), "is not JSON");
  EXPECT_SAYS(error("svm_type nu_svr"), "is not JSON");
  EXPECT_SAYS(error("[1]"), "is not a JSON object");
  EXPECT_SAYS(error("{}"), "has no key model_dict");
  EXPECT_SAYS(error(R"({"model_dict": []})"), "model_dict must be an object");
  EXPECT_SAYS(error("{\"model_dict\": {\"model_type\": \"\xff\"}}"), "is not JSON");
  EXPECT_SAYS(error(std::string("\0\0\0", 3)), "is not JSON");
}

TEST(ModelDamage, MissingKeys) {
  for (const char *key : {"model_type", "norm_type", "feature_names", "slopes", "intercepts", "model"}) {
    json file = small_model();
    file["model_dict"].erase(key);
    EXPECT_SAYS(error(file.dump()), std::string("model_dict.") + key + " is missing");
    file["model_dict"][key] = nullptr;
    EXPECT_SAYS(error(file.dump()), std::string("model_dict.") + key + " is missing");
  }
}

TEST(ModelDamage, WrongTypes) {
  for (const char *key :
       {"model_type", "norm_type", "feature_names", "slopes", "intercepts", "model", "feature_opts_dicts",
        "score_clip", "score_transform", "chroma_correction_parameter"})
    for (const json &value : {json(true), json("x"), json(json::array()), json(json::object()),
                              json({{"a", {1, {2}}}}), json({1, "x"}), json({{{}}})}) {
      const auto model = load_text(with(key, value));
      const bool empty_transform = std::string_view(key) == "score_transform" && value.is_object();
      if (empty_transform) continue;  // an object without the keys that matter
      EXPECT_FALSE(model.ok()) << key << " " << value;
      EXPECT_SAYS(model.status().message(), std::string("model_dict.") + key);
    }
  EXPECT_SAYS(error(with("model_type", "NEURAL")), "'NEURAL' is not one of LIBSVMNUSVR");
  EXPECT_SAYS(error(with("norm_type", "clip_0to1")), "'clip_0to1' is not one of linear_rescale, none");
  EXPECT_SAYS(error(with("slopes", {1, "x", 2})), "model_dict.slopes[1] must be a number");
  EXPECT_SAYS(error(with("feature_names", {"a", 2})), "model_dict.feature_names[1] must be a string");
  EXPECT_SAYS(error(with("feature_names", {"a", ""})), "model_dict.feature_names[1] is empty");
}

TEST(ModelDamage, Sizes) {
  EXPECT_SAYS(error(with("slopes", {1, 2})), "slopes has 2 numbers, must have 3");
  EXPECT_SAYS(error(with("intercepts", {1, 2, 3, 4})), "intercepts has 4 numbers, must have 3");
  EXPECT_SAYS(error(with("feature_names", json::array())), "must have 1 to 64");
  EXPECT_SAYS(error(with("feature_names", std::vector<std::string>(65, "x"))), "must have 1 to 64");
  EXPECT_SAYS(error(with("feature_opts_dicts", {json::object()})), "has 1 entries for 2 features");
  EXPECT_SAYS(error(with("score_clip", {1})), "score_clip must be [min, max]");
  EXPECT_SAYS(error(with("score_clip", {2, 1})), "score_clip must be [min, max]");
  EXPECT_SAYS(error(with("slopes", {0, 1, 1})), "slopes [0] is 0");
}

TEST(ModelDamage, Options) {
  EXPECT_SAYS(error(with("feature_opts_dicts", {{{"a", {1}}}, json::object()})),
              "feature_opts_dicts[0].a must be a number, true, false or a string");
  EXPECT_SAYS(error(with("feature_opts_dicts", {json::object(), {{"b", 1e39}}})),
              "feature_opts_dicts[1].b is too large");
  EXPECT_SAYS(
      error(with("feature_opts_dicts", {{{std::string(100000, 'k'), json::array()}}, json::object()})),
      "kkk");
}

TEST(ModelDamage, Numbers) {
  EXPECT_SAYS(error(with("slopes", {1, 1e31, 2})), "model_dict.slopes[1] is too large");
  std::string text = small_model().dump();
  const size_t at = text.find("0.0625");
  EXPECT_SAYS(error(std::string(text).replace(at, 6, "1e999")), "too large");
  EXPECT_SAYS(error(std::string(text).replace(at, 6, "NaN")), "is not JSON");
  EXPECT_SAYS(error(std::string(text).replace(at, 6, "Infinity")), "is not JSON");
  EXPECT_SAYS(error(std::string(text).replace(at, 6, std::string(100000, '9'))), "too large");
}

TEST(ModelDamage, Transforms) {
  EXPECT_SAYS(error(with_transform({{"p0", "1"}})), "score_transform.p0 must be a number");
  EXPECT_SAYS(error(with_transform({{"enabled", "true"}})), "score_transform.enabled must be true or false");
  EXPECT_SAYS(error(with_transform({{"out_gte_in", "yes"}})), "score_transform.out_gte_in 'yes'");
  EXPECT_SAYS(error(with_transform({{"out_lte_in", 1}})), "score_transform.out_lte_in must be a string");
  EXPECT_SAYS(error(with_transform({{"knots", 1}})), "score_transform.knots must be an array");
  EXPECT_SAYS(error(with_transform({{"knots", {{0, 1}}}})), "has 1 points, must have 2 to 10");
  EXPECT_SAYS(error(with_transform({{"knots", json(11, json({0, 1}))}})), "has 11 points");
  EXPECT_SAYS(error(with_transform({{"knots", {{0, 1}, {1}}}})), "knots[1] must be [x, y]");
  EXPECT_SAYS(error(with_transform({{"knots", {{0, 1}, {0, 2}}}})), "x of point 1");
  EXPECT_SAYS(error(with_transform({{"knots", {{0, 1}, {1, 0}}}})), "y of point 1");
  EXPECT_SAYS(error(with_transform({{"knots", {{0, 1}, {1e-300, 1e30}}}})), "too steep");
}

TEST(ModelDamage, ChromaCorrection) {
  EXPECT_SAYS(error(with("chroma_correction_parameter", 120)), "needs a feature adm3, there is none");
  json file = small_model();
  json &dict = file["model_dict"];
  dict["chroma_correction_parameter"] = 120;
  dict["feature_names"] = {"x_adm3", "y_adm3"};
  EXPECT_SAYS(error(file.dump()), "needs one feature adm3, there are several");
  dict["feature_names"] = {"adm3", "speed_chroma"};
  EXPECT_TRUE(load_text(file.dump()).ok());
  dict["slopes"][2] = 0;
  EXPECT_SAYS(error(file.dump()), "slopes other than 0");
}

TEST(ModelDamage, LibsvmText) {
  const std::string head = "svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\nrho 0.125\ntotal_sv 1\n";
  const auto sv = [&](const std::string &line) { return error(with_svm(head + "SV\n" + line + "\n")); };
  EXPECT_TRUE(load_text(with_svm(head + "SV\n1 1:2\n")).ok());
  EXPECT_SAYS(error(with_svm("")), "model_dict.model the line 'SV'");
  EXPECT_SAYS(error(with_svm(head)), "support vectors are missing");
  EXPECT_SAYS(error(with_svm(head + "SV")), "total_sv says 1 support vectors, but there are 0");
  EXPECT_SAYS(sv("1 1:2\n1 1:2"), "line 9: more support vectors than total_sv says (1)");
  EXPECT_SAYS(sv("x 1:2"), "line 8: coefficient 'x' is not a number");
  EXPECT_SAYS(sv("nan 1:2"), "coefficient 'nan' is too large");
  EXPECT_SAYS(sv("inf 1:2"), "'inf' is too large");
  EXPECT_SAYS(sv("1e31 1:2"), "'1e31' is too large");
  EXPECT_SAYS(sv("1e999 1:2"), "'1e999' is not a number");
  EXPECT_SAYS(sv("1 0:2"), "index '0' is not a whole number from 1 to 2");
  EXPECT_SAYS(sv("1 3:2"), "index '3'");
  EXPECT_SAYS(sv("1 -1:2"), "index '-1'");
  EXPECT_SAYS(sv("1 99999999999999999999:2"), "index '99999999999999999999'");
  EXPECT_SAYS(sv("1 2:1 1:1"), "index 1 does not ascend");
  EXPECT_SAYS(sv("1 1:1 1:1"), "index 1 does not ascend");
  EXPECT_SAYS(sv("1 1"), "'1' is not INDEX:VALUE");
  EXPECT_SAYS(sv("1 1:"), "value '' is not a number");
  EXPECT_SAYS(sv("1 1:2x"), "value '2x' is not a number");
  EXPECT_SAYS(sv("1 1:0x10"), "value '0x10' is not a number");

  const auto header = [&](const std::string &from, const std::string &to) {
    return error(with_svm(std::string(head).replace(head.find(from), from.size(), to) + "SV\n1 1:2\n"));
  };
  EXPECT_SAYS(header("nu_svr", "c_svc"), "line 1: svm_type 'c_svc' is not a regression");
  EXPECT_SAYS(header("rbf", "precomputed"), "line 2: kernel_type 'precomputed'");
  EXPECT_SAYS(header("nr_class 2", "nr_class 3"), "line 4: nr_class '3'");
  EXPECT_SAYS(header("gamma 0.5", "gamma -1"), "gamma must not be negative");
  EXPECT_SAYS(header("gamma 0.5", "colour red"), "line 3: unknown key 'colour'");
  EXPECT_SAYS(header("gamma 0.5", "gamma 0.5 1"), "line 3: '1' after gamma is one word too many");
  EXPECT_SAYS(header("gamma 0.5\n", ""), "gamma is missing");
  EXPECT_SAYS(header("rho 0.125\n", ""), "rho is missing");
  EXPECT_SAYS(header("total_sv 1\n", ""), "total_sv is missing");
  EXPECT_SAYS(header("svm_type nu_svr\n", ""), "svm_type is missing");
  EXPECT_SAYS(header("kernel_type rbf\n", ""), "kernel_type is missing");
  EXPECT_SAYS(header("rbf", "polynomial"), "degree is missing");
  EXPECT_SAYS(header("rbf", "sigmoid"), "coef0 is missing");
  EXPECT_SAYS(header("total_sv 1", "total_sv 0"), "total_sv '0'");
  EXPECT_SAYS(header("total_sv 1", "total_sv 2000000000"), "total_sv '2000000000'");
  EXPECT_SAYS(header("total_sv 1", "total_sv 99999999999999999999"), "total_sv");
  EXPECT_SAYS(header("total_sv 1", "total_sv 60000"), "says 60000 support vectors, but there are 1");
}

TEST(ModelDamage, KeyTwice) {
  std::string text = small_model().dump();
  text.replace(text.find("\"norm_type\""), 0, "\"norm_type\": \"none\", ");
  EXPECT_SAYS(error(text), "holds the key 'norm_type' twice");
}

TEST(ModelDamage, HostileSizesCostLittle) {
  const auto peak = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // KiB
  };
  const std::string million(1'000'000, '['), deep(20'000'000, '[');
  EXPECT_SAYS(error(million), "nested too deeply");
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += "{\"a\":";
  EXPECT_SAYS(error(objects), "nested too deeply");

  const long before = peak();
  EXPECT_SAYS(error(deep), "nested too deeply");
  std::string wide = "{\"model_dict\": [";
  for (int i = 0; i < 5'000'000; ++i) wide += "1,";
  EXPECT_SAYS(error(wide), "more than 100,000 values");
  std::string lines = "svm_type nu_svr\nkernel_type rbf\ngamma 1\nrho 0\ntotal_sv 65536\nSV\n";
  for (int i = 0; i < 3'000'000; ++i) lines += "1\n";
  EXPECT_SAYS(error(with_svm(lines)), "more support vectors than total_sv says");
  // Texts of 10 to 20 MB, held a few times over (the test's own copies too); a tree of them would take over 1 GB.
  EXPECT_LT(peak() - before, 300 * 1024);
}

TEST(ModelDamage, FilesThatAreNone) {
  const std::string good = write_file("model.json", small_model().dump());
  const std::filesystem::path folder = std::filesystem::path(good).parent_path();
  const auto status = [](const std::string &path) {
    ModelRequest request;
    request.path = path;
    const auto model = load_model(request);
    EXPECT_FALSE(model.ok()) << path;
    EXPECT_SAYS(model.status().message(), path);
    return model.status();
  };
  EXPECT_EQ(status(folder / "missing.json").code(), Code::not_found);
  EXPECT_EQ(status(good + "/below.json").code(), Code::not_found);
  EXPECT_EQ(status(folder).code(), Code::io);
  EXPECT_SAYS(status(folder).message(), "is not a regular file");
  EXPECT_EQ(status("/dev/zero").code(), Code::io);

  const std::string fifo = folder / "fifo.json";
  std::filesystem::remove(fifo);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(status(fifo).code(), Code::io);  // and does not wait for a writer
  std::filesystem::remove(fifo);

  const std::string sparse = write_file("huge.json", "{");
  std::filesystem::resize_file(sparse, uintmax_t{2} << 30);
  EXPECT_SAYS(status(sparse).message(), "larger than 64 MiB");
  std::filesystem::remove(sparse);
}

TEST(ModelDamage, RandomMutations) {
  json file = small_model();
  json &dict = file["model_dict"];
  dict["feature_opts_dicts"] = {{{"adm_enhn_gain_limit", 1.0}, {"b", true}}, json::object()};
  dict["score_clip"] = {0, 100};
  dict["score_transform"] = {{"p0", 1.5},
                             {"p1", 0.75},
                             {"p2", -0.001},
                             {"knots", {{0, 0}, {50, 40}, {100, 100}}},
                             {"out_gte_in", "true"},
                             {"enabled", true}};
  // As v1.0.16 is: of adm3, which chroma corrects.
  json corrected = file;
  corrected["model_dict"]["feature_names"] = {"VMAF_integer_feature_adm3_score",
                                              "Speed_chroma_feature_speed_chroma_uv_score"};
  corrected["model_dict"]["chroma_correction_parameter"] = 120.5;
  const std::string texts[] = {file.dump(), corrected.dump(),
                               json{{"0", file}, {"1", file}, {"2", file}}.dump()};
  for (const std::string &text : texts) ASSERT_TRUE(load_text(text).ok());

  constexpr std::string_view kBytes = "0123456789.-+eE:,\"{}[] \\n\x80";
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  int read = 0, refused = 0;
  for (int n = 0; n < 3000; ++n) {
    std::string damaged = texts[n % 3];
    for (size_t k = 1 + below(3); k > 0; --k) {
      const size_t at = below(damaged.size());
      switch (below(4)) {
        case 0:
          damaged[at] = kBytes[below(kBytes.size())];
          break;
        case 1:
          damaged.erase(at, 1 + below(8));
          break;
        case 2:
          damaged.insert(at, 1, kBytes[below(kBytes.size())]);
          break;
        case 3:
          damaged.insert(at, damaged.substr(below(damaged.size()), below(30)));
          break;
      }
    }
    const auto model = load_text(damaged);
    if (!model.ok()) {
      ++refused;
      EXPECT_SAYS(model.status().message(), "model.json': ");
      continue;
    }
    ++read;
    bool extrapolated = false;
    const std::vector<double> features((*model)->features().size(), 0.75);
    for (const double score : predict(**model, features, &extrapolated))
      EXPECT_TRUE(std::isfinite(score)) << damaged;
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace vmafhip
