// Worker threads, and which task of which frame each does next.
//
// Frames wait in a ring of slots. A worker takes a task of the oldest frame that has one, and begins a further frame
// only if none has: one frame gains from all workers, and no worker idles. Without an accelerator, every frame in
// progress has a task that some worker runs or could take, so that there are never more of them than workers, and fewer if
// fewer have enough tasks for all; with one, there are as many as it has places.
//
// When the accelerator fails, workers stop. Frames that were not measured are then done from the start by a layout without
// it, if pictures were kept for that; otherwise nothing comes any more.
#pragma once
#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "engine/accelerator.h"
#include "engine/frame_work.h"
#include "engine/memory.h"
#include "engine/status.h"

namespace vmafhip {

class Scheduler {
 public:
  // Slots are the frames that can be submitted and not released, if there is one in progress for each thread; for a layout
  // that more or fewer are for, as many more or fewer.
  Scheduler(int threads, int slots);
  ~Scheduler();
  Scheduler(const Scheduler &) = delete;

  // ---- Owner's thread.

  // False if the system does not let so many threads start. Once.
  bool start();
  int threads() const { return threads_; }
  int slots() const { return int(slots_.size()); }
  // Called by workers when frames are measured, and by whoever finds that the accelerator failed. Before the first
  // submit().
  void on_progress(std::function<void()> callback) { progress_ = std::move(callback); }
  // Not before so many frames are measured and not released, or all that were submitted. False: they are already.
  bool call_at(int frames);

  // Takes no frames until configure() succeeds.
  void close();
  // After close(). False if there is not enough memory; `memory_needed()` says how much is. The accelerator is of the
  // layout, and has upload memory for it; null if the layout has nothing for one.
  bool configure(std::unique_ptr<FrameLayout> layout, bool measure_times,
                 std::unique_ptr<Accelerator> accelerator = nullptr);
  uint64_t memory_needed() const { return needed_; }
  const FrameLayout *layout() const { return layout_.get(); }
  const Accelerator *accelerator() const { return accelerator_.get(); }

  // Why no frame that is not measured yet will be, unless another layout takes over; ok() as long as nothing failed.
  Status failure() const;
  // Whether the failure is one that withdraw() and resume() get over, or one that leaves submitted frames undone.
  bool can_resume() const;
  bool has_lost_frames() const;
  // Then: lets go of the accelerator and hands out the layout. What was measured stays.
  std::unique_ptr<FrameLayout> withdraw();
  // Goes on with a layout that has nothing for an accelerator and the same sums; what was not measured is done from the
  // start. From the first frame on whose pictures, or earlier ones, the processor does not reach, frames are lost:
  // failure() says `lost` when all others are out. False if there is not enough memory: that is a failure that stays.
  bool resume(std::unique_ptr<FrameLayout> layout, const Status &lost);
  // The frame that comes next is not to be had: no further one is taken, and failure() says why when all others are out.
  void refuse(const Status &why);

  // False without room. `dist` has as many pictures as the layout says, and is moved from. Pictures that the layout
  // does not read for this frame are let go at once.
  bool submit(Picture ref, std::span<Picture> dist);
  // Takes no further frame until clear().
  void finish();
  // Drops all frames, when the tasks that run are done. Frame 0 is next.
  void clear();

  // Sums of a frame, null if they are not complete. They stay until release().
  const std::byte *measured(uint64_t frame) const;
  // Frames before this one give their slots back.
  void release(uint64_t frame);
  // Until a frame is measured, or something fails, or there is an interruption; false if it is that.
  bool wait(uint64_t frame);
  uint64_t submitted() const;
  bool finished() const;

  // Memory of workers and frames since configure(): all of it that was used.
  uint64_t used_bytes() const;
  // Processor time that workers spent on a stage of a chain since configure(), if it was to measure them. While idle.
  double stage_seconds(size_t chain, size_t stage) const;

  // ---- Any thread.

  bool has_room() const;
  void interrupt(bool on);

 private:
  struct Slot {
    FramePictures pictures;
    bool measured = false;
    Memory sums;
  };

  void work(int id);
  bool take(int &frame, Task &task);
  bool wants_worker() const;
  struct Worker;
  Worker *rouse();  // ring() it then
  static void ring(Worker *worker);
  void wake_all();
  void end_frame(std::unique_lock<std::mutex> &lock, int frame);
  void end_task(std::unique_lock<std::mutex> &lock, bool last);
  void accelerated(std::span<const int> places);
  bool is_progress() const {
    return measured_ - released_ >= std::min<uint64_t>(call_at_, submitted_ - released_);
  }
  void failed(const Status &why);
  bool allocate_work();
  void drop_work();
  // Of frames that there is nothing to do for.
  void pass_measured();
  bool takes_frames() const {
    return open_ && !finished_ && !lost() && submitted_ - released_ < slots_.size();
  }
  bool lost() const { return halted_ && !(layout_ && layout_->can_be_redone()); }
  Slot &slot(uint64_t frame) { return slots_[frame % slots_.size()]; }
  const Slot &slot(uint64_t frame) const { return slots_[frame % slots_.size()]; }

  const int threads_;
  const int slots_of_workers_;
  std::function<void()> progress_;
  std::unique_ptr<FrameLayout> layout_;
  std::unique_ptr<Accelerator> accelerator_;
  FramePictures history_;  // `earlier` and `earlier_dist` of the next frame, as far as any frame reads them
  uint64_t needed_ = 0;
  Status lost_;                  // what resume() is to say of lost frames
  std::vector<Memory> scratch_;  // per worker; changed while all are idle
  bool timed_ = false;

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable event_;
  std::vector<Slot> slots_;
  uint64_t submitted_ = 0, begun_ = 0, released_ = 0;
  uint64_t measured_ = 0;  // frames, in any order
  uint64_t call_at_ = 1;
  std::vector<FrameWork> frames_;
  std::vector<int> active_;  // indices of frames_ in progress, oldest first
  std::vector<int> free_;    // the others, the last used one last: its memory is warm
  int running_ = 0;          // threads that do a task or end a frame
  std::vector<int> idle_;    // workers that wait for one, the last one last: it wakes soonest
  bool open_ = false, finished_ = false, interrupted_ = false;
  bool stopping_ = false, quit_ = false;  // no further task; workers end
  bool halted_ = false;                   // no further task: the accelerator failed
  Status failure_;
  std::vector<std::vector<uint64_t>> times_;  // ns, per chain and stage

  struct Worker {
    std::condition_variable woken_up;
    bool woken = false;
    std::thread thread;
  };
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace vmafhip
