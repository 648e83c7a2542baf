// Which memory the pads agree on with their neighbours, and what is said if they cannot.
#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/dmabufs.h"
#include "tests/formats.h"

namespace vmafhip::test {
namespace {

constexpr int kWidth = 66, kHeight = 50;
constexpr const char *kSystem = "video/x-raw", *kDmaBuf = "video/x-raw(memory:DMABuf)";

// Caps of such pictures, in such memory.
std::string caps(const std::string &memory, const std::string &format) {
  return "\"" + memory + "," + format + ",width=66,height=50,framerate=25/1\"";
}
const std::string kNv12 = "format=NV12", kDrm = "format=DMA_DRM,drm-format=NV12";

std::function<GstBuffer *()> source(bool dmabuf) {
  const auto clip = std::make_shared<clipgen::Generator>(clip_for({"NV12", 8, 2, 2}, kWidth, kHeight, 2));
  return [=, n = 0]() mutable -> GstBuffer * {
    if (n == 2) return nullptr;
    GstBuffer *buffer =
        make_buffer(video_info("NV12", kWidth, kHeight), clip_planes(*clip, clipgen::Role::distorted, n));
    return stamp(dmabuf ? in_memfds(buffer) : buffer, n++);
  };
}

// Both streams of the same caps; `behind` is put behind the element.
std::unique_ptr<Pipeline> make(const std::string &ref, const std::string &dist,
                               const std::string &behind = "") {
  auto pipeline =
      std::make_unique<Pipeline>("vmafhip name=v backend=cpu threads=1 " + behind +
                                 " ! fakesink name=out async=false appsrc name=ref caps=" + ref +
                                 " ! v.ref_sink appsrc name=dist caps=" + dist + " ! v.dist_sink");
  pipeline->feed("ref", source(ref.find("DMABuf") != std::string::npos));
  pipeline->feed("dist", source(dist.find("DMABuf") != std::string::npos));
  return pipeline;
}

std::string out_caps(Pipeline &pipeline) {
  GstPad *pad = gst_element_get_static_pad(pipeline.get("out"), "sink");
  GstCaps *caps = gst_pad_get_current_caps(pad);
  gchar *text = gst_caps_to_string(caps);
  const std::string result = text;
  g_free(text);
  gst_caps_unref(caps);
  gst_object_unref(pad);
  return result;
}

// The features of what a pad would take now.
std::set<std::string> takes(Pipeline &pipeline, const char *pad_name) {
  GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), pad_name);
  GstCaps *caps = gst_pad_query_caps(pad, nullptr);
  std::set<std::string> features;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    gchar *text = gst_caps_features_to_string(gst_caps_get_features(caps, i));
    // GPUs' memory depends on what this was built with.
    if (std::string(text) == "memory:SystemMemory" || std::string(text) == "memory:DMABuf")
      features.insert(text);
    g_free(text);
  }
  gst_caps_unref(caps);
  gst_object_unref(pad);
  return features;
}
const std::set<std::string> kBoth = {"memory:SystemMemory", "memory:DMABuf"};

TEST(Negotiation, FramesLeaveAsTheyCame) {
  std::vector<std::vector<uint64_t>> scores;
  for (const std::string &in : {caps(kSystem, kNv12), caps(kDmaBuf, kNv12), caps(kDmaBuf, kDrm)}) {
    auto pipeline = make(in, in);
    ASSERT_EQ(pipeline->run(), "eos") << in << (pipeline->errors.empty() ? "" : pipeline->errors[0]);
    GstCaps *wanted = gst_caps_from_string(in.substr(1, in.size() - 2).c_str());
    GstCaps *got = gst_caps_from_string(out_caps(*pipeline).c_str());
    EXPECT_TRUE(gst_caps_is_equal(wanted, got)) << in << " " << out_caps(*pipeline);
    gst_caps_unref(wanted);
    gst_caps_unref(got);
    EXPECT_EQ(pipeline->out.size(), 2u);
    const auto bits = value_bits(*pipeline);
    if (scores.empty()) scores = bits;
    EXPECT_EQ(bits, scores) << in;
  }
}

TEST(Negotiation, MemoryMayDiffer) {
  auto pipeline = make(caps(kDmaBuf, kDrm), caps(kSystem, kNv12));
  EXPECT_EQ(pipeline->run(), "eos");
  EXPECT_EQ(pipeline->frames.size(), 2u);
}

