// Float VIF on the CPU: rows of one scale, kFloats of them at a time.
//
// For each chunk of columns: column sums of means, squares and products, transposed, so that a vector holds a column of
// kFloats rows; then row sums, statistics, and the sums along the rows, in the order of the definition. What the
// reference has to itself is worked out once for all distorted pictures.
#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/float_filter.h"
#include "engine/cpu/float_samples.h"
#include "engine/cpu/floats.h"
#include "engine/cpu/vif_float.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

// Rows of column sums at once: as many accumulators as there are registers for.
constexpr int kRows = kFloats == 16 ? 4 : 2;
constexpr int kBlock = 8;   // columns of row sums at once
constexpr int kBand = 128;  // columns whose column sums are halved at once, so that rows are in the cache
constexpr int kRefStreams = 2, kDistStreams = 3;

constexpr int padded(int width) { return (width + kFloats - 1) / kFloats * kFloats; }

struct Memory {
  int ring_rows;
  const float **rows;  // of each picture, table_rows of them: what a group's filter reads
  int table_rows;
  float *ring;  // rows as floats, ring_rows of each picture
  ptrdiff_t stride;
  FilterStreams streams;     // of the reference, then of each distorted picture
  F32 *num;                  // of each distorted picture
  float *half[kFloats / 2];  // column sums of the next scale, with mirrored ends
  float *parts;

  Memory(Arena *arena, int width, int radius, int distorted) {
    const size_t pictures = 1 + static_cast<size_t>(distorted);
    ring_rows = kFloats + 2 * radius;
    table_rows = kFloats + larger(2 * radius, kRows - 1);
    rows = arena->take<const float *>(pictures * static_cast<size_t>(table_rows));
    stride = vif_float_stride(width);
    ring = arena->take<float>(pictures * static_cast<size_t>(ring_rows) * static_cast<size_t>(stride));
    streams.count = kRefStreams + kDistStreams * distorted;
    streams.columns = filter_stream_columns(radius, kBlock);
    streams.first =
        arena->take<F32>(static_cast<size_t>(streams.count) * static_cast<size_t>(streams.columns));
    num = arena->take<F32>(static_cast<size_t>(distorted));
    for (float *&row : half)
      row = arena->take<float>(static_cast<size_t>(padded(width)), static_cast<size_t>(radius),
                               static_cast<size_t>(radius + 2 * kFloats));
    parts = arena->take<float>(2 * static_cast<size_t>(filter_half_part(width, radius)));
  }
};

struct Pass {
  const VifFloatStrip &strip;
  const Memory &m;
  const int reach;  // rows above and below that any filter reads

  void run() const {
    int filled = larger(0, strip.first - reach);
    for (int y = strip.first; y < strip.last; y += kFloats) {
      for (const int end = smaller(strip.height, y + kFloats + reach); filled < end; filled++) fill(filled);
      if (strip.next) halve(y);
      if (strip.filter) measure(y);
    }
  }

  void fill(int y) const {
    for (int p = 0; p <= strip.distorted; p++)
      if (!strip.pictures[p].floats)
        read_float_row(strip.pictures[p].samples, y, -kFloatSampleMiddle, ring_row(p, y));
  }
  float *ring_row(int picture, int y) const {
    return m.ring + (static_cast<ptrdiff_t>(picture) * m.ring_rows + y % m.ring_rows) * m.stride;
  }
  const float *row(int picture, int y) const {
    const float *floats = strip.pictures[picture].floats;
    return floats ? floats + y * strip.stride : ring_row(picture, y);
  }
  // The rows that a filter reads for kFloats rows from y on. Those for rows behind the picture only have to exist.
  const float **table(int picture, int y, int radius) const {
    const float **rows = m.rows + static_cast<ptrdiff_t>(picture) * m.table_rows;
    for (int i = 0; i < kFloats + larger(2 * radius, kRows - 1); i++)
      rows[i] = row(picture, mirror(smaller(y - radius + i, strip.height - 1 + radius), strip.height));
    return rows;
  }

