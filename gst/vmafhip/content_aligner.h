// Pairs frames by what their pictures show. Pure C++, with the steps of Aligner: F is any movable handle of a frame.
//
// While the offset between the streams is searched, frames of both wait here, up to the window and a little, and within
// the byte limit; what has no room goes without partner. Once it is found, those that still wait are paired first. Where
// the pictures do not tell it, frames are paired by time stamps, and the search goes on.
//
// Each frame is used at most once: of several distorted frames that show one reference frame, the nearest in time is its
// partner.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gst/vmafhip/aligner.h"
#include "gst/vmafhip/content/content_sync.h"

namespace vmafhip {

template <class F>
class ContentAligner {
 public:
  using ByTime = Aligner<F>;
  using Frame = typename ByTime::Frame;
  using Step = typename ByTime::Step;
  using Decision = typename ByTime::Decision;

  // window: largest offset that is looked for, ns, more than 0. most_bytes: of all frames that wait here. tolerance: as
  // Aligner's, where frames are paired by time stamps.
  ContentAligner(int64_t window, uint64_t most_bytes, int64_t tolerance)
      : window_(window), most_bytes_(most_bytes), tolerance_(tolerance) {
    search_anew();
  }

  // Times of a side rise; a frame whose time does not gets no partner. If they begin anew, further back than frames wait, so
  // does the search.
  void push(Side side, Frame frame, uint64_t bytes, const content::Signature &signature) {
    Stream &s = stream(side);
    s.interval.add(frame.time);
    if (s.last && frame.time < *s.last - window_ - kSlack) jump(side);
    s.last = frame.time;
    s.newest = std::max(s.newest.value_or(frame.time), frame.time);
    if (s.left_behind && frame.time - *s.left_behind >= kReunion) level();  // it does not jump
    bytes_ += bytes;
    const int64_t id = s.next_id++;
    const double seconds = double(frame.time - epoch(frame.time)) / 1e9;
    const bool taken = side == Side::ref ? sync_->push_ref(id, seconds, signature)
                                         : sync_->push_dist(id, seconds, signature);
    s.frames.push_back({std::move(frame), id, bytes, taken});
    follow();
  }
  void end(Side side) {
    if (std::exchange(stream(side).ended, true)) return;
    if (side == Side::ref)
      sync_->end_ref();
    else
      sync_->end_dist();
    follow();
  }
  bool ended(Side side) const { return side == Side::ref ? ref_.ended : dist_.ended; }
  // Ended, and no frame of that side waits.
  bool exhausted(Side side) const {
    const Stream &s = side == Side::ref ? ref_ : dist_;
    return s.ended && s.frames.empty() && notes_[size_t(side)].empty();
  }
  // That stream goes on after its end: what is known of the offset need not hold any more.
  void reopen(Side side) {
    if (std::exchange(stream(side).ended, false)) search_anew();
  }
  // Forgets the frames of one side, which starts anew.
  void restart(Side side) {
    leave_by_time();
    Stream &s = stream(side);
    for (const Held &held : s.frames) bytes_ -= held.bytes;
    const int64_t next = s.next_id;
    s = Stream();
    s.next_id = next;
    epoch_.reset();
    level();
    search_anew();
  }

  // No frame of that side comes any more that is earlier than `time`.
  void advance(Side side, int64_t time) {
    Stream &s = stream(side);
    s.newest = std::max(s.newest.value_or(time), time);
  }
  // Median distance of that side's frames; 0 while unknown.
  int64_t interval(Side side) const { return (side == Side::ref ? ref_ : dist_).interval.median(); }

  // One decision. `hurry`: the missing frame cannot be waited for; decide with what is here.
  Decision step(bool hurry = false) {
    drop_doomed();
    if (auto decision = take_due()) return std::move(*decision);
    if (by_time()) return step_by_time(hurry);
    if (ref_.ended && dist_.ended) return finish();
    if (const auto side = overfull(); side) return drop(*side);
    const Side needed = needs();
    if (hurry && !stream(other(needed)).frames.empty()) return drop(other(needed));
    if (hurry && !stream(needed).frames.empty()) return drop(needed);
    return {needed == Side::ref ? Step::need_ref : Step::need_dist, {}, {}};
  }

