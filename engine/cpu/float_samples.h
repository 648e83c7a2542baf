// Rows of samples as floats, by the definition of engine/arith/float_samples.h.
// Everything is local to the including file: it is compiled once per instruction set.
#pragma once
#include "engine/arith/float_samples.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/floats.h"

namespace vmafhip {
namespace {

// kFloats neighbouring samples.
template <class Sample>
VMAFHIP_FLOATS_FN F32 load_float_samples(const Sample *from, float step, float offset) {
  return float_sample(to_real(load_integers(from)), step, offset);
}

template <class Sample>
inline void read_float_samples(const Sample *from, int count, float step, float offset, float *to) {
  if (count < kFloats) {
    for (int x = 0; x < count; x++)
      to[x] = float_sample(static_cast<float>(static_cast<int32_t>(from[x])), step, offset);
    return;
  }
  for (int at = 0; at < count; at += kFloats) {
    const int x = smaller(at, count - kFloats);  // the last vector overlaps the one before
    store_vector(to + x, load_float_samples(from + x, step, offset));
  }
}

// Row y of a plane. Nothing outside the row is read, nothing beyond to[plane.width - 1] written.
inline void read_float_row(const PlaneView &plane, int y, float offset, float *to) {
  const float step = float_sample_step(plane.depth);
  if (plane.depth == 8)
    read_float_samples(row_of<uint8_t>(plane, y), plane.width, step, offset, to);
  else
    read_float_samples(row_of<uint16_t>(plane, y), plane.width, step, offset, to);
}

}  // namespace
}  // namespace vmafhip
