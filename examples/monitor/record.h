// What the monitor knows about one rendition: its score second by second, what happened, its worst frames. A Rendition
// fills it from the element's messages; page, metrics and report read it. All on the main loop's thread, so no locks.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monitor {

// Times are microseconds since 1970 (g_get_real_time()) unless a name says otherwise.
using Time = int64_t;

enum class State {
  connecting,  // the pipeline is being built, no frame has been scored yet
  running,     // frames are being scored
  lost,        // a source or the encoder failed; the next attempt comes after a pause
  repeating,   // all of it has been scored; it starts again after a pause
  ended,       // all of it has been scored, or it was stopped
  failed,      // ended by an error, and not tried again
};
inline constexpr size_t kStates = static_cast<size_t>(State::failed) + 1;
const char *state_name(State state);  // "connecting", "running", …: as programs read it
const char *state_text(State state);  // "lost, starts again": as page, report and terminal show it

// The lower-case names of kinds (event_name()) are part of the page's and the metrics' interface.
enum class EventKind {
  started,  // first score after a start or restart
  ended,    // end of stream
  lost,     // a source or the encoder failed, or gave nothing for `stall` seconds; text says which and why
  retry,    // next attempt; text says after what pause
  alert_raised,   // text has score and threshold
  alert_cleared,  //
  sync,           // content synchronisation: searching, locked, lost, unknowable; text has the offset
  reset,          // pooling began anew: size or format change, flush, jump
  changed,        // a property of the encoder in place was set
  dropped,        // frames without partner or left out, gathered over some seconds
  warning,        // what the element or another one warned of
  file_error,     // results, report or thumbnails could not be written; measuring goes on
};
inline constexpr size_t kEventKinds = static_cast<size_t>(EventKind::file_error) + 1;
const char *event_name(EventKind kind);

// Grows over all renditions, and from one process to the next: who knows an id of before a restart resumes rightly, and
// no address of a picture is used twice. Microseconds since 1970 at the start, counted on from there; below 2^53, so
// that JavaScript has it exactly.
uint64_t next_id();

struct Event {
  uint64_t id;  // next_id(); the page resumes after it
  Time time;
  EventKind kind;
  std::string text;
};

// Scores of the frames of one second of wall time.
struct Second {
  int64_t second;  // since 1970
  double mean, worst;
  uint32_t frames;
};

struct Pooled {
  double mean, min, max, harmonic_mean, stddev, p1, p5, p50;
};

// A picture as a PNG file; null where none could be made.
using Image = std::shared_ptr<const std::string>;

struct WorstFrame {
  uint64_t id;  // next_id(); names its thumbnails in addresses
  Time time;
  uint64_t stream_time = UINT64_MAX;  // ns, GST_CLOCK_TIME_NONE if unknown
  double score;
  Image reference, distorted, difference;
  uint64_t run = 0;  // the record's: counters.restarts when it came, as each run has stream times of its own
};

// Whether one picture shows what both are about: less than a second of the stream lies between them.
bool same_moment(const WorstFrame &a, const WorstFrame &b);

// Sums over all restarts: they never fall.
struct Counters {
  uint64_t compared = 0, scored = 0, ref_unmatched = 0, dist_unmatched = 0, skipped = 0, repeated = 0;
  uint64_t restarts = 0, alerts = 0;
};

struct Window {  // the element's `window` message: pooled score of the last stretch
  Time time;
  Pooled score;
};

