#include "tests/numbered.h"

#include <gtest/gtest.h>

#include <bit>

namespace vmafhip::test {
namespace {

constexpr int kSquare = 16, kBits = 10;
static_assert(1 << kBits == kMostNumbered && kSquare * kBits <= kNumberedWidth);
constexpr int kDark = 40, kBright = 210;

struct Fields {
  const char *pad, *time;
};
constexpr Fields kFields[2] = {{"ref_sink", "timestamp"}, {"dist_sink", "dist-timestamp"}};

}  // namespace

std::string numbered_caps(int fps_n, int fps_d) {
  return caps_text("I420", kNumberedWidth, kNumberedHeight, fps_n, fps_d);
}

GstBuffer *numbered_picture(int number) {
  Planes planes;
  for (int y = 0; y < kNumberedHeight; ++y)
    for (int x = 0; x < kNumberedWidth; ++x) {
      // Squares on top; below, stripes that move, so that temporal features have something to say.
      const int bit = x / kSquare;
      const int moving = 60 + ((x + 3 * number) % 32) * 3 + ((y + number) % 24) * 2;
      planes[0].push_back(uint16_t(y >= 2 * kSquare ? moving : number >> bit & 1 ? kBright : kDark));
    }
  for (int p = 1; p < 3; ++p) planes[size_t(p)].assign(kNumberedWidth * kNumberedHeight / 4, 128);
  return make_buffer(video_info("I420", kNumberedWidth, kNumberedHeight), planes);
}

std::function<GstBuffer *()> numbered_clip(int count, int fps_n, int fps_d) {
  return [=, n = 0]() mutable -> GstBuffer * {
    if (n == count) return nullptr;
    const auto time = [=](int frame) {
      return gst_util_uint64_scale_round(guint64(frame), GST_SECOND * guint64(fps_d), guint64(fps_n));
    };
    GstBuffer *buffer = numbered_picture(n);
    GST_BUFFER_PTS(buffer) = time(n);
    GST_BUFFER_DURATION(buffer) = time(n + 1) - time(n);
    ++n;
    return buffer;
  };
}

int number_in(const GstVideoInfo &info, GstBuffer *buffer) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, const_cast<GstVideoInfo *>(&info), buffer, GST_MAP_READ)) return -1;
  int number = 0;
  for (int bit = 0; bit < kBits; ++bit) {
    int sum = 0, count = 0;
    for (int y = kSquare / 2; y < 3 * kSquare / 2; ++y)
      for (int x = bit * kSquare + kSquare / 4; x < bit * kSquare + 3 * kSquare / 4; ++x, ++count)
        sum += static_cast<const guint8 *>(
            GST_VIDEO_FRAME_PLANE_DATA(&frame, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + x];
    const int mean = sum / count;
    // What lies between the two is no square of ours.
    if (std::abs(mean - kDark) > 50 && std::abs(mean - kBright) > 50) number = -1;
    if (number < 0) break;
    if (mean > (kDark + kBright) / 2) number |= 1 << bit;
  }
  gst_video_frame_unmap(&frame);
  return number;
}

// ---- witness -----------------------------------------------------------------------------------

Witness::Witness(Pipeline &pipeline) : pipeline_(pipeline) {
  for (int i = 0; i < 2; ++i) {
    GstPad *pad = gst_element_get_static_pad(pipeline.get("v"), kFields[i].pad);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, probe, &streams_[i], nullptr);
    gst_object_unref(pad);
  }
}

