#include "tests/hipsim/block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/hipsim/hip_abi.h"
#include "tests/hipsim/memory.h"
#include "tests/hipsim/signals.h"
#include "tests/hipsim/thread_memory.h"

namespace hipsim {

constinit thread_local Lane *lane = nullptr;
constinit thread_local RangeCache range_cache;

namespace {

std::string text(const Index &i) {
  return "(" + std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z) + ")";
}

std::string place() {
  const Block &block = *lane->warp->block;
  return std::string("kernel ") + block.launch->kernel->name + ", block " + text(block.index) + ", thread " +
         text(lane->thread);
}

Warp &first_warp(Block &block) { return block.warps[block.reverse ? block.warp_count - 1 : 0]; }

// The switch as the sanitizer must see it; `leaving`: `from` is never come back to.
void switch_to(Lane *from, Lane *to, [[maybe_unused]] bool leaving = false) {
  lane = to;
#if defined(__SANITIZE_ADDRESS__)
  Block &block = *to->warp->block;
  __sanitizer_start_switch_fiber(leaving ? nullptr : &from->fake_stack,
                                 block.stacks.bottom(block.number_of(*to)), kStackBytes);
#endif
  switch_fiber(&from->stack_pointer, to->stack_pointer);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

// Back to run_block(); nobody comes back here.
[[noreturn]] void leave(Lane *from) {
#if defined(__SANITIZE_ADDRESS__)
  const Block &block = *from->warp->block;
  __sanitizer_start_switch_fiber(nullptr, block.outside_bottom, block.outside_bytes);
#endif
  switch_fiber(&from->stack_pointer, from->warp->block->outside);
  std::abort();
}

[[noreturn]] void fail(int error, const std::string &what) {
  Lane *me = lane;
  Block &block = *me->warp->block;
  block.fault = Fault{error, place() + ": " + what};
  leave(me);
}

int count_bits(uint64_t bits) { return __builtin_popcountll(bits); }

const char *name_of(Operation operation) {
  constexpr const char *kNames[] = {"nothing",    "gpu_shuffle_down", "gpu_shuffle_up", "gpu_shuffle_xor",
                                    "gpu_any",    "gpu_ballot",       "gpu_warp_sum",   "gpu_warp_sum_all",
                                    "gpu_mma_u8", "gpu_mma_i8"};
  return kNames[static_cast<int>(operation)];
}

// What happens when `from` waits: the next thread of its warp, else of the first warp with one that can run.
void run_others(Lane *from, Warp *warp, bool leaving = false) {
  Block &block = *warp->block;
  if (!warp->ready) {
    if (warp->operating)
      fail(kErrorLaunchFailure,
           std::string(name_of(warp->operation)) + " in line " + std::to_string(warp->line) + " diverges: " +
               std::to_string(count_bits(warp->operating)) + " of " + std::to_string(count_bits(warp->live)) +
               " threads of the warp came to it, the others wait for the block in line " +
               std::to_string(block.barrier_line));
    const unsigned at = static_cast<unsigned>(warp - block.warps.get());
    warp = nullptr;
    for (unsigned i = 1; i < block.warp_count && !warp; ++i) {
      Warp &other = block.warps[(block.reverse ? at + block.warp_count - i : at + i) % block.warp_count];
      if (other.ready) warp = &other;
    }
    if (!warp) leave(from);  // all have left
  }
  const int number = block.reverse ? 63 - __builtin_clzll(warp->ready) : __builtin_ctzll(warp->ready);
  warp->ready &= ~(uint64_t{1} << number);
  Lane *to = &block.lanes[static_cast<unsigned>(warp - block.warps.get()) * block.warp_size +
                          static_cast<unsigned>(number)];
  if (to == from) return;
  switch_to(from, to, leaving);
}

void release_block(Block &block) {
  block.waiting = 0;
  for (unsigned w = 0; w < block.warp_count; ++w) block.warps[w].ready = block.warps[w].live;
}

// All have come.
void complete_operation(Warp &warp) {
  // What lanes give that have left or never were.
  for (unsigned i = 0; i < lane->warp_size && count_bits(warp.live) < static_cast<int>(lane->warp_size); ++i)
    if (!(warp.live >> i & 1)) fill_with_garbage(&warp.in_use[i], sizeof(Slot));
  if (warp.complete) warp.complete(warp, warp.in_use);
  warp.ready |= warp.operating;
  warp.operating = 0;
}

// Where fibers begin.
void run_thread() {
#if defined(__SANITIZE_ADDRESS__)
  {
    Block &block = *lane->warp->block;
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
    if (!block.outside_bottom) {
      block.outside_bottom = bottom;
      block.outside_bytes = bytes;
    }
  }
#endif
  const Launch &launch = *lane->warp->block->launch;
  launch.kernel->call(launch.arguments);

  Lane *me = lane;
  Warp &warp = *me->warp;
  Block &block = *warp.block;
  warp.live &= ~(uint64_t{1} << me->number);
  --block.live;
  if (block.live && block.waiting == block.live) {
    release_block(block);
    run_others(me, &first_warp(block), true);
  }
  if (warp.live && warp.operating == warp.live) complete_operation(warp);
  run_others(me, &warp, true);
  std::abort();
}

}  // namespace

void run_block(Block &block) {
  block.threads = block.launch->block.x * block.launch->block.y * block.launch->block.z;
  block.warp_count = (block.threads + block.warp_size - 1) / block.warp_size;
  block.live = block.threads;
  block.waiting = 0;
  for (unsigned w = 0; w < block.warp_count; ++w) {
    Warp &warp = block.warps[w];
    warp.lanes = std::min(block.warp_size, block.threads - w * block.warp_size);
    warp.live = warp.ready = warp.lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << warp.lanes) - 1;
    warp.operating = 0;
    warp.block = &block;
  }
  const Index &size = block.launch->block;
  Index thread{0, 0, 0};
  for (unsigned i = 0; i < block.threads; ++i) {
    Lane &l = block.lanes[i];
    l.warp = &block.warps[i / block.warp_size];
    l.thread = thread;
    l.number = static_cast<uint16_t>(i % block.warp_size);
    l.operations = 0;
    l.block = &block.index;
    l.block_size = &size;
    l.grid_size = &block.launch->grid;
    l.warp_size = block.warp_size;
    l.fake_stack = nullptr;
    l.stack_pointer = prepare_fiber(block.stacks.bottom(i), block.stacks.top(i), run_thread);
    if (++thread.x == size.x) {
      thread.x = 0;
      if (++thread.y == size.y) {
        thread.y = 0;
        ++thread.z;
      }
    }
  }
  Warp &warp = first_warp(block);
  const unsigned number = block.reverse ? warp.lanes - 1 : 0;
  warp.ready &= ~(uint64_t{1} << number);
  Lane *first = &block.lanes[static_cast<unsigned>(&warp - block.warps.get()) * block.warp_size + number];
  lane = first;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&block.outside_fake_stack, block.stacks.bottom(block.number_of(*first)),
                                 kStackBytes);
