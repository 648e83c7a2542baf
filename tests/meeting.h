// Threads of a test that have to meet.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace vmafhip::test {

// Opens for all when `count` have come; false if they do not come.
class Meeting {
 public:
  explicit Meeting(int count) : missing_(count) {}
  bool pass() {
    std::unique_lock lock(mutex_);
    if (--missing_ <= 0) all_.notify_all();
    return all_.wait_for(lock, std::chrono::seconds(30), [&] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  int missing_;
};

}  // namespace vmafhip::test
