// The result files of one rendition: one for each run, as each ends with the pooled scores of its own. The newest are kept, so
// that a source that comes and goes for weeks fills no disk. What other processes have written is neither overwritten
// nor removed.
#pragma once
#include <sys/stat.h>

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
  // A file of ours: what has taken its name meanwhile is another's.
  struct File {
    std::string name;  // empty: none
    struct stat made;
  };
  static void remove(const File &file, bool unchanged);  // since its run was over

  const std::string name_;
  int number_ = 1;         // of the name that is tried next
  File open_;              // the present run's
  std::deque<File> kept_;  // of earlier ones, oldest first
};

}  // namespace monitor
