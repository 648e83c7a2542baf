// Fitted response surfaces: the arithmetic, and how close they come to the models that they stand for.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "engine/model/fitted.h"
#include "engine/model/model_file.h"
#include "engine/model/surface.h"
#include "engine/model/surface_data.h"
#include "tests/model_files.h"
#include "tests/small_model.h"

namespace vmafhip {
namespace {

constexpr double kTolerance = 0.001;  // VMAF points

// Calls `use` with the points of a 5-point grid over the box, faces included, and `count` random ones.
void each_point(const Surface &surface, int count,
                const std::function<void(const std::vector<double> &)> &use) {
  const size_t inputs = static_cast<size_t>(surface.inputs);
  std::vector<double> x(inputs);
  const auto place = [&](size_t i, double t) {
    x[i] = surface.low[i] + (surface.high[i] - surface.low[i]) * t;
  };
  for (size_t p = 0; p < std::pow(5, inputs); ++p) {
    for (size_t i = 0, rest = p; i < inputs; ++i, rest /= 5) place(i, static_cast<double>(rest % 5) / 4);
    use(x);
  }
  std::mt19937_64 random(20);
  for (int p = 0; p < count; ++p) {
    for (size_t i = 0; i < inputs; ++i) place(i, static_cast<double>(random() >> 11) * 0x1p-53);
    use(x);
  }
}

TEST(Surface, SizeAndOrderOfTheTerms) {
  EXPECT_EQ(surface_size(2, 2), 6u);
  EXPECT_EQ(surface_size(6, 7), 1716u);
  EXPECT_EQ(surface_size(6, 6), 924u);
  // 1, T1(v), T2(v), T1(u), T1(u)T1(v), T2(u) at u = 1/2, v = -1/4.
  const double u[] = {0.5, -0.25};
  double products[6];
  surface_basis(2, 2, u, products);
  const double expected[] = {1, -0.25, 2 * 0.0625 - 1, 0.5, -0.125, -0.5};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(products[i], expected[i]) << i;
}

TEST(Surface, EvaluatesItsDefinition) {
  const double low[] = {0, -10}, high[] = {4, 30}, spread[] = {0.25, 1}, c[] = {1, 2, 3, 4, 5, 6};
  const Surface surface = {2, 2, low, high, spread, 100, c};
  const double features[] = {3, 5};  // u = 1/2, v = -1/4
  bool extrapolated = false;
  const double p = 1 - 2 * 0.25 - 3 * 0.875 + 4 * 0.5 - 5 * 0.125 - 6 * 0.5;
  EXPECT_NEAR(evaluate(surface, features, &extrapolated), 100 + std::exp(-(0.25 * 0.25 + 0.0625)) * p, 1e-12);
  EXPECT_FALSE(extrapolated);
}

TEST(Surface, ExponentialNeedsNoLibm) {
  for (double t = 0; t <= 16; t += 1.0 / 128) EXPECT_NEAR(exp_minus(t) / std::exp(-t), 1, 1e-13) << t;
}

TEST(Surface, OutsideTheBoxTheNearestPointCounts) {
  const std::vector<double> inside = {1.2, 0, 0.5, 0.6, 0.7, 0}, outside = {1.3, -1, 0.5, 0.6, 0.7, -1e300};
  bool extrapolated = false;
  const double edge = evaluate(surface_v061, inside, &extrapolated);
  EXPECT_FALSE(extrapolated);
  EXPECT_EQ(evaluate(surface_v061, outside, &extrapolated), edge);
  EXPECT_TRUE(extrapolated);
  evaluate(surface_v061, inside, &extrapolated);
  EXPECT_TRUE(extrapolated) << "is set, never cleared";

  for (size_t i = 0; i < inside.size(); ++i)
    for (double beyond : {-0.001, 60.001, static_cast<double>(INFINITY)}) {
      std::vector<double> x(6, 0.5);
      x[i] = beyond;
      extrapolated = false;
      EXPECT_TRUE(std::isfinite(evaluate(surface_4k_v061, x, &extrapolated)));
      EXPECT_TRUE(extrapolated) << i << " " << beyond;
    }
  std::vector<double> x(6, 0.5);
  x[3] = NAN;
  EXPECT_TRUE(std::isnan(evaluate(surface_v061, x, &extrapolated)));
}

TEST(Surface, SameBitsEverywhere) {
  // Fixed by the definition: neither compiler flags, nor libm, nor the processor may change them.
  bool extrapolated = false;
  const std::vector<double> a = {0.9, 5.25, 0.5, 0.75, 0.8, 0.85}, b = {1.1, 42, 0.05, 0.3, 1.15, 0.6};
  EXPECT_EQ(evaluate(surface_v061, a, &extrapolated), 0x1.fe69d2592e2bep+5);
  EXPECT_EQ(evaluate(surface_v061, b, &extrapolated), 0x1.e17cbd6e48f86p+6);
  EXPECT_EQ(evaluate(surface_4k_v061, a, &extrapolated), 0x1.29cf937b002e8p+6);
  EXPECT_EQ(evaluate(surface_4k_v061, b, &extrapolated), 0x1.2e3c593fdb242p+7);
  const std::vector<double> c = {3, 12.5, 0.9, 6}, d = {16, -100, 0.5, 17};
  EXPECT_EQ(evaluate(surface_v1016, c, &extrapolated), 0x1.e82d698991e96p+5);
  EXPECT_EQ(evaluate(surface_v1016, d, &extrapolated), 0x1.65bcdc22aa316p+6);
}

TEST(Fitted, VersionsAndTheirFeatures) {
  ASSERT_EQ(fitted_versions().size(), 12u);
  for (std::string_view version : fitted_versions().first(4)) {
    const FittedModel *model = find_fitted(version);
    ASSERT_TRUE(model) << version;
    ASSERT_EQ(model->features.size(), 6u);
    const bool neg = version.ends_with("neg");
    EXPECT_EQ(model->features[0].options, neg ? (OptionTexts{{"adm_enhn_gain_limit", "1"}}) : OptionTexts());
    EXPECT_EQ(model->features[1].options, OptionTexts());
    for (size_t i = 2; i < 6; ++i)
      EXPECT_EQ(model->features[i].options,
                neg ? (OptionTexts{{"vif_enhn_gain_limit", "1"}}) : OptionTexts());
  }
  EXPECT_EQ(find_fitted("vmaf_v0.6.2"), nullptr);
  EXPECT_EQ(find_fitted(""), nullptr);
}

TEST(Fitted, IsTakenWhereThereIsNoFile) {
  const test::ModelPath hidden("");
  auto requests = parse_models("vmaf_v0.6.1|vmaf_v0.6.1:name=phone:enable_transform=true:disable_clip=true");
  ASSERT_TRUE(requests.ok());
  const auto plain = load_model((*requests)[0]), phone = load_model((*requests)[1]);
  ASSERT_TRUE(plain.ok() && phone.ok());
  if ((*plain)->source() == ModelSource::file) GTEST_SKIP() << "this machine has " << (*plain)->origin();
  EXPECT_EQ(to_string((*plain)->source()), "fitted");
  EXPECT_EQ((*plain)->origin(), "");
  EXPECT_EQ((*plain)->label(), "vmaf_v0.6.1");
  EXPECT_EQ((*phone)->label(), "phone");

  const std::vector<double> x = {0.95, 10, 0.6, 0.9, 0.93, 0.95}, perfect = {1.2, 60, 1.2, 1.2, 1.2, 1.2};
  bool extrapolated = false;
  const double y = evaluate(surface_v061, x, &extrapolated);
  EXPECT_EQ(first_score(**plain, x, &extrapolated), y);
  EXPECT_NEAR(first_score(**phone, x, &extrapolated), 1.70674692 + 1.72643844 * y - 0.00705305 * y * y,
              1e-12);
  EXPECT_GT(first_score(**phone, x, &extrapolated), 100);  // neither clipped
  EXPECT_EQ(first_score(**plain, perfect, &extrapolated), 100);
  EXPECT_FALSE(extrapolated);
}

// Where chroma says nothing, adm3 stands in for it.
TEST(Fitted, ChromaCorrection) {
  const test::ModelPath hidden("");
  const auto model = load_model({.version = "vmaf_v1.0.16_3d0h", .disable_clip = true});
  ASSERT_TRUE(model.ok());
  if ((*model)->source() == ModelSource::file) GTEST_SKIP() << "this machine has " << (*model)->origin();
  bool extrapolated = false;
  const std::vector<double> none = {3, 0, 0.9, 6}, same = {3, 120 * (1 - 0.9), 0.9, 6},
                            other = {3, 1, 0.9, 6};
  EXPECT_EQ(first_score(**model, none, &extrapolated), first_score(**model, same, &extrapolated));
  EXPECT_NE(first_score(**model, none, &extrapolated), first_score(**model, other, &extrapolated));
  EXPECT_FALSE(extrapolated);
}

TEST(Fitted, OverloadsMakeNegOfPlain) {
  const test::ModelPath hidden("");
  auto requests = parse_models("vmaf_4k_v0.6.1:adm.adm_enhn_gain_limit=1.0:vif.vif_enhn_gain_limit=1.0");
  ASSERT_TRUE(requests.ok());
  const auto model = load_model(requests->front());
  ASSERT_TRUE(model.ok()) << model.status().message();
  const FittedModel *neg = find_fitted("vmaf_4k_v0.6.1neg");
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ((*model)->features()[i].options, neg->features[i].options) << i;
}

// Never skipped: libvmaf's features through the surface against libvmaf's scores.
TEST(Fitted, GoldenScores) {
  const test::ModelPath hidden("");
  int runs = 0;
  for (std::string_view version : fitted_versions()) {
    for (const char *suffix : {"", "+transform", "+noclip"}) {
      ModelRequest request;
      request.version = version;
      request.enable_transform = std::string_view(suffix) == "+transform";
      request.disable_clip = std::string_view(suffix) == "+noclip";
      auto model = load_model(request);
      ASSERT_TRUE(model.ok());
      if ((*model)->source() == ModelSource::file) GTEST_SKIP() << "this machine has " << (*model)->origin();
      const std::string title = "model " + std::string(version) + suffix;
      int frames = 0;
      double largest = 0;
      for (const std::string &name : golden::case_names()) {
        const golden::Golden &file = golden::load(name);
        if (!file.has(title)) continue;
        const golden::Section &run = file.run(title);
        const auto features = golden_features(run, (*model)->features());
        for (size_t f = 0; f < features.size(); ++f, ++frames) {
          bool extrapolated = false;
          const double score = first_score(**model, features[f], &extrapolated);
          largest = std::max(largest, std::abs(score - run.scores.at("vmaf")[f]));
          EXPECT_NEAR(score, run.scores.at("vmaf")[f], kTolerance) << title << " " << name << " frame " << f;
          EXPECT_FALSE(extrapolated) << name << " frame " << f;
        }
      }
      if (frames) {
        ++runs;
        EXPECT_GT(frames, 44) << title;
        std::printf("%s: %.7f at most over %d frames\n", title.c_str(), largest, frames);
      }
    }
  }
  EXPECT_EQ(runs, 15);  // what the golden files have
}

TEST(Fitted, StaysWithinAThousandthOfTheFilesModel) {
  for (std::string_view version : fitted_versions()) {
    const std::string path = libvmaf_model(std::string(version));
    VMAFHIP_NEED_MODEL(path);
    const ModelFile file = read_model_file(path).base;
    const FittedModel &fitted = *find_fitted(version);
    ASSERT_EQ(file.features.size(), fitted.features.size());
    for (size_t i = 0; i < file.features.size(); ++i) {
      EXPECT_EQ(file.features[i].output, fitted.features[i].output);
      EXPECT_EQ(file.features[i].options, fitted.features[i].options);
    }
    EXPECT_EQ(file.finish.clip, fitted.finish.clip);
    EXPECT_EQ(file.transform_enabled, fitted.transform_enabled);
    ASSERT_EQ(file.finish.transform.has_value(), fitted.finish.transform.has_value());
    for (double y : {-10.0, 0.0, 50.0, 99.0, 150.0}) {
      if (!file.finish.transform) break;
      EXPECT_EQ((*file.finish.transform)(y), (*fitted.finish.transform)(y));
    }

    bool extrapolated = false;
    double largest = 0;
    each_point(*fitted.surface, 100000, [&](const std::vector<double> &x) {
      largest =
          std::max(largest, std::abs(evaluate(*fitted.surface, x, &extrapolated) - predict_raw(file, x)));
    });
    EXPECT_LT(largest, kTolerance) << version;
    EXPECT_FALSE(extrapolated);
    RecordProperty(std::string(version), std::to_string(largest));
    std::printf("%s: %.7f at most over the box\n", std::string(version).c_str(), largest);
  }
}

TEST(Fitted, NegFilesHoldTheRegressionOfThePlainOnes) {
  for (const char *version : {"vmaf_v0.6.1", "vmaf_4k_v0.6.1"}) {
    const std::string plain = libvmaf_model(version), neg = libvmaf_model(std::string(version) + "neg");
    VMAFHIP_NEED_MODEL(plain);
    VMAFHIP_NEED_MODEL(neg);
    const ModelFile a = read_model_file(plain).base, b = read_model_file(neg).base;
    each_point(surface_v061, 1000,
               [&](const std::vector<double> &x) { ASSERT_EQ(predict_raw(a, x), predict_raw(b, x)); });
  }
}

}  // namespace
}  // namespace vmafhip
