// What vmafhip-bench compares: a few frames in memory, generated or read from raw files.
#pragma once
#include <vector>

#include "engine/picture.h"
#include "tools/bench_arguments.h"

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
    if (last == 0) return frames[0];
    const uint64_t place = n % (2 * last);
    return frames[place <= last ? place : 2 * last - place];
  }
};

// Throws std::exception if a file or a format will not do.
Pictures make_pictures(const Arguments &arguments);

}  // namespace vmafhip::bench
