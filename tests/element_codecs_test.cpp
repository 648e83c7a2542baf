// Real encoders and containers between the two pads: each frame meets its own, however the encoder delays and reorders
// and the container rounds and shifts time stamps. The pictures carry their number, so that a wrong partner is seen.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/numbered.h"

namespace vmafhip::test {
namespace {

struct Encoder {
  const char *name, *encode, *decode;
  std::vector<std::pair<const char *, const char *>> needs;
};
void PrintTo(const Encoder &e, std::ostream *out) { *out << e.name; }

const Encoder kX264{"X264",
                    "x264enc bitrate=400 bframes=3 b-adapt=false ! h264parse",
                    "h264parse ! avdec_h264",
                    {{"x264enc", "gstreamer1.0-plugins-ugly"}, {"avdec_h264", "gstreamer1.0-libav"}}};
const Encoder kX264ZeroLatency{"X264ZeroLatency", "x264enc bitrate=400 tune=zerolatency ! h264parse",
                               kX264.decode, kX264.needs};
const Encoder kVp8{
    "Vp8", "vp8enc deadline=1 target-bitrate=400000", "vp8dec", {{"vp8enc", "gstreamer1.0-plugins-good"}}};
const Encoder kVp9{"Vp9",
                   "vp9enc deadline=1 cpu-used=8 lag-in-frames=20 target-bitrate=400000",
                   "vp9dec",
                   {{"vp9enc", "gstreamer1.0-plugins-good"}}};

std::string rate_name(int fps_n, int fps_d) {
  return std::to_string(fps_n) + (fps_d == 1 ? "" : "_" + std::to_string(fps_d));
}

// ---- in place ----------------------------------------------------------------------------------

class InPlace : public ::testing::TestWithParam<Encoder> {};

TEST_P(InPlace, EveryFrameMeetsItsOwn) {
  if (const std::string text = missing(GetParam().needs); !text.empty()) GTEST_SKIP() << text;
  for (const auto &[fps_n, fps_d] : {std::pair(25, 1), {30000, 1001}}) {
    Pipeline pipeline("vmafhip name=v ! fakesink name=out appsrc name=in caps=" +
                      numbered_caps(fps_n, fps_d) + " ! tee name=t t. ! queue ! v.ref_sink t. ! queue ! " +
                      GetParam().encode + " ! " + GetParam().decode + " ! v.dist_sink");
    pipeline.feed("in", numbered_clip(120, fps_n, fps_d));
    Witness witness(pipeline);
    ASSERT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
    EXPECT_EQ(pipeline.frames.size(), 120u);
    EXPECT_EQ(pipeline.out.size(), 120u);
    EXPECT_TRUE(pipeline.warnings.empty()) << pipeline.warnings[0];
    witness.expect_true_pairs();
  }
}

INSTANTIATE_TEST_SUITE_P(Encoders, InPlace, ::testing::Values(kX264, kX264ZeroLatency, kVp8, kVp9),
                         [](const auto &info) { return std::string(info.param.name); });

// ---- through files -----------------------------------------------------------------------------

struct Container {
  const char *name, *mux, *demux;
  Encoder encoder;
};
void PrintTo(const Container &c, std::ostream *out) { *out << c.name; }

using Case = std::tuple<Container, std::pair<int, int>>;
class Files : public ::testing::TestWithParam<Case> {};

TEST_P(Files, EveryFrameMeetsItsOwn) {
  const auto &[container, rate] = GetParam();
  const auto &[fps_n, fps_d] = rate;
  auto needs = container.encoder.needs;
  needs.emplace_back(container.mux, "gstreamer1.0-plugins-good or -bad");
  if (const std::string text = missing(needs); !text.empty()) GTEST_SKIP() << text;
  const std::string file = std::string("world_") + container.name + "_" + rate_name(fps_n, fps_d);
  constexpr int kFrames = 90;
  {
    Pipeline writer("appsrc name=in caps=" + numbered_caps(fps_n, fps_d) + " ! " + container.encoder.encode +
                    " ! " + container.mux + " ! filesink location=" + file);
    writer.feed("in", numbered_clip(kFrames, fps_n, fps_d));
    ASSERT_EQ(writer.run(), "eos") << (writer.errors.empty() ? "" : writer.errors[0]);
  }
  Pipeline pipeline("vmafhip name=v ! fakesink name=out appsrc name=ref caps=" + numbered_caps(fps_n, fps_d) +
                    " ! v.ref_sink filesrc location=" + file + " ! " + container.demux + " ! " +
                    container.encoder.decode + " ! v.dist_sink");
  pipeline.feed("ref", numbered_clip(kFrames, fps_n, fps_d));
  Witness witness(pipeline);
  ASSERT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
  std::remove(file.c_str());
  EXPECT_EQ(pipeline.frames.size(), size_t(kFrames));
  EXPECT_TRUE(pipeline.warnings.empty()) << pipeline.warnings[0];
  witness.expect_true_pairs();
}

INSTANTIATE_TEST_SUITE_P(
    Containers, Files,
    ::testing::Combine(::testing::Values(Container{"Flv", "flvmux", "flvdemux", kX264},
                                         Container{"Matroska", "matroskamux", "matroskademux", kX264},
                                         Container{"WebM", "webmmux", "matroskademux", kVp8},
                                         Container{"Mp4", "mp4mux", "qtdemux", kX264},
                                         Container{"Mov", "qtmux", "qtdemux", kX264ZeroLatency},
                                         Container{"Ts", "mpegtsmux", "tsdemux", kX264}),
                       ::testing::Values(std::pair(25, 1), std::pair(30000, 1001), std::pair(60, 1))),
    [](const auto &info) {
      const auto &rate = std::get<1>(info.param);
      return std::string(std::get<0>(info.param).name) + "_" + rate_name(rate.first, rate.second);
    });

}  // namespace
}  // namespace vmafhip::test
