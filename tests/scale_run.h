// For the tests of scaling: one plane scaled, from memory of exactly the size that it needs.
#pragma once
#include "tests/isa_run.h"

namespace vmafhip::test {

constexpr ScaleMethod kScaleMethods[] = {ScaleMethod::bicubic, ScaleMethod::bilinear, ScaleMethod::lanczos};

inline const char *name_of(ScaleMethod method) {
  return method == ScaleMethod::bicubic    ? "bicubic"
         : method == ScaleMethod::bilinear ? "bilinear"
                                           : "lanczos";
}

// `strip`: rows at a time, 0 = all. Strips are done from the last one up if `backwards`.
struct Strips {
  int rows = 0;
  bool backwards = false;
};

inline Picture picture_of(const PlaneView &view) {
  Picture picture;
  picture.format = {view.width, view.height, view.depth, Chroma::c400};
  picture.planes[0] = {view.data, view.stride, view.width, view.height, 1};
  return picture;
}

inline Luma scaled(const CpuKernels &kernels, const Picture &picture, const Luma &size, ScaleMethod method,
                   const Strips &strips = {}) {
  const auto scaler = make_cpu_scaler(kernels, {method, picture.format.width, picture.format.height,
                                                picture.format.depth, size.width, size.height, size.depth});
  Luma out = size;
  const size_t bytes = size.depth > 8 ? 2 : 1;
  const Rubbish scratch(scaler->scratch_bytes()), memory(out.samples.size() * bytes);
  const int rows = strips.rows > 0 ? strips.rows : size.height, count = (size.height + rows - 1) / rows;
  for (int i = 0; i < count; ++i) {
    const int first = (strips.backwards ? count - 1 - i : i) * rows;
    scaler->scale(picture, 0, memory.get(), first, first + rows, scratch.get());
  }
  for (size_t i = 0; i < out.samples.size(); ++i) {
    uint16_t word;
    if (bytes == 2) std::memcpy(&word, memory.get() + 2 * i, 2);
    out.samples[i] = bytes == 2 ? int(word) : int(memory.get()[i]);
  }
  return out;
}

inline Luma scaled(const CpuKernels &kernels, const Luma &in, int width, int height, int depth,
                   ScaleMethod method, const Layout &layout = {}, const Strips &strips = {}) {
  return scaled(kernels, picture_of(StoredLuma(in, layout).view()), Luma(width, height, depth), method,
                strips);
}

}  // namespace vmafhip::test
