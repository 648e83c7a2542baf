// psnr_hvs as a Metric. A picture is cut into bands of blocks, whose terms are made by many strips and added up by one
// alone, in order; the strip that adds up a band runs beside those that make the terms of the next. So a stage s makes
// the terms of band s and adds up band s - 1, and memory holds two bands, however large the picture. Compiled for the
// baseline.
#include <cstring>

#include "engine/arith/psnr_hvs.h"
#include "engine/cpu/arena.h"
#include "engine/cpu/cpu.h"

namespace vmafhip {
namespace {

constexpr int64_t rounded_up(int64_t v, int64_t unit) { return (v + unit - 1) / unit * unit; }

class CpuPsnrHvs final : public Metric {
 public:
  CpuPsnrHvs(const PsnrHvsKernels &kernels, const PictureFormat &format, int distorted)
      : kernels_(kernels), format_(format), distorted_(distorted) {
    for (int p = 0; p < 3; ++p) {
      const PlaneView size = rounded_down({}, format, p);
      planes_[p].blocks =
          static_cast<int64_t>(hvs_blocks_across(size.width)) * hvs_blocks_across(size.height);
    }
    // Small enough for the cache, so many that not all bands of a huge picture are stages, whose number costs memory.
    const int64_t most = planes_[0].blocks, band = larger<int64_t>(1024, most / 64);
    bands_ = static_cast<int>((most + band - 1) / band);
    for (Plane &plane : planes_) {
      plane.band = rounded_up((plane.blocks + bands_ - 1) / bands_, kHvsGroup);
      plane.strips = static_cast<int>((plane.band + kStripBlocks - 1) / kStripBlocks);
      strips_ += plane.strips;
    }
  }

  int stages() const override { return bands_ + 1; }
  int strips(int stage) const override { return (stage > 0 ? 1 : 0) + (stage < bands_ ? strips_ : 0); }
  size_t scratch_bytes() const override { return Lists(nullptr, distorted_).bytes; }
  size_t frame_bytes() const override { return FrameMemory(nullptr, *this).bytes; }

  void measure(const FrameView &frame, int stage, int strip, std::byte *frame_memory, std::byte *scratch,
               std::byte *partial) const override {
    const FrameMemory memory(frame_memory, *this);
    const Lists lists(scratch, distorted_);
    const int pictures = static_cast<int>(frame.dist.size());
    std::memset(partial, 0, static_cast<size_t>(pictures) * sizeof(PsnrHvsSums));
    if (stage > 0 && strip-- == 0)
      add_up(memory, stage - 1, pictures, lists.sums, partial);
    else
      make_terms(frame, memory, stage, strip, lists);
  }

 private:
  static constexpr int64_t kStripBlocks = 256;
  struct Plane {
    int64_t blocks = 0, band = 0;  // blocks of a band: a multiple of kHvsGroup
    int strips = 0;                // of a band
  };
  struct Range {
    int64_t first, last;
  };
  Range band_of(int number, int plane) const {
    const Plane &p = planes_[plane];
    return {smaller(p.blocks, p.band * number), smaller(p.blocks, p.band * (number + 1))};
  }

  struct FrameMemory {
    FrameMemory(std::byte *base, const CpuPsnrHvs &metric) : metric(metric) {
      Arena arena(base);
      const size_t pictures = static_cast<size_t>(metric.distorted_);
      sums = arena.take<PsnrHvsSums>(pictures);
      for (int p = 0; p < 3; ++p) terms_[p] = arena.take<float>(2 * pictures * samples(p));
      bytes = arena.used();
    }
    size_t samples(int plane) const { return static_cast<size_t>(metric.planes_[plane].band * kHvsTerms); }
    float *terms(int band, int picture, int plane) const {
      return terms_[plane] + samples(plane) * static_cast<size_t>(2 * picture + band % 2);
    }

    const CpuPsnrHvs &metric;
    PsnrHvsSums *sums;  // so far, one per distorted picture
    float *terms_[3];   // two bands per distorted picture
    size_t bytes;
  };
  // In scratch memory: what kernels take several of.
  struct Lists {
    Lists(std::byte *base, int distorted) {
      Arena arena(base);
      const size_t pictures = static_cast<size_t>(distorted);
      planes = arena.take<PlaneView>(pictures);
      terms = arena.take<float *>(pictures);
      sums = arena.take<HvsSum>(3 * pictures);
      bytes = arena.used();
    }
    PlaneView *planes;
    float **terms;
    HvsSum *sums;
    size_t bytes;
  };

  void make_terms(const FrameView &frame, const FrameMemory &memory, int band, int strip,
                  const Lists &lists) const {
    int p = 0;
    for (; strip >= planes_[p].strips; ++p) strip -= planes_[p].strips;
    const Range range = band_of(band, p);
    const int64_t first = smaller(range.last, range.first + kStripBlocks * strip),
                  last = smaller(range.last, first + kStripBlocks);
    const PlaneView ref = rounded_down(frame.ref[static_cast<size_t>(p)], format_, p);
    const int pictures = static_cast<int>(frame.dist.size());
    for (int d = 0; d < pictures; ++d) {
      lists.planes[d] = rounded_down(frame.dist[static_cast<size_t>(d)][static_cast<size_t>(p)], format_, p);
      lists.terms[d] = memory.terms(band, d, p) + (first - range.first) * kHvsTerms;
    }
    kernels_.measure({&ref, lists.planes, pictures, p, first, last, lists.terms});
  }

  void add_up(const FrameMemory &memory, int band, int pictures, HvsSum *sums, std::byte *partial) const {
    if (band == 0) std::memset(memory.sums, 0, static_cast<size_t>(pictures) * sizeof(PsnrHvsSums));
    for (int d = 0; d < pictures; ++d)
      for (int p = 0; p < 3; ++p) {
        const Range range = band_of(band, p);
        sums[3 * d + p] = {memory.terms(band, d, p), 0, range.last - range.first, memory.sums[d].errors[p]};
      }
    kernels_.add(sums, 3 * pictures);
    for (int d = 0; d < pictures; ++d)
      for (int p = 0; p < 3; ++p) memory.sums[d].errors[p] = sums[3 * d + p].sum;
    if (band == bands_ - 1)
      std::memcpy(partial, memory.sums, static_cast<size_t>(pictures) * sizeof(PsnrHvsSums));
  }

  const PsnrHvsKernels &kernels_;
  const PictureFormat format_;
  const int distorted_;
  Plane planes_[3];
  int bands_ = 1, strips_ = 0;
};

}  // namespace

std::unique_ptr<Metric> make_cpu_psnr_hvs(const CpuKernels &kernels, const PictureFormat &format,
                                          int distorted) {
  return std::make_unique<CpuPsnrHvs>(*kernels.psnr_hvs, format, distorted);
}

}  // namespace vmafhip
