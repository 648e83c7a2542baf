// c-values of a tile of columns, from top to bottom.
//
// counts[code][column] says how many kept pixels of a code the window around a column holds. When the window moves down
// by a row, a run of equal pixels that enters or leaves changes a stretch of one row of counts, by 1 at its ends and by
// the run's length or the window's width in the middle: as many words at a time as a vector has. The counts that
// the pixels of one code in a vector need are then vectors too. Runs that leave where the same ones enter change nothing.
#pragma once
#include "engine/cpu/arena.h"
#include "engine/cpu/cambi.h"
#include "engine/cpu/cambi_words.h"

namespace vmafhip {
namespace {

constexpr int kCambiScan = kCambiTile + 2 * (kCambiMaxWindow / 2);  // columns that matter to a tile

struct CambiCounts {
  uint16_t *entering, *leaving;  // codes of the rows that come and go, 0 where nothing changes
  uint16_t *counts;              // of `contrasts` codes below the first that matters, and so on
  uint8_t *clean;                // whether the counts of a code have been set to 0

  CambiCounts(Arena *arena, const CambiParams &params) {
    const CambiCodes codes = cambi_codes(params);
    rows = codes.last < codes.first ? 0 : codes.last - codes.first + 1 + 2 * params.contrasts;
    entering = arena->take<uint16_t>(kCambiScan, kWords, 2 * kWords);
    leaving = arena->take<uint16_t>(kCambiScan, kWords, 2 * kWords);
    counts = arena->take<uint16_t>(static_cast<size_t>(rows) * kCambiTile);
    clean = arena->take<uint8_t>(static_cast<size_t>(rows));
  }
  int rows;
};

class CambiTiling {
 public:
  CambiTiling(const CambiParams &params, const CambiPicture &picture, int scale, int first,
              const CambiTile &to, float *map, const CambiCounts &memory)
      : params_(params),
        plane_(picture.plane[scale]),
        memory_(memory),
        to_(to),
        map_(map),
        first_(first),
        pad_(picture.target.window >> 1),
        columns_((smaller(kCambiTile, plane_.width - first) + kWords - 1) / kWords * kWords),
        scan_(columns_ + 2 * pad_),
        contrasts_(params.contrasts) {
    const CambiCodes codes = cambi_codes(params);
    lowest_ = static_cast<uint16_t>(codes.first | kCambiKept);
    range_ = codes.last - codes.first;
  }

  void run() {
    found_ = {};
    if (range_ >= 0) {
      for (int row = 0; row < memory_.rows; row++) memory_.clean[row] = 0;
      for (int k = 1; k <= kWords; k++) memory_.entering[-k] = memory_.leaving[-k] = 0;
      for (int y = 0; y < smaller(pad_, plane_.height); y++) move(y, -1);
      for (int y = 0; y < plane_.height; y++) {
        move(y + pad_ < plane_.height ? y + pad_ : -1, y - pad_ - 1);
        measure(y);
      }
    }
    *to_.found = found_;
  }

 private:
  // Codes with kCambiKept that matter, and 0.
  U16 relevant(U16 words) const {
    const U16 above = words - lowest_;
    return words & U16(above <= static_cast<uint16_t>(range_));
  }

  uint16_t *counts_of(int code, int away) const {
    return memory_.counts +
           static_cast<ptrdiff_t>(code + away - (lowest_ & ~kCambiKept) + contrasts_) * kCambiTile;
  }

  // Rows that enter and leave the window, -1 for none.
  void move(int enters, int leaves) {
    const uint16_t *in = enters >= 0 ? plane_.base + enters * plane_.stride + first_ - pad_ : nullptr;
    const uint16_t *out = leaves >= 0 ? plane_.base + leaves * plane_.stride + first_ - pad_ : nullptr;
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
    if (in) runs<true>(memory_.entering);
    if (out) runs<false>(memory_.leaving);
  }

  template <bool kAdd>
  void runs(uint16_t *codes) {
    for (int x = 0; x < kWords; x++) codes[scan_ + x] = 0;
    int begin = 0, code = 0;
    for (int x = 0; x < scan_ + 1; x += kWords) {
      uint32_t starts = lanes_of(I16(load_words(codes + x) != load_words(codes + x - 1)));
      for (; starts; starts &= starts - 1) {
        const int at = x + __builtin_ctz(starts);
        if (code) change<kAdd>(code & ~kCambiKept, begin, at);
        begin = at;
        code = codes[at];
      }
    }
  }

