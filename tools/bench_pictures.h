// What vmafhip-bench compares: a few frames in memory, generated or read from raw files.
#pragma once
#include <algorithm>
#include <vector>

#include "engine/picture.h"
#include "tools/bench_arguments.h"
#include "tools/gpu_pictures.h"

namespace vmafhip::bench {

struct Frame {
  Picture ref;
  std::vector<Picture> dist;
};

struct Pictures {
  std::vector<Frame> frames;
  uint64_t bytes = 0;

  // Forwards and backwards, so that no two neighbours are further apart than in the clip.
  const Frame &at(uint64_t n) const {
    const uint64_t last = frames.size() - 1;
    const uint64_t place = n % period();
    return frames[place <= last ? place : 2 * last - place];
  }
  // After so many frames they come again.
  uint64_t period() const { return std::max<uint64_t>(1, 2 * (frames.size() - 1)); }
};

// In host memory. Throws std::exception if a file or a format will not do.
Pictures make_pictures(const Arguments &arguments);
// Copies of them where the GPU reaches them.
Pictures place(const Pictures &pictures, const GpuPictures &gpu, MemoryKind memory);

}  // namespace vmafhip::bench
