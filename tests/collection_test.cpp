// Bootstrap collections: the statistics over their members, features that not all members read, damaged files. That
// the scores are libvmaf's is shown by GoldenModel of model_test.
#include <cmath>
#include <fstream>
#include <sstream>

#include "engine/model/collection.h"
#include "engine/plan.h"
#include "tests/small_model.h"

namespace vmafhip {
namespace {

using nlohmann::json;

// A model that answers with `offset` alone: without support vectors' influence, its score is -rho taken back.
json constant_model(double offset) {
  json file = small_model();
  json &dict = file["model_dict"];
  dict["norm_type"] = "none";
  std::ostringstream text;
  text << "svm_type nu_svr\nkernel_type rbf\ngamma 1\nnr_class 2\ntotal_sv 1\nrho " << -offset
       << "\nSV\n0 1:0 2:0 \n";
  dict["model"] = text.str();
  return file;
}

json collection_of(const std::vector<json> &models) {
  json file;
  for (size_t i = 0; i < models.size(); ++i) file[std::to_string(i)] = models[i];
  return file;
}

std::map<std::string, double> scores_of(const json &file, const ModelRequest &request = {},
                                        std::vector<double> features = {0.9, 4}) {
  auto model = load_text(file.dump(), request);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  bool extrapolated = false;
  const std::vector<double> values = predict(**model, features, &extrapolated);
  std::map<std::string, double> scores;
  for (size_t i = 0; i < values.size(); ++i) scores[(*model)->scores()[i]] = values[i];
  return scores;
}

TEST(Collection, StatisticsOfTheMembers) {
  const auto scores = scores_of(
      collection_of({constant_model(50), constant_model(10), constant_model(40), constant_model(20)}),
      {.label = "m"});
  ASSERT_EQ(scores.size(), 8u);
  EXPECT_EQ(scores.at("m"), 50);
  EXPECT_EQ(scores.at("m_0001"), 10);
  EXPECT_EQ(scores.at("m_0002"), 40);
  EXPECT_EQ(scores.at("m_0003"), 20);
  EXPECT_DOUBLE_EQ(scores.at("m_bagging"), 70.0 / 3);
  EXPECT_NEAR(scores.at("m_stddev"), std::sqrt(1400.0 / 9), 1e-9);  // of all three, not of three minus one
  EXPECT_DOUBLE_EQ(scores.at("m_ci_p95_lo"), 10 * 0.95 + 20 * 0.05);
  EXPECT_DOUBLE_EQ(scores.at("m_ci_p95_hi"), 20 * 0.05 + 40 * 0.95);
}

TEST(Collection, OneMemberIsEnough) {
  const auto scores = scores_of(collection_of({constant_model(50), constant_model(10)}), {.label = "m"});
  EXPECT_EQ(scores.at("m_bagging"), 10);
  EXPECT_EQ(scores.at("m_stddev"), 0);
  EXPECT_EQ(scores.at("m_ci_p95_lo"), 10);
  EXPECT_EQ(scores.at("m_ci_p95_hi"), 10);
}

// The deviation is stretched as the transform stretches scores near the mean, and the clip holds it too.
TEST(Collection, TransformAndClipFollowTheStatistics) {
  std::vector<json> models = {constant_model(50), constant_model(10), constant_model(30)};
  for (json &m : models) {
    m["model_dict"]["score_transform"] = {{"p1", 3.0}};
    m["model_dict"]["score_clip"] = {0, 80};
  }
  const auto plain = scores_of(collection_of(models), {.label = "m"});
  EXPECT_EQ(plain.at("m_bagging"), 20);
  EXPECT_NEAR(plain.at("m_stddev"), 10, 1e-9);
  const auto stretched = scores_of(collection_of(models), {.label = "m", .enable_transform = true});
  EXPECT_EQ(stretched.at("m"), 80);
  EXPECT_EQ(stretched.at("m_0001"), 30);
  EXPECT_EQ(stretched.at("m_0002"), 80);
  EXPECT_EQ(stretched.at("m_bagging"), 60);
  EXPECT_NEAR(stretched.at("m_stddev"), 30, 1e-9);
  EXPECT_EQ(stretched.at("m_ci_p95_hi"), 80);
  const auto unclipped =
      scores_of(collection_of(models), {.label = "m", .enable_transform = true, .disable_clip = true});
  EXPECT_EQ(unclipped.at("m"), 150);
  EXPECT_EQ(unclipped.at("m_0002"), 90);
  EXPECT_DOUBLE_EQ(unclipped.at("m_ci_p95_hi"), 3 * (10 * 0.025 + 30 * 0.975));
}

TEST(Collection, MembersMayReadOtherFeatures) {
  json other = small_model();
  other["model_dict"]["feature_names"] = {"VMAF_integer_feature_motion2_score",
                                          "VMAF_integer_feature_adm2_score"};
  json third = small_model();
  third["model_dict"]["feature_names"][0] = "VMAF_integer_feature_vif_scale0_score";
  const json file = collection_of({small_model(), other, third});
  auto model = load_text(file.dump(), {.label = "m"});
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ((*model)->features().size(), 3u);
  const auto scores = scores_of(file, {.label = "m"}, {0.9, 4, 0.7});
  EXPECT_EQ(scores.at("m"), small_model_score(0.9, 4));
  EXPECT_EQ(scores.at("m_0001"), small_model_score(4, 0.9));
  EXPECT_EQ(scores.at("m_0002"), small_model_score(0.7, 4));
}

TEST(Collection, FeaturesThatAreNotFinite) {
  const json file = collection_of({small_model(), small_model(), constant_model(10)});
  const auto scores = scores_of(file, {.label = "m"}, {NAN, 4});
  EXPECT_TRUE(std::isnan(scores.at("m")));
  EXPECT_TRUE(std::isnan(scores.at("m_bagging")));
}

// What is wrong is said with the model that has it.
TEST(Collection, Damaged) {
  const auto message = [](const json &file) {
    const auto model = load_text(file.dump());
    EXPECT_FALSE(model.ok());
    return model.ok() ? std::string() : model.status().message();
  };
  const auto expect = [&](const json &file, const std::string &part) {
    const std::string text = message(file);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(collection_of({small_model()}), "without a member");
  json gap = collection_of({small_model(), small_model(), small_model()});
  gap.erase("1");
  expect(gap, "is a collection with a model '2' but none '1'");
  json mixed = collection_of({small_model(), small_model(), small_model()});
  mixed["1"]["model_dict"]["model_type"] = "BOOTSTRAP_LIBSVMNUSVR";
  expect(mixed, "2.model_dict.model_type");
  json broken = collection_of({small_model(), small_model(), small_model()});
  broken["2"]["model_dict"].erase("model");
  expect(broken, "2.model_dict");
  broken["2"] = 7;
  expect(broken, "2");
  json base = collection_of({small_model(), small_model()});
  base["0"].erase("model_dict");
  expect(base, "0.model_dict");
}

// A file of residue bootstrap differs in the name of its type alone, and gives the same numbers.
TEST(Collection, ResidueBootstrapIsTreatedAlike) {
  const std::string path = libvmaf_model("vmaf_b_v0.6.3");
  VMAFHIP_NEED_MODEL(path);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  json file = json::parse(text.str());
  const std::vector<double> features = {0.95, 4, 0.5, 0.85, 0.9, 0.95};
  const auto bootstrap = scores_of(file, {.label = "m"}, features);
  EXPECT_EQ(bootstrap.size(), 25u);
  for (auto &[key, model] : file.items()) model["model_dict"]["model_type"] = "RESIDUEBOOTSTRAP_LIBSVMNUSVR";
  EXPECT_EQ(scores_of(file, {.label = "m"}, features), bootstrap);
  EXPECT_GT(bootstrap.at("m_stddev"), 0);
}

TEST(Collection, NamesMustNotMeetThoseOfOthers) {
  const std::string path = write_file("c.json", collection_of({small_model(), small_model()}).dump());
  const auto plan = [&](const std::string &models) { return Plan::make(models, ""); };
  const auto fine = plan("path=" + path + ":name=m|path=" + path + ":name=n");
  ASSERT_TRUE(fine.ok()) << fine.status().message();
  EXPECT_EQ(fine->model_scores.size(), 12u);
  EXPECT_EQ(fine->models[1].first_score, 6u);
  const auto twice = plan("path=" + path + ":name=m|path=" + path + ":name=m_bagging");
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.status().message().find("\"m_bagging\""), std::string::npos) << twice.status().message();
  const auto feature = plan("path=" + path + ":name=integer_adm2");
  ASSERT_FALSE(feature.ok());
  EXPECT_NE(feature.status().message().find("name=LABEL"), std::string::npos) << feature.status().message();
}

}  // namespace
}  // namespace vmafhip
