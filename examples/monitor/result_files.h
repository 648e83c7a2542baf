// The result files of one rendition: one for each run, as each ends with the pooled scores of its own. The newest are kept, so
// that a source that comes and goes for weeks fills no disk. What other processes have written is neither overwritten
// nor removed.
#pragma once
#include <deque>
#include <string>

namespace monitor {

class ResultFiles {
 public:
  static constexpr size_t kKept = 100;

  // `name` is that of the first one, scores.csv; then come scores-2.csv and so on. Empty: there are none.
  explicit ResultFiles(std::string name) : name_(std::move(name)) {}

  // For the run that begins: an empty file of this process' own. FIFOs and devices keep their name.
  std::string next();
  // That run is over; its file goes if nothing was scored.
  void run_ends(bool scored);

 private:
  const std::string name_;
  int number_ = 1;
  std::string open_;              // the present run's; empty: none that is ours
  std::deque<std::string> kept_;  // of earlier ones, oldest first
};

}  // namespace monitor
