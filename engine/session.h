// The engine's front door: pairs of pictures in, scores out, in order, computed by worker threads.
//
//   auto session = Session::create(options);       // models and names
//   session->configure(format, format);            // sizes and memory
//   for each pair:
//     while (!session->submit(ref, dist)) session->wait(scores) … use scores
//   session->finish();
//   while (session->wait(scores) == Session::Next::ready) … use scores
//
// One reference may be compared with several distorted pictures at a time: work on the reference is done once.
//
// Frames are numbered 0, 1, 2 … from the last configure() or reset(). Scores of frame n can need frame n+1
// (temporal features), so the last ones come after finish(). Results do not depend on the number of
// threads or on the pace of submission. Memory is bounded: at most max_in_flight() frames are held, and
// room comes only from taking scores.
//
// Pictures are held until they are measured, or copied if only that is needed of them; the GPU has read what it reads by
// then. Of those that it reads where they are (Plane::device, MemoryKind::device), and of all that a CPU reads or may have
// to measure anew (Backend::automatic), as many of the last ones are held on as temporal features look back, at most 2:
// until as many further frames are measured, or finish() or reset(). Whoever makes pictures in a pool of few buffers
// needs these and one for the frame that comes; with more the GPU is busier, and max_in_flight() is all it can use.
//
// Threads: one owner calls everything except interrupt(), has_room() and the names. The callback set by
// on_progress() runs on threads of the session.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/external.h"
#include "engine/gpu.h"
#include "engine/model.h"
#include "engine/picture.h"
#include "engine/pool.h"
#include "engine/scaler.h"
#include "engine/status.h"

namespace vmafhip {

enum class Backend { automatic, cpu, hip };

struct SessionOptions {
  std::string models = "vmaf_v0.6.1";  // as parse_models() reads them
  std::string features;                // further extractors: NAME or NAME=OPTION=VALUE:…, separated by '|'
  // automatic: a GPU, if one can be had and has kernels for any of it, and as long as it works; else the CPU.
  Backend backend = Backend::automatic;
  int device = -1;    // number of the GPU, -1 = the one that the fewest sessions use
  int batch = 0;      // frames that the GPU measures together at most, 0 = by their size
  int threads = 0;    // workers, 0 = number of processors
  int distorted = 1;  // pictures that are compared with each reference
  int subsample = 1;  // frames 0, N, 2N … are scored; temporal features see all of them
  ScaleMethod scale = ScaleMethod::bicubic;  // for distorted pictures that are not of the reference's size
  bool stage_times = false;                  // let the workers measure where their time goes
};

// What a session says about one of its models' scores.
struct ModelInfo {
  std::string
      label;  // of the score: the model's, or of a bootstrap collection LABEL_0001, LABEL_bagging and so on
  ModelSource source;
  std::string origin;  // path of the file; empty for a fitted surface
};

// Scores of one distorted picture. `features` and `models` go with Session::feature_names() and models().
struct PictureScores {
  std::vector<double> features, models;
  bool extrapolated = false;  // a fitted model saw features outside its box
};

// Scores of one frame.
struct FrameScores {
  uint64_t index = 0;    // of the frame; with subsample=N a multiple of N
  bool warm_up = false;  // temporal features lack history: first frames after start or reset
  std::vector<PictureScores> dist;
};

// Processor time that all workers together spent on one stage of an extractor, over all frames. Names of extractors that
// are measured together are joined by '+'.
struct StageTime {
  // "unpack", "scale": what pictures take that cannot be read as they are; "launch": handing frames to the GPU
  std::string extractor;
  int stage = 0;
  double seconds = 0;
};

class Session {
 public:
  // Reads models and options. Unknown names, bad values and a back end that cannot be had are errors.
  static Result<std::unique_ptr<Session>> create(const SessionOptions &options);
  ~Session();

