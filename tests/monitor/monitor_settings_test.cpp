// Command line and configuration file: what they fill in, and the one line that each mistake gives.
#include <gst/gst.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "examples/monitor/settings.h"
#include "tests/scratch_folder.h"

namespace {

using namespace monitor;

class SettingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char *name : {"ref.mp4", "dist.mp4", "other.mp4"}) write(name, "");
  }

  std::string path(const std::string &name) const { return scratch_.path(name); }
  void write(const std::string &name, const std::string &text) { std::ofstream(path(name)) << text; }

  // The error; what was read is in `settings`.
  std::string read(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "vmafhip-monitor");
    std::vector<char *> pointers;
    for (std::string &argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);  // as behind main()'s
    settings = Settings();
    return read_settings(int(arguments.size()), pointers.data(), settings);
  }
  std::string read_config(const std::string &text, std::vector<std::string> further = {}) {
    write("config", text);
    further.insert(further.begin(), {"--config", path("config")});
    return read(further);
  }
  std::vector<std::string> with(std::vector<std::string> further) const {
    further.insert(further.begin(), {"--ref", path("ref.mp4"), "--dist", path("dist.mp4")});
    return further;
  }

  Settings settings;
  vmafhip::test::ScratchFolder scratch_;
};

TEST_F(SettingsTest, ACommandLineMakesOneChannel) {
  ASSERT_EQ(read(with({"--dist",
                       path("other.mp4"),
                       "--name",
                       "720p",
                       "--name",
                       "480p",
                       "--channel",
                       "news",
                       "--model",
                       "vmaf_v0.6.1neg",
                       "--features",
                       "psnr",
                       "--backend",
                       "cpu",
                       "--sync",
                       "timestamp",
                       "--window",
                       "5",
                       "--alert-threshold",
                       "70",
                       "--alert-clear",
                       "75",
                       "--alert-duration",
                       "0.5",
                       "--stall",
                       "3",
                       "--realtime",
                       "--loop",
                       "--listen",
                       "127.0.0.1:0",
                       "--set",
                       "subsample=5;threads=1",
                       "--set",
                       "device=0"})),
            "");
  ASSERT_EQ(settings.channels.size(), 1u);
  const ChannelSettings &channel = settings.channels[0];
  EXPECT_EQ(channel.name, "news");
  EXPECT_EQ(channel.reference, "file://" + path("ref.mp4"));
  ASSERT_EQ(channel.renditions.size(), 2u);
  EXPECT_EQ(channel.renditions[0].name, "720p");
  EXPECT_EQ(channel.renditions[0].uri, "file://" + path("dist.mp4"));
  EXPECT_EQ(channel.renditions[1].name, "480p");
  EXPECT_EQ(channel.model, "vmaf_v0.6.1neg");
  EXPECT_EQ(channel.features, "psnr");
  EXPECT_EQ(channel.backend, "cpu");
  EXPECT_EQ(channel.sync, "timestamp");
  EXPECT_TRUE(channel.sync_given);
  EXPECT_EQ(channel.window_seconds, 5);
  EXPECT_EQ(channel.alert_threshold, 70);
  EXPECT_EQ(channel.alert_clear, 75);
  EXPECT_EQ(channel.alert_seconds, 0.5);
  EXPECT_EQ(channel.stall_seconds, 3);
  EXPECT_TRUE(channel.realtime);
  EXPECT_TRUE(channel.loop);
  EXPECT_EQ(settings.listen, "127.0.0.1:0");
  const std::vector<std::pair<std::string, std::string>> properties = {
      {"subsample", "5"}, {"threads", "1"}, {"device", "0"}};
  EXPECT_EQ(channel.properties, properties);
}

TEST_F(SettingsTest, WhatIsNotGivenHasDefaults) {
  ASSERT_EQ(read(with({})), "");
  const ChannelSettings &channel = settings.channels.at(0);
  EXPECT_EQ(settings.listen, "127.0.0.1:8080");
  EXPECT_FALSE(settings.once);
  EXPECT_EQ(channel.model, "vmaf_v0.6.1");
  EXPECT_EQ(channel.sync, "content");
  EXPECT_FALSE(channel.sync_given);
  EXPECT_EQ(channel.stall_seconds, 10);
  EXPECT_FALSE(channel.alert_threshold);
  EXPECT_FALSE(channel.alert_above);
  EXPECT_FALSE(channel.loop);
}

