// Layouts of result files, byte by byte.
#include "engine/results_layout.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/results.h"
#include "tests/comma_locale.h"
#include "tests/results_run.h"

namespace vmafhip::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---- Numbers ----------------------------------------------------------------------------------------------

std::string text_of(double value) {
  std::string text;
  append_value(text, value);
  return text;
}

TEST(ResultsNumber, SixDecimalsOrSixteen) {
  EXPECT_EQ(text_of(0), "0.000000");
  EXPECT_EQ(text_of(100), "100.000000");
  EXPECT_EQ(text_of(59.6051584), "59.605158");
  EXPECT_EQ(text_of(-3.25), "-3.250000");
  EXPECT_EQ(text_of(0.000001), "0.000001");
  EXPECT_EQ(text_of(0.0000004), "0.0000004000000000");
  EXPECT_EQ(text_of(-0.0000004), "-0.0000004000000000");
  EXPECT_EQ(text_of(93.0000001), "93.0000000999999941");
  EXPECT_EQ(text_of(1e15), "1000000000000000.000000");
  EXPECT_EQ(text_of(1e300).size(), 301u + 7);
  for (const double bad : {kInf, -kInf, kNan}) EXPECT_EQ(text_of(bad), "");
}

TEST(ResultsNumber, NoLocaleChangesThem) {
  test::CommaLocale comma;
  if (!comma.good()) GTEST_SKIP() << "no locale with a decimal comma is installed";
  EXPECT_EQ(text_of(59.6051584), "59.605158");
}

// ---- Layouts ----------------------------------------------------------------------------------------------

// Frames 0 and 2, as with subsample=2.
std::string whole(ResultsFormat format, const ResultsHeader &header = two_metrics(),
                  std::vector<std::vector<double>> frames = {{0.861145, 59.605158}, {0.862012, 61.5}},
                  const NamedValues &aggregates = {}) {
  const auto layout = make_layout(format);
  std::string text;
  layout->begin(text, header, false);
  std::vector<BasicPool> pools(header.metrics.size());
  for (size_t n = 0; n < frames.size(); ++n) {
    layout->frame(text, 2 * n, frames[n]);
    for (size_t i = 0; i < pools.size(); ++i) pools[i].add(frames[n][i]);
  }
  layout->end(text, pools, aggregates, {{"compared", 4}, {"scored", 2}});
  return text;
}

TEST(ResultsLayoutTest, Json) {
  EXPECT_EQ(whole(ResultsFormat::json), R"({
  "version": "3.2.0",
  "fps": null,
  "frames": [
    {
      "frameNum": 0,
      "metrics": {
        "integer_adm2": 0.861145,
        "vmaf": 59.605158
      }
    },
    {
      "frameNum": 2,
      "metrics": {
        "integer_adm2": 0.862012,
        "vmaf": 61.500000
      }
    }
  ],
  "pooled_metrics": {
    "integer_adm2": {
      "min": 0.861145,
      "max": 0.862012,
      "mean": 0.861579,
      "harmonic_mean": 0.861578
    },
    "vmaf": {
      "min": 59.605158,
      "max": 61.500000,
      "mean": 60.552579,
      "harmonic_mean": 60.537996
    }
  },
  "aggregate_metrics": {
  },
  "model_sources": {
    "vmaf": "fitted"
  },
  "counters": {
    "compared": 4,
    "scored": 2
  }
}
)");
}

TEST(ResultsLayoutTest, Xml) {
  EXPECT_EQ(whole(ResultsFormat::xml), R"(<VMAF version="3.2.0">
  <params qualityWidth="96" qualityHeight="72" />
  <fyi />
  <frames>
    <frame frameNum="0" integer_adm2="0.861145" vmaf="59.605158" />
    <frame frameNum="2" integer_adm2="0.862012" vmaf="61.500000" />
  </frames>
  <pooled_metrics>
    <metric name="integer_adm2" min="0.861145" max="0.862012" mean="0.861579" harmonic_mean="0.861578" />
    <metric name="vmaf" min="59.605158" max="61.500000" mean="60.552579" harmonic_mean="60.537996" />
  </pooled_metrics>
  <aggregate_metrics />
  <model_sources>
    <model name="vmaf" source="fitted" />
  </model_sources>
  <counters compared="4" scored="2" />
</VMAF>
)");
}

TEST(ResultsLayoutTest, Csv) {
  EXPECT_EQ(whole(ResultsFormat::csv),
            "Frame,integer_adm2,vmaf,\n0,0.861145,59.605158,\n2,0.862012,61.500000,\n");
}

TEST(ResultsLayoutTest, Sub) {
  EXPECT_EQ(whole(ResultsFormat::sub),
            "{0}{1}frame: 0|integer_adm2: 0.861145|vmaf: 59.605158|\n"
            "{2}{3}frame: 2|integer_adm2: 0.862012|vmaf: 61.500000|\n");
}

TEST(ResultsLayoutTest, WithoutFrames) {
  const auto json = nlohmann::json::parse(whole(ResultsFormat::json, two_metrics(), {}));
  EXPECT_TRUE(json["frames"].is_array() && json["frames"].empty());
  EXPECT_TRUE(json["pooled_metrics"].empty());
  EXPECT_EQ(whole(ResultsFormat::csv, two_metrics(), {}), "Frame,integer_adm2,vmaf,\n");
  EXPECT_EQ(whole(ResultsFormat::sub, two_metrics(), {}), "");
  EXPECT_NE(whole(ResultsFormat::xml, two_metrics(), {}).find("<pooled_metrics>\n  </pooled_metrics>"),
            std::string::npos);
}

