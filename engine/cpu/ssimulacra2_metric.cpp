// SSIMULACRA 2 as a Metric: stage s is scale s, in one piece, since a recursive blur has no beginning but the border.
// Linear RGB of coarser scales lies in frame memory. Compiled for the baseline.
#include <array>
#include <cstring>

#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"

namespace vmafhip {
namespace {

const Ssimulacra2Piece *curve() {
  static const auto table = [] {
    std::array<Ssimulacra2Piece, kSsimulacra2Pieces> t;
    ssimulacra2_fill_curve(t.data());
    return t;
  }();
  return table.data();
}

class CpuSsimulacra2 final : public Metric {
 public:
  CpuSsimulacra2(const CpuKernels &kernels, const Ssimulacra2Params &params, const PictureFormat &format,
                 int distorted)
      : kernels_(kernels),
        range_(ssimulacra2_range(params, format.depth)),
        curve_(curve()),
        pictures_(1 + distorted),
        scales_(ssimulacra2_scales(format.width, format.height)),
        chroma_shift_x_(chroma_shift_x(format.chroma)),
        chroma_shift_y_(chroma_shift_y(format.chroma)) {
    int width = format.width, height = format.height;
    for (int s = 0; s < scales_; ++s) {
      Size &size = sizes_[static_cast<size_t>(s)];
      size = {width, height, frame_floats_};
      if (s > 0) frame_floats_ += picture_floats(size) * static_cast<size_t>(pictures_);
      width = (width + 1) / 2;
      height = (height + 1) / 2;
    }
  }

  int stages() const override { return scales_; }
  size_t scratch_bytes() const override {
    return Lists(nullptr, pictures_).bytes +
           kernels_.ssimulacra2->scratch_bytes(sizes_[0].height, pictures_ - 1);
  }
  size_t frame_bytes() const override { return frame_floats_ * sizeof(float); }

  void measure(const FrameView &frame, int stage, int, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const int distorted = static_cast<int>(frame.dist.size());
    const Lists lists(scratch, pictures_);
    float *memory = reinterpret_cast<float *>(frame_memory);
    for (int p = 0; p <= distorted; ++p) {
      const auto planes = [&](int s) {
        const Size &size = sizes_[static_cast<size_t>(s)];
        return memory + size.at + picture_floats(size) * static_cast<size_t>(p);
      };
      lists.pictures[p] = {p == 0 ? &frame.ref : &frame.dist[static_cast<size_t>(p - 1)],
                           stage > 0 ? planes(stage) : nullptr,
                           stage + 1 < scales_ ? planes(stage + 1) : nullptr};
    }
    for (int d = 0; d < distorted; ++d) lists.sums[d] = Ssimulacra2Sums();
    const Size &size = sizes_[static_cast<size_t>(stage)];
    kernels_.ssimulacra2->scale({stage, size.width, size.height, chroma_shift_x_, chroma_shift_y_, range_,
                                 curve_, lists.pictures, distorted, scratch + lists.bytes, lists.sums});
    std::memcpy(partial, lists.sums, static_cast<size_t>(distorted) * sizeof(Ssimulacra2Sums));
  }

 private:
  struct Size {
    int width = 0, height = 0;
    size_t at = 0;  // of the reference's planes in frame memory, in floats
  };
  // At the start of the scratch memory.
  struct Lists {
    Ssimulacra2Picture *pictures;
    Ssimulacra2Sums *sums;
    size_t bytes;

    Lists(std::byte *memory, int count) {
      Arena arena(memory);
      pictures = arena.take<Ssimulacra2Picture>(static_cast<size_t>(count));
      sums = arena.take<Ssimulacra2Sums>(static_cast<size_t>(count));
      bytes = arena.used();
    }
  };

  static size_t picture_floats(const Size &size) {
    return static_cast<size_t>(ssimulacra2_stride(size.width)) * static_cast<size_t>(size.height) *
           kSsimulacra2Channels;
  }

  const CpuKernels &kernels_;
  const Ssimulacra2Range range_;
  const Ssimulacra2Piece *curve_;
  const int pictures_, scales_, chroma_shift_x_, chroma_shift_y_;
  std::array<Size, kSsimulacra2Scales> sizes_;
  size_t frame_floats_ = 0;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_ssimulacra2(const CpuKernels &kernels, const Ssimulacra2Params &params,
                                             const PictureFormat &format, int distorted) {
  return std::make_unique<CpuSsimulacra2>(kernels, params, format, distorted);
}

}  // namespace vmafhip
