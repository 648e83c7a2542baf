// Every clip of every golden case, byte for byte: the MD5s are those of the files that libvmaf was given.
#include <memory>
#include <stdexcept>

#include <glib.h>
#include <gtest/gtest.h>

#include "tests/clip_picture.h"
#include "tests/clipgen/clipgen.h"
#include "tests/golden.h"

namespace vmafhip::clipgen {
namespace {

class ClipgenMd5 : public testing::TestWithParam<std::string> {};

std::string md5_of(const Generator &generator, Role role) {
  const std::unique_ptr<GChecksum, decltype(&g_checksum_free)> sum(g_checksum_new(G_CHECKSUM_MD5),
                                                                   &g_checksum_free);
  for (int frame = 0; frame < generator.format().frames; ++frame) {
    const std::vector<uint8_t> bytes = generator.frame(role, frame);
    EXPECT_EQ(bytes.size(), generator.format().frame_bytes());
    g_checksum_update(sum.get(), bytes.data(), static_cast<gssize>(bytes.size()));
  }
  return g_checksum_get_string(sum.get());
}

TEST_P(ClipgenMd5, BothClipsAreWhatWasMeasured) {
  const golden::Case &c = golden::load(GetParam()).parameters();
  const Generator generator = test::generator_of(c);
  EXPECT_EQ(md5_of(generator, Role::reference), c.md5_ref);
  EXPECT_EQ(md5_of(generator, Role::distorted), c.md5_dis);
}

INSTANTIATE_TEST_SUITE_P(Golden, ClipgenMd5, testing::ValuesIn(golden::case_names()), [](const auto &info) {
  std::string name = info.param;
  for (char &c : name)
    if (c == '-') c = '_';
  return name;
});

TEST(Clipgen, RefusesWhatItCannotMake) {
  EXPECT_THROW(Generator("no-such-clip"), std::invalid_argument);
  EXPECT_THROW(Generator("natural-blur", Format{0, 1, 1, 8}), std::invalid_argument);
  EXPECT_THROW(Generator("natural-blur", Format{1, 1, 1, 17}), std::invalid_argument);
  EXPECT_THROW(Format().set_chroma("411"), std::invalid_argument);
}

TEST(Clipgen, ChromaPlanesAreRoundedUp) {
  const Generator generator("natural-same", Format{5, 3, 1, 10});
  EXPECT_EQ(generator.plane(Role::reference, 0, 0).size(), 15u);
  EXPECT_EQ(generator.plane(Role::reference, 0, 1).size(), 6u);
  EXPECT_EQ(generator.frame(Role::reference, 0).size(), 2u * (15 + 6 + 6));
}

}  // namespace
}  // namespace vmafhip::clipgen
