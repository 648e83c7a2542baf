// What both loaders share: a library, opened by the first of several names, and the functions in it.
#pragma once
#include <span>
#include <string>

#include "engine/hip/runtime.h"

namespace vmafhip::hip {

class Library {
 public:
  // The first of `names` that opens. It stays open: drivers start threads and do not survive being unloaded.
  static Result<Library> open(std::span<const char *const> names);

  const std::string &name() const { return name_; }
  // Looks `name` up; null where there is none.
  template <class Function>
  bool find(const char *name, Function *&function) const {
    function = reinterpret_cast<Function *>(address(name));
    return function != nullptr;
  }
  // As find(), and remembers the first that is missing.
  template <class Function>
  void need(const char *name, Function *&function) {
    if (!find(name, function) && missing_.empty()) missing_ = name;
  }
  // ok() if nothing that was needed is missing.
  Status complete() const;

 private:
  Library(void *handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void *address(const char *name) const;
  void *handle_;
  std::string name_, missing_;
};

// HIP's, which NVIDIA's contexts take the place of.
struct CurrentDeviceFunctions {
  int (*hipGetDevice)(int *device) = nullptr;
  int (*hipSetDevice)(int device) = nullptr;
};

// The last element of `extra`.
inline void *const kAmdLaunchEnd = reinterpret_cast<void *>(3);

Result<const Api *> open_amd(std::span<const char *const> names);
Result<const Api *> open_nvidia();

// "finds no GPU (hipErrorNoDevice)" or "hipInit() fails with hipErrorNotInitialized", after the library's name.
Status cannot_start(const Api &api, const char *call, int error);

}  // namespace vmafhip::hip
