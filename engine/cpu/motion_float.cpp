// Float motion on the CPU: kFloats rows of both frames at a time. Column sums of both, transposed, so that a vector
// holds a column of these rows; then row sums, magnitudes of their difference, and the sums along the rows.
#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/float_filter.h"
#include "engine/cpu/float_samples.h"
#include "engine/cpu/floats.h"
#include "engine/cpu/motion_float.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

constexpr int kMostTaps = 5, kFrames = 2;
constexpr int kBlock = kFloats;  // columns of row sums at once: a tile that can be turned back

struct Memory {
  FilterStreams streams;

  explicit Memory(Arena *arena) {
    streams.count = kFrames;
    streams.columns = filter_stream_columns(kMostTaps / 2, kBlock) + kFloats;
    // The last columns of a row overlap those before, which may have left the streams.
    streams.first = arena->take<F32>(static_cast<size_t>(kFrames * streams.columns), kFloats);
  }
};

template <class Sample, int kTaps>
struct Pass {
  static constexpr int kRadius = kTaps / 2, kSourceRows = kFloats + kTaps - 1;

  const MotionFloatStrip &strip;
  const Memory &m;
  const float step;
  const Sample *rows[kFrames][kSourceRows];
  Sample narrow[kFrames][kSourceRows][kFloats];  // rows that are shorter than a vector

  Pass(const MotionFloatStrip &s, const Memory &memory)
      : strip(s), m(memory), step(float_sample_step(s.current.depth)) {}

  void run() {
    for (int y = strip.first; y < strip.last; y += kFloats) {
      find_rows(strip.earlier, y, rows[0], narrow[0]);
      find_rows(strip.current, y, rows[1], narrow[1]);
      const int live = smaller(kFloats, strip.last - y);
      F32 sum = {};
      int x = 0;
      filter_along_rows<kBlock>(
          strip.width, kRadius, m.streams, [&](int column, int to) { columns(column, to); },
          [&](int at, int count) {
            F32 filtered[kFrames][kBlock];
            for (int f = 0; f < kFrames; f++) row_sums(FilterStreams::stream(m.streams, f) + at, filtered[f]);
            for (int c = 0; c < count; c++) sum += absolute(filtered[0][c] - filtered[1][c]);
            for (int f = 0; f < kFrames; f++)
              if (strip.filtered[f]) keep(filtered[f], strip.filtered[f] + y * strip.stride + x, live);
            x += kBlock;
          });
      std::memcpy(strip.sums + y, &sum, static_cast<size_t>(live) * sizeof(float));
    }
  }

  // Rows that the filter reads for kFloats rows from y on; those for rows behind the plane only have to exist.
  void find_rows(const PlaneView &plane, int y, const Sample **to, Sample (*copies)[kFloats]) const {
    for (int i = 0; i < kSourceRows; i++) {
      to[i] =
          row_of<Sample>(plane, mirror(smaller(y - kRadius + i, strip.height - 1 + kRadius), strip.height));
      if (strip.width >= kFloats) continue;
      std::memset(copies[i], 0, sizeof copies[i]);
      std::memcpy(copies[i], to[i], static_cast<size_t>(strip.width) * sizeof(Sample));
      to[i] = copies[i];
    }
  }

  // Column sums of kFloats columns from x on, to position `to` of the streams. Where fewer are left, those before are
  // summed once more.
  void columns(int x, int to) const {
    const int back = larger(0, smaller(x, x + kFloats - strip.width));
    x -= back;
    to -= back;
    for (int f = 0; f < kFrames; f++) {
      const Sample *const *const from = rows[f];
      const auto read = [&](int row) __attribute__((always_inline)) {
        return load_float_samples(from[row] + x, step, -kFloatSampleMiddle);
      };
      F32 window[kTaps], sums[kFloats];
      unroll<kTaps - 1>([&](auto k) __attribute__((always_inline)) { window[k + 1] = read(k); });
      unroll<kFloats>([&](auto r) __attribute__((always_inline)) {
        unroll<kTaps - 1>([&](auto k) __attribute__((always_inline)) { window[k] = window[k + 1]; });
        window[kTaps - 1] = read(r + kTaps - 1);
        F32 sum = strip.filter->tap[0] * window[0];
        unroll<kTaps - 1, 1>([&](auto k) __attribute__((always_inline)) {
          sum = filter_add(sum, strip.filter->tap[k], window[k]);
        });
        sums[r] = sum;
      });
      transpose(sums);
      F32 *const stream = FilterStreams::stream(m.streams, f) + to;
      unroll<kFloats>([&](auto i) __attribute__((always_inline)) { stream[i] = sums[i]; });
    }
  }

