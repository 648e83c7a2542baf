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
  static constexpr int kMostColumns = kChunk + Simd::kWords;  // whose row sums are taken at once

  const VifStrip &strip;
  const VifMemory &memory;
  const int width, height;
  int left[kVifMaxRadius], right[kVifMaxRadius];  // columns that those beside the picture mirror

  Pass(const VifStrip &s, const VifMemory &m)
      : strip(s), memory(m), width(s.pictures[0].plane.width), height(s.pictures[0].plane.height) {
    for (int i = 0; i < kVifMaxRadius; i++) {
      left[i] = reflect(i - kVifMaxRadius, width);
      right[i] = reflect(width + i, width);
    }
  }

  void run() const {
    int filled = 0;
    for (int y = strip.first; y < strip.last; y += kRows) {
      const int pair = (y - strip.first) / 2;
      for (; filled < pair + Shape::row_pairs; filled++)
        for (int picture = 0; picture <= strip.distorted; picture++)
          fill_pair<Sample>(strip.pictures[picture].plane, strip.scale,
                            strip.first - Shape::lead + 2 * filled, memory.padded,
                            memory.pair(picture, filled));
      const VifWindow ref = window(0, pair);
      for (int d = 0; d < strip.distorted; d++) rows(y, d, ref, window(1 + d, pair));
    }
  }

  VifWindow window(int picture, int first) const {
    VifWindow out;
    for (int p = 0; p < Shape::row_pairs; p++) out.pair[p] = memory.pair(picture, first + p);
    return out;
  }

  // One group of rows of one distorted picture; with the first one, the reference.
  void rows(int y, int d, const VifWindow &ref, const VifWindow &dist) const {
    const int padded = memory.padded;
    const VifGainLimits limits = {strip.gain_limits, strip.limits};
    VifTotals<Simd> totals(strip.sums + d * strip.limits, limits, memory.further_logs);
    int done = 0;
    for (int first = 0; first < padded; first += kChunk) {
      const int last = smaller(first + kChunk, padded);
      if (d == 0) {
        columns_of_reference<kScale, Sample, kStatistics>(ref, first, last, memory);
        mirror(memory.ref, false, first == 0, last == padded);
      }
      columns_of_distorted<kScale, Sample, kStatistics>(ref, dist, first, last, memory);
      mirror(memory.dist, true, first == 0, last == padded);
      // A vector of row sums reads kVifMaxRadius columns behind its own.
      const int ready = last == padded ? padded : (last - kVifMaxRadius) / Simd::kWords * Simd::kWords;
      halves(y, d, done, ready);
      if constexpr (kStatistics) statistics(y, d, done, ready, limits, &totals);
      done = ready;
    }
    VifTotals<Simd>::finish(totals, limits);
  }

  void mirror(const VifColumns &columns, bool distorted, bool at_left, bool at_right) const {
    if (!at_left && !at_right) return;
    for (int stream = 0; stream < (distorted ? kStreams : kHalf + 1); stream++) {
      if (stream == kHalf ? !kHalves : !kStatistics) continue;
      for (int r = 0; r < kRows; r++) {
        int16_t *row = VifColumns::row(columns, stream, r);
        for (int i = 0; at_left && i < kVifMaxRadius; i++) row[i - kVifMaxRadius] = row[left[i]];
        for (int i = 0; at_right && i < kVifMaxRadius; i++) row[width + i] = row[right[i]];
      }
    }
  }

  void halves(int y, int d, int first, int last) const {
    if constexpr (kHalves)
      for (int r = 0; r < kRows; r += 2) {
        const int to = (y + r) / 2;
        if (y + r >= strip.last || to >= height / 2) return;
        if (d == 0)
          halve_columns<kScale + 1>(VifColumns::row(memory.ref, kHalf, r), first, last,
                                    strip.pictures[0].half + to * strip.half_stride);
        halve_columns<kScale + 1>(VifColumns::row(memory.dist, kHalf, r), first, last,
                                  strip.pictures[1 + d].half + to * strip.half_stride);
      }
  }

  void statistics(int y, int d, int first, int last, VifGainLimits limits, VifTotals<Simd> *totals) const {
    alignas(64) int32_t variances[kRows][kMostColumns], covariances[kRows][kMostColumns];
    const int count = last - first, live = smaller(kRows, strip.last - y);
    for (int r = 0; r < live; r++) {
      if (d == 0) row_sums_of_reference<kScale>(memory, r, first, last);
      row_sums_of_distorted<kScale>(memory, r, first, last, variances[r], covariances[r]);
      if (last == memory.padded) clear_behind(r, d, variances[r] - first, covariances[r] - first);
    }
    for (int r = 0; r < live; r++) {
      const int32_t *variance = memory.variance[r] + first;
      if (d == 0) add_reference<Simd>(variance, count, strip.log_table, totals);
      add_distorted<Simd>(variance, variances[r], covariances[r], count, strip.log_table, limits, totals);
    }
  }

  // Columns behind the picture are made flat.
  void clear_behind(int r, int d, int32_t *variances, int32_t *covariances) const {
    for (int x = width; x < memory.padded; x++) {
      const int within = x % Simd::kWords;
      const int lane = x - within + (within % 2) * Simd::kDwords + within / 2;
      if (d == 0) memory.variance[r][lane] = 0;
      variances[lane] = covariances[lane] = 0;
    }
  }
};

template <int kScale, class Sample, bool kStatistics>
void run(const VifStrip &strip) {
  Arena arena(strip.scratch);
  const VifMemory memory(&arena, strip.pictures[0].plane.width, strip.distorted, strip.limits);
  const int count = strip.distorted * strip.limits;
  for (int i = 0; i < count; i++) strip.sums[i] = VifScaleSums();
  const Pass<kScale, Sample, kStatistics> pass(strip, memory);
  pass.run();
  if constexpr (kStatistics) {
    VifScaleSums &first = strip.sums[0];
    // Each column behind the picture was counted as a flat pixel.
    first.den_low -= static_cast<int64_t>(memory.padded - pass.width) * (strip.last - strip.first);
    for (int i = 1; i < count; i++) {
      strip.sums[i].den_low = first.den_low;
      strip.sums[i].den_log = first.den_log;
    }
  }
}

size_t scratch_bytes(int width, int distorted, int limits) {
  Arena arena(nullptr);
  const VifMemory memory(&arena, width, distorted, limits);
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

}  // namespace

extern const VifKernels vif_kernels = {scratch_bytes, measure, log2_of_integer};

}  // namespace vmafhip::VMAFHIP_ISA
