#include "tests/hipsim/executor.h"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/hipsim/block.h"
#include "tests/hipsim/hip_abi.h"
#include "tests/hipsim/settings.h"
#include "tests/hipsim/signals.h"
#include "tests/hipsim/thread_memory.h"

namespace hipsim {
namespace {

// The threads of the system that run blocks, and what they work on.
class Pool {
 public:
  explicit Pool(unsigned threads) {
    watch_signals();
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread &thread : threads_) thread.join();
    unwatch_signals();
  }

  pid_t process() const { return process_; }
  unsigned threads() const { return static_cast<unsigned>(threads_.size()); }

  std::optional<Fault> run(const Launch &launch) {
    std::unique_lock lock(mutex_);
    launch_ = &launch;
    next_block_ = 0;
    fault_.reset();
    idle_ = 0;
    ++round_;
    changed_.notify_all();
    done_.wait(lock, [this] { return idle_ == threads_.size(); });
    launch_ = nullptr;
    return std::move(fault_);
  }

 private:
  void work() {
    const SignalStack signal_stack;
    Block block;
    uint64_t round = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ended_ || round != round_; });
      if (ended_) return;
      round = round_;
      const Launch &launch = *launch_;
      std::vector<Span> spans = spans_[launch.kernel];
      lock.unlock();
      std::optional<Fault> fault = run_blocks(block, launch, spans);
      lock.lock();
      spans_[launch.kernel] = unite(std::move(spans_[launch.kernel]), std::move(spans));
      if (fault && !fault_) fault_ = std::move(fault);
      if (++idle_ == threads_.size()) done_.notify_all();
    }
  }

  // `spans`: which parts of the thread's memory (GPU_SHARED) this kernel is known to use.
  std::optional<Fault> run_blocks(Block &block, const Launch &launch, std::vector<Span> &spans) {
    block.launch = &launch;
    block.warp_size = settings().warp_size;
    block.reverse = settings().reverse;
    block.fault.reset();
    range_cache = {};
    const uint64_t count = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    ThreadMemory memory;
    bool first = true;
    for (;;) {
      uint64_t i = next_block_.fetch_add(1);
      if (i >= count) return std::nullopt;
      if (block.reverse) i = count - 1 - i;
      block.index = {static_cast<unsigned>(i % launch.grid.x),
                     static_cast<unsigned>(i / launch.grid.x % launch.grid.y),
                     static_cast<unsigned>(i / (uint64_t{launch.grid.x} * launch.grid.y))};
      if (first)
        memory.fill_all();
      else
        memory.fill(spans);
      run_block(block);
      if (first && !block.fault) {
        spans = unite(std::move(spans), memory.changed());
        if (const size_t bytes = memory.changed_bytes(); bytes > kMostSharedBytes)
          block.fault =
              Fault{kErrorLaunchFailure, std::string("kernel ") + launch.kernel->name + ": a block uses " +
                                             std::to_string(bytes) + " bytes of GPU_SHARED, " +
                                             std::to_string(kMostSharedBytes) + " are the most"};
      }
      first = false;
      if (block.fault) {
        next_block_ = count;
        return std::move(block.fault);
      }
    }
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable changed_, done_;
  const Launch *launch_ = nullptr;
  std::atomic<uint64_t> next_block_{0};
  uint64_t round_ = 0;
  size_t idle_ = 0;
  bool ended_ = false;
  std::optional<Fault> fault_;
  std::map<const Kernel *, std::vector<Span>> spans_;
  std::vector<std::thread> threads_;
};

// Ended by stop_executor(), after static objects are gone.
Pool *pool = nullptr;

}  // namespace

std::optional<Fault> run(const Launch &launch) {
  if (pool && pool->threads() != settings().threads) stop_executor();
  if (!pool) pool = new Pool(settings().threads);
  return pool->run(launch);
}

void stop_executor() {
  // A copy of this process by fork() has none of its threads.
  if (pool && pool->process() == getpid()) delete pool;
  pool = nullptr;
}

}  // namespace hipsim
