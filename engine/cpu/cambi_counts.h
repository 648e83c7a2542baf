// c-values of a tile of columns, from top to bottom.
//
// counts[code][column] says how many kept pixels of a code the window around a column holds. When the window moves down
// by a row, a run of equal pixels that enters or leaves changes a stretch of one row of counts: a trapezoid, the
// difference of two ramps. The counts that the pixels of one code in a vector need are then vectors too. Runs that
// leave where the same ones enter change nothing.
#pragma once
#include "engine/cpu/arena.h"
#include "engine/cpu/cambi.h"
#include "engine/cpu/cambi_words.h"

namespace vmafhip {
namespace {

constexpr int kCambiScan = kCambiTile + 2 * (kCambiMaxWindow / 2);  // columns that matter to a tile

struct CambiCounts {
  uint16_t *entering, *leaving;  // codes of the rows that come and go, 0 where nothing changes
  uint16_t *starts;              // where runs begin, and the end of the last
  uint16_t *ramp;                // ramp[t] = t from 0 to the window's width, and that beyond, on either side
  uint16_t *counts;              // of `contrasts` codes below the first that matters, and so on
  uint32_t *contrasts;           // a bit for each contrast that counts at a code
  uint8_t *clean;                // whether the counts of a code have been set to 0
  int rows;

  CambiCounts(Arena *arena, const CambiParams &params) {
    const CambiCodes codes = cambi_codes(params);
    rows = codes.last < codes.first ? 0 : codes.last - codes.first + 1 + 2 * params.contrasts;
    const size_t count = static_cast<size_t>(rows);
    entering = arena->take<uint16_t>(kCambiScan, kWords, 2 * kWords);
    leaving = arena->take<uint16_t>(kCambiScan, kWords, 2 * kWords);
    starts = arena->take<uint16_t>(kCambiScan + 1, 0, kCambiStarts);
    ramp = arena->take<uint16_t>(kCambiScan, kCambiScan + kWords, 2 * kWords);
    counts = arena->take<uint16_t>(count * kCambiTile);
    contrasts = arena->take<uint32_t>(count);
    clean = arena->take<uint8_t>(count);
  }

  static constexpr int kCambiStarts = 8;  // that are written at a time
};

class CambiTiling {
 public:
  CambiTiling(const CambiParams &params, const CambiPicture &picture, int scale, int first,
              const CambiTile &to, uint16_t *map, const CambiCounts &memory)
      : params_(params),
        plane_(picture.plane[scale]),
        memory_(memory),
        to_(to),
        map_(map),
        first_(first),
        pad_(picture.target.window >> 1),
        columns_((smaller(kCambiTile, plane_.width - first) + kWords - 1) / kWords * kWords),
        scan_(columns_ + 2 * pad_),
        lowest_(static_cast<uint16_t>(cambi_codes(params).first | kCambiKept)),
        range_(cambi_codes(params).last - cambi_codes(params).first),
        brightest_(cambi_brightest(params)) {}

  void run() {
    found_ = {};
    if (range_ < 0) {
      for (int y = 0; map_ && y < plane_.height; y++)
        for (int x = 0; x < columns_; x += kWords) put_map(y, x, F32{}, F32{});
    } else if (params_.contrasts == 4) {
      run<4>();
    } else {
      run<0>();
    }
    *to_.found = found_;
  }

 private:
  static constexpr int kAhead = 2;  // rows
  // Most runs are short, and ramps lie across cache lines: vectors of 32 bytes at most.
  static constexpr int kStretch = smaller(kWords, 16);
  using Stretch = uint16_t __attribute__((vector_size(2 * kStretch)));

  // For any number of contrasts if kContrasts is 0.
  template <int kContrasts>
  void run() {
    start();
    for (int y = 0; y < smaller(pad_, plane_.height); y++) move(y, -1);
    for (int y = 0; y < plane_.height; y++) {
      move(y + pad_ < plane_.height ? y + pad_ : -1, y - pad_ - 1);
      measure<kContrasts>(y);
    }
  }

  void start() {
    for (int row = 0; row < memory_.rows; row++) {
      memory_.clean[row] = 0;
      const int code = row + (lowest_ & ~kCambiKept) - params_.contrasts;
      memory_.contrasts[row] = 0;
      for (int d = 0; d < params_.contrasts; d++)
        if (cambi_counts(params_, code, d)) memory_.contrasts[row] |= 1u << d;
    }
    for (int k = 1; k <= kWords; k++) memory_.entering[-k] = memory_.leaving[-k] = 0;
    const int window = 2 * pad_ + 1;
    for (int t = -kCambiScan - kWords; t < kCambiScan + 2 * kWords; t++)
      memory_.ramp[t] = static_cast<uint16_t>(smaller(larger(t, 0), window));
  }

