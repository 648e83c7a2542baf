// For the tests of speed_chroma and speed_temporal: clips in colour run through an extractor, and the definitions of
// engine/arith for one number at a time.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "engine/arith/speed_blocks.h"
#include "tests/colour_run.h"

namespace vmafhip::test {

struct ColourClip {
  std::vector<Colours> ref, dist;
};

inline ColourClip check_clip(int depth, int frames = 3) {
  ColourClip clip;
  for (int n = 0; n < frames; ++n) {
    CheckPair pair = check_pair(depth, n);
    clip.ref.push_back(std::move(pair.ref));
    clip.dist.push_back(std::move(pair.dist));
  }
  return clip;
}

// A frame with the pictures before it.
struct StoredPair {
  StoredColours now, before;
  FrameView view;

  StoredPair(const ColourClip &clip, size_t n, const Layout &layout = {})
      : now(clip.ref[n], {clip.dist[n]}, layout),
        before(clip.ref[n > 0 ? n - 1 : 0], {clip.dist[n > 0 ? n - 1 : 0]}, layout),
        view(now.view) {
    view.index = n;
    nothing = {Views{}};
    if (n > 0) view.earlier[0] = before.view.ref;
    view.earlier_dist = n > 0 ? before.view.dist : std::span<const Views>(nothing);
  }
  StoredPair(const StoredPair &) = delete;

 private:
  std::vector<Views> nothing;
};

// Scores by log name, one a frame.
inline Scores run_colours(const std::string &name, const OptionTexts &texts, const ColourClip &clip,
                          const Layout &layout = {}) {
  const Extractor &e = extractor(name);
  const Options options = parse(e, texts);
  const PictureFormat &format = clip.ref[0].format;
  const auto metric = CpuBackend::choose()->make(e, options, format);
  const auto scorer = e.make_scorer(options, format);
  Scores scores;
  const Emit emit = [&](int output, uint64_t frame, double value) {
    std::vector<double> &values = scores[log_name(e.outputs[static_cast<size_t>(output)], options)];
    EXPECT_EQ(values.size(), frame);
    values.push_back(value);
  };
  for (size_t n = 0; n < clip.ref.size(); ++n) {
    const StoredPair frame(clip, n, layout);
    scorer->add(n, measure_colours(e, *metric, frame.view)[0].data(), emit);
  }
  scorer->flush(emit);
  return scores;
}

// Neighbours one by one: what vectors have to equal.
struct SingleTeam {
  using Real = float;
  static constexpr int kLanes = 1;

  static Real load(const float *from) { return *from; }
  static void store(float *to, Real v) { *to = v; }
  static double wide(Real v) { return v; }
  static Real rounded(double v) { return static_cast<float>(v); }
  static double log2(double v) { return log2_of(v); }
  template <class Function>
  static void each(int first, int last, Function f) {
    for (int at = first; at < last; ++at) f(at);
  }
  template <class Function>
  static void once(Function f) {
    f();
  }
  static void multiply(const SpeedMatrix &left, SpeedMatrix &right, int first, int column) {
    for (int at = column; at < kSpeedOffsets; ++at) speed_multiply<SingleTeam>(left, right, first, at);
  }
};

}  // namespace vmafhip::test
