// Integer ADM: a launch for each scale and one for the sums of all. What is computed is defined in engine/arith/adm.h.
//
// A warp walks down a strip of a band, row by row: wavelet of reference and distorted picture, decoupling, weights of
// maskers, and, one row later, when the weights of the row below are known, cubes and the sums of the row. Neighbouring
// columns come from the threads beside by shuffles, and two columns at either side of a strip belong to the strips beside:
// 60 of 64 columns are a strip's own in warps of 32, 124 of 128, or 60 of 64, in those of 64. Neighbouring rows are the
// warp's own past; a part of up to 32 rows begins a row before its own and ends a row behind. There is no shared memory and
// no barrier, and a block is one warp, so that all control flow but that of loads and of what is rare is the same for a
// block.
//
// Only low bands go to memory, those of the reference once for all its distorted pictures. Its detail bands are worked
// out again for each: writing and reading three of them would cost more than the 60 multiply-adds that it spares of a
// thread's 800 instructions a row.
//
// Sums are rounded once a row and so taken row by row; adm_sum_rows rounds them and adds them up.
#include "kernels/device.h"

#include "kernels/adm_args.h"
#include "kernels/adm_decouple.h"
#include "kernels/adm_masking.h"
#include "kernels/adm_wavelet.h"

namespace vmafhip {
namespace {

// Signals, also as maskers: the additive part masks the restored one and the other way round.
enum AdmSignal { kRestored, kAdditive, kAdmSignals };

template <int kScale, class Sample, int kLimits, int kColumns>
class AdmWarp {
 public:
  GPU_FN explicit AdmWarp(const AdmScaleArgs &args)
      : args_(args),
        p_(args.scale),
        pair_(args.pairs[blockIdx.y]),
        strip_(static_cast<int>(blockIdx.x) * strip_columns()),
        x_(strip_ + gpu_lane() * kColumns - kAdmHalo),
        own_(gpu_lane() >= kHaloThreads && gpu_lane() < gpu_warp_size() - kHaloThreads),
        first_(adm_part(args, static_cast<int>(blockIdx.z)) * args.part_rows),
        last_(smaller(first_ + args.part_rows, p_.height)),
        pool_first_(larger(first_, p_.top)),
        pool_last_(smaller(last_, p_.bottom)) {
#pragma unroll
    for (int c = 0; c < kColumns; c++)
      pooled_[c] = own_ && x_ + c >= p_.left && x_ + c < p_.right ? kAdmPooled : kAdmNotPooled;
    begins_here_ = -(x_ == 0);
    ends_here_ = -(x_ + 1 == p_.width);
    ends_behind_ = -(x_ + 2 == p_.width);
  }

  GPU_FN void walk() {
    const bool pools = pool_first_ < pool_last_ && strip_ < p_.right && strip_ + strip_columns() > p_.left;
    if (kLast && !pools) return;
    // Rows that are pooled need the weights of those above and below.
    int begin = first_, end = last_;
    if (pools) {
      begin = larger(kLast ? pool_first_ - 1 : smaller(first_, pool_first_ - 1), 0);
      end = kLast ? pool_last_ + 1 : larger(last_, pool_last_ + 1);
    }
    fetch(2 * begin - 1);
#pragma unroll
    for (int picture = 0; picture < 2; picture++) above_[picture] = Rows(next_[picture]);
    fetch(2 * begin + 1);
    for (int y = begin; y < end; y++) {
      Row row;
      const bool beyond = kReachesBorder && y == p_.height;
      if (!beyond) {
        const bool detail = pools && y >= pool_first_ - 1 && y <= pool_last_;
        int32_t bands[2][kColumns][kAdmBands];
        transform(y, y + 1 < smaller(end, p_.height), detail, bands);
        if (!detail) continue;
        decouple(bands, &row);
        if (y >= pool_first_ && y < pool_last_) add_den(y, row.ref);
      } else {  // the last row of a band is its own neighbour below
        repeat_weights(&row);
      }
#pragma unroll
      for (int limit = 0; limit < kLimits; limit++) {
        if (y > pool_first_) add_masked(y - 1, limit, row.decoupled[limit].three);
        if (!beyond) keep(limit, row.decoupled[limit]);
      }
    }
  }

