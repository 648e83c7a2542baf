// The engine against libvmaf's own figures, on 22 clips: every output of vif, adm and motion to the last bit, at
// default options, in all variants and of chroma, on every instruction set; the scores of the v0.6 models from their
// files and from the fitted surfaces.
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "engine/registry.h"
#include "engine/session.h"
#include "tests/clip_picture.h"
#include "tests/golden.h"
#include "tests/model_files.h"

namespace vmafhip {
namespace {

// libvmaf computes the same in f64; what is left is the last digits of exp().
constexpr double kFileTolerance = 1e-9;
// The surfaces' promise, in VMAF points.
constexpr double kFittedTolerance = 0.001;

// Runs of the golden files, and how the same is asked of the engine.
struct ModelRun {
  const char *section;
  const char *request;
};
constexpr ModelRun kModelRuns[] = {
    {"model vmaf_v0.6.1", "vmaf_v0.6.1"},
    {"model vmaf_v0.6.1neg", "vmaf_v0.6.1neg"},
    {"model vmaf_4k_v0.6.1", "vmaf_4k_v0.6.1"},
    {"model vmaf_4k_v0.6.1neg", "vmaf_4k_v0.6.1neg"},
    {"model vmaf_v0.6.1+transform", "vmaf_v0.6.1:name=transform:enable_transform=true"},
    {"model vmaf_v0.6.1+noclip", "vmaf_v0.6.1:name=noclip:disable_clip=true"},
};

std::string all_model_runs() {
  std::string text;
  for (const ModelRun &run : kModelRuns) text += (text.empty() ? "" : "|") + std::string(run.request);
  return text;
}

struct Pair {
  Picture ref, dist;
};

// The clips of a case, made once.
const std::vector<Pair> &clip_of(const std::string &name) {
  static std::map<std::string, std::vector<Pair>> clips;
  std::vector<Pair> &pairs = clips[name];
  if (pairs.empty()) {
    const clipgen::Generator generator = test::generator_of(golden::load(name).parameters());
    for (int i = 0; i < generator.format().frames; ++i)
      pairs.push_back({test::to_picture(generator.format(), generator.frame(clipgen::Role::reference, i)),
                       test::to_picture(generator.format(), generator.frame(clipgen::Role::distorted, i))});
  }
  return pairs;
}

// One session over one whole clip: names, scores a frame, pools.
struct Scored {
  std::vector<std::string> names;
  std::vector<ModelInfo> models;
  std::vector<FrameScores> frames;
  std::vector<RunningPool> feature_pools, model_pools;
};

// Null, with a test failure, if the engine refuses.
std::unique_ptr<Scored> score(const std::string &name, const std::string &models,
                              const std::string &features) {
  SessionOptions options;
  options.models = models;
  options.features = features;
  options.backend = Backend::cpu;
  auto session = Session::create(options);
  if (!session.ok()) {
    ADD_FAILURE() << session.status().message();
    return nullptr;
  }
  Session &s = **session;
  const std::vector<Pair> &pairs = clip_of(name);
  const PictureFormat format = pairs.front().ref.format;
  if (const Status status = s.configure(format, format); !status.ok()) {
    ADD_FAILURE() << status.message();
    return nullptr;
  }
  auto result = std::make_unique<Scored>();
  FrameScores scores;
  for (const Pair &pair : pairs) {
    while (!s.submit(pair.ref, pair.dist)) {
      if (s.wait(scores) != Session::Next::ready) {
        ADD_FAILURE() << "no room, and no score to take";
        return nullptr;
      }
      result->frames.push_back(scores);
    }
  }
  s.finish();
  while (s.wait(scores) == Session::Next::ready) result->frames.push_back(scores);
  EXPECT_EQ(result->frames.size(), pairs.size());
  for (size_t i = 0; i < result->frames.size(); ++i) EXPECT_EQ(result->frames[i].index, i);
  result->names = s.feature_names();
  result->models = s.models();
  result->feature_pools = s.feature_pools();
  result->model_pools = s.model_pools();
  return result;
}

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

void expect_bits(double actual, double expected, const std::string &what) {
  const auto digits = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return std::string(text);
  };
  if (!same_bits(actual, expected))
    ADD_FAILURE() << what << ": " << digits(actual) << ", libvmaf says " << digits(expected);
}

// Every value of feature `column` and its pools against the same score of libvmaf's run.
void expect_same_feature(const Scored &scored, size_t column, const golden::Section &run) {
  const std::string &name = scored.names[column];
  const auto expected = run.scores.find(name);
  if (expected == run.scores.end()) {
    ADD_FAILURE() << "libvmaf has no " << name;
    return;
  }
  for (size_t i = 0; i < scored.frames.size(); ++i)
    expect_bits(scored.frames[i].dist[0].features[column], expected->second[i],
                name + ", frame " + std::to_string(i));
  const RunningPool &pool = scored.feature_pools[column];
  const golden::Pooled &pooled = run.pooled.find(name)->second;
  expect_bits(pool.get(PoolMethod::mean), pooled.mean, name + ", mean");
  expect_bits(pool.get(PoolMethod::min), pooled.min, name + ", min");
  expect_bits(pool.get(PoolMethod::max), pooled.max, name + ", max");
  expect_bits(pool.get(PoolMethod::harmonic_mean), pooled.harmonic_mean, name + ", harmonic mean");
}

// Model scores and pools within `tolerance` of all kModelRuns.
void expect_models_near(const std::string &name, const Scored &scored, double tolerance) {
  const golden::Golden &golden = golden::load(name);
  ASSERT_EQ(scored.models.size(), std::size(kModelRuns));
  for (size_t m = 0; m < scored.models.size(); ++m) {
    const golden::Section &run = golden.run(kModelRuns[m].section);
    const std::vector<double> &expected = golden.score(kModelRuns[m].section, "vmaf");
    const std::string label = scored.models[m].label;
    for (size_t i = 0; i < scored.frames.size(); ++i)
      EXPECT_NEAR(scored.frames[i].dist[0].models[m], expected[i], tolerance)
          << label << ", frame " << i
          << (scored.frames[i].dist[0].extrapolated ? ", outside the fitted box" : "");
    const RunningPool &pool = scored.model_pools[m];
    const golden::Pooled &pooled = run.pooled.find("vmaf")->second;
    EXPECT_NEAR(pool.get(PoolMethod::mean), pooled.mean, tolerance) << label;
    EXPECT_NEAR(pool.get(PoolMethod::min), pooled.min, tolerance) << label;
    EXPECT_NEAR(pool.get(PoolMethod::max), pooled.max, tolerance) << label;
    EXPECT_NEAR(pool.get(PoolMethod::harmonic_mean), pooled.harmonic_mean, tolerance) << label;
  }
}

// Features that the models needed come under the names that libvmaf gives them, in its order.
void expect_model_features(const std::string &name, const Scored &scored) {
  const golden::Golden &golden = golden::load(name);
  std::set<std::string> seen;
  for (const ModelRun &model : kModelRuns) {
    const golden::Section &run = golden.run(model.section);
    for (size_t column = 0; column < scored.names.size(); ++column)
      if (run.scores.count(scored.names[column]) && seen.insert(scored.names[column]).second)
        expect_same_feature(scored, column, run);
  }
  EXPECT_EQ(seen.size(), scored.names.size());
}

std::string test_name(std::string name) {
  for (char &c : name)
    if (c == '-') c = '_';
  return name;
}

// A case on one instruction set; skipped where the processor lacks it.
class GoldenFeatures : public testing::TestWithParam<std::tuple<std::string, const char *>> {
 protected:
  void SetUp() override {
    ::setenv("VMAFHIP_ISA", std::get<1>(GetParam()), 1);
    if (const auto cpu = CpuBackend::choose(); !cpu.ok()) GTEST_SKIP() << cpu.status().message();
  }
  void TearDown() override { ::unsetenv("VMAFHIP_ISA"); }
  const std::string &name() const { return std::get<0>(GetParam()); }
};

TEST_P(GoldenFeatures, DefaultBitForBit) {
  const golden::Section &run = golden::load(name()).run("default");
  const auto scored = score(name(), "", "vif=debug=true|adm=debug=true|motion=debug=true");
  ASSERT_TRUE(scored);
  std::set<std::string> expected;
  for (const std::string &name : run.names)
    if (name.starts_with("integer_") || name.starts_with("VMAF_integer_")) expected.insert(name);
  EXPECT_EQ(std::set<std::string>(scored->names.begin(), scored->names.end()), expected);
  for (size_t column = 0; column < scored->names.size(); ++column) expect_same_feature(*scored, column, run);
}

TEST_P(GoldenFeatures, VariantsBitForBit) {
  const golden::Golden &golden = golden::load(name());
  std::string features;
  std::map<std::string, const golden::Section *> expected;  // score name -> the run that has it
  for (const std::string &title : golden.titles()) {
    const std::string spec = title.starts_with("variant ") ? title.substr(8) : "";
    const std::string extractor = spec.substr(0, spec.find('='));
    if (extractor != "vif" && extractor != "adm" && extractor != "motion") continue;
    features += (features.empty() ? "" : "|") + spec;
    for (const std::string &score : golden.run(title).names)
      EXPECT_TRUE(expected.emplace(score, &golden.run(title)).second) << score << " is in two variants";
  }
  ASSERT_FALSE(features.empty());
  const auto scored = score(name(), "", features);
  ASSERT_TRUE(scored);
  EXPECT_EQ(scored->names.size(), expected.size());
  for (size_t column = 0; column < scored->names.size(); ++column) {
    const auto run = expected.find(scored->names[column]);
    if (run == expected.end())
      ADD_FAILURE() << "libvmaf has no " << scored->names[column];
    else
      expect_same_feature(*scored, column, *run->second);
  }
}

// VIF of chroma is a fork's; its luma has the figures of the default run.
TEST_P(GoldenFeatures, VifOfChromaBitForBit) {
  const golden::Golden &golden = golden::load(name());
  const auto scored = score(name(), "", "vif=enable_chroma=true");
  ASSERT_TRUE(scored);
  ASSERT_EQ(scored->names.size(), 12u);
  const std::string suffix = "_enable_chroma";
  for (size_t column = 0; column < scored->names.size(); ++column) {
    const std::string &full = scored->names[column];
    ASSERT_TRUE(full.ends_with(suffix)) << full;
    if (column >= 4) {
      expect_same_feature(*scored, column, golden.run("fork"));
      continue;
    }
    const std::vector<double> &luma = golden.score("default", full.substr(0, full.size() - suffix.size()));
    for (size_t i = 0; i < scored->frames.size(); ++i)
      expect_bits(scored->frames[i].dist[0].features[column], luma[i], full + ", frame " + std::to_string(i));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenFeatures,
                         testing::Combine(testing::ValuesIn(golden::case_names()),
                                          testing::Values("scalar", "avx2", "avx512")),
                         [](const auto &info) {
                           return test_name(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

class GoldenModels : public testing::TestWithParam<std::string> {};

TEST_P(GoldenModels, FromTheirFiles) {
  const std::string folder = test::model_files();
  if (folder.empty())
    GTEST_SKIP() << "libvmaf's model files are not here; VMAFHIP_TEST_MODELS can name their folder";
  const test::ModelPath path(folder);
  const auto scored = score(GetParam(), all_model_runs(), "");
  ASSERT_TRUE(scored);
  for (const ModelInfo &model : scored->models) EXPECT_EQ(model.source, ModelSource::file) << model.label;
  expect_models_near(GetParam(), *scored, kFileTolerance);
  expect_model_features(GetParam(), *scored);
}

TEST_P(GoldenModels, FromFittedSurfaces) {
  const test::ModelPath path("");
  const auto scored = score(GetParam(), all_model_runs(), "");
  ASSERT_TRUE(scored);
  for (const ModelInfo &model : scored->models) {
    if (model.origin.starts_with("/usr/")) GTEST_SKIP() << "this machine has " << model.origin;
    EXPECT_EQ(model.source, ModelSource::fitted) << model.label;
  }
  expect_models_near(GetParam(), *scored, kFittedTolerance);
  expect_model_features(GetParam(), *scored);
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenModels, testing::ValuesIn(golden::case_names()),
                         [](const auto &info) { return test_name(info.param); });

// libvmaf's order in logs: what a frame alone yields, then what waits for a later frame.
TEST(GoldenNames, FollowLibvmafsOrder) {
  const golden::Golden &golden = golden::load("sd-blur-8");
  for (const ModelRun &model : kModelRuns) {
    SessionOptions options;
    options.models = model.request;
    options.backend = Backend::cpu;
    const auto session = Session::create(options);
    ASSERT_TRUE(session.ok()) << session.status().message();
    std::vector<std::string> expected = golden.run(model.section).names;
    ASSERT_EQ(expected.back(), "vmaf");
    expected.pop_back();
    EXPECT_EQ((*session)->feature_names(), expected) << model.section;
  }
}

}  // namespace
}  // namespace vmafhip
