#include "engine/scheduler.h"

#include <algorithm>
#include <ctime>
#include <system_error>
#include <utility>

namespace vmafhip {
namespace {

// Processor time of this thread, which others that compete for the processor do not add to.
uint64_t thread_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}

}  // namespace

Scheduler::Scheduler(int threads, int slots)
    : threads_(threads), slots_of_workers_(slots), slots_(size_t(slots)) {}

Scheduler::~Scheduler() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = quit_ = true;
    wake_all();
  }
  for (const auto &worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
  accelerator_.reset();  // first, since its events come here
}

bool Scheduler::start() {
  scratch_.resize(size_t(threads_));
  idle_.reserve(size_t(threads_));
  for (int i = 0; i < threads_; ++i) workers_.push_back(std::make_unique<Worker>());
  try {
    for (int i = 0; i < threads_; ++i) workers_[size_t(i)]->thread = std::thread(&Scheduler::work, this, i);
  } catch (const std::system_error &) {
    return false;
  }
  return true;
}

// ---- Workers ----------------------------------------------------------------------------------------------

void Scheduler::work(int id) {
  std::vector<std::shared_ptr<const void>> unneeded;  // let go without the lock: it may take long
  unneeded.reserve(2 * kMostDistorted + 3);
  Worker &me = *workers_[size_t(id)];
  std::unique_lock lock(mutex_);
  for (;;) {
    int frame = 0;
    Task task;
    while (!take(frame, task)) {
      if (quit_) return;
      idle_.push_back(id);
      me.woken_up.wait(lock, [&] { return me.woken; });
      me.woken = false;
    }
    // Whoever finds more than it takes wakes the next one, so that nobody needs to know how much there is.
    Worker *const next = wants_worker() ? rouse() : nullptr;
    ++running_;
    lock.unlock();
    ring(next);
    const uint64_t start = timed_ ? thread_ns() : 0;
    frames_[size_t(frame)].run(task, scratch_[size_t(id)].get());
    const uint64_t spent = timed_ ? thread_ns() - start : 0;
    lock.lock();
    if (timed_) times_[size_t(task.chain)][size_t(task.stage)] += spent;
    FrameWork &work = frames_[size_t(frame)];
    const bool last = work.done(task);
    if (last)
      end_frame(lock, frame);
    else if (task.chain == 0 && work.prepared())
      work.release_prepared(unneeded);
    if (!unneeded.empty()) {
      Worker *const other = wants_worker() ? rouse() : nullptr;
      lock.unlock();
      ring(other);
      unneeded.clear();
      lock.lock();
    }
    end_task(lock, last);
  }
}

// What follows when a thread has done its part of a frame.
void Scheduler::end_task(std::unique_lock<std::mutex> &lock, bool last) {
  Worker *const next = wants_worker() ? rouse() : nullptr;
  if (--running_ == 0 && (stopping_ || halted_)) event_.notify_all();
  if (!next && !last) return;
  const bool progress = last && progress_ && is_progress();
  lock.unlock();
  ring(next);
  if (last) event_.notify_all();
  if (progress) progress_();
  lock.lock();
}

// On a thread of the accelerator.
void Scheduler::accelerated(std::span<const int> places) {
  std::unique_lock lock(mutex_);
  ++running_;
  bool any = false;
  for (const int place : places) {
    if (!frames_[size_t(place)].accelerated()) continue;
    any = true;
    end_frame(lock, place);
  }
  end_task(lock, any);
}

// On any thread.
void Scheduler::failed(const Status &why) {
  {
    std::lock_guard lock(mutex_);
    failure_ = why;
    halted_ = true;
    event_.notify_all();
  }
  if (progress_) progress_();
}

// The one that began to wait last: its processor sleeps least deeply.
Scheduler::Worker *Scheduler::rouse() {
  if (idle_.empty()) return nullptr;
  Worker *const worker = workers_[size_t(idle_.back())].get();
  idle_.pop_back();
  worker->woken = true;
  return worker;
}

