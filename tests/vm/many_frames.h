// Streams whose pictures come in the same few dma-bufs, again and again: what is done once an object, and what grows.
#pragma once
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "tests/vm/comparison.h"
#include "tests/vm/reading.h"

namespace vmafhip::test {

class ManyFrames {
 public:
  static constexpr int kFrames = 200, kObjects = 6;  // objects of each pad

  enum class How {
    pools,        // buffers come back to pools and are filled anew
    descriptors,  // buffers are made anew, with new descriptors of the same objects
  };
  // `growth_kib`: how much more memory a hundred frames may take.
  ManyFrames(How how, const std::string &backend, long growth_kib = 64);
  ~ManyFrames();
  ManyFrames(const ManyFrames &) = delete;

  // Runs all of it: scores are those of system memory, and neither memory nor files nor mappings grow. How it was read,
  // and what measured it.
  std::pair<Reading, std::string> run();

 private:
  Comparison comparison_;
  const long growth_kib_;
  std::vector<GstBufferPool *> pools_;
  std::atomic<int> scored_{0};
  std::atomic<bool> over_{false};
};

}  // namespace vmafhip::test
