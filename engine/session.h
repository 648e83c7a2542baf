// The engine's front door: pairs of pictures in, scores out, in order, computed by worker threads.
//
//   create -> configure -> submit ... submit -> finish -> next until it says drained -> (reset ...)
//
// Frames are numbered 0, 1, 2 … from the last configure() or reset(). Scores of frame n can need frame n+1
// (temporal features), so the last ones come after finish(). Results do not depend on the number of
// threads or on the pace of submission. Memory is bounded: at most max_in_flight() frames are held.
//
// Threads: one owner calls everything except interrupt() and the getters marked thread-safe. The
// callback set by on_progress() runs on worker threads.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/model.h"
#include "engine/picture.h"
#include "engine/pool.h"
#include "engine/status.h"

namespace vmafhip {

enum class Backend { automatic, cpu, hip };

struct SessionOptions {
  std::string models = "vmaf_v0.6.1";  // as parse_models() reads them
  std::string features;                // further extractors: NAME or NAME=OPTION=VALUE:…, separated by '|'
  Backend backend = Backend::automatic;
  int threads = 0;  // workers, 0 = number of processors
};

// Scores of one frame. `features` and `models` go with Session::feature_names() and model_labels().
struct FrameScores {
  uint64_t index = 0;
  std::vector<double> features, models;
  bool extrapolated = false;  // a fitted model saw features outside its box
  bool warm_up = false;       // temporal features lack history: first frames after start or reset
};

class Session {
 public:
  // Reads models and options. Unknown names, bad values and a back end that cannot be had are errors.
  static Result<std::unique_ptr<Session>> create(const SessionOptions &options);
  virtual ~Session() = default;

  // Fixed by create(); thread-safe.
  virtual const std::vector<std::string> &feature_names() const = 0;  // libvmaf's log names and order
  virtual const std::vector<std::string> &model_labels() const = 0;
  virtual const std::vector<std::unique_ptr<Model>> &models() const = 0;
  virtual int lookahead() const = 0;      // frames that must follow before a score is complete
  virtual int max_in_flight() const = 0;  // submitted frames whose scores are not out yet
  virtual std::string backend_description() const = 0;  // e.g. "cpu (scalar), 8 threads"

  // Fixes size and depth (of the reference; the distorted picture's depth may differ, the shallower is
  // shifted up) and allocates. Drops what is in flight. Errors name metric and limit.
  virtual Status configure(const PictureFormat &ref, const PictureFormat &dist) = 0;

  // Room for one more frame: submit() will not block. Thread-safe.
  virtual bool has_room() const = 0;
  // Takes a pair. Blocks while there is no room; false: interrupted, nothing was taken. The formats are
  // those given to configure().
  virtual bool submit(Picture ref, Picture dist) = 0;
  // No further frame follows until reset(): the last scores become computable.
  virtual void finish() = 0;

  enum class Next { ready, pending, drained };
  // The next frame's scores, if they are complete. pending: workers are busy with it;
  // drained: it needs a further frame (or finish()), or all is out.
  virtual Next next(FrameScores &out) = 0;
  // As next(), but blocks while pending. Returns pending only when interrupted.
  virtual Next wait(FrameScores &out) = 0;

  // Drops everything in flight, waits for the workers, clears pools and temporal state: frame 0 is next.
  virtual void reset() = 0;
  // While set, submit() and wait() return at once. Thread-safe.
  virtual void interrupt(bool on) = 0;
  // Called whenever a worker has completed a frame. Set before the first submit().
  virtual void on_progress(std::function<void()> callback) = 0;

  // Over the frames that next() and wait() have given out since reset(); same order as the names.
  virtual const std::vector<RunningPool> &feature_pools() const = 0;
  virtual const std::vector<RunningPool> &model_pools() const = 0;
};

}  // namespace vmafhip
