// VIF on the GPU: sums equal to those of the plain CPU code, bit for bit, whatever the size, depth, options, memory layout
// and batch, with matrix units and without. Runs with warps of 32, NVIDIA's matrix units, and of 64, AMD's.
#include <array>
#include <cstdlib>
#include <deque>
#include <string>

#include "engine/arith/vif.h"
#include "engine/hip/hip.h"
#include "engine/view.h"
#include "tests/hip_run.h"
#include "tests/isa_run.h"

namespace vmafhip {
namespace {

using namespace test;

// Planes of a picture, one or three.
using Planes = std::vector<Luma>;
// Pictures of a frame: the reference first.
using Pictures = std::vector<Planes>;

std::string difference(const VifSums &got, const VifSums &want) {
  constexpr size_t kNumbers = 4;
  static constexpr const char *kNames[kNumbers] = {"num_log", "den_log", "num_low", "den_low"};
  int64_t a[3][kVifScales][kNumbers], b[3][kVifScales][kNumbers];
  static_assert(sizeof a == sizeof got);
  std::memcpy(a, &got, sizeof got);
  std::memcpy(b, &want, sizeof want);
  for (size_t p = 0; p < 3; ++p)
    for (size_t s = 0; s < kVifScales; ++s)
      for (size_t i = 0; i < kNumbers; ++i)
        if (a[p][s][i] != b[p][s][i])
          return std::string(kNames[i]) + " of scale " + std::to_string(s) + ", plane " + std::to_string(p) +
                 ": " + std::to_string(a[p][s][i]) + ", not " + std::to_string(b[p][s][i]);
  return "";
}

// A frame on the host.
struct StoredPictures {
  std::deque<StoredLuma> planes;
  std::vector<Views> views;
  FrameView view;

  StoredPictures(const Pictures &pictures, const Layout &layout) {
    for (const Planes &of_picture : pictures) {
      views.emplace_back();
      for (size_t p = 0; p < of_picture.size(); ++p)
        views.back()[p] = planes.emplace_back(of_picture[p], layout).view();
    }
    view.ref = views[0];
    view.dist = std::span(views).subspan(1);
  }
  StoredPictures(const StoredPictures &) = delete;
};

std::vector<VifSums> cpu_sums(const VifParams &params, const PictureFormat &format,
                              const Pictures &pictures) {
  const int distorted = static_cast<int>(pictures.size()) - 1;
  const StoredPictures frame(pictures, {});
  return measure_sums<VifSums>(*make_cpu_vif(plain_kernels(), {params}, format, distorted), frame.view);
}

class VifHip : public HipTest {
 protected:
  ~VifHip() override { ::unsetenv("VMAFHIP_VIF_MATRIX"); }

  // Sums of a batch, each of all sets of options. All pictures have one format.
  template <class Sums = VifSums>
  std::vector<std::vector<Sums>> measure(const std::vector<VifParams> &sets, const PictureFormat &format,
                                         const std::vector<Pictures> &batch, const Layout &layout = {}) {
    size_t distorted = 0;
    for (const Pictures &pictures : batch) distorted = std::max(distorted, pictures.size() - 1);
    const auto metric = hip::make_hip_vif(*device_, sets, format, static_cast<int>(distorted));
    std::list<StoredPictures> stored;
    DeviceFrames frames(stream_);
    for (const Pictures &pictures : batch) frames.add(stored.emplace_back(pictures, layout).view);
    return measure_on<Sums>(stream_, *metric, frames.frames());
  }

