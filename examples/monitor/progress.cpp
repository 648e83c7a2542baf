#include "examples/monitor/progress.h"

#include <glib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "examples/monitor/markup.h"

namespace monitor {

namespace {

constexpr int kTicksBetweenLines = 10;

// The bad side of a measure of quality is below, that of a measure of errors above.
struct Column {
  const char *name;
  double Pooled::*value;
};
struct Table {
  bool errors;
  Column columns[4];
};
constexpr Table kTables[] = {
    {false,
     {{"mean", &Pooled::mean},
      {"min", &Pooled::min},
      {"p5", &Pooled::p5},
      {"harmonic", &Pooled::harmonic_mean}}},
    {true,
     {{"mean", &Pooled::mean}, {"max", &Pooled::max}, {"p50", &Pooled::p50}, {"stddev", &Pooled::stddev}}},
};
constexpr int64_t kSecond = 1'000'000;

}  // namespace

std::string clock_text(int64_t seconds) {
  char text[32];
  if (seconds >= 3600)
    g_snprintf(text, sizeof text, "%d:%02d:%02d", int(seconds / 3600), int(seconds / 60 % 60),
               int(seconds % 60));
  else
    g_snprintf(text, sizeof text, "%d:%02d", int(seconds / 60), int(seconds % 60));
  return text;
}

Progress::Progress(bool several_channels, FILE *to, bool is_terminal, int64_t now)
    : several_channels_(several_channels), to_(to), terminal_(is_terminal), started_(now), began_(now) {}

std::string Progress::name(const Record &record) const {
  return several_channels_ ? record.channel + "/" + record.name : record.name;
}

void Progress::clear_line() {
  if (line_open_) std::fputs("\r\033[K", to_);
  line_open_ = false;
}

void Progress::events(Records records) {
  std::vector<std::pair<const Record *, const Event *>> fresh;
  for (const Record *record : records)
    for (auto it = record->events().rbegin(); it != record->events().rend() && it->id > last_event_; ++it)
      fresh.emplace_back(record, &*it);
  std::sort(fresh.begin(), fresh.end(), [](auto &a, auto &b) { return a.second->id < b.second->id; });
  for (const auto &[record, event] : fresh) {
    clear_line();
    std::fprintf(to_, "%s %s: %s: %s\n", wall_time(event->time, true).c_str(), name(*record).c_str(),
                 event_name(event->kind), event->text.c_str());
    last_event_ = event->id;
  }
}

void Progress::line(const std::string &text) {
  clear_line();
  std::fprintf(to_, "%s\n", text.c_str());
}

std::string Progress::state_line(Records records, double done, bool ends, int64_t now) {
  // What began again takes its time from there.
  if (done < done_) began_ = now;
  done_ = done;
  std::string line;
  if (done >= 0) {
    line = std::to_string(int(done * 100)) + " %";
    const double taken = double(now - began_) / kSecond;
    if (ends && done > 0 && done < 1)
      line += ", " + clock_text(int64_t(taken * (1 - done) / done + 0.5)) + " left";
  } else {
    line = clock_text((now - started_) / kSecond);
  }
  for (const Record *record : records) {
    const Now &state = record->now();
    line += ", " + name(*record) + " ";
    if (state.score)
      line += decimal(*state.score, 1) + (state.alert ? " ALERT" : "") + " (" + rate_text(state) +
              " frames/s" + (state.slow ? ": slower than the stream)" : ")");
    else
      line += state_text(state.state);
  }
  return line;
}

void Progress::show(Records records, double done, bool ends, int64_t now) {
  events(records);
  if (!terminal_ && ++ticks_ % kTicksBetweenLines != 0) return;
  const std::string line = state_line(records, done, ends, now);
  if (terminal_) {
    std::fprintf(to_, "\r\033[K%.200s", line.c_str());
    std::fflush(to_);
    line_open_ = true;
  } else {
    std::fprintf(to_, "%s\n", line.c_str());
  }
}

void Progress::summary(Records records, FILE *to) {
  events(records);
  clear_line();
  std::fflush(to_);
  size_t width = 9;
  for (const Record *record : records) width = std::max(width, name(*record).size());
  for (const auto &[errors, columns] : kTables) {
    if (std::ranges::none_of(records,
                             [&](const Record *record) { return record->higher_is_worse == errors; }))
      continue;
    std::fprintf(to, "%-*s", int(width), "rendition");
    for (const Column &column : columns) std::fprintf(to, "  %10s", column.name);
    std::fprintf(to, "  %8s\n", "frames");
    for (const Record *record : records) {
      if (record->higher_is_worse != errors) continue;
      const Now &now = record->now();
      std::fprintf(to, "%-*s", int(width), name(*record).c_str());
      const auto pool = now.pooled.find(now.score_name);
      for (const Column &column : columns)
        if (pool != now.pooled.end())
          std::fprintf(to, "  %10.6f", pool->second.*column.value);
        else
          std::fprintf(to, "  %10s", "-");
      std::fprintf(to, "  %8llu\n", static_cast<unsigned long long>(now.counters.scored));
    }
  }
  std::fflush(to);
  for (const Record *record : records) {
    if (record->now().state != State::failed) continue;
    const auto &events = record->events();
    const auto lost = std::find_if(events.rbegin(), events.rend(),
                                   [](const Event &event) { return event.kind == EventKind::lost; });
    line(name(*record) + " failed" + (lost == events.rend() ? "" : ": " + lost->text));
  }
}

}  // namespace monitor
