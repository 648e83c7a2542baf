// What tests ask of the libgsthip that does nothing (gsthip.cpp): fake_gst_hip() in the library.
#pragma once
#include <gst/gst.h>

#include <atomic>

struct FakeGstHip {
  std::atomic<int> devices{0};  // that there are
  std::atomic<int> waits{0};    // for memory to be written
};