  const std::vector<std::string> &feature_names() const;  // libvmaf's log names, in its order
  // Values of the whole stream, as libvmaf calls them.
  const std::vector<std::string> &aggregate_names() const;
  const std::vector<ModelInfo> &models() const;  // one a score
  int lookahead() const;                         // frames that must follow before a score is complete
  int distorted() const;
  int threads() const;
  // Submitted frames whose pictures may still be held. Before configure(): without a GPU, at most. Then it goes by their
  // size.
  int max_in_flight() const;
  // What computes now, e.g. "cpu (scalar), 8 threads".
  std::string backend_description() const;
  // Why no GPU is used although the options allow for one; empty if one is used or none was wanted.
  std::string backend_reason() const;
  // The GPU that measures pictures of these formats; null if none does. Before configure(): that may.
  std::shared_ptr<const Gpu> gpu() const;
  // Memory that the session takes on the GPU and, pinned, on the host; since configure().
  uint64_t device_bytes() const;
  uint64_t pinned_bytes() const;
  // Other memory of the host that it works in, beside the pictures it is given; since configure(). It grows with the first
  // pictures that cannot be read as they are: these are unpacked or scaled to planes of the session's own.
  uint64_t host_bytes() const;

  // Fixes sizes and depths and allocates. Drops what is in flight. Depths may differ: shallower pictures are shifted
  // up. Sizes may differ unless the options say ScaleMethod::none: distorted pictures are scaled to the reference's,
  // each plane that a metric reads by itself, at the depth of the comparison; by kMostScaledDown at most,
  // or up. Errors name the metric and its limit, or both formats, or how much memory is missing;
  // there is no room then.
  Status configure(const PictureFormat &ref, std::span<const PictureFormat> dist);
  Status configure(const PictureFormat &ref, const PictureFormat &dist);
  // What makes memory of others readable for the session's GPU; null if none measures pictures of these formats.
  std::shared_ptr<const Importer> importer() const;
  // Planes, bit n is plane n, of the reference (0) or a distorted picture (1 on) that the processor reads although the
  // GPU can reach them: for extractors without kernels, or to be scaled. Without a GPU they are all that anything reads.
  // Since configure(), and anew once the GPU is lost.
  uint8_t host_planes(int picture) const;
  // What users should know of scores of these formats, one sentence each. One more comes when the GPU is lost and the
  // CPU goes on in its place.
  const std::vector<std::string> &remarks() const;
  // Whether the configured format has the feature: pictures without chroma have none of chroma. If not, its scores are
  // NaN and its pools empty.
  bool has_feature(size_t number) const;

  // Whether the frame that submit() takes next will be scored: with subsample=N every Nth is, from frame 0 on. Of the
  // others, what only temporal extractors need is read, and the rest let go at once.
  bool scores_next() const;
  // submit() would take a pair. Any thread.
  bool has_room() const;
  // Takes pictures of the configured formats (moved from `dist`), or returns false while there is no room.
  // Never blocks. A picture is let go as soon as nothing reads it any more.
  bool submit(Picture ref, std::span<Picture> dist);
  bool submit(Picture ref, Picture dist);
  // No further frame follows until reset(): the last scores become computable.
  void finish();

  enum class Next {
    ready,    // `out` is filled
    pending,  // workers are busy with what it needs
    drained,  // it needs a further frame (or finish()), or everything is out
    failed,   // nothing comes any more, until configure(); status() says why
  };
  // The next frame's scores, if they are complete. Never blocks.
  Next next(FrameScores &out);
  // As next(), but blocks while pending; returns pending only when interrupted.
  Next wait(FrameScores &out);

  // Drops everything in flight, waits for the workers, clears pools and temporal state: frame 0 is next.
  void reset();
  // While set, wait() returns at once. Any thread.
  void interrupt(bool on);
  // Called whenever frames are measured, or nothing comes any more. Set before the first submit().
  void on_progress(std::function<void()> callback);
  // From now on it is called for measured frames only when there are so many of them that next() has not taken, or all
  // that were submitted. False if there are already, and it may not be called for them.
  bool call_at(int frames);
  // How many measured frames may wait without the session running out of work, as it is deep. Since configure().
  int frames_at_a_time() const;

  // Over the scores that next() and wait() have given out since reset(); order of the names.
  const std::vector<RunningPool> &feature_pools(size_t dist = 0) const;
  const std::vector<RunningPool> &model_pools(size_t dist = 0) const;
  // Values of the whole stream up to the last frame given out, or all of it if everything is out; NaN before the first,
  // and for what the format does not have. With subsample=N they count all frames.
  const std::vector<double> &aggregates(size_t dist = 0) const;

  // What has gone wrong since configure(): why next() says `failed`, or else what does not touch the scores, such as
  // files that a metric writes beside them.
  Status status() const;
  // Of these files alone.
  Status files_status() const;

  // Since configure(), if the options asked for it; empty otherwise. Only when no frame is in flight.
  std::vector<StageTime> stage_times() const;

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vmafhip
