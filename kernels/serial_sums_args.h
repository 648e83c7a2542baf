// Launch arguments of sums that are taken one number after the other, as definitions of float metrics want it: over the
// rows of a plane, whose own sums other kernels have left in device memory.
#pragma once
#include "kernels/args.h"

namespace vmafhip {

constexpr int kSerialSumThreads = 64;
constexpr int kSerialSumParts = 8;
constexpr int kSerialSumFrames = 64;

// blockIdx: number of the sum, 0, frame.
template <class Number>
struct SerialSumArgs {
  struct Frame {
    DeviceAddress<const Number> numbers;
    DeviceAddress<Number> sums;  // those of all parts, one after the other
  } frames[kSerialSumFrames];
  // `sums` sums of `count` numbers each, which lie one after the other.
  struct Part {
    int32_t first, count, sums;
  } parts[kSerialSumParts];
};

}  // namespace vmafhip
