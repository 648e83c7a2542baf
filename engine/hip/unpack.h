// Planes in device memory that kernels of metrics cannot read as they are there (interleaved or shifted samples, fewer bits
// than the comparison has, words at odd addresses), put into memory of ours by a kernel.
#pragma once
#include "engine/hip/device.h"
#include "engine/metric.h"
#include "kernels/unpack_args.h"

namespace vmafhip::hip {

class Unpacker {
 public:
  // `depth`: that of the comparison.
  Unpacker(const Device &device, int depth);

  // Where a plane goes: rows lie at multiples of 128 bytes, and what is behind their samples is written, too.
  struct Target {
    DeviceAddress<std::byte> data;
    int64_t stride = 0;
    int width = 0, height = 0;
  };
  // Some planes, together.
  class Launch {
   public:
    Launch(const Unpacker &unpacker, const Stream &stream) : unpacker_(unpacker), stream_(stream) {}
    void add(const PlaneView &from, const Target &to);
    void flush();  // in the end

   private:
    const Unpacker &unpacker_;
    const Stream &stream_;
    UnpackArgs args_;
    unsigned count_ = 0;
    int width_ = 0, height_ = 0;  // of the largest plane
  };

 private:
  const Function kernel_;
  const int depth_;
};

}  // namespace vmafhip::hip
