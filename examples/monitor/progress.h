// What the terminal shows meanwhile: events, a line each, and one line of scores with percentage and time left where the
// sources' length is known. That line is rewritten once a second on a terminal, and written every 10 s elsewhere.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "examples/monitor/record.h"
#include "examples/monitor/rendition.h"

namespace monitor {

class Progress {
 public:
  explicit Progress(bool several_channels);
  void show(const std::vector<std::unique_ptr<Record>> &records,
            const std::vector<std::unique_ptr<Rendition>> &renditions);
  // All of it, at the end, on standard output.
  void summary(const std::vector<std::unique_ptr<Record>> &records);

 private:
  std::string name(const Record &record) const;
  void events(const std::vector<std::unique_ptr<Record>> &records);

  const bool several_channels_, terminal_;
  const int64_t started_;
  uint64_t last_event_ = 0;
  int ticks_ = 0;
  bool line_open_ = false;
  double done_ = 0;  // as shown last
  gint64 began_;     // when that was 0
};

// "1:02:03", "0:07"
std::string clock_text(int64_t seconds);

}  // namespace monitor
