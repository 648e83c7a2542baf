// What the terminal shows meanwhile: events, a line each, and one line of scores with percentage and time left where the
// sources' length is known. That line is rewritten once a second on a terminal, and written every 10 s elsewhere.
#pragma once
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "examples/monitor/record.h"

namespace monitor {

class Progress {
 public:
  using Records = std::span<const Record *const>;

  // `now` here and below: microseconds of a clock that is never set.
  Progress(bool several_channels, FILE *to, bool is_terminal, int64_t now);

  // `done` of it all, 0 to 1, negative if that is not known; `ends`: what has been done is not begun again.
  void show(Records records, double done, bool ends, int64_t now);
  void events(Records records);
  void line(const std::string &text);
  // All of it, at the end; and, where events go, what has failed and why.
  void summary(Records records, FILE *to);

 private:
  std::string name(const Record &record) const;
  std::string state_line(Records records, double done, bool ends, int64_t now);
  void clear_line();

  const bool several_channels_;
  FILE *const to_;
  const bool terminal_;
  const int64_t started_;
  uint64_t last_event_ = 0;
  int ticks_ = 0;
  bool line_open_ = false;
  double done_ = 0;  // as shown last
  int64_t began_;    // when that was 0
};

// "1:02:03", "0:07"
std::string clock_text(int64_t seconds);

}  // namespace monitor
