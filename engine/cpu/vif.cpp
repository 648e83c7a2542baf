// VIF on the CPU: rows of one scale, one pass. For each group of kRows rows and each chunk of columns: column sums
// (vif_columns.h), row sums (vif_row_sums.h) of the columns that have their neighbours by then, statistics
// (vif_statistics.h). Column sums of the filter of the next scale come from the same samples.
#include "engine/cpu/vif.h"

#include "engine/cpu/vif_columns.h"
#include "engine/cpu/vif_pairs.h"
#include "engine/cpu/vif_row_sums.h"
#include "engine/cpu/vif_statistics.h"

namespace vmafhip::VMAFHIP_ISA {
namespace {

template <int kScale, class Sample, bool kStatistics>
struct Pass {
  using Shape = VifShape<kScale>;
  static constexpr bool kHalves = kScale + 1 < kVifScales;

  const VifStrip &strip;
  const VifMemory &memory;
  const VifGainLimits limits;
  VifTotals<Simd> *const totals;  // of each distorted picture
  int32_t *const leading;         // for add_distorted()
  const int width, height, padded;
  int left[kVifMaxRadius], right[kVifMaxRadius];  // columns that those beside the picture mirror

  Pass(const VifStrip &s, const VifMemory &m, VifTotals<Simd> *t, int32_t *l)
      : strip(s),
        memory(m),
        limits{s.gain_limits, s.limits},
        totals(t),
        leading(l),
        width(s.pictures[0].plane.width),
        height(s.pictures[0].plane.height),
        padded(m.padded) {
    for (int i = 0; i < kVifMaxRadius; i++) {
      left[i] = reflect(i - kVifMaxRadius, width);
      right[i] = reflect(width + i, width);
    }
  }

  void run() const {
    const int most =
        larger(kRows, kVectorsOfTotals / (padded / Simd::kDwords));  // rows that totals have room for
    int filled = 0, finished = strip.first;
    for (int y = strip.first; y < strip.last; y += kRows) {
      const int pair = (y - strip.first) / 2;
      for (; filled < pair + Shape::row_pairs; filled++)
        for (int picture = 0; picture <= strip.distorted; picture++)
          fill_pair<Sample>(strip.pictures[picture].plane, strip.scale,
                            strip.first - Shape::lead + 2 * filled, padded, memory.pair(picture, filled));
      rows(y, pair);
      if (y + kRows < strip.last && y + 2 * kRows - finished <= most) continue;
      for (int d = 0; d < strip.distorted; d++) VifTotals<Simd>::finish(totals + d, limits);
      finished = y + kRows;
    }
  }

  VifWindow window(int picture, int first) const {
    VifWindow out;
    for (int p = 0; p < Shape::row_pairs; p++) out.pair[p] = memory.pair(picture, first + p);
    return out;
  }

  // One group of rows.
  void rows(int y, int pair) const {
    const VifColumns reference = memory.columns_of_reference();
    const VifWindow ref = window(0, pair);
    for (VifChunk chunk = VifChunk::next({}, padded);; chunk = VifChunk::next(chunk, padded)) {
      columns_of_reference<kScale, Sample, kStatistics>(ref, chunk.first, chunk.last, reference,
                                                        memory.reference);
      mirror<kHalf + 1>(reference, chunk);
      halves(y, reference, strip.pictures[0], chunk);
      if constexpr (kStatistics) reference_statistics(y, reference, chunk);
      for (int d = 0; d < strip.distorted; d++) {
        const VifColumns distorted = memory.columns_of_distorted(d);
        columns_of_distorted<kScale, Sample, kStatistics>(ref, window(1 + d, pair), chunk.first, chunk.last,
                                                          distorted, *memory.reference);
        mirror<kStreams>(distorted, chunk);
        halves(y, distorted, strip.pictures[1 + d], chunk);
        if constexpr (kStatistics) distorted_statistics(y, distorted, chunk, totals + d);
        if (chunk.ready < padded) carry<kStreams>(distorted, chunk);
      }
      if (chunk.ready == padded) return;
      carry<kHalf + 1>(reference, chunk);
    }
  }

  template <int kCount, class Body>
  VMAFHIP_SIMD_FN void each_row(const VifColumns &columns, const Body &body) {
    for (int stream = 0; stream < kCount; stream++) {
      if (stream == kHalf ? !kHalves : !kStatistics) continue;
      for (int r = 0; r < kRows; r += stream == kHalf ? 2 : 1) body(VifColumns::row(columns, stream, r));
    }
  }

  // Columns beside the picture.
  template <int kCount>
  void mirror(const VifColumns &columns, const VifChunk &chunk) const {
    if (chunk.first == 0)
      each_row<kCount>(columns, [this](int16_t *row) {
        for (int i = 0; i < kVifMaxRadius; i++) row[i - kVifMaxRadius] = row[left[i]];
      });
    if (chunk.last > width || chunk.ready == padded)
      each_row<kCount>(columns, [&](int16_t *row) {
        for (int i = 0; i < kVifMaxRadius; i++) row[width - chunk.first + i] = row[right[i] - chunk.first];
      });
  }

  // Columns that the next chunk needs once more.
  template <int kCount>
  void carry(const VifColumns &columns, const VifChunk &chunk) const {
    each_row<kCount>(columns, [&](int16_t *row) {
      const int16_t *from = row + chunk.last - chunk.first;
      for (int i = -kCarry; i < 0; i += Simd::kWords) Simd::store(row + i, Simd::load(from + i));
    });
  }