 private:
  static constexpr bool kLast = kScale + 1 == kAdmScales;
  static constexpr int kSourceColumns = 2 * kColumns, kHaloThreads = kAdmHalo / kColumns;
  GPU_FN static int strip_columns() { return gpu_warp_size() * kColumns - 2 * kAdmHalo; }
  // The pooled region begins at (n * 0.1 - 0.5), so that it reaches the border of bands of fewer than 15 samples,
  // which there are from scale 1 on.
  static constexpr bool kReachesBorder = kScale > 0;
  using Low = std::conditional_t<kScale == 0, int16_t, int32_t>;
  using LowBand = AdmLow<Low, kColumns>;
  using Samples = AdmSamples<Sample, kSourceColumns>;
  using Rows = AdmTwoRows<Sample, kSourceColumns>;
  using Filtered = AdmFiltered<kSourceColumns>;

  // A row of decoupled samples.
  struct Decoupled {
    uint32_t size[kAdmSignals][kColumns][kAdmBands];  // magnitudes, weighted
    int32_t three[kAdmSignals][kColumns];             // neighbours' weights of three columns
    int32_t itself[kAdmSignals][kColumns];            // what a sample has for itself and not for a neighbour
  };
  struct Row {
    uint32_t ref[kColumns][kAdmBands];  // magnitudes
    Decoupled decoupled[kLimits];
  };

  // Source rows `row` and the one below of both pictures.
  GPU_FN void fetch(int row) {
    const int rows[2] = {adm_index(row, args_.source_height), adm_index(row + 1, args_.source_height)};
    const int x = gpu_anew(x_);
    const bool at_once = args_.aligned && x >= 0 && 2 * x + kSourceColumns <= args_.source_width;
    DeviceAddress<const uint8_t> from[4];
#pragma unroll
    for (int i = 0; i < 4; i++) from[i] = adm_row(i / 2 ? pair_.dist : pair_.ref, rows[i % 2]);
    if (at_once) {
#pragma unroll
      for (int i = 0; i < 4; i++) next_[i / 2][i % 2] = adm_load<Sample, kSourceColumns>(from[i], 2 * x_);
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++)
        next_[i / 2][i % 2] = adm_gather<Sample, kSourceColumns>(from[i], 2 * x_, args_.source_width);
    }
  }

  // A row of bands: low to memory, the others to `bands`.
  GPU_FN void transform(int y, bool more, bool detail, int32_t (&bands)[2][kColumns][kAdmBands]) {
    const Rows below[2] = {Rows(next_[0]), Rows(next_[1])};
    if (more) fetch(2 * y + 3);
    Filtered low[2];
#pragma unroll
    for (int picture = 0; picture < 2; picture++) {
      filter_down(kAdmLow, above_[picture], below[picture], &low[picture]);
    }
    if constexpr (!kLast)
      if (y >= first_ && y < last_) store_low(y, low);
    if (detail) {
#pragma unroll
      for (int picture = 0; picture < 2; picture++) {
        Filtered high;
        filter_down(kAdmHigh, above_[picture], below[picture], &high);
#pragma unroll
        for (int c = 0; c < kColumns; c++) {
          bands[picture][c][0] = adm_across<kScale>(kAdmLow, args_, high.from(c));
          bands[picture][c][1] = adm_across<kScale>(kAdmHigh, args_, low[picture].from(c));
          bands[picture][c][2] = adm_across<kScale>(kAdmHigh, args_, high.from(c));
        }
      }
    }
#pragma unroll
    for (int picture = 0; picture < 2; picture++) above_[picture] = below[picture];
  }

