// The loader of golden figures: reads every file, and refuses what is malformed with file and line.
#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/golden.h"

namespace vmafhip::golden {
namespace {

const std::string kHead =
    "vmafhip-golden 1\nname a\nclip b\nseed 1\nwidth 4\nheight 2\nframes 2\ndepth 8\nchroma 420\n"
    "md5_ref 0123456789abcdef0123456789abcdef\nmd5_dis 0123456789abcdef0123456789abcdef\noracle.x y z\n\n";

std::string error_of(const std::string &text) {
  try {
    parse(text, "file");
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "";
}

TEST(GoldenFile, ReadsEverySection) {
  const Golden golden =
      parse(kHead +
                "[default]\nx 1 -0.5 | -0.5 1 0.25 3e-05\ny inf -nan | inf inf inf inf\n\n"
                "[default aggregate]\nax 7\n\n[model m]\nvmaf 3 4 | 3 4 3.5 3\n= y x\n\n"
                "[errors]\nmodel q -> rc=1 it = bad -> so\n\n[unstable]\nciede ciede2000 0.1\n",
            "file");
  EXPECT_EQ(golden.parameters().clip, "b");
  EXPECT_EQ(golden.parameters().height, 2);
  EXPECT_EQ(golden.titles(), (std::vector<std::string>{"default", "model m"}));
  EXPECT_EQ(golden.score("default", "x"), (std::vector<double>{1, -0.5}));
  EXPECT_EQ(golden.run("default").pooled.at("x").harmonic_mean, 3e-05);
  EXPECT_TRUE(std::isinf(golden.score("model m", "y")[0]));
  EXPECT_TRUE(std::isnan(golden.score("model m", "y")[1]) && std::signbit(golden.score("model m", "y")[1]));
  EXPECT_EQ(golden.run("model m").names, (std::vector<std::string>{"vmaf", "y", "x"}));
  EXPECT_EQ(golden.run("default").aggregate.at("ax"), 7);
  EXPECT_EQ(golden.errors().at("model q"), "rc=1 it = bad -> so");
  EXPECT_EQ(golden.unstable(), std::vector<std::string>{"ciede2000"});
  EXPECT_THROW(golden.section("model n"), std::runtime_error);
  EXPECT_THROW(golden.score("default", "z"), std::runtime_error);
}

TEST(GoldenFile, RefusesWhatIsMalformed) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "no section"},
      {"vmafhip-golden 2\n", "file:1: not a golden file"},
      {kHead, "no section"},
      {"vmafhip-golden 1\nname a\n[default]\n", "before all parameters"},
      {kHead + "[fork]\n", "first section is not [default]"},
      {kHead + "[default]\nx 1 2 | 1 2 1 1", "cut off"},
      {kHead + "[default]\nx 1 | 1 2 1 1\n", "file:15: '|' is not a number"},
      {kHead + "[default]\nx 1 2 3 | 1 2 1 1\n", "more values than the clip has frames"},
      {kHead + "[default]\nx 1 2 | 1 2 1\n", "ends too early"},
      {kHead + "[default]\nx 1 2 | 1 2 1 1 1\n", "unexpected '1'"},
      {kHead + "[default]\nx 1 2e | 1 2 1 1\n", "'2e' is not a number"},
      {kHead + "[default]\nx 1  2 | 1 2 1 1\n", "two spaces"},
      {kHead + "[default]\nx 1 2 | 1 2 1 1\nx 1 2 | 1 2 1 1\n", "file:16: 'x' comes twice"},
      {kHead + "[default]\nx 1 2 | 1 2 1 1\n[model m]\n= z\n", "[default] has no 'z'"},
      {kHead + "[default]\n[default]\n", "comes twice"},
      {"vmafhip-golden 1\ncolour red\n", "file:2: unknown parameter 'colour'"},
  };
  for (const auto &[text, expected] : cases)
    EXPECT_NE(error_of(text).find(expected), text.npos) << error_of(text);
}

TEST(GoldenFile, AllCasesAreThere) {
  EXPECT_EQ(case_names().size(), 22u);
  for (const std::string &name : case_names()) {
    const Golden &golden = load(name);
    for (const char *title : {"default", "model vmaf_v0.6.1", "model vmaf_4k_v0.6.1neg", "fork"})
      EXPECT_TRUE(golden.has(title)) << name << " " << title;
    EXPECT_EQ(golden.score("default", "integer_vif").size(), static_cast<size_t>(golden.parameters().frames));
  }
  EXPECT_EQ(load("sd-blur-8").score("default", "float_psnr")[0], 23.71429194252117);
  EXPECT_THROW(load("no-such-case"), std::runtime_error);
}

}  // namespace
}  // namespace vmafhip::golden