  // The batch gives the CPU's sums, whatever kernels there are for it.
  void expect_equal(const VifParams &params, const PictureFormat &format, const std::vector<Pictures> &batch,
                    const Layout &layout = {}) {
    std::vector<std::vector<VifSums>> want;
    for (const Pictures &pictures : batch) want.push_back(cpu_sums(params, format, pictures));
    for (const char *matrix : {"1", "0"}) {
      ::setenv("VMAFHIP_VIF_MATRIX", matrix, 1);
      const auto got = measure({params}, format, batch, layout);
      for (size_t f = 0; f < want.size(); ++f)
        for (size_t d = 0; d < want[f].size(); ++d)
          EXPECT_EQ(difference(got[f][d], want[f][d]), "")
              << "frame " << f << ", picture " << d << ", " << format.width << "x" << format.height
              << ", depth " << format.depth << ", gain limit " << params.gain_limit << ", matrix " << matrix;
    }
  }
  void expect_equal(const Luma &ref, const Luma &dist, const VifParams &params = {},
                    const Layout &layout = {}) {
    expect_equal(params, {ref.width, ref.height, ref.depth, Chroma::c400}, {{{ref}, {dist}}}, layout);
  }
};

constexpr VifParams kVariants[] = {{}, {1}, {1.0001}, {1.2}, {2}, {3.7}, {100, true}, {1.5, true}};

// Or these tests would not test it.
TEST_F(VifHip, MatrixKernelsAreThere) {
  const std::string prefix = device_->warp_size() == 64 ? "vif_scale0_matrix64_" : "vif_scale0_matrix_";
  for (const char *name : {"8", "12", "16", "8_limits", "12_limits", "16_limits"})
    EXPECT_NO_THROW(device_->function("vif", (prefix + name).c_str())) << name;
}

// Of the least size and around the columns that a block, a warp or a step takes, on every scale.
TEST_F(VifHip, Widths) {
  std::vector<int> widths;
  for (int width = kVifMinSize; width <= 72; ++width) widths.push_back(width);
  for (int columns : {128, 240, 256, 480, 496, 504, 992, 1984})
    for (int width : {columns - 1, columns, columns + 1, columns + 9}) widths.push_back(width);
  for (int width : widths) {
    const Luma ref = noise(width, kVifMinSize + width % 3, width % 2 ? 8 : 10, static_cast<uint32_t>(width));
    expect_equal(ref, distorted_from(ref, 2));
  }
}

TEST_F(VifHip, Heights) {
  for (int height = kVifMinSize; height <= 66; ++height) {
    const Luma ref = waves(35, height, height % 2 ? 10 : 8, height);
    expect_equal(ref, distorted_from(ref, 2));
  }
}

// Warps that take many steps, many strips.
TEST_F(VifHip, LargerPictures) {
  for (const auto &[width, height, depth] :
       std::vector<std::tuple<int, int, int>>{{650, 200, 8}, {2283, 21, 8}, {531, 95, 12}, {40, 1050, 8}}) {
    const Luma ref = waves(width, height, depth, 0);
    expect_equal(ref, distorted_from(ref, 5));
  }
}

// Limits that kernels take by twos, and the odd one; sets with the same limit; gains from less than 1 to 3.
TEST_F(VifHip, SetsOfOptions) {
  constexpr double kSets[][4] = {{100, 1, 100, 1}, {1, 100, 1.2, 1}, {3.7, 1.0001, 2, 1}};
  using OfSets = std::array<VifSums, std::size(kSets[0])>;
  for (const char *matrix : {"1", "0"}) {
    ::setenv("VMAFHIP_VIF_MATRIX", matrix, 1);
    for (const int depth : {8, 10, 16})
      for (const auto &limits : kSets) {
        const bool chroma = limits[0] == 1, skip = limits[0] == 3.7;
        std::vector<VifParams> sets;
        for (const double limit : limits) sets.push_back({limit, skip, chroma});
        const PictureFormat format = {70, 45, depth, chroma ? Chroma::c444 : Chroma::c400};
        std::vector<Pictures> batch(2);
        for (size_t f = 0; f < batch.size(); ++f) {
          const Luma ref = waves(70, 45, depth, static_cast<int>(f));
          const Luma flat = paint(70, 45, depth, [&](int x, int y) { return ref.at(x, y) / 3; });
          for (const auto &[number, luma] :
               std::vector<std::pair<int, Luma>>{{0, flat}, {1, distorted_from(flat, 3)}, {2, ref}})
            if (f == 0 || number < 2) batch[f].push_back(Planes(chroma ? 3 : 1, luma));
        }
        const auto got = measure<OfSets>(sets, format, batch);
        for (size_t f = 0; f < batch.size(); ++f)
          for (size_t s = 0; s < sets.size(); ++s) {
            const auto want = cpu_sums(sets[s], format, batch[f]);
            ASSERT_EQ(got[f].size(), want.size());
            for (size_t d = 0; d < want.size(); ++d)
              EXPECT_EQ(difference(got[f][d][s], want[d]), "")
                  << "frame " << f << ", picture " << d << ", set " << s << ", limit " << limits[s]
                  << ", depth " << depth << ", matrix " << matrix;
          }
      }
  }
}

TEST_F(VifHip, DepthsAndOptions) {
  for (int depth = 8; depth <= 16; ++depth) {
    const Luma ref = noise(53, 37, depth, 1), wave = waves(53, 37, depth, 0);
    const int top = (1 << depth) - 1;
    // Gains about 3, and exactly 1: the same picture.
    const Luma stretched =
        paint(53, 37, depth, [&](int x, int y) { return std::min(top, wave.at(x, y) % (top / 4) * 3); });
    const Luma compressed = paint(53, 37, depth, [&](int x, int y) { return wave.at(x, y) % (top / 4); });
    for (const VifParams &params : std::span(kVariants).first(depth % 4 == 0 || depth == 10 ? 8 : 2)) {
      expect_equal(params, {53, 37, depth, Chroma::c400},
                   {{{ref}, {distorted_from(ref, 2)}},
                    {{wave}, {distorted_from(wave, 3)}, {wave}},
                    {{compressed}, {stretched}}});
    }
  }
}

TEST_F(VifHip, FlatAndSaturated) {
  for (int depth : {8, 10, 16}) {
    const auto pictures = stress_pictures(33, 18, depth);
    std::vector<Pictures> batch;  // each picture against all
    for (const Luma &ref : pictures) {
      batch.push_back({{ref}});
      for (const Luma &dist : pictures) batch.back().push_back({dist});
    }
    expect_equal({}, {33, 18, depth, Chroma::c400}, batch);
  }
}

TEST_F(VifHip, LayoutDoesNotMatter) {
  for (int depth : {8, 10}) {
    const int word = depth > 8 ? 2 : 1;
    const Luma ref = waves(70, 37, depth, 1), dist = distorted_from(ref, 4);
    for (const Layout &layout :
         {Layout{.padding = 5 * word}, Layout{.padding = 58 * word}, Layout{.padding = 250 * word},
          Layout{.padding = 3 * word, .offset = word}, Layout{.padding = 2 * word, .upside = true},
          Layout{.padding = 58 * word, .upside = true, .offset = 3 * word}})
      expect_equal(ref, dist, {}, layout);
  }
}

// Pictures with chroma; odd sizes of luma round chroma's up.
Pictures coloured(const PictureFormat &format, int distorted, uint32_t seed) {
  Pictures pictures(1);
  for (int p = 0; p < 3; ++p) {
    const PlaneSize size = plane_size(format, p);
    pictures[0].push_back(p == 1 ? noise(size.width, size.height, format.depth, seed + 1)
                                 : waves(size.width, size.height, format.depth, static_cast<int>(seed) + p));
  }
  for (int d = 0; d < distorted; ++d) {
    pictures.emplace_back();
    for (const Luma &plane : pictures[0])
      pictures.back().push_back(distorted_from(plane, seed + static_cast<uint32_t>(d)));
  }
  return pictures;
}

TEST_F(VifHip, Chroma) {
  for (Chroma chroma : {Chroma::c420, Chroma::c422, Chroma::c444})
    for (int depth : {8, 10})
      for (bool skip : {false, true}) {
        const PictureFormat format = {69, 41, depth, chroma};
        expect_equal({1.5, skip, true}, format, {coloured(format, 1, 3), coloured(format, 2, 4)});
      }
}

TEST_F(VifHip, Batches) {
  for (int depth : {8, 10})
    for (int frames = 1; frames <= 5; ++frames) {
      std::vector<Pictures> batch;
      for (int f = 0; f < frames; ++f) {
        const Luma ref = waves(40 + depth, 21, depth, 10 * f);
        batch.push_back({{ref}});
        for (int d = 0; d <= frames % 3; ++d)
          batch.back().push_back({distorted_from(ref, static_cast<uint32_t>(7 * f + d))});
      }
      expect_equal({}, {40 + depth, 21, depth, Chroma::c400}, batch);
    }
}

// More pairs than a launch takes: pictures of one frame come apart.
TEST_F(VifHip, MorePairsThanALaunchTakes) {
  const PictureFormat format = {35, 33, 8, Chroma::c420};
  std::vector<Pictures> batch;
  for (uint32_t f = 0; f < 14; ++f) batch.push_back(coloured(format, 3, 5 * f));
  static_assert(14 * 3 > kMostPairs);
  batch.push_back(coloured(format, 1, 100));
  batch.push_back(coloured(format, kMostPairs + 3, 101));
  expect_equal({100, true, true}, format, batch);
}

}  // namespace
}  // namespace vmafhip