  // Codes with kCambiKept that matter, and 0.
  U16 relevant(U16 words) const {
    const U16 above = words - lowest_;
    return words & U16(above <= static_cast<uint16_t>(range_));
  }

  // Of a code with kCambiKept.
  int row_of_code(int code) const { return code - lowest_ + params_.contrasts; }
  uint16_t *counts_of(int row) const { return memory_.counts + static_cast<ptrdiff_t>(row) * kCambiTile; }

  // Rows that enter and leave the window, -1 for none.
  void move(int enters, int leaves) {
    const uint16_t *in = enters >= 0 ? plane_.base + enters * plane_.stride + first_ - pad_ : nullptr;
    const uint16_t *out = leaves >= 0 ? plane_.base + leaves * plane_.stride + first_ - pad_ : nullptr;
    // Rows lie too far apart for the processor to see where the next one is.
    if (in)
      for (int x = 0; x < scan_; x += 32) __builtin_prefetch(in + kAhead * plane_.stride + x);
    U16 any = {};
    if (in && out) {
      for (int x = 0; x < scan_; x += kWords) {
        const U16 a = relevant(load_words(in + x)), b = relevant(load_words(out + x));
        const U16 changed = U16(a != b);
        store_vector(memory_.entering + x, a & changed);
        store_vector(memory_.leaving + x, b & changed);
        any |= changed;
      }
    } else {
      const uint16_t *row = in ? in : out;
      uint16_t *codes = in ? memory_.entering : memory_.leaving;
      for (int x = 0; row && x < scan_; x += kWords) {
        const U16 a = relevant(load_words(row + x));
        store_vector(codes + x, a);
        any |= a;
      }
    }
    if (!lanes_of(I16(any != 0))) return;
    if (in) change_runs<true>(memory_.entering);
    if (out) change_runs<false>(memory_.leaving);
  }

  template <bool kAdd>
  void change_runs(uint16_t *codes) {
    for (int x = 0; x < kWords; x++) codes[scan_ + x] = 0;
    uint16_t *starts = memory_.starts;
    int count = 0;
    for (int x = 0; x <= scan_; x += kWords) {
      uint32_t bits = lanes_of(I16(load_words(codes + x) != load_words(codes + x - 1)));
      // A fixed number at a time, which the processor foresees.
      while (bits) {
        const int more = __builtin_popcount(bits);
        for (int i = 0; i < CambiCounts::kCambiStarts; i++, bits &= bits - 1)
          starts[count + i] = static_cast<uint16_t>(x + __builtin_ctz(bits | 0x80000000));
        count += smaller(more, CambiCounts::kCambiStarts);
      }
    }
    for (int i = 0; i + 1 < count; i++)
      if (const int code = codes[starts[i]]) change<kAdd>(row_of_code(code), starts[i], starts[i + 1]);
  }

  // A run of pixels of one code: columns [begin, end) of those that are scanned. The window around a column of the tile
  // ends 2 * pad_ scanned columns further on.
  template <bool kAdd>
  void change(int row, int begin, int end) {
    clean(row);
    const int first = larger(begin - 2 * pad_, 0) / kStretch * kStretch, last = smaller(end, columns_);
    const uint16_t *from_begin = memory_.ramp + 2 * pad_ + 1 - begin,
                   *from_end = memory_.ramp + 2 * pad_ + 1 - end;
    uint16_t *counts = counts_of(row);
    for (int x = first; x < last; x += kStretch) {
      const Stretch pixels = load_vector<Stretch>(from_begin + x) - load_vector<Stretch>(from_end + x);
      const Stretch before = load_vector<Stretch>(counts + x);
      store_vector(counts + x, kAdd ? before + pixels : before - pixels);
    }
  }

  // The counts of a code and of those that it is compared with.
  void clean(int middle) {
    if (memory_.clean[middle] == 2) return;
    for (int row = middle - params_.contrasts; row <= middle + params_.contrasts; row++) {
      if (memory_.clean[row]) continue;
      uint16_t *counts = counts_of(row);
      for (int x = 0; x < kCambiTile; x += kWords) store_vector(counts + x, U16{});
      memory_.clean[row] = 1;
    }
    memory_.clean[middle] = 2;
  }

