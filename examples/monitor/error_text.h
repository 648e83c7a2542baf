// What GStreamer's errors and warnings say, in one line for people.
#pragma once
#include <gst/gst.h>

#include <string>

namespace monitor {

// Without the name of the element that says it, and without passwords. `frames_came`: its stream has had some, so that
// the connection was there; `uri`: what it reads, if that is known.
std::string error_text(GstMessage *message, bool frames_came, const std::string &uri = {});

// As much of a text as fits into a line or two.
std::string shortened(const std::string &text);

// Whether the message, of the element vmafhip, is about its result file.
bool is_about_file(GstMessage *message);

// Whether an error or a warning is that nothing takes a stream.
bool is_about_decoding(GstMessage *message);

// "video/x-h264 (high-4:4:4)": as much of a stream's caps as says what it is.
std::string media_text(const GstCaps *caps);

}  // namespace monitor
