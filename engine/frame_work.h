// One compared frame as work: tasks, which ones may run, and the memory they share.
//
// A frame is a first chain of tasks that scales pictures of another size, unpacks what cannot be read in place, and copies
// what an accelerator reads to where it can get it; then one chain per metric, and one that hands the frame to the
// accelerator. A chain is a row of stages; the strips of a stage may run at the same time, the next stage opens when all
// are done. Chains of metrics know nothing of each other. There are no threads and no locks here: the scheduler has them.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/accelerator.h"
#include "engine/memory.h"
#include "engine/metric.h"
#include "engine/picture.h"
#include "engine/scaler.h"

namespace vmafhip {

constexpr int kMostDistorted = 64;

// The pictures that a frame reads; those of frames before the first have no data.
struct FramePictures {
  explicit FramePictures(int distorted = 0) : dist(size_t(distorted)), earlier_dist(size_t(distorted)) {}
  void clear();  // lets all of them go

  Picture ref;
  std::vector<Picture> dist;
  std::array<Picture, 2> earlier;     // references 1 and 2 frames before
  std::vector<Picture> earlier_dist;  // distorted pictures 1 frame before
};

struct Task {
  int chain =
      0;  // 0 prepares pictures, 1 + i is metric i, the one after the last metric starts the accelerator
  int stage = 0;  // of chain 0: 0 unpacks and copies, 1 scales; both at the same time
  int strip = 0;
};

// How an accelerator gets at pictures.
struct DeviceUse {
  bool ref = false;        // is in device memory, always
  std::vector<char> dist;  // the same of each distorted picture; empty: none
  bool keeps = false;  // pictures are held until the frame is measured: others may have to measure it anew
};

// What all frames of a format have in common; it does not change while frames are in progress.
class FrameLayout {
 public:
  struct Item {
    std::unique_ptr<Metric> metric;  // null: the accelerator measures it
    uint64_t sums_bytes = 0;         // of one distorted picture for one set of options
    void (*add_sums)(std::byte *total, const std::byte *partial) = nullptr;
    Reads reads;
    bool every_frame = true;  // false: only those that are scored; then it reads no earlier pictures
    int option_sets = 1;      // that are measured
  };
  // Of one distorted picture; null for planes that are of the reference's size, or not read.
  using Scalers = std::array<std::unique_ptr<PlaneScaler>, 3>;
  // `format`: size and chroma of all pictures, and the depth at which they are compared. Frames whose number is not a
  // multiple of `subsample` are not scored. `scalers`: per distorted picture, or empty if none is scaled.
  FrameLayout(std::vector<Item> items, const PictureFormat &format, int distorted, uint64_t subsample = 1,
              std::vector<Scalers> scalers = {}, DeviceUse device = {});

  bool scores(uint64_t frame) const { return frame % subsample_ == 0; }
  // Whether there is anything to do for a frame, and whether for the accelerator.
  bool measures(uint64_t frame) const { return scores(frame) ? true : between_.any; }
  bool accelerates(uint64_t frame) const { return scores(frame) ? scored_.device_any : between_.device_any; }
  // The pictures to hold for a frame; earlier ones only if they are read_later().
  const Reads &holds(uint64_t frame) const { return scores(frame) ? scored_.holds : between_.holds; }
  // Whether later frames may read this reference or distorted picture itself. Otherwise, what they read of it is with the
  // accelerator.
  bool read_later(const Picture &picture, bool is_ref) const;
  // Whether the processor reaches all that metrics read for a frame.
  bool readable(uint64_t frame, const FramePictures &pictures) const;
  // Whether what was not measured can be done anew without the accelerator.
  bool can_be_redone() const { return device_.keeps; }

