// The compiled kernels that this build carries; kernels/meson.build makes images.cpp.
#pragma once
#include <cstddef>
#include <span>

namespace vmafhip::hip {

// Of kernels/<stem>.hip. Null where there was no compiler for that vendor.
struct Image {
  const char *stem;
  const void *amd;  // code objects, bundled
  size_t amd_size;
  const void *nvidia;  // fat binary
  size_t nvidia_size;
};

std::span<const Image> images();

}  // namespace vmafhip::hip
