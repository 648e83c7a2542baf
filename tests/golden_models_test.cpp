// The scores of the v0.6 models against libvmaf's own, on 22 clips: from their files and from the fitted surfaces, with the
// features under the names that libvmaf gives them.
#include <set>
#include <string>

#include "tests/golden_run.h"
#include "tests/model_files.h"

namespace vmafhip {
namespace {

using namespace test;

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
  Judge judge(true);
  for (const ModelRun &model : kModelRuns) {
    const golden::Section &run = golden.run(model.section);
    for (size_t column = 0; column < scored.names.size(); ++column)
      if (run.scores.count(scored.names[column]) && seen.insert(scored.names[column]).second)
        judge.compare_feature(scored, column, run, scored.names[column], name);
  }
  EXPECT_EQ(seen.size(), scored.names.size());
}

std::string test_name(std::string name) {
  for (char &c : name)
    if (c == '-') c = '_';
  return name;
}

class GoldenModels : public testing::TestWithParam<std::string> {};

TEST_P(GoldenModels, FromTheirFiles) {
  const std::string folder = test::model_files();
  if (folder.empty())
    GTEST_SKIP() << "libvmaf's model files are not here; VMAFHIP_TEST_MODELS can name their folder";
  const test::ModelPath path(folder);
  const auto scored = score(GetParam(), all_model_runs(), "");
  ASSERT_TRUE(scored.ok()) << scored.status().message();
  for (const ModelInfo &model : scored->models) EXPECT_EQ(model.source, ModelSource::file) << model.label;
  expect_models_near(GetParam(), *scored, kFileTolerance);
  expect_model_features(GetParam(), *scored);
}

TEST_P(GoldenModels, FromFittedSurfaces) {
  const test::ModelPath path("");
  const auto scored = score(GetParam(), all_model_runs(), "");
  ASSERT_TRUE(scored.ok()) << scored.status().message();
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
