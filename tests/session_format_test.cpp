// Formats: depths against each other, layouts in memory, sizes that are refused; and what is said about options.
#include <cstdlib>

#include <malloc.h>

#include "tests/layouts.h"
#include "tests/session_run.h"

namespace vmafhip {
namespace {

using namespace test;

class SessionFormatTest : public testing::Test {
 protected:
  ModelPath no_files_{""};
};

// ---- Depths and layouts -----------------------------------------------------------------------------------

TEST_F(SessionFormatTest, ShallowerPictureIsShiftedUp) {
  const auto clip = small_clip(3);
  for (const int depth : {9, 10, 12, 16}) {
    const auto both = scores_of(repack(clip, {depth}, {depth}));
    expect_same(scores_of(repack(clip, {8}, {depth})), both);
    expect_same(scores_of(repack(clip, {depth}, {8})), both);
  }
  const auto deep = small_clip(3, 96, 64, 10);
  expect_same(scores_of(repack(deep, {10}, {16})), scores_of(repack(deep, {16}, {16})));
}

TEST_F(SessionFormatTest, LayoutChangesNothing) {
  const auto clip = small_clip(3), deep = small_clip(3, 96, 64, 10);
  const auto expected = scores_of(clip), expected_deep = scores_of(deep);
  for (const Layout &layout :
       {Layout{8}, Layout{.padding = 13}, Layout{.offset = 1}, Layout{.step = 2}, Layout{.flip = true}}) {
    expect_same(scores_of(repack(clip, layout, {8})), expected);
    expect_same(scores_of(repack(clip, {8}, layout)), expected);
  }
  for (const Layout &layout :
       {Layout{10}, Layout{10, 6}, Layout{10, 6, 2}, Layout{10, 0, 2}, Layout{.depth = 10, .padding = 7},
        Layout{.depth = 10, .offset = 1}, Layout{.depth = 10, .flip = true},
        Layout{.depth = 10, .shift = 6, .padding = 3, .offset = 1, .flip = true}}) {
    expect_same(scores_of(repack(deep, layout, {10})), expected_deep);
    expect_same(scores_of(repack(deep, {10}, layout)), expected_deep);
  }
}

// ---- Formats that are refused -----------------------------------------------------------------------------

Status configure(const PictureFormat &ref, const PictureFormat &dist,
                 const std::string &features = "vif|adm|motion") {
  return make_session("", features)->configure(ref, dist);
}

void expect_refused(const Status &status, const std::vector<std::string> &words) {
  EXPECT_EQ(status.code(), Code::unsupported);
  for (const std::string &word : words)
    EXPECT_NE(status.message().find(word), std::string::npos) << word << " in: " << status.message();
}

TEST_F(SessionFormatTest, TooSmall) {
  expect_refused(configure({32, 64}, {32, 64}, "adm"), {"adm", "33x33", "32x64"});
  expect_refused(configure({64, 15}, {64, 15}, "vif"), {"vif", "16x16", "64x15"});
  expect_refused(configure({2, 2}, {2, 2}, "motion"), {"motion", "3x3", "2x2"});
  const PictureFormat small{32, 64};
  expect_refused(make_session("vmaf_v0.6.1", "")->configure(small, small),
                 {"adm", "33x33", "(vmaf_v0.6.1 needs it)"});
  EXPECT_TRUE(configure({33, 33}, {33, 33}).ok());
  EXPECT_TRUE(configure({16, 16}, {16, 16}, "vif").ok());
}

TEST_F(SessionFormatTest, Silly) {
  for (const auto &[width, height] : {std::pair{0, 64},
                                      {64, 0},
                                      {-64, 64},
                                      {64, -64},
                                      {0, 0},
                                      {100000, 100000},
                                      {100000, 64},
                                      {64, 100000},
                                      {INT32_MAX, INT32_MAX}})
    expect_refused(configure({width, height}, {width, height}),
                   {std::to_string(width), std::to_string(height)});
  for (const int depth : {-8, 0, 1, 7, 17, 32}) {
    expect_refused(configure({96, 64, depth}, {96, 64, 8}), {std::to_string(depth) + " bits"});
    expect_refused(configure({96, 64, 8}, {96, 64, depth}), {std::to_string(depth) + " bits"});
  }
}

// ---- Options ----------------------------------------------------------------------------------------------

Status create(const SessionOptions &options) { return Session::create(options).status(); }

void expect_error(const Status &status, Code code, const std::vector<std::string> &words) {
  EXPECT_EQ(status.code(), code) << status.message();
  for (const std::string &word : words)
    EXPECT_NE(status.message().find(word), std::string::npos) << word << " in: " << status.message();
}

TEST_F(SessionFormatTest, BackendThatThisBuildLacks) {
  expect_error(create({.backend = Backend::hip}), Code::unsupported, {"backend=hip", "backend=cpu"});
  EXPECT_TRUE(create({.backend = Backend::cpu}).ok());
  EXPECT_TRUE(create({.backend = Backend::automatic}).ok());
}

TEST_F(SessionFormatTest, Threads) {
  for (const int threads : {-1, 1025, INT32_MAX, INT32_MIN})
    expect_error(create({.threads = threads}), Code::invalid_argument, {std::to_string(threads), "1024"});
  EXPECT_EQ(make_session("", "vif", 5)->backend_description().find("cpu ("), 0u);
  EXPECT_NE(make_session("", "vif", 5)->backend_description().find("5 threads"), std::string::npos);
  EXPECT_GE(make_session("", "vif", 5)->max_in_flight(), 5);
}

TEST_F(SessionFormatTest, InstructionSetThatDoesNotExist) {
  ::setenv("VMAFHIP_ISA", "mmx", 1);
  expect_error(create({}), Code::invalid_argument, {"VMAFHIP_ISA=mmx", "scalar"});
  ::unsetenv("VMAFHIP_ISA");
  EXPECT_TRUE(create({}).ok());
}

TEST_F(SessionFormatTest, NothingToCompute) {
  expect_error(create({.models = "", .features = ""}), Code::invalid_argument, {"model", "feature"});
}

// ---- Memory -----------------------------------------------------------------------------------------------

// What is asked for and not given back: resident memory depends on the arenas that threads happen to get.
size_t allocated_kib() {
  const struct mallinfo2 all = mallinfo2();
  return (all.uordblks + all.hblkhd) / 1024;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // sanitizers keep freed memory and histories
#else
constexpr bool kSanitized = false;
#endif

TEST_F(SessionFormatTest, MemoryDoesNotGrowWithTheClip) {
  const auto clip = small_clip(4, 64, 64);
  const auto session = make_session();
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  const uint64_t frames = kSanitized ? 2'000 : 10'000;
  FrameScores scores;
  size_t at_first = 0;
  for (uint64_t n = 0; n < frames; ++n) {
    const Pair &p = clip[n % clip.size()];
    while (!session->submit(p.ref, p.dist)) ASSERT_EQ(session->wait(scores), Session::Next::ready);
    if (n == 1000) at_first = allocated_kib();
  }
  if (!kSanitized) {
    ASSERT_GT(at_first, 0u);
    EXPECT_LT(allocated_kib(), at_first + 256);
  }
  session->finish();
  while (session->wait(scores) == Session::Next::ready) {
  }
  EXPECT_EQ(scores.index, frames - 1);
}

}  // namespace
}  // namespace vmafhip
