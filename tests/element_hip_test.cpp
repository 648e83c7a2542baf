// The element on a GPU, the simulated one: the scores of the CPU in every bit, in all formats, what is said of the
// back end, and what happens when the GPU is not there or fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/formats.h"
#include "tests/hipsim_control.h"

namespace vmafhip::test {
namespace {

constexpr int kWidth = 66, kHeight = 50, kFrames = 4;
const FormatCase kPlain = kFormats[0];

std::function<GstBuffer *()> source(const FormatCase &f, clipgen::Role role, int frames) {
  const auto clip = std::make_shared<clipgen::Generator>(clip_for(f, kWidth, kHeight, frames));
  const GstVideoInfo info = video_info(f.name, kWidth, kHeight);
  const bool high = std::string(f.name) == "P010_10LE" || std::string(f.name) == "P012_LE";
  return [=, n = 0]() mutable -> GstBuffer * {
    if (n == frames) return nullptr;
    Planes planes = clip_planes(*clip, role, n);
    if (high) shift_up(planes, 16 - f.depth);
    return stamp(make_buffer(info, planes), n++);
  };
}

std::unique_ptr<Pipeline> without_sources(const std::string &properties, const FormatCase &f = kPlain) {
  const std::string caps = caps_text(f.name, kWidth, kHeight);
  return std::make_unique<Pipeline>("vmafhip name=v threads=2 " + properties +
                                    " ! fakesink name=out async=false appsrc name=ref caps=" + caps +
                                    " ! v.ref_sink appsrc name=dist caps=" + caps + " ! v.dist_sink");
}

std::unique_ptr<Pipeline> make(const std::string &properties, const FormatCase &f = kPlain,
                               int frames = kFrames) {
  auto pipeline = without_sources(properties, f);
  pipeline->feed("ref", source(f, clipgen::Role::reference, frames));
  pipeline->feed("dist", source(f, clipgen::Role::distorted, frames));
  return pipeline;
}

// Every value of every frame, as text that tells bits apart.
std::vector<std::string> scores_of(const Pipeline &pipeline) {
  std::vector<std::string> all;
  for (const StructurePtr &frame : pipeline.frames) {
    std::string text;
    for (const char *part : {"models", "features"}) {
      const GstStructure *values = gst_value_get_structure(gst_structure_get_value(frame.get(), part));
      for (int i = 0; i < gst_structure_n_fields(values); ++i) {
        const char *name = gst_structure_nth_field_name(values, guint(i));
        text += name + std::string(" ") + std::to_string(std::bit_cast<uint64_t>(real(values, name))) + " ";
      }
    }
    all.push_back(std::move(text));
  }
  return all;
}

std::string field(const Pipeline &pipeline, const char *name) {
  if (pipeline.pooled.empty()) return "no pooled message";
  const char *text = gst_structure_get_string(pipeline.pooled.back().get(), name);
  return text ? text : "";
}

class ElementOnGpu : public testing::Test {
 protected:
  void SetUp() override { sim_.reset(""); }
  void TearDown() override {
    EXPECT_EQ(sim_.leaks(), 0u);
    EXPECT_EQ(sim_.reports(), "");
  }
  // What the CPU says.
  std::vector<std::string> expected(const std::string &properties = "", const FormatCase &f = kPlain,
                                    int frames = kFrames) {
    auto pipeline = make(properties + " backend=cpu", f, frames);
    EXPECT_EQ(pipeline->run(), "eos");
    return scores_of(*pipeline);
  }
  HipSim sim_;
};

TEST_F(ElementOnGpu, ScoresAreTheCpusInAllFormats) {
  for (const FormatCase &f : kFormats) {
    SCOPED_TRACE(f.name);
    const auto wanted = expected("", f, 2);
    ASSERT_EQ(wanted.size(), 2u);
    auto pipeline = make("backend=hip", f, 2);
    ASSERT_EQ(pipeline->run(), "eos") << (pipeline->errors.empty() ? "" : pipeline->errors[0]);
    EXPECT_EQ(scores_of(*pipeline), wanted);
    EXPECT_TRUE(field(*pipeline, "backend").starts_with("hip (")) << field(*pipeline, "backend");
    EXPECT_TRUE(pipeline->warnings.empty());
  }
}

TEST_F(ElementOnGpu, ModelsAndMetricsTogether) {
  const std::string asked =
      "model=vmaf_v0.6.1|vmaf_v0.6.1neg:name=neg "
      "features=psnr|vif=debug=true|adm=debug=true|motion=debug=true "
      "subsample=2";
  const auto wanted = expected(asked);
  ASSERT_EQ(wanted.size(), 2u);
  auto pipeline = make(asked);
  ASSERT_EQ(pipeline->run(), "eos");
  EXPECT_EQ(scores_of(*pipeline), wanted);
  EXPECT_TRUE(field(*pipeline, "backend").starts_with("hip (")) << field(*pipeline, "backend");
  EXPECT_EQ(field(*pipeline, "backend-reason"), "");
}

TEST_F(ElementOnGpu, IsNotAskedByTheCpu) {
  sim_.configure("devices=0");
  auto pipeline = make("backend=cpu");
  ASSERT_EQ(pipeline->run(), "eos");
  EXPECT_TRUE(field(*pipeline, "backend").starts_with("cpu (")) << field(*pipeline, "backend");
  EXPECT_EQ(field(*pipeline, "backend-reason"), "");
}

TEST_F(ElementOnGpu, NoneThere) {
  sim_.configure("devices=0");
  auto pipeline = make("");
  ASSERT_EQ(pipeline->run(), "eos");
  EXPECT_EQ(scores_of(*pipeline), expected());
  EXPECT_TRUE(field(*pipeline, "backend").starts_with("cpu (")) << field(*pipeline, "backend");
  EXPECT_NE(field(*pipeline, "backend-reason"), "");
  EXPECT_TRUE(pipeline->warnings.empty()) << pipeline->warnings[0];

  auto demanding = make("backend=hip");
  EXPECT_EQ(demanding->run(), "error");
  ASSERT_EQ(demanding->errors.size(), 1u);
  EXPECT_NE(demanding->errors[0].find("backend=cpu"), std::string::npos) << demanding->errors[0];
}

TEST_F(ElementOnGpu, NumberOfTheDevice) {
  sim_.configure("devices=2");
  for (const char *number : {"0", "1", "-1"}) {
    auto pipeline = make(std::string("backend=hip device=") + number);
    ASSERT_EQ(pipeline->run(), "eos") << number;
    EXPECT_EQ(scores_of(*pipeline), expected()) << number;
  }
  auto pipeline = make("backend=hip device=7");
  EXPECT_EQ(pipeline->run(), "error");
  ASSERT_EQ(pipeline->errors.size(), 1u);
  EXPECT_NE(pipeline->errors[0].find("7"), std::string::npos) << pipeline->errors[0];
}

TEST_F(ElementOnGpu, FailsInMidStream) {
  const auto wanted = expected("", kPlain, 12);
  // All of it comes to pass even if the frames are one batch.
  for (const char *fault : {"launch:5", "copy:4", "sync:1", "lost:30"}) {
    SCOPED_TRACE(fault);
    sim_.reset(std::string("fail=") + fault);
    auto patient = make("", kPlain, 12);
    ASSERT_EQ(patient->run(), "eos");
    EXPECT_EQ(scores_of(*patient), wanted);
    EXPECT_EQ(patient->warnings.size(), 1u);
    EXPECT_TRUE(field(*patient, "backend").starts_with("cpu (")) << field(*patient, "backend");
    EXPECT_NE(field(*patient, "backend-reason"), "");
    patient.reset();
    EXPECT_EQ(sim_.leaks(), 0u);

    sim_.reset(std::string("fail=") + fault);
    auto strict = make("backend=hip", kPlain, 12);
    EXPECT_EQ(strict->run(), "error");
    // One of the element's; sources whose frames nobody takes any more have their own.
    EXPECT_EQ(std::ranges::count_if(strict->errors,
                                    [](const std::string &e) {
                                      return e.find("Internal data stream error") == std::string::npos;
                                    }),
              1)
        << (strict->errors.empty() ? "" : strict->errors[0]);
    EXPECT_TRUE(strict->warnings.empty()) << strict->warnings[0];  // it does not go on
    EXPECT_NE(strict->errors[0].find("backend=auto"), std::string::npos) << strict->errors[0];
    // What came before is right.
    const auto some = scores_of(*strict);
    ASSERT_LE(some.size(), wanted.size());
    EXPECT_TRUE(std::equal(some.begin(), some.end(), wanted.begin()));
    strict->stop();
    strict.reset();
    EXPECT_EQ(sim_.leaks(), 0u);
  }
  sim_.reset("");
}

// When the last frames are awaited as well the warning comes, and what is pooled names who has measured.
TEST_F(ElementOnGpu, FailsAtTheEnd) {
  const auto wanted = expected("", kPlain, 1);
  for (int round = 0; round < 10; ++round) {
    sim_.reset("fail=launch:1");
    auto pipeline = make("", kPlain, 1);
    ASSERT_EQ(pipeline->run(), "eos");
    EXPECT_EQ(scores_of(*pipeline), wanted);
    EXPECT_EQ(pipeline->warnings.size(), 1u);
    EXPECT_TRUE(field(*pipeline, "backend").starts_with("cpu (")) << field(*pipeline, "backend");
    EXPECT_NE(field(*pipeline, "backend-reason"), "");
  }
  sim_.reset("");
}

// A GPU is given more frames at a time than workers; sources that have a few buffers must not wait for it in vain.
TEST_F(ElementOnGpu, PoolsOfAFewBuffers) {
  constexpr int kMany = 30;
  const auto wanted = expected("", kPlain, kMany);
  for (const char *backend : {"auto", "hip"})
    for (const guint most : {2u, 5u}) {
      SCOPED_TRACE(testing::Message() << backend << " " << most);
      auto pipeline = without_sources(std::string("backend=") + backend);
      std::vector<GstBufferPool *> pools;
      for (const auto &[name, role] :
           {std::pair{"ref", clipgen::Role::reference}, {"dist", clipgen::Role::distorted}}) {
        GstBufferPool *pool = gst_buffer_pool_new();
        GstStructure *config = gst_buffer_pool_get_config(pool);
        const GstVideoInfo info = video_info(kPlain.name, kWidth, kHeight);
        gst_buffer_pool_config_set_params(config, nullptr, guint(GST_VIDEO_INFO_SIZE(&info)), 0, most);
        ASSERT_TRUE(gst_buffer_pool_set_config(pool, config));
        ASSERT_TRUE(gst_buffer_pool_set_active(pool, TRUE));
        pools.push_back(pool);
        pipeline->feed(name, [pool, next = source(kPlain, role, kMany)]() -> GstBuffer * {
          GstBuffer *made = next(), *buffer = nullptr;
          if (!made) return nullptr;
          const BufferPtr owned = adopt(made);
          if (gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) != GST_FLOW_OK) return nullptr;
          GstMapInfo map;
          gst_buffer_map(buffer, &map, GST_MAP_WRITE);
          gst_buffer_extract(made, 0, map.data, map.size);
          gst_buffer_unmap(buffer, &map);
          GST_BUFFER_PTS(buffer) = GST_BUFFER_PTS(made);
          GST_BUFFER_DURATION(buffer) = GST_BUFFER_DURATION(made);
          return buffer;
        });
      }
      EXPECT_EQ(pipeline->run(60), "eos");
      EXPECT_EQ(scores_of(*pipeline), wanted);
      EXPECT_TRUE(field(*pipeline, "backend").starts_with("hip (")) << field(*pipeline, "backend");
      for (GstBufferPool *pool : pools)
        gst_buffer_pool_set_active(pool, FALSE);  // whoever waits for one goes on
      pipeline->stop();
      for (GstBufferPool *pool : pools) gst_object_unref(pool);
    }
}

TEST_F(ElementOnGpu, PlaysAgainAndAgain) {
  const auto wanted = expected();
  for (int round = 0; round < 3; ++round) {
    auto pipeline = make("backend=hip");
    ASSERT_EQ(pipeline->run(), "eos");
    EXPECT_EQ(scores_of(*pipeline), wanted);
    pipeline->stop();
    EXPECT_EQ(sim_.leaks(), 0u);
  }
}

}  // namespace
}  // namespace vmafhip::test
