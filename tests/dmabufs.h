// Buffers of dma-bufs for tests. Where there is no device there are memfds in their place, which know no fences and nothing
// of DMA_BUF_IOCTL_SYNC, but are shared, mapped, and told apart in the same way.
#pragma once
#include <gst/video/video.h>

#include "tests/pipeline.h"

namespace vmafhip::test {

// How memories of a buffer lie in objects.
struct Objects {
  bool one = false;     // all in one object, each at an offset of its own; else one each
  gsize before = 0;     // bytes of noise in front of a memory
  gsize behind = 0;     // and behind it
  bool sealed = false;  // against writing, and so against being registered
};

// Makes an object and gives its descriptor.
using MakeObject = int (*)(gsize bytes);
int memfd(gsize bytes);

// Wraps a descriptor, which is taken, as memory of a GstDmaBufAllocator.
GstMemory *dmabuf_memory(int fd, gsize size);

// The buffer's memories and metas anew, in objects. Takes the reference.
GstBuffer *in_objects(GstBuffer *buffer, const Objects &objects, MakeObject make);
inline GstBuffer *in_memfds(GstBuffer *buffer, const Objects &objects = {}) {
  return in_objects(buffer, objects, memfd);
}

// A pool of `count` buffers, no more, each with an object of its own, whatever a consumer asks for.
GstBufferPool *object_pool(const GstVideoInfo &info, guint count, MakeObject make);
inline GstBufferPool *memfd_pool(const GstVideoInfo &info, guint count) {
  return object_pool(info, count, memfd);
}
// The next buffer of the pool with the bytes, times and metas of `from`, which is taken; null once the pool is inactive.
GstBuffer *from_pool(GstBufferPool *pool, GstBuffer *from);

int open_descriptors();  // of this process

}  // namespace vmafhip::test