  GPU_FN void store_low(int y, const Filtered (&low)[2]) const {
    const int x = gpu_anew(x_);
    if (x < strip_ || x >= smaller(strip_ + strip_columns(), p_.width)) return;
#pragma unroll
    for (int picture = 0; picture < 2; picture++) {
      const DeviceAddress<std::byte> to = picture ? pair_.low_dist : pair_.low_ref;
      if (!to) continue;
      LowBand band;
#pragma unroll
      for (int c = 0; c < kColumns; c++)
        band.samples[c] = static_cast<Low>(adm_across<kScale>(kAdmLow, args_, low[picture].from(c)));
      const DeviceAddress<std::byte> row = to + adm_multiply_add(y, args_.low_stride, 0);
      *(address_cast<LowBand>(row) + x_ / kColumns).get() = band;
    }
  }

  GPU_FN void filter_down(const int32_t (&taps)[4], const Rows &above, const Rows &below,
                          Filtered *to) const {
#pragma unroll
    for (int i = 0; i < kSourceColumns; i++)
      to->columns[1 + i] = adm_down<kScale>(taps, args_, i, above, below);
    to->exchange();
  }

  GPU_FN void decouple(const int32_t (&bands)[2][kColumns][kAdmBands], Row *row) const {
    AdmAngle angle[kColumns];
    bool same_angle[kColumns], sure = true;
#pragma unroll
    for (int c = 0; c < kColumns; c++) {
      angle[c] = adm_angle<kScale>(bands[0][c], bands[1][c]);
      same_angle[c] = angle[c].quick(&sure);
    }
    if (!sure)
#pragma unroll
      for (int c = 0; c < kColumns; c++) same_angle[c] = angle[c].exact();

    AdmDecoupled samples[kColumns][kAdmBands];
#pragma unroll
    for (int i = 0; i < kColumns * kAdmBands; i++) {
      const int c = i / kAdmBands, band = i % kAdmBands;
      samples[c][band] = adm_attenuate<kScale>(bands[0][c][band], bands[1][c][band]);
      row->ref[c][band] = samples[c][band].size;
    }
#pragma unroll
    for (int limit = 0; limit < kLimits; limit++)
      enhance(samples, same_angle, args_.limits[limit], &row->decoupled[limit]);
  }

  GPU_FN void enhance(const AdmDecoupled (&samples)[kColumns][kAdmBands], const bool (&same_angle)[kColumns],
                      const AdmGainLimit &limit, Decoupled *to) const {
    uint32_t limited[kColumns][kAdmBands];
    if (limit.whole)
#pragma unroll
      for (int i = 0; i < kColumns * kAdmBands; i++)
        limited[i / kAdmBands][i % kAdmBands] =
            adm_enhance<kScale>(samples[i / kAdmBands][i % kAdmBands], static_cast<uint32_t>(limit.whole));
    else
#pragma unroll
      for (int i = 0; i < kColumns * kAdmBands; i++)
        limited[i / kAdmBands][i % kAdmBands] =
            adm_enhance(samples[i / kAdmBands][i % kAdmBands], limit.value);

    AdmWeights weights[kAdmSignals][kColumns];
#pragma unroll
    for (int c = 0; c < kColumns; c++)
      gpu_each<kAdmBands>([&](auto number) {
        constexpr int kBand = decltype(number)::value;
        const AdmDecoupled &sample = samples[c][kBand];
        const uint32_t restored = same_angle[c] ? limited[c][kBand] : sample.restored;
        // The sign is that of the reference again.
        const int32_t rest = sample.along - static_cast<int32_t>(restored);
        to->size[kRestored][c][kBand] = adm_weigh<kScale, kBand>(
            restored, sample.sign, p_.csf[kBand == 2 ? 2 : 0], &weights[kRestored][c]);
        to->size[kAdditive][c][kBand] = adm_weigh<kScale, kBand>(
            magnitude(rest), (rest >> 31) ^ sample.sign, p_.csf[kBand == 2 ? 2 : 0], &weights[kAdditive][c]);
      });
#pragma unroll
    for (int m = 0; m < kAdmSignals; m++) add_columns(weights[m], to->three[m], to->itself[m]);
  }

