// Banding on every instruction set against the plain one, bit for bit, and what strips and threads must not change.
#include <filesystem>
#include <fstream>

#include "engine/extractors/extractors.h"
#include "tests/cambi_pictures.h"
#include "tests/isa_run.h"
#include "tests/scratch_folder.h"

namespace vmafhip {
namespace {

using namespace test;

std::vector<CambiSums> sums_of(const CpuKernels &kernels, const OptionTexts &texts, const StoredFrame &frame,
                               Order order = {}) {
  const PlaneView &ref = frame.view.ref[0];
  const PictureFormat format = {ref.width, ref.height, ref.depth, Chroma::c400};
  const auto metric = make_cpu_cambi(kernels, cambi_params(parse(extractor("cambi"), texts), format), format,
                                     static_cast<int>(frame.view.dist.size()));
  return measure_sums<CambiSums>(*metric, frame.view, order);
}

void expect_equal(const Luma &ref, const std::vector<Luma> &dist, const OptionTexts &texts = {},
                  const Layout &layout = {}) {
  const StoredFrame frame({ref}, dist, layout);
  const auto want = sums_of(plain_kernels(), texts, frame);
  for (const CpuKernels *kernels : wide_kernels())
    EXPECT_TRUE(same_sums(sums_of(*kernels, texts, frame), want))
        << kernels->isa << ", " << ref.width << "x" << ref.height << ", depth " << ref.depth;
}

const OptionTexts kFull = {{"full_ref", "true"}};

TEST(CambiIsa, EverySize) {
  for (int width = 216; width <= 300; ++width) {
    const int height = 1 + width % 11, depth = width % 3 == 0 ? 8 : width % 3 == 1 ? 10 : 12;
    expect_equal(patchwork(width, height, depth, 1), {patchwork(width, height, depth, 2)}, kFull);
  }
  for (int width = 1; width <= 70; ++width)
    expect_equal(patchwork(width, 216, 8, 1), {patchwork(width, 216, 8, 2)}, kFull);
}

TEST(CambiIsa, EveryDepth) {
  for (int depth = 8; depth <= 16; ++depth)
    expect_equal(patchwork(333, 70, depth, 1), {patchwork(333, 70, depth, 2)}, kFull);
}

TEST(CambiIsa, Stress) {
  for (int depth : {8, 10, 16})
    for (const Luma &picture : stress_pictures(231, 37, depth)) expect_equal(picture, {picture}, kFull);
}

TEST(CambiIsa, AnyLayout) {
  for (int depth : {8, 10}) {
    const Luma a = patchwork(260, 45, depth, 3), b = patchwork(260, 45, depth, 4);
    expect_equal(a, {b}, kFull, {.padding = 26});
    expect_equal(a, {b}, kFull, {.padding = 10, .upside = true});
    if (depth == 8) expect_equal(a, {b}, kFull, {.padding = 3, .offset = 1});
  }
}

TEST(CambiIsa, EveryOption) {
  const Luma a = patchwork(700, 300, 8, 5), b = patchwork(700, 300, 8, 6);
  for (const OptionTexts &texts : std::vector<OptionTexts>{
           {{"max_log_contrast", "0"}},
           {{"max_log_contrast", "5"}, {"tvi_threshold", "0.001"}},
           {{"window_size", "127"}, {"max_log_contrast", "5"}, {"eotf", "pq"}},
           {{"topk", "0.0001"}},
           {{"topk", "0.05"}, {"tvi_threshold", "0.005"}},
           {{"cambi_vis_lum_threshold", "10"}},
           {{"enc_width", "500"}, {"enc_height", "260"}, {"full_ref", "true"}},
       })
    expect_equal(a, {b}, texts);
}

// Large enough for several strips and tiles.
TEST(CambiIsa, StripsThreadsAndPictures) {
  const Luma ref = patchwork(701, 397, 8, 7);
  const std::vector<Luma> dist = {patchwork(701, 397, 8, 8), patchwork(701, 397, 8, 9), ref};
  const StoredFrame frame({ref}, dist);
  const std::vector<const CpuKernels *> all = all_kernels();
  for (const CpuKernels *kernels : all) {
    const auto want = sums_of(*kernels, kFull, frame);
    EXPECT_TRUE(same_sums(sums_of(*kernels, kFull, frame, {.backwards = true}), want)) << kernels->isa;
    EXPECT_TRUE(same_sums(sums_of(*kernels, kFull, frame, {.threads = 3}), want)) << kernels->isa;
    for (size_t d = 0; d < dist.size(); ++d) {
      const auto alone = sums_of(*kernels, kFull, StoredFrame({ref}, {dist[d]}));
      EXPECT_EQ(std::memcmp(&alone[0], &want[d], sizeof alone[0]), 0) << kernels->isa << ", picture " << d;
    }
    EXPECT_EQ(std::memcmp(want[2].enc, want[2].src, sizeof want[2].enc), 0) << "the reference itself";
  }
}

// Further distorted pictures have files of their own.
TEST(CambiIsa, HeatMaps) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("maps");
  const Luma ref = patchwork(333, 217, 8, 1);
  const std::vector<Luma> dist = {patchwork(333, 217, 8, 2), patchwork(333, 217, 8, 3)};
  const PictureFormat format = {333, 217, 8, Chroma::c400};
  const CambiParams params = cambi_params(parse(extractor("cambi"), {}), format);
  const auto maps = [&](const CpuKernels &kernels, const std::vector<Luma> &of) {
    const auto metric = make_cpu_cambi(kernels, params, format, static_cast<int>(of.size()), folder);
    measure_sums<CambiSums>(*metric, StoredFrame({ref}, of).view, {.threads = 2});
    std::map<std::string, std::string> files;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename()].assign(std::istreambuf_iterator<char>(file), {});
    }
    std::filesystem::remove_all(folder);
    return files;
  };
  const auto both = maps(plain_kernels(), dist), second = maps(plain_kernels(), {dist[1]});
  EXPECT_EQ(both.size(), 10u);
  const std::string scale = "cambi_heatmap_scale_0_333x217_16b";
  EXPECT_EQ(both.at(scale + ".gray").size(), 2u * 333 * 217);
  EXPECT_EQ(both.at(scale + "_dist_1.gray"), second.at(scale + ".gray"));
  EXPECT_NE(both.at(scale + ".gray"), second.at(scale + ".gray"));
  for (const CpuKernels *kernels : wide_kernels()) EXPECT_EQ(maps(*kernels, dist), both) << kernels->isa;
}

TEST(CambiIsa, HalvedLargePictures) {
  const Luma a = patchwork(2560, 1440, 8, 1);
  expect_equal(a, {a}, {{"cambi_high_res_speedup", "1440"}});
}

}  // namespace
}  // namespace vmafhip
