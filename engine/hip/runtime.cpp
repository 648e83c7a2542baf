#include "engine/hip/runtime.h"

#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "engine/hip/loader.h"
#include "engine/text.h"

namespace vmafhip::hip {
namespace {

// The soname changed with ROCm's major version. Packages of ROCm do not always tell the linker about their folder.
constexpr std::array kAmdNames = {
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "/opt/rocm/lib/libamdhip64.so.7",
    "/opt/rocm/lib/libamdhip64.so.6",
    "/opt/rocm/lib/libamdhip64.so.5",
};

std::atomic<bool> parent_had_gpu{false};

struct Opened {
  std::mutex mutex;
  std::map<std::string, const Api *> libraries;  // by path; vendors' own by their names
};
// Never destroyed: sessions may outlive static objects.
Opened &opened() {
  static Opened *const opened = new Opened;
  return *opened;
}

}  // namespace

const char *name_of(Vendor vendor) { return vendor == Vendor::amd ? "AMD" : "NVIDIA"; }

std::vector<Source> sources() {
  // Not from a program with more rights than its user: it would run the user's code.
  const char *path = ::secure_getenv("VMAFHIP_HIP_LIBRARY");
  if (path && *path) return {{Vendor::amd, path}};
  return {{Vendor::amd, {}}, {Vendor::nvidia, {}}};
}

Result<const Api *> open_runtime(const Source &source) {
  static const int watching = ::pthread_atfork(nullptr, nullptr, [] { parent_had_gpu = true; });
  (void)watching;  // without memory for the handler a forked child meets the runtime's own errors
  Opened &all = opened();
  const std::lock_guard lock(all.mutex);
  const std::string key = source.path.empty() ? name_of(source.vendor) : source.path;
  if (const auto known = all.libraries.find(key); known != all.libraries.end()) return known->second;
  const char *const path = source.path.c_str();
  Result<const Api *> api = !source.path.empty()           ? open_amd({&path, 1})
                            : source.vendor == Vendor::amd ? open_amd(kAmdNames)
                                                           : open_nvidia();
  if (api.ok()) all.libraries[key] = *api;
  return api;
}

bool forked() { return parent_had_gpu.load(std::memory_order_relaxed); }

Result<Library> Library::open(std::span<const char *const> names) {
  // Of a library that is there and does not open, the reason is worth more than that others are not there.
  std::string reason;
  bool absent = true;
  for (const char *name : names) {
    if (void *handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return Library(handle, name);
    const char *error = ::dlerror();
    const std::string text = error ? error : name;
    const bool this_absent =
        text.starts_with(std::string(name) + ": cannot open shared object file: No such file");
    if (reason.empty() || (absent && !this_absent)) {
      reason = text;
      absent = this_absent;
    }
  }
  std::string text = absent && names.size() > 1
                         ? "none of " + join({names.begin(), names.end()}) + " is there"
                         : std::string(names.size() > 1 ? "no library opens: " : "") + reason;
  return Status(Code::resource, std::move(text));
}

void *Library::address(const char *name) const { return ::dlsym(handle_, name); }

Status Library::complete() const {
  if (missing_.empty()) return {};
  return {Code::resource, name_ + " has no function " + missing_};
}

int Api::upload(std::span<const Upload> copies, void *stream) const {
  if (copies.size() > 1 && copy_together) {
    const int error = copy_together(copies.data(), copies.size(), stream);
    if (error != kErrorNotSupported) return error;
    hipGetLastError();  // which others in this process would take for theirs
  }
  for (const Upload &copy : copies) {
    const int error = copy.rows == 1
                          ? hipMemcpyAsync(copy.to, copy.from, copy.width, kCopyHostToDevice, stream)
                          : hipMemcpy2DAsync(copy.to, copy.to_stride, copy.from, copy.from_stride, copy.width,
                                             copy.rows, kCopyHostToDevice, stream);
    if (error != 0) return error;
  }
  return 0;
}

Status cannot_start(const Api &api, const char *call, int error) {
  const char *name = api.hipGetErrorName(error);
  const std::string known = name ? name : "error " + std::to_string(error);
  // ROCm 5 says the second.
  if (error == kErrorNoDevice || error == kErrorInvalidDevice)
    return {Code::resource, api.library + " finds no GPU (" + known + ")"};
  return {Code::resource, api.library + ": " + call + " fails with " + known};
}

}  // namespace vmafhip::hip