GstPadProbeReturn Witness::probe(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  auto &stream = *static_cast<Stream *>(data);
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  GstCaps *caps = gst_pad_get_current_caps(pad);
  EXPECT_TRUE(caps && gst_video_info_from_caps(&stream.info, caps));
  if (caps) gst_caps_unref(caps);
  // Rows of a decoder's picture may be padded: copied tightly.
  GstVideoFrame from, to;
  GstBuffer *copy = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&stream.info), nullptr);
  if (gst_video_frame_map(&from, &stream.info, buffer, GST_MAP_READ)) {
    gst_video_frame_map(&to, &stream.info, copy, GST_MAP_WRITE);
    gst_video_frame_copy(&to, &from);
    gst_video_frame_unmap(&to);
    gst_video_frame_unmap(&from);
  }
  ++stream.frames;
  stream.seen.emplace(GST_BUFFER_PTS(buffer), Seen{number_in(stream.info, copy), adopt(copy)});
  return GST_PAD_PROBE_OK;
}

void Witness::expect_true_pairs() {
  // Time stamps must tell which frame a message speaks of.
  for (const Stream &s : streams_) ASSERT_EQ(s.seen.size(), s.frames);
  std::vector<BufferPtr> pictures[2];
  for (const StructurePtr &s : pipeline_.frames) {
    int numbers[2] = {-1, -2};
    for (int i = 0; i < 2; ++i) {
      const auto at = streams_[i].seen.find(number(s.get(), kFields[i].time));
      ASSERT_NE(at, streams_[i].seen.end()) << "a message tells of a frame that never came";
      numbers[i] = at->second.number;
      pictures[i].push_back(at->second.picture);
    }
    EXPECT_EQ(numbers[0], numbers[1]) << "at " << number(s.get(), "timestamp");
  }
  const guint64 scored = pipeline_.frames.size();
  EXPECT_EQ(counter(pipeline_, "ref-frames"), streams_[0].frames);
  EXPECT_EQ(counter(pipeline_, "dist-frames"), streams_[1].frames);
  EXPECT_EQ(counter(pipeline_, "scored"), scored);
  // Pairs that a live pipeline had no time for are counted, too.
  const guint64 paired = scored + counter(pipeline_, "skipped-overload");
  EXPECT_EQ(counter(pipeline_, "ref-unmatched"), streams_[0].frames - paired);
  EXPECT_EQ(counter(pipeline_, "dist-unmatched"), streams_[1].frames - paired);

  const auto caps = [&](int i) {
    GstCaps *c = gst_video_info_to_caps(&streams_[i].info);
    gchar *text = gst_caps_to_string(c);
    std::string result = std::string("\"") + text + "\"";
    g_free(text);
    gst_caps_unref(c);
    return result;
  };
  if (scored == 0) return;
  Pipeline again("vmafhip name=v sync=order ! fakesink appsrc name=ref caps=" + caps(0) +
                 " ! queue ! v.ref_sink appsrc name=dist caps=" + caps(1) + " ! v.dist_sink");
  for (int i = 0; i < 2; ++i)
    again.feed(i ? "dist" : "ref", [&list = pictures[i], n = size_t(0)]() mutable -> GstBuffer * {
      return n == list.size() ? nullptr : gst_buffer_copy(list[n++].get());
    });
  ASSERT_EQ(again.run(), "eos");
  ASSERT_EQ(again.frames.size(), scored);
  for (size_t i = 0; i < scored; ++i)
    EXPECT_EQ(std::bit_cast<guint64>(real(pipeline_.frames[i].get(), "score")),
              std::bit_cast<guint64>(real(again.frames[i].get(), "score")))
        << i;
}

guint64 counter(Pipeline &pipeline, const char *name, const char *element) {
  GstStructure *stats = nullptr;
  g_object_get(pipeline.get(element), "stats", &stats, nullptr);
  const guint64 value = number(stats, name);
  gst_structure_free(stats);
  return value;
}

std::string missing(const std::vector<std::pair<const char *, const char *>> &element_and_package) {
  std::string text;
  for (const auto &[element, package] : element_and_package) {
    GstElementFactory *factory = gst_element_factory_find(element);
    if (!factory) text += std::string(text.empty() ? "" : ", ") + element + " (package " + package + ")";
    if (factory) gst_object_unref(factory);
  }
  return text.empty() ? text : "not here: " + text;
}

}  // namespace vmafhip::test
