// The formats that the element takes, and pictures in them, for tests of the element.
#pragma once
#include <bit>

#include <gtest/gtest.h>

#include "gst/vmafhip/crop.h"
#include "tests/pipeline.h"

namespace vmafhip::test {

struct FormatCase {
  const char *name;
  int depth, sub_x, sub_y;
  bool gray() const { return std::string(name).starts_with("GRAY"); }
};
// The interface's list.
inline constexpr FormatCase kFormats[] = {
    {"I420", 8, 2, 2},       {"YV12", 8, 2, 2},       {"NV12", 8, 2, 2},       {"NV21", 8, 2, 2},
    {"Y42B", 8, 2, 1},       {"NV16", 8, 2, 1},       {"Y444", 8, 1, 1},       {"GRAY8", 8, 1, 1},
    {"I420_10LE", 10, 2, 2}, {"I422_10LE", 10, 2, 1}, {"Y444_10LE", 10, 1, 1}, {"P010_10LE", 10, 2, 2},
    {"I420_12LE", 12, 2, 2}, {"I422_12LE", 12, 2, 1}, {"Y444_12LE", 12, 1, 1}, {"P012_LE", 12, 2, 2},
    {"P016_LE", 16, 2, 2},   {"Y444_16LE", 16, 1, 1}, {"GRAY16_LE", 16, 1, 1},
};

inline clipgen::Generator clip_for(const FormatCase &f, int width, int height, int frames) {
  clipgen::Format format;
  format.width = width, format.height = height, format.frames = frames, format.depth = f.depth;
  format.sub_x = f.sub_x, format.sub_y = f.sub_y;
  return clipgen::Generator("natural-blur", format);
}

inline void shift_up(Planes &planes, int bits) {
  for (auto &plane : planes)
    for (uint16_t &v : plane) v = uint16_t(v << bits);
}

// A part of planes `width` wide, sample by sample, as crop.h has it.
inline Planes part_of(const FormatCase &f, const Planes &whole, int width, const Rect &part) {
  Planes out;
  for (size_t p = 0; p < 3; ++p) {
    const int sx = p ? f.sub_x : 1, sy = p ? f.sub_y : 1, stride = (width + sx - 1) / sx;
    for (int y = 0; y < (part.height + sy - 1) / sy; ++y)
      for (int x = 0; x < (part.width + sx - 1) / sx; ++x)
        out[p].push_back(whole[p][size_t((part.y / sy + y) * stride + part.x / sx + x)]);
  }
  return out;
}

inline void add_crop_meta(GstBuffer *buffer, const Rect &part) {
  GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta(buffer);
  meta->x = guint(part.x), meta->y = guint(part.y);
  meta->width = guint(part.width), meta->height = guint(part.height);
}

// Stamps a buffer as the n-th of 25 a second.
inline GstBuffer *stamp(GstBuffer *buffer, int n) {
  GST_BUFFER_PTS(buffer) = GstClockTime(n) * 40 * GST_MSECOND;
  GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
  return buffer;
}

// All values of one frame message, bit for bit: features, then the score.
inline std::vector<uint64_t> value_bits(const StructurePtr &message) {
  std::vector<uint64_t> bits;
  const GstStructure *f = gst_value_get_structure(gst_structure_get_value(message.get(), "features"));
  for (gint i = 0; i < gst_structure_n_fields(f); ++i)
    bits.push_back(std::bit_cast<uint64_t>(real(f, gst_structure_nth_field_name(f, guint(i)))));
  bits.push_back(std::bit_cast<uint64_t>(real(message.get(), "score")));
  return bits;
}

inline std::vector<std::vector<uint64_t>> value_bits(const Pipeline &pipeline) {
  std::vector<std::vector<uint64_t>> all;
  for (const StructurePtr &message : pipeline.frames) all.push_back(value_bits(message));
  return all;
}

inline void expect_words(const std::string &text, const std::vector<std::string> &words) {
  for (const std::string &word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

}  // namespace vmafhip::test
