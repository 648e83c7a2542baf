// What kernels/device.h takes from the simulated runtime: a block's threads as C++ sees them, memory of the block,
// barriers and operations of a warp. Kernels are compiled as host C++ with -DGPU_SIMULATED; executor.cpp runs them.
//
// The threads of a block take turns: each runs until it waits. HIPSIM_SCHEDULE says which is first, so that what two
// threads do without a barrier between them comes out differently forward and in reverse.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace hipsim {

struct Index {
  unsigned x = 1, y = 1, z = 1;
};

// Every operation waits for all threads of the warp that have not left the kernel.
enum class Operation : uint8_t {
  none,
  shuffle_down,
  shuffle_up,
  shuffle_xor,
  any,
  ballot,
  sum,
  sum_all,
  matrix,
  signed_matrix
};

// What one thread gives to an operation of its warp, and what it gets from it.
struct alignas(32) Slot {
  uint32_t words[8];
};

constexpr unsigned kMostThreads = 1024, kMostLanes = 64;

struct Block;
struct Lane;

struct Warp {
  uint64_t ready, operating, live;  // bits of lanes; the others wait at the block's barrier
  unsigned lanes;                   // that the block has here, at most the warp size
  Operation operation;
  int line;  // of the operation
  void (*complete)(Warp &, Slot *);
  Slot *in_use;  // of the operation
  Block *block;
  // Of this operation and the one before, which slower lanes may still be reading.
  Slot slots[2][kMostLanes];
};

struct Lane {
  void *stack_pointer;  // while others run
  Warp *warp;
  Index thread;
  uint16_t number;  // in the warp
  uint16_t operations;
  const Index *block, *block_size, *grid_size;
  unsigned warp_size;
  void *fake_stack;  // the address sanitizer's
};

// The thread that runs. Fibers stay on the thread of the system that began their block.
extern constinit thread_local Lane *lane;

void wait_for_block(int line);
// Waits for the warp; the last thread to come calls `complete`, where there is one, before any goes on.
void wait_for_warp(Operation operation, int line, void (*complete)(Warp &, Slot *) = nullptr);
[[noreturn]] void report_access(uint64_t address, uint64_t bytes, uint64_t alignment);

// Where the last addresses were found; of each thread of the system, cleared before each launch.
struct Range {
  uint64_t begin = 0, size = 0;
};
struct RangeCache {
  static constexpr unsigned kRanges = 8;
  Range ranges[kRanges];
  unsigned next = 0;
};
extern constinit thread_local RangeCache range_cache;
// Fills `to` with the live allocation around `address`.
bool find_range(uint64_t address, Range *to);

// The address as a pointer; ends the launch if `bytes` from there on are not in one live allocation of the device.
void *device_memory(uint64_t address, uint64_t bytes, uint64_t alignment);

inline Slot *own_slots() {
  Lane *me = lane;
  return me->warp->slots[me->operations++ & 1];
}

// The value that lane `source` gave; outside the warp one's own, of a lane that has left or never was garbage.
template <class T>
T shuffle(Operation operation, T v, unsigned source, int line) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(Slot));
  Slot *slots = own_slots();
  Lane *me = lane;
  std::memcpy(&slots[me->number], &v, sizeof v);
  wait_for_warp(operation, line);
  if (source < me->warp_size) std::memcpy(&v, &slots[source], sizeof v);
  return v;
}

void complete_any(Warp &warp, Slot *slots);
void complete_ballot(Warp &warp, Slot *slots);
void complete_sum(Warp &warp, Slot *slots);
void complete_matrix(Warp &warp, Slot *slots);
void complete_signed_matrix(Warp &warp, Slot *slots);

inline uint32_t combine(Operation operation, uint32_t v, int line, void (*complete)(Warp &, Slot *)) {
  Slot *slots = own_slots();
  const unsigned number = lane->number;
  slots[number].words[0] = v;
  wait_for_warp(operation, line, complete);
  return slots[number].words[0];
}

}  // namespace hipsim

#define threadIdx (hipsim::lane->thread)
#define blockIdx (*hipsim::lane->block)
#define blockDim (*hipsim::lane->block_size)
#define gridDim (*hipsim::lane->grid_size)
#define GPU_KERNEL extern "C"
// One block at a time runs on each thread of the system. Filled with garbage before each block.
#define GPU_SHARED static thread_local

