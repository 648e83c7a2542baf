// For the tests of metrics on the GPU that look at nothing but the frame: pictures in colour in device memory, measured
// in batches there, against the plain metric on the CPU.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "engine/hip/hip.h"
#include "tests/colour_run.h"
#include "tests/hip_run.h"

namespace vmafhip::test {

class HipColours : public HipTest {
 protected:
  using MakeHipMetric = std::function<std::unique_ptr<hip::HipMetric>(const hip::Device &,
                                                                      const PictureFormat &, int distorted)>;
  struct Frame {
    Colours ref;
    std::vector<Colours> dists;
  };

  // A batch of frames of one format, the first of which has as many distorted pictures as any.
  void expect_equal(const char *name, const MakeHipMetric &make_hip, const MakeMetric &make_cpu,
                    const std::vector<Frame> &batch, const Layout &layout = {}) {
    const Extractor &e = extractor(name);
    const PictureFormat &format = batch[0].ref.format;
    const int distorted = static_cast<int>(batch[0].dists.size());
    const auto gpu = make_hip(*device_, format, distorted);
    const auto cpu = make_cpu(plain_kernels(), format, distorted);
    DeviceFrames frames(stream_);
    std::list<StoredColours> stored;
    for (const Frame &frame : batch) frames.add(stored.emplace_back(frame.ref, frame.dists, layout).view);
    const auto got = measure_bytes_on(stream_, *gpu, frames.frames(), e.sums_bytes);
    size_t number = 0;
    for (const StoredColours &frame : stored) {
      const auto want = measure_colours(e, *cpu, frame.view);
      EXPECT_EQ(got[number], want) << name << ", frame " << number << ", " << format.width << "x"
                                   << format.height << ", depth " << format.depth << ", chroma "
                                   << static_cast<int>(format.chroma);
      ++number;
    }
  }

  // Of noise; `most` distorted pictures in every other frame, one less in those between.
  static std::vector<Frame> uneven_batch(const PictureFormat &format, uint32_t frames, uint32_t most = 3) {
    std::vector<Frame> batch;
    for (uint32_t i = 0; i < frames; ++i) {
      batch.push_back({noise(format, 10 * i), {}});
      for (uint32_t d = 0; d < most - i % 2; ++d) batch[i].dists.push_back(noise(format, 10 * i + d + 1));
    }
    return batch;
  }
};

}  // namespace vmafhip::test
