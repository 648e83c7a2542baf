// A module of the simulated runtime: the kernels of one kernels/<stem>.hip, compiled as host C++.
//
//   #include "kernels/vif.hip"
//   HIPSIM_IMAGE(vif, HIPSIM_KERNEL(vif_scale0), HIPSIM_KERNEL(vif_scale1))
#pragma once
#include <cstddef>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace hipsim {

struct Kernel {
  const char *name;
  size_t argument_bytes;
  void (*call)(const void *arguments);
};

struct Image {
  const char *stem;
  const Kernel *kernels;
  size_t count;
};

struct Registration {
  explicit Registration(const Image &image);
};

// Null: there is none of that name.
const Image *find_image(std::string_view stem);
bool is_image(const void *p);

template <class Args>
constexpr size_t argument_bytes(void (*)(Args)) {
  static_assert(std::is_trivially_copyable_v<Args>);
  return sizeof(Args);
}
template <class Args>
void call_kernel(void (*kernel)(Args), const void *arguments) {
  kernel(*static_cast<const Args *>(arguments));
}

}  // namespace hipsim

#define HIPSIM_KERNEL(name)                                                                    \
  hipsim::Kernel {                                                                             \
#name, hipsim::argument_bytes(&name), [](const void *p) { hipsim::call_kernel(&name, p); } \
  }
#define HIPSIM_IMAGE(stem, ...)                                                                 \
  static const hipsim::Kernel stem##_kernels[] = {__VA_ARGS__};                                 \
  static const hipsim::Image stem##_image = {#stem, stem##_kernels, std::size(stem##_kernels)}; \
  static const hipsim::Registration stem##_registration(stem##_image);
