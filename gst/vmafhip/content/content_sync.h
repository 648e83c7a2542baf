// Which reference frame does each distorted frame show, found in the pictures: searches for the offset between the two
// streams, follows it while it holds, and says what it knows. Pure C++; one thread owns it.
#pragma once
#include <cstdint>
#include <vector>

#include "gst/vmafhip/content/features.h"
#include "gst/vmafhip/content/search.h"
#include "gst/vmafhip/content/tracker.h"

namespace vmafhip::content {

enum class State {
  searching,
  locked,
  unknowable,  // all has been searched, and the pictures do not tell the offset; the search goes on
};

struct Match {
  int64_t dist = 0;       // id of a distorted frame
  int64_t ref = -1;       // id of the reference frame that it shows; -1: none
  double confidence = 0;  // of the offset, 0..1
  int span = 0;           // reference frames that fit about as well; 1: this one only
};

class ContentSync {
 public:
  // `range`: largest offset in either direction, s. Memory: 2.4 KB a frame for `range` + 4.2 s of each stream.
  explicit ContentSync(double range);
  ContentSync(const ContentSync &) = delete;  // parts of it refer to each other

  // Frames of a stream, in order of time; times of both streams in seconds on one clock. Ids rise. False: the time does
  // not rise; the frame is left out and gets no match.
  bool push_ref(int64_t id, double time, const Signature &signature);
  bool push_dist(int64_t id, double time, const Signature &signature);
  // No frame of that stream follows. After both ends all that is left has been decided with what is known: the state is
  // locked or unknowable, or still searching if a lock has just been lost.
  void end_ref();
  void end_dist();

  // Appends what has been decided since the last call, in order of distorted frames. A frame whose successors have been
  // decided and which has not gets no match any more.
  void take(std::vector<Match> &matches);

  State state() const { return state_; }
  // How many times a lock was made, and how many times one was lost since it held no longer. A lock may also pass on to
  // another offset without loss.
  int locks() const { return locks_; }
  int losses() const { return losses_; }
  double offset() const { return tracker_.offset(); }  // s to add to distorted times: of the newest lock
  double confidence() const { return confidence_; }    // of the offset, 0..1; 0 unless locked
  int64_t searched() const { return searched_; }       // frames of both streams since the search began
  const Finding &last() const { return last_; }        // of the last search
  size_t bytes() const { return ref_.bytes() + dist_.bytes(); }

  // s of both streams without a lock, after which the offset is unknowable. An offset at the end of the range is seen
  // no sooner: so long passes until both streams hold the same picture.
  double patience() const { return range_ + 1; }

 private:
  void step();
  void search(double now);
  bool over() const { return ended_.ref && ended_.dist; }
  void lock(const Finding &finding);
  void unlock();
  void post();

  double range_;
  History ref_, dist_;
  Search search_;
  Tracker tracker_;
  State state_ = State::searching;
  Finding last_;
  double confidence_ = 0;
  Ended ended_;
  int locks_ = 0, losses_ = 0;
  int64_t searched_ = 0;
  double next_search_ = 0, searching_since_ = 0;
  bool begun_ = false;      // the two times above are set
  int disagreeing_ = 0;     // searches in a row that found another offset
  bool confirmed_ = false;  // a search that saw (nearly) all of the range has found this offset
  int64_t undecided_ = 0;   // number of the first distorted frame without decision; while not locked
  std::vector<Choice> choices_;
  std::vector<Match> matches_;
};

}  // namespace vmafhip::content
