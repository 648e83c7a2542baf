#include "gst/vmafhip/content/content_sync.h"

#include <algorithm>
#include <cmath>

namespace vmafhip::content {
namespace {

constexpr double kEvery = 0.2, kEveryLocked = 0.5;  // s between searches
constexpr double kAtOnce = 0.60;                    // confidence that needs no second search
constexpr double kAtTheEnd = 0.45;                  // ... when none can follow
constexpr double kSameOffset = 1.2;                 // frames by which two findings of one offset may differ
constexpr double kHoldsAbove = 0.8;  // correlation along the path at which another finding is not believed
constexpr double kAllSeen = 0.9;     // share of the range
constexpr double kConfidenceShare = 0.3;  // of a new finding

double history_span(double range) { return range + Search::kWindows.back() + 1; }

}  // namespace

ContentSync::ContentSync(double range)
    : range_(range),
      ref_(history_span(range)),
      dist_(history_span(range)),
      search_(range),
      tracker_(ref_, dist_) {}

bool ContentSync::push_ref(int64_t id, double time, const Signature &signature) {
  if (!ref_.add(id, time, signature)) return false;
  ++searched_;
  step();
  return true;
}

bool ContentSync::push_dist(int64_t id, double time, const Signature &signature) {
  if (!dist_.add(id, time, signature)) return false;
  ++searched_;
  step();
  return true;
}

void ContentSync::end_ref() {
  ended_.ref = true;
  step();
}

void ContentSync::end_dist() {
  ended_.dist = true;
  step();
}

void ContentSync::take(std::vector<Match> &matches) {
  matches.insert(matches.end(), matches_.begin(), matches_.end());
  matches_.clear();
}

void ContentSync::step() {
  if (ref_.empty() || dist_.empty()) {
    if (over()) state_ = State::unknowable;
    return;
  }
  const double now = std::max(ref_.back().time, dist_.back().time);
  if (!begun_) {
    begun_ = true;
    next_search_ = searching_since_ = now;
  }
  if (now >= next_search_ || (over() && state_ != State::locked)) search(now);
  if (state_ == State::searching && ((over() && losses_ == 0) || now - searching_since_ >= patience()))
    state_ = State::unknowable;
  if (state_ != State::locked) return;
  const bool holds = tracker_.advance(ended_, choices_);
  post();
  if (!holds) unlock();
}

void ContentSync::search(double now) {
  const Finding found = search_.find(ref_, dist_);
  const bool sure = found.confidence >= Search::kLeastConfidence;
  const double same = kSameOffset * std::max(ref_.period(), dist_.period());
  const bool again =
      last_.confidence >= Search::kLeastConfidence && std::abs(last_.offset - found.offset) < same;
  if (state_ != State::locked) {
    if (found.confidence >= (over() ? kAtTheEnd : kAtOnce) || (sure && again)) lock(found);
  } else if (sure && std::abs(found.offset - tracker_.offset()) > 2 * same &&
             tracker_.correlation() < kHoldsAbove) {
    if (++disagreeing_ >= 2 && again) lock(found);
  } else {
    disagreeing_ = 0;
    if (found.confidence > 0) confidence_ += kConfidenceShare * (found.confidence - confidence_);
    if (sure && found.seen > kAllSeen) confirmed_ = true;
    // A lock made before all of the range was seen falls when a twin shows up.
    if (!confirmed_ && found.seen > kAllSeen && found.reason == Reason::repeating) unlock();
  }
  last_ = found;
  const bool calm = state_ == State::locked && tracker_.correlation() >= kHoldsAbove;
  next_search_ = now + (calm ? kEveryLocked : kEvery);
}

void ContentSync::lock(const Finding &finding) {
  if (state_ == State::locked) undecided_ = tracker_.undecided();
  state_ = State::locked;
  ++locks_;
  confidence_ = finding.confidence;
  confirmed_ = finding.seen > kAllSeen;
  disagreeing_ = 0;
  tracker_.start(finding, std::max(undecided_, dist_.base()), choices_);
  post();
}

void ContentSync::unlock() {
  undecided_ = tracker_.undecided();
  state_ = State::searching;
  ++losses_;
  confidence_ = 0;
  searched_ = 0;
  searching_since_ = std::max(ref_.back().time, dist_.back().time);
}

// Choices are of numbers in the histories, matches of ids.
void ContentSync::post() {
  for (const Choice &choice : choices_) {
    if (!dist_.holds(choice.dist)) continue;
    const bool there = choice.ref >= 0 && ref_.holds(choice.ref);
    matches_.push_back({dist_.numbered(choice.dist).id, there ? ref_.numbered(choice.ref).id : -1,
                        confidence_, choice.span});
  }
  choices_.clear();
}

}  // namespace vmafhip::content
