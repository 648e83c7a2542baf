// Options of extractors, the registry, and the choice of the instruction set.
#include "engine/options.h"

#include <cstdlib>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "engine/plan.h"
#include "engine/registry.h"
#include "engine/text.h"
#include "tests/comma_locale.h"

namespace vmafhip {
namespace {

constexpr OptionSpec kSpecs[] = {
    {"debug", OptionType::boolean, "false", 0, 0, "", false, "Not named."},
    {"zoom", OptionType::boolean, "false", 0, 0, "z", true, "A flag."},
    {"count", OptionType::integer, "3", -5, 1000000, "", true, "A whole number."},
    {"apex", OptionType::real, "0.5", 0, 2000000, "x", true, "A number."},
    {"method", OptionType::string, "cubic", 0, 0, "m", true, "A text."},
    {"skip", OptionType::integer, "-1", 0, 3, "", true, "A whole number that need not be set."},
};

Options parsed(const OptionTexts &texts) {
  auto options = Options::parse("thing", kSpecs, texts);
  if (!options.ok()) throw std::runtime_error(options.status().message());
  return *options;
}

std::string error_of(const OptionTexts &texts) {
  const auto options = Options::parse("thing", kSpecs, texts);
  return options.ok() ? "" : options.status().message();
}

TEST(Options, DefaultsAndValues) {
  const Options defaults = parsed({});
  EXPECT_FALSE(defaults.boolean("zoom"));
  EXPECT_EQ(defaults.integer("count"), 3);
  EXPECT_EQ(defaults.real("apex"), 0.5);
  EXPECT_EQ(defaults.string("method"), "cubic");
  EXPECT_EQ(defaults.suffix(), "");

  const Options given =
      parsed({{"zoom", "true"}, {"count", "-5"}, {"apex", "1.25e2"}, {"method", "two words"}});
  EXPECT_TRUE(given.boolean("zoom"));
  EXPECT_EQ(given.integer("count"), -5);
  EXPECT_EQ(given.real("apex"), 125.0);
  EXPECT_EQ(given.string("method"), "two words");
}

TEST(Options, SuffixInByteOrderOfFullNames) {
  EXPECT_EQ(parsed({{"zoom", "true"}, {"count", "7"}, {"apex", "0.25"}, {"method", "box"}, {"debug", "true"}})
                .suffix(),
            "_x_0.25_count_7_m_box_z");
  EXPECT_EQ(parsed({{"debug", "true"}}).suffix(), "");
  EXPECT_EQ(parsed({{"apex", "0.50"}, {"count", "3"}}).suffix(), "") << "defaults, however written";
  // %d and %g
  EXPECT_EQ(parsed({{"count", "1000000"}}).suffix(), "_count_1000000");
  EXPECT_EQ(parsed({{"apex", "1000000"}}).suffix(), "_x_1e+06");
  EXPECT_EQ(parsed({{"apex", "0.1234567"}}).suffix(), "_x_0.123457");
  EXPECT_EQ(parsed({{"apex", "0.00001"}}).suffix(), "_x_1e-05");
}

TEST(Options, TheWholeTextMustParse) {
  for (const char *text :
       {"", " 1", "1 ", "1x", "0x1", "+1", "1,5", "--1", "inf", "-inf", "nan", "1e999", "true"})
    EXPECT_NE(error_of({{"apex", text}}), "") << text;
  for (const char *text : {"", "1.0", "1e2", " 1", "1 ", "99999999999999999999", "0x10", "+1"})
    EXPECT_NE(error_of({{"count", text}}), "") << text;
  for (const char *text : {"", "1", "0", "True", "yes", "true "})
    EXPECT_NE(error_of({{"zoom", text}}), "") << text;
}

TEST(Options, ErrorsSayWhatWouldDo) {
  EXPECT_EQ(error_of({{"apex", "-0.1"}}),
            "thing: option apex must be a number from 0 to 2e+06, not \"-0.1\"");
  EXPECT_EQ(error_of({{"count", "-6"}}),
            "thing: option count must be a whole number from -5 to 1e+06, not \"-6\"");
  EXPECT_EQ(error_of({{"zoom", "1"}}), "thing: option zoom must be true or false, not \"1\"");
  EXPECT_EQ(error_of({{"count", "7"}, {"cuont", "7"}}),
            "thing has no option \"cuont\"; its options are debug, zoom, count, apex, method, "
            "skip");
  const auto options = Options::parse("thing", kSpecs, {{"apex", "9e9"}});
  EXPECT_EQ(options.status().code(), Code::invalid_argument);
}

TEST(Options, LimitsBelong) {
  EXPECT_EQ(error_of({{"apex", "0"}}), "");
  EXPECT_EQ(error_of({{"apex", "2000000"}}), "");
  EXPECT_NE(error_of({{"apex", "2000000.5"}}), "");
}

TEST(Options, ADefaultOutsideItsRangeMeansNotSet) {
  EXPECT_EQ(parsed({}).integer("skip"), -1);
  EXPECT_EQ(parsed({{"skip", "-1"}}).integer("skip"), -1);
  EXPECT_EQ(parsed({{"skip", "-1"}}).suffix(), "");
  EXPECT_EQ(parsed({{"skip", "0"}}).suffix(), "_skip_0");
  EXPECT_EQ(error_of({{"skip", "-2"}}), "thing: option skip must be a whole number from 0 to 3, not \"-2\"");
}

TEST(Options, NormalisedAsModelFilesAre) {
  EXPECT_EQ(normalised_option("3.0"), "3");
  EXPECT_EQ(normalised_option("0.06"), "0.06");
  EXPECT_EQ(normalised_option("0.1234567"), "0.123457");
  EXPECT_EQ(normalised_option("16777217"), "1.67772e+07");
  EXPECT_EQ(normalised_option("-2.50"), "-2.5");
  for (const char *text : {"true", "bilinear", "", "3.0x", "inf", "nan", "1 2"})
    EXPECT_EQ(normalised_option(text), text);
}

TEST(Options, TextsStayAsTheyAre) {
  const auto specs = find_extractor("cambi")->options;
  EXPECT_EQ(normalised_option(specs, "heatmaps_path", "007"), "007");
  EXPECT_EQ(normalised_option(specs, "tvi_threshold", "0.250"), "0.25");
  const auto plan = Plan::make("", "cambi=heatmaps_path=1.50:tvi_threshold=0.250");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->extractors[0].options.string("heatmaps_path"), "1.50");
}

TEST(Options, NoLocaleMatters) {
  const test::CommaLocale locale;
  if (!locale.good()) GTEST_SKIP() << "no locale with a decimal comma can be made here (package locales)";
  EXPECT_EQ(parsed({{"apex", "0.25"}}).suffix(), "_x_0.25");
  EXPECT_EQ(normalised_option("0.250"), "0.25");
  EXPECT_EQ(to_text(0.25), "0.25");
}

// ---- Registry -------------------------------------------------------------------------------------------

TEST(Registry, FindsByNameAndByOutput) {
  for (const Extractor *e : extractors()) EXPECT_EQ(find_extractor(e->name), e);
  EXPECT_EQ(find_extractor("vig"), nullptr);
  EXPECT_STREQ(find_provider("VMAF_integer_feature_adm2_score")->name, "adm");
  EXPECT_STREQ(find_provider("VMAF_integer_feature_motion2_score")->name, "motion");
  EXPECT_STREQ(find_provider("VMAF_integer_feature_vif_scale3_score")->name, "vif");
  EXPECT_STREQ(find_provider("VMAF_feature_adm2_score")->name, "float_adm");
}

// Tables are data: what holds for each of them.
TEST(Registry, TablesAreSound) {
  std::set<std::string> outputs;
  for (const Extractor *e : extractors()) {
    SCOPED_TRACE(e->name);
    EXPECT_TRUE(Options::parse(e->name, e->options, {}).ok()) << "defaults can be parsed";
    std::set<std::string> names, aliases;
    for (const OptionSpec &spec : e->options) {
      EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
      if (spec.alias[0]) {
        EXPECT_TRUE(aliases.insert(spec.alias).second) << spec.alias;
      }
      EXPECT_EQ(std::string(spec.help).back(), '.') << spec.name;
    }
    for (const OutputSpec &output : e->outputs) {
      EXPECT_TRUE(outputs.insert(output.name).second) << output.name;
      EXPECT_TRUE(!output.debug || names.count("debug")) << output.name;
      EXPECT_TRUE(!output.when[0] || names.count(output.when)) << output.name;
    }
    for (const OutputSpec &aggregate : e->aggregates) {
      EXPECT_TRUE(outputs.insert(aggregate.name).second) << aggregate.name;
      EXPECT_TRUE(!aggregate.when[0] || names.count(aggregate.when)) << aggregate.name;
      EXPECT_FALSE(aggregate.debug || aggregate.late) << aggregate.name;
    }
    EXPECT_GT(e->sums_bytes, 0u);
  }
}

std::string name_of(const char *output, const OptionTexts &texts) {
  const Extractor *e = find_provider(output);
  const auto options = Options::parse(e->name, e->options, texts);
  if (!options.ok()) return options.status().message();
  for (const OutputSpec &spec : e->outputs)
    if (spec.name == std::string_view(output)) return log_name(spec, *options);
  return "";
}

TEST(Registry, NamesAsInLogs) {
  EXPECT_EQ(name_of("VMAF_integer_feature_adm2_score", {}), "integer_adm2");
  EXPECT_EQ(name_of("VMAF_integer_feature_adm2_score", {{"debug", "true"}, {"adm_skip_aim", "true"}}),
            "integer_adm2");
  EXPECT_EQ(name_of("VMAF_integer_feature_adm3_score", {{"adm_csf_mode", "2"},
                                                        {"adm_dlm_weight", "0.7"},
                                                        {"adm_enhn_gain_limit", "1"},
                                                        {"adm_min_val", "0.5"},
                                                        {"adm_noise_weight", "0.02"},
                                                        {"adm_norm_view_dist", "1.5"},
                                                        {"adm_ref_display_height", "2160"}}),
            "integer_adm3_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02_nvd_1.5_rdh_2160");
  EXPECT_EQ(name_of("integer_adm_scale0", {{"adm_enhn_gain_limit", "1.0"}}), "integer_adm_scale0_egl_1");
  EXPECT_EQ(name_of("VMAF_integer_feature_motion3_score", {{"motion_five_frame_window", "true"},
                                                           {"motion_max_val", "18"},
                                                           {"motion_moving_average", "true"}}),
            "integer_motion3_mffw_mmxv_18_mma");
  EXPECT_EQ(name_of("VMAF_integer_feature_motion_sad_score", {}), "VMAF_integer_feature_motion_sad_score");
  EXPECT_EQ(name_of("VMAF_integer_feature_motion_sad_score", {{"motion_max_val", "18"}}),
            "VMAF_integer_feature_motion_sad_score_mmxv_18");
  EXPECT_EQ(name_of("VMAF_integer_feature_vif_scale2_score", {{"vif_skip_scale0", "true"}}),
            "integer_vif_scale2_ssclz");
}

// ---- Instruction set ------------------------------------------------------------------------------------

TEST(Registry, InstructionSetIsChosenByEnvironment) {
  ::setenv("VMAFHIP_ISA", "scalar", 1);
  EXPECT_STREQ(CpuBackend::choose()->isa(), "scalar");
  ::setenv("VMAFHIP_ISA", "mmx", 1);
  const auto unknown = CpuBackend::choose();
  ::unsetenv("VMAFHIP_ISA");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.status().message().find("VMAFHIP_ISA=mmx"), std::string::npos);
  EXPECT_NE(unknown.status().message().find("scalar"), std::string::npos);
  EXPECT_TRUE(CpuBackend::choose().ok());
}

}  // namespace
}  // namespace vmafhip