TEST_F(SettingsTest, AlertsOfMeasuresOfErrors) {
  const std::vector<std::string> above = {"--alert-direction", "above", "--alert-threshold", "3",
                                          "--alert-clear"};
  auto arguments = above;
  arguments.push_back("2");
  ASSERT_EQ(read(with(arguments)), "");
  EXPECT_TRUE(settings.channels[0].alert_above);
  arguments.back() = "4";
  EXPECT_NE(read(with(arguments)).find("--alert-clear lies above --alert-threshold"), std::string::npos);
  arguments[1] = "below";
  EXPECT_EQ(read(with(arguments)), "");
}

TEST_F(SettingsTest, ASessionDescriptionIsNoVideoFile) {
  write("other.sdp", "");
  EXPECT_EQ(read(with({"--dist", path("other.sdp"), "--dist", "file://" + path("other.sdp")})), "");
  for (const int rendition : {1, 2})
    EXPECT_EQ(settings.channels[0].renditions[rendition].uri, "sdp://" + path("other.sdp"));
  EXPECT_FALSE(is_plain_file(settings.channels[0].renditions[1].uri)) << "it has no end";
}

TEST_F(SettingsTest, PlainFilesHaveAnEnd) {
  EXPECT_TRUE(is_plain_file("file://" + path("ref.mp4")));
  EXPECT_FALSE(is_plain_file("file://" + scratch_.path()));
  EXPECT_FALSE(is_plain_file("file:///dev/null"));
  EXPECT_FALSE(is_plain_file("file://" + path("nothing")));
  EXPECT_FALSE(is_plain_file("http://host/ref.mp4"));
  EXPECT_FALSE(is_plain_file(""));
}

TEST_F(SettingsTest, NamesComeFromSources) {
  ASSERT_EQ(
      read(with({"--dist", path("dist.mp4"), "--dist", "rtsp://user:secret@host:554/live/feed.sdp?token=1",
                 "--dist", "rtsp://user:secret@host", "--encode", "videoscale ! x264enc bitrate=800"})),
      "");
  EXPECT_EQ(settings.channels[0].name, "ref");
  std::vector<std::string> names;
  for (const RenditionSettings &r : settings.channels[0].renditions) names.push_back(r.name);
  EXPECT_EQ(names, (std::vector<std::string>{"dist", "dist-2", "feed", "host", "x264enc"}));
}

// Names are shown, and are labels of metrics.
TEST_F(SettingsTest, NamesHaveNoPasswords) {
  ASSERT_EQ(read({"--ref", "rtsp://admin:SECRET#x@127.0.0.1:1/s", "--dist", "rtsp://admin:SECRET?x@h/t",
                  "--dist", "rtsp://u:pa/SECRET@h:554"}),
            "");
  EXPECT_EQ(settings.channels[0].name, "s");
  EXPECT_EQ(settings.channels[0].renditions[0].name, "t");
  EXPECT_EQ(settings.channels[0].renditions[1].name, "h:554");
}

TEST_F(SettingsTest, NamesFromFilesAreMadeUsable) {
  std::string japanese;
  for (int i = 0; i < 40; ++i) japanese += "\u65e5";
  for (const std::string &name : {"a" + japanese + ".mkv", std::string("a\nb.mkv")}) write(name, "");
  ASSERT_EQ(read(with({"--dist", path("a" + japanese + ".mkv"), "--dist", path("a\nb.mkv")})), "");
  EXPECT_EQ(settings.channels[0].renditions[1].name, "a" + japanese.substr(0, 29 * 3))
      << "cut between characters";
  EXPECT_EQ(settings.channels[0].renditions[2].name, "a b");
}

TEST_F(SettingsTest, ChangesBelongToTheEncoderBeforeThem) {
  ASSERT_EQ(read({"--ref", path("ref.mp4"), "--encode", "x264enc", "--change", "30 bitrate=300", "--change",
                  "10.5 x.speed-preset=fast;20 pass=quant", "--encode", "vp8enc"}),
            "");
  const auto &changes = settings.channels[0].renditions[0].changes;
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].seconds, 10.5);  // in their order
  EXPECT_EQ(changes[0].property, "x.speed-preset");
  EXPECT_EQ(changes[0].value, "fast");
  EXPECT_EQ(changes[2].seconds, 30);
  EXPECT_TRUE(settings.channels[0].renditions[1].changes.empty());
}

