// From samples to the planes of banding: depth and size, anti-dither, spatial mask, mode filter, halving.
#pragma once
#include "engine/cpu/arena.h"
#include "engine/cpu/cambi.h"
#include "engine/cpu/cambi_words.h"

namespace vmafhip {
namespace {

constexpr uint16_t kCambiCode = 0x7fff;  // a word without kCambiKept

// Rows of words, with room for whole vectors on either side.
template <int kRows>
struct CambiRing {
  static_assert((kRows & (kRows - 1)) == 0);
  uint16_t *row[kRows];

  CambiRing(Arena *arena, int width) {
    for (uint16_t *&r : row) r = arena->take<uint16_t>(static_cast<size_t>(width), kWords, 2 * kWords);
  }
  uint16_t *operator[](int y) const { return row[y & (kRows - 1)]; }
};

// Left to right; the first and the last column stay.
[[maybe_unused]] void cambi_mode_across(const uint16_t *in, uint16_t *out, int width) {
  for (int x = 0; x < width; x += kWords)
    store_vector(out + x, cambi_mode(load_words(in + x - 1), load_words(in + x), load_words(in + x + 1)));
  out[0] = in[0];
  out[width - 1] = in[width - 1];
}

// A row of a plane, and the zeros around it.
[[maybe_unused]] void cambi_finish_row(const CambiPlane &to, int y, const uint16_t *codes,
                                       const uint16_t *above, const uint16_t *here, const uint16_t *below,
                                       const uint16_t *kept) {
  uint16_t *out = to.base + y * to.stride;
  if (y == 0 || y == to.height - 1) {
    for (int x = 0; x < to.width; x += kWords)
      store_vector(out + x, load_words(codes + x) | load_words(kept + x));
  } else {
    for (int x = 0; x < to.width; x += kWords)
      store_vector(out + x, cambi_mode(load_words(above + x), load_words(here + x), load_words(below + x)) |
                                load_words(kept + x));
  }
  for (int x = -kCambiBefore; x < 0; x += kWords) store_vector(out + x, U16{});
  for (int x = 0; x < kCambiBehind - 31; x += kWords) store_vector(out + to.width + x, U16{});
}

// Every second word.
[[maybe_unused]] void cambi_halve_row(const uint16_t *in, uint16_t *out, int width, uint16_t keep) {
  for (int x = 0; x < width; x++) out[x] = static_cast<uint16_t>(in[2 * x] & keep);
}

// The rows that are in work while the first scale is made from top to bottom.
struct CambiPrepared {
  CambiRing<2> samples;  // at 10 bits and target size
  CambiRing<16> codes;   // the same after the anti-dither
  CambiRing<8> equal;    // 1 where a code equals its right and its lower neighbour
  CambiRing<4> halved, across, kept;
  uint16_t *sums;  // of `equal`, over the rows around the one for which the mask is made
  uint16_t *mask;  // of a row of the target that is not one of the first scale as it is

  CambiPrepared(Arena *arena, int width)
      : samples(arena, width),
        codes(arena, width),
        equal(arena, width),
        halved(arena, width),
        across(arena, width),
        kept(arena, width),
        sums(arena->take<uint16_t>(static_cast<size_t>(width), kWords, 2 * kWords)),
        mask(arena->take<uint16_t>(static_cast<size_t>(width), 0, 2 * kWords)) {}
};

template <class Sample>
class CambiPreparation {
 public:
  CambiPreparation(const CambiParams &params, const PlaneView &from, const CambiPicture &to,
                   const CambiPrepared &rows)
      : params_(params),
        from_(from),
        to_(to),
        rows_(rows),
        width_(to.target.width),
        height_(to.target.height) {}

  // Rows [first, last) of the first scale.
  void run(int first, int last) {
    const CambiPlane &plane = to_.plane[0];
    const int step = params_.half ? 2 : 1;
    const int above = larger(first - 1, 0), below = smaller(last, plane.height - 1);
    next_code_ = larger(0, smaller(step * above, step * first - kCambiMaskReach));
    next_sample_ = next_code_;
    start_mask(step * first);
    for (int y = above; y <= below; y++) {
      const int row = step * y;
      need_codes(row);
      const uint16_t *codes = rows_.codes[row];
      if (params_.half) {
        cambi_halve_row(codes, rows_.halved[y], plane.width, kCambiCode);
        codes = rows_.halved[y];
      }
      cambi_mode_across(codes, rows_.across[y], plane.width);
      if (y >= first && y < last) make_mask(row, y);
      if (y > first) finish(y - 1);
    }
    if (last == plane.height) finish(last - 1);
  }

 private:
  void finish(int y) {
    const uint16_t *codes = params_.half ? rows_.halved[y] : rows_.codes[y];
    cambi_finish_row(to_.plane[0], y, codes, rows_.across[y - 1], rows_.across[y], rows_.across[y + 1],
                     rows_.kept[y]);
  }