namespace vmafhip {

// Which call it is, is told apart by its line.
inline void gpu_sync(int line = __builtin_LINE()) { hipsim::wait_for_block(line); }

inline int gpu_warp_size() { return static_cast<int>(hipsim::lane->warp_size); }

template <class T>
T gpu_shuffle_down(T v, int d, int line = __builtin_LINE()) {
  return hipsim::shuffle(hipsim::Operation::shuffle_down, v, hipsim::lane->number + static_cast<unsigned>(d),
                         line);
}
template <class T>
T gpu_shuffle_up(T v, int d, int line = __builtin_LINE()) {
  return hipsim::shuffle(hipsim::Operation::shuffle_up, v, hipsim::lane->number - static_cast<unsigned>(d),
                         line);
}
template <class T>
T gpu_shuffle_xor(T v, int mask, int line = __builtin_LINE()) {
  return hipsim::shuffle(hipsim::Operation::shuffle_xor, v,
                         hipsim::lane->number ^ static_cast<unsigned>(mask), line);
}
inline bool gpu_any(bool p, int line = __builtin_LINE()) {
  return hipsim::combine(hipsim::Operation::any, p, line, hipsim::complete_any) != 0;
}

using GpuLanes = uint64_t;
inline GpuLanes gpu_ballot(bool p, int line = __builtin_LINE()) {
  hipsim::Slot *slots = hipsim::own_slots();
  const unsigned number = hipsim::lane->number;
  slots[number].words[0] = p;
  hipsim::wait_for_warp(hipsim::Operation::ballot, line, hipsim::complete_ballot);
  return static_cast<uint64_t>(slots[number].words[1]) << 32 | slots[number].words[0];
}
inline int gpu_first_lane(GpuLanes lanes) { return __builtin_ctzll(lanes); }

// One step instead of a shuffle for each power of two. Only the lanes that are promised the sum get it.
inline uint32_t gpu_warp_sum(uint32_t v, int line = __builtin_LINE()) {
  return hipsim::combine(hipsim::Operation::sum, v, line, hipsim::complete_sum);
}
inline uint32_t gpu_warp_sum_all(uint32_t v, int line = __builtin_LINE()) {
  return hipsim::combine(hipsim::Operation::sum_all, v, line, hipsim::complete_sum);
}

template <class T>
void gpu_atomic_add(T *to, T v) {
  if (reinterpret_cast<uintptr_t>(to) % sizeof(T))
    hipsim::report_access(reinterpret_cast<uintptr_t>(to), sizeof(T), sizeof(T));
  __atomic_fetch_add(to, v, __ATOMIC_RELAXED);
}

// The matrix step of NVIDIA's m16n8k32 on bytes, over a warp of 32: d (16x8, 32-bit) += a (16x32) * b (32x8). With
// g = lane / 4 and q = lane % 4 a thread holds of a the rows g (a[0], a[2]) and g + 8 (a[1], a[3]) at the columns 4q..
// (a[0], a[1]) and 16 + 4q.. (a[2], a[3]); of b the column g at the rows 4q.. (b0) and 16 + 4q.. (b1); of d the rows g
// (d[0], d[1]) and g + 8 (d[2], d[3]) at the columns 2q and 2q + 1.
inline void gpu_mma_u8(uint32_t *d, const uint32_t *a, uint32_t b0, uint32_t b1,
                       int line = __builtin_LINE()) {
  hipsim::Slot *slots = hipsim::own_slots();
  hipsim::Slot &mine = slots[hipsim::lane->number];
  mine = {{a[0], a[1], a[2], a[3], b0, b1}};
  hipsim::wait_for_warp(hipsim::Operation::matrix, line, hipsim::complete_matrix);
  for (int i = 0; i < 4; ++i) d[i] += mine.words[i];
}

// The matrix step of AMD's v_mfma_i32_16x16x16_i8 on signed bytes, twice, over a warp of 64: d (16x16, 32-bit) += a (16x32) *
// b (32x16). With n = lane % 16 and q = lane / 16 a thread holds of a the row n at the columns 4q.. (a0) and 16 + 4q..
// (a1), of b the column n at the rows 4q.. (b0) and 16 + 4q.. (b1), of d the column n at the rows 4q to 4q + 3.
inline void gpu_mma_i8(uint32_t *d, uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1,
                       int line = __builtin_LINE()) {
  hipsim::Slot *slots = hipsim::own_slots();
  hipsim::Slot &mine = slots[hipsim::lane->number];
  mine = {{a0, a1, b0, b1}};
  hipsim::wait_for_warp(hipsim::Operation::signed_matrix, line, hipsim::complete_signed_matrix);
  for (int i = 0; i < 4; ++i) d[i] += mine.words[i];
}

}  // namespace vmafhip