  template <int kContrasts>
  void measure(int y) {
    const int contrasts = kContrasts ? kContrasts : params_.contrasts;
    const uint16_t *codes_of_row = plane_.base + y * plane_.stride + first_;
    F64 sum = {};
    for (int x = 0; x < columns_; x += kWords) {
      const U16 codes = relevant(load_words(codes_of_row + x));
      uint32_t left = lanes_of(I16(codes != 0));
      U16 own = {}, other[kContrasts ? kContrasts : kCambiMostContrasts], any = {};
      for (int d = 0; d < contrasts; d++) other[d] = U16{};
      while (left) {
        const uint16_t code = codes_of_row[x + __builtin_ctz(left)];
        const I16 same = I16(codes == code);
        left &= ~lanes_of(same);
        const int row = row_of_code(code);
        const uint16_t *counts = counts_of(row) + x;
        own = same ? load_words(counts) : own;
        const uint32_t counting = memory_.contrasts[row];
        for (int d = 0; d < contrasts; d++) {
          if (!(counting >> d & 1)) continue;
          const U16 a = load_words(counts + (d + 1) * kCambiTile),
                    b = load_words(counts - (d + 1) * kCambiTile);
          other[d] = same ? (a < b ? b : a) : other[d];
        }
      }
      for (int d = 0; d < contrasts; d++) any |= other[d];
      const uint32_t positive = lanes_of(I16(any != 0));
      if (!positive) {
        if (map_) put_map(y, x, F32{}, F32{});
        continue;
      }
      const auto half = [&](auto part) __attribute__((always_inline)) {
        return largest(
            part(own), [&](int d) __attribute__((always_inline)) { return part(other[d]); }, contrasts);
      };
      const F32 first = half([](U16 v) __attribute__((always_inline)) { return first_half(v); });
      const F32 second = half([](U16 v) __attribute__((always_inline)) { return second_half(v); });
      if (map_) put_map(y, x, first, second);
      float *out = to_.values + found_.values;
      store_vector(out, first);
      store_vector(out + kFloats, second);
      found_.values += kWords;
      found_.positive += __builtin_popcount(positive);
      const Wide a = widen(first), b = widen(second);
      sum += (a.low + a.high) + (b.low + b.high);
    }
    double total = 0;
    for (int i = 0; i < kFloats / 2; i++) total += sum[i];
    found_.sum += static_cast<uint64_t>(total * (1 << kCambiFraction));
  }

  // The largest of cambi_contrast(). Rough quotients, right to 2^-11, say which contrast it is of, and whether another
  // comes so close that all have to be computed.
  template <class Other>
  [[gnu::always_inline]] static F32 largest(I32 own, Other other, int contrasts) {
    F32 best = {}, next = {}, weight = {};
    I32 winner = {};
    for (int d = 0; d < contrasts; d++) {
      const I32 pixels = other(d);
      // Not a number where there are no pixels at all, which is never more.
      const F32 rough =
          to_real(pixels) * static_cast<float>(kCambiWeights[d]) * rough_reciprocal(to_real(own + pixels));
      const I32 more = I32(rough > best);
      next = maximum(minimum(rough, best), next);
      best = maximum(rough, best);
      winner = select(more, pixels, winner);
      weight = select(more, F32{} + static_cast<float>(kCambiWeights[d]), weight);
    }
    const auto contrast = [&](I32 pixels, F32 factor) __attribute__((always_inline)) {
      // The first product is exact, the second is rounded as the integer would be.
      return to_real(own) * factor * to_real(pixels) * gather_floats(kReciprocals.of, own + pixels);
    };
    if (lanes_of(I32(next > best * (1 - 0x1p-9f)))) {
      F32 value = {};
      for (int d = 0; d < contrasts; d++)
        value = maximum(value, contrast(other(d), F32{} + static_cast<float>(kCambiWeights[d])));
      return value;
    }
    return contrast(winner, weight);
  }

  void put_map(int y, int x, F32 first, F32 second) const {
    float out[kWords];
    store_vector(out, first);
    store_vector(out + kFloats, second);
    uint16_t *to = map_ + static_cast<ptrdiff_t>(y) * plane_.width + first_ + x;
    for (int i = 0; i < kWords && first_ + x + i < plane_.width; i++) to[i] = cambi_heat(out[i], brightest_);
  }

  static constexpr CambiReciprocals kReciprocals = cambi_reciprocals();

  const CambiParams &params_;
  const CambiPlane &plane_;
  const CambiCounts &memory_;
  const CambiTile &to_;
  uint16_t *const map_;
  const int first_, pad_, columns_, scan_;
  const uint16_t lowest_;
  const int range_;
  const int brightest_;
  CambiTile::Found found_;
};

}  // namespace
}  // namespace vmafhip
