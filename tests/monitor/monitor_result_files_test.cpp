// Names of result files: one for each run, the newest kept; nobody else's is touched.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "examples/monitor/result_files.h"
#include "tests/scratch_folder.h"

namespace {

using namespace monitor;
namespace fs = std::filesystem;

class ResultFilesTest : public ::testing::Test {
 protected:
  std::string path(const std::string &name) const { return scratch_.path(name); }
  static void write(const std::string &name) { std::ofstream(name) << "scores\n"; }
  size_t files() const {
    return size_t(std::distance(fs::directory_iterator(scratch_.path()), fs::directory_iterator()));
  }

  vmafhip::test::ScratchFolder scratch_;
};

TEST_F(ResultFilesTest, EachRunHasOneOfItsOwn) {
  ResultFiles results(path("a.b/../scores.csv"));
  fs::create_directory(path("a.b"));
  for (const char *name : {"a.b/../scores.csv", "a.b/../scores-2.csv", "a.b/../scores-3.csv"}) {
    EXPECT_EQ(results.next(), path(name));
    results.run_ends(true);
  }
  ResultFiles bare(path("a.b/scores"));
  EXPECT_EQ(bare.next(), path("a.b/scores"));
  bare.run_ends(true);
  EXPECT_EQ(bare.next(), path("a.b/scores-2"));
  EXPECT_EQ(ResultFiles("").next(), "");
}

TEST_F(ResultFilesTest, OfAnotherProcessTheyAreTaken) {
  write(path("scores.csv"));
  fs::create_symlink("nowhere", path("scores-2.csv"));
  ResultFiles one(path("scores.csv")), other(path("scores.csv"));
  EXPECT_EQ(one.next(), path("scores-3.csv"));
  EXPECT_EQ(other.next(), path("scores-4.csv")) << "the first has not written anything yet";
  one.run_ends(false);
  EXPECT_EQ(fs::file_size(path("scores.csv")), 7u);
  EXPECT_TRUE(fs::is_symlink(path("scores-2.csv")));
  EXPECT_TRUE(fs::exists(path("scores-4.csv")));
}

TEST_F(ResultFilesTest, WithoutAScoreNothingIsLeft) {
  ResultFiles results(path("scores.csv"));
  for (int run = 0; run < 5; ++run) {
    const std::string name = results.next();
    EXPECT_EQ(name, path("scores.csv"));
    write(name);
    results.run_ends(false);
    EXPECT_EQ(files(), 0u);
  }
}

TEST_F(ResultFilesTest, TheNewestAreKept) {
  write(path("scores-7.csv"));
  ResultFiles results(path("scores.csv"));
  std::string last;
  for (size_t run = 0; run < ResultFiles::kKept + 20; ++run) {
    last = results.next();
    write(last);
    results.run_ends(true);
  }
  EXPECT_EQ(last, path("scores-" + std::to_string(ResultFiles::kKept + 21) + ".csv")) << "one was taken";
  EXPECT_EQ(files(), ResultFiles::kKept + 1);
  EXPECT_FALSE(fs::exists(path("scores.csv")));
  EXPECT_FALSE(fs::exists(path("scores-21.csv")));
  EXPECT_TRUE(fs::exists(path("scores-22.csv")));
  EXPECT_TRUE(fs::exists(path("scores-7.csv"))) << "somebody else's";
}

TEST_F(ResultFilesTest, WhatHasTakenANameMeanwhileStays) {
  const auto replace = [](const std::string &name) {
    fs::rename(name, name + ".mine");
    write(name);
  };
  ResultFiles results(path("scores.csv"));
  replace(results.next());
  results.run_ends(false);
  EXPECT_TRUE(fs::exists(path("scores.csv")));

  for (size_t run = 0; run < ResultFiles::kKept; ++run) {
    write(results.next());
    results.run_ends(true);
  }
  replace(path("scores-2.csv"));
  fs::remove(path("scores-3.csv"));
  write(path("scores-3.csv"));
  for (int run = 0; run < 3; ++run) {
    write(results.next());
    results.run_ends(true);
  }
  EXPECT_TRUE(fs::exists(path("scores-2.csv")));
  EXPECT_TRUE(fs::exists(path("scores-3.csv"))) << "perhaps of the same inode";
  EXPECT_FALSE(fs::exists(path("scores-4.csv")));
}

TEST_F(ResultFilesTest, WhoTakesFilesAwayGetsThemAll) {
  ResultFiles results(path("scores.csv"));
  fs::create_directory(path("taken"));
  size_t taken = 0;
  for (size_t run = 0; run < ResultFiles::kKept + 20; ++run) {
    const std::string name = results.next();
    write(name);
    results.run_ends(true);
    if (run % 10 == 9) continue;
    ASSERT_TRUE(fs::exists(name)) << name;
    const std::string there = path("taken/") + fs::path(name).filename().string();
    ASSERT_FALSE(fs::exists(there)) << "the same name again";
    fs::rename(name, there);
    ++taken;
  }
  EXPECT_EQ(taken, size_t(std::distance(fs::directory_iterator(path("taken")), fs::directory_iterator())));
}

TEST_F(ResultFilesTest, PipesAndDevicesStay) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/null", path("link.csv"));
  for (const char *name : {"pipe", "link.csv"}) {
    ResultFiles results(path(name));
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(results.next(), path(name));
      results.run_ends(false);
    }
    EXPECT_TRUE(fs::exists(path(name)));
  }
}

TEST_F(ResultFilesTest, WhatCannotBeMadeIsForTheWriterToTell) {
  ResultFiles results(path("nothing/scores.csv"));
  EXPECT_EQ(results.next(), path("nothing/scores.csv"));
  results.run_ends(true);
  EXPECT_EQ(results.next(), path("nothing/scores.csv"));
}

}  // namespace
