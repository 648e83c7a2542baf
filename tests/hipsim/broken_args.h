// Arguments of kernels that do something wrong each (broken.hip).
#pragma once
#include "kernels/args.h"

namespace vmafhip {

constexpr int kBrokenThreads = 128;

struct BrokenArgs {
  DeviceAddress<uint32_t> data;
  uint64_t count;   // elements that the kernel says it uses
  int64_t element;  // that it uses
};

}  // namespace vmafhip