  void make_samples(int y) {
    const Sample *from = row_of<Sample>(from_, to_.rows ? to_.rows[y] : y);
    uint16_t *out = rows_.samples[y];
    const int depth = params_.depth;
    if (to_.columns)
      for (int x = 0; x < width_; x++)
        out[x] = static_cast<uint16_t>(cambi_code(from[to_.columns[x]], depth));
    else
      for (int x = 0; x < width_; x++) out[x] = static_cast<uint16_t>(cambi_code(from[x], depth));
    out[width_] = out[width_ - 1];
  }

  void need_codes(int y) {
    for (; next_code_ <= y; next_code_++) {
      const int below = params_.anti_dither ? smaller(next_code_ + 1, height_ - 1) : next_code_;
      for (; next_sample_ <= below; next_sample_++) make_samples(next_sample_);
      const uint16_t *a = rows_.samples[next_code_], *b = rows_.samples[below];
      uint16_t *out = rows_.codes[next_code_];
      if (params_.anti_dither)
        // Repeated last columns and rows: the means of two, and of one, are those of four.
        for (int x = 0; x < width_; x += kWords)
          store_vector(
              out + x,
              (load_words(a + x) + load_words(a + x + 1) + load_words(b + x) + load_words(b + x + 1)) >> 2);
      else
        for (int x = 0; x < width_; x += kWords) store_vector(out + x, load_words(a + x));
      out[width_] = out[width_ - 1];
    }
  }

  // Adds or removes a row of equal neighbours.
  void make_equal(int y) {
    const int below = smaller(y + 1, height_ - 1);
    need_codes(below);
    const uint16_t *a = rows_.codes[y], *b = rows_.codes[below];
    uint16_t *out = rows_.equal[y];
    for (int x = 0; x < width_; x += kWords) {
      const U16 code = load_words(a + x);
      const U16 equal = U16((code == load_words(a + x + 1)) & (code == load_words(b + x))) & 1;
      store_vector(out + x, equal);
      store_vector(rows_.sums + x, load_words(rows_.sums + x) + equal);
    }
  }
  void drop_equal(int y) {
    const uint16_t *out = rows_.equal[y];
    for (int x = 0; x < width_; x += kWords)
      store_vector(rows_.sums + x, load_words(rows_.sums + x) - load_words(out + x));
  }

  void start_mask(int row) {
    for (int x = -kWords; x < width_ + 2 * kWords; x += kWords) store_vector(rows_.sums + x, U16{});
    for (int y = larger(0, row - kCambiMaskReach); y < smaller(height_, row + kCambiMaskReach); y++)
      make_equal(y);
    mask_row_ = first_mask_row_ = row;
  }

  // The mask of a row of the target goes to row y of the first scale.
  void make_mask(int row, int y) {
    for (; mask_row_ <= row; mask_row_++) {
      if (mask_row_ + kCambiMaskReach < height_) make_equal(mask_row_ + kCambiMaskReach);
      if (mask_row_ > first_mask_row_ && mask_row_ - kCambiMaskReach - 1 >= 0)
        drop_equal(mask_row_ - kCambiMaskReach - 1);
    }
    uint16_t *sums = rows_.sums;
    // What lies beyond the last column is no neighbour.
    for (int x = 0; x < kWords; x++) sums[width_ + x] = 0;
    const uint16_t limit = static_cast<uint16_t>(cambi_mask_limit(width_, height_));
    uint16_t *out = params_.half ? rows_.mask : rows_.kept[y];
    for (int x = 0; x < width_; x += kWords) {
      U16 sum = load_words(sums + x);
      for (int k = 1; k <= kCambiMaskReach; k++) sum += load_words(sums + x - k) + load_words(sums + x + k);
      store_vector(out + x, U16(sum > limit) & kCambiKept);
    }
    if (params_.half) cambi_halve_row(out, rows_.kept[y], to_.plane[0].width, kCambiKept);
  }

  const CambiParams &params_;
  const PlaneView &from_;
  const CambiPicture &to_;
  const CambiPrepared &rows_;
  const int width_, height_;
  int next_sample_ = 0, next_code_ = 0, mask_row_ = 0, first_mask_row_ = 0;
};

// A plane from the next larger one.
[[maybe_unused]] void cambi_halve(const CambiPlane &from, const CambiPlane &to, const CambiPrepared &rows) {
  for (int y = 0; y <= to.height; y++) {
    if (y < to.height) {
      const uint16_t *in = from.base + 2 * y * from.stride;
      cambi_halve_row(in, rows.codes[y], to.width, kCambiCode);
      cambi_halve_row(in, rows.kept[y], to.width, kCambiKept);
      cambi_mode_across(rows.codes[y], rows.across[y], to.width);
    }
    if (y > 0)
      cambi_finish_row(to, y - 1, rows.codes[y - 1], rows.across[y - 2], rows.across[y - 1], rows.across[y],
                       rows.kept[y - 1]);
  }
}

}  // namespace
}  // namespace vmafhip