  uint64_t scratch_bytes() const { return scratch_bytes_; }  // per worker
  uint64_t frame_bytes() const { return frame_bytes_; }      // per frame in progress
  // The first so many of them are the metrics'. The rest is for planes that cannot be read in place, and is not touched
  // before there are any.
  uint64_t metric_bytes() const { return metric_bytes_; }
  uint64_t upload_bytes() const { return upload_bytes_; }  // per place of the accelerator
  uint64_t sums_bytes() const { return sums_bytes_; }      // per frame, all sums
  // Planes of current pictures that go through the upload memory, of any frame.
  PlaneSet uploads_ref() const { return uploads_ref_; }
  PlaneSet uploads_dist() const { return uploads_dist_; }
  // Planes of the reference (0) or a distorted picture (1 on) that the processor reads wherever they are, of any frame.
  PlaneSet host_planes(int picture) const;
  // Where the sums of metric `item` for one distorted picture and set of options are among a frame's.
  uint64_t sums_at(size_t item, int distorted, int option_set = 0) const {
    const Item &of = chains_[item].item;
    return chains_[item].sums + uint64_t(distorted * of.option_sets + option_set) * of.sums_bytes;
  }
  int distorted() const { return distorted_; }
  // The first of the metrics' that is not good.
  Status status() const;
  // For another layout; this one is of no use then.
  std::vector<Item> take_items();
  // Frames in progress that keep so many workers busy, most of the time if they are many.
  int useful_frames(int workers) const;
  size_t chains() const { return chains_.size(); }
  bool on_cpu(size_t item) const { return chains_[item].item.metric != nullptr; }
  int stages(size_t item) const { return int(chains_[item].strips.size()); }

 private:
  friend class FrameWork;
  struct Chain {
    Item item;
    std::vector<int> strips;  // per stage
    int tasks = 0;
    uint64_t memory = 0;    // where in the frame's memory: what its stages share,
    uint64_t partials = 0;  // the shares of its strips, `partial_bytes` each,
    uint64_t sums = 0;      // and where the sums of the frame go
    uint64_t partial_bytes = 0;
  };
  // A picture that is read: which of a frame's, and whether it is scaled.
  enum class Role { ref, dist, earlier, earlier_dist };
  struct PictureUse {
    Role role = Role::ref;
    int number = 0;
    const Scalers *scalers = nullptr;
  };
  // Planes that are read of a picture, for frames that are scored and for others, by metrics and by the accelerator.
  struct PlaneReads {
    PlaneSet metrics = 0, metrics_between = 0, device = 0, device_between = 0;
  };
  // For which frames somebody reads a plane.
  enum class When : uint8_t { never, scored, always };
  // A plane that is read, and where it goes if it has to be scaled, unpacked or copied.
  struct PlaneUse {
    PictureUse picture;
    int plane = 0;
    When metrics = When::never, device = When::never;
    // The accelerator has room for it, and `buffer` is in its upload memory, not in the frame's own.
    bool upload = false;
    uint64_t buffer = 0;
    int strips = 1, rows = 0;  // rows of a strip, fewer in the last one
    int width = 0, height = 0;
    const PlaneScaler *scaler = nullptr;
  };
  // All that is read for frames of a kind.
  struct AllReads {
    Reads metrics, device, holds;
    bool any = false, device_any = false;
  };
  void add_reads(AllReads &all, const Item &item) const;
  void add_picture(const PictureFormat &format, const PictureUse &picture, const PlaneReads &reads);
  bool dist_on_device(int number) const { return !device_.dist.empty() && device_.dist[size_t(number)]; }
  static bool is_current(Role role) { return role == Role::ref || role == Role::dist; }
  template <class Pictures>
  static auto &picture(Pictures &pictures, const PictureUse &use);
  // Whether metrics read the plane where it is; and where the accelerator gets at it by itself, null for nowhere.
  bool in_place(const PlaneUse &use, const Picture &from) const;
  PlaneView direct(const PlaneUse &use, const Picture &from) const;
  uint64_t plane_bytes(const PlaneUse &use) const {
    return uint64_t(use.width) * uint64_t(use.height) * (depth_ > 8 ? 2 : 1);
  }
  bool reads(When when, uint64_t frame) const {
    return when == When::always || (when == When::scored && scores(frame));
  }

