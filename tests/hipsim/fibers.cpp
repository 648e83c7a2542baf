#include "tests/hipsim/fibers.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace hipsim {

Stacks::Stacks(unsigned count) : bytes_(count * kStride) {
  void *p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char *>(p);
  for (unsigned i = 0; i < count; ++i) mprotect(memory_ + i * kStride, kGuard, PROT_NONE);
}

Stacks::~Stacks() { munmap(memory_, bytes_); }

#if !defined(HIPSIM_UCONTEXT)
// System V: rbx, rbp and r12-r15 are the callee's to keep; kernels do not change the floating-point modes.
asm(R"(
.text
.globl hipsim_switch
.hidden hipsim_switch
.type hipsim_switch,@function
hipsim_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp,(%rdi)
  mov %rsi,%rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size hipsim_switch,.-hipsim_switch
)");

void *prepare_fiber(char *, char *top, void (*entry)()) {
  auto **sp = reinterpret_cast<void **>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
  *--sp = nullptr;  // where `entry` would return to; the stack is aligned there as after a call
  *--sp = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; ++i) *--sp = nullptr;
  return sp;
}
#else
namespace {
// At the lowest end of the fiber's own stack.
ucontext_t *context_of(char *bottom) { return reinterpret_cast<ucontext_t *>(bottom); }
}  // namespace

void *prepare_fiber(char *bottom, char *top, void (*entry)()) {
  ucontext_t *context = context_of(bottom);
  getcontext(context);
  char *stack = bottom + (sizeof *context + 63) / 64 * 64;
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = static_cast<size_t>(top - stack);
  context->uc_link = nullptr;
  makecontext(context, entry, 0);
  return context;
}

void switch_fiber(void **from, void *to) {
  if (!*from) *from = new ucontext_t;
  swapcontext(static_cast<ucontext_t *>(*from), static_cast<const ucontext_t *>(to));
}
#endif

}  // namespace hipsim
