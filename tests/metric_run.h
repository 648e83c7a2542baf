// For the tests of metrics: luma pictures in any memory layout, and an extractor run over them without a session.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/registry.h"

namespace vmafhip::test {

// A luma picture as plain numbers.
struct Luma {
  int width = 0, height = 0, depth = 8;
  std::vector<int> samples;

  Luma(int w, int h, int d) : width(w), height(h), depth(d), samples(static_cast<size_t>(w) * h) {}
  int &at(int x, int y) { return samples[static_cast<size_t>(y) * width + x]; }
  int at(int x, int y) const { return samples[static_cast<size_t>(y) * width + x]; }
};

// Fills with function(x, y).
template <class Function>
Luma paint(int width, int height, int depth, Function function) {
  Luma out(width, height, depth);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) out.at(x, y) = function(x, y);
  return out;
}

// Reproducible noise; `seed` numbers the sequence.
class Noise {
 public:
  explicit Noise(uint32_t seed) : state_(seed * 2654435761u + 12345) {}
  uint32_t next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  int below(int n) { return static_cast<int>(next() % static_cast<uint32_t>(n)); }

 private:
  uint32_t state_;
};

inline Luma noise(int width, int height, int depth, uint32_t seed) {
  Noise source(seed);
  return paint(width, height, depth, [&](int, int) { return source.below(1 << depth); });
}

// How a picture lies in memory.
struct Layout {
  int padding = 0;      // bytes behind each row
  bool upside = false;  // last row first, negative stride
  int offset = 0;       // bytes from an aligned address
};

// Owns exactly the memory of the picture, so that a sanitizer sees every read outside the rows.
class StoredLuma {
 public:
  StoredLuma(const Luma &luma, const Layout &layout) {
    const int bytes = luma.depth > 8 ? 2 : 1;
    const ptrdiff_t row = static_cast<ptrdiff_t>(luma.width) * bytes, stride = row + layout.padding;
    const ptrdiff_t size = stride * (luma.height - 1) + row;
    memory_.reset(new uint8_t[static_cast<size_t>(size + layout.offset)]);
    std::memset(memory_.get(), 0xcd, static_cast<size_t>(size + layout.offset));
    uint8_t *first = memory_.get() + layout.offset + (layout.upside ? stride * (luma.height - 1) : 0);
    view_ = {first, layout.upside ? -stride : stride, luma.width, luma.height, luma.depth};
    for (int y = 0; y < luma.height; ++y)
      for (int x = 0; x < luma.width; ++x) {
        uint8_t *to = first + y * view_.stride + x * bytes;
        const uint16_t word = static_cast<uint16_t>(luma.at(x, y));
        if (bytes == 1)
          *to = static_cast<uint8_t>(word);
        else
          std::memcpy(to, &word, 2);
      }
  }
  const PlaneView &view() const { return view_; }

 private:
  std::unique_ptr<uint8_t[]> memory_;
  PlaneView view_;
};

// Scores by log name, one per frame, in the order in which they were emitted.
using Scores = std::map<std::string, std::vector<double>>;

inline const Extractor &extractor(const std::string &name) {
  const Extractor *found = find_extractor(name);
  if (!found) throw std::runtime_error("no extractor " + name);
  return *found;
}

inline Options parse(const Extractor &extractor, const OptionTexts &texts) {
  auto options = Options::parse(extractor.name, extractor.options, texts);
  if (!options.ok()) throw std::runtime_error(options.status().message());
  return *options;
}

