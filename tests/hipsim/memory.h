// The simulated device's memory and pinned host memory. Every allocation is a mapping of its own between pages that
// nobody may touch; what is freed can no longer be touched and its addresses are not used again soon. New memory holds
// garbage. With the address sanitizer everything outside of live allocations is poisoned.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace hipsim {

// As a number of 8, 16 or 32 bits far from what pictures hold; as float or double not a number.
constexpr uint64_t kGarbage = 0xfff7dba5fff7dba5;
constexpr uint32_t kGarbageWord = 0xfff7dba5;
void fill_with_garbage(void *to, size_t bytes);

std::string hex(uint64_t value);

// external: mapped for the device from a kernel object; it may only be read.
enum class MemoryKind { device, pinned, registered, external };
const char *name_of(MemoryKind kind);
inline bool on_device(MemoryKind kind) { return kind == MemoryKind::device || kind == MemoryKind::external; }

// Null when `limit` bytes of that kind are used up. Device memory lies at multiples of 256 and ends with its last page,
// pinned memory begins with its first.
void *allocate(MemoryKind kind, int device, size_t bytes, size_t limit);
// False: not the beginning of a live allocation of that kind. `damage` says where somebody wrote outside of it.
bool release(MemoryKind kind, void *data, std::string *damage);
// The object's own pages from `offset` on, which is a multiple of 4096. Null: they cannot be mapped.
void *map_external(int device, int fd, uint64_t offset, size_t bytes);
// Pins foreign memory; false: already pinned in part.
bool register_memory(void *data, size_t bytes);

struct Found {
  bool live = false;
  MemoryKind kind = MemoryKind::device;
  int device = 0;
  uint64_t begin = 0, bytes = 0;
};
// The live allocation that `address` lies in.
Found find(const void *address);
// Says what a kernel's access hits instead of live device memory.
std::string describe_access(uint64_t address, uint64_t bytes);
// For a signal handler, which must not wait: whether an address is in memory that was ever allocated here, and as above.
bool is_ours(uint64_t address);
std::string describe_fault(uint64_t address);

size_t allocated_bytes(MemoryKind kind);
size_t live_allocations(MemoryKind kind);

}  // namespace hipsim
