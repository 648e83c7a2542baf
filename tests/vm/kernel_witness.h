// What the kernel says of how this process uses dma-bufs: its tracing of the functions that do the work.
#pragma once

namespace vmafhip::test {

int mappings();  // of dma-bufs in this process, now

// What is done with dma-bufs from construction on. One at a time.
class KernelWitness {
 public:
  KernelWitness();
  ~KernelWitness();
  KernelWitness(const KernelWitness &) = delete;
  // What the calling thread does is the producer's affair, and not counted.
  static void leave_out_this_thread();

  struct Counts {
    int begin_read = 0, end_read = 0;  // DMA_BUF_IOCTL_SYNC
    int mapped = 0;
  };
  Counts counts() const;
};

}  // namespace vmafhip::test
