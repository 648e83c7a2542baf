// Planes of floats and their low-pass by the book, one sample after the other: what the float metrics have to equal, bit
// for bit.
#pragma once
#include <cmath>
#include <string>
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

// Every sample from all that its method reads, with weights worked out on the spot.
inline FloatPlane book_resize(const FloatPlane &in, int width, int height, const std::string &method) {
  if (width == in.width && height == in.height) return in;
  FloatPlane out(width, height);
  const float rx = static_cast<float>(in.width) / static_cast<float>(width),
              ry = static_cast<float>(in.height) / static_cast<float>(height);
  const auto folded = [](float i, int n) {
    const float last = static_cast<float>(n - 1);
    return static_cast<int>(i < 0 ? -i : i > last ? 2 * last - i : i);
  };
  const auto sample = [&](float x, float y) { return in.at(folded(x, in.width), folded(y, in.height)); };
  const auto cubic = [](float t) {
    const float a = -0.75f;
    return t < 1 ? ((a + 2) * t - (a + 3)) * t * t + 1 : t < 2 ? (((t - 5) * t + 8) * t - 4) * a : 0.0f;
  };
  const auto lanczos = [](float t) {
    if (t == 0) return 1.0f;
    if (std::fabs(t) >= 4) return 0.0f;
    return static_cast<float>(4 * std::sin(M_PI * t) * std::sin(M_PI * t / 4) / (M_PI * M_PI * t * t));
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float &to = out.at(x, y);
      if (method == "nearest") {
        to =
            in.at(static_cast<int>(static_cast<float>(x) * rx), static_cast<int>(static_cast<float>(y) * ry));
        continue;
      }
      const float xx = static_cast<float>((x + 0.5) * rx - 0.5),
                  yy = static_cast<float>((y + 0.5) * ry - 0.5);
      const float x0 = std::floor(xx), y0 = std::floor(yy);
      if (method == "bilinear") {
        const int x1 = folded(x0, in.width), x2 = folded(std::ceil(xx), in.width);
        const int y1 = folded(y0, in.height), y2 = folded(std::ceil(yy), in.height);
        const float dx = xx - static_cast<float>(x1), dy = yy - static_cast<float>(y1);
        to = (1 - dy) * (1 - dx) * in.at(x1, y1) + (1 - dy) * dx * in.at(x2, y1) +
             dy * (1 - dx) * in.at(x1, y2) + dy * dx * in.at(x2, y2);
        continue;
      }
      const bool is_cubic = method == "bicubic";
      float sum = 0, weights = 0;
      for (int j = is_cubic ? -1 : -4; j <= (is_cubic ? 2 : 4); ++j)
        for (int i = is_cubic ? -1 : -4; i <= (is_cubic ? 2 : 4); ++i) {
          const float di = static_cast<float>(i) - (xx - x0), dj = static_cast<float>(j) - (yy - y0);
          const float weight =
              is_cubic ? cubic(std::fabs(di)) * cubic(std::fabs(dj)) : lanczos(di) * lanczos(dj);
          sum += sample(x0 + static_cast<float>(i), y0 + static_cast<float>(j)) * weight;
          weights += weight;
        }
      to = is_cubic ? sum : sum / weights;
    }
  return out;
}

}  // namespace vmafhip::test
