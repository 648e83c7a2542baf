#include "gst/vmafhip/content/signature.h"

#include <algorithm>
#include <cstdlib>

namespace vmafhip::content {
namespace {

// A line is part of a bar when its samples, in 8-bit code values, are at most kDarkest and lie within kRange.
constexpr int kDarkest = 44, kRange = 10;
constexpr double kShrinkAfter = 1.0;  // s for which bars must be seen before they count
constexpr int kGrowAfter = 2;         // frames, when there is picture where bars were
constexpr int kCreepAfter = 5;        // frames that see an edge to the same side

// Of higher pictures every n-th line is read, n odd, so that lines of both fields are. At most 2 * kLines lines are, or
// 27 a block, and words are summed at 10 bits: 64 of these fit a 16-bit sum.
constexpr int kLines = 240, kSumDepth = 10;
constexpr int kColumnLines = 4;  // of these lines, every fourth is asked for bars at the sides
int line_step(int height) {
  const int step = std::max(1, height / kLines);
  return step > 1 ? step | 1 : 1;
}

// A sample of more than 8 bits; a buffer may put it at an odd address.
struct [[gnu::packed]] Word {
  uint16_t value;
  operator uint16_t() const { return value; }
};

template <class T>
const T *row_of(const Luma &luma, int y) {
  return reinterpret_cast<const T *>(static_cast<const std::byte *>(luma.data) + y * luma.stride);
}

bool dark_and_flat(int lowest, int highest) { return highest <= kDarkest && highest - lowest <= kRange; }

// Samples of a row, `step` apart, or of a column, `step` rows apart.
template <class T>
bool row_is_bar(const Luma &luma, int y, int step, int to_8_bits) {
  const T *row = row_of<T>(luma, y);
  int lowest = 255, highest = 0;
  for (int x = 0; x < luma.width; x += step) {
    const int value = row[x] >> to_8_bits;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    if (!dark_and_flat(lowest, highest)) return false;
  }
  return true;
}
template <class T>
bool column_is_bar(const Luma &luma, int x, int step, int to_8_bits) {
  int lowest = 255, highest = 0;
  for (int y = 0; y < luma.height; y += step) {
    const int value = row_of<T>(luma, y)[x] >> to_8_bits;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    if (!dark_and_flat(lowest, highest)) return false;
  }
  return true;
}

// How many lines from 0 on are part of a bar, at most `most`: in strides, then one by one, so that few are read.
template <class IsBar>
int edge(int most, IsBar &&is_bar) {
  const int stride = std::max(1, most / 32);
  int line = 0;
  while (line + stride <= most && is_bar(line + stride - 1)) line += stride;
  while (line < most && is_bar(line)) ++line;
  return line;
}

// Bars come in pairs of nearly the same size, and measure 2 % at least.
bool is_pair(int a, int b, int of) { return std::abs(a - b) * 50 <= of && std::min(a, b) * 50 >= of; }

// A shift known when compiled keeps the loop in 16-bit lanes.
template <int kShift, class T>
void add_row(const T *row, int width, uint16_t *sums) {
  for (int x = 0; x < width; ++x) sums[x] = uint16_t(sums[x] + (row[x] >> kShift));
}

}  // namespace

void Signer::sign(const Luma &luma, double seconds, Signature &signature) {
  const Area whole{0, 0, luma.width, luma.height};
  if (whole != frame_) {
    frame_ = active_ = whole;
    agreed_ = 0;
    creep_ = {};
    decided_ = false;
  }
  if (luma.depth == 8)
    find_bars<uint8_t>(luma, seconds);
  else
    find_bars<Word>(luma, seconds);
  signature.bars = active_ != whole;
  if (luma.depth == 8)
    measure<uint8_t>(luma, signature);
  else
    measure<Word>(luma, signature);
}

template <class T>
void Signer::find_bars(const Luma &luma, double seconds) {
  const int width = luma.width, height = luma.height, to_8_bits = luma.shift + luma.depth - 8;
  const int across = std::max(1, width / 160), down = std::max(1, height / 90);
  int left = 0, right = 0;
  const int top = edge(height / 2, [&](int y) { return row_is_bar<T>(luma, y, across, to_8_bits); });
  if (top == height / 2) return;  // a dark picture says nothing
  const int bottom =
      edge(height / 2, [&](int y) { return row_is_bar<T>(luma, height - 1 - y, across, to_8_bits); });
  if (column_is_bar<T>(luma, 0, down, to_8_bits) && column_is_bar<T>(luma, width - 1, down, to_8_bits)) {
    // All columns at once, row by row: reading columns one by one would touch every cache line many times.
    lowest_.assign(size_t(width), 0xffff);
    highest_.assign(size_t(width), 0);
    const int step = line_step(height);  // lines that are read anyhow
    for (int y = step / 2; y < height; y += kColumnLines * step) {
      const T *row = row_of<T>(luma, y);
      uint16_t *lowest = lowest_.data(), *highest = highest_.data();
      for (int x = 0; x < width; ++x) {
        const uint16_t value = row[x];
        lowest[x] = std::min(lowest[x], value);
        highest[x] = std::max(highest[x], value);
      }
    }
    const auto is_bar = [&](int x) {
      return dark_and_flat(lowest_[size_t(x)] >> to_8_bits, highest_[size_t(x)] >> to_8_bits);
    };
    while (left < width / 2 && is_bar(left)) ++left;
    while (right < width / 2 && is_bar(width - 1 - right)) ++right;
  }
  Area seen = frame_;
  if (is_pair(top, bottom, height)) {
    seen.y = top;
    seen.height -= top + bottom;
  }
  if (is_pair(left, right, width)) {
    seen.x = left;
    seen.width -= left + right;
  }
  const bool fits = seen.width >= kGridWidth && seen.height >= kGridHeight * line_step(height);
  follow(fits ? seen : frame_, seconds);
}

bool Signer::alike(const Area &a, const Area &b) const {
  return std::abs(a.x - b.x) * 100 <= frame_.width && std::abs(a.y - b.y) * 100 <= frame_.height &&
         std::abs(a.width - b.width) * 50 <= frame_.width &&
         std::abs(a.height - b.height) * 50 <= frame_.height;
}

void Signer::follow(const Area &seen, double seconds) {
  if (!decided_) {  // the first picture decides at once
    decided_ = true;
    active_ = seen;
    return;
  }
  if (alike(seen, active_)) {  // creep to the median of what is seen: compression blurs the edges
    agreed_ = 0;
    const std::array<int, 4> off = {seen.x - active_.x, seen.y - active_.y, seen.width - active_.width,
                                    seen.height - active_.height};
    const std::array<int *, 4> edge = {&active_.x, &active_.y, &active_.width, &active_.height};
    for (size_t i = 0; i < 4; ++i) {
      const int sign = (off[i] > 0) - (off[i] < 0);
      creep_[i] = sign != 0 && sign * creep_[i] >= 0 ? creep_[i] + sign : sign;
      if (std::abs(creep_[i]) < kCreepAfter) continue;
      *edge[i] += sign;
      creep_[i] = 0;
    }
    active_.width = std::min(active_.width, frame_.width - active_.x);
    active_.height = std::min(active_.height, frame_.height - active_.y);
    return;
  }
  const bool grows =
      seen.width > active_.width + frame_.width / 50 || seen.height > active_.height + frame_.height / 50;
  if (agreed_ > 0 && alike(seen, candidate_)) {
    ++agreed_;
  } else {
    candidate_ = seen;
    candidate_since_ = seconds;
    agreed_ = 1;
  }
  if (agreed_ < kGrowAfter || !(grows || seconds - candidate_since_ >= kShrinkAfter)) return;
  active_ = candidate_;
  agreed_ = 0;
}

// One grid over a part of the picture, which rows are added to from top to bottom.
struct Signer::Blocks {
  const Area &area;
  std::vector<uint16_t> &sums;
  std::array<float, kGrid> &means;
  float unit;  // one 8-bit code value in sums
  int block = 0, rows = 0;