  void row_sums(const F32 *at, F32 (&sums)[kBlock]) const {
    unroll<kBlock>([&](auto c) __attribute__((always_inline)) {
      F32 sum = strip.filter->tap[0] * at[c];
      unroll<kTaps - 1, 1>([&](auto k) __attribute__((always_inline)) {
        sum = filter_add(sum, strip.filter->tap[k], at[c + k]);
      });
      sums[c] = sum;
    });
  }

  // Whole vectors: rows have room for them.
  void keep(const F32 (&filtered)[kBlock], float *to, int rows_left) const {
    F32 v[kFloats];
    unroll<kFloats>([&](auto i) __attribute__((always_inline)) { v[i] = filtered[i]; });
    transpose(v);
    for (int r = 0; r < rows_left; r++) store_vector(to + r * strip.stride, v[r]);
  }
};

template <class Sample>
void measure_samples(const MotionFloatStrip &strip, const Memory &memory) {
  switch (strip.filter->length) {
    case 1:
      return Pass<Sample, 1>(strip, memory).run();
    case 3:
      return Pass<Sample, 3>(strip, memory).run();
    default:
      return Pass<Sample, 5>(strip, memory).run();
  }
}

// kFloats rows of both frames at half size.
struct HalfMemory {
  float *rows[kFrames];
  ptrdiff_t stride;

  HalfMemory(Arena *arena, int width) : stride(motion_float_stride(width)) {
    for (float *&frame : rows) frame = arena->take<float>(static_cast<size_t>(stride) * kFloats);
  }
};

size_t scratch_bytes(int width) {
  Arena whole(nullptr), half(nullptr);
  const Memory memory(&whole);
  const HalfMemory half_memory(&half, MotionFloatShape::half(width));
  return larger(whole.used(), half.used());
}

void measure_half(const MotionFloatHalf &half) {
  const FloatScaleAxis &down = *half.rows;
  const int width = half.columns->size;
  Arena arena(half.scratch);
  const HalfMemory memory(&arena, width);
  for (int first = half.first; first < half.last; first += kFloats) {
    const int live = smaller(kFloats, half.last - first);
    for (int f = 0; f < kFrames; f++)
      for (int r = 0; r < live; r++) {
        const float *rows[2];
        float weights[2];
        for (int t = 0; t < 2; t++) {
          const ptrdiff_t at = t * down.stride + first + r;
          rows[t] = half.filtered[f] + down.index[at] * half.stride;
          weights[t] = down.weight[at];
        }
        float_scale_row(FloatScaling::bilinear, *half.columns, rows, weights,
                        memory.rows[f] + r * memory.stride);
      }
    F32 sum = {};
    for (int x = 0; x < width; x += kFloats) {
      F32 difference[kFloats] = {};
      for (int r = 0; r < live; r++)
        difference[r] = absolute(load_floats(memory.rows[0] + r * memory.stride + x) -
                                 load_floats(memory.rows[1] + r * memory.stride + x));
      transpose(difference);
      for (int c = 0; c < smaller(kFloats, width - x); c++) sum += difference[c];
    }
    std::memcpy(half.sums + first, &sum, static_cast<size_t>(live) * sizeof(float));
  }
}

void measure(const MotionFloatStrip &strip) {
  Arena arena(strip.scratch);
  const Memory memory(&arena);
  if (strip.current.depth == 8)
    measure_samples<uint8_t>(strip, memory);
  else
    measure_samples<uint16_t>(strip, memory);
}

}  // namespace

extern const MotionFloatKernels motion_float_kernels = {scratch_bytes, measure, measure_half};

}  // namespace vmafhip::VMAFHIP_ISA
