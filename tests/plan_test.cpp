// What is computed and under which names: extractors shared by models and features, columns in libvmaf's order.
#include "engine/plan.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/model_files.h"

namespace vmafhip {
namespace {

using Names = std::vector<std::string>;

class PlanTest : public testing::Test {
 protected:
  test::ModelPath no_files_{""};
};

// Throws if it cannot be had.
Plan plan_of(const std::string &models, const std::string &features) {
  auto plan = Plan::make(models, features);
  if (!plan.ok()) throw std::runtime_error(plan.status().message());
  return std::move(*plan);
}

Names extractors_of(const Plan &plan) {
  Names names;
  for (const PlannedExtractor &p : plan.extractors) names.push_back(p.extractor->name + p.options.suffix());
  return names;
}

void expect_error(const std::string &models, const std::string &features, Code code, const Names &words) {
  const auto plan = Plan::make(models, features);
  ASSERT_FALSE(plan.ok()) << models << " " << features;
  EXPECT_EQ(plan.status().code(), code) << plan.status().message();
  for (const std::string &word : words)
    EXPECT_NE(plan.status().message().find(word), std::string::npos)
        << word << " in: " << plan.status().message();
}

// ---- Names and order --------------------------------------------------------------------------------------

TEST_F(PlanTest, ColumnsOfOneModelAsLibvmafPrintsThem) {
  const Plan plan = plan_of("vmaf_v0.6.1", "");
  EXPECT_EQ(plan.feature_names,
            (Names{"integer_adm2", "integer_aim", "integer_adm3", "integer_adm_scale0", "integer_adm_scale1",
                   "integer_adm_scale2", "integer_adm_scale3", "VMAF_integer_feature_motion_sad_score",
                   "integer_vif_scale0", "integer_vif_scale1", "integer_vif_scale2", "integer_vif_scale3",
                   "integer_motion2", "integer_motion3"}));
  EXPECT_EQ(plan.model_scores, (Names{"vmaf_v0.6.1"}));
  EXPECT_EQ(plan.reads.lookback(), 1);
  EXPECT_EQ(plan.lookahead, 1);
}

TEST_F(PlanTest, ColumnsOfTwoModelsAsLibvmafPrintsThem) {
  const Plan plan = plan_of("vmaf_v0.6.1:name=vmaf|vmaf_v0.6.1neg:name=vmaf_neg", "");
  EXPECT_EQ(plan.feature_names, (Names{"integer_adm2",
                                       "integer_aim",
                                       "integer_adm3",
                                       "integer_adm_scale0",
                                       "integer_adm_scale1",
                                       "integer_adm_scale2",
                                       "integer_adm_scale3",
                                       "VMAF_integer_feature_motion_sad_score",
                                       "integer_vif_scale0",
                                       "integer_vif_scale1",
                                       "integer_vif_scale2",
                                       "integer_vif_scale3",
                                       "integer_adm2_egl_1",
                                       "integer_aim_egl_1",
                                       "integer_adm3_egl_1",
                                       "integer_adm_scale0_egl_1",
                                       "integer_adm_scale1_egl_1",
                                       "integer_adm_scale2_egl_1",
                                       "integer_adm_scale3_egl_1",
                                       "integer_vif_scale0_egl_1",
                                       "integer_vif_scale1_egl_1",
                                       "integer_vif_scale2_egl_1",
                                       "integer_vif_scale3_egl_1",
                                       "integer_motion2",
                                       "integer_motion3"}));
  EXPECT_EQ(plan.model_scores, (Names{"vmaf", "vmaf_neg"}));
}

TEST_F(PlanTest, EachOptionSetIsComputedOnce) {
  EXPECT_EQ(extractors_of(plan_of("vmaf_v0.6.1|vmaf_v0.6.1neg:name=neg", "")),
            (Names{"adm", "motion", "vif", "adm_egl_1", "vif_egl_1"}));
  EXPECT_EQ(extractors_of(plan_of("vmaf_v0.6.1|vmaf_4k_v0.6.1|vmaf_v0.6.1:name=b:disable_clip=true", "")),
            (Names{"adm", "motion", "vif"}));
  EXPECT_EQ(extractors_of(plan_of("vmaf_v0.6.1", "vif|motion|vif=vif_enhn_gain_limit=1")),
            (Names{"adm", "motion", "vif", "vif_egl_1"}));
  EXPECT_EQ(extractors_of(plan_of("", "vif=vif_enhn_gain_limit=1.0|vif=vif_enhn_gain_limit=1")),
            (Names{"vif_egl_1"}));
}

// Sets of options share a pass where they differ in what matters late alone.
TEST_F(PlanTest, Passes) {
  const auto passes_of = [](const std::string &models, const std::string &features) {
    const Plan plan = plan_of(models, features);
    Names names;
    for (const PlannedPass &pass : plan.passes) names.push_back(plan.name_of(pass));
    return names;
  };
  EXPECT_EQ(passes_of("vmaf_v0.6.1|vmaf_v0.6.1neg:name=neg", ""),
            (Names{"adm+adm_egl_1", "motion", "vif+vif_egl_1"}));
  EXPECT_EQ(passes_of("", "vif=vif_enhn_gain_limit=2|adm|vif|vif=vif_skip_scale0=true"),
            (Names{"vif_egl_2+vif", "adm", "vif_ssclz"}));
  EXPECT_EQ(
      passes_of("", "vif|vif=enable_chroma=true:vif_enhn_gain_limit=1:debug=true|vif=enable_chroma=true"),
      (Names{"vif", "vif_enable_chroma_egl_1+vif_enable_chroma"}));
  EXPECT_EQ(passes_of("",
                      "adm|adm=adm_min_val=0.5:adm_noise_weight=0:adm_dlm_weight=1|adm=adm_csf_mode=2|"
                      "adm=adm_enhn_gain_limit=1:adm_skip_aim=true"),
            (Names{"adm+adm_dlmw_1_min_0.5_nw_0", "adm_csf_2", "adm_egl_1"}));
  EXPECT_EQ(passes_of("", "motion|motion=motion_max_val=18"), (Names{"motion", "motion_mmxv_18"}));
}

TEST_F(PlanTest, MembersOfPasses) {
  const Plan plan =
      plan_of("", "vif|vif=vif_enhn_gain_limit=1:enable_chroma=true|adm|vif=vif_enhn_gain_limit=1|psnr");
  ASSERT_EQ(plan.passes.size(), 4u);
  EXPECT_EQ(plan.passes[0].members, (std::vector<size_t>{0, 3}));
  EXPECT_EQ(plan.passes[0].reads.dist, kLuma);
  EXPECT_EQ(plan.passes[1].reads.dist, kAllPlanes);
  for (size_t i = 0; i < plan.extractors.size(); ++i) {
    const PlannedExtractor &planned = plan.extractors[i];
    EXPECT_EQ(plan.passes[planned.pass].members.at(size_t(planned.option_set)), i);
    EXPECT_EQ(plan.passes[planned.pass].extractor, planned.extractor);
    EXPECT_EQ(plan.options_of(plan.passes[planned.pass]).at(size_t(planned.option_set)), &planned.options);
  }
}

TEST_F(PlanTest, ModelsReadTheirOwnColumns) {
  const Plan plan = plan_of("vmaf_v0.6.1|vmaf_v0.6.1neg:name=neg", "");
  for (const PlannedModel &m : plan.models) {
    ASSERT_EQ(m.columns.size(), m.model->features().size());
    for (size_t f = 0; f < m.columns.size(); ++f) {
      const ModelFeature &feature = m.model->features()[f];
      const std::string &name = plan.feature_names[size_t(m.columns[f])];
      const bool neg = name.size() > 6 && name.substr(name.size() - 6) == "_egl_1";
      EXPECT_EQ(neg, !feature.options.empty()) << name;
      EXPECT_NE(feature.output.find(neg ? name.substr(8, name.size() - 14) : name.substr(8)),
                std::string::npos)
          << feature.output << " from " << name;
    }
  }
}

TEST_F(PlanTest, DebugOutputsNextToAModel) {
  const Plan plan = plan_of("vmaf_v0.6.1", "vif=debug=true|motion=debug=true");
  EXPECT_EQ(extractors_of(plan), (Names{"adm", "motion", "vif"}));
  for (const char *name : {"integer_vif", "integer_vif_num_scale3", "integer_motion"})
    EXPECT_EQ(std::count(plan.feature_names.begin(), plan.feature_names.end(), name), 1) << name;
  EXPECT_EQ(std::count(plan.feature_names.begin(), plan.feature_names.end(), "integer_adm_num"), 0);
}

TEST_F(PlanTest, DebugBringsNoOtherOptionAlong) {
  for (const char *features :
       {"adm|adm=debug=true:adm_skip_aim=true", "adm=debug=true|adm=adm_skip_aim=true"}) {
    const Plan plan = plan_of("", features);
    ASSERT_EQ(plan.extractors.size(), 1u);
    EXPECT_TRUE(plan.extractors[0].options.boolean("debug"));
    EXPECT_FALSE(plan.extractors[0].options.boolean("adm_skip_aim")) << "the first request decides";
  }
}

TEST_F(PlanTest, NoModel) {
  const Plan plan = plan_of("", "vif");
  EXPECT_EQ(plan.feature_names,
            (Names{"integer_vif_scale0", "integer_vif_scale1", "integer_vif_scale2", "integer_vif_scale3"}));
  EXPECT_TRUE(plan.models.empty());
  EXPECT_EQ(plan.reads.lookback(), 0);
  EXPECT_EQ(plan.lookahead, 0);
  EXPECT_EQ(plan_of("", "motion=motion_five_frame_window=true").reads.lookback(), 2);
  EXPECT_EQ(plan_of("", "motion=motion_force_zero=true").lookahead, 0);
}

// ---- Errors -----------------------------------------------------------------------------------------------

TEST_F(PlanTest, UnknownNames) {
  expect_error("no_such_model", "", Code::not_found, {"no_such_model", "vmaf_v0.6.1"});
  expect_error("", "vmaff", Code::not_found, {"\"vmaff\"", "adm, motion, vif"});
  expect_error("", "vif|", Code::not_found, {"\"\""});
  expect_error("", "vif=gain=1", Code::invalid_argument, {"vif", "\"gain\"", "vif_enhn_gain_limit"});
  expect_error("", "vif=vif_enhn_gain_limit=much", Code::invalid_argument,
               {"vif_enhn_gain_limit", "1 to 100", "much"});
  expect_error("", "vif=vif_enhn_gain_limit=101", Code::invalid_argument, {"1 to 100", "101"});
  expect_error("vmaf_v0.6.1:vif.gain=1", "", Code::invalid_argument, {"vmaf_v0.6.1", "gain"});
}

TEST_F(PlanTest, FeaturesThatDoNotParse) {
  for (const char *text : {"vif=", "vif=debug", "vif=:", "vif==true", "vif=debug=true:"})
    expect_error("", text, Code::invalid_argument, {text, "OPTION=VALUE"});
  expect_error("", "vif=debug=true:debug=true", Code::invalid_argument, {"debug", "twice"});
}

TEST_F(PlanTest, OptionsThatContradictEachOther) {
  expect_error("", "adm=adm_csf_mode=1", Code::unsupported, {"adm_csf_mode=1", "0, 2 or 3"});
  expect_error("", "adm=adm_ref_display_height=480", Code::invalid_argument, {"3240", "480"});
}

TEST_F(PlanTest, NothingToCompute) { expect_error("", "", Code::invalid_argument, {"model", "feature"}); }

// Two requests that output names do not tell apart: libvmaf meets the first, and so do we, but say so.
TEST_F(PlanTest, RequestsOfOneName) {
  const auto remarks = [](const std::string &features) {
    const auto plan = Plan::make("", features);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.ok() ? plan->remarks : Names{};
  };
  EXPECT_EQ(
      remarks("float_ssim|float_ssim=scale=1"),
      (Names{"float_ssim is asked for twice with different values of scale, which output names do not tell "
             "apart: only the first request is met"}));
  EXPECT_EQ(remarks("float_ssim=scale=1|float_ssim=enable_lcs=true:scale=1"), Names());
  EXPECT_EQ(remarks("adm|adm=adm_enhn_gain_limit=1|adm=debug=true"), Names());
}

}  // namespace
}  // namespace vmafhip
