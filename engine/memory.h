// Working memory as metrics want it: aligned, not cleared, and null instead of an exception.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

namespace vmafhip {

constexpr uint64_t kAlign = 64;  // cache line, widest vector

constexpr uint64_t aligned(uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

struct FreeMemory {
  void operator()(std::byte *p) const { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;

// Null if there is no memory. Pages cost nothing until they are written to.
inline Memory allocate(uint64_t bytes) {
  bytes = aligned(std::max(bytes, kAlign));
  if (bytes > uint64_t(std::numeric_limits<ptrdiff_t>::max())) return nullptr;
  return Memory(static_cast<std::byte *>(std::aligned_alloc(kAlign, size_t(bytes))));
}

// What the machine has; larger than any sum of sizes if it does not say.
inline uint64_t physical_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? uint64_t(pages) * uint64_t(page) : std::numeric_limits<uint64_t>::max();
}

// "1.5 GiB", "340 MiB": rounded up, for people.
inline std::string in_units(uint64_t bytes) {
  const uint64_t mib = bytes / (1 << 20) + 1;
  if (mib < 1024) return std::to_string(mib) + " MiB";
  const uint64_t tenths = mib / 1024 * 10 + mib % 1024 * 10 / 1024 + 1;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

}  // namespace vmafhip