// What is behind decides for the stream that leaves, and for no other.
TEST(Negotiation, WhatIsBehindIsAsked) {
  for (const std::string memory : {kSystem, kDmaBuf}) {
    auto pipeline = std::make_unique<Pipeline>("vmafhip name=v ! capsfilter caps=" + memory + " ! fakesink");
    const std::string feature = memory == kSystem ? "memory:SystemMemory" : "memory:DMABuf";
    EXPECT_EQ(takes(*pipeline, "ref_sink"), std::set{feature});
    EXPECT_EQ(takes(*pipeline, "dist_sink"), kBoth);
    g_object_set(pipeline->get("v"), "output", 1, nullptr);
    EXPECT_EQ(takes(*pipeline, "ref_sink"), kBoth);
    EXPECT_EQ(takes(*pipeline, "dist_sink"), std::set{feature});
  }
  Pipeline any("vmafhip name=v ! fakesink");
  EXPECT_EQ(takes(any, "ref_sink"), kBoth);
  Pipeline source("vmafhip name=v ! fakesink videotestsrc ! v.ref_sink");
  EXPECT_EQ(takes(source, "src"), std::set<std::string>{"memory:SystemMemory"});
}

TEST(Negotiation, RefusedBehindIsAnErrorThatSaysWhatToDo) {
  auto pipeline = make(caps(kDmaBuf, kNv12), caps(kDmaBuf, kNv12), "! video/x-raw");
  EXPECT_EQ(pipeline->run(), "error");
  ASSERT_FALSE(pipeline->errors.empty());
  expect_words(pipeline->errors[0], {"ref_sink", "memory", "memory:DMABuf", "video/x-raw"});
}

TEST(Negotiation, TiledPicturesAreRefused) {
  for (const bool ref : {true, false}) {
    const std::string tiled = caps(kDmaBuf, "format=DMA_DRM,drm-format=NV12:0x0100000000000002");
    auto pipeline = make(ref ? tiled : caps(kDmaBuf, kDrm), ref ? caps(kDmaBuf, kDrm) : tiled);
    EXPECT_EQ(pipeline->run(), "error");
    ASSERT_FALSE(pipeline->errors.empty());
    expect_words(pipeline->errors[0], {ref ? "ref_sink" : "dist_sink", "modifier 0x0100000000000002",
                                       "vapostproc", "drm-format without modifier"});
    EXPECT_TRUE(pipeline->frames.empty());
  }
}

TEST(Negotiation, OtherMemoryIsRefused) {
  auto pipeline = make(caps("video/x-raw(memory:GLMemory)", kNv12), caps(kSystem, kNv12));
  EXPECT_EQ(pipeline->run(), "error");
  ASSERT_FALSE(pipeline->errors.empty());
  expect_words(pipeline->errors[0], {"ref_sink", "memory:GLMemory", "gldownload"});
}

// ---- allocation --------------------------------------------------------------------------------

struct Allocation {
  guint least = 0, most = 0, size = 0;
  gsize align = 0;
  bool meta = false;
};
Allocation allocation(GstElement *element, const char *pad_name, const std::string &text) {
  Allocation found;
  GstPad *pad = gst_element_get_static_pad(element, pad_name);
  GstCaps *caps = gst_caps_from_string(text.substr(1, text.size() - 2).c_str());
  GstQuery *query = gst_query_new_allocation(caps, TRUE);
  EXPECT_TRUE(gst_pad_query(pad, query));
  found.meta = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) &&
               gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, nullptr, &found.size, &found.least, &found.most);
  if (gst_query_get_n_allocation_params(query) > 0) {
    GstAllocationParams params;
    gst_query_parse_nth_allocation_param(query, 0, nullptr, &params);
    found.align = params.align;
  }
  gst_query_unref(query);
  gst_caps_unref(caps);
  gst_object_unref(pad);
  return found;
}

// Sources of cameras copy into memory of their own for who does not know GstVideoMeta.
TEST(Allocation, IsAnsweredForAllMemory) {
  for (const guint threads : {1u, 64u}) {
    Pipeline pipeline("vmafhip name=v backend=cpu threads=" + std::to_string(threads) + " ! fakesink");
    ASSERT_NE(gst_element_set_state(pipeline.get("v"), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    for (const char *pad : {"ref_sink", "dist_sink"})
      for (const std::string &c : {caps(kSystem, kNv12), caps(kDmaBuf, kNv12), caps(kDmaBuf, kDrm)}) {
        SCOPED_TRACE(c);
        const Allocation found = allocation(pipeline.get("v"), pad, c);
        const GstVideoInfo info = video_info("NV12", kWidth, kHeight);
        EXPECT_TRUE(found.meta);
        EXPECT_EQ(found.align, 63u);
        EXPECT_EQ(found.size, GST_VIDEO_INFO_SIZE(&info));
        EXPECT_EQ(found.most, 0u);
        // Cameras have 32 at most, and need some themselves.
        EXPECT_EQ(found.least, threads == 1 ? 7u : 16u);
      }
  }
}

}  // namespace
}  // namespace vmafhip::test