  GPU_FN void add_columns(const AdmWeights (&weights)[kColumns], int32_t (&three)[kColumns],
                          int32_t (&itself)[kColumns]) const {
    int32_t columns[kColumns + 2];
#pragma unroll
    for (int c = 0; c < kColumns; c++) columns[1 + c] = weights[c].neighbour;
    columns[0] = gpu_shuffle_up(columns[kColumns], 1);
    columns[kColumns + 1] = gpu_shuffle_down(columns[1], 1);
    if constexpr (kReachesBorder) {  // mirrored at the low side, repeated at the high side
      columns[2] = adm_select(ends_here_, columns[1], columns[2]);
      if constexpr (kColumns == 2) columns[3] = adm_select(ends_behind_, columns[2], columns[3]);
      columns[0] = adm_select(begins_here_, columns[2], columns[0]);
    }
#pragma unroll
    for (int c = 0; c < kColumns; c++) {
      three[c] = columns[c] + columns[c + 1] + columns[c + 2];
      itself[c] = weights[c].centre - weights[c].neighbour;
    }
  }

  GPU_FN void add_den(int y, const uint32_t (&ref)[kColumns][kAdmBands]) const {
    uint64_t sums[kAdmBands] = {};
#pragma unroll
    for (int c = 0; c < kColumns; c++)
#pragma unroll
      for (int band = 0; band < kAdmBands; band++)
        sums[band] +=
            adm_reference_cube<kScale>(ref[c][band] & static_cast<uint32_t>(pooled_[c] >> 31), args_);
    adm_add_row<2 * kAdmBands>(sums, args_, 0, y);
  }

  // Row y, which is the last that was kept; `below`: of the row below.
  GPU_FN void add_masked(int y, int limit, const int32_t (&below)[kAdmSignals][kColumns]) const {
    const Last &last = last_of_[limit];
    uint64_t sums[kAdmSignals * kAdmBands] = {};
#pragma unroll
    for (int signal = 0; signal < kAdmSignals; signal++) {
      const int masker = kAdmSignals - 1 - signal;
#pragma unroll
      for (int c = 0; c < kColumns; c++) {
        int32_t threshold = last.threshold[masker][c] + below[masker][c];
        if (kReachesBorder && y == 0) threshold += below[masker][c];  // mirrored
        gpu_each<kAdmBands>([&](auto number) {
          constexpr int kBand = decltype(number)::value;
          sums[signal * kAdmBands + kBand] +=
              adm_masked_cube<kScale, kBand>(last.size[signal][c][kBand], threshold, pooled_[c], args_);
        });
      }
    }
    adm_add_row<0>(sums, args_, limit, y);
  }

  GPU_FN void repeat_weights(Row *row) const {
#pragma unroll
    for (int limit = 0; limit < kLimits; limit++)
#pragma unroll
      for (int i = 0; i < kAdmSignals * kColumns; i++)
        row->decoupled[limit].three[i / kColumns][i % kColumns] =
            last_of_[limit].three[i / kColumns][i % kColumns];
  }

  GPU_FN void keep(int limit, const Decoupled &row) {
    Last &last = last_of_[limit];
#pragma unroll
    for (int m = 0; m < kAdmSignals; m++)
#pragma unroll
      for (int c = 0; c < kColumns; c++) {
        last.threshold[m][c] = row.itself[m][c] + row.three[m][c] + last.three[m][c];
        last.three[m][c] = row.three[m][c];
#pragma unroll
        for (int band = 0; band < kAdmBands; band++) last.size[m][c][band] = row.size[m][c][band];
      }
  }

  const AdmScaleArgs &args_;
  const AdmScaleParams &p_;
  const AdmPair &pair_;
  // The strip's first column; this thread's first column, and whether it is the strip's own.
  const int strip_, x_;
  const bool own_;
  // Rows that are this part's own, and those of them that are pooled, ends exclusive.
  const int first_, last_, pool_first_, pool_last_;

