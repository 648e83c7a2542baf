// The sink pads' properties.
#include "gst/vmafhip/pad.h"

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

class PadTest : public testing::Test {
 protected:
  PadTest() {
    gst_init(nullptr, nullptr);
    pad = GST_PAD(gst_object_ref_sink(
        g_object_new(VMAFHIP_TYPE_PAD, "name", "sink", "direction", GST_PAD_SINK, nullptr)));
  }
  ~PadTest() override { gst_object_unref(pad); }
  GstPad *pad;
};

TEST_F(PadTest, CropsNothingByDefault) { EXPECT_EQ(pad_crop(pad), Crop()); }

TEST_F(PadTest, EveryEdgeHasItsProperty) {
  g_object_set(pad, "crop-left", 1u, nullptr);
  g_object_set(pad, "crop-right", 2u, "crop-top", 3u, nullptr);
  g_object_set(pad, "crop-bottom", guint(G_MAXINT), nullptr);
  EXPECT_EQ(pad_crop(pad), (Crop{1, 2, 3, G_MAXINT}));
  guint left, right, top, bottom;
  g_object_get(pad, "crop-left", &left, "crop-right", &right, "crop-top", &top, "crop-bottom", &bottom,
               nullptr);
  EXPECT_EQ((Crop{int(left), int(right), int(top), int(bottom)}), (Crop{1, 2, 3, G_MAXINT}));
}

// A frame must not see half of what one call sets: its picture would have a size that nobody asked for.
TEST_F(PadTest, EdgesSetTogetherCountTogether) {
  g_object_set(pad, "crop-left", 1u, nullptr);
  g_object_freeze_notify(G_OBJECT(pad));  // as g_object_set() does while it goes through its list
  g_object_set(pad, "crop-left", 10u, nullptr);
  EXPECT_EQ(pad_crop(pad), (Crop{1, 0, 0, 0}));
  g_object_set(pad, "crop-right", 20u, nullptr);
  EXPECT_EQ(pad_crop(pad), (Crop{1, 0, 0, 0}));
  g_object_thaw_notify(G_OBJECT(pad));
  EXPECT_EQ(pad_crop(pad), (Crop{10, 20, 0, 0}));
}

TEST_F(PadTest, ChangesAreNotified) {
  int count = 0;
  const auto counter = +[](GObject *, GParamSpec *, gpointer count) { ++*static_cast<int *>(count); };
  g_signal_connect(pad, "notify::crop-top", G_CALLBACK(counter), &count);
  g_object_set(pad, "crop-top", 5u, "crop-left", 5u, nullptr);
  EXPECT_EQ(count, 1);
}

TEST_F(PadTest, OffsetMayBeNegative) {
  g_object_set(pad, "offset", gint64(-5) * GST_SECOND, nullptr);
  EXPECT_EQ(gst_pad_get_offset(pad), -5 * gint64(GST_SECOND));
  gint64 offset;
  g_object_get(pad, "offset", &offset, nullptr);
  EXPECT_EQ(offset, -5 * gint64(GST_SECOND));
  EXPECT_EQ(pad_crop(pad), Crop());
}

}  // namespace
}  // namespace vmafhip
