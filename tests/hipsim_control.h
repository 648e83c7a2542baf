// The simulated runtime as tests use it: how it behaves, what it found, what is left.
#pragma once
#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tests/hipsim/control.h"

namespace vmafhip::test {

// Of the library that VMAFHIP_HIP_LIBRARY names, tests/hipsim/control.h.
class HipSim {
 public:
  HipSim() : library_(open()) {}

  // What was found; the device works again, and nothing is to fail.
  void forget() { call<void()>("hipsim_reset")(); }
  // Everything as it was at the beginning, and then `settings`. Warps and schedule stay those that the test runs with.
  void reset(const std::string &settings = "") {
    forget();
    configure("streams=lazy devices=1 memory=2G external=amdgpu batch=yes " + settings);
  }
  void configure(const std::string &settings) {
    if (!call<bool(const char *)>("hipsim_configure")(settings.c_str()))
      throw std::invalid_argument("hipsim: " + settings);
  }
  unsigned leaks() const { return call<unsigned()>("hipsim_leaks")(); }
  // The last of what the checks found; "" for nothing.
  std::string reports() const {
    return call<unsigned()>("hipsim_reports")() == 0 ? "" : call<const char *()>("hipsim_last_report")();
  }
  hipsim_imports imports() const { return call<hipsim_imports()>("hipsim_get_imports")(); }
  hipsim_traffic traffic() const { return call<hipsim_traffic()>("hipsim_get_traffic")(); }

 private:
  static void *open() {
    const char *path = std::getenv("VMAFHIP_HIP_LIBRARY");
    void *library = path ? ::dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) throw std::runtime_error("VMAFHIP_HIP_LIBRARY does not name the simulated runtime");
    return library;
  }
  template <class Function>
  Function *call(const char *name) const {
    void *symbol = ::dlsym(library_, name);
    if (!symbol) throw std::runtime_error(std::string("the simulated runtime has no ") + name);
    return reinterpret_cast<Function *>(symbol);
  }
  void *library_;
};

}  // namespace vmafhip::test
