#include "gst/vmafhip/content/tracker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace vmafhip::content {
namespace {

// Costs.
constexpr double kPictureWeight = 6, kChangeWeight = 6;
constexpr double kLeastPictureScale = 0.01, kLeastChangeScale = 0.003;  // per block, of squared code values
constexpr double kOffCost = 0.1, kMostOff = 9;                          // per squared frame off the offset
constexpr double kFreeStep = 0.99;  // frames that a step may deviate: rates differ, times jitter
constexpr double kLeaveCost = 25, kReturnCost = 5;  // of other steps: from the line, and back to it
constexpr double kRestlessCost = 3;                 // ... while the line counts for nothing
constexpr double kStepCost = 0.3, kMostStep = 20;   // ... and per frame
constexpr double kBackCost = 12;                    // time runs backwards
constexpr double kSpanCost = 1;                     // candidates within this cost fit about as well

// When the line moves to the path.
constexpr int kLeftFrames = 5;
constexpr double kLeftGain = 30;
constexpr double kRestless = 3;  // s

// When the offset does not hold.
constexpr double kAlien = 0.80;                       // likeness below which a frame shows another picture
constexpr double kAlienAfter = 0.3;                   // s of such frames
constexpr int kMostAliens = 3;                        // ... and frames in a row, going back
constexpr double kLostBelow = 0.5, kLostAfter = 0.5;  // correlation along the path, and s of that
constexpr double kBack = 0.5;        // s before the newest that are not asked whether they agree
constexpr int kFewestAgreeing = 10;  // frames that correlation along the path needs

// Time constants, s.
constexpr double kRise = 1, kFall = 0.2;  // of distances: those of another scene must be forgotten soon
constexpr double kBiasTime = 3, kOffsetTime = 0.8, kAgreeTime = 0.6;
constexpr double kGainTime = 1.6;  // before the newest frame, that gain and distances are estimated from

bool moves(const Frame &a, const Frame &b, View view) {
  return std::max(a.views[view].motion, b.views[view].motion) >= 2 * Search::kStill;
}

}  // namespace

// ---- start -------------------------------------------------------------------------------------

void Tracker::start(const Finding &finding, int64_t from, std::vector<Choice> &choices) {
  columns_.clear();
  doubtful_.clear();
  offset_ = finding.offset;
  correlation_ = finding.correlation;
  cross_ = dist_energy_ = ref_energy_ = 0;
  low_since_ = alien_since_ = restless_until_ = kLongAgo;
  restless_ = false;
  lag_ = lag_frames_ = 0;
  lag_gain_ = 0;
  const double end = std::min(dist_.back().time, ref_.back().time - offset_);
  estimate(end);
  line_.aim(offset_, end - kAhead);

  int64_t newest = dist_.base();
  while (newest < dist_.end() && dist_.numbered(newest).time < end - kBack) ++newest;
  next_ = std::max(from, std::min(reach_back(from), newest));
  for (int64_t number = from; number < next_; ++number) choices.push_back({number, -1, 0});
}

// From the newest frame that has a reference frame back to where pictures or changes do not agree any more.
int64_t Tracker::reach_back(int64_t from) const {
  int64_t first = dist_.end();
  size_t j = ref_.size() - 1;
  double cross = 0, dist_energy = 0, ref_energy = 0;
  int aliens = 0, looked_at = 0;
  const double decay = std::exp(-dist_.period() / kAgreeTime);
  for (int64_t number = dist_.end() - 1; number >= std::max(from, dist_.base()); --number) {
    const Frame &dist = dist_.numbered(number);
    const double time = dist.time + offset_;
    if (time > ref_.back().time + ref_.period()) continue;
    j = ref_.nearest(time, j);
    const Frame &ref = ref_[j];
    if (std::abs(ref.time - time) > kBehind) break;
    const View view = better_view(dist, ref);
    aliens = likeness(dist, ref, view) < kAlien ? aliens + 1 : 0;
    if (aliens > kMostAliens) break;
    cross = cross * decay + dot(dist.views[view].change, ref.views[view].change);
    dist_energy = dist_energy * decay + dist.views[view].energy;
    ref_energy = ref_energy * decay + ref.views[view].energy;
    const bool agree = cross >= kLostBelow * std::sqrt(dist_energy * ref_energy) || !moves(dist, ref, view);
    if (++looked_at > kFewestAgreeing && !agree) break;
    if (agree && aliens == 0) first = number;
  }
  return first;
}