TEST_F(SettingsTest, AFileHasSeveralChannels) {
  ASSERT_EQ(
      read_config("[monitor]\nlisten=127.0.0.1:9000\nmodel=vmaf_v0.6.1neg\nonce=true\n"
                  "[rendition sport/low]\nencode=x264enc bitrate=100\nchange=1 bitrate=50;2 bitrate=60\n"
                  "[channel news]\nref=" +
                  path("ref.mp4") +
                  "\nalert-threshold=80\n"
                  "[rendition news/a/b]\ndist=" +
                  path("dist.mp4") +
                  "\n"
                  "[channel sport]\nref=" +
                  path("ref.mp4") +
                  "\nmodel=vmaf_4k_v0.6.1\n"
                  "[rendition sport/high]\ndist=" +
                  path("other.mp4") + "\n"),
      "");
  EXPECT_EQ(settings.listen, "127.0.0.1:9000");
  EXPECT_TRUE(settings.once);
  ASSERT_EQ(settings.channels.size(), 2u);
  EXPECT_EQ(settings.channels[0].name, "news");
  EXPECT_EQ(settings.channels[0].model, "vmaf_v0.6.1neg");
  EXPECT_EQ(settings.channels[0].alert_threshold, 80);
  EXPECT_EQ(settings.channels[0].renditions.at(0).name, "a/b");
  EXPECT_EQ(settings.channels[1].model, "vmaf_4k_v0.6.1");
  EXPECT_FALSE(settings.channels[1].alert_threshold);
  ASSERT_EQ(settings.channels[1].renditions.size(), 2u);
  EXPECT_EQ(settings.channels[1].renditions[0].changes.size(), 2u);
}

TEST_F(SettingsTest, TheCommandLineOutranksTheFile) {
  const std::string text = "[monitor]\nlisten=127.0.0.1:9000\n[channel a]\nref=" + path("ref.mp4") +
                           "\n[rendition a/b]\ndist=" + path("dist.mp4") + "\n";
  ASSERT_EQ(read_config(text, {"--listen", "127.0.0.1:0", "--once"}), "");
  EXPECT_EQ(settings.listen, "127.0.0.1:0");
  EXPECT_TRUE(settings.once);
  ASSERT_EQ(read_config(text, {"--listen", "127.0.0.1:8080"}), "");
  EXPECT_EQ(settings.listen, "127.0.0.1:8080") << "the default, but given";
  EXPECT_NE(read_config(text, {"--model", "x"}).find("With --config"), std::string::npos);
}

TEST_F(SettingsTest, FilesAreTextInUtf8) {
  const std::string text =
      "[channel a]\nref=" + path("ref.mp4") + "\n[rendition a/b]\ndist=" + path("dist.mp4") + "\n";
  ASSERT_EQ(read_config("\xef\xbb\xbf" + text), "");
  EXPECT_EQ(settings.channels.at(0).name, "a");
  std::string wide;
  for (char c : text) wide += {c, '\0'};
  for (const std::string &other : {"\xff\xfe" + wide, wide, "#\xe4\n" + text, text + '\0'})
    EXPECT_EQ(read_config(other), path("config") + ": is no text in UTF-8: save it as such");
  EXPECT_EQ(read({"--config", "/dev/zero"}), "/dev/zero: is no regular file");
}