  int32_t pooled_[kColumns];  // kAdmPooled or kAdmNotPooled
  int32_t begins_here_, ends_here_,
      ends_behind_;     // masks: the band at the first column, behind it, behind the second
  Samples next_[2][2];  // [picture][source rows 2 * y + 1, 2 * y + 2]
  Rows above_[2];       // source rows 2 * y - 1, 2 * y of both pictures
  // Of the last row: weighted magnitudes, weights of three columns, and of its threshold all but the row below.
  struct Last {
    uint32_t size[kAdmSignals][kColumns][kAdmBands] = {};
    int32_t three[kAdmSignals][kColumns] = {}, threshold[kAdmSignals][kColumns] = {};
  } last_of_[kLimits];
};

template <int kScale, class Sample, int kLimits>
GPU_FN void adm_walk(const AdmScaleArgs &args) {
  constexpr int kOf32 = adm_thread_columns(32, kScale, kLimits),
                kOf64 = adm_thread_columns(64, kScale, kLimits);
  if (gpu_warp_size() == 32)
    AdmWarp<kScale, Sample, kLimits, kOf32>(args).walk();
  else
    AdmWarp<kScale, Sample, kLimits, kOf64>(args).walk();
}

}  // namespace
}  // namespace vmafhip

using namespace vmafhip;

#define ADM_KERNEL(name, scale, Sample, limits)                                              \
  GPU_KERNEL void GPU_BOUNDS(kAdmMostThreads, adm_blocks(scale, 8 * sizeof(Sample), limits)) \
      name(AdmScaleArgs args) {                                                              \
    adm_walk<scale, Sample, limits>(args);                                                   \
  }

ADM_KERNEL(adm_scale0_8, 0, uint8_t, 1)
ADM_KERNEL(adm_scale0_16, 0, uint16_t, 1)
ADM_KERNEL(adm_scale1, 1, int16_t, 1)
ADM_KERNEL(adm_scale2, 2, int32_t, 1)
ADM_KERNEL(adm_scale3, 3, int32_t, 1)

// Two gain limits.
ADM_KERNEL(adm_scale0_8_limits, 0, uint8_t, 2)
ADM_KERNEL(adm_scale0_16_limits, 0, uint16_t, 2)
ADM_KERNEL(adm_scale1_limits, 1, int16_t, 2)
ADM_KERNEL(adm_scale2_limits, 2, int32_t, 2)
ADM_KERNEL(adm_scale3_limits, 3, int32_t, 2)

// One scale of one pair a block.
GPU_KERNEL void GPU_BOUNDS(kAdmSumThreads, 1) adm_sum_rows(AdmSumArgs args) {
  constexpr int kSlots = kAdmSumThreads / kAdmRowSums;
  GPU_SHARED uint64_t shares[kAdmSumThreads];
  const AdmSumArgs::Pair &pair = args.pairs[blockIdx.z];
  const AdmSumArgs::Scale &scale = args.scales[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x), sum = thread % kAdmRowSums;
  const bool den = sum >= 2 * kAdmBands;
  const int shift = den ? scale.den_row_shift : scale.row_shift;
  uint64_t share = 0;
  for (int y = scale.top + thread / kAdmRowSums; y < scale.bottom; y += kSlots) {
    const int64_t at = static_cast<int64_t>(scale.first_row + y) * kAdmRowSums + sum;
    const uint64_t row = *(pair.row_sums + at).get() + static_cast<uint64_t>(half_of(shift));
    share += den ? row >> shift : static_cast<uint64_t>(static_cast<int64_t>(row) >> shift);
  }
  shares[thread] = share;
  gpu_sync();
  if (thread >= kAdmRowSums) return;
  for (int slot = 1; slot < kSlots; slot++) share += shares[slot * kAdmRowSums + thread];
  *(pair.sums + static_cast<int64_t>(blockIdx.x) * kAdmRowSums + thread).get() = share;
}
