// A clip that stands still, with bad and missing frames where a test wants them, for tests of what is reported of it.
#pragma once
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/pipeline.h"

namespace vmafhip::test {

inline constexpr GstClockTime kFrame = 40 * GST_MSECOND;

// Lets a source go on to a frame only when the test wants it.
class Gate {
 public:
  void open(int frames) {
    std::lock_guard lock(mutex_);
    open_ = frames;
    changed_.notify_all();
  }
  void pass(int frame) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return frame < open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int open_ = 0;
};

// Declared after the pipeline: a test that fails lets its sources go.
struct OpenAtEnd {
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  ~OpenAtEnd() { gate->open(1 << 30); }
  Gate *operator->() const { return gate.get(); }
};

// Frame i of a clip that stands still: noise, and what is left of it in a bad frame. Scores depend on `bad` alone.
inline GstBuffer *picture(int i, bool bad, int size = 64) {
  Planes planes;
  planes[0].resize(size_t(size) * size_t(size));
  guint32 noise = 1;
  for (uint16_t &v : planes[0]) {
    noise = noise * 1664525u + 1013904223u;
    v = uint16_t(bad ? 100 + (noise >> 30) : 60 + (noise >> 25));
  }
  GstBuffer *buffer = make_buffer(video_info("GRAY8", size, size), planes);
  GST_BUFFER_PTS(buffer) = GstClockTime(i) * kFrame;
  GST_BUFFER_DURATION(buffer) = kFrame;
  return buffer;
}

inline std::string description(const std::string &settings, int size = 64) {
  const std::string source = "appsrc caps=" + caps_text("GRAY8", size, size) + " name=";
  return "vmafhip name=v threads=2 " + settings + " ! fakesink name=out sync=false " + source +
         "ref ! v.ref_sink " + source + "dist ! v.dist_sink";
}

struct Clip {
  int frames = 0;
  std::string quality =
      "g";  // of frame i: 'b' bad, '-' no distorted one, ' ' none at all, else good; repeated
  std::shared_ptr<Gate> gate = {};  // of both sources
  int size = 64;
};

inline void feed(Pipeline &pipeline, const Clip &clip) {
  for (const bool dist : {false, true})
    pipeline.feed(dist ? "dist" : "ref", [clip, dist, i = 0]() mutable -> GstBuffer * {
      auto quality = [&] { return clip.quality[size_t(i) % clip.quality.size()]; };
      while (i < clip.frames && (quality() == ' ' || (dist && quality() == '-'))) ++i;
      if (clip.gate) clip.gate->pass(i);
      if (i >= clip.frames) return nullptr;
      GstBuffer *buffer = picture(i, dist && quality() == 'b', clip.size);
      ++i;
      return buffer;
    });
}

inline std::vector<const GstStructure *> of_type(const Pipeline &pipeline, const char *type) {
  std::vector<const GstStructure *> found;
  for (const StructurePtr &s : pipeline.others)
    if (!std::strcmp(gst_structure_get_string(s.get(), "type"), type)) found.push_back(s.get());
  return found;
}

inline StructurePtr stats_of(Pipeline &pipeline) {
  GstStructure *stats = nullptr;
  g_object_get(pipeline.get("v"), "stats", &stats, nullptr);
  return StructurePtr(stats);
}

inline guint64 counter(Pipeline &pipeline, const char *name) {
  return number(stats_of(pipeline).get(), name);
}

inline void expect_frames(const Pipeline &pipeline, size_t frames) {
  ASSERT_EQ(pipeline.frames.size(), frames);
  for (size_t i = 0; i < frames; ++i) {
    EXPECT_EQ(number(pipeline.frames[i].get(), "index"), i);
    EXPECT_EQ(number(pipeline.frames[i].get(), "timestamp"), i * kFrame);
  }
}

// Of an alert: "raised 5 since 3": its state, the frame of its running-time, the frame of its since.
inline std::string alert_text(const GstStructure *alert) {
  return std::string(gst_structure_get_string(alert, "state")) + " " +
         std::to_string(number(alert, "running-time") / kFrame) + " since " +
         std::to_string(number(alert, "since") / kFrame);
}

}  // namespace vmafhip::test
