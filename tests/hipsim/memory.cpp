#include "tests/hipsim/memory.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "tests/hipsim/simt.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#endif

namespace hipsim {
namespace {

constexpr size_t kPage = 4096, kAlignment = 256;
// Freed mappings that stay reserved, without memory behind them.
constexpr size_t kMostFreed = 4096;

struct Allocation {
  MemoryKind kind;
  int device;
  size_t bytes;
  // What is mapped readable, and what is reserved around it; null for registered memory.
  char *pages;
  size_t page_bytes;
};

struct Memory {
  std::shared_mutex mutex;
  std::map<uint64_t, Allocation> live, freed;  // by address
  std::deque<uint64_t> order_of_freeing;
  size_t bytes[4] = {};
};

// Never destroyed: programs release things late.
Memory &memory() {
  static Memory *const memory = new Memory;
  return *memory;
}

uint64_t number(const void *p) { return reinterpret_cast<uint64_t>(p); }

using Map = std::map<uint64_t, Allocation>;
// The last that begins at or before `address`.
Map::const_iterator at_or_before(const Map &map, uint64_t address) {
  const auto after = map.upper_bound(address);
  return after == map.begin() ? map.end() : std::prev(after);
}

std::string check_margins(uint64_t begin, const Allocation &a) {
  if (!a.pages || a.kind == MemoryKind::external) return "";
  const uint64_t pages = number(a.pages), end = begin + a.bytes, pages_end = pages + a.page_bytes;
  for (const auto &[from, to] : {std::pair{pages, begin}, std::pair{end, pages_end}}) {
    ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void *>(from), to - from);
    std::string damage;
    for (uint64_t p = from; p < to && damage.empty(); ++p)
      if (*reinterpret_cast<const uint8_t *>(p) != static_cast<uint8_t>(kGarbage >> 8 * (p % 8)))
        damage = "somebody wrote " +
                 (p < begin ? std::to_string(begin - p) + " bytes before the beginning"
                            : std::to_string(p - end) + " bytes after the end") +
                 " of " + std::to_string(a.bytes) + " bytes of " + name_of(a.kind) + " memory at " +
                 hex(begin);
    ASAN_POISON_MEMORY_REGION(reinterpret_cast<void *>(from), to - from);
    if (!damage.empty()) return damage;
  }
  return "";
}

// Within the allocation or the guard page behind it. What comes next may be the host's.
bool near(const Map &map, uint64_t address) {
  const auto i = at_or_before(map, address);
  if (i == map.end()) return false;
  const Allocation &a = i->second;
  return address < (a.pages ? number(a.pages) + a.page_bytes + kPage : i->first + a.bytes);
}

std::string describe(const Memory &m, uint64_t address, uint64_t bytes) {
  const std::string access = std::to_string(bytes) + " bytes at " + hex(address);
  const auto live = at_or_before(m.live, address), freed = at_or_before(m.freed, address);
  if (near(m.live, address)) {
    const Allocation &a = live->second;
    const std::string what = std::to_string(a.bytes) + " bytes of " + name_of(a.kind) + " memory";
    const uint64_t end = live->first + a.bytes;
    if (a.kind == MemoryKind::external && address + bytes <= end)
      return access + " are external memory, which is only read";
    if (!on_device(a.kind) && address + bytes <= end)
      return access + " are " + std::string(name_of(a.kind)) + " host memory, not the device's";
    return access + " reach " + std::to_string(address + bytes - end) + " bytes past the end of " + what;
  }
  if (near(m.freed, address))
    return access + " were " + name_of(freed->second.kind) + " memory that has been freed";
  if (address < 65536) return access + " are at a null address";
  return access + " are not in live device memory; a host pointer?";
}

}  // namespace

void fill_with_garbage(void *to, size_t bytes) {
  // By address, so that margins can be checked from anywhere.
  auto *p = static_cast<uint8_t *>(to);
  size_t i = 0;
  for (; i < bytes && number(p + i) % 8; ++i)
    p[i] = static_cast<uint8_t>(kGarbage >> 8 * (number(p + i) % 8));
  for (; i + 8 <= bytes; i += 8) std::memcpy(p + i, &kGarbage, 8);
  for (; i < bytes; ++i) p[i] = static_cast<uint8_t>(kGarbage >> 8 * (number(p + i) % 8));
}

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

const char *name_of(MemoryKind kind) {
  return kind == MemoryKind::device     ? "device"
         : kind == MemoryKind::pinned   ? "pinned"
         : kind == MemoryKind::external ? "external"
                                        : "registered";
}

