// Loops of a fixed number of turns, unrolled by the language rather than by the optimiser, so that arrays of vectors
// stay in registers. No library templates: these files are compiled once per instruction set.
#pragma once

namespace vmafhip {
namespace {

// A number as a type.
template <int kValue>
struct Index {
  constexpr operator int() const { return kValue; }
};

// Calls body(Index<0>()) to body(Index<kCount - 1>()).
template <int kCount, int kFirst = 0, class Body>
[[gnu::always_inline]] inline void unroll(const Body &body) {
  if constexpr (kCount > 0) {
    body(Index<kFirst>());
    unroll<kCount - 1, kFirst + 1>(body);
  }
}

}  // namespace
}  // namespace vmafhip
