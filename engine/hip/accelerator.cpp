#include "engine/hip/accelerator.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/hip/capacity.h"
#include "engine/hip/lanes.h"
#include "engine/hip/ring.h"
#include "engine/hip/upload_memory.h"
#include "engine/memory.h"

namespace vmafhip::hip {
namespace {

// A frame that takes longer may as well take the time to wake somebody.
constexpr auto kAwake = std::chrono::microseconds(300);

class HipAccelerator final : public Accelerator {
 public:
  // Throws DeviceError.
  HipAccelerator(std::shared_ptr<const Device> device, const HipBackend::Work &work,
                 const Capacity &capacity);
  ~HipAccelerator() override;

  int places() const override { return capacity_.places; }
  std::byte *upload_memory(int place) override;
  uint64_t device_bytes() const override {
    return plus(ring_->bytes(), times(lanes_->frames(), memory_bytes_ + results_bytes_));
  }
  uint64_t pinned_bytes() const override {
    return plus(upload_->pinned_bytes(), times(lanes_->frames(), results_bytes_));
  }
  void on_events(std::function<void(std::span<const int>)> measured,
                 std::function<void(const Status &)> failed) override {
    measured_ = std::move(measured);
    failed_ = std::move(failed);
  }
  void start(int place, const FrameView &view, std::byte *sums) override;
  void clear() override;

 private:
  struct Item {
    HipBackend::DeviceMetric metric;
    uint64_t sums_at = 0;
    bool every_frame = true;
    size_t memory_at = 0, results_at = 0;  // per frame of a full batch, and of a batch of one
    size_t stream = 0;
  };

  // No frame is measured any more.
  bool halted() const { return broken_ || clearing_; }
  uint64_t step() const { return every_frame_ ? 1 : work_.subsample; }
  bool scores(uint64_t frame) const { return frame % work_.subsample == 0; }

  bool gather();
  void pump(std::unique_lock<std::mutex> &lock);
  void enqueue(Lane &lane, uint64_t first);
  void add_frame(LaneFrames &to, uint64_t number, const Started &frame, size_t in_batch) const;
  const LaneFrames &frames_of(const Item &item, const Lane &lane) const {
    return item.every_frame == every_frame_ ? lane.all : lane.scored;
  }
  void collect(Lane &lane) const;
  static void wait_for(const Lane &lane, bool alone);
  void complete();
  void fail(const std::string &what);

  const std::shared_ptr<const Device> device_;
  const HipBackend::Work work_;
  const Capacity capacity_;
  std::vector<Item> items_;                        // in the order in which they begin
  bool every_frame_ = false;                       // an item needs it
  uint64_t memory_bytes_ = 0, results_bytes_ = 0;  // of a frame in a lane
  std::optional<UploadMemory> upload_;
  std::optional<Ring> ring_;
  std::optional<Lanes> lanes_;

  std::function<void(std::span<const int>)> measured_;
  std::function<void(const Status &)> failed_;

