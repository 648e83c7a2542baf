// Counts what any thread of this program allocates with new. In a file of its own, so that compilers do not see both
// ends of an allocation and wonder.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace vmafhip::test {
extern std::atomic<uint64_t> allocations;
std::atomic<uint64_t> allocations{0};
}  // namespace vmafhip::test

void *operator new(size_t bytes) {
  ++vmafhip::test::allocations;
  if (void *p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  ++vmafhip::test::allocations;
  return std::malloc(bytes ? bytes : 1);
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, size_t) noexcept { std::free(p); }
