// The scores of all models against libvmaf's own, on 22 clips: from their files and from the fitted surfaces, with the
// features under the names that libvmaf gives them.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/golden_run.h"
#include "tests/model_files.h"

namespace vmafhip {
namespace {

using namespace test;

// libvmaf computes the same in f64; what is left is the last digits of exp().
constexpr double kFileTolerance = 1e-9;
// float_adm differs in its last bits (a reciprocal estimate of the CPU in libvmaf), and so do scores that come from it.
constexpr double kFloatTolerance = 2e-5;
// The surfaces' promise, in VMAF points.
constexpr double kFittedTolerance = 0.001;

// A run of the golden files, and how the same is asked of the engine: its scores are named r0, r1 and so on there, and
// vmaf in the files.
struct ModelRun {
  std::string section, version, label, request;
  bool fitted() const { return std::ranges::find(fitted_versions(), version) != fitted_versions().end(); }
  bool of_floats() const { return version.find("float") != version.npos; }
};

// "model NAME", "model NAME+transform" or "model NAME+noclip".
ModelRun run_of(const std::string &section, size_t number) {
  const std::string name = section.substr(section.find(' ') + 1);
  ModelRun run{section, name.substr(0, name.find('+')), "r" + std::to_string(number), ""};
  run.request = run.version + ":name=" + run.label;
  if (name.ends_with("+transform")) run.request += ":enable_transform=true";
  if (name.ends_with("+noclip")) run.request += ":disable_clip=true";
  return run;
}

std::vector<ModelRun> runs_of(const golden::Golden &golden) {
  std::vector<ModelRun> runs;
  for (const std::string &title : golden.titles())
    if (title.starts_with("model ") && !title.ends_with(" aggregate"))
      runs.push_back(run_of(title, runs.size()));
  return runs;
}

std::string requests(const std::vector<ModelRun> &runs) {
  std::string text;
  for (const ModelRun &run : runs) text += (text.empty() ? "" : "|") + run.request;
  return text;
}

// Scores of all models, their pools too: all that bootstrap collections have.
void expect_models_near(const golden::Golden &golden, const std::vector<ModelRun> &runs, const Scored &scored,
                        bool fitted) {
  size_t next = 0;
  for (const ModelRun &model : runs) {
    const golden::Section &run = golden.run(model.section);
    const double tolerance = fitted ? kFittedTolerance : model.of_floats() ? kFloatTolerance : kFileTolerance;
    for (const std::string &name : run.names) {
      if (!name.starts_with("vmaf")) continue;
      ASSERT_LT(next, scored.models.size());
      ASSERT_EQ(scored.models[next].label, model.label + name.substr(4)) << model.section;
      const std::string what = model.section + " " + name;
      const std::vector<double> &expected = golden.score(model.section, name);
      for (size_t i = 0; i < scored.frames.size(); ++i)
        EXPECT_NEAR(scored.frames[i].dist[0].models[next], expected[i], tolerance)
            << what << ", frame " << i
            << (scored.frames[i].dist[0].extrapolated ? ", outside the fitted box" : "");
      const RunningPool &pool = scored.model_pools[next++];
      const golden::Pooled &pooled = run.pooled.find(name)->second;
      EXPECT_NEAR(pool.get(PoolMethod::mean), pooled.mean, tolerance) << what;
      EXPECT_NEAR(pool.get(PoolMethod::min), pooled.min, tolerance) << what;
      EXPECT_NEAR(pool.get(PoolMethod::max), pooled.max, tolerance) << what;
      EXPECT_NEAR(pool.get(PoolMethod::harmonic_mean), pooled.harmonic_mean, tolerance) << what;
    }
  }
  EXPECT_EQ(next, scored.models.size());
}

// Features that the models needed come under the names that libvmaf gives them, each computed once.
void expect_model_features(const golden::Golden &golden, const std::vector<ModelRun> &runs,
                           const Scored &scored, const std::string &where) {
  std::set<std::string> seen;
  Judge bits(true), near(false);
  for (const ModelRun &model : runs) {
    const golden::Section &run = golden.run(model.section);
    for (size_t column = 0; column < scored.names.size(); ++column) {
      const std::string &name = scored.names[column];
      if (!run.scores.count(name) || !seen.insert(name).second) continue;
      const bool float_adm = name.starts_with("adm") || name.starts_with("aim");
      (float_adm ? near : bits).compare_feature(scored, column, run, name, where);
    }
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
  const golden::Golden &golden = golden::load(GetParam());
  const std::vector<ModelRun> runs = runs_of(golden);
  EXPECT_GE(runs.size(), 11u);
  const auto scored = score(GetParam(), requests(runs), "");
  ASSERT_TRUE(scored.ok()) << scored.status().message();
  for (const ModelInfo &model : scored->models) EXPECT_EQ(model.source, ModelSource::file) << model.label;
  expect_models_near(golden, runs, *scored, false);
  expect_model_features(golden, runs, *scored, GetParam());
}

TEST_P(GoldenModels, FromFittedSurfaces) {
  const test::ModelPath path("");
  const golden::Golden &golden = golden::load(GetParam());
  std::vector<ModelRun> runs = runs_of(golden);
  std::erase_if(runs, [](const ModelRun &run) { return !run.fitted(); });
  EXPECT_GE(runs.size(), 6u);
  const auto scored = score(GetParam(), requests(runs), "");
  ASSERT_TRUE(scored.ok()) << scored.status().message();
  for (const ModelInfo &model : scored->models) {
    if (model.origin.starts_with("/usr/")) GTEST_SKIP() << "this machine has " << model.origin;
    EXPECT_EQ(model.source, ModelSource::fitted) << model.label;
  }
  expect_models_near(golden, runs, *scored, true);
  expect_model_features(golden, runs, *scored, GetParam());
}

// What libvmaf refuses, as it does, because a metric is not defined for pictures so small.
TEST_P(GoldenModels, RefusedWhereLibvmafRefuses) {
  const test::ModelPath path("");
  for (const auto &[what, words] : golden::load(GetParam()).errors()) {
    if (!what.starts_with("model ")) continue;
    const ModelRun run = run_of(what, 0);
    ASSERT_TRUE(run.fitted()) << what;
    const auto scored = score(GetParam(), run.request, "");
    ASSERT_FALSE(scored.ok()) << what;
    EXPECT_EQ(scored.status().code(), Code::unsupported) << scored.status().message();
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenModels, testing::ValuesIn(chosen_cases()),
                         [](const auto &info) { return test_name(info.param); });

// libvmaf's order in logs: what a frame alone yields, then what waits for a later frame.
TEST(GoldenNames, FollowLibvmafsOrder) {
  const golden::Golden &golden = golden::load("sd-blur-8");
  int compared = 0;
  for (const ModelRun &model : runs_of(golden)) {
    SessionOptions options;
    options.models = model.request;
    options.backend = Backend::cpu;
    const auto session = Session::create(options);
    if (!session.ok() && session.status().code() == Code::not_found) continue;  // its file is not here
    ASSERT_TRUE(session.ok()) << session.status().message();
    std::vector<std::string> expected = golden.run(model.section).names;
    std::erase_if(expected, [](const std::string &name) { return name.starts_with("vmaf"); });
    EXPECT_EQ((*session)->feature_names(), expected) << model.section;
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

}  // namespace
}  // namespace vmafhip