  std::mutex mutex_;
  std::condition_variable work_there_, idle_;
  // The device's frames by number, modulo their most: 0 for frame 0, 1 for the next one that an item measures.
  std::vector<Started> started_;
  Started &started(uint64_t number) { return started_[size_t(number % started_.size())]; }
  uint64_t next_upload_ = 0, next_batch_ = 0, measured_frames_ = 0;
  std::deque<Lane *> in_flight_;             // oldest first
  std::vector<const FrameView *> gathered_;  // by the thread that pumps
  bool pumping_ = false;                     // a thread puts work on streams
  bool telling_ = false;                     // the completion thread is not waiting for work
  bool broken_ = false, clearing_ = false, quit_ = false;
  std::once_flag told_;  // that it is broken
  std::thread completion_;
};

// ---- Memory -----------------------------------------------------------------------------------------------

HipAccelerator::HipAccelerator(std::shared_ptr<const Device> device, const HipBackend::Work &work,
                               const Capacity &capacity)
    : device_(std::move(device)), work_(work), capacity_(capacity) {
  const CurrentDevice current(*device_);
  std::array<double, 2> load{};
  for (const HipBackend::Item &item : work_.items) {
    Item added{item.metric, item.sums_at, item.every_frame, memory_bytes_, results_bytes_};
    memory_bytes_ += item.metric->frame_bytes();
    results_bytes_ += item.metric->result_bytes();
    every_frame_ |= item.every_frame;
    items_.push_back(std::move(added));
  }
  // Those that take long first, each to the stream that has less so far.
  std::ranges::stable_sort(items_, std::greater<>(), [](const Item &item) { return item.metric->cost(); });
  for (Item &item : items_) {
    item.stream = load[1] < load[0] ? 1 : 0;
    load[item.stream] += item.metric->cost() + 1;
  }

  upload_.emplace(*device_, aligned(work.upload_bytes), capacity_.places);
  ring_.emplace(*device_, *upload_, work_, capacity_.places);
  lanes_.emplace(*device_, Lanes::Sizes{memory_bytes_, results_bytes_, work_.distorted}, capacity_.lanes,
                 capacity_.batch);
  started_.resize(size_t(capacity_.places) + ring_->lookback());
  gathered_.reserve(size_t(capacity_.batch));
  completion_ = std::thread(&HipAccelerator::complete, this);
}

HipAccelerator::~HipAccelerator() {
  clear();
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  work_there_.notify_all();
  completion_.join();
}

// ---- Frames in --------------------------------------------------------------------------------------------

std::byte *HipAccelerator::upload_memory(int place) {
  std::byte *const memory = upload_->of(place);
  if (!memory) fail("there is no memory for pictures on their way to the GPU");
  return memory;
}

void HipAccelerator::start(int place, const FrameView &view, std::byte *sums) {
  std::unique_lock lock(mutex_);
  started(view.index / step()) = {true, place, &view, sums};
  pump(lock);
}

// The frames whose planes go up next, if it is time for them. Copies of many go faster than those of one: while others are
// under way it can wait for as many as a batch has. When these have arrived there is a batch that ends, and whoever
// waits for that comes here again.
bool HipAccelerator::gather() {
  gathered_.clear();
  size_t there = 0;
  while (there < size_t(capacity_.batch) && started(next_upload_ + there).there) ++there;
  if (there == 0 || (there < size_t(capacity_.batch) && ring_->is_sending())) return false;
  while (gathered_.size() < there && ring_->prepare(measured_frames_)) {
    Started &next = started(next_upload_ + gathered_.size());
    next.there = false;
    gathered_.push_back(next.view);
  }
  return !gathered_.empty();
}

// Puts on the streams what can be: planes of frames whose turn it is, then batches as long as lanes are free. One thread
// at a time; it sees what others bring meanwhile.
void HipAccelerator::pump(std::unique_lock<std::mutex> &lock) {
  if (pumping_) return;
  pumping_ = true;
  const CurrentDevice current(*device_);
  try {
    if (!current.ok()) {
      lock.unlock();
      current.check();
    }
    while (!halted()) {
      if (gather()) {
        const uint64_t first = next_upload_;
        lock.unlock();
        for (size_t i = 0; i < gathered_.size(); ++i) ring_->upload(first + i, *gathered_[i]);
        ring_->send();
        lock.lock();
        next_upload_ += gathered_.size();
      } else if (Lane *free = lanes_->take(next_upload_ - next_batch_)) {
        Lane &lane = *free;
        const uint64_t first = next_batch_;
        lane.batch.clear();
        for (; next_batch_ < next_upload_ && lane.batch.size() < lane.most; ++next_batch_)
          lane.batch.push_back(started(next_batch_));
        lock.unlock();
        enqueue(lane, first);
        lock.lock();
        in_flight_.push_back(&lane);
        work_there_.notify_one();
      } else {
        break;
      }
    }
  } catch (const std::exception &error) {  // DeviceError, or want of memory
    if (lock.owns_lock()) lock.unlock();
    fail(error.what());
    lock.lock();
  }
  pumping_ = false;
  idle_.notify_all();
}

// Without the lock. When it returns it has been told, whoever does it.
void HipAccelerator::fail(const std::string &what) {
  {
    const std::lock_guard lock(mutex_);
    broken_ = true;
  }
  std::call_once(told_, [&] { failed_(Status(Code::resource, device_->name() + ": " + what)); });
}

// ---- Batches ----------------------------------------------------------------------------------------------

void HipAccelerator::add_frame(LaneFrames &to, uint64_t number, const Started &frame, size_t in_batch) const {
  const size_t at = to.count++;
  to.numbers[at] = in_batch;
  DeviceFrame &f = to.frames[at];
  f = DeviceFrame();
  f.index = frame.view->index;
  f.ref = ring_->views(frame.view->ref, number, 0);
  for (uint64_t back = 1; back <= ring_->lookback(); ++back)
    if (number >= back) f.earlier[back - 1] = ring_->views(frame.view->earlier[back - 1], number - back, 0);
  const auto n = size_t(work_.distorted);
  for (size_t d = 0; d < n; ++d) {
    to.dist[at * n + d] = ring_->views(frame.view->dist[d], number, 1 + int(d));
    to.earlier_dist[at * n + d] = number > 0 && ring_->lookback() > 0
                                      ? ring_->views(frame.view->earlier_dist[d], number - 1, 1 + int(d))
                                      : DeviceViews{};
  }
  f.dist = std::span(to.dist).subspan(at * n, n);
  f.earlier_dist = std::span(to.earlier_dist).subspan(at * n, n);
}

void HipAccelerator::enqueue(Lane &lane, uint64_t first) {
  const size_t frames = lane.batch.size();
  lane.all.count = lane.scored.count = 0;
  for (size_t i = 0; i < frames; ++i) {
    add_frame(lane.all, first + i, lane.batch[i], i);
    if (every_frame_ && scores(lane.batch[i].view->index))
      add_frame(lane.scored, first + i, lane.batch[i], i);
  }
  const Stream &main = lane.streams[0], &side = lane.streams[1];
  const size_t results = results_bytes_ * frames;
  ring_->wait(main, lane.uploaded);
  main.clear(lane.results.address(), results);
  main.record(lane.cleared);
  side.wait(lane.cleared);
  for (const Item &item : items_) {
    const LaneFrames &measured = frames_of(item, lane);
    if (measured.count == 0) continue;
    const BatchMemory memory = {lane.memory.address() + int64_t(item.memory_at * lane.most),
                                lane.results.address() + int64_t(item.results_at * frames)};
    item.metric->enqueue(lane.streams[item.stream], std::span(measured.frames).first(measured.count), memory);
  }
  side.record(lane.joined);
  main.wait(lane.joined);
  main.download(lane.host_results.data(), address_cast<const std::byte>(lane.results.address()), results);
  main.record(lane.done);
}

void HipAccelerator::collect(Lane &lane) const {
  const size_t frames = lane.batch.size();
  for (const Item &item : items_) {
    const LaneFrames &measured = frames_of(item, lane);
    for (size_t i = 0; i < measured.count; ++i)
      item.metric->collect(
          measured.frames[i],
          lane.host_results.data() + item.results_at * frames + i * item.metric->result_bytes(),
          lane.batch[measured.numbers[i]].sums + item.sums_at);
  }
}

// ---- Frames out -------------------------------------------------------------------------------------------

// To sleep and be woken takes a third of the time that a frame does. Whoever has a single batch on the device waits for its
// scores, and a short one is waited for awake; while others follow it costs nothing to sleep.
void HipAccelerator::wait_for(const Lane &lane, bool alone) {
  const auto end = std::chrono::steady_clock::now() + kAwake;
  while (alone && !lane.done.done() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  lane.done.synchronize();
}

// The completion thread.
void HipAccelerator::complete() {
  const CurrentDevice current(*device_);
  std::vector<int> places;
  places.reserve(size_t(capacity_.batch));
  std::unique_lock lock(mutex_);
  for (;;) {
    work_there_.wait(lock, [&] { return quit_ || !in_flight_.empty(); });
    if (in_flight_.empty()) return;
    telling_ = true;
    Lane &lane = *in_flight_.front();
    const bool wanted = !halted(), alone = in_flight_.size() == 1;
    lock.unlock();
    places.clear();
    try {
      wait_for(lane, alone);
      if (wanted) {
        collect(lane);
        for (const Started &frame : lane.batch) places.push_back(frame.place);
      }
    } catch (const std::exception &error) {
      fail(error.what());
    }
    lock.lock();
    in_flight_.pop_front();
    measured_frames_ += lane.batch.size();
    lanes_->give_back(lane);
    pump(lock);
    if (halted()) places.clear();
    lock.unlock();
    if (!places.empty()) measured_(places);
    lock.lock();
    telling_ = false;
    idle_.notify_all();
  }
}

void HipAccelerator::clear() {
  const CurrentDevice current(*device_);
  std::unique_lock lock(mutex_);
  clearing_ = true;
  idle_.wait(lock, [&] { return !pumping_ && !telling_ && in_flight_.empty(); });
  // Copies that no batch waited for, and what a failure left on streams. Of a device that has gone, nothing.
  const auto drain = [&](const Stream &stream) {
    try {
      if (current.ok()) stream.synchronize();
    } catch (const DeviceError &) {  // it will do no more
    }
  };
  drain(ring_->stream());
  lanes_->for_each([&](const Lane &lane) {
    for (const Stream &stream : lane.streams) drain(stream);
  });
  std::fill(started_.begin(), started_.end(), Started());
  next_upload_ = next_batch_ = measured_frames_ = 0;
  ring_->clear();
  lanes_->give_back_all();
  clearing_ = false;
}

}  // namespace

Status status_of(const Device &device, const DeviceError &error) {
  if (!error.out_of_memory()) return Status(Code::unsupported, device.name() + ": " + error.what());
  return Status(Code::resource, device.name() +
                                    " has not enough memory: end other programs that use it, choose another "
                                    "one with `device`, or use backend=cpu (" +
                                    error.what() + ")");
}

Result<std::unique_ptr<Accelerator>> make_accelerator(std::shared_ptr<const Device> device,
                                                      HipBackend::Work work) {
  Capacity capacity = Capacity::of(work.format, work.distorted, work.threads, work.batch);
  Status status;
  uint64_t free = 0;
  const int users = std::max(1, device->users());
  do {
    const bool one_by_one = capacity.lanes == 1 && capacity.batch == 1,
               least = one_by_one && capacity.places == 2;
    if (is_beyond_share(work, capacity, users) && !one_by_one) continue;
    try {
      free = device->free_memory();
      // Half of it is left to decoders and whoever comes later.
      if (bytes_of(work, capacity).on_device > free / 2 && !least) continue;
      return std::unique_ptr<Accelerator>(std::make_unique<HipAccelerator>(device, work, capacity));
    } catch (const DeviceError &error) {
      status = status_of(*device, error);
      if (!error.out_of_memory()) return status;
    } catch (const std::system_error &) {
      return Status(Code::resource, "the system does not let a thread start that waits for the GPU");
    }
  } while (capacity.reduce(work.threads));
  const auto [on_device, pinned] = bytes_of(work, capacity);
  return Status(status.code(), "measuring these pictures takes at least " + in_units(on_device) +
                                   " on the GPU, of which " + in_units(free) + " are free, and " +
                                   in_units(pinned) + " of pinned memory; " + status.message());
}

}  // namespace vmafhip::hip