#endif
  switch_fiber(&block.outside, first->stack_pointer);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(block.outside_fake_stack, nullptr, nullptr);
  // The last functions of a thread never return, and leave their frames' marks.
  for (unsigned i = 0; i < block.threads; ++i)
    __asan_unpoison_memory_region(block.stacks.bottom(i), kStackBytes);
#endif
  lane = nullptr;
}

void wait_for_block(int line) {
  Lane *me = lane;
  Warp &warp = *me->warp;
  Block &block = *warp.block;
  if (block.waiting && block.barrier_line != line)
    fail(kErrorLaunchFailure, "gpu_sync in line " + std::to_string(line) + " while others wait in line " +
                                  std::to_string(block.barrier_line));
  block.barrier_line = line;
  if (++block.waiting < block.live) return run_others(me, &warp);
  release_block(block);
  run_others(me, &first_warp(block));
}

void wait_for_warp(Operation operation, int line, void (*complete)(Warp &, Slot *)) {
  Lane *me = lane;
  Warp &warp = *me->warp;
  if (warp.operating && (warp.operation != operation || warp.line != line))
    fail(kErrorLaunchFailure, std::string(name_of(operation)) + " in line " + std::to_string(line) +
                                  " while other threads of the warp are in " + name_of(warp.operation) +
                                  ", line " + std::to_string(warp.line));
  warp.operation = operation;
  warp.line = line;
  warp.complete = complete;
  warp.in_use = warp.slots[(me->operations - 1) & 1];
  warp.operating |= uint64_t{1} << me->number;
  if (warp.operating == warp.live) complete_operation(warp);
  run_others(me, &warp);
}

void complete_any(Warp &warp, Slot *slots) {
  uint32_t any = 0;
  for (unsigned i = 0; i < warp.lanes; ++i)
    if (warp.live >> i & 1) any |= slots[i].words[0];
  for (unsigned i = 0; i < warp.lanes; ++i) slots[i].words[0] = any;
}

