// Fences for memfds, in place of those that devices put on dma-bufs: whoever polls one is told to wait until it is
// signalled. Tests that link fences.cpp have a poll() of their own for that, libraries that they load included.
#pragma once
#include <gst/gst.h>

namespace vmafhip::test {

// On every object of the buffer's memory, from construction to signal(), or destruction.
class Fence {
 public:
  explicit Fence(GstBuffer *buffer);
  ~Fence();
  Fence(const Fence &) = delete;
  void signal();

 private:
  int event_;
};

}  // namespace vmafhip::test