  void halves(int y, const VifColumns &columns, const VifPicture &picture, const VifChunk &chunk) const {
    if constexpr (kHalves)
      for (int r = 0; r < kRows; r += 2) {
        const int to = (y + r) / 2;
        if (y + r >= strip.last || to >= height / 2) return;
        halve_columns<kScale + 1>(VifColumns::row(columns, kHalf, r) + chunk.done - chunk.first,
                                  chunk.ready - chunk.done,
                                  picture.half + to * strip.half_stride + chunk.done / 2);
      }
  }

  void reference_statistics(int y, const VifColumns &columns, const VifChunk &chunk) const {
    const int count = chunk.ready - chunk.done;
    for (int r = 0; r < smaller(kRows, strip.last - y); r++) {
      int32_t *variance = memory.reference->variance[r];
      row_sums_of_reference<kScale>(columns, r, chunk.done - chunk.first, count, memory.reference);
      clear_behind(chunk, variance);
      add_reference<Simd>(variance, count, strip.log_table, totals);
    }
  }

  void distorted_statistics(int y, const VifColumns &columns, const VifChunk &chunk,
                            VifTotals<Simd> *to) const {
    alignas(64) int32_t variances[kChunk], covariances[kChunk];
    const int count = chunk.ready - chunk.done;
    for (int r = 0; r < smaller(kRows, strip.last - y); r++) {
      row_sums_of_distorted<kScale>(columns, r, chunk.done - chunk.first, count, *memory.reference, variances,
                                    covariances);
      clear_behind(chunk, variances);
      clear_behind(chunk, covariances);
      add_distorted<Simd>(memory.reference->variance[r], variances, covariances, count, strip.log_table,
                          limits, leading, to);
    }
  }

  // Columns behind the picture are made flat.
  void clear_behind(const VifChunk &chunk, int32_t *values) const {
    for (int x = larger(width, chunk.done); x < chunk.ready; x++) {
      const int at = x - chunk.done, within = at % Simd::kWords;
      values[at - within + (within % 2) * Simd::kDwords + within / 2] = 0;
    }
  }
};

// The memory of a strip, cut out of `arena`.
struct Memory {
  VifMemory rows;
  VifTotals<Simd> *totals;
  int32_t *num_logs;  // of the totals
  int32_t *leading;

  Memory(Arena *arena, int width, int distorted, int limits) : rows(arena, width, distorted) {
    totals = arena->take<VifTotals<Simd>>(static_cast<size_t>(distorted));
    num_logs = arena->take<int32_t>(static_cast<size_t>(distorted * limits * Simd::kDwords));
    leading = arena->take<int32_t>(static_cast<size_t>((1 + limits) * kChunk));
  }
};

template <int kScale, class Sample, bool kStatistics>
void run(const VifStrip &strip) {
  Arena arena(strip.scratch);
  const Memory memory(&arena, strip.pictures[0].plane.width, strip.distorted, strip.limits);
  memory.rows.clear_columns();
  const int count = strip.distorted * strip.limits;
  for (int i = 0; i < count; i++) strip.sums[i] = VifScaleSums();
  const Pass<kScale, Sample, kStatistics> pass(strip, memory.rows, memory.totals, memory.leading);
  for (int d = 0; d < strip.distorted; d++)
    memory.totals[d] = VifTotals<Simd>::start(strip.sums + d * strip.limits, pass.limits,
                                              memory.num_logs + d * strip.limits * Simd::kDwords);
  pass.run();
  if constexpr (kStatistics) {
    VifScaleSums &first = strip.sums[0];
    // Each column behind the picture was counted as a flat pixel.
    first.den_low -= static_cast<int64_t>(pass.padded - pass.width) * (strip.last - strip.first);
    for (int i = 1; i < count; i++) {
      strip.sums[i].den_low = first.den_low;
      strip.sums[i].den_log = first.den_log;
    }
  }
}

size_t scratch_bytes(int width, int distorted, int limits) {
  Arena arena(nullptr);
  const Memory memory(&arena, width, distorted, limits);
  return arena.used();
}

void measure(const VifStrip &strip) {
  const bool bytes = strip.scale == 0 && strip.pictures[0].plane.depth == 8;
  switch (strip.scale) {
    case 0:
      if (bytes)
        strip.statistics ? run<0, int8_t, true>(strip) : run<0, int8_t, false>(strip);
      else
        strip.statistics ? run<0, int16_t, true>(strip) : run<0, int16_t, false>(strip);
      break;
    case 1:
      run<1, int16_t, true>(strip);
      break;
    case 2:
      run<2, int16_t, true>(strip);
      break;
    case 3:
      run<3, int16_t, true>(strip);
      break;
  }
}

int32_t log2_of_integer(const uint16_t *log_table, uint64_t v) { return log2_of<Simd>(log_table, v); }
int32_t log2_of_small(const uint16_t *log_table, uint32_t v) { return log2_of<Simd>(log_table, v); }

}  // namespace

extern const VifKernels vif_kernels = {scratch_bytes, measure, log2_of_integer, log2_of_small};

}  // namespace vmafhip::VMAFHIP_ISA