  // ---- what is known -----------------------------------------------------------------------------

  enum class State { searching, locked, lost, unknowable };
  struct News {
    State state = State::searching;
    int64_t offset = 0;     // ns to add to distorted times
    double confidence = 0;  // 0..1
    int64_t frames = 0;     // searched
  };
  // What has changed since the last call, oldest first; one at a time.
  std::optional<News> news() {
    if (news_.empty()) return {};
    const News first = news_.front();
    news_.pop_front();
    return first;
  }
  bool by_time() const { return sync_->state() == content::State::unknowable; }
  int64_t offset() const { return offset_ns(); }  // 0 unless a lock was made
  uint64_t bytes() const { return bytes_; }       // of frames that wait here
  // A frame went without partner for want of room since the last call, though an offset is known or searched.
  bool ran_out_of_room() { return std::exchange(out_of_room_, false); }

 private:
  struct Held {
    Frame frame;
    int64_t id = 0;
    uint64_t bytes = 0;
    bool known = true;  // to the search; otherwise it gets no partner
  };
  struct Stream {
    std::deque<Held> frames;
    std::optional<int64_t>
        newest;  // how far it has come: the latest time of a frame, or that none comes before
    std::optional<int64_t> last;         // time of the newest frame
    std::optional<int64_t> left_behind;  // its time when the other side had jumped back, and it had not
    FrameInterval interval;
    int64_t next_id = 0;
    bool ended = false;
  };
  struct Due {
    Step step;
    int64_t ref = -1, dist = -1;  // ids
  };
  static constexpr int64_t kSlack = 1'500'000'000;  // ns that frames wait beyond the window

  Stream &stream(Side side) { return side == Side::ref ? ref_ : dist_; }
  // Times are counted from the first frame's, so that doubles have them exactly.
  int64_t epoch(int64_t time) {
    if (!epoch_) epoch_ = time;
    return *epoch_;
  }
  int64_t offset_ns() const { return sync_->locks() > 0 ? int64_t(std::llround(sync_->offset() * 1e9)) : 0; }

  // The times of a side begin anew. Those of the other are about to, as a rule, and it is looked at first.
  void jump(Side side) {
    Stream &s = stream(side), &partner = stream(other(side));
    s.newest.reset();
    const bool both = s.left_behind.has_value();
    level();
    if (!both && partner.last) partner.left_behind = partner.last;
    epoch_.reset();
    search_anew();
  }
  void level() {
    for (Stream *s : {&ref_, &dist_}) s->left_behind.reset();
  }

  void search_anew() {
    leave_by_time();
    sync_ = std::make_unique<content::ContentSync>(double(window_) / 1e9);
    for (Stream *s : {&ref_, &dist_})
      for (Held &held : s->frames) held.known = false;
    if (ref_.ended) sync_->end_ref();
    if (dist_.ended) sync_->end_dist();
    candidate_.reset();
    due_.clear();
    decided_ = -1;
    locks_ = losses_ = 0;
    say(State::searching);
  }

  // Takes over what the search has found out.
  void follow() {
    matches_.clear();
    sync_->take(matches_);
    for (const content::Match &match : matches_) consider(match);
    if (sync_->losses() != losses_) {
      losses_ = sync_->losses();
      settle_candidate();
      if (sync_->state() != content::State::locked) say(State::lost);
    }
    if (sync_->locks() != locks_) {
      locks_ = sync_->locks();
      if (sync_->state() == content::State::locked) say(State::locked);
    }
    if (sync_->state() == content::State::unknowable) {
      settle_candidate();
      say(State::unknowable);
    } else {
      leave_by_time();
    }
    if (ref_.ended && dist_.ended) settle_candidate();
  }

  void say(State state) {
    if (said_ == state && state != State::locked) return;
    said_ = state;
    const bool locked = state == State::locked;
    news_.push_back({state, offset_ns(), locked ? sync_->confidence() : 0, sync_->searched()});
    if (news_.size() > 100) news_.pop_front();
  }

  // ---- pairs -------------------------------------------------------------------------------------