  // ---- The next scale

  void halve(int y) const {
    const FloatFilter &filter = *strip.next;
    const int radius = filter_radius(filter.length), end = smaller(strip.last, strip.height / 2 * 2);
    for (int p = 0; p <= strip.distorted; p++) {
      const float *const *rows = table(p, y, radius);
      for (int from = 0; from < strip.width; from += kBand)
        for (int i = 0; y + 2 * i < end && i < kFloats / 2; i++)
          for (int x = from; x < smaller(from + kBand, strip.width); x += kFloats) {
            FilterSums<1, 1> sums;
            filter_columns(
                filter,
                [&](int j, F32(&value)[1])
                    __attribute__((always_inline)) { value[0] = load_floats(rows[2 * i + j] + x); },
                &sums);
            store_vector(m.half[i] + x, sums.of[0][0]);
          }
      for (int i = 0; y + 2 * i < end && i < kFloats / 2; i++) {
        mirror_ends(m.half[i], strip.width, radius);
        filter_every_second(filter, m.half[i], strip.width, m.parts,
                            strip.pictures[p].half + (y / 2 + i) * strip.half_stride);
      }
    }
  }

  // ---- Statistics

  void measure(int y) const {
    const int radius = filter_radius(strip.filter->length);
    for (int p = 0; p <= strip.distorted; p++) table(p, y, radius);
    F32 den = {};
    for (int d = 0; d < strip.distorted; d++) m.num[d] = F32{};
    filter_along_rows<kBlock>(
        strip.width, radius, m.streams, [&](int x, int to) { columns(x, to); },
        [&](int at, int count) { statistics(at, count, &den); });
    const int live = smaller(kFloats, strip.last - y);
    put(den, strip.den + y, live);
    for (int d = 0; d < strip.distorted; d++)
      put(m.num[d], strip.num + static_cast<ptrdiff_t>(d) * strip.height + y, live);
  }

  static void put(F32 sums, float *to, int count) {
    std::memcpy(to, &sums, static_cast<size_t>(count) * sizeof(float));
  }

  F32 *ref_stream(int s) const { return FilterStreams::stream(m.streams, s); }
  F32 *dist_stream(int d, int s) const {
    return FilterStreams::stream(m.streams, kRefStreams + kDistStreams * d + s);
  }

  // Column sums of kFloats columns from x on, to position `to` of the streams.
  void columns(int x, int to) const {
    const float *const *ref = m.rows;
    F32 tile[kDistStreams][kFloats];
    for (int r = 0; r < kFloats; r += kRows) {
      FilterSums<kRows, kRefStreams> sums;
      filter_columns(
          *strip.filter,
          [&](int j, F32(&value)[kRefStreams]) __attribute__((always_inline)) {
            value[0] = load_floats(ref[r + j] + x);
            value[1] = value[0] * value[0];
          },
          &sums);
      unroll<kRows>([&](auto i) __attribute__((always_inline)) {
        unroll<kRefStreams>([&](auto s) __attribute__((always_inline)) { tile[s][r + i] = sums.of[i][s]; });
      });
    }
    for (int s = 0; s < kRefStreams; s++) turn(tile[s], ref_stream(s) + to);
    for (int d = 0; d < strip.distorted; d++) {
      const float *const *dist = ref + static_cast<ptrdiff_t>(1 + d) * m.table_rows;
      for (int r = 0; r < kFloats; r += kRows) {
        FilterSums<kRows, kDistStreams> sums;
        filter_columns(
            *strip.filter,
            [&](int j, F32(&value)[kDistStreams]) __attribute__((always_inline)) {
              const F32 other = load_floats(ref[r + j] + x);
              value[0] = load_floats(dist[r + j] + x);
              value[1] = value[0] * value[0];
              value[2] = other * value[0];
            },
            &sums);
        unroll<kRows>([&](auto i) __attribute__((always_inline)) {
          unroll<kDistStreams>([&](auto s)
                                   __attribute__((always_inline)) { tile[s][r + i] = sums.of[i][s]; });
        });
      }
      for (int s = 0; s < kDistStreams; s++) turn(tile[s], dist_stream(d, s) + to);
    }
  }