// Gain, and the distances to expect, from the newest frames that both have.
void Tracker::estimate(double end) {
  for (Map &map : bias_) map.fill(0);
  struct Overlap {
    const Frame *dist, *ref;
    View view;
  };
  std::vector<Overlap> overlap;
  size_t j = ref_.size() - 1;
  for (size_t i = 0; i < dist_.size(); ++i) {
    const Frame &dist = dist_[i];
    if (dist.time > end || dist.time < end - kGainTime) continue;
    j = ref_.nearest(dist.time + offset_, j);
    if (std::abs(ref_[j].time - dist.time - offset_) < ref_.period())
      overlap.push_back({&dist, &ref_[j], better_view(dist, ref_[j])});
  }
  double cross = 0, energy = 0, picture = 0, change = 0;
  for (const auto &[dist, ref, view] : overlap) {
    cross += dot(dist->views[view].picture, ref->views[view].picture);
    energy += dot(ref->views[view].picture, ref->views[view].picture);
  }
  gain_ = energy > 0 ? float(std::clamp(cross / energy, 0.4, 2.5)) : 1;
  for (const auto &[dist, ref, view] : overlap) {
    picture += picture_distance(*dist, *ref, view) / double(overlap.size());
    change += change_distance(*dist, *ref, view) / double(overlap.size());
  }
  picture_scale_ = std::max(picture, kLeastPictureScale);
  change_scale_ = std::max(change, kLeastChangeScale);
}

// ---- the path ----------------------------------------------------------------------------------

bool Tracker::advance(Ended ended, std::vector<Choice> &choices) {
  for (;;) {
    if (next_ < dist_.base()) {  // gone before they could be looked at
      abandon_open();
      give_up_doubtful(choices);
      next_ = dist_.base();
    }
    if (next_ >= dist_.end()) break;
    const double want = dist_.numbered(next_).time + offset_;
    if (!ended.ref && ref_.back().time < want + kAhead) break;
    const double off = want - ref_[ref_.nearest(want, ref_.size() - 1)].time;
    // Beyond either end of the reference there is no such frame, however alike its first and last are.
    if (std::abs(off) > kBehind || off < -ref_.period() || (ended.ref && off > ref_.period())) {
      if (!decide_open(choices)) return false;
      give_up_doubtful(choices);
      choices.push_back({next_++, -1, 0});
      continue;
    }
    open(next_++);
    if (int(columns_.size()) > kLookAhead && !decide(choices)) return false;
  }
  if (!ended.dist || next_ < dist_.end()) return true;
  if (!decide_open(choices)) return false;
  give_up_doubtful(choices);
  return true;
}

int64_t Tracker::undecided() const {
  if (!doubtful_.empty()) return doubtful_.front().dist;
  return columns_.empty() ? next_ : columns_.front().dist;
}

// Nothing will confirm them.
void Tracker::give_up_doubtful(std::vector<Choice> &choices) {
  for (const Choice &choice : doubtful_) choices.push_back({choice.dist, -1, 0});
  doubtful_.clear();
  low_since_ = kLongAgo;
}

bool Tracker::decide_open(std::vector<Choice> &choices) {
  while (!columns_.empty())
    if (!decide(choices)) return false;
  return true;
}

void Tracker::abandon_open() {
  for (const Column &column : columns_) doubtful_.push_back({column.dist, -1, 0});
  columns_.clear();
}

