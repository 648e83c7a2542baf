// For the tests of metrics on the GPU that look at the frame before.
#pragma once
#include "tests/hip_colours.h"

namespace vmafhip::test {

class HipClips : public HipColours {
 protected:
  // Noise, all frames of it in one batch. The first has none before it.
  void expect_equal_clip(const char *name, const MakeHipMetric &make_hip, const MakeMetric &make_cpu,
                         const PictureFormat &format, int distorted, size_t count,
                         const Layout &layout = {}) {
    const Extractor &e = extractor(name);
    const auto pictures = static_cast<size_t>(distorted);
    std::list<StoredColours> stored;
    std::vector<FrameView> views;
    DeviceFrames frames(stream_);
    const std::vector<Views> nothing(pictures);
    for (size_t n = 0; n < count; ++n) {
      const auto seed = static_cast<uint32_t>(n * 99);
      std::vector<Colours> dists;
      for (uint32_t d = 1; d <= pictures; ++d) dists.push_back(noise(format, seed + d));
      FrameView view = stored.emplace_back(noise(format, seed), dists, layout).view;
      view.index = n;
      view.earlier_dist = n > 0 ? views.back().dist : std::span<const Views>(nothing);
      if (n > 0) view.earlier[0] = views.back().ref;
      views.push_back(view);
      frames.add(view);
    }
    const auto gpu = make_hip(*device_, format, distorted);
    const auto cpu = make_cpu(plain_kernels(), format, distorted);
    const auto got = measure_bytes_on(stream_, *gpu, frames.frames(), e.sums_bytes);
    for (size_t n = 0; n < count; ++n)
      EXPECT_EQ(got[n], measure_colours(e, *cpu, views[n]))
          << name << ", frame " << n << ", " << format.width << "x" << format.height << ", depth "
          << format.depth << ", chroma " << static_cast<int>(format.chroma);
  }
};

}  // namespace vmafhip::test