  void consider(const content::Match &match) {
    decided_ = match.dist;
    if (match.ref < 0) {
      settle_candidate();
      due_.push_back({Step::drop_dist, -1, match.dist});
      return;
    }
    if (candidate_ && candidate_->ref == match.ref) {
      // The one that is farther off is passed over.
      if (distance(match.dist, match.ref) < distance(candidate_->dist, match.ref))
        candidate_->dist = match.dist;
      return;
    }
    settle_candidate();
    if (match.ref <= last_ref_) {  // used, or passed over
      due_.push_back({Step::drop_dist, -1, match.dist});
      return;
    }
    candidate_ = Due{Step::pair, match.ref, match.dist};
  }

  void settle_candidate() {
    if (!candidate_) return;
    last_ref_ = candidate_->ref;
    due_.push_back(*candidate_);
    candidate_.reset();
  }

  int64_t distance(int64_t dist, int64_t ref) {
    const Held *d = find(dist_, dist), *r = find(ref_, ref);
    return d && r ? std::abs(d->frame.time + offset_ns() - r->frame.time) : 0;
  }
  static const Held *find(const Stream &s, int64_t id) {
    const auto at = std::lower_bound(s.frames.begin(), s.frames.end(), id,
                                     [](const Held &held, int64_t wanted) { return held.id < wanted; });
    return at != s.frames.end() && at->id == id ? &*at : nullptr;
  }

  // The oldest thing that is decided, after what it passes over; none if its frames have gone.
  std::optional<Decision> take_due() {
    while (!due_.empty()) {
      const Due due = due_.front();
      if (due.ref >= 0 && !ref_.frames.empty() && ref_.frames.front().id < due.ref) return drop(Side::ref);
      if (due.dist >= 0 && !dist_.frames.empty() && dist_.frames.front().id < due.dist)
        return drop(Side::dist);
      due_.pop_front();
      const bool ref = !ref_.frames.empty() && ref_.frames.front().id == due.ref;
      const bool dist = !dist_.frames.empty() && dist_.frames.front().id == due.dist;
      if (due.step == Step::drop_ref && ref) return drop(Side::ref);
      if (due.step == Step::pair && ref && dist) {
        Decision decision{Step::pair, {}, {}};
        decision.ref = pop(ref_);
        decision.dist = pop(dist_);
        return decision;
      }
      if (dist) return drop(Side::dist);  // also if its partner has gone
    }
    return {};
  }

  // Frames that cannot get a partner any more are marked, and go when they come to the front.
  void drop_doomed() {
    if (by_time() || !due_.empty()) return;
    for (Stream *s : {&ref_, &dist_})
      if (!s->frames.empty() && !s->frames.front().known)
        due_.push_back(s == &ref_ ? Due{Step::drop_ref, s->frames.front().id, -1}
                                  : Due{Step::drop_dist, -1, s->frames.front().id});
    if (!due_.empty() || sync_->state() != content::State::locked) return;
    // Reference frames before all that undecided distorted frames may still show.
    if (ref_.frames.empty() || candidate_) return;
    const Held *open = nullptr;
    for (const Held &held : dist_.frames)
      if (held.id > decided_) {
        open = &held;
        break;
      }
    const std::optional<int64_t> from = open ? std::optional(open->frame.time) : dist_.newest;
    const auto behind = int64_t(2 * content::Tracker::kBehind * 1e9);
    if (from && ref_.frames.front().frame.time < *from + offset_ns() - behind)
      due_.push_back({Step::drop_ref, ref_.frames.front().id, -1});
  }

  // ---- waiting -----------------------------------------------------------------------------------

  // The side that has come less far; both are looked at in step.
  Side needs() const {
    if (ref_.ended) return Side::dist;
    if (dist_.ended) return Side::ref;
    if (ref_.left_behind) return Side::ref;
    if (dist_.left_behind) return Side::dist;
    if (!ref_.newest) return Side::ref;
    if (!dist_.newest) return Side::dist;
    return *ref_.newest <= *dist_.newest ? Side::ref : Side::dist;
  }

  std::optional<Side> overfull() {
    const auto span = [](const Stream &s) {
      return s.frames.empty() ? 0 : s.frames.back().frame.time - s.frames.front().frame.time;
    };
    for (const Side side : {Side::ref, Side::dist})
      if (span(stream(side)) > window_ + kSlack) return side;
    if (bytes_ <= most_bytes_ || ref_.frames.size() + dist_.frames.size() < 2) return {};
    out_of_room_ = true;
    return span(ref_) >= span(dist_) ? Side::ref : Side::dist;
  }

