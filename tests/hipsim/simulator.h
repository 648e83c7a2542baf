// The simulated GPU as tests see it: what control.h offers, found in the library that VMAFHIP_HIP_LIBRARY names.
#pragma once
#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tests/hipsim/control.h"

namespace vmafhip::test {

struct Simulator {
  decltype(&hipsim_configure) configure = nullptr;
  decltype(&hipsim_reports) reports = nullptr;
  decltype(&hipsim_last_report) last_report = nullptr;
  decltype(&hipsim_leaks) leaks = nullptr;
  decltype(&hipsim_reset) reset = nullptr;
};

// Opens the library if nobody has yet. Throws where it is no simulated runtime.
inline const Simulator &simulator() {
  static const Simulator simulator = [] {
    const char *path = std::getenv("VMAFHIP_HIP_LIBRARY");
    if (!path || !*path)
      throw std::runtime_error("VMAFHIP_HIP_LIBRARY names no library; run this test by meson test");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    Simulator found;
    const auto find = [&](const char *name, auto &function) {
      void *address = dlsym(library, name);
      if (!address)
        throw std::runtime_error(std::string(path) + " is no simulated runtime: it has no " + name);
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    };
    find("hipsim_configure", found.configure);
    find("hipsim_reports", found.reports);
    find("hipsim_last_report", found.last_report);
    find("hipsim_leaks", found.leaks);
    find("hipsim_reset", found.reset);
    return found;
  }();
  return simulator;
}

}  // namespace vmafhip::test
