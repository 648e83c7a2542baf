// A bad access of a simulated kernel is caught and becomes the launch's error.
#pragma once
#include <signal.h>

#include <memory>
#include <string>

namespace hipsim {

void watch_signals();
void unwatch_signals();

// For the thread that makes it: signals have a stack of their own, as a fiber's may have overflowed.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack &) = delete;

 private:
  std::unique_ptr<char[]> memory_;
  stack_t before_;
};

// Of the executor, for the handler.
[[noreturn]] void fail_in_kernel(const std::string &what);
char *stack_of_current_fiber();

}  // namespace hipsim