void *allocate(MemoryKind kind, int device, size_t bytes, size_t limit) {
  Memory &m = memory();
  const std::unique_lock lock(m.mutex);
  size_t &used = m.bytes[static_cast<int>(kind)];
  if (bytes > limit || used > limit - bytes) return nullptr;
  const size_t page_bytes = (bytes + kAlignment - 1 + kPage - 1) / kPage * kPage;
  void *reserved =
      mmap(nullptr, page_bytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  char *pages = static_cast<char *>(reserved) + kPage;
  if (mprotect(pages, page_bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(reserved, page_bytes + 2 * kPage);
    return nullptr;
  }
  fill_with_garbage(pages, page_bytes);
  char *data = kind == MemoryKind::device
                   ? pages + page_bytes - (bytes + kAlignment - 1) / kAlignment * kAlignment
                   : pages;
  ASAN_POISON_MEMORY_REGION(pages, page_bytes);
  ASAN_UNPOISON_MEMORY_REGION(data, bytes);
  m.live[number(data)] = {kind, device, bytes, pages, page_bytes};
  used += bytes;
  return data;
}

void *map_external(int device, int fd, uint64_t offset, size_t bytes) {
  Memory &m = memory();
  const std::unique_lock lock(m.mutex);
  const size_t page_bytes = (bytes + kPage - 1) / kPage * kPage;
  void *reserved =
      mmap(nullptr, page_bytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  char *pages = static_cast<char *>(reserved) + kPage;
  if (mmap(pages, page_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset)) ==
      MAP_FAILED) {
    munmap(reserved, page_bytes + 2 * kPage);
    return nullptr;
  }
  ASAN_POISON_MEMORY_REGION(pages, page_bytes);
  ASAN_UNPOISON_MEMORY_REGION(pages, bytes);
  m.live[number(pages)] = {MemoryKind::external, device, bytes, pages, page_bytes};
  m.bytes[static_cast<int>(MemoryKind::external)] += bytes;
  return pages;
}

bool release(MemoryKind kind, void *data, std::string *damage) {
  Memory &m = memory();
  const std::unique_lock lock(m.mutex);
  const auto found = m.live.find(number(data));
  if (found == m.live.end() || found->second.kind != kind) return false;
  const Allocation &a = found->second;
  *damage = check_margins(found->first, a);
  m.bytes[static_cast<int>(kind)] -= a.bytes;
  if (a.pages) {
    ASAN_UNPOISON_MEMORY_REGION(a.pages, a.page_bytes);  // the mapping may come back as something else
    // In place of what was there: an object is held no longer by its pages.
    mmap(a.pages, a.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    m.freed.insert(*found);
    m.order_of_freeing.push_back(found->first);
    if (m.order_of_freeing.size() > kMostFreed) {
      const auto oldest = m.freed.find(m.order_of_freeing.front());
      m.order_of_freeing.pop_front();
      munmap(oldest->second.pages - kPage, oldest->second.page_bytes + 2 * kPage);
      m.freed.erase(oldest);
    }
  }
  m.live.erase(found);
  return true;
}

bool register_memory(void *data, size_t bytes) {
  Memory &m = memory();
  const std::unique_lock lock(m.mutex);
  const auto before = at_or_before(m.live, number(data) + bytes - 1);
  if (before != m.live.end() && before->first + before->second.bytes > number(data)) return false;
  m.live[number(data)] = {MemoryKind::registered, 0, bytes, nullptr, 0};
  m.bytes[static_cast<int>(MemoryKind::registered)] += bytes;
  return true;
}

Found find(const void *address) {
  Memory &m = memory();
  const std::shared_lock lock(m.mutex);
  const auto i = at_or_before(m.live, number(address));
  if (i == m.live.end() || number(address) >= i->first + i->second.bytes) return {};
  return {true, i->second.kind, i->second.device, i->first, i->second.bytes};
}

bool find_range(uint64_t address, Range *to) {
  const Found found = find(reinterpret_cast<const void *>(address));
  if (!found.live || !on_device(found.kind)) return false;
  *to = {found.begin, found.bytes};
  return true;
}

std::string describe_access(uint64_t address, uint64_t bytes) {
  Memory &m = memory();
  const std::shared_lock lock(m.mutex);
  return describe(m, address, bytes);
}

bool is_ours(uint64_t address) {
  Memory &m = memory();
  if (!m.mutex.try_lock_shared()) return false;
  const bool ours = near(m.live, address) || near(m.freed, address);
  m.mutex.unlock_shared();
  return ours;
}

std::string describe_fault(uint64_t address) {
  Memory &m = memory();
  if (!m.mutex.try_lock_shared()) return "an access at " + hex(address);
  std::string text = describe(m, address, 1);
  m.mutex.unlock_shared();
  return text;
}

size_t allocated_bytes(MemoryKind kind) {
  Memory &m = memory();
  const std::shared_lock lock(m.mutex);
  return m.bytes[static_cast<int>(kind)];
}

size_t live_allocations(MemoryKind kind) {
  Memory &m = memory();
  const std::shared_lock lock(m.mutex);
  size_t count = 0;
  for (const auto &[address, allocation] : m.live) count += allocation.kind == kind;
  return count;
}

}  // namespace hipsim
