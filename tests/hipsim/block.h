// A block of a launch: its threads are fibers that take turns, warp by warp, on the thread of the system that runs it.
#pragma once
#include <memory>
#include <optional>

#include "tests/hipsim/executor.h"
#include "tests/hipsim/fibers.h"

namespace hipsim {

struct Block {
  const Launch *launch = nullptr;
  Index index;
  unsigned threads = 0, warp_size = 32, warp_count = 0;
  unsigned live = 0, waiting = 0;  // threads that have not left; those of them at the barrier
  int barrier_line = 0;
  bool reverse = false;
  void *outside = nullptr;  // where run_block() waits
  std::optional<Fault> fault;
  Stacks stacks{kMostThreads};
  std::unique_ptr<Warp[]> warps{new Warp[kMostThreads / 32]};
  std::unique_ptr<Lane[]> lanes{new Lane[kMostThreads]};
#if defined(__SANITIZE_ADDRESS__)
  const void *outside_bottom = nullptr;
  size_t outside_bytes = 0;
  void *outside_fake_stack = nullptr;
#endif

  unsigned number_of(const Lane &l) const {
    return static_cast<unsigned>(l.warp - warps.get()) * warp_size + l.number;
  }
};

// Returns when all threads have left, or with block.fault when one did something wrong.
void run_block(Block &block);

}  // namespace hipsim
