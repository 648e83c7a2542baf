// Properties of an encoder in place that get other values while it runs, to the frame.
#pragma once
#include <string>
#include <vector>

#include "examples/monitor/settings.h"
#include "examples/monitor/taking.h"

namespace monitor {

class Changes {
 public:
  // Finds what is to be changed in `encoder`: the text of the error or nothing. `teller` posts an application message
  // `change` with property and value, each time. They come in the order of their seconds.
  std::string prepare(GstBin *encoder, GstElement *teller, const std::vector<Change> &changes);
  // From the stream's thread, for each frame that the encoder is about to take.
  void frame(const GstBuffer *buffer);

 private:
  struct Planned {
    Change change;
    ElementPtr element;
    std::string property;  // of it
  };
  std::vector<Planned> planned_;
  size_t made_ = 0;  // of these
  GstElement *teller_ = nullptr;
  GstClockTime first_ = GST_CLOCK_TIME_NONE;  // frame's time
};

}  // namespace monitor