// Appends the column of a distorted frame.
void Tracker::open(int64_t number) {
  const Frame &dist = dist_.numbered(number);
  const bool steady = dist.time >= restless_until_;
  if (steady && restless_) {
    restless_ = false;
    lag_ = lag_frames_ = 0;
    lag_gain_ = 0;
    line_.aim(offset_, dist.time - kAhead);
  }
  if (steady) line_.gather(number);

  const double want = dist.time + offset_, period = ref_.period();
  size_t from = ref_.nearest(want, ref_.size() - 1), to = from;
  while (from > 0 && ref_[from - 1].time >= want - kBehind) --from;
  while (to + 1 < ref_.size() && ref_[to + 1].time <= want + kAhead) ++to;
  const size_t count = to - from + 1;
  Column column{number, ref_.base() + int64_t(from), kFull, std::vector<Cell>(count)};

  // Bars in or out, whichever fits better.
  std::array<std::vector<double>, kViews> distances;
  std::array<double, kViews> lowest;
  lowest.fill(std::numeric_limits<double>::max());
  bool bars = dist.bars;
  for (const View view : {kFull, kActive}) {
    for (size_t i = 0; i < count; ++i) {
      bars |= ref_[from + i].bars;
      distances[view].push_back(picture_distance(dist, ref_[from + i], view));
      lowest[view] = std::min(lowest[view], distances[view].back());
    }
    if (!bars) break;
  }
  const View view = column.view = lowest[kActive] < lowest[kFull] ? kActive : kFull;
  const double picture_scale = 2 * std::max(picture_scale_, lowest[view]), change_scale = 2 * change_scale_;

  const Column *before = columns_.empty() ? nullptr : &columns_.back();
  const double expected =
      before && dist_.holds(before->dist) ? (dist.time - dist_.numbered(before->dist).time) / period : 1;
  double cheapest = std::numeric_limits<double>::max();
  for (size_t i = 0; i < count; ++i) {
    const Frame &ref = ref_[from + i];
    Cell &cell = column.cells[i];
    cell.own = kPictureWeight * std::log1p(distances[view][i] / picture_scale) +
               kChangeWeight * std::log1p(change_distance(dist, ref, view) / change_scale);
    const double off = (ref.time - dist.time - (steady ? line_.offset() : offset_)) / period;
    cell.cost = cell.own + kOffCost * std::min(off * off, kMostOff) + (steady ? line_.cost(off) : 0);
    cell.from = -1;
    if (before) {
      const double other_step = !steady ? kRestlessCost : std::abs(off) < 0.5 ? kReturnCost : kLeaveCost;
      double best = std::numeric_limits<double>::max();
      for (size_t k = 0; k < before->cells.size(); ++k) {
        const auto step = double(column.first + int64_t(i) - before->first - int64_t(k));
        const double deviation = std::abs(step - expected);
        double cost = before->cells[k].cost;
        if (step < 0) cost += kBackCost;
        if (deviation >= kFreeStep) cost += other_step + kStepCost * std::min(deviation, kMostStep);
        if (cost >= best) continue;
        best = cost;
        cell.from = int(k);
      }
      cell.cost += best;
    }
    cheapest = std::min(cheapest, cell.cost);
  }
  for (Cell &cell : column.cells) cell.cost -= cheapest;
  columns_.push_back(std::move(column));
}

// Decides the oldest open column.
bool Tracker::decide(std::vector<Choice> &choices) {
  const auto &newest = columns_.back().cells;
  const auto cheapest = std::min_element(newest.begin(), newest.end(),
                                         [](const Cell &a, const Cell &b) { return a.cost < b.cost; });
  int chosen = int(cheapest - newest.begin());
  for (size_t k = columns_.size(); --k > 0;) chosen = columns_[k].cells[size_t(chosen)].from;
  const Column column = std::move(columns_.front());
  columns_.pop_front();
  if (!columns_.empty())
    for (Cell &cell : columns_.front().cells)
      if (cell.from != chosen) cell.cost += 1e6;  // would contradict the decision
  return judge(column, size_t(chosen), choices);
}

// ---- what a decision tells ---------------------------------------------------------------------

