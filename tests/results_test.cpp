// Result files: what becomes of files, FIFOs and readers.
#include "engine/results.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/results_run.h"
#include "tests/scratch_folder.h"

namespace vmafhip::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShort{1}, kLong{60'000};
const auto kNever = [] { return false; };

// ---- Files ------------------------------------------------------------------------------------------------

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ResultsFileTest : public testing::Test {
 protected:
  std::string path(const std::string &name) const { return folder_.path(name); }
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

  const ScratchFolder folder_;
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
    file->finish({{}, {{"scored", n + 1}}}, kLong, kNever);
    const auto json = nlohmann::json::parse(contents(name));  // complete each time
    EXPECT_EQ(json["frames"].size(), n + 1);
    EXPECT_EQ(json["frames"][n]["frameNum"], n);
    EXPECT_EQ(json["pooled_metrics"]["vmaf"]["mean"], double(n) / 2);  // over all
    EXPECT_EQ(json["counters"]["scored"], n + 1);
    file->finish({}, kLong, kNever);  // nothing new
    EXPECT_EQ(nlohmann::json::parse(contents(name)), json);
  }
}

// Columns are those of the first pictures: what these lack has none, what later ones lack has no value.
TEST_F(ResultsFileTest, ColumnsOfTheFirstPictures) {
  const std::string name = path("a.csv");
  auto opt = options(name, ResultsFormat::csv);
  opt.header.metrics = {"psnr_y", "psnr_cb", "vmaf"};
  const auto file = create(opt);
  file->pictures(96, 72, [](size_t column) { return column != 1; });
  file->pictures(64, 64, [](size_t) { return true; });
  const double luma[] = {1, std::nan("")}, all[] = {2, 3}, model[] = {4};
  file->frame(0, luma, model, true);
  file->frame(1, all, model, true);
  file->finish({{{"apsnr_y", 5}}, {}}, kLong, kNever);
  EXPECT_EQ(contents(name), "Frame,psnr_y,vmaf,\n0,1.000000,4.000000,\n1,2.000000,4.000000,\n");

  const auto json = create([&] {
    auto o = options(path("a.json"), ResultsFormat::json);
    o.header.metrics = opt.header.metrics;
    return o;
  }());
  json->pictures(96, 72, [](size_t column) { return column != 1; });
  json->frame(0, luma, model, true);
  json->finish({{{"apsnr_y", 5}}, {}}, kLong, kNever);
  const auto read = nlohmann::json::parse(contents(path("a.json")));
  EXPECT_EQ(read["frames"][0]["metrics"], nlohmann::json({{"psnr_y", 1}, {"vmaf", 4}}));
  EXPECT_EQ(read["pooled_metrics"].size(), 2u);
  EXPECT_EQ(read["pooled_metrics"]["vmaf"]["mean"], 4);
  EXPECT_EQ(read["aggregate_metrics"], nlohmann::json({{"apsnr_y", 5}}));
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
           {path("missing/a.csv"), "No such file"}, {folder_.path(), "directory"}, {"", "No such file"}}) {
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
}  // namespace vmafhip::test
