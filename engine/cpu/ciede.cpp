// CIEDE2000 on the CPU, a row at a time: samples as floats with chroma at luma's size, then L*a*b*, then differences.
#include "engine/cpu/ciede.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/colour_rows.h"
#include "engine/cpu/floats.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

constexpr int kBlock = kSumLanes;
static_assert(kBlock % kFloats == 0);

// Rows of whole blocks; what lies behind the picture is the same in all pictures and so differs by exactly 0.
int padded(int width) { return (width + kBlock - 1) / kBlock * kBlock; }

struct Rows {
  float *row[3];

  Rows(Arena *arena, int width) {
    for (float *&plane : row) plane = arena->take<float>(static_cast<size_t>(padded(width)));
  }
};

struct Scratch {
  Rows samples, ref, dist;
  double *lanes;

  Scratch(Arena *arena, int width)
      : samples(arena, width), ref(arena, width), dist(arena, width), lanes(arena->take<double>(kSumLanes)) {}
};

template <class Sample>
void read_chroma(const PlaneView &plane, const CiedeShape &shape, int y, float *to) {
  const int limit = shape.chroma_width;
  const auto from = [&](int x) { return row_of<Sample>(plane, ciede_chroma_row(shape, x, y)); };
  if (shape.swapped) {
    for (int x = 0; x < shape.width; x += shape.stride)
      read_samples(from(x), smaller(shape.stride, shape.width - x), limit, to + x);
  } else if (shape.half_width) {
    read_doubled(from(0), shape.width, limit, to);
  } else {
    read_samples(from(0), shape.width, limit, to);
  }
}

template <class Sample>
void read_row(const Views &views, const CiedeShape &shape, int y, const Rows &to) {
  read_samples(row_of<Sample>(views[0], y), shape.width, shape.width, to.row[0]);
  for (int plane = 1; plane < 3; plane++) read_chroma<Sample>(views[plane], shape, y, to.row[plane]);
  for (float *row : to.row)
    for (int x = shape.width; x < padded(shape.width); x++) row[x] = 0;
}

void lab_row(const Rows &from, int width, const CiedeRange &range, const Rows &to) {
  for (int x = 0; x < width; x += kFloats) {
    const CiedeLab<F32> lab = ciede_lab(load_floats(from.row[0] + x), load_floats(from.row[1] + x),
                                        load_floats(from.row[2] + x), range);
    store_vector(to.row[0] + x, lab.l);
    store_vector(to.row[1] + x, lab.a);
    store_vector(to.row[2] + x, lab.b);
  }
}

CiedeLab<F32> load_lab(const Rows &from, int x) {
  return {load_floats(from.row[0] + x), load_floats(from.row[1] + x), load_floats(from.row[2] + x)};
}

double difference_row(const Rows &ref, const Rows &dist, int width, double *lanes) {
  for (int i = 0; i < kSumLanes; i++) lanes[i] = 0;
  for (int x = 0; x < width; x += kFloats) {
    const Wide d = widen(ciede_difference(load_lab(ref, x), load_lab(dist, x)));
    double *sums = lanes + x % kSumLanes;
    store_vector(sums, load_doubles(sums) + d.low);
    store_vector(sums + kFloats / 2, load_doubles(sums + kFloats / 2) + d.high);
  }
  return lane_sum(lanes);
}

size_t scratch_bytes(int width) {
  Arena arena(nullptr);
  Scratch memory(&arena, width);
  return arena.used();
}

void strip(const CiedeStrip &work) {
  Arena arena(work.scratch);
  const CiedeShape &shape = work.shape;
  const Scratch m(&arena, shape.width);
  const int depth = work.frame.ref[0].depth, width = padded(shape.width);
  const CiedeRange range = ciede_range(depth);
  const auto lab = [&](const Views &views, int y, const Rows &to) {
    if (depth == 8)
      read_row<uint8_t>(views, shape, y, m.samples);
    else
      read_row<uint16_t>(views, shape, y, m.samples);
    lab_row(m.samples, width, range, to);
  };
  for (int y = work.first; y < work.last; y++) {
    lab(work.frame.ref, y, m.ref);
    double *sum = work.rows + y;
    for (const Views &views : work.frame.dist) {
      lab(views, y, m.dist);
      *sum = difference_row(m.ref, m.dist, width, m.lanes);
      sum += shape.height;
    }
  }
}

}  // namespace

extern const CiedeKernels ciede_kernels = {scratch_bytes, strip};

}  // namespace vmafhip::VMAFHIP_ISA
