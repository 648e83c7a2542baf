// What this process takes of the machine: from /proc and getrusage().
#include "examples/monitor/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace monitor {

Process read_process() {
  Process process;
  uint64_t pages = 0, resident = 0;
  if (std::ifstream("/proc/self/statm") >> pages >> resident) {
    process.resident_bytes = resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  std::error_code error;
  uint64_t fds = 0;
  for (std::filesystem::directory_iterator file("/proc/self/fd", error), end; !error && file != end;
       file.increment(error)) {
    ++fds;
  }
  if (!error && fds > 0) process.open_fds = fds - 1;  // one is that of the listing itself
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  process.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return process;
}

}  // namespace monitor
