// Planes of floats and their low-pass by the book, one sample after the other: what the float metrics have to equal, bit
// for bit.
#pragma once
#include <vector>

#include "engine/arith/hd.h"
#include "tests/metric_run.h"

namespace vmafhip::test {

struct FloatPlane {
  int width = 0, height = 0;
  std::vector<float> samples;

  FloatPlane(int w, int h) : width(w), height(h), samples(static_cast<size_t>(w) * h) {}
  float &at(int x, int y) { return samples[static_cast<size_t>(y) * width + x]; }
  float at(int x, int y) const { return samples[static_cast<size_t>(y) * width + x]; }
};

inline FloatPlane to_floats(const Luma &luma) {
  FloatPlane out(luma.width, luma.height);
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x)
      out.at(x, y) = static_cast<float>(luma.at(x, y)) / static_cast<float>(1 << (luma.depth - 8)) - 128.0f;
  return out;
}

// Of the products of two planes, or of one plane alone if `b` is null.
inline FloatPlane book_filter(const FloatPlane &a, const FloatPlane *b, const std::vector<float> &taps) {
  const int w = a.width, h = a.height, radius = static_cast<int>(taps.size() / 2);
  FloatPlane columns(w, h), out(w, h);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      float sum = 0;
      for (size_t k = 0; k < taps.size(); ++k) {
        const int row = mirror(y - radius + static_cast<int>(k), h);
        sum += taps[k] * (b ? a.at(x, row) * b->at(x, row) : a.at(x, row));
      }
      columns.at(x, y) = sum;
    }
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      float sum = 0;
      for (size_t k = 0; k < taps.size(); ++k)
        sum += taps[k] * columns.at(mirror(x - radius + static_cast<int>(k), w), y);
      out.at(x, y) = sum;
    }
  return out;
}

}  // namespace vmafhip::test
