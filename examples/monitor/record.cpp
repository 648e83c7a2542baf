#include "examples/monitor/record.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace monitor {

namespace {

constexpr Time kSecond = 1'000'000, kHour = 3600 * kSecond, kSpan = Time(Record::kSeconds) * kSecond;
constexpr Time kSlack = 5 * kSecond;  // clocks are corrected by less than that without a word
constexpr double kKeepsUp = 0.9;      // of the stream's rate, which counts of some seconds miss by less
constexpr int kSlowFor = 5;           // ticks; what begins has had few frames to count

// In the order of the enumerations.
constexpr const char *kStateNames[] = {"connecting", "running", "lost", "repeating", "ended", "failed"};
constexpr const char *kStateTexts[] = {"connecting",          "scoring", "lost, starts again",
                                       "ended, starts again", "ended",   "failed"};
constexpr const char *kEventNames[] = {"started",      "ended",         "lost",    "retry",
                                       "alert_raised", "alert_cleared", "sync",    "reset",
                                       "changed",      "dropped",       "warning", "file_error"};
static_assert(std::size(kStateNames) == kStates && std::size(kStateTexts) == kStates);
static_assert(std::size(kEventNames) == kEventKinds);

}  // namespace

const char *state_name(State state) { return kStateNames[static_cast<size_t>(state)]; }
const char *state_text(State state) { return kStateTexts[static_cast<size_t>(state)]; }
const char *event_name(EventKind kind) { return kEventNames[static_cast<size_t>(kind)]; }

bool same_moment(const WorstFrame &a, const WorstFrame &b) {
  if (a.run != b.run) return false;
  if (a.stream_time == UINT64_MAX || b.stream_time == UINT64_MAX) return std::abs(a.time - b.time) < kSecond;
  return std::max(a.stream_time, b.stream_time) - std::min(a.stream_time, b.stream_time) < 1'000'000'000;
}

uint64_t next_id() {
  using namespace std::chrono;
  static uint64_t last =
      static_cast<uint64_t>(duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
  return ++last;
}

Record::Record(std::string channel, std::string name, std::string reference, std::string source,
               bool higher_is_worse)
    : channel(std::move(channel)),
      name(std::move(name)),
      reference(std::move(reference)),
      source(std::move(source)),
      higher_is_worse(higher_is_worse) {}

void Record::score(Time time, double score) {
  keep_time(time);
  const int64_t second = time / kSecond;
  if (seconds_.empty() || second > seconds_.back().second) {
    if (seconds_.size() == kSeconds) seconds_.pop_front();
    seconds_.push_back({second, score, score, 1});
    return;
  }
  Second &open = seconds_.back();
  ++open.frames;
  open.mean += (score - open.mean) / open.frames;
  if (worse(score, open.worst)) open.worst = score;
}

void Record::event(EventKind kind, std::string text, Time time) {
  keep_time(time);
  ++counts_[static_cast<size_t>(kind)];
  if (events_.size() == kEvents) events_.pop_front();
  events_.push_back({next_id(), time, kind, std::move(text)});
  if (on_event) on_event(*this, events_.back());
}

bool Record::among_worst(const WorstFrame &frame) const {
  if (hours_.empty() || newest_ - hours_.back().begin >= kHour) return true;
  const std::vector<WorstFrame> &frames = hours_.back().frames;
  return (frames.size() < kWorst || worse(frame.score, frames.back().score)) &&
         std::ranges::none_of(frames, [&](const WorstFrame &one) {
           return same_moment(one, frame) && !worse(frame.score, one.score);
         });
}

void Record::worst(WorstFrame frame) {
  if (!among_worst(frame)) return;
  newest_ = std::max(newest_, frame.time);
  if (hours_.empty() || newest_ - hours_.back().begin >= kHour) hours_.push_back({newest_, {}});
  insert_worst(hours_.back().frames, std::move(frame));
  gather_worst();
}

const WorstFrame *Record::find_worst(uint64_t id) const {
  if (const auto found = std::ranges::find(worst_, id, &WorstFrame::id); found != worst_.end())
    return &*found;
  const auto found = std::ranges::find(replaced_, id, &WorstFrame::id);
  return found == replaced_.end() ? nullptr : &*found;
}

void Record::gather_worst() {
  while (!hours_.empty() && hours_.front().begin + kHour < newest_ - kSpan) hours_.pop_front();
  const std::vector<WorstFrame> before = std::exchange(worst_, {});
  for (const Hour &hour : hours_) {
    for (const WorstFrame &frame : hour.frames) {
      if (frame.time >= newest_ - kSpan) insert_worst(worst_, frame);
    }
  }
  for (const WorstFrame &frame : before) {
    if (std::ranges::find(worst_, frame.id, &WorstFrame::id) == worst_.end()) replaced_.push_back(frame);
  }
  while (replaced_.size() > 2 * kWorst) replaced_.pop_front();
}

void Record::keep_time(Time time) {
  if (time >= newest_ - kSlack) {
    newest_ = std::max(newest_, time);
    return;
  }
  const Time step = time - newest_;
  newest_ = time;
  const int64_t seconds = step / kSecond - (step % kSecond != 0);  // down: none lies in the future
  for (Second &second : seconds_) second.second += seconds;
  for (Event &event : events_) event.time += step;
  for (Hour &hour : hours_) {
    hour.begin += step;
    for (WorstFrame &frame : hour.frames) frame.time += step;
  }
  gather_worst();
  untold_ = true;
}

void Record::tick(Time time) {
  keep_time(time);
  if (now_.state != State::ended && now_.state != State::failed) {
    while (!seconds_.empty() && seconds_.front().second < (time - kSpan) / kSecond) seconds_.pop_front();
    gather_worst();
  }
  const bool behind = now_.state == State::running && now_.fps > 0 && now_.fps < kKeepsUp * now_.stream_fps;
  slow_for_ = behind ? std::min(slow_for_ + 1, kSlowFor) : 0;
  if (const bool slow = slow_for_ == kSlowFor; slow != now_.slow) {
    now_.slow = slow;
    untold_ = true;
  }
  if (std::exchange(untold_, false) && on_change) on_change(*this);
}

}  // namespace monitor