  Blocks(const Area &part, std::vector<uint16_t> &memory, std::array<float, kGrid> &out, float code_value)
      : area(part), sums(memory), means(out), unit(code_value) {
    sums.assign(size_t(area.width), 0);
  }
  template <class T>
  void add(const T *row, int y, int shift) {
    if (y < area.y || y >= area.y + area.height) return;
    const int here = (y - area.y) * kGridHeight / area.height;
    if (here != block) finish(here);
    ++rows;
    row += area.x;
    switch (shift) {
      case 0:
        return add_row<0>(row, area.width, sums.data());
      case 2:  // 12 bits
        return add_row<2>(row, area.width, sums.data());
      case 6:  // P010, P012, 16 bits
        return add_row<6>(row, area.width, sums.data());
      default:
        for (int x = 0; x < area.width; ++x) sums[size_t(x)] = uint16_t(sums[size_t(x)] + (row[x] >> shift));
    }
  }
  // The next row belongs to block row `next`. Block rows without a row of their own are like the one before.
  void finish(int next) {
    for (int bx = 0; bx < kGridWidth; ++bx) {
      const int left = std::min(area.width - 1, area.width * bx / kGridWidth);
      const int right = std::max(left + 1, area.width * (bx + 1) / kGridWidth);
      uint32_t sum = 0;
      for (int x = left; x < right; ++x) sum += sums[size_t(x)];
      const float mean = float(sum) / (unit * float((right - left) * std::max(1, rows)));
      for (int by = block; by < next; ++by) means[size_t(by * kGridWidth + bx)] = mean;
    }
    std::fill(sums.begin(), sums.end(), uint16_t(0));
    block = next;
    rows = 0;
  }
};

template <class T>
void Signer::measure(const Luma &luma, Signature &signature) {
  const int depth = std::min(luma.depth, kSumDepth), shift = luma.shift + luma.depth - depth;
  const int step = line_step(luma.height);
  const auto unit = float(1 << (depth - 8));
  Blocks full(frame_, full_sums_, signature.full, unit);
  Blocks active(active_, active_sums_, signature.active, unit);
  for (int y = std::min(step / 2, luma.height - 1); y < luma.height; y += step) {
    const T *row = row_of<T>(luma, y);
    full.add(row, y, shift);
    if (signature.bars) active.add(row, y, shift);
  }
  full.finish(kGridHeight);
  if (signature.bars) active.finish(kGridHeight);
}

}  // namespace vmafhip::content