bool Tracker::judge(const Column &column, size_t chosen, std::vector<Choice> &choices) {
  const int64_t number = column.first + int64_t(chosen);
  if (!ref_.holds(number) || !dist_.holds(column.dist)) {
    doubtful_.push_back({column.dist, -1, 0});
    return true;
  }
  const Frame &dist = dist_.numbered(column.dist), &ref = ref_.numbered(number);
  if (likeness(dist, ref, column.view) < kAlien) {
    doubtful_.push_back({column.dist, -1, 0});
    if (alien_since_ == kLongAgo) alien_since_ = dist.time;
    return dist.time - alien_since_ <= kAlienAfter;
  }
  alien_since_ = kLongAgo;
  Choice choice{column.dist, number, 0};
  for (const Cell &cell : column.cells) choice.span += cell.own < column.cells[chosen].own + kSpanCost;
  doubtful_.push_back(choice);
  compare_with_line(column, chosen);
  learn(dist, ref, column.view);
  const bool holds = still_agrees(dist, ref, column.view);
  if (low_since_ == kLongAgo) {
    choices.insert(choices.end(), doubtful_.begin(), doubtful_.end());
    doubtful_.clear();
  }
  return holds;
}

// The line moves when the path has left it for good.
void Tracker::compare_with_line(const Column &column, size_t chosen) {
  const Frame &dist = dist_.numbered(column.dist);
  const auto on_line =
      int64_t(ref_.nearest(dist.time + line_.offset(), ref_.size() - 1)) + ref_.base() - column.first;
  const int lag = int(int64_t(chosen) - on_line);
  if (lag != lag_) {
    lag_ = lag;
    lag_frames_ = 0;
    lag_gain_ = 0;
  }
  if (lag == 0 || on_line < 0 || on_line >= int64_t(column.cells.size())) return;
  ++lag_frames_;
  lag_gain_ += column.cells[size_t(on_line)].own - column.cells[chosen].own;
  if (lag_frames_ < kLeftFrames || lag_gain_ < kLeftGain) return;
  line_.move(lag * ref_.period());
  lag_ = lag_frames_ = 0;
  lag_gain_ = 0;
  restless_until_ = dist.time + kRestless;
  restless_ = true;
}

void Tracker::learn(const Frame &dist, const Frame &ref, View view) {
  const double period = std::min(1.0, dist_.period());
  const auto share = [period](double time) { return std::min(1.0, period / time); };
  const auto follow = [&share](double &scale, double distance, double least) {
    distance = std::min(distance, 4 * scale);
    scale += share(distance < scale ? kFall : kRise) * (distance - scale);
    scale = std::max(scale, least);
  };
  follow(picture_scale_, picture_distance(dist, ref, view), kLeastPictureScale);
  follow(change_scale_, change_distance(dist, ref, view), kLeastChangeScale);
  const Map &x = dist.views[view].picture, &y = ref.views[view].picture;
  Map &bias = bias_[view];
  const auto part = float(share(kBiasTime));
  for (size_t i = 0; i < kFeature; ++i) bias[i] += part * (x[i] - gain_ * y[i] - bias[i]);
  const double most = 3 * ref_.period();
  offset_ += share(kOffsetTime) * std::clamp(ref.time - dist.time - offset_, -most, most);
}

bool Tracker::still_agrees(const Frame &dist, const Frame &ref, View view) {
  const double decay = std::exp(-dist_.period() / kAgreeTime);
  const Feature &a = dist.views[view], &b = ref.views[view];
  cross_ = cross_ * decay + dot(a.change, b.change);
  dist_energy_ = dist_energy_ * decay + a.energy;
  ref_energy_ = ref_energy_ * decay + b.energy;
  correlation_ = cross_ / std::sqrt(dist_energy_ * ref_energy_ + 1e-9);
  if (correlation_ >= kLostBelow) {
    low_since_ = kLongAgo;
  } else if (moves(dist, ref, view)) {
    if (low_since_ == kLongAgo) low_since_ = dist.time;
    return dist.time - low_since_ <= kLostAfter;
  }
  return true;
}

double Tracker::picture_distance(const Frame &dist, const Frame &ref, View view) const {
  return squared_distance(dist.views[view].picture, ref.views[view].picture, gain_, bias_[view]) / kFeature;
}

double Tracker::change_distance(const Frame &dist, const Frame &ref, View view) {
  const Feature &a = dist.views[view], &b = ref.views[view];
  return std::max(0.f, a.energy + b.energy - 2 * dot(a.change, b.change)) / kFeature;
}

}  // namespace vmafhip::content