TEST(ResultsLayoutTest, WhatIsNotFinite) {
  const std::vector<std::vector<double>> frames = {{kNan, 1}, {kInf, 2}};
  const auto json = nlohmann::json::parse(whole(ResultsFormat::json, two_metrics(), frames));
  EXPECT_TRUE(json["frames"][0]["metrics"]["integer_adm2"].is_null());
  EXPECT_TRUE(json["frames"][1]["metrics"]["integer_adm2"].is_null());
  EXPECT_TRUE(json["pooled_metrics"]["integer_adm2"]["mean"].is_null());
  EXPECT_EQ(json["pooled_metrics"]["vmaf"]["mean"], 1.5);
  EXPECT_EQ(whole(ResultsFormat::csv, two_metrics(), frames),
            "Frame,integer_adm2,vmaf,\n0,,1.000000,\n2,,2.000000,\n");
  EXPECT_EQ(whole(ResultsFormat::sub, two_metrics(), {frames[0]}), "{0}{1}frame: 0|vmaf: 1.000000|\n");
  EXPECT_NE(whole(ResultsFormat::xml, two_metrics(), frames).find("frameNum=\"0\" vmaf=\"1.000000\" />"),
            std::string::npos);
}

// In libvmaf's layout, but for those that have no value.
TEST(ResultsLayoutTest, Aggregates) {
  const std::vector<std::vector<double>> frames = {{1, 2}};
  const NamedValues aggregates = {{"apsnr_y", 27.208793}, {"apsnr_cb", kNan}, {"apsnr_cr", 87}};
  EXPECT_NE(
      whole(ResultsFormat::json, two_metrics(), frames, aggregates)
          .find("  },\n  \"aggregate_metrics\": {\n    \"apsnr_y\": 27.208793,\n    \"apsnr_cr\": 87.000000\n"
                "  },\n"),
      std::string::npos);
  EXPECT_NE(whole(ResultsFormat::xml, two_metrics(), frames, aggregates)
                .find("\n  <aggregate_metrics apsnr_y=\"27.208793\" apsnr_cr=\"87.000000\" />\n"),
            std::string::npos);
  const auto json =
      nlohmann::json::parse(whole(ResultsFormat::json, two_metrics(), frames, {{"a", kNan}, {"b", kInf}}));
  EXPECT_EQ(json["aggregate_metrics"].size(), 1u);
  EXPECT_TRUE(json["aggregate_metrics"]["b"].is_null());
}

TEST(ResultsLayoutTest, NamesThatNeedCare) {
  ResultsHeader header = two_metrics();
  header.metrics = {"a\"<&>,|b", "4k", "4k+", "frameNum", "\xff\xc3\xa4\n"};
  header.model_sources = {{"4k", "file q\"<&>\\\xc3\xa4\x01\xff.json"}};
  const std::vector<std::vector<double>> frames = {{1, 2, 3, 4, 5}};
  const auto json = nlohmann::json::parse(whole(ResultsFormat::json, header, frames));
  EXPECT_EQ(json["frames"][0]["metrics"]["a\"<&>,|b"], 1);
  EXPECT_EQ(json["frames"][0]["metrics"].size(), 5u);
  EXPECT_EQ(json["model_sources"]["4k"], "file q\"<&>\\\xc3\xa4\x01\xef\xbf\xbd.json");
  const std::string xml = whole(ResultsFormat::xml, header, frames);
  EXPECT_NE(xml.find("frameNum=\"0\" a______b=\"1.000000\" _4k=\"2.000000\" _4k_=\"3.000000\" frameNum_="),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<metric name=\"a&quot;&lt;&amp;&gt;,|b\" "), std::string::npos) << xml;
  EXPECT_NE(xml.find("source=\"file q&quot;&lt;&amp;&gt;\\\xc3\xa4 \xef\xbf\xbd.json\""), std::string::npos)
      << xml;
  EXPECT_EQ(whole(ResultsFormat::csv, header, frames).find("Frame,\"a\"\"<&>,|b\",4k,4k+,frameNum,\""), 0u);
  EXPECT_EQ(whole(ResultsFormat::sub, header, frames).find("{0}{1}frame: 0|a\"<&>,_b: 1.000000|4k: 2"), 0u);
}

TEST(ResultsFormatOf, TheExtension) {
  for (const auto &[path, format] :
       std::vector<std::pair<const char *, ResultsFormat>>{{"a.json", ResultsFormat::json},
                                                           {"/b.d/a.xml", ResultsFormat::xml},
                                                           {"x.json.CSV", ResultsFormat::csv},
                                                           {".sub", ResultsFormat::sub}}) {
    const auto result = results_format_of(path);
    ASSERT_TRUE(result.ok()) << path;
    EXPECT_EQ(*result, format) << path;
  }
  for (const char *path : {"", "json", "a.txt", "a.json/b", "a.json."}) {
    const auto result = results_format_of(path);
    ASSERT_FALSE(result.ok()) << path;
    EXPECT_NE(result.status().message().find(".json, .xml, .csv, .sub"), std::string::npos);
  }
}

}  // namespace
}  // namespace vmafhip::test
