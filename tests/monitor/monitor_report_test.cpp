// What the report says; report_test.py looks at how it is built.
#include <gtest/gtest.h>

#include <limits>

#include "examples/monitor/markup.h"
#include "examples/monitor/report.h"
#include "examples/monitor/score_plot.h"
#include "tests/comma_locale.h"
#include "tests/monitor/sample_records.h"

namespace {

using namespace monitor;

std::string report_of(const SampleRecords &samples) {
  return report_html(samples.const_pointers(), samples.settings);
}

size_t occurrences(const std::string &text, const std::string &what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(ReportTest, HasWhatIsKnown) {
  const std::string html = report_of(SampleRecords());
  for (const char *text :
       {"vmafhip-monitor " VMAFHIP_VERSION,
        "GStreamer 1.",
        "news / 720p",
        "news / 360p",
        "rtsp://edge.example/news/720p",
        "x264enc bitrate=400",
        "Reference rtsp://source.example/news, 1280x720 I420 25/1",
        "Computed by cpu (no GPU was found), model vmaf_v0.6.1, fitted (by the built-in surface",
        "offset 0.480 s, confidence 97 %",
        ">93.500<",
        ">0.98000<",
        ">88.250<",
        "locked, offset 0.480 s",
        "<b>41.50</b>",
        ", 0:00:00.040 in the stream",
        "difference ×16</h3>",
        "alt=\"difference ×16\"",
        "alert below 80<",
        "clear at 85<",
        "No frame has been scored",
        "below 80 for 2 s, cleared at 85",
        ">scoring<",
        ">connecting<",
        "Pooled scores and features of the present run",
        "Worst frames of the last six hours",
        "Summary: scores of the last six hours, counts since the start",
        ">vmaf_v0.6.1<"}) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  }
  EXPECT_LT(html.find(">93.500<"), html.find(">0.98000<")) << "what the score is comes first";
  EXPECT_EQ(occurrences(html, "data:image/png;base64,iVBORw0KGgo"), 8u)
      << "three frames, one without a difference";
  EXPECT_EQ(occurrences(html, "no picture"), 1u);
  EXPECT_EQ(occurrences(html, "<svg"), 1u) << "one of the two has scores";
  EXPECT_EQ(html.find("The alert is raised"), std::string::npos);
}

TEST(ReportTest, HasNoPasswords) {
  SampleRecords samples;
  ChannelSettings &channel = samples.settings.channels[0];
  channel.reference = "rtsp://user:geheim@source.example/news?geheim";
  channel.renditions[0].uri = "srt://edge.example:1?passphrase=geheim";
  channel.renditions[1].encode = "x264enc ! srtsink passphrase=geheim";
  channel.renditions[1].changes = {{30, "e.passphrase", "sehr geheim"}, {31, "bitrate", "300"}};
  const std::string html = report_of(samples);
  EXPECT_EQ(html.find("geheim"), std::string::npos);
  EXPECT_NE(html.find("after 31 s bitrate=300"), std::string::npos);
}

TEST(ReportTest, SaysThatTheAlertIsRaised) {
  SampleRecords samples;
  samples[1].now().alert = true;
  EXPECT_EQ(occurrences(report_of(samples), "The alert is raised"), 1u);
}

TEST(ReportTest, SaysWhatIsSlowerThanItsStream) {
  SampleRecords samples;
  EXPECT_EQ(occurrences(report_of(samples), "lower than the stream"), 0u);
  samples[0].now().fps = 5.44;
  samples[0].now().stream_fps = 30;
  samples[0].now().slow = true;
  const std::string html = report_of(samples);
  EXPECT_NE(html.find(">scoring, slower than the stream<"), std::string::npos);
  EXPECT_NE(html.find("<p class=\"slow\">Slower than the stream: 5.4 of 30 frames/s are scored"),
            std::string::npos);
}

TEST(ReportTest, AModelsFileIsNamedAsSuch) {
  SampleRecords samples;
  samples.settings.channels[0].model = "path=/models/mine.json";
  samples[0].now().model_source = "file";
  EXPECT_NE(report_of(samples).find("model path=/models/mine.json, from its file"), std::string::npos);
  samples[0].now().model_source.clear();
  EXPECT_EQ(report_of(samples).find("model path="), std::string::npos)
      << "none was asked for, or none is known";
}

TEST(ReportTest, SaysHowItStandsInThePagesWords) {
  SampleRecords samples;
  for (const State state : {State::lost, State::repeating, State::ended, State::failed}) {
    samples[0].now().state = state;
    EXPECT_NE(report_of(samples).find(std::string(">") + state_text(state) + "<"), std::string::npos);
  }
  samples[0].now().alert = true;
  EXPECT_NE(report_of(samples).find(">alert, failed<"), std::string::npos);
}

TEST(ReportTest, AMeasureHasItsDecimalsWhateverItsValue) {
  const std::string html = report_of(SampleRecords());
  for (const char *value : {">1.853<", ">0.000<", ">2.220<"}) {
    EXPECT_NE(html.find(value), std::string::npos) << value;
  }
}

TEST(ReportTest, HigherMayBeWorse) {
  SampleRecords samples;
  samples.settings.channels[0].alert_above = true;
  samples.settings.channels[0].alert_threshold = 6;
  samples.settings.channels[0].alert_clear = 4;
  samples.records[0] = std::make_unique<Record>("news", "720p", "", "", true);
  for (int n = 0; n < 60; ++n)
    samples[0].score(SampleRecords::kEnd + n * 500'000, n == 20 ? 8.75 : 2 + n % 2);
  const std::string html = report_of(samples);
  for (const char *text :
       {">alert above 6<", ">clear at 4<", "above 6 for 2 s, cleared at 4", ">8.75<", "worst 8.8 at "}) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  }
  // The zone is the upper part of an axis from 0 to 10: 180 pixels, of which 4 tenths.
  EXPECT_NE(html.find("class=\"zone\" x=\"40\" y=\"34.0\" width=\"950\" height=\"72.0\""), std::string::npos);
}

TEST(ReportTest, SixHoursTakeNoMoreRoomThanTheScreenShows) {
  SampleRecords samples;
  const size_t before = report_of(samples).size();
  for (size_t n = 0; n < Record::kSeconds; ++n) {
    samples[1].score(SampleRecords::kEnd + Time(n) * 1'000'000, n % 100 == 7 ? 3 : 90);
  }
  EXPECT_LT(report_of(samples).size() - before, 60'000u);
}

TEST(ReportTest, ValuesThatAreNotFinite) {
  SampleRecords samples;
  samples[0].now().pooled["vmaf"].mean = std::numeric_limits<double>::quiet_NaN();
  samples[0].now().pooled["vmaf"].max = std::numeric_limits<double>::infinity();
  samples[0].now().pooled["vmaf"].stddev = std::numeric_limits<double>::max();
  const std::string html = report_of(samples);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_EQ(html.find("inf"), std::string::npos);
}

TEST(ReportTest, NumbersHavePointsInEveryLocale) {
  const SampleRecords samples;
  const vmafhip::test::CommaLocale locale;
  if (!locale.good()) GTEST_SKIP() << "no locale with a decimal comma could be made";
  const std::string html = report_of(samples);
  EXPECT_NE(html.find("<b>41.50</b>"), std::string::npos);
  EXPECT_EQ(html.find("41,50"), std::string::npos);
}

TEST(ScorePlotTest, AHoleIsNotBridged) {
  Record record("channel", "rendition", "", "");
  for (int second = 0; second < 60; ++second) {
    if (second < 20 || second >= 40) record.score(SampleRecords::kEnd + second * 1'000'000, 90);
  }
  const std::string svg = score_plot(record, std::nullopt, std::nullopt);
  EXPECT_EQ(occurrences(svg, "<polyline"), 2u);
  EXPECT_EQ(occurrences(svg, "class=\"zone\""), 0u) << "no alert was asked for";
}

TEST(ScorePlotTest, ATimeStandsOnce) {
  for (const int seconds : {2, 7, 60, 21600}) {
    Record record("channel", "rendition", "", "");
    for (int second = 0; second < seconds; ++second)
      record.score(SampleRecords::kEnd + second * 1'000'000, 90);
    const std::string svg = score_plot(record, std::nullopt, std::nullopt);
    size_t labels = 0;
    for (int second = 0; second <= seconds; ++second) {
      const std::string label = ">" + wall_time(SampleRecords::kEnd + second * 1'000'000, true) + "</text>";
      EXPECT_LE(occurrences(svg, label), 1u) << label << " of " << seconds;
      labels += occurrences(svg, label);
    }
    EXPECT_GE(labels, 2u) << seconds;
    EXPECT_LE(labels, 6u) << seconds;
  }
}

TEST(ScorePlotTest, OneSecondAndScoresBeyondAHundred) {
  Record record("channel", "rendition", "", "");
  EXPECT_EQ(score_plot(record, 80, 85), "");
  record.score(SampleRecords::kEnd, 114.5);
  const std::string svg = score_plot(record, std::nullopt, std::nullopt);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_NE(svg.find(">120</text>"), std::string::npos);
}

TEST(ScorePlotTest, AScoreBetweenZeroAndOneHasSuchAnAxis) {
  Record record("channel", "rendition", "", "");
  record.now().score_name = "float_ssim";
  for (int second = 0; second < 5; ++second) record.score(SampleRecords::kEnd + second * 1'000'000, 0.93);
  const std::string svg = score_plot(record, 0.9, 0.95);
  for (const char *text : {">1.00</text>", ">0.80</text>", ">alert below 0.9<", "worst 0.930 at "}) {
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(svg.find(">100"), std::string::npos);
}

TEST(MarkupTest, Texts) {
  EXPECT_EQ(plain(80), "80");
  EXPECT_EQ(plain(0.95), "0.95");
  EXPECT_EQ(decimals_of("vmaf_v0.6.1"), 2);
  for (const char *name : {"integer_vif_scale0", "integer_adm2", "integer_aim", "float_ms_ssim"}) {
    EXPECT_EQ(decimals_of(name), 4) << name;
  }
  EXPECT_EQ(escaped("<a href=\"x\" b='y'>&amp;\xff"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;\xef\xbf\xbd");
  EXPECT_EQ(stream_time(3'723'480'999'999), "1:02:03.480");
  EXPECT_EQ(stream_time(UINT64_MAX), "–");
  EXPECT_EQ(decimal(-0.125, 2), "-0.12");
  EXPECT_EQ(decimal(std::nullopt, 2), "–");
}

}  // namespace
