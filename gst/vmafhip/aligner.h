// Decides which frames are each other's partner. Pure C++: F is any movable handle of a frame.
//
// timestamp: nearest in running time within the tolerance, each frame used at most once, ties to the
// earlier frame. A decision looks at the two oldest frames of each side and at nothing else, so that the
// outcome never depends on which stream happens to arrive first.
// order: n-th with n-th, times are not looked at.
//
// Times are signed nanoseconds of running time. One thread owns an Aligner.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <optional>
#include <utility>

namespace vmafhip {

// Median distance of the last frames of a stream: not fooled by single gaps, jitter or caps that lie.
class FrameInterval {
 public:
  void add(int64_t time) {
    if (last_ && time > *last_) {
      recent_[count_ % recent_.size()] = time - *last_;
      ++count_;
    }
    last_ = time;
  }

  // 0 while unknown.
  int64_t median() const {
    if (count_ == 0) return 0;
    auto sorted = recent_;
    const size_t n = std::min(count_, sorted.size());
    const size_t middle = (n - 1) / 2;  // of two the shorter: the other may be a gap
    std::nth_element(sorted.begin(), sorted.begin() + middle, sorted.begin() + n);
    return sorted[middle];
  }

 private:
  std::array<int64_t, 15> recent_ = {};
  size_t count_ = 0;
  std::optional<int64_t> last_;
};

enum class Side { ref, dist };
inline Side other(Side side) { return side == Side::ref ? Side::dist : Side::ref; }

// Ns back that are more than disorder: time stamps begin anew, as those of a source that starts again.
inline constexpr int64_t kJump = 1'000'000'000;
// How long, in ns of its own time, the other stream may go on before it does the same.
inline constexpr int64_t kReunion = 5'000'000'000;

enum class SyncMode { timestamp, order, content };  // content: see content_aligner.h

template <class F>
class Aligner {
 public:
  struct Frame {
    F data;
    int64_t time = 0;
    int64_t jumps = 0;  // back in time of its stream before it; push() sets it
  };
  enum class Step {
    pair,      // ref and dist are partners
    drop_ref,  // ref has no partner
    drop_dist,
    need_ref,  // cannot decide without a further frame, or the end, of that side
    need_dist,
    end,  // both sides have ended and nothing is left
  };
  struct Decision {
    Step step;
    std::optional<Frame> ref, dist;
  };

  // tolerance: largest distance of partners in ns; negative = half the shorter frame interval, measured.
  explicit Aligner(SyncMode mode = SyncMode::timestamp, int64_t tolerance = -1)
      : mode_(mode), tolerance_(tolerance) {}

  void push(Side side, Frame frame) {
    Stream &s = stream(side);
    s.interval.add(frame.time);
    if (s.last && frame.time < *s.last - kJump) {
      ++s.jumps;
      s.left_behind.reset();
      s.reached.reset();
    }
    s.last = frame.time;
    frame.jumps = s.jumps;
    s.frames.push_back(std::move(frame));
  }
  void end(Side side) { stream(side).ended = true; }
  bool ended(Side side) const { return side == Side::ref ? ref_.ended : dist_.ended; }
  // That stream goes on after its end.
  void reopen(Side side) {
    Stream &s = stream(side);
    if (s.ended) s.reached.reset();  // its times may begin anew
    s.ended = false;
  }
  // The frames of one side that are not decided yet.
  std::deque<Frame> give_back(Side side) { return std::exchange(stream(side).frames, {}); }
  // Forgets the frames of one side, which starts anew.
  void restart(Side side) {
    stream(side) = Stream();
    level();
  }
  // No frame of that side comes any more that is earlier than `time`: what it could decide is not waited for.
  void advance(Side side, int64_t time) {
    std::optional<int64_t> &reached = stream(side).reached;
    reached = std::max(reached.value_or(time), time);
  }
  // Median distance of that side's frames; 0 while unknown.
  int64_t interval(Side side) const { return (side == Side::ref ? ref_ : dist_).interval.median(); }

  // One decision. `hurry`: the missing frame cannot be waited for; decide with what is here.
  Decision step(bool hurry = false) {
    // Where the reference is known to be ahead, a distorted frame may be decided without one.
    if (ref_.frames.empty() && ref_.reached && ref_.open() && dist_.frames.empty() && dist_.open() &&
        mode_ != SyncMode::order)
      return need(Side::dist);
    if (ref_.frames.empty() && ref_.open() && !(hurry && !dist_.frames.empty()) && !passed_by(dist_, ref_))
      return need(Side::ref);
    if (dist_.frames.empty() && dist_.open() && !(hurry && !ref_.frames.empty()) && !passed_by(ref_, dist_))
      return need(Side::dist);
    if (ref_.frames.empty() && dist_.frames.empty()) return {Step::end, {}, {}};
    if (ref_.frames.empty()) return take(Step::drop_dist);
    if (dist_.frames.empty()) return take(Step::drop_ref);
    if (mode_ == SyncMode::order) return take(Step::pair);
    return nearest(hurry);
  }