// The last known state, plain values; `record.changed()` after changing them.
struct Now {
  State state = State::connecting;
  std::optional<double> score;
  std::string score_name;  // whose value that is, in `features` and `pooled`
  std::map<std::string, double>
      features;  // of the frame scored last, libvmaf's names; models by their labels too
  std::optional<Window> window;
  std::map<std::string, Pooled> pooled;  // since the last reset, by model label and feature name
  Counters counters;
  double offset_seconds = 0;  // added to the distorted stream's running times
  double confidence = 0;      // of that offset, 0 to 1; content synchronisation only
  std::string sync_state;  // of this run or, between two, of the last; empty without content synchronisation
  bool alert = false;
  double lag_seconds = 0;  // from the newest frame that has come to the one scored last
  double fps = 0;
  double stream_fps = 0;  // what fps is where it keeps up with the clock; 0: none sets the pace, or unknown
  bool slow = false;      // tick() says: fps has been clearly below that for some seconds
  std::string backend, backend_reason, model_source;
  std::string caps;  // "1920x1080 I420 25/1" of the reference, for people
};

class Record {
 public:
  static constexpr size_t kSeconds = 6 * 3600, kEvents = 500, kWorst = 10;

  Record(std::string channel, std::string name, std::string reference, std::string source,
         bool higher_is_worse = false);

  const std::string channel, name;      // labels, unique as a pair
  const std::string reference, source;  // URIs or the encoder, without passwords
  const bool higher_is_worse;           // of scores: a measure of errors rather than of quality

  bool worse(double a, double b) const { return higher_is_worse ? a > b : a < b; }

  // Times ascend: where the clock has been set back by more than some seconds, all that is kept moves back with it, as if
  // the clock had been right before.
  void score(Time time, double score);
  void event(EventKind kind, std::string text, Time time);
  // Whether it would be among the worst of this hour: only then are its pictures wanted. Of a moment the worst alone.
  bool among_worst(const WorstFrame &frame) const;
  void worst(WorstFrame frame);
  // Into the worst ones, worst first, of which kWorst are kept; Frame is a WorstFrame or more.
  template <typename Frame>
  void insert_worst(std::vector<Frame> &frames, Frame frame) const;
  Now &now() { return now_; }
  const Now &now() const { return now_; }
  void changed() { untold_ = true; }
  // Once a second: drops scores older than six hours unless it has ended, looks whether it keeps up, tells that something
  // has changed.
  void tick(Time time);

  const std::deque<Second> &seconds() const { return seconds_; }
  const std::deque<Event> &events() const { return events_; }
  uint64_t events_of(EventKind kind) const { return counts_[static_cast<size_t>(kind)]; }  // ever
  const std::vector<WorstFrame> &worst_frames() const { return worst_; }  // of six hours, worst first
  // One of these, or of those that were until a moment ago: pages still ask for its pictures. Null if there is none.
  const WorstFrame *find_worst(uint64_t id) const;

  // Called by each event(), and by the tick() after changed(). One observer each.
  std::function<void(const Record &, const Event &)> on_event;
  std::function<void(const Record &)> on_change;

 private:
  // The worst of each hour are kept, so that those of the last six are known when older ones leave.
  struct Hour {
    Time begin;
    std::vector<WorstFrame> frames;  // worst first
  };
  void gather_worst();
  void keep_time(Time time);

  Now now_;
  Time newest_ = 0;
  bool untold_ = false;
  std::deque<Second> seconds_;
  std::deque<Event> events_;
  std::array<uint64_t, kEventKinds> counts_{};
  std::deque<Hour> hours_;
  std::vector<WorstFrame> worst_;
  std::deque<WorstFrame> replaced_;  // in worst_ before, at most twice as many as are there
  int slow_for_ = 0;                 // ticks
};

// Behind those of the same score.
template <typename Frame>
void Record::insert_worst(std::vector<Frame> &frames, Frame frame) const {
  const auto better = [&](const Frame &one) { return worse(frame.score, one.score); };
  const auto of_its_moment = [&](const Frame &one) { return same_moment(one, frame); };
  if (std::ranges::any_of(frames, [&](const Frame &one) { return of_its_moment(one) && !better(one); }))
    return;
  std::erase_if(frames, of_its_moment);
  frames.insert(std::ranges::find_if(frames, better), std::move(frame));
  if (frames.size() > kWorst) frames.pop_back();
}

}  // namespace monitor
