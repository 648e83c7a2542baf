// Real dma-bufs of the kernel's vgem driver, a GPU without hardware: memory objects, which the processor maps, and
// fences as a device has that is still writing.
#pragma once
#include <cstddef>
#include <cstdint>

namespace vmafhip::test {

class Vgem {
 public:
  Vgem();  // throws std::runtime_error where there is no such device
  ~Vgem();
  Vgem(const Vgem &) = delete;

  // A new object of so many bytes, rounded up to pages. The file descriptor is the caller's; the object lives as long as
  // one of its descriptors or mappings.
  int make(size_t bytes) const;

  // Whoever reads the object now has to wait for the fence: a device is writing. The kernel gives such a device up after 10 s.
  uint32_t begin_write(int fd) const;
  // The device is done. False: the kernel had given it up.
  bool end_write(uint32_t fence) const;

 private:
  int device_ = -1;
};

// One for all tests, and its make() as tests/dmabufs.h wants it.
const Vgem &vgem();
int vgem_object(size_t bytes);

}  // namespace vmafhip::test
