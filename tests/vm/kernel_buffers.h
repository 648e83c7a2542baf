// GStreamer's buffers in dma-bufs of the kernel, and what the kernel says of how they are used.
#pragma once
#include <gst/gst.h>

#include <string>

#include "tests/vm/vgem.h"

namespace vmafhip::test {

const Vgem &vgem();

enum class Place {
  objects,  // each GstMemory is a dma-buf of its own
  shared,   // all of a buffer are parts of one dma-buf, behind a piece that belongs to nobody
};
// The same buffer with its memories in dma-bufs; time stamps and metas stay. Takes a reference and gives one.
GstBuffer *in_kernel(GstBuffer *buffer, Place place = Place::objects);
// Writes to an object as the processor has to.
void write_object(int fd, size_t offset, const void *data, size_t bytes);
// A memory of `bytes` from `offset` on of the object. Takes the descriptor.
GstMemory *memory_of(int fd, size_t offset, size_t bytes);

// Caps in which producers say that memory is theirs to be mapped only with care.
std::string dmabuf_caps(const std::string &caps);

int open_files();  // of this process

// What the kernel does with dma-bufs of this process, from construction on.
class KernelWitness {
 public:
  KernelWitness();
  ~KernelWitness();
  KernelWitness(const KernelWitness &) = delete;
  struct Counts {
    int begin_read = 0, end_read = 0;  // DMA_BUF_IOCTL_SYNC
    int mapped = 0;
  };
  Counts counts() const;
};

}  // namespace vmafhip::test
