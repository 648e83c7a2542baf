// What memory a buffer is made of, as far as dma-bufs are concerned: devices may still be writing to them.
#pragma once
#include <gst/gst.h>

#include <vector>

#include "engine/status.h"

namespace vmafhip {

// Whether all of it is dma-bufs, whatever the caps say.
bool is_dmabuf(GstBuffer *buffer);
// Descriptors of those that are.
std::vector<int> dmabuf_descriptors(GstBuffer *buffer);
// Whether what devices write to them is done. `wait_ms`: how long to wait for each; 0: not at all.
bool is_written(GstBuffer *buffer, int wait_ms);

// Before GStreamer maps them: that what lies behind descriptors is as large as the buffer's memories say, if it tells. Reading beyond
// its end ends the process.
Status check_descriptors(GstBuffer *buffer);

// A copy in system memory of a buffer that is written. Null if it cannot be read.
GstBuffer *copy_to_system_memory(GstBuffer *buffer);

}  // namespace vmafhip