// Without the lock: it is the first thing that a woken thread takes.
void Scheduler::ring(Worker *worker) {
  if (worker) worker->woken_up.notify_one();
}

void Scheduler::wake_all() {
  while (Worker *worker = rouse()) ring(worker);
}

// Whether there is a task for one that is idle.
bool Scheduler::wants_worker() const {
  if (idle_.empty() || stopping_ || halted_) return false;
  if (begun_ < submitted_ && !free_.empty()) return true;
  return std::any_of(active_.begin(), active_.end(),
                     [&](int frame) { return frames_[size_t(frame)].has_task(); });
}

bool Scheduler::take(int &frame, Task &task) {
  if (stopping_ || halted_) return false;
  // Whoever waits for one frame alone wants it soon.
  const bool in_a_hurry = threads_ > 1 && active_.size() + (submitted_ - begun_) <= 1;
  for (const int candidate : active_)
    if (frames_[size_t(candidate)].take(task, in_a_hurry)) {
      frame = candidate;
      return true;
    }
  if (begun_ == submitted_ || free_.empty()) return false;
  frame = free_.back();
  free_.pop_back();
  active_.push_back(frame);
  frames_[size_t(frame)].begin(begun_, slot(begun_).pictures, slot(begun_).sums.get());
  ++begun_;
  pass_measured();
  return frames_[size_t(frame)].take(task, in_a_hurry);
}

void Scheduler::pass_measured() {
  while (begun_ < submitted_ && slot(begun_).measured) ++begun_;
}

// All tasks are done; what is left is the worker's who did the last one.
void Scheduler::end_frame(std::unique_lock<std::mutex> &lock, int frame) {
  FrameWork &work = frames_[size_t(frame)];
  Slot &s = slot(work.index());
  lock.unlock();
  work.add_up();
  // The pictures go back before the score is seen: whoever waits for it may want the memory.
  s.pictures.clear();
  lock.lock();
  active_.erase(std::find(active_.begin(), active_.end(), frame));
  free_.push_back(frame);
  s.measured = true;
  ++measured_;
}

// ---- Owner ------------------------------------------------------------------------------------------------

void Scheduler::drop_work() {
  frames_.clear();
  active_.clear();
  free_.clear();
}

void Scheduler::close() {
  clear();
  accelerator_.reset();
  std::lock_guard lock(mutex_);
  open_ = halted_ = false;
  failure_ = Status();
  drop_work();
  layout_.reset();  // metrics let go of their files, which the next layout may want
}

bool Scheduler::configure(std::unique_ptr<FrameLayout> layout, bool measure_times,
                          std::unique_ptr<Accelerator> accelerator) {
  if (accelerator)
    accelerator->on_events([this](std::span<const int> places) { accelerated(places); },
                           [this](const Status &why) { failed(why); });
  std::lock_guard lock(mutex_);
  layout_ = std::move(layout);
  accelerator_ = std::move(accelerator);
  timed_ = measure_times;
  // Old memory first: there may not be enough for both.
  slots_.clear();
  if (!allocate_work()) return false;
  // An accelerator may have to leave all frames to the workers.
  const int busy = std::max(int(frames_.size()), accelerator_ ? threads_ : 0);
  slots_.resize(size_t(std::max(slots_of_workers_ - threads_ + busy, 1)));
  for (Slot &s : slots_) {
    if ((s.sums = allocate(layout_->sums_bytes())) == nullptr) return false;
    s.pictures = FramePictures(layout_->distorted());
  }
  history_ = FramePictures(layout_->distorted());
  open_ = true;
  return true;
}

