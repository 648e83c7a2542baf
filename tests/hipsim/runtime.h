// What the functions of the ABI work on: live objects, checked handles, and the errors that the checks found.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/hipsim/executor.h"
#include "tests/hipsim/hip_abi.h"
#include "tests/hipsim/memory.h"
#include "tests/hipsim/settings.h"
#include "tests/hipsim/streams.h"

namespace hipsim {

struct Module;

struct Function {
  Module *module = nullptr;
  const Kernel *kernel = nullptr;
};

struct Module {
  const Image *image = nullptr;
  std::unordered_map<const Kernel *, std::unique_ptr<Function>> functions;
};

// Objects by the handles that the ABI gives out.
template <class T>
using Handles = std::unordered_map<const void *, std::unique_ptr<T>>;

template <class T>
T *find(const Handles<T> &handles, const void *handle) {
  const auto found = handles.find(handle);
  return found == handles.end() ? nullptr : found->second.get();
}
template <class T>
T *add(Handles<T> &handles) {
  auto object = std::make_unique<T>();
  T *const raw = object.get();
  handles[raw] = std::move(object);
  return raw;
}

// Imported by its descriptor, and what is mapped of it.
struct External {
  int fd = -1;
  uint64_t bytes = 0, device_number = 0, inode = 0;
  int device = 0;
  std::vector<const void *> mapped;
};

struct Runtime {
  std::mutex mutex;
  Queue queue;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Module> modules;
  Handles<External> external;
  // Ranges of pinned memory that queued copies will read.
  std::unordered_map<const void *, std::pair<uint64_t, uint64_t>> pending_reads;

  // hipsim_traffic of control.h.
  struct {
    std::atomic<uint64_t> uploads{0}, upload_bytes{0}, downloads{0}, download_bytes{0}, waits{0}, batches{0};
  } traffic;
  // hipsim_imports of control.h.
  struct {
    std::atomic<uint64_t> imported{0}, destroyed{0}, refused{0};
  } imports;

  // What a kernel or a copy did wrong: the device is unusable from then on, as a real one is.
  std::atomic<int> device_error{0};
  std::atomic<unsigned> reports{0};
  std::string last_report;

  Function *find_function(const void *handle);
  // Waits for all streams.
  void drain(Lock &lock);
};

// Never destroyed: programs release things late.
Runtime &runtime();

// Tells on stderr and counts; the result is `error`.
int report(int error, const std::string &text);
// As above for what is done later: the device does not work any more.
void report_in_work(int error, const std::string &text);

// What is alive, one line a kind; empty: nothing.
std::string leaks(unsigned *count);

}  // namespace hipsim
