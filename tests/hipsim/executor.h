// Runs the kernels of images: the threads of a block are fibers that take turns on one thread of the system, blocks
// are spread over HIPSIM_THREADS of these.
#pragma once
#include <optional>
#include <string>

#include "tests/hipsim/image.h"
#include "tests/hipsim/simt.h"

namespace hipsim {

struct Launch {
  const Kernel *kernel;
  Index grid, block;
  const void *arguments;
};

// What a kernel did wrong, with its name, block and thread.
struct Fault {
  int error;  // HIP's number
  std::string text;
};

constexpr size_t kMostSharedBytes = 65536;  // of a block

// Returns when all blocks are done or one went wrong.
std::optional<Fault> run(const Launch &launch);
// Ends the threads; the next run() begins new ones.
void stop_executor();

}  // namespace hipsim
