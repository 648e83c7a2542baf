// Pictures that tests of content synchronisation draw: textures that pan, with something moving over them, cut every
// second or two. A programme is a function of time, so that streams of any rate and offset can be sampled from it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gst/vmafhip/content/signature.h"

namespace vmafhip::content::test {

struct Drawing {
  int width = 0, height = 0;
  std::vector<uint8_t> luma;

  Drawing(int w, int h, int value = 16) : width(w), height(h), luma(size_t(w) * size_t(h), uint8_t(value)) {}
  uint8_t &at(int x, int y) { return luma[size_t(y) * size_t(width) + size_t(x)]; }
  Luma view() const { return {luma.data(), width, width, height, 8, 0}; }
};

inline uint32_t hash(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca77u ^ c * 0xc2b2ae3du;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}
inline double fraction(uint32_t h) { return (h >> 8) / double(1 << 24); }

// Smooth noise of 0..1, one value every unit.
inline double noise(double x, double y, uint32_t seed) {
  const double fx = std::floor(x), fy = std::floor(y), a = x - fx, b = y - fy;
  const auto value = [&](int dx, int dy) {
    return fraction(hash(uint32_t(int(fx) + dx), uint32_t(int(fy) + dy), seed));
  };
  const double top = value(0, 0) + a * (value(1, 0) - value(0, 0));
  const double bottom = value(0, 1) + a * (value(1, 1) - value(0, 1));
  return top + b * (bottom - top);
}

struct Programme {
  uint32_t seed = 1;
  int width = 128, height = 72;
  double scene = 1.7;  // s between cuts

  Drawing operator()(double time) const {
    const auto number = uint32_t(int(std::floor(time / scene)) + 1000);
    const uint32_t s = hash(seed, number, 1);
    // The camera never moves evenly: that would make a shift in space of a shift in time.
    const double speed = 0.3 + 1.2 * fraction(hash(s, 2, 0)), turn = 1 + 2 * fraction(hash(s, 3, 0));
    const double pan_x = speed * time + 0.8 * std::sin(turn * time * 3),
                 pan_y = 0.6 * std::sin(turn * time * 2);
    const double ball_x = 0.5 + 0.4 * std::sin(time * 4 * turn),
                 ball_y = 0.5 + 0.4 * std::cos(time * 3.1 * turn);
    Drawing drawing(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double u = double(x) / height, v = double(y) / height;
        double value = 40 + 150 * noise(5 * u + pan_x, 5 * v + pan_y, s) + 30 * noise(20 * u, 20 * v, s + 1);
        const double dx = u - ball_x * width / height, dy = v - ball_y;
        if (dx * dx + dy * dy < 0.03) value = 225;
        drawing.at(x, y) = uint8_t(std::clamp(value, 0., 255.));
      }
    return drawing;
  }
};

template <class Change>
Drawing changed(Drawing drawing, Change &&change) {
  for (uint8_t &value : drawing.luma) value = uint8_t(std::clamp(change(double(value)), 0., 255.));
  return drawing;
}

// Brought to fewer lines, with black ones above and below.
inline Drawing letterboxed(const Drawing &drawing, double share) {
  Drawing result(drawing.width, drawing.height, 16);
  const int bar = int(drawing.height * (1 - share) / 2), lines = drawing.height - 2 * bar;
  for (int y = 0; y < lines; ++y)
    for (int x = 0; x < drawing.width; ++x)
      result.at(x, y + bar) =
          drawing.luma[size_t(y * drawing.height / lines) * size_t(drawing.width) + size_t(x)];
  return result;
}

inline Drawing noisy(Drawing drawing, int amplitude, uint32_t seed) {
  for (size_t i = 0; i < drawing.luma.size(); ++i) {
    const int off = int(hash(uint32_t(i), seed, 7) % uint32_t(2 * amplitude + 1)) - amplitude;
    drawing.luma[i] = uint8_t(std::clamp(int(drawing.luma[i]) + off, 0, 255));
  }
  return drawing;
}

}  // namespace vmafhip::content::test
