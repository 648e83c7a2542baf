// A result file in one of libvmaf's layouts, written while frames are scored.
//
//   auto file = ResultsFile::create(options);
//   (*file)->pictures(width, height, present);        // before the first frame
//   for each scored frame: (*file)->frame(number, features, models, may_wait)
//   (*file)->finish({aggregates, counters}, patience, cancelled);   // complete; further frames may follow
//
// Every frame is handed to the file at once, and nobody waits for it: engine/outlet.h. CSV and SUB are complete after
// every frame; JSON and XML after finish(), which the destructor calls if nobody did. Pooled values are over all frames
// in the file, of however many runs. Frames that follow finish() take the ending's place in a regular file; a FIFO has been
// closed by then, which is an error. One owner's thread, except for full().
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/outlet.h"
#include "engine/pool.h"
#include "engine/results_layout.h"
#include "engine/status.h"

namespace vmafhip {

// By the extension of a file's name, of either case. The error lists the extensions.
Result<ResultsFormat> results_format_of(const std::string &path);

class ResultsFile {
 public:
  struct Options {
    std::string path;
    ResultsFormat format = ResultsFormat::json;
    ResultsHeader header;
    std::function<void()>
        on_change;  // there is room again, or it has failed; called by a thread of the file's
    Outlet::Options outlet;
  };
  // Creates or empties the file; the error names it. A FIFO's reader may come later.
  static Result<std::unique_ptr<ResultsFile>> create(Options options);
  ~ResultsFile();

  // Size of the reference, and which of the header's metrics its format has: the file has no columns for others. The
  // first call counts; what later pictures lack has no value.
  void pictures(int width, int height, const std::function<bool(size_t)> &present);
  // `features` and `models` together go with the header's metrics. A file that is full() takes it all the same if
  // `may_wait`, else it fails: a live stream waits for nobody.
  void frame(uint64_t number, std::span<const double> features, std::span<const double> models,
             bool may_wait);
  // What follows the frames.
  struct Ending {
    NamedValues aggregates;
    NamedCounters counters;
  };
  // Writes it, and waits for it as Outlet::drain() does.
  void finish(const Ending &ending, std::chrono::milliseconds patience,
              const std::function<bool()> &cancelled);
  // So much waits to be written that the owner should stop for a while. Any thread.
  bool full() const { return outlet_->full(); }
  // The first failure, once: its text names file and cause. Frames are taken and dropped from then on.
  std::optional<Status> take_failure();

 private:
  using Clock = std::chrono::steady_clock;

  explicit ResultsFile(Options options);
  void begin();
  void write();

  ResultsHeader header_;
  std::unique_ptr<ResultsLayout> layout_;
  std::unique_ptr<Outlet> outlet_;
  std::vector<size_t> columns_;  // indices of the metrics that are in the file
  std::vector<BasicPool> pools_;
  std::vector<double> values_;  // reused, as is
  std::string text_;
  uint64_t frames_ = 0;
  Clock::time_point first_, last_;  // frames
  uint64_t ending_ = 0;             // where it stands
  bool sized_ = false;
  bool begun_ = false;
  bool finished_ = false;  // the ending has been written
  bool rated_ = false;     // and the frame rate
  bool failure_taken_ = false;
};

}  // namespace vmafhip
