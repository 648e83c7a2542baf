// The memory of a block (GPU_SHARED): the thread-local variables of this library. Filled with garbage before each block,
// so that what a kernel reads before it wrote it shows.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace hipsim {

// Offsets from .. to.
using Span = std::pair<size_t, size_t>;
std::vector<Span> unite(std::vector<Span> a, std::vector<Span> b);

// Of the calling thread. Filling spares this library's own thread-local variables.
class ThreadMemory {
 public:
  ThreadMemory();
  void fill_all() const;
  void fill(const std::vector<Span> &spans) const;
  // What no longer holds the garbage of fill_all().
  std::vector<Span> changed() const;
  size_t changed_bytes() const;

 private:
  char *begin_;
  size_t bytes_;
};

}  // namespace hipsim
