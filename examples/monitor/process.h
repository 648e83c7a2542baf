// What this process takes of the machine, as Prometheus' conventions name it.
#pragma once
#include <cstdint>
#include <optional>

namespace monitor {

struct Process {
  std::optional<uint64_t> resident_bytes, open_fds;
  double cpu_seconds = 0;
};
Process read_process();

}  // namespace monitor
