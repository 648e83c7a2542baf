// Fibers: stacks of their own and the switch between them, as cheap as can be: a barrier of a block is one switch a
// thread. The sanitizers are told which stack is in use.
#pragma once
#include <cstddef>
#include <cstdint>

#if !defined(HIPSIM_UCONTEXT) && !defined(__x86_64__)
#define HIPSIM_UCONTEXT 1
#endif
#if defined(HIPSIM_UCONTEXT)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace hipsim {

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kStackBytes = 256 << 10;
#else
constexpr size_t kStackBytes = 64 << 10;
#endif

// Stacks of `count` fibers, each with an unmapped page below.
class Stacks {
 public:
  explicit Stacks(unsigned count);
  ~Stacks();
  Stacks(const Stacks &) = delete;

  // Lowest address; the top differs by some lines of the cache from its neighbours', which otherwise all meet in one set.
  char *bottom(unsigned i) const { return memory_ + i * kStride + kGuard; }
  char *top(unsigned i) const { return bottom(i) + kStackBytes - i % 29 * 128; }

 private:
  static constexpr size_t kGuard = 4096, kStride = kStackBytes + kGuard;
  char *memory_;
  size_t bytes_;
};

// Lays out a stack so that the first switch to it calls `entry`, which must not return. The result is what to switch to.
void *prepare_fiber(char *bottom, char *top, void (*entry)());

#if !defined(HIPSIM_UCONTEXT)
extern "C" void hipsim_switch(void **from, void *to);
inline void switch_fiber(void **from, void *to) { hipsim_switch(from, to); }
#else
// *from and `to` are ucontext_t.
void switch_fiber(void **from, void *to);
#endif

}  // namespace hipsim
