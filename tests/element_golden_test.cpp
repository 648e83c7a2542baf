// The 22 golden cases through real pipelines: what the element's messages say equals libvmaf's own figures, features to
// the last bit. 16 bits exist in GStreamer as P016_LE only, so that case comes with interleaved chroma.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>

#include "tests/golden.h"
#include "tests/model_files.h"
#include "tests/pipeline.h"

namespace vmafhip::test {
namespace {

struct ModelRun {
  const char *label, *request, *section;
};
constexpr ModelRun kRuns[] = {
    {"plain", "vmaf_v0.6.1:name=plain", "model vmaf_v0.6.1"},
    {"neg", "vmaf_v0.6.1neg:name=neg", "model vmaf_v0.6.1neg"},
    {"uhd", "vmaf_4k_v0.6.1:name=uhd", "model vmaf_4k_v0.6.1"},
    {"uhdneg", "vmaf_4k_v0.6.1neg:name=uhdneg", "model vmaf_4k_v0.6.1neg"},
    {"phone", "vmaf_v0.6.1:name=phone:enable_transform=true", "model vmaf_v0.6.1+transform"},
    {"raw", "vmaf_v0.6.1:name=raw:disable_clip=true", "model vmaf_v0.6.1+noclip"},
};

std::string model_property() {
  std::string text;
  for (const ModelRun &run : kRuns) text += (text.empty() ? "" : "|") + std::string(run.request);
  return text;
}

const char *format_of(const golden::Case &c) {
  const bool full = c.chroma == "444", half = c.chroma == "422";
  switch (c.depth) {
    case 8:
      return full ? "Y444" : half ? "Y42B" : "I420";
    case 10:
      return full ? "Y444_10LE" : half ? "I422_10LE" : "I420_10LE";
    case 12:
      return full ? "Y444_12LE" : half ? "I422_12LE" : "I420_12LE";
    default:
      return "P016_LE";
  }
}

class ElementGolden : public ::testing::TestWithParam<std::string> {
 protected:
  // Runs the case; `tolerance` is what model scores may differ by.
  void compare(double tolerance, const char *source) {
    const golden::Golden &golden = golden::load(GetParam());
    const golden::Case &c = golden.parameters();
    clipgen::Format f;
    f.width = c.width, f.height = c.height, f.frames = c.frames, f.depth = c.depth;
    f.set_chroma(c.chroma);
    const clipgen::Generator clip(c.clip, f, c.seed);
    const char *format = format_of(c);
    const std::string caps = caps_text(format, c.width, c.height);
    Pipeline pipeline("vmafhip name=v model=" + model_property() +
                      " ! fakesink name=out appsrc name=ref caps=" + caps +
                      " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
    const GstVideoInfo info = video_info(format, c.width, c.height);
    for (const auto role : {clipgen::Role::reference, clipgen::Role::distorted})
      pipeline.feed(role == clipgen::Role::reference ? "ref" : "dist",
                    [=, frame = 0]() mutable -> GstBuffer * {
                      if (frame == c.frames) return nullptr;
                      GstBuffer *buffer = make_buffer(info, clip_planes(clip, role, frame));
                      GST_BUFFER_PTS(buffer) = GstClockTime(frame++) * 40 * GST_MSECOND;
                      GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
                      return buffer;
                    });
    ASSERT_EQ(pipeline.run(), "eos") << (pipeline.errors.empty() ? "" : pipeline.errors[0]);
    ASSERT_EQ(pipeline.frames.size(), size_t(c.frames));
    ASSERT_EQ(pipeline.pooled.size(), 1u);
    for (const ModelRun &run : kRuns)
      for (const std::string &name : golden.run(run.section).names) {
        const bool score = name == "vmaf";
        for (int i = 0; i < c.frames; ++i) {
          const double expected = golden.score(run.section, name)[size_t(i)];
          const GstStructure *s = pipeline.frames[size_t(i)].get();
          if (score)
            EXPECT_NEAR(real_in(s, "models", run.label), expected, tolerance)
                << run.section << " frame " << i;
          else
            EXPECT_EQ(std::bit_cast<uint64_t>(real_in(s, "features", name.c_str())),
                      std::bit_cast<uint64_t>(expected))
                << run.section << " " << name << " frame " << i;
        }
        const golden::Pooled &p = golden.run(run.section).pooled.at(name);
        const char *group = score ? "models" : "features", *field = score ? run.label : name.c_str();
        const double pooled_tolerance = score ? tolerance : 0;
        const GstStructure *s = pipeline.pooled[0].get();
        EXPECT_NEAR(pooled_in(s, group, field, "mean"), p.mean, pooled_tolerance);
        EXPECT_NEAR(pooled_in(s, group, field, "min"), p.min, pooled_tolerance);
        EXPECT_NEAR(pooled_in(s, group, field, "max"), p.max, pooled_tolerance);
        EXPECT_NEAR(pooled_in(s, group, field, "harmonic-mean"), p.harmonic_mean, pooled_tolerance);
      }
    EXPECT_STREQ(gst_structure_get_string(pipeline.frames[0].get(), "model-source"), source);
  }
};

TEST_P(ElementGolden, FittedSurfaces) {
  const ModelPath hidden("");
  compare(0.001, "fitted");
}

TEST_P(ElementGolden, ModelFiles) {
  if (model_files().empty()) GTEST_SKIP() << "no model files (VMAFHIP_TEST_MODELS)";
  const ModelPath path(model_files());
  compare(1e-9, "file");
}

INSTANTIATE_TEST_SUITE_P(Cases, ElementGolden, ::testing::ValuesIn(golden::case_names()),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace vmafhip::test