 private:
  struct Stream {
    std::deque<Frame> frames;  // at most two
    FrameInterval interval;
    bool ended = false;
    std::optional<int64_t> reached;      // no frame before this time follows
    std::optional<int64_t> last;         // time of the newest frame
    int64_t jumps = 0;                   // back in time, so far
    std::optional<int64_t> left_behind;  // its time when the other stream had jumped, and it had not
    bool open() const { return !ended; }
    bool lacks_second() const { return frames.size() < 2 && !ended; }
    // ... although it might come before `time`.
    bool lacks_second_before(int64_t time) const { return lacks_second() && !(reached && *reached >= time); }
  };
  Stream &stream(Side side) { return side == Side::ref ? ref_ : dist_; }

  // Whether the first frame of `s` cannot find a partner any more in `empty`, whose time has moved on.
  bool passed_by(const Stream &s, const Stream &empty) const {
    if (mode_ == SyncMode::order || s.frames.empty() || !empty.reached) return false;
    return *empty.reached > s.frames[0].time && *empty.reached - s.frames[0].time > tolerance();
  }

  // Both sides have a frame.
  Decision nearest(bool hurry) {
    const int64_t r = ref_.frames[0].time, d = dist_.frames[0].time;
    if (r == d) return take(Step::pair);
    if (tolerance_ < 0 && !hurry) {  // two frames of each side tell the interval
      if (ref_.interval.median() == 0 && ref_.lacks_second()) return need(Side::ref);
      if (dist_.interval.median() == 0 && dist_.lacks_second()) return need(Side::dist);
    }
    const int64_t distance = std::abs(r - d);
    if (distance > tolerance()) {
      const int64_t ahead = ref_.frames[0].jumps - dist_.frames[0].jumps;
      if (ahead != 0 && still_to_jump(ahead > 0 ? dist_ : ref_))
        return take(ahead > 0 ? Step::drop_dist : Step::drop_ref);
      return take(r < d ? Step::drop_ref : Step::drop_dist);
    }
    const Side early = r < d ? Side::ref : Side::dist;
    Stream &earlier = stream(early), &later = stream(other(early));
    // A successor at `late` + distance or later is no nearer.
    if (earlier.lacks_second_before(later.frames[0].time + distance) && !hurry) return need(early);
    if (earlier.frames.size() > 1) {
      // The later frame may be nearer to the successor of the earlier one, or to one behind a successor of the
      // same time ...
      const int64_t late = later.frames[0].time, next = earlier.frames[1].time;
      const bool twin = next == earlier.frames[0].time;
      if (twin || std::abs(next - late) < distance) {
        // ... unless that successor has a nearer partner of its own, or the twins have twins to go with.
        if (later.lacks_second_before(next + std::abs(next - late) + twin) && !hurry)
          return need(other(early));
        const bool taken =
            later.frames.size() > 1 && (std::abs(later.frames[1].time - next) < std::abs(late - next) ||
                                        (twin && later.frames[1].time == late));
        if (!taken) return take(early == Side::ref ? Step::drop_ref : Step::drop_dist);
      }
    }
    return take(Step::pair);
  }

  // The other stream's times have jumped back. As a rule those of this one are about to: what it still has of the time
  // before goes, or the other stream would lose an hour of frames until it is where this one has been. If it goes on
  // for too long, its times are right as they are.
  bool still_to_jump(Stream &s) {
    const int64_t now = s.frames[0].time;
    if (!s.left_behind) s.left_behind = now;
    if (now - *s.left_behind < kReunion) return true;
    level();
    return false;
  }
  void level() {
    for (Stream *s : {&ref_, &dist_}) {
      s->jumps = 0;
      s->left_behind.reset();
      for (Frame &frame : s->frames) frame.jumps = 0;
    }
  }

  static Decision need(Side side) { return {side == Side::ref ? Step::need_ref : Step::need_dist, {}, {}}; }

  int64_t tolerance() const {
    if (tolerance_ >= 0) return tolerance_;
    const int64_t a = ref_.interval.median(), b = dist_.interval.median();
    const int64_t shorter = a == 0 ? b : b == 0 ? a : std::min(a, b);
    // Single frames: nothing tells an interval; 25 frames/s is as good a guess as any.
    return shorter > 0 ? shorter / 2 : 20'000'000;
  }

  Decision take(Step step) {
    Decision decision{step, {}, {}};
    if (step != Step::drop_dist) decision.ref = pop(ref_);
    if (step != Step::drop_ref) decision.dist = pop(dist_);
    return decision;
  }
  static Frame pop(Stream &s) {
    Frame frame = std::move(s.frames.front());
    s.frames.pop_front();
    return frame;
  }

  SyncMode mode_;
  int64_t tolerance_;
  Stream ref_, dist_;
};

}  // namespace vmafhip
