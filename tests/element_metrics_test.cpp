// What metrics take from the stream around the samples: display and depth for banding, subsampling for colour
// difference, and the what is said of it once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/formats.h"

namespace vmafhip::test {
namespace {

constexpr int kWidth = 320, kHeight = 240, kFrames = 2;

struct Clip {
  std::string format = "I420_10LE", caps = "";
  int depth = 10, sub_x = 2, sub_y = 2;
  const char *content = "gradient-band";
};

std::function<GstBuffer *()> source(const Clip &c, clipgen::Role role) {
  clipgen::Format format{kWidth, kHeight, kFrames, c.depth, c.sub_x, c.sub_y};
  const auto clip = std::make_shared<clipgen::Generator>(c.content, format);
  return [=, frame = 0]() mutable -> GstBuffer * {
    if (frame == kFrames) return nullptr;
    const Planes planes = clip_planes(*clip, role, frame);
    return stamp(make_buffer(video_info(c.format.c_str(), kWidth, kHeight), planes), frame++);
  };
}

std::unique_ptr<Pipeline> run(const std::string &features, const Clip &ref, const Clip &dist,
                              const std::string &properties = "model=\"\"") {
  auto pipeline = std::make_unique<Pipeline>(
      "vmafhip name=v " + properties + (features.empty() ? "" : " features=" + features) +
      " ! fakesink name=out appsrc name=ref caps=" + caps_text(ref.format.c_str(), kWidth, kHeight) +
      ref.caps + " ! v.ref_sink appsrc name=dist caps=" + caps_text(dist.format.c_str(), kWidth, kHeight) +
      dist.caps + " ! v.dist_sink");
  pipeline->feed("ref", source(ref, clipgen::Role::reference));
  pipeline->feed("dist", source(dist, clipgen::Role::distorted));
  EXPECT_EQ(pipeline->run(), "eos") << (pipeline->errors.empty() ? "" : pipeline->errors[0]);
  EXPECT_EQ(pipeline->frames.size(), size_t(kFrames));
  return pipeline;
}

// The first frame's value of the only feature.
double value(const std::string &feature, const Clip &ref, const Clip &dist) {
  const auto pipeline = run(feature, ref, dist);
  if (pipeline->frames.empty()) return NAN;
  const GstStructure *f =
      gst_value_get_structure(gst_structure_get_value(pipeline->frames[0].get(), "features"));
  return real(f, gst_structure_nth_field_name(f, 0));
}

TEST(Cambi, TakesTheDisplayFromTheCaps) {
  const auto clip = [](const char *caps) { return Clip{"I420_10LE", caps, 10, 2, 2, "gradient-fineband"}; };
  const Clip sdr = clip(""), pq = clip(",colorimetry=bt2100-pq"), hlg = clip(",colorimetry=bt2100-hlg");
  // A contrast that is seen up to other codes on the two displays.
  const double on_sdr = value("cambi=tvi_threshold=0.05", sdr, sdr);
  const double on_pq = value("cambi=tvi_threshold=0.05:eotf=pq", sdr, sdr);
  ASSERT_GT(on_pq, 0);
  ASSERT_NE(on_sdr, on_pq);
  EXPECT_EQ(value("cambi=tvi_threshold=0.05", pq, pq), on_pq);
  EXPECT_EQ(value("cambi=tvi_threshold=0.05", hlg, hlg), on_sdr);
  // Who says it himself is believed, and names stay as libvmaf has them.
  EXPECT_EQ(value("cambi=tvi_threshold=0.05:eotf=bt1886", pq, pq), on_sdr);
  EXPECT_EQ(value("cambi=tvi_threshold=0.05:cambi_eotf=bt1886", pq, pq), on_sdr);
  const auto pipeline = run("cambi", pq, pq);
  EXPECT_TRUE(gst_structure_has_field(
      gst_value_get_structure(gst_structure_get_value(pipeline->frames[0].get(), "features")), "cambi"));
}

TEST(Cambi, TakesTheDepthOfTheDistortedStream) {
  const Clip deep, shallow{"I420", "", 8};
  const double both = value("cambi", shallow, shallow);
  ASSERT_GT(both, 0);
  EXPECT_EQ(value("cambi", deep, shallow), both);
  EXPECT_EQ(value("cambi", shallow, deep), value("cambi", deep, deep));
  EXPECT_NE(value("cambi=enc_bitdepth=10", deep, shallow), both);
}

TEST(Ciede, SaysOnceThatLibvmafSwapsTheAxesOf422) {
  const Clip c422{"Y42B", "", 8, 2, 1}, c420{"I420", "", 8};
  const auto warnings = [](const Pipeline &p) {
    return std::count_if(p.warnings.begin(), p.warnings.end(),
                         [](const std::string &w) { return w.find("plain_422") != std::string::npos; });
  };
  EXPECT_EQ(warnings(*run("ciede", c422, c422)), 1);
  EXPECT_EQ(warnings(*run("ciede=plain_422=true", c422, c422)), 0);
  EXPECT_EQ(warnings(*run("ciede", c420, c420)), 0);
  EXPECT_EQ(warnings(*run("vif", c422, c422)), 0);
}

}  // namespace
}  // namespace vmafhip::test
