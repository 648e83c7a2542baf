#include "examples/monitor/record.h"

#include <algorithm>
#include <limits>

namespace monitor {

namespace {

constexpr Time kSecond = 1'000'000;

}  // namespace

const char *event_name(EventKind kind) {
  switch (kind) {
    case EventKind::started:
      return "started";
    case EventKind::ended:
      return "ended";
    case EventKind::lost:
      return "lost";
    case EventKind::retry:
      return "retry";
    case EventKind::alert_raised:
      return "alert_raised";
    case EventKind::alert_cleared:
      return "alert_cleared";
    case EventKind::sync:
      return "sync";
    case EventKind::reset:
      return "reset";
    case EventKind::changed:
      return "changed";
    case EventKind::dropped:
      return "dropped";
    case EventKind::warning:
      return "warning";
    case EventKind::file_error:
      return "file_error";
  }
  return "";
}

uint64_t next_id() {
  using namespace std::chrono;
  static uint64_t last =
      static_cast<uint64_t>(duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
  return ++last;
}

Record::Record(std::string channel, std::string name, std::string reference, std::string source)
    : channel(std::move(channel)),
      name(std::move(name)),
      reference(std::move(reference)),
      source(std::move(source)) {}

// Wall time may be set back: what then comes counts in the second that is open.
void Record::score(Time time, double score) {
  const int64_t second = time / kSecond;
  if (seconds_.empty() || second > seconds_.back().second) {
    if (seconds_.size() == kSeconds) seconds_.pop_front();
    seconds_.push_back({second, score, score, 1});
    return;
  }
  Second &open = seconds_.back();
  ++open.frames;
  open.mean += (score - open.mean) / open.frames;
  open.min = std::min(open.min, score);
}

void Record::event(EventKind kind, std::string text, Time time) {
  ++counts_[static_cast<size_t>(kind)];
  if (events_.size() == kEvents) events_.pop_front();
  events_.push_back({next_id(), time, kind, std::move(text)});
  if (on_event) on_event(*this, events_.back());
}

bool Record::among_worst(double score) const { return worst_.size() < kWorst || score < worst_.back().score; }

void Record::worst(WorstFrame frame) {
  if (!among_worst(frame.score)) return;
  if (worst_.size() == kWorst) worst_.pop_back();
  const auto place =
      std::upper_bound(worst_.begin(), worst_.end(), frame,
                       [](const WorstFrame &a, const WorstFrame &b) { return a.score < b.score; });
  worst_.insert(place, std::move(frame));
}

void Record::changed() {
  untold_ = true;
  if (std::chrono::steady_clock::now() - told_ >= std::chrono::seconds(1)) tick();
}

void Record::tick() {
  if (!untold_) return;
  untold_ = false;
  told_ = std::chrono::steady_clock::now();
  if (on_change) on_change(*this);
}

}  // namespace monitor