void complete_ballot(Warp &warp, Slot *slots) {
  uint64_t ballot = 0;
  for (unsigned i = 0; i < warp.lanes; ++i)
    if ((warp.live >> i & 1) && slots[i].words[0]) ballot |= uint64_t{1} << i;
  for (unsigned i = 0; i < warp.lanes; ++i) {
    slots[i].words[0] = static_cast<uint32_t>(ballot);
    slots[i].words[1] = static_cast<uint32_t>(ballot >> 32);
  }
}

namespace {
void need_whole_warp(const Warp &warp) {
  if (count_bits(warp.live) != static_cast<int>(lane->warp_size))
    fail(kErrorLaunchFailure, std::string(name_of(warp.operation)) + " in line " + std::to_string(warp.line) +
                                  " with " + std::to_string(count_bits(warp.live)) + " of " +
                                  std::to_string(lane->warp_size) + " lanes");
}
}  // namespace

void complete_sum(Warp &warp, Slot *slots) {
  need_whole_warp(warp);
  uint32_t sum = 0;
  for (unsigned i = 0; i < warp.lanes; ++i) sum += slots[i].words[0];
  const bool all = warp.operation == Operation::sum_all;
  for (unsigned i = 0; i < warp.lanes; ++i) slots[i].words[0] = all || i == 0 ? sum : kGarbageWord;
}

void complete_matrix(Warp &warp, Slot *slots) {
  need_whole_warp(warp);
  if (warp.lanes != 32) fail(kErrorLaunchFailure, "gpu_mma_u8 is for warps of 32");
  // As rows of bytes: a[16][32]; b by columns, [8][32].
  uint8_t a[16][32], b[8][32];
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned g = i / 4, q = i % 4;
    const uint32_t *words = slots[i].words;
    for (unsigned half = 0; half < 2; ++half) {
      std::memcpy(&a[g][16 * half + 4 * q], &words[2 * half], 4);
      std::memcpy(&a[g + 8][16 * half + 4 * q], &words[2 * half + 1], 4);
      std::memcpy(&b[g][16 * half + 4 * q], &words[4 + half], 4);
    }
  }
  uint32_t d[16][8];
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      uint32_t sum = 0;
      for (int k = 0; k < 32; ++k) sum += uint32_t{a[row][k]} * b[column][k];
      d[row][column] = sum;
    }
  for (unsigned i = 0; i < 32; ++i)
    for (unsigned j = 0; j < 4; ++j) slots[i].words[j] = d[i / 4 + j / 2 * 8][i % 4 * 2 + j % 2];
}

void complete_signed_matrix(Warp &warp, Slot *slots) {
  need_whole_warp(warp);
  if (warp.lanes != 64) fail(kErrorLaunchFailure, "gpu_mma_i8 is for warps of 64");
  // As rows of bytes: a[16][32]; b by columns, [16][32].
  int8_t a[16][32], b[16][32];
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned half = 0; half < 2; ++half) {
      std::memcpy(&a[i % 16][16 * half + i / 16 * 4], &slots[i].words[half], 4);
      std::memcpy(&b[i % 16][16 * half + i / 16 * 4], &slots[i].words[2 + half], 4);
    }
  int32_t d[16][16];
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      int32_t sum = 0;
      for (int k = 0; k < 32; ++k) sum += a[row][k] * b[column][k];
      d[row][column] = sum;
    }
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned j = 0; j < 4; ++j) slots[i].words[j] = static_cast<uint32_t>(d[i / 16 * 4 + j][i % 16]);
}

void *device_memory(uint64_t address, uint64_t bytes, uint64_t alignment) {
  RangeCache &cache = range_cache;
  if (address & (alignment - 1)) report_access(address, bytes, alignment);
  for (const Range &range : cache.ranges) {
    const uint64_t offset = address - range.begin;
    if (offset < range.size && bytes <= range.size - offset) return reinterpret_cast<void *>(address);
  }
  Range &range = cache.ranges[cache.next++ % RangeCache::kRanges];
  if (!find_range(address, &range) || bytes > range.size - (address - range.begin))
    report_access(address, bytes, alignment);
  return reinterpret_cast<void *>(address);
}

void report_access(uint64_t address, uint64_t bytes, uint64_t alignment) {
  fail(kErrorIllegalAddress, address % alignment ? "the address " + hex(address) + " is not a multiple of " +
                                                       std::to_string(alignment)
                                                 : describe_access(address, bytes));
}

void fail_in_kernel(const std::string &what) { fail(kErrorIllegalAddress, what); }

char *stack_of_current_fiber() {
  const Block &block = *lane->warp->block;
  return block.stacks.top(block.number_of(*lane));
}

}  // namespace hipsim
