// What the element says of synchronisation and of frames without partner, as page, terminal and metrics show it.
#include <glib.h>
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "examples/monitor/messages.h"

namespace {

using namespace monitor;

using StructurePtr = std::unique_ptr<GstStructure, decltype(&gst_structure_free)>;

class MessagesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }

  void sync(const char *state, gint64 offset, double confidence) {
    const StructurePtr message(
        gst_structure_new("vmafhip", "type", G_TYPE_STRING, "sync", "state", G_TYPE_STRING, state, "offset",
                          G_TYPE_INT64, offset, "confidence", G_TYPE_DOUBLE, confidence, nullptr),
        gst_structure_free);
    messages_.element(message.get(), thumbnails_, thumbnails_);
  }
  void unmatched(guint64 frames, bool stopping) {
    const StructurePtr stats(gst_structure_new("stats", "dist-unmatched", G_TYPE_UINT64, frames, nullptr),
                             gst_structure_free);
    messages_.stats(stats.get(), stopping);
  }
  std::string last_event() const { return record_.events().empty() ? "" : record_.events().back().text; }

  Record record_{"news", "720p", "", ""};
  Messages messages_{record_};
  Thumbnails thumbnails_;
};

TEST_F(MessagesTest, TheOffsetHasOneSign) {
  sync("locked", -1'000'000, 0.97);
  EXPECT_EQ(record_.now().offset_seconds, -0.001);
  EXPECT_EQ(last_event(), "Locked: offset -0.001 s, added to the distorted stream's times; confidence 0.97");
}

TEST_F(MessagesTest, WhatWasFoundStaysKnownUntilItIsLookedForAnew) {
  messages_.run_begins();
  EXPECT_EQ(record_.now().sync_state, "") << "nobody has said that it is looked for";
  sync("locked", 480'000'000, 0.97);
  messages_.run_ends();
  EXPECT_EQ(record_.now().sync_state, "locked");
  EXPECT_EQ(record_.now().confidence, 0.97);
  EXPECT_EQ(record_.now().offset_seconds, 0.48);
  messages_.run_begins();
  EXPECT_EQ(record_.now().sync_state, "searching");
  EXPECT_EQ(record_.now().confidence, 0);
}

TEST_F(MessagesTest, FramesThatAStopLeavesWithoutPartnerAreCountedAndNoEvent) {
  unmatched(4, true);
  EXPECT_EQ(record_.now().counters.dist_unmatched, 4);
  EXPECT_EQ(record_.events_of(EventKind::dropped), 0);
  unmatched(5, false);
  EXPECT_EQ(record_.events_of(EventKind::dropped), 1);
}

}  // namespace