  std::vector<Chain> chains_;
  std::vector<PictureUse> pictures_;
  std::vector<PlaneUse> planes_;  // those that are scaled first: they take longest
  std::vector<Scalers> scalers_;
  int depth_ = 8, distorted_ = 1;
  uint64_t subsample_ = 1;
  uint64_t scratch_bytes_ = 0, frame_bytes_ = 0, metric_bytes_ = 0, upload_bytes_ = 0, sums_bytes_ = 0;
  DeviceUse device_;
  AllReads scored_, between_;
  PlaneSet uploads_ref_ = 0, uploads_dist_ = 0;
};

class FrameWork {
 public:
  explicit FrameWork(const FrameLayout &layout, Accelerator *accelerator = nullptr, int place = 0);
  // False if there is no memory.
  bool allocate();

  // ---- Under the scheduler's lock. Nothing here allocates.

  // Opens the first tasks of a frame. `pictures` and `sums` stay where they are until the last task is done.
  void begin(uint64_t index, FramePictures &pictures, std::byte *sums);
  uint64_t index() const { return view_.frame.index; }
  bool has_task() const { return ready_ > 0; }
  // A task that may run now: the accelerator's start; the first stages of chains, side by side; then, of the chain that has
  // most stages to go. In a hurry these come first from the beginning, so that no long one is left for the end, where
  // workers would have to wait.
  bool take(Task &task, bool in_a_hurry);
  // `task` was run. True if the frame is done.
  bool done(const Task &task);
  // The accelerator has measured its part, perhaps before done() is told of the start. True if the frame is done.
  bool accelerated();
  // Whether all planes can be read.
  bool prepared() const { return progress_[0].done == progress_[0].strips; }
  // Memory that frames have used here so far.
  uint64_t used_bytes() const;
  // Then: owners of pictures that no later task reads. Appends to `out`.
  void release_prepared(std::vector<std::shared_ptr<const void>> &out);

  // ---- By workers, at the same time.

  void run(const Task &task, std::byte *scratch);
  // After the last task: the shares of all strips, in their order; zero for items that do not measure the frame. Sums of
  // the accelerator's are there already.
  void add_up() const;

 private:
  struct Progress {
    int stage = 0, strips = 0, taken = 0, done = 0;
  };
  // A FrameView with its distorted pictures.
  struct View {
    FrameView frame;
    std::vector<Views> dist, earlier_dist;
    explicit View(int distorted) : dist(size_t(distorted)), earlier_dist(size_t(distorted)) {}
    void begin(uint64_t index);
    PlaneView &plane(const FrameLayout::PlaneUse &use);
  };
  Picture &picture(const FrameLayout::PictureUse &use) const;
  bool metrics_read(const FrameLayout::PlaneUse &use) const { return layout_.reads(use.metrics, index()); }
  bool device_reads(const FrameLayout::PlaneUse &use) const { return layout_.reads(use.device, index()); }
  // Whether metrics read the plane where it is.
  bool in_place(const FrameLayout::PlaneUse &use, const Picture &from) const {
    return layout_.in_place(use, from);
  }
  // Null if the accelerator has no memory.
  std::byte *buffer(const FrameLayout::PlaneUse &use) const;
  void view_prepared();
  bool end_accelerated();
  int urgency(size_t chain, bool in_a_hurry) const;
  void open(size_t chain);
  bool measures(const FrameLayout::Chain &chain) const {
    return chain.item.every_frame || layout_.scores(index());
  }
  void prepare(int strip, std::byte *scratch);
  std::byte *partial(const FrameLayout::Chain &chain, int stage, int strip) const;

  const FrameLayout &layout_;
  Accelerator *accelerator_;
  int place_;
  Memory memory_;
  std::vector<Progress> progress_;  // per chain
  std::vector<int> prepared_;       // indices of planes of the layout that are not used where they are
  int scaled_strips_ = 0;           // the first strips of chain 0
  std::vector<char> used_;          // per plane of the layout: whether its buffer here was ever
  int ready_ = 0;                   // tasks that may run and are not taken
  int open_chains_ = 0;
  FramePictures *pictures_ = nullptr;
  std::byte *sums_ = nullptr;
  View view_, device_view_;  // for metrics, and for the accelerator
};

}  // namespace vmafhip
