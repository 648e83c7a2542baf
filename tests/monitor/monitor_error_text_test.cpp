// What becomes of GStreamer's errors and warnings: one line that names the cause, without passwords.
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <string>

#include "examples/monitor/error_text.h"
#include "examples/monitor/taking.h"

namespace {

using namespace monitor;

class ErrorTextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    gst_init(nullptr, nullptr);
    source_.reset(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("fakesrc", nullptr))));
    other_.reset(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("identity", nullptr))));
  }

  // As GST_ELEMENT_ERROR_WITH_DETAILS posts them; `details` as gst_structure_from_string() reads them.
  static MessagePtr error(GstElement *from, GQuark domain, int code, const char *text,
                          const char *debug = nullptr, const char *details = nullptr) {
    GError *what = g_error_new_literal(domain, code, text);
    MessagePtr message(gst_message_new_error_with_details(
        GST_OBJECT(from), what, debug, details ? gst_structure_from_string(details, nullptr) : nullptr));
    g_error_free(what);
    return message;
  }

  ElementPtr source_, other_;
};

constexpr const char *kFlow = "details, flow-return=(int)-5";
constexpr const char *kFlowText = "Internal data stream error.";
constexpr const char *kFlowDebug = "gstbasesrc.c(3132): loop (): /a/b:\nstreaming stopped, reason error (-5)";

TEST_F(ErrorTextTest, AServersAnswer) {
  const auto message =
      error(source_.get(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "Not Found",
            "file.c(1): f ():\nNot Found (404), URL: http://u:p@h/x", "details, http-status-code=(uint)404");
  EXPECT_EQ(error_text(message.get(), false), "Not Found (HTTP status 404)");
}

TEST_F(ErrorTextTest, AConnectionThatIsNotThereOrBreaks) {
  const auto message =
      error(source_.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, kFlowText, kFlowDebug, kFlow);
  EXPECT_EQ(error_text(message.get(), false), "It cannot be reached, or breaks off before its first frame");
  EXPECT_EQ(error_text(message.get(), true), "The connection broke off");
  const auto resumed =
      error(source_.get(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SEEK, "Server does not support seeking.");
  EXPECT_EQ(error_text(resumed.get(), true), "The connection broke off, and the server cannot resume it");
  // Of another element it is something else.
  const auto inside =
      error(other_.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, kFlowText, kFlowDebug, kFlow);
  EXPECT_EQ(error_text(inside.get(), true),
            "Internal data stream error. (streaming stopped, reason error (-5))");
}

TEST_F(ErrorTextTest, WhatStandsBehindTheDebugTextsOrigin) {
  const auto message =
      error(other_.get(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ, "Could not open.",
            "file.c(7): open (): /pipeline0/x:\nsystem error: \x1b[31mno such\nrtsp://u:p@h/x");
  EXPECT_EQ(error_text(message.get(), false), "Could not open. (system error:  [31mno such rtsp://***@h/x)");
}

TEST_F(ErrorTextTest, APasswordWithASpaceInIt) {
  const std::string uri = "srt://h:1?passphrase=my secret";
  const auto message = error(other_.get(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
                             ("Could not open \"" + uri + "\".").c_str());
  EXPECT_EQ(error_text(message.get(), false, uri), "Could not open \"srt://h:1?***\".");
}

TEST_F(ErrorTextTest, LongOnesAreCutBetweenCharacters) {
  for (int shift = 0; shift < 3; ++shift) {
    std::string long_text(size_t(shift), 'a');
    for (int i = 0; i < 400; ++i) long_text += "\u20ac";
    const auto message = error(other_.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, long_text.c_str());
    const std::string text = error_text(message.get(), true);
    EXPECT_LE(text.size(), 610u);
    EXPECT_GT(text.size(), 590u);
    EXPECT_TRUE(g_utf8_validate(text.c_str(), -1, nullptr));
  }
}

TEST_F(ErrorTextTest, AreAboutTheFileOrADecoder) {
  const auto file = error(other_.get(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE, "No space");
  const auto plugin = error(other_.get(), GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN, "missing");
  const auto unlinked = error(other_.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, kFlowText, nullptr,
                              "details, flow-return=(int)-1");
  const auto other =
      error(other_.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, kFlowText, kFlowDebug, kFlow);
  EXPECT_TRUE(is_about_file(file.get()));
  EXPECT_FALSE(is_about_file(other.get()));
  EXPECT_TRUE(is_about_decoding(plugin.get()));
  EXPECT_TRUE(is_about_decoding(unlinked.get()));
  EXPECT_FALSE(is_about_decoding(other.get()));
}

TEST_F(ErrorTextTest, MediaAreCalledByTypeAndProfile) {
  const auto text = [](const char *caps) { return media_text(CapsPtr(gst_caps_from_string(caps)).get()); };
  EXPECT_EQ(text("video/x-h264, profile=high, codec_data=(buffer)0164"), "video/x-h264 (high)");
  EXPECT_EQ(text("audio/x-vorbis, rate=44100"), "audio/x-vorbis");
  EXPECT_EQ(media_text(nullptr), "unknown");
}

}  // namespace