  static void turn(const F32 *tile, F32 *to) {
    F32 v[kFloats];
    unroll<kFloats>([&](auto i) __attribute__((always_inline)) { v[i] = tile[i]; });
    transpose(v);
    unroll<kFloats>([&](auto i) __attribute__((always_inline)) { to[i] = v[i]; });
  }

  // Of kBlock columns, the first `count` of which exist; `at` is where their filters begin.
  void statistics(int at, int count, F32 *den) const {
    const VifFloatTerms terms = *strip.terms;
    F32 mean[kBlock], square[kBlock], product[kBlock];
    VifFloatReference<F32> ref[kBlock];
    filter_transposed(*strip.filter, ref_stream(0) + at, mean);
    filter_transposed(*strip.filter, ref_stream(1) + at, square);
    for (int c = 0; c < count; c++) {
      ref[c] = vif_float_reference(mean[c], square[c], terms);
      *den += ref[c].information;
    }
    for (int d = 0; d < strip.distorted; d++) {
      filter_transposed(*strip.filter, dist_stream(d, 0) + at, mean);
      filter_transposed(*strip.filter, dist_stream(d, 1) + at, square);
      filter_transposed(*strip.filter, dist_stream(d, 2) + at, product);
      F32 num = m.num[d];
      for (int c = 0; c < count; c++)
        num += vif_float_surviving(ref[c], mean[c], square[c], product[c], terms);
      m.num[d] = num;
    }
  }
};

// Rows before they are rescaled that are kept as floats: at least as many as taps reach over.
constexpr int kKept = 16;

struct ScalingMemory {
  float *rows;  // row y at y % kKept
  int *which;   // the rows that these are
  ptrdiff_t stride;

  ScalingMemory(Arena *arena, int width) : stride(vif_float_stride(width)) {
    rows = arena->take<float>(static_cast<size_t>(stride) * kKept);
    which = arena->take<int>(kKept);
  }
};

size_t scaling_scratch_bytes(int width) {
  Arena arena(nullptr);
  const ScalingMemory memory(&arena, width);
  return arena.used();
}

void scale(const VifFloatScaling &scaling) {
  Arena arena(scaling.scratch);
  const ScalingMemory memory(&arena, scaling.samples.width);
  for (int i = 0; i < kKept; i++) memory.which[i] = -1;
  const FloatScaleAxis &down = *scaling.rows;
  for (int y = scaling.first; y < scaling.last; y++) {
    const float *rows[kFloatScaleMostTaps];
    float weights[kFloatScaleMostTaps];
    for (int t = 0; t < float_scale_taps(scaling.method); t++) {
      const int from = down.index[t * down.stride + y];
      float *const row = memory.rows + from % kKept * memory.stride;
      if (memory.which[from % kKept] != from) read_float_row(scaling.samples, from, -kFloatSampleMiddle, row);
      memory.which[from % kKept] = from;
      rows[t] = row;
      weights[t] = down.weight[t * down.stride + y];
    }
    float_scale_row(scaling.method, *scaling.columns, rows, weights, scaling.to + y * scaling.stride);
  }
}

size_t scratch_bytes(int width, int radius, int distorted) {
  Arena arena(nullptr);
  const Memory memory(&arena, width, radius, distorted);
  return arena.used();
}

void measure(const VifFloatStrip &strip) {
  const int reach = larger(strip.filter ? filter_radius(strip.filter->length) : 0,
                           strip.next ? filter_radius(strip.next->length) : 0);
  Arena arena(strip.scratch);
  const Memory memory(&arena, strip.width, reach, strip.distorted);
  const Pass pass = {strip, memory, reach};
  pass.run();
}

}  // namespace

extern const VifFloatKernels vif_float_kernels = {scaling_scratch_bytes, scale, scratch_bytes, measure};

}  // namespace vmafhip::VMAFHIP_ISA
