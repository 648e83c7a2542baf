#include "tests/hipsim/runtime.h"

#include <unistd.h>

#include <cstdio>
#include <vector>

namespace hipsim {
namespace {

std::vector<const Image *> &images() {
  static auto *const images = new std::vector<const Image *>;
  return *images;
}

const pid_t process = getpid();

// Runs late, after the program's own objects are gone.
[[gnu::destructor]] void end() {
  if (getpid() != process) return;  // a copy by fork(), which owns nothing here
  stop_executor();
  unsigned count = 0;
  const std::string text = leaks(&count);
  if (count) std::fprintf(stderr, "hipsim: at the end these were not released:\n%s", text.c_str());
  if (settings().leaks_fatal && (count || runtime().reports)) {
    std::fflush(nullptr);
    _exit(23);
  }
}

}  // namespace

Registration::Registration(const Image &image) { images().push_back(&image); }

const Image *find_image(std::string_view stem) {
  for (const Image *image : images())
    if (stem == image->stem) return image;
  return nullptr;
}

bool is_image(const void *p) {
  for (const Image *image : images())
    if (p == image) return true;
  return false;
}

Runtime &runtime() {
  static Runtime *const runtime = new Runtime;
  return *runtime;
}

Function *Runtime::find_function(const void *handle) {
  for (const auto &[name, module] : modules)
    for (const auto &[kernel, function] : module->functions)
      if (function.get() == handle) return function.get();
  return nullptr;
}

void Runtime::drain(Lock &lock) {
  // Handles may come and go meanwhile.
  std::vector<WorkPointer> all;
  for (const auto &[handle, stream] : streams) all.push_back(stream->last);
  for (const WorkPointer &work : all) queue.finish(lock, work);
}

int report(int error, const std::string &text) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::fprintf(stderr, "hipsim: %s\n", text.c_str());
  runtime().last_report = text;
  ++runtime().reports;
  return error;
}

void report_in_work(int error, const std::string &text) {
  // What follows from the first is not told.
  int none = 0;
  if (runtime().device_error.compare_exchange_strong(none, error)) report(error, text);
}

std::string leaks(unsigned *count) {
  Runtime &r = runtime();
  const struct {
    size_t count;
    std::string name;
  } kinds[] = {
      {live_allocations(MemoryKind::device),
       "allocations of device memory, " + std::to_string(allocated_bytes(MemoryKind::device)) + " bytes"},
      {live_allocations(MemoryKind::pinned),
       "allocations of pinned memory, " + std::to_string(allocated_bytes(MemoryKind::pinned)) + " bytes"},
      {live_allocations(MemoryKind::registered), "registered pieces of host memory"},
      {r.streams.size(), "streams"},
      {r.events.size(), "events"},
      {r.modules.size(), "modules"},
      {r.external.size(), "imported objects"},
      {live_allocations(MemoryKind::external), "buffers of imported objects"},
  };
  std::string text;
  *count = 0;
  for (const auto &kind : kinds) {
    *count += static_cast<unsigned>(kind.count);
    if (kind.count) text += "  " + std::to_string(kind.count) + " " + kind.name + "\n";
  }
  return text;
}

}  // namespace hipsim
