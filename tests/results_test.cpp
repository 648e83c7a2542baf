// Layouts of result files, byte by byte, and what becomes of files, FIFOs and readers.
#include "engine/results.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/comma_locale.h"

namespace vmafhip {
namespace {

using std::chrono::milliseconds;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr milliseconds kShort{1}, kLong{60'000};
const auto kNever = [] { return false; };

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

ResultsHeader two_metrics() {
  ResultsHeader header;
  header.version = "3.2.0";
  header.metrics = {"integer_adm2", "vmaf"};
  header.model_sources = {{"vmaf", "fitted"}};
  header.width = 96;
  header.height = 72;
  return header;
}

// Frames 0 and 2, as with subsample=2.
std::string whole(ResultsFormat format, const ResultsHeader &header = two_metrics(),
                  std::vector<std::vector<double>> frames = {{0.861145, 59.605158}, {0.862012, 61.5}}) {
  const auto layout = make_layout(format);
  std::string text;
  layout->begin(text, header, false);
  std::vector<BasicPool> pools(header.metrics.size());
  for (size_t n = 0; n < frames.size(); ++n) {
    layout->frame(text, 2 * n, frames[n]);
    for (size_t i = 0; i < pools.size(); ++i) pools[i].add(frames[n][i]);
  }
  layout->end(text, pools, {{"compared", 4}, {"scored", 2}});
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

// ---- Files ------------------------------------------------------------------------------------------------

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ResultsFileTest : public testing::Test {
 protected:
  ResultsFileTest() {
    char name[] = "results_test.XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~ResultsFileTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string &name) const { return folder_ + "/" + name; }
  std::string fifo() const {
    EXPECT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    return path("fifo");
  }
  ResultsFile::Options options(const std::string &path, ResultsFormat format) {
    ResultsFile::Options o;
    o.path = path;
    o.format = format;
    o.header = two_metrics();
    o.on_change = [this] { ++changes_; };
    return o;
  }
  std::unique_ptr<ResultsFile> create(const ResultsFile::Options &options) {
    auto file = ResultsFile::create(options);
    if (!file.ok()) throw std::runtime_error(file.status().message());
    return std::move(*file);
  }
  static void add(ResultsFile &file, uint64_t number, bool may_wait = true) {
    const double feature[] = {0.5}, model[] = {double(number)};
    file.frame(number, feature, model, may_wait);
  }
  static std::string failure(ResultsFile &file) {
    const auto status = file.take_failure();
    return status ? status->message() : "";
  }

  std::string folder_;
  std::atomic<int> changes_{0};
};

TEST_F(ResultsFileTest, RateIsFilledIn) {
  for (const auto format : {ResultsFormat::json, ResultsFormat::xml}) {
    const std::string name = path("rate");
    const auto file = create(options(name, format));
    add(*file, 0);
    std::this_thread::sleep_for(milliseconds(2));  // a rate needs some time to be one
    add(*file, 1);
    file->finish({}, kLong, kNever);
    EXPECT_EQ(failure(*file), "");
    const std::string text = contents(name);
    if (format == ResultsFormat::json) {
      const auto json = nlohmann::json::parse(text);
      EXPECT_GT(json["fps"].get<double>(), 0);
      EXPECT_LE(json["fps"].get<double>(), 1000);
    } else {
      EXPECT_NE(text.find("  <fyi fps=\""), std::string::npos) << text;
    }
  }
}

TEST_F(ResultsFileTest, GoesOnAfterItsEnd) {
  const std::string name = path("a.json");
  const auto file = create(options(name, ResultsFormat::json));
  for (uint64_t n = 0; n < 6; ++n) {
    add(*file, n);
    file->finish({{"scored", n + 1}}, kLong, kNever);
    const auto json = nlohmann::json::parse(contents(name));  // complete each time
    EXPECT_EQ(json["frames"].size(), n + 1);
    EXPECT_EQ(json["frames"][n]["frameNum"], n);
    EXPECT_EQ(json["pooled_metrics"]["vmaf"]["mean"], double(n) / 2);  // over all
    EXPECT_EQ(json["counters"]["scored"], n + 1);
    file->finish({}, kLong, kNever);  // nothing new
    EXPECT_EQ(nlohmann::json::parse(contents(name)), json);
  }
}

TEST_F(ResultsFileTest, DestroyedBeforeItsEnd) {
  const std::string name = path("a.json");
  auto file = create(options(name, ResultsFormat::json));
  for (uint64_t n = 0; n < 1000; ++n) add(*file, n);
  file.reset();
  EXPECT_EQ(nlohmann::json::parse(contents(name))["frames"].size(), 1000u);
  file = create(options(name, ResultsFormat::json));  // begins anew
  file.reset();
  EXPECT_EQ(nlohmann::json::parse(contents(name))["frames"].size(), 0u);
}

TEST_F(ResultsFileTest, LinesAreWrittenAtOnce) {
  const std::string name = path("a.csv");
  const auto file = create(options(name, ResultsFormat::csv));
  for (uint64_t n = 0; n < 3; ++n) {
    add(*file, n);
    const std::string end = std::to_string(n) + ",0.500000," + std::to_string(n) + ".000000,\n";
    while (!contents(name).ends_with(end)) std::this_thread::yield();  // hangs if it waits for the next frame
  }
}

TEST_F(ResultsFileTest, WhatCannotBeOpened) {
  for (const auto &[name, why] : std::vector<std::pair<std::string, std::string>>{
           {path("missing/a.csv"), "No such file"}, {folder_, "directory"}, {"", "No such file"}}) {
    const auto file = ResultsFile::create(options(name, ResultsFormat::csv));
    ASSERT_FALSE(file.ok()) << name;
    EXPECT_NE(file.status().message().find('"' + name + '"'), std::string::npos) << file.status().message();
    EXPECT_NE(file.status().message().find(why), std::string::npos) << file.status().message();
  }
}

TEST_F(ResultsFileTest, FullDisk) {
  const auto file = create(options("/dev/full", ResultsFormat::csv));
  add(*file, 0);
  file->finish({}, kLong, kNever);
  EXPECT_EQ(failure(*file), "writing \"/dev/full\": No space left on device");
  while (changes_ == 0) std::this_thread::yield();       // somebody is told
  for (uint64_t n = 1; n < 100'000; ++n) add(*file, n);  // goes nowhere, takes no room
  EXPECT_FALSE(file->full());
  EXPECT_EQ(failure(*file), "");  // said once
}

// ---- FIFOs ------------------------------------------------------------------------------------------------

// Reads all of a FIFO, like `cat`.
std::string read_all(int fd) {
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(fd, part, sizeof part)) > 0;) text.append(part, size_t(n));
  close(fd);
  return text;
}

TEST_F(ResultsFileTest, FifoWhoseReaderIsThere) {
  const std::string name = fifo();
  std::string text;
  std::thread reader([&] { text = read_all(open(name.c_str(), O_RDONLY)); });
  const auto file = create(options(name, ResultsFormat::json));
  for (uint64_t n = 0; n < 5000; ++n) add(*file, n);
  file->finish({}, kLong, kNever);
  reader.join();  // has seen the end, although the file object lives
  EXPECT_EQ(failure(*file), "");
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["frames"].size(), 5000u);
  EXPECT_TRUE(json["fps"].is_null());
  add(*file, 5000);
  EXPECT_NE(failure(*file).find("after its end"), std::string::npos);
}

TEST_F(ResultsFileTest, FifoWhoseReaderComesLater) {
  const std::string name = fifo();
  const auto file = create(options(name, ResultsFormat::csv));  // does not wait
  for (uint64_t n = 0; n < 100; ++n) add(*file, n);
  std::string text;
  std::thread reader([&] { text = read_all(open(name.c_str(), O_RDONLY)); });
  file->finish({}, kLong, kNever);
  reader.join();
  EXPECT_EQ(failure(*file), "");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 101);
}

TEST_F(ResultsFileTest, FifoWithoutReader) {
  const auto file = create(options(fifo(), ResultsFormat::csv));
  add(*file, 0);
  file->finish({}, kShort, kNever);
  EXPECT_NE(failure(*file).find("fifo\": nobody opens it"), std::string::npos);
}

TEST_F(ResultsFileTest, WaitingForAReaderCanBeCancelled) {
  const auto file = create(options(fifo(), ResultsFormat::csv));
  add(*file, 0);
  int asked = 0;
  file->finish({}, kLong, [&] { return ++asked == 3; });
  EXPECT_EQ(failure(*file), "");
  EXPECT_EQ(asked, 3);
}

TEST_F(ResultsFileTest, ReaderThatGoesAway) {
  const std::string name = fifo();
  // As in any program: writing to a pipe that nobody reads would end it.
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  const int reader = open(name.c_str(), O_RDONLY | O_NONBLOCK);
  const auto file = create(options(name, ResultsFormat::csv));
  add(*file, 0);
  char one;
  while (read(reader, &one, 1) != 1) std::this_thread::yield();
  close(reader);
  add(*file, 1);
  file->finish({}, kLong, kNever);
  EXPECT_NE(failure(*file).find("fifo\": its reader has gone"), std::string::npos);
  std::signal(SIGPIPE, before);
}

TEST_F(ResultsFileTest, SlowReaderIsWaitedForWithoutLosingAnything) {
  const std::string name = fifo();
  auto o = options(name, ResultsFormat::csv);
  o.outlet.most_bytes = 1000;
  o.outlet.patience = kLong;
  const int fd = open(name.c_str(), O_RDONLY | O_NONBLOCK);
  const auto file = create(o);
  uint64_t n = 0;
  while (!file->full()) add(*file, n++);  // more than the pipe holds
  const int changes = changes_;
  fcntl(fd, F_SETFL, 0);
  std::string text;
  std::thread reader([&] { text = read_all(fd); });
  while (file->full()) std::this_thread::yield();
  add(*file, n++);
  file->finish({}, kLong, kNever);
  reader.join();
  EXPECT_GT(changes_, changes);  // somebody was told that there is room
  EXPECT_EQ(failure(*file), "");
  EXPECT_EQ(uint64_t(std::count(text.begin(), text.end(), '\n')), n + 1);
}

TEST_F(ResultsFileTest, ReaderThatTakesNothing) {
  auto o = options(fifo(), ResultsFormat::csv);
  o.outlet.most_bytes = 1000;
  o.outlet.patience = kShort;
  const int reader = open(o.path.c_str(), O_RDONLY | O_NONBLOCK);
  const auto file = create(o);
  std::string why;
  for (uint64_t n = 0; why.empty(); ++n) {
    while (file->full()) std::this_thread::yield();  // ends, for it loses patience
    add(*file, n);
    why = failure(*file);
  }
  EXPECT_NE(why.find("takes nothing"), std::string::npos) << why;
  close(reader);
}

TEST_F(ResultsFileTest, LiveStreamsWaitForNobody) {
  auto o = options(fifo(), ResultsFormat::csv);
  o.outlet.most_bytes = 1000;
  o.outlet.patience = kLong;
  const int reader = open(o.path.c_str(), O_RDONLY | O_NONBLOCK);
  const auto file = create(o);
  std::string why;
  for (uint64_t n = 0; why.empty() && n < 1'000'000; ++n) {
    add(*file, n, false);
    why = failure(*file);
  }
  EXPECT_NE(why.find("a live stream does not"), std::string::npos) << why;
  EXPECT_FALSE(file->full());
  close(reader);
}

// ---- Killed -----------------------------------------------------------------------------------------------

TEST_F(ResultsFileTest, OfAKilledProcessAllButTheLastLineIsThere) {
  const std::string name = path("killed.csv");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(100);  // should the test end first
    const auto file = create(options(name, ResultsFormat::csv));
    for (uint64_t n = 0;; ++n) {
      while (file->full()) std::this_thread::yield();
      add(*file, n);
    }
  }
  while (!std::filesystem::exists(name) || std::filesystem::file_size(name) < 200'000)
    std::this_thread::yield();
  kill(child, SIGKILL);
  int status;
  waitpid(child, &status, 0);
  std::istringstream lines(contents(name));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "Frame,integer_adm2,vmaf,");
  for (uint64_t n = 0; std::getline(lines, line); ++n) {
    const std::string expected = std::to_string(n) + ",0.500000," + std::to_string(n) + ".000000,";
    if (lines.eof())
      EXPECT_TRUE(expected.starts_with(line)) << line;
    else
      ASSERT_EQ(line, expected);
  }
}

}  // namespace
}  // namespace vmafhip
