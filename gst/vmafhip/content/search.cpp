#include "gst/vmafhip/content/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vmafhip::content {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastCover = 0.85;  // of a window that must have partners
constexpr int kFewestPartners = 8;
constexpr double kLeastStep = 1.0 / 30;      // s between the lags that are tried
constexpr double kLeastInterval = 1.0 / 28;  // s: of 50 or 60 frames a second, every second one is looked at
constexpr double kSpread = 0.30;             // s over which change must be spread: one cut is no proof
constexpr double kHill = 0.02;               // the peak's hill ends where the curve rises by this
constexpr double kAlike = 0.85;              // mean likeness of the pictures
constexpr int kRefine = 4;                   // tries between two lags

size_t stride_of(const History &history) {
  return size_t(std::max(1.0, std::floor(kLeastInterval / history.period() + 0.3)));
}

// Mean likeness over the newest second that both have.
double mean_likeness(const History &ref, const History &dist, double offset) {
  const double end = std::min(dist.back().time, ref.back().time - offset);
  double sum = 0;
  int count = 0;
  size_t j = ref.size() - 1;
  for (size_t i = dist.size(); i-- > 0 && dist[i].time > end - 1;) {
    const double time = dist[i].time + offset;
    j = ref.nearest(time, j);
    if (dist[i].time > end || std::abs(ref[j].time - time) > ref.period()) continue;
    sum += likeness(dist[i], ref[j]);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

// The newest frames of the one stream against the other's of `lag` later; lags > 0 have the roles exchanged, so that
// both reach back in time. `fine`: changes between the other's frames are interpolated.
Search::PerWindow Search::correlate(const History &ref, const History &dist, double lag, bool fine,
                                    View view) const {
  const History &recent = lag <= 0 ? dist : ref, &past = lag <= 0 ? ref : dist;
  const double shift = lag <= 0 ? lag : -lag;
  const size_t stride = stride_of(recent);
  PerWindow result;
  result.fill(kUnknown);
  double cross = 0, recent_energy = 0, past_energy = 0;
  int looked_at = 0, partners = 0;
  size_t window = 0, j = past.size() - 1;
  for (size_t i = recent.size(); i >= 1 && i <= recent.size(); i -= stride) {
    const Frame &a = recent[i - 1];
    for (; window < kWindowCount && recent.back().time - a.time >= kWindows[window]; ++window)
      if (partners >= kLeastCover * looked_at && partners >= kFewestPartners)
        result[window] = cross / std::sqrt(recent_energy * past_energy + 1e-9);
    if (window == kWindowCount || !a.changed) break;
    ++looked_at;
    const double time = a.time + shift;
    j = past.nearest(time, j);
    const Frame &b = past[j];
    if (!b.changed || std::abs(b.time - time) > 0.75 * past.period()) continue;
    ++partners;
    recent_energy += a.views[view].energy;
    const size_t k = b.time < time ? j + 1 : j - 1;  // beyond the end before the first
    if (fine && k < past.size() && past[k].changed && std::abs(b.time - time) > 0.02 * past.period()) {
      const auto share = float((time - b.time) / (past[k].time - b.time));
      const Map &u = b.views[view].change, &v = past[k].views[view].change;
      Map between;
      for (size_t q = 0; q < kFeature; ++q) between[q] = u[q] + share * (v[q] - u[q]);
      cross += dot(between, a.views[view].change);
      past_energy += dot(between, between);
    } else {
      cross += dot(a.views[view].change, b.views[view].change);
      past_energy += b.views[view].energy;
    }
  }
  return result;
}

double Search::correlation(const History &ref, const History &dist, double offset, double window) const {
  double best = kUnknown;
  for (const View view : {kFull, kActive}) {
    const PerWindow all = correlate(ref, dist, offset, true, view);
    for (size_t w = 0; w < kWindowCount; ++w)
      if (kWindows[w] == window && !(all[w] <= best)) best = all[w];
  }
  return best;
}

Finding Search::find(const History &ref, const History &dist) {
  Finding best;
  if (ref.size() < 12 || dist.size() < 12) return best;
  const double step = std::max(ref.period(), kLeastStep);
  const int steps = int(std::ceil(range_ / step));
  bool bars = false;
  for (const History *history : {&ref, &dist})
    for (size_t i = 0; i < history->size(); ++i) bars |= (*history)[i].bars;
  double motion = -1;
  bool twin = false;
  look_at(ref, dist, kFull, step, steps, best, motion, twin);
  if (bars) look_at(ref, dist, kActive, step, steps, best, motion, twin);
  if (best.confidence > 0 && mean_likeness(ref, dist, best.offset) < kAlike) best.confidence = 0;
  best.reason = motion < 0                            ? Reason::collecting
                : motion < kStill                     ? Reason::still
                : best.confidence >= kLeastConfidence ? Reason::none
                : twin                                ? Reason::repeating
                                                      : Reason::unlike;
  return best;
}

void Search::look_at(const History &ref, const History &dist, View view, double step, int steps,
                     Finding &best, double &motion, bool &twin) {
  const int last = 2 * steps;  // lag i is (i - steps) * step
  for (auto &curve : curves_) curve.assign(size_t(last) + 1, kUnknown);
  for (int i = 0; i <= last; ++i) {
    const PerWindow all = correlate(ref, dist, (i - steps) * step, false, view);
    for (size_t w = 0; w < kWindowCount; ++w) curves_[w][size_t(i)] = all[w];
  }
  for (size_t w = 0; w < kWindowCount; ++w) {
    const auto &curve = curves_[w];
    int peak = -1, seen = 0;
    for (int i = 0; i <= last; ++i) {
      if (std::isnan(curve[size_t(i)])) continue;
      ++seen;
      if (peak < 0 || curve[size_t(i)] > curve[size_t(peak)]) peak = i;
    }
    if (peak < 0) continue;
    const double coarse = (peak - steps) * step;

    // How much changes in the window, and over what time that is spread.
    const History &recent = coarse <= 0 ? dist : ref;
    double sum = 0, squares = 0, mean_motion = 0;
    int count = 0;
    for (size_t i = recent.size(); i-- > 0 && recent.back().time - recent[i].time < kWindows[w];) {
      const Feature &feature = recent[i].views[view];
      sum += feature.energy;
      squares += double(feature.energy) * feature.energy;
      mean_motion += feature.motion;
      ++count;
    }
    mean_motion /= std::max(1, count);
    motion = std::max(motion, mean_motion);
    if (mean_motion < kStill) continue;
    const double spread = squares > 0 ? sum * sum / squares * recent.period() : 0;

    // Finer steps around the peak, then a parabola.
    std::array<double, 2 * kRefine + 1> fine;
    int top = 0;
    for (int i = 0; i <= 2 * kRefine; ++i) {
      const double value = correlate(ref, dist, coarse + (i - kRefine) * step / kRefine, true, view)[w];
      fine[size_t(i)] = std::isnan(value) ? -1 : value;
      if (fine[size_t(i)] > fine[size_t(top)]) top = i;
    }
    double offset = coarse + (top - kRefine) * step / kRefine;
    if (top > 0 && top < 2 * kRefine) {
      const double before = fine[size_t(top) - 1], after = fine[size_t(top) + 1];
      const double bend = before - 2 * fine[size_t(top)] + after;
      if (before > -1 && after > -1 && bend < -1e-9)
        offset += std::clamp(0.5 * (before - after) / bend, -0.5, 0.5) * step / kRefine;
    }

    // The highest value outside the peak's hill.
    int from = peak, to = peak;
    while (from > 0 && curve[size_t(from) - 1] <= curve[size_t(from)] + kHill) --from;
    while (to < last && curve[size_t(to) + 1] <= curve[size_t(to)] + kHill) ++to;
    double second = 0;
    for (int i = 0; i <= last; ++i)
      if ((i < from || i > to) && curve[size_t(i)] > second) second = curve[size_t(i)];

    const double correlation = std::max(0.0, fine[size_t(top)]), cover = double(seen) / (last + 1);
    const double explained = correlation * correlation, rival = std::min(second * second, explained);
    const double confidence = explained * (explained - rival) / std::max(1e-6, 1 - rival) *
                              std::min(1.0, spread / kSpread) * (0.5 + 0.5 * cover);
    if (correlation > 0.8 && second > 0.95 * correlation) twin = true;
    if (confidence > best.confidence || best.correlation == 0)
      best = {offset, confidence, correlation, second, cover, Reason::collecting};
  }
}

}  // namespace vmafhip::content
