// Samples of a row as floats, chroma brought to luma's width by replication.
// Everything is local to the including file: it is compiled once per instruction set.
#pragma once
#include "engine/arith/hd.h"

namespace vmafhip {
namespace {

// `count` samples, the first `limit` of which exist; zeros stand for the others.
template <class Sample>
void read_samples(const Sample *from, int count, int limit, float *to) {
  const int there = smaller(count, limit);
  for (int x = 0; x < there; x++) to[x] = from[x];
  for (int x = there; x < count; x++) to[x] = 0;
}

// Each sample twice, `count` in all; from[limit - 1], the last one, as often as it takes.
template <class Sample>
void read_doubled(const Sample *from, int count, int limit, float *to) {
  const int pairs = smaller(count / 2, limit);
  for (int k = 0; k < pairs; k++) {
    const float v = from[k];
    to[2 * k] = v;
    to[2 * k + 1] = v;
  }
  for (int x = 2 * pairs; x < count; x++) to[x] = from[limit - 1];
}

}  // namespace
}  // namespace vmafhip