// What workers and frames in progress need for the layout.
bool Scheduler::allocate_work() {
  for (Memory &m : scratch_) m.reset();
  drop_work();
  const uint64_t workers = times(layout_->scratch_bytes(), uint64_t(threads_));
  const uint64_t frame = layout_->frame_bytes();
  needed_ = plus(workers, frame);
  const uint64_t machine = physical_memory();
  if (needed_ > machine) return false;
  for (Memory &m : scratch_)
    if ((m = allocate(layout_->scratch_bytes())) == nullptr) return false;
  // As many frames as are of use, if they take no more than half of the machine; with fewer, workers may have to wait.
  const int most = accelerator_ ? accelerator_->places() : layout_->useful_frames(threads_);
  frames_.reserve(size_t(most));
  for (int i = 0; i < most; ++i) {
    if (i > 0 && plus(workers, times(frame, uint64_t(i + 1))) > machine / 2) break;
    FrameWork work(*layout_, accelerator_.get(), i);
    if (!work.allocate()) break;
    frames_.push_back(std::move(work));
  }
  if (frames_.empty()) return false;
  active_.reserve(frames_.size());
  free_.reserve(frames_.size());
  for (int i = int(frames_.size()); i > 0; --i) free_.push_back(i - 1);
  times_.clear();
  times_.emplace_back(2);  // unpacking, scaling
  for (size_t i = 0; i < layout_->chains(); ++i) times_.emplace_back(layout_->stages(i));
  times_.emplace_back(1);  // starting the accelerator
  return true;
}

Status Scheduler::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

bool Scheduler::can_resume() const {
  std::lock_guard lock(mutex_);
  return halted_ && !lost();
}

bool Scheduler::has_lost_frames() const {
  std::lock_guard lock(mutex_);
  return lost();
}

std::unique_ptr<FrameLayout> Scheduler::withdraw() {
  {
    std::unique_lock lock(mutex_);
    event_.wait(lock, [&] { return running_ == 0; });
  }
  accelerator_.reset();  // frames that it has measured meanwhile still end
  std::lock_guard lock(mutex_);
  drop_work();
  return std::move(layout_);
}

bool Scheduler::resume(std::unique_ptr<FrameLayout> layout, const Status &lost) {
  std::vector<FramePictures> drop;  // pictures are let go without the lock
  lost_ = lost;
  {
    std::lock_guard lock(mutex_);
    layout_ = std::move(layout);
    if (!allocate_work()) {
      failure_ = Status(Code::resource, "there is not enough memory to go on without the GPU");
      drop_work();
      return false;
    }
    halted_ = false;
    failure_ = Status();
    begun_ = released_;
    while (begun_ < submitted_ && (slot(begun_).measured || layout_->readable(begun_, slot(begun_).pictures)))
      ++begun_;
    if (begun_ < submitted_) {
      failure_ = lost;
      finished_ = true;
      drop.push_back(std::exchange(history_, FramePictures(layout_->distorted())));
    }
    for (uint64_t frame = begun_; frame < submitted_; ++frame) {
      drop.push_back(std::exchange(slot(frame).pictures, FramePictures(layout_->distorted())));
      slot(frame).measured = false;
    }
    submitted_ = begun_;
    begun_ = released_;
    measured_ = released_;
    for (uint64_t frame = released_; frame < submitted_; ++frame) measured_ += slot(frame).measured;
    pass_measured();
    wake_all();
  }
  return true;
}

void Scheduler::refuse(const Status &why) {
  finish();
  std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = why;
}