// Each mistake, and what its line must name.
TEST_F(SettingsTest, MistakesOnTheCommandLine) {
  const std::vector<std::pair<std::vector<std::string>, const char *>> mistakes = {
      {{}, "--ref"},
      {{"--ref", path("ref.mp4")}, "--dist or --encode"},
      {{"--dist", path("dist.mp4")}, "reference is missing"},
      {{"--ref", path("nothing.mp4"), "--dist", path("dist.mp4")}, "no file"},
      {{"--ref", scratch_.path(), "--dist", path("dist.mp4")}, "is a folder"},
      {{"--ref", "gopher://host/x", "--dist", path("dist.mp4")}, "gopher"},
      {with({"--name", "a", "--name", "b"}), "more names"},
      {with({"--dist", path("other.mp4"), "--name", "a", "--name", "a"}), "two renditions named \"a\""},
      {with({"--name", ""}), "A name is"},
      {with({"--name", "a\nb"}), "A name is"},
      {with({"--window", "0"}), "--window"},
      {with({"--stall", "ten"}), "\"ten\" is not a number"},
      {with({"--alert-threshold", "nan"}), "not a number"},
      {with({"--backend", "gpu"}), "auto cpu hip"},
      {with({"--sync", "clock"}), "content timestamp order"},
      {with({"--set", "subsample"}), "PROPERTY=VALUE"},
      {with({"--set", "window=3"}), "--set: instead of window use --window"},
      {with({"--set", "results-filename=x"}), "use --results"},
      {with({"--alert-direction", "left"}), "below above"},
      {with({"--change", "1 bitrate=3"}), "--encode"},
      {{"--ref", path("ref.mp4"), "--encode", "x264enc", "--change", "bitrate=3"}, "SECONDS PROPERTY=VALUE"},
      {with({"--alert-clear", "60"}), "needs --alert-threshold"},
      {with({"--alert-threshold", "70", "--alert-clear", "60"}), "below --alert-threshold"},
      {with({"--results", path("scores.txt")}), ".csv"},
      {with({"--results", path("nothing/scores.csv")}), "no folder"},
      {with({"--dist", path("other.mp4"), "--results", path("scores.csv")}), "%r"},
      {with({"--report", path("nothing/report.html")}), "no folder"},
      {with({"--report", "/dev/null"}), "no plain file"},
      {with({"--report", scratch_.path()}), "no plain file"},
      {with({"--report", path("dist.mp4")}), "dist.mp4 does not end in .html"},
      {{"--ref", path("ref.mp4"), "--dist", ""}, "empty"},
      {{"--ref", path("ref.mp4"), "--encode", ""}, "empty"},
      {{"--ref", "", "--dist", path("dist.mp4")}, "reference is missing"},
      {with({"--once", "--loop"}), "--once and --loop contradict each other"},
      {with({"stray"}), "stray"},
      {with({"--colour"}), "--colour"},
      {{"--config", path("nothing")}, "nothing: there is no such file"},
  };
  for (const auto &[arguments, word] : mistakes) {
    const std::string error = read(arguments);
    EXPECT_NE(error.find(word), std::string::npos) << "wanted " << word << ", got: " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST_F(SettingsTest, AReportGoesWhereALinkPoints) {
  write("report.html", "");
  ASSERT_EQ(symlink("report.html", path("link.html").c_str()), 0);
  EXPECT_EQ(read(with({"--report", path("link.html")})), "");
  EXPECT_EQ(settings.report, path("report.html"));
}

TEST_F(SettingsTest, MistakesInTheFile) {
  const std::string channel = "[channel a]\nref=" + path("ref.mp4") + "\n";
  const std::vector<std::pair<std::string, const char *>> mistakes = {
      {"", "no [channel NAME]"},
      {"no group", "config"},
      {channel, "[channel a]: nothing to compare with the reference: there is no [rendition a/NAME]"},
      {"[channel a]\n[rendition a/b]\ndist=" + path("dist.mp4"), "[channel a]: a reference is missing (ref)"},
      {channel + "alert-clear=3\n[rendition a/b]\ndist=" + path("dist.mp4"),
       "[channel a]: alert-clear needs alert-threshold"},
      {channel + "refernce=x\n", "no such key here; keys are ref model"},
      {"[monitor]\nref=x\n", "[monitor] ref"},
      {"[monitor]\nonce=true\n" + channel + "loop=true\n[rendition a/b]\ndist=" + path("dist.mp4") + "\n",
       "config: once and loop contradict each other"},
      {channel + "window=long\n", "[channel a] window: \"long\""},
      {channel + "[rendition a/b]\n", "either dist or encode"},
      {channel + "[rendition a/b]\ndist=" + path("dist.mp4") + "\nencode=x264enc\n", "either dist or encode"},
      {channel + "[rendition b/c]\ndist=x\n", "no [channel b]"},
      {channel + "[rendition b]\ndist=x\n", "[rendition CHANNEL/NAME]"},
      {channel + "[chanel b]\n", "groups are"},
      {channel + "[rendition a/b]\ndist=" + path("nothing.mp4") + "\n", "no file"},
  };
  for (const auto &[text, word] : mistakes) {
    const std::string error = read_config(text);
    EXPECT_NE(error.find(word), std::string::npos) << "wanted " << word << ", got: " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST_F(SettingsTest, ResultFilesAreNamedAfterChannelAndRendition) {
  ChannelSettings channel;
  channel.name = "news/1";
  channel.results = "scores-%c-%r-100%%.csv";
  EXPECT_EQ(results_name(channel, "../7 20p"), "scores-news_1-.._7_20p-100%.csv");
}

}  // namespace
