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

// Sizes that stay at the largest number instead of wrapping around, so that what is absurd is refused, not misread.
constexpr uint64_t kMostBytes = std::numeric_limits<uint64_t>::max() / kAlign * kAlign;

constexpr uint64_t plus(uint64_t a, uint64_t b) {
  return a > kMostBytes - std::min(b, kMostBytes) ? kMostBytes : a + b;
}
constexpr uint64_t times(uint64_t a, uint64_t b) { return b != 0 && a > kMostBytes / b ? kMostBytes : a * b; }
constexpr uint64_t aligned(uint64_t bytes) { return plus(bytes, kAlign - 1) / kAlign * kAlign; }

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

// What the machine has; as much as there can be if it does not say.
inline uint64_t physical_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? uint64_t(pages) * uint64_t(page) : kMostBytes;
}

// "1.5 GiB", "340 MiB": rounded up, for people.
inline std::string in_units(uint64_t bytes) {
  const uint64_t mib = bytes / (1 << 20) + 1;
  if (mib < 1024) return std::to_string(mib) + " MiB";
  const uint64_t tenths = mib / 1024 * 10 + mib % 1024 * 10 / 1024 + 1;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

}  // namespace vmafhip
