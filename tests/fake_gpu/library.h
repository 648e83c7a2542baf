// Opening the drivers that do nothing.
#pragma once
#include <dlfcn.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/fake_gpu/fake_gpu.h"
#include "tests/scratch_folder.h"

namespace vmafhip::test {

inline FakeGpu *open_fake(const std::string &path) {
  void *const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    ADD_FAILURE() << ::dlerror();
    return nullptr;
  }
  return reinterpret_cast<FakeGpu *(*)()>(::dlsym(library, "fake_gpu"))();
}

// A fresh copy of libamdhip64 that does nothing, which VMAFHIP_HIP_LIBRARY names: what is opened once in a process is
// opened anew in each test.
class FakeHip {
 public:
  FakeHip() {
    std::filesystem::copy_file(VMAFHIP_FAKES "/libfake_hip.so", path_);
    gpu_ = open_fake(path_);
    ::setenv("VMAFHIP_HIP_LIBRARY", path_.c_str(), 1);
  }
  ~FakeHip() { ::unsetenv("VMAFHIP_HIP_LIBRARY"); }
  FakeHip(const FakeHip &) = delete;

  FakeGpu *operator->() const { return gpu_; }
  FakeGpu &operator*() const { return *gpu_; }
  const std::string &path() const { return path_; }

 private:
  const ScratchFolder folder_;
  const std::string path_ = folder_.path("libfake.so");
  FakeGpu *gpu_ = nullptr;
};

}  // namespace vmafhip::test