  // A run of pixels of one code: columns [begin, end) of those that are scanned.
  template <bool kAdd>
  void change(int code, int begin, int end) {
    clean(code);
    uint16_t *counts = counts_of(code, 0);
    const int first = begin - 2 * pad_, last = end - 1;  // columns of the tile whose windows it touches
    const int16_t most = static_cast<int16_t>(smaller(end - begin, 2 * pad_ + 1));
    for (int x = larger(first, 0) / kWords * kWords; x <= smaller(last, columns_ - 1); x += kWords) {
      const I16 from_first = lane_ + static_cast<int16_t>(x - first + 1);
      const I16 to_last = static_cast<int16_t>(last - x + 1) - lane_;
      I16 pixels = from_first < to_last ? from_first : to_last;
      pixels = pixels < most ? pixels : I16{} + most;
      pixels = pixels > 0 ? pixels : I16{};
      const U16 before = load_words(counts + x);
      store_vector(counts + x, kAdd ? before + U16(pixels) : before - U16(pixels));
    }
  }

  // The counts of a code and of those that it is compared with.
  void clean(int code) {
    const int middle = code - (lowest_ & ~kCambiKept) + contrasts_;
    if (memory_.clean[middle] == 2) return;
    for (int row = middle - contrasts_; row <= middle + contrasts_; row++) {
      if (memory_.clean[row]) continue;
      uint16_t *counts = memory_.counts + static_cast<ptrdiff_t>(row) * kCambiTile;
      for (int x = 0; x < kCambiTile; x += kWords) store_vector(counts + x, U16{});
      memory_.clean[row] = 1;
    }
    memory_.clean[middle] = 2;
  }

  void measure(int y) {
    const uint16_t *row = plane_.base + y * plane_.stride + first_;
    F64 sum = {};
    for (int x = 0; x < columns_; x += kWords) {
      const U16 codes = relevant(load_words(row + x));
      uint32_t left = lanes_of(I16(codes != 0));
      F32 first = {}, second = {};
      uint32_t positive = 0;
      while (left) {
        const uint16_t code = codes[__builtin_ctz(left)];
        const I16 same = I16(codes == code);
        left &= ~lanes_of(same);
        positive |= contrast(code & ~kCambiKept, x, same, first, second);
      }
      if (map_) put_map(y, x, first, second);
      if (!positive) continue;
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

  // The c-values of the pixels of a code in a vector. A value lies between half the weighted smaller count of the two
  // and the whole: contrasts of less than half the largest bound need no division.
  uint32_t contrast(int code, int x, I16 same, F32 &first, F32 &second) const {
    const U16 own = load_words(counts_of(code, 0) + x) & U16(same);
    U16 other[kCambiMostContrasts], bound[kCambiMostContrasts];
    U16 best = {};
    for (int d = 0; d < contrasts_; d++) {
      if (!cambi_counts(params_, code, d)) {
        bound[d] = U16{};
        continue;
      }
      const U16 a = load_words(counts_of(code, d + 1) + x), b = load_words(counts_of(code, -d - 1) + x);
      other[d] = a < b ? b : a;
      bound[d] = (own < other[d] ? own : other[d]) * kCambiWeights[d];
      best = best < bound[d] ? bound[d] : best;
    }
    const uint32_t positive = lanes_of(I16(best != 0));
    if (!positive) return 0;
    for (int d = 0; d < contrasts_; d++) {
      const I16 close = I16(bound[d] >= best - bound[d]) & I16(bound[d] != 0);
      if (!lanes_of(close)) continue;
      first = maximum(first, value(first_half(own), first_half(other[d]), d));
      second = maximum(second, value(second_half(own), second_half(other[d]), d));
    }
    return positive;
  }

  // cambi_contrast().
  static F32 value(I32 own, I32 other, int d) {
    return to_real(own * other * kCambiWeights[d]) * gather(kReciprocals.of, own + other);
  }

  void put_map(int y, int x, F32 first, F32 second) const {
    float out[kWords];
    store_vector(out, first);
    store_vector(out + kFloats, second);
    float *to = map_ + static_cast<ptrdiff_t>(y) * plane_.width + first_ + x;
    for (int i = 0; i < kWords && first_ + x + i < plane_.width; i++) to[i] = out[i];
  }

  static constexpr CambiReciprocals kReciprocals = cambi_reciprocals();

  const CambiParams &params_;
  const CambiPlane &plane_;
  const CambiCounts &memory_;
  const CambiTile &to_;
  float *const map_;
  const int first_, pad_, columns_, scan_, contrasts_;
  uint16_t lowest_;
  int range_;
  CambiTile::Found found_;
  const I16 lane_ = [] {
    I16 lanes = {};
    for (int i = 0; i < kWords; i++) lanes[i] = static_cast<int16_t>(i);
    return lanes;
  }();
};

}  // namespace
}  // namespace vmafhip
