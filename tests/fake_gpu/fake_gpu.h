// Drivers that do nothing and remember everything, for what a working one cannot show: which functions are called with
// what, in which order, how often something is freed, and what happens when any of them fails.
//
// Handles and addresses are numbers that nothing lies at. The libraries are hip.cpp (libamdhip64's functions) and
// cuda.cpp (libcuda's); a test opens one and takes its FakeGpu.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

struct FakeGpu {
  // What tests set. Functions fail from their (n+1)th call on with an error.
  int devices = 1;
  std::string device_name = "Fake";
  int warp_size = 32, major = 11, minor = 5;
  bool brings_images = true;  // of vmafhip_kernel_image()
  bool keeps_log = true;
  struct Failure {
    int calls_before = 0, error = 0;
  };
  std::map<std::string, Failure> failures;
  int version = 60'000'000;  // of HIP
  int lost = 0;              // not 0: everything fails with it
  // What is known of addresses that others have allocated.
  struct Pointer {
    int device = 0;
    uint64_t context = 0;
    int access = 0;  // -1: it is not told
  };
  std::map<uint64_t, Pointer> pointers;

  // What tests read.
  std::vector<std::string> log;     // "function(argument, ...)"; what is returned by pointer is not shown
  std::map<std::string, int> live;  // objects of a kind
  std::vector<std::string> wrong;   // freed twice or never made
  std::string arguments;            // of the last launch
  int imported = -1;                // the last descriptor
  std::map<int, int> contexts;      // how often each device's is retained
  // Of the calling thread. Virtual, for each library has its own.
  virtual uint64_t &current() {
    static thread_local uint64_t device_or_context = 0;
    return device_or_context;
  }
  virtual int &last_error() {
    static thread_local int error = 0;
    return error;
  }

  // Notes a call; the error that it has to return.
  template <class... Arguments>
  int call(const char *function, const Arguments &...arguments) {
    const std::lock_guard lock(mutex);
    if (keeps_log) {
      std::ostringstream text;
      text << function << "(";
      [[maybe_unused]] const char *comma = "";
      (..., (text << comma << arguments, comma = ", "));
      log.push_back(text.str() + ")");
    }
    int error = lost;
    if (!failures.empty())
      if (const auto failure = failures.find(function); failure != failures.end())
        if (failure->second.calls_before-- <= 0) error = failure->second.error;
    if (error != 0) last_error() = error;
    return error;
  }
  // A new handle, a multiple of 4096.
  void *make(const char *kind) {
    const std::lock_guard lock(mutex);
    next_ += 4096;
    handles_[next_] = kind;
    ++live[kind];
    return reinterpret_cast<void *>(next_);
  }
  // `handle` is no longer.
  void destroy(const char *kind, uint64_t handle) {
    const std::lock_guard lock(mutex);
    const auto known = handles_.find(handle);
    if (known == handles_.end() || known->second != kind) {
      wrong.push_back(std::string(kind) + " freed that there is not");
      return;
    }
    handles_.erase(known);
    --live[kind];
  }
  void destroy(const char *kind, const void *handle) { destroy(kind, reinterpret_cast<uint64_t>(handle)); }
  // All objects that are there.
  int total() {
    const std::lock_guard lock(mutex);
    return static_cast<int>(handles_.size());
  }
  // What was called since the last time.
  std::vector<std::string> take_log() {
    const std::lock_guard lock(mutex);
    return std::exchange(log, {});
  }

 private:
  std::mutex mutex;
  std::map<uint64_t, std::string> handles_;
  uint64_t next_ = 0;
};

// Numbers that are not zero in a descriptor of external memory but should be.
template <class Descriptor>
int odd_words(const Descriptor &descriptor) {
  int count = 0;
  for (unsigned word : descriptor.reserved) count += word != 0;
  return count;
}

#define FAKE_GPU_API extern "C" __attribute__((visibility("default")))
FAKE_GPU_API FakeGpu *fake_gpu();