  Decision finish() {
    if (!ref_.frames.empty()) return drop(Side::ref);
    if (!dist_.frames.empty()) return drop(Side::dist);
    return {Step::end, {}, {}};
  }

  Decision drop(Side side) {
    Decision decision{side == Side::ref ? Step::drop_ref : Step::drop_dist, {}, {}};
    if (side == Side::ref) {
      last_ref_ = std::max(last_ref_, ref_.frames.front().id);
      decision.ref = pop(ref_);
    } else {
      decision.dist = pop(dist_);
    }
    return decision;
  }
  Frame pop(Stream &s) {
    Held held = std::move(s.frames.front());
    s.frames.pop_front();
    bytes_ -= held.bytes;
    return std::move(held.frame);
  }

  // ---- by time stamps ----------------------------------------------------------------------------

  // Frames that the inner aligner looks at stay counted here; their ids and bytes wait beside it.
  struct Note {
    int64_t id;
    uint64_t bytes;
    bool known;
  };

  Decision step_by_time(bool hurry) {
    if (!by_time_) by_time_.emplace(SyncMode::timestamp, tolerance_);
    for (;;) {
      for (const Side side : {Side::ref, Side::dist})
        if (stream(side).ended && stream(side).frames.empty()) by_time_->end(side);
      const bool more = !ref_.frames.empty() || !dist_.frames.empty();
      Decision decision = by_time_->step(hurry && !more);
      if (decision.step == Step::need_ref || decision.step == Step::need_dist) {
        const Side side = decision.step == Step::need_ref ? Side::ref : Side::dist;
        Stream &s = stream(side);
        if (s.frames.empty()) {
          if (hurry && more) {
            hand_over(other(side));
            continue;
          }
          return decision;
        }
        hand_over(side);
        continue;
      }
      for (const Side side : {Side::ref, Side::dist}) {
        if (!(side == Side::ref ? decision.ref : decision.dist)) continue;
        std::deque<Note> &notes = notes_[size_t(side)];
        bytes_ -= notes.front().bytes;
        if (side == Side::ref) last_ref_ = std::max(last_ref_, notes.front().id);
        notes.pop_front();
      }
      return decision;
    }
  }
  void hand_over(Side side) {
    Stream &s = stream(side);
    Held held = std::move(s.frames.front());
    s.frames.pop_front();
    notes_[size_t(side)].push_back({held.id, held.bytes, held.known});
    by_time_->push(side, std::move(held.frame));
  }
  // What the inner aligner has not decided comes back.
  void leave_by_time() {
    if (!by_time_) return;
    for (const Side side : {Side::ref, Side::dist}) {
      std::deque<Frame> frames = by_time_->give_back(side);
      std::deque<Note> &notes = notes_[size_t(side)];
      while (!frames.empty()) {
        const Note note = notes.back();
        stream(side).frames.push_front({std::move(frames.back()), note.id, note.bytes, note.known});
        frames.pop_back();
        notes.pop_back();
      }
    }
    by_time_.reset();
  }

  int64_t window_;
  uint64_t most_bytes_;
  int64_t tolerance_;
  std::unique_ptr<content::ContentSync> sync_;
  Stream ref_, dist_;
  std::optional<int64_t> epoch_;
  uint64_t bytes_ = 0;
  std::vector<content::Match> matches_;  // reused
  std::optional<Due> candidate_;         // a pair whose distorted frame may not be the nearest yet
  std::deque<Due> due_;                  // decided, in order
  int64_t decided_ = -1;                 // distorted frames up to this id are decided
  int64_t last_ref_ = -1;                // reference frames up to this id are used or passed over
  int locks_ = 0, losses_ = 0;           // as said
  std::optional<State> said_;
  std::deque<News> news_;
  bool out_of_room_ = false;
  std::optional<ByTime> by_time_;  // while the offset is unknowable
  std::array<std::deque<Note>, 2> notes_;
};

}  // namespace vmafhip
