#include "tools/bench_process.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace vmafhip::bench {

uint64_t peak_rss_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    unsigned long long kib = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %llu", &kib) == 1) return kib;
  }
  return 0;
}

void forget_peak_rss() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

double others_busy_seconds() {
  uint64_t all = 0;
  std::error_code error;
  for (const auto &thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (thread.path().filename() == std::to_string(gettid())) continue;
    uint64_t ran = 0, waited = 0;  // ns
    std::ifstream(thread.path() / "schedstat") >> ran >> waited;
    all += ran + waited;
  }
  return double(all) * 1e-9;
}

}  // namespace vmafhip::bench
