#include "examples/monitor/progress.h"

#include <glib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace monitor {

namespace {

constexpr int kTicksBetweenLines = 10;

std::string wall_clock(Time time) {
  const std::time_t seconds = time / 1'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &local);
  return text;
}

std::string one_decimal(double value) {
  char text[32];
  g_snprintf(text, sizeof text, "%.1f", value);
  return text;
}

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

Progress::Progress(bool several_channels)
    : several_channels_(several_channels),
      terminal_(isatty(STDERR_FILENO)),
      started_(g_get_monotonic_time()),
      began_(started_) {}

std::string Progress::name(const Record &record) const {
  return several_channels_ ? record.channel + "/" + record.name : record.name;
}

void Progress::events(const std::vector<std::unique_ptr<Record>> &records) {
  std::vector<std::pair<const Record *, const Event *>> fresh;
  for (const auto &record : records)
    for (auto it = record->events().rbegin(); it != record->events().rend() && it->id > last_event_; ++it)
      fresh.emplace_back(record.get(), &*it);
  std::sort(fresh.begin(), fresh.end(), [](auto &a, auto &b) { return a.second->id < b.second->id; });
  for (const auto &[record, event] : fresh) {
    if (line_open_) std::fputs("\r\033[K", stderr);
    line_open_ = false;
    std::fprintf(stderr, "%s %s: %s: %s\n", wall_clock(event->time).c_str(), name(*record).c_str(),
                 event_name(event->kind), event->text.c_str());
    last_event_ = event->id;
  }
}

void Progress::show(const std::vector<std::unique_ptr<Record>> &records,
                    const std::vector<std::unique_ptr<Rendition>> &renditions) {
  events(records);
  if (!terminal_ && ++ticks_ % kTicksBetweenLines != 0) return;
  const double elapsed = double(g_get_monotonic_time() - started_) / G_USEC_PER_SEC;
  double done = 1;  // of the one that is least far
  for (const auto &rendition : renditions) done = std::min(done, rendition->progress());
  // What began again takes its time from there.
  if (done < done_) began_ = g_get_monotonic_time();
  done_ = done;
  const double taken = double(g_get_monotonic_time() - began_) / G_USEC_PER_SEC;
  std::string line;
  if (done >= 0) {
    line = std::to_string(int(done * 100)) + " %";
    if (done > 0 && done < 1) line += ", " + clock_text(int64_t(taken * (1 - done) / done + 0.5)) + " left";
  } else {
    line = clock_text(int64_t(elapsed));
  }
  for (const auto &record : records) {
    const Now &now = record->now();
    line += ", " + name(*record) + " ";
    if (now.score)
      line +=
          one_decimal(*now.score) + (now.alert ? " ALERT" : "") + " (" + one_decimal(now.fps) + " frames/s)";
    else
      line += state_text(now.state);
  }
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%.200s", line.c_str());
    std::fflush(stderr);
    line_open_ = true;
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

void Progress::summary(const std::vector<std::unique_ptr<Record>> &records) {
  events(records);
  if (line_open_) std::fputs("\r\033[K", stderr);
  size_t width = 9;
  for (const auto &record : records) width = std::max(width, name(*record).size());
  std::printf("%-*s  %10s  %10s  %10s  %10s  %8s\n", int(width), "rendition", "mean", "min", "p5", "harmonic",
              "frames");
  for (const auto &record : records) {
    const Now &now = record->now();
    std::printf("%-*s", int(width), name(*record).c_str());
    const auto pool = now.pooled.find(now.score_name);
    if (pool != now.pooled.end())
      std::printf("  %10.6f  %10.6f  %10.6f  %10.6f", pool->second.mean, pool->second.min, pool->second.p5,
                  pool->second.harmonic_mean);
    else
      std::printf("  %10s  %10s  %10s  %10s", "-", "-", "-", "-");
    std::printf("  %8llu\n", static_cast<unsigned long long>(now.counters.scored));
  }
  std::fflush(stdout);
}

}  // namespace monitor
