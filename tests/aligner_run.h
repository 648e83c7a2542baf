// Runs two lists of time stamps through an Aligner, as the comparing thread does: frames wait on their side until
// the aligner asks for them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gst/vmafhip/aligner.h"

namespace vmafhip::test {

using Times = std::vector<int64_t>;  // ns
constexpr int64_t kMs = 1'000'000;

inline Times ms(const std::vector<int> &values) {
  Times times;
  for (int v : values) times.push_back(v * kMs);
  return times;
}

// Frame n at n * numerator / denominator seconds + `start` ns, in whole ns.
inline Times grid(int frames, int64_t numerator, int64_t denominator, int64_t start = 0) {
  Times times;
  for (int64_t n = 0; n < frames; ++n) times.push_back(n * numerator * 1'000'000'000 / denominator + start);
  return times;
}

// One decision: indices of the partners; -1 on one side: the other's frame was left out.
struct Verdict {
  int ref = -1, dist = -1;
};
using Verdicts = std::vector<Verdict>;

// "0=0 r1 2=1 d2": partners are joined by '=', frames left out carry their side's letter.
inline std::string text_of(const Verdicts &verdicts) {
  std::string text;
  for (const Verdict &v : verdicts) {
    if (!text.empty()) text += ' ';
    if (v.ref < 0)
      text += 'd';
    else
      text.append(v.dist < 0 ? "r" : "").append(std::to_string(v.ref));
    if (v.ref >= 0 && v.dist >= 0) text += '=';
    if (v.dist >= 0) text += std::to_string(v.dist);
  }
  return text;
}

// `arrivals`: the sides in the order in which their frames, and at last their ends, become available.
inline Verdicts align(Aligner<int> aligner, const Times &ref, const Times &dist,
                      const std::vector<Side> &arrivals) {
  struct Input {
    const Times &times;
    size_t arrived = 0, given = 0;  // the end counts as one
  };
  Input inputs[2] = {{ref}, {dist}};
  auto next_arrival = arrivals.begin();
  Verdicts verdicts;
  for (;;) {
    auto decision = aligner.step();
    switch (decision.step) {
      case Aligner<int>::Step::pair:
        verdicts.push_back({decision.ref->data, decision.dist->data});
        continue;
      case Aligner<int>::Step::drop_ref:
        verdicts.push_back({decision.ref->data, -1});
        continue;
      case Aligner<int>::Step::drop_dist:
        verdicts.push_back({-1, decision.dist->data});
        continue;
      case Aligner<int>::Step::end:
        return verdicts;
      case Aligner<int>::Step::need_ref:
      case Aligner<int>::Step::need_dist:
        break;
    }
    const Side side = decision.step == Aligner<int>::Step::need_ref ? Side::ref : Side::dist;
    Input &input = inputs[side == Side::ref ? 0 : 1];
    while (input.given == input.arrived) {
      if (next_arrival == arrivals.end()) {
        ADD_FAILURE() << "asks for more than there is, after " << text_of(verdicts);
        return verdicts;
      }
      ++inputs[*next_arrival++ == Side::ref ? 0 : 1].arrived;
    }
    const size_t n = input.given++;
    if (n < input.times.size())
      aligner.push(side, {int(n), input.times[n]});
    else
      aligner.end(side);
  }
}

// The verdicts, after making sure that they are the same whatever arrives first.
inline Verdicts align(const Aligner<int> &aligner, const Times &ref, const Times &dist) {
  const size_t refs = ref.size() + 1, dists = dist.size() + 1;
  std::vector<Side> ref_first(refs + dists, Side::dist), dist_first(refs + dists, Side::ref), alternating;
  std::fill_n(ref_first.begin(), refs, Side::ref);
  std::fill_n(dist_first.begin(), dists, Side::dist);
  for (size_t i = 0; i < std::max(refs, dists); ++i) {
    if (i < refs) alternating.push_back(Side::ref);
    if (i < dists) alternating.push_back(Side::dist);
  }
  auto shuffled = ref_first;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(unsigned(refs * 1000 + dists)));
  const Verdicts verdicts = align(aligner, ref, dist, ref_first);
  for (const auto &arrivals : {dist_first, alternating, shuffled})
    EXPECT_EQ(text_of(align(aligner, ref, dist, arrivals)), text_of(verdicts))
        << "the order of arrival must not matter";
  return verdicts;
}

inline Verdicts align(const Times &ref, const Times &dist, int64_t tolerance = -1) {
  return align(Aligner<int>(SyncMode::timestamp, tolerance), ref, dist);
}

inline std::string aligned_text(const Times &ref, const Times &dist, int64_t tolerance = -1) {
  return text_of(align(ref, dist, tolerance));
}

}  // namespace vmafhip::test