bool Scheduler::submit(Picture ref, std::span<Picture> dist) {
  {
    std::lock_guard lock(mutex_);
    if (!takes_frames() || dist.size() != slot(submitted_).pictures.dist.size()) return false;
  }
  // Only this thread takes room, and no worker looks at the slot yet. Pictures are let go without the lock.
  const bool measures = layout_->measures(submitted_);
  const Reads &reads = layout_->holds(submitted_);
  FramePictures &pictures = slot(submitted_).pictures;
  for (size_t i = 0; i < 2; ++i)
    if (reads.earlier[i]) pictures.earlier[i] = history_.earlier[i];
  if (reads.earlier[1]) history_.earlier[1] = std::move(history_.earlier[0]);
  if (reads.earlier[0] || reads.earlier[1])
    history_.earlier[0] = layout_->read_later(ref, true) ? ref : Picture();
  if (reads.ref) pictures.ref = std::move(ref);
  for (size_t i = 0; i < dist.size(); ++i) {
    if (reads.earlier_dist) {
      Picture later = layout_->read_later(dist[i], false) ? dist[i] : Picture();
      pictures.earlier_dist[i] = std::exchange(history_.earlier_dist[i], std::move(later));
    }
    if (reads.dist) pictures.dist[i] = std::move(dist[i]);
    dist[i] = Picture();
  }
  // Earlier ones may have been the accelerator's, before it failed.
  if (!layout_->readable(submitted_, pictures)) {
    pictures.clear();
    refuse(lost_);
    return false;
  }
  Worker *next = nullptr;
  {
    std::lock_guard lock(mutex_);
    slot(submitted_++).measured = !measures;
    if (measures) {
      next = rouse();
    } else {
      ++measured_;
      pass_measured();
    }
  }
  ring(next);
  return true;
}

void Scheduler::finish() {
  history_.clear();
  std::lock_guard lock(mutex_);
  finished_ = true;
  event_.notify_all();
}

void Scheduler::clear() {
  std::vector<FramePictures> drop;  // pictures are let go without the lock
  for (const Slot &s : slots_) drop.emplace_back(int(s.pictures.dist.size()));
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    event_.wait(lock, [&] { return running_ == 0; });
  }
  if (accelerator_) accelerator_->clear();
  {
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < slots_.size(); ++i) {
      std::swap(drop[i], slots_[i].pictures);
      slots_[i].measured = false;
    }
    for (const int frame : active_) free_.push_back(frame);
    active_.clear();
    submitted_ = begun_ = released_ = measured_ = 0;
    finished_ = stopping_ = false;
    if (!halted_) failure_ = Status();
  }
  history_.clear();
}

const std::byte *Scheduler::measured(uint64_t frame) const {
  std::lock_guard lock(mutex_);
  return frame < submitted_ && slot(frame).measured ? slot(frame).sums.get() : nullptr;
}

void Scheduler::release(uint64_t frame) {
  std::lock_guard lock(mutex_);
  for (; released_ < frame; ++released_) slot(released_).measured = false;
}

bool Scheduler::call_at(int frames) {
  std::lock_guard lock(mutex_);
  call_at_ = uint64_t(frames);
  return measured_ == released_ || !is_progress();
}

bool Scheduler::wait(uint64_t frame) {
  std::unique_lock lock(mutex_);
  event_.wait(lock, [&] { return interrupted_ || halted_ || slot(frame).measured; });
  return !interrupted_;
}

uint64_t Scheduler::submitted() const {
  std::lock_guard lock(mutex_);
  return submitted_;
}

bool Scheduler::finished() const {
  std::lock_guard lock(mutex_);
  return finished_;
}

uint64_t Scheduler::used_bytes() const {
  std::lock_guard lock(mutex_);
  if (!layout_) return 0;
  uint64_t bytes =
      times(layout_->scratch_bytes(), scratch_.size()) + times(layout_->sums_bytes(), slots_.size());
  for (const FrameWork &frame : frames_) bytes = plus(bytes, frame.used_bytes());
  return bytes;
}

double Scheduler::stage_seconds(size_t chain, size_t stage) const {
  std::lock_guard lock(mutex_);
  return double(times_[chain][stage]) * 1e-9;
}

bool Scheduler::has_room() const {
  std::lock_guard lock(mutex_);
  return takes_frames();
}

void Scheduler::interrupt(bool on) {
  std::lock_guard lock(mutex_);
  interrupted_ = on;
  event_.notify_all();
}

}  // namespace vmafhip
