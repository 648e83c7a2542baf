#include "tests/hipsim/signals.h"

#include <ucontext.h>
#include <unistd.h>

#include <cstring>

#include "tests/hipsim/memory.h"
#include "tests/hipsim/simt.h"

namespace hipsim {
namespace {

constexpr size_t kSignalStackBytes = 64 << 10;

struct sigaction old_actions[2];
constexpr int kSignals[2] = {SIGSEGV, SIGBUS};

// Only threads with a SignalStack run kernels; others must not touch this library's thread-local memory in a handler,
// which may have to be allocated first.
bool has_our_stack() {
  stack_t stack;
  return sigaltstack(nullptr, &stack) == 0 && stack.ss_sp && stack.ss_size == kSignalStackBytes;
}

uint64_t faulty_address;

// On the fiber's own stack, which is given up.
[[noreturn]] void land() { fail_in_kernel(describe_fault(faulty_address)); }

void handle(int signal, siginfo_t *info, void *context) {
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  const bool in_kernel = has_our_stack() && lane;
#if defined(__x86_64__)
  if (in_kernel) {
    faulty_address = address;
    auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
    registers[REG_RSP] =
        static_cast<greg_t>((reinterpret_cast<uintptr_t>(stack_of_current_fiber()) & ~uintptr_t{15}) - 8);
    registers[REG_RIP] = reinterpret_cast<greg_t>(&land);
    return;
  }
#endif
  // Whoever handled this before, or nobody: the instruction faults again.
  if (is_ours(address)) {
    const std::string text = "hipsim: host code: " + describe_fault(address) + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  }
  for (int i = 0; i < 2; ++i)
    if (kSignals[i] == signal) sigaction(signal, &old_actions[i], nullptr);
}

}  // namespace

void watch_signals() {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &action, &old_actions[i]);
}

void unwatch_signals() {
  for (int i = 0; i < 2; ++i) {
    struct sigaction current;
    // Somebody may have come after us.
    if (sigaction(kSignals[i], nullptr, &current) == 0 && current.sa_sigaction == handle)
      sigaction(kSignals[i], &old_actions[i], nullptr);
  }
}

SignalStack::SignalStack() : memory_(new char[kSignalStackBytes]) {
  stack_t stack;
  std::memset(&stack, 0, sizeof stack);
  stack.ss_sp = memory_.get();
  stack.ss_size = kSignalStackBytes;
  sigaltstack(&stack, &before_);
}

SignalStack::~SignalStack() { sigaltstack(&before_, nullptr); }

}  // namespace hipsim
