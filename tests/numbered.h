// Pictures that carry their own number, and a witness of what reaches the element: whether two frames that were
// compared belong together is then read from the pictures themselves, whatever time stamps say.
#pragma once
#include <map>
#include <vector>

#include "tests/pipeline.h"

namespace vmafhip::test {

// The number is drawn as squares, large and strong enough to outlive coarse encoding.
constexpr int kNumberedWidth = 160, kNumberedHeight = 96;
constexpr int kMostNumbered = 1 << 10;

std::string numbered_caps(int fps_n, int fps_d);
// Frame `number` of a clip in I420, without time stamps.
GstBuffer *numbered_picture(int number);
// Frames 0 … count-1 at times that the rate gives, each rounded to ns by itself; then null.
std::function<GstBuffer *()> numbered_clip(int count, int fps_n, int fps_d);
// -1 if no number can be read.
int number_in(const GstVideoInfo &info, GstBuffer *buffer);

// Looks at both sink pads of the element "v" of a pipeline, which it must not outlive.
class Witness {
 public:
  explicit Witness(Pipeline &pipeline);

  struct Seen {
    int number;
    BufferPtr picture;  // a copy
  };
  // What came, by time stamp. After the pipeline has stopped.
  const std::map<GstClockTime, Seen> &ref() const { return streams_[0].seen; }
  const std::map<GstClockTime, Seen> &dist() const { return streams_[1].seen; }

  // After the pipeline's end: every pair that was scored was of one number, it has the very score that the two pictures
  // have when they are compared by order, and the counters add up to the frames that reached the pads.
  void expect_true_pairs();

 private:
  struct Stream {
    GstVideoInfo info = {};
    std::map<GstClockTime, Seen> seen;
    guint64 frames = 0;
  };
  static GstPadProbeReturn probe(GstPad *pad, GstPadProbeInfo *info, gpointer stream);
  Pipeline &pipeline_;
  Stream streams_[2];
};

// The value of a counter in the element's stats.
guint64 counter(Pipeline &pipeline, const char *name, const char *element = "v");
// Whether GStreamer has all of these elements; otherwise says which packages to install (for GTEST_SKIP).
std::string missing(const std::vector<std::pair<const char *, const char *>> &element_and_package);

}  // namespace vmafhip::test
