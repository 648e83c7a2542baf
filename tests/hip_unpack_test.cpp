// Planes that a GPU reads where others put them, unpacked on the device: what the processor makes of them, sample by
// sample, whatever they look like; and nothing is read but from the first to the last sample of a row.
#include <cstring>
#include <random>

#include "engine/hip/unpack.h"
#include "engine/view.h"
#include "tests/hip_run.h"
#include "tests/hipsim_control.h"

namespace vmafhip::hip {
namespace {

using namespace test;

// How a plane lies in memory.
struct Form {
  int depth = 8, step = 1, shift = 0;
  int padding = 0;  // bytes behind a row
  int offset = 0;   // bytes from a multiple of 256
  bool upside = false;
};

class HipUnpackTest : public testing::Test {
 protected:
  void SetUp() override { sim_.reset(); }
  void TearDown() override {
    EXPECT_EQ(sim_.leaks(), 0u);
    EXPECT_EQ(sim_.reports(), "");
  }

  // A plane in host memory and, no byte more, on the device.
  struct Both {
    Picture host;
    Buffer<std::byte> memory;
    PlaneView device;
  };
  Both make(const Stream &stream, int width, int height, const Form &form) {
    const int bytes = form.depth > 8 ? 2 : 1;
    const ptrdiff_t row = ptrdiff_t((width - 1) * form.step + 1) * bytes, stride = row + form.padding;
    const ptrdiff_t all = stride * (height - 1) + row;
    auto samples = std::make_shared<std::vector<uint8_t>>(size_t(all + form.offset));
    for (uint8_t &byte : *samples) byte = uint8_t(random_());
    Both both;
    both.host.format = {width, height, form.depth, Chroma::c400};
    both.host.shift = form.shift;
    both.host.owner = samples;
    const ptrdiff_t first = form.offset + (form.upside ? stride * (height - 1) : 0);
    both.host.planes[0] = {samples->data() + first, form.upside ? -stride : stride, width, height, form.step};
    both.memory = Buffer<std::byte>(stream.device(), samples->size());
    stream.upload(both.memory.address(), samples->size(), samples->data(), ptrdiff_t(samples->size()),
                  samples->size(), 1);
    stream.synchronize();
    both.device = {reinterpret_cast<const void *>(both.memory.address().value + uint64_t(first)),
                   both.host.planes[0].stride,
                   width,
                   height,
                   form.depth,
                   MemoryKind::device,
                   form.step,
                   form.shift};
    return both;
  }

  // All of them together.
  void expect_same(int depth, const std::vector<std::pair<PlaneSize, Form>> &planes) {
    const auto device = open_device();
    const Stream stream(*device);
    const Unpacker unpacker(*device, depth);
    const int bytes = depth > 8 ? 2 : 1;
    std::vector<Both> sources;
    std::vector<Buffer<std::byte>> targets;
    std::vector<size_t> strides;
    Unpacker::Launch launch(unpacker, stream);
    for (const auto &[size, form] : planes) {
      sources.push_back(make(stream, size.width, size.height, form));
      strides.push_back((size_t(size.width * bytes) + 255) / 256 * 256);
      targets.emplace_back(*device, strides.back() * size_t(size.height));
      launch.add(sources.back().device,
                 {targets.back().address(), int64_t(strides.back()), size.width, size.height});
    }
    launch.flush();
    for (size_t i = 0; i < planes.size(); ++i) {
      const auto &[size, form] = planes[i];
      SCOPED_TRACE(testing::Message()
                   << size.width << "x" << size.height << " at " << form.depth << " bits, step " << form.step
                   << ", shift " << form.shift << ", padding " << form.padding << ", offset " << form.offset
                   << ", upside " << form.upside << ", to " << depth << " bits");
      std::vector<std::byte> expected(unpacked_bytes(sources[i].host.planes[0], depth));
      unpack_rows(sources[i].host, 0, depth, expected.data(), 0, size.height);
      std::vector<std::byte> actual(targets[i].size());
      stream.download(actual.data(), address_cast<const std::byte>(targets[i].address()), actual.size());
      stream.synchronize();
      const size_t row = size_t(size.width * bytes);
      for (size_t y = 0; y < size_t(size.height); ++y)
        ASSERT_EQ(std::memcmp(actual.data() + y * strides[i], expected.data() + y * row, row), 0)
            << "row " << y;
    }
  }

  HipSim sim_;
  std::mt19937 random_{1};
};

// As cameras and decoders have it.
TEST_F(HipUnpackTest, KnownFormats) {
  constexpr PlaneSize kChroma{33, 9};
  expect_same(8, {{kChroma, {.step = 2, .padding = 1}}, {kChroma, {.step = 2, .padding = 1, .offset = 1}}});
  expect_same(10, {{{67, 17}, {10, 1, 6}},
                   {kChroma, {10, 2, 6}},
                   {kChroma, {.depth = 10, .step = 2, .shift = 6, .offset = 2}}});
  expect_same(12, {{{67, 17}, {12, 1, 4}},
                   {kChroma, {12, 2, 4}},
                   {kChroma, {.depth = 12, .step = 2, .shift = 4, .offset = 2}}});
  // Compared with pictures of more bits.
  expect_same(10, {{{67, 17}, {}}, {kChroma, {.step = 2}}, {kChroma, {.step = 2, .offset = 1}}});
  expect_same(16, {{{67, 17}, {10, 1, 6}}, {{67, 17}, {12}}, {kChroma, {12, 2, 4}}});
}

TEST_F(HipUnpackTest, AnyAddress) {
  for (const int depth : {8, 10})
    for (const int step : {1, 2})
      for (int offset = 0; offset < 5; ++offset)
        for (int padding = 0; padding < 5; ++padding) {
          const Form form = {.depth = depth,
                             .step = step,
                             .padding = padding,
                             .offset = offset,
                             .upside = (offset + padding) % 2 == 1};
          expect_same(depth, {{{41, 5}, form}});
        }
}

TEST_F(HipUnpackTest, AnySize) {
  for (int width = 1; width < 20; ++width)
    expect_same(8, {{{width, 3}, {.step = 2, .offset = 1}}, {{width, 1}, {.step = 2}}});
  for (int height = 1; height < 40; height += 3)
    expect_same(10, {{{5, height}, {10, 1, 6}}, {{259, height}, {10, 2, 6}}});
}

TEST_F(HipUnpackTest, RareSteps) {
  for (const int step : {3, 4, 7})
    for (const int depth : {8, 12})
      expect_same(depth, {{{45, 6}, {.depth = depth, .step = step, .padding = 3, .offset = 1}}});
}

// Words whose unused high bits are not zero keep within 16 bits, as they do on the processor: make() fills all of them.
TEST_F(HipUnpackTest, ManyPlanesOfManyKinds) {
  const auto any = [&](int most) { return int(random_() % uint32_t(most)); };
  for (const int depth : {8, 9, 10, 12, 14, 16}) {
    std::vector<std::pair<PlaneSize, Form>> planes;
    for (int i = 0; i < kUnpackMostPlanes + 6; ++i) {
      Form form;
      form.depth = depth == 8 ? 8 : std::min(depth, 8 + any(9));
      form.shift = form.depth > 8 ? any(17 - form.depth) : 0;
      form.step = 1 + any(2);
      form.padding = any(9);
      form.offset = any(9);
      form.upside = any(2) == 1;
      planes.push_back({{1 + any(70), 1 + any(20)}, form});
    }
    expect_same(depth, planes);
  }
}

}  // namespace
}  // namespace vmafhip::hip