// The sums of every frame, from scratch memory of exactly the size asked for, filled with rubbish.
inline std::vector<std::vector<std::byte>> measure(const Extractor &extractor, const Options &options,
                                                   const std::vector<Luma> &ref,
                                                   const std::vector<Luma> &dist, const Layout &layout = {}) {
  const PictureFormat format = {ref[0].width, ref[0].height, ref[0].depth, Chroma::c400};
  const auto metric = CpuBackend::choose()->make(extractor, options, format);
  struct Free {
    void operator()(std::byte *p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  const auto rubbish = [](size_t bytes) {
    std::unique_ptr<std::byte, Free> memory(
        static_cast<std::byte *>(::operator new[](bytes + 1, std::align_val_t(64))));
    std::memset(memory.get(), 0xa5, bytes);
    return memory;
  };
  const auto scratch = rubbish(metric->scratch_bytes()), frame_memory = rubbish(metric->frame_bytes()),
             partial = rubbish(extractor.sums_bytes);

  std::vector<StoredLuma> stored_ref, stored_dist;
  for (const Luma &luma : ref) stored_ref.emplace_back(luma, layout);
  for (const Luma &luma : dist) stored_dist.emplace_back(luma, layout);
  std::vector<std::vector<std::byte>> sums;
  for (size_t i = 0; i < ref.size(); ++i) {
    FrameView frame;
    frame.index = i;
    frame.ref[0] = stored_ref[i].view();
    const Views views = {stored_dist[i].view()};
    frame.dist = {&views, 1};
    const Views before = {i > 0 ? stored_dist[i - 1].view() : PlaneView()};
    frame.earlier_dist = {&before, 1};
    for (size_t back = 1; back <= 2 && back <= i; ++back)
      frame.earlier[back - 1][0] = stored_ref[i - back].view();
    sums.emplace_back(extractor.sums_bytes);
    for (int stage = 0; stage < metric->stages(); ++stage)
      for (int strip = 0; strip < metric->strips(stage); ++strip) {
        std::memset(partial.get(), 0x5a, extractor.sums_bytes);
        metric->measure(frame, stage, strip, frame_memory.get(), scratch.get(), partial.get());
        extractor.add_sums(sums.back().data(), partial.get());
      }
  }
  return sums;
}

inline Scores run(const std::string &name, const OptionTexts &texts, const std::vector<Luma> &ref,
                  const std::vector<Luma> &dist, const Layout &layout = {}) {
  const Extractor &e = extractor(name);
  const Options options = parse(e, texts);
  const auto sums = measure(e, options, ref, dist, layout);
  const auto scorer = e.make_scorer(options, {ref[0].width, ref[0].height, ref[0].depth, Chroma::c400});
  Scores scores;
  const Emit emit = [&](int output, uint64_t frame, double value) {
    std::vector<double> &values = scores[log_name(e.outputs[static_cast<size_t>(output)], options)];
    EXPECT_EQ(values.size(), frame) << "frames of an output come in order, each once";
    values.push_back(value);
  };
  for (size_t i = 0; i < sums.size(); ++i) scorer->add(i, sums[i].data(), emit);
  scorer->flush(emit);
  return scores;
}

// The clip for which libvmaf's scores are written down in the tests: 80x60, frame f.
inline Luma formula_ref(int f, int depth) {
  const int up = depth - 8;
  return paint(80, 60, depth, [&](int x, int y) {
    const int r = 60 + (5 * x + 3 * y + 11 * f) % 97 + 40 * ((x / 8 + y / 8 + f) % 2);
    return (r << up) + (x + y) % (1 << up);
  });
}

inline Luma formula_dist(int f, int depth) {
  const int up = depth - 8;
  return paint(80, 60, depth, [&](int x, int y) {
    const int r = 60 + (5 * x + 3 * y + 11 * f) % 97 + 40 * ((x / 8 + y / 8 + f) % 2);
    const int d = r + (7 * x + 13 * y + 5 * f) % 11 - 5;
    return (d << up) + (3 * x + y) % (1 << up);
  });
}

inline std::vector<Luma> formula_refs(int frames, int depth) {
  std::vector<Luma> out;
  for (int f = 0; f < frames; ++f) out.push_back(formula_ref(f, depth));
  return out;
}

inline std::vector<Luma> formula_dists(int frames, int depth) {
  std::vector<Luma> out;
  for (int f = 0; f < frames; ++f) out.push_back(formula_dist(f, depth));
  return out;
}

// Scores of one frame that libvmaf 3.2.0 gives (plain C), compared to the last bit.
struct Expected {
  const char *name;
  double value;
};

inline void expect_scores(const Scores &scores, size_t frame, const std::vector<Expected> &expected) {
  for (const Expected &e : expected) {
    const auto found = scores.find(e.name);
    if (found == scores.end()) {
      ADD_FAILURE() << "no score " << e.name;
      continue;
    }
    if (found->second.size() <= frame) {
      ADD_FAILURE() << "no frame " << frame << " of " << e.name;
      continue;
    }
    EXPECT_EQ(found->second[frame], e.value) << e.name << " of frame " << frame;
  }
}

// Pictures that stress one thing each.
inline std::vector<Luma> stress_pictures(int width, int height, int depth) {
  const int top = (1 << depth) - 1;
  return {paint(width, height, depth, [](int, int) { return 0; }),
          paint(width, height, depth, [&](int, int) { return top; }),
          paint(width, height, depth, [&](int, int) { return top / 3; }),
          paint(width, height, depth, [&](int x, int y) { return (x + y) % 2 ? top : 0; }),
          paint(width, height, depth, [&](int x, int) { return x % 4 < 2 ? top : 0; }),
          paint(width, height, depth, [&](int x, int y) { return (x * 37 + y * 11) % (top + 1); }),
          noise(width, height, depth, 7)};
}

}  // namespace vmafhip::test
