#include "examples/monitor/error_text.h"

#include <algorithm>

#include "examples/monitor/redact.h"
#include "examples/monitor/taking.h"

namespace monitor {

namespace {

constexpr size_t kLongest = 600;  // bytes

using ErrorPtr = std::unique_ptr<GError, Free<g_error_free>>;

struct Parsed {
  ErrorPtr error;
  std::string debug;
  const GstStructure *details = nullptr;
};

Parsed parse(GstMessage *message) {
  GError *error = nullptr;
  gchar *debug = nullptr;
  Parsed parsed;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &error, &debug);
    gst_message_parse_error_details(message, &parsed.details);
  } else {
    gst_message_parse_warning(message, &error, &debug);
    gst_message_parse_warning_details(message, &parsed.details);
  }
  parsed.error.reset(error);
  parsed.debug = take_text(debug);
  return parsed;
}

// What an element that reads from the network leaves to be guessed; empty where it says what happened.
std::string network_text(GstMessage *message, const Parsed &parsed, bool frames_came) {
  GstObject *from = GST_MESSAGE_SRC(message);
  if (!from || !GST_OBJECT_FLAG_IS_SET(from, GST_ELEMENT_FLAG_SOURCE)) return {};
  guint status = 0;
  if (parsed.details && gst_structure_get_uint(parsed.details, "http-status-code", &status) && status >= 400)
    return std::string(parsed.error->message) + " (HTTP status " + std::to_string(status) + ")";
  // It went to read on from where the connection was lost.
  if (g_error_matches(parsed.error.get(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SEEK))
    return "The connection broke off, and the server cannot resume it";
  gint flow = GST_FLOW_OK;
  if (parsed.details && gst_structure_get_int(parsed.details, "flow-return", &flow) && flow == GST_FLOW_ERROR)
    return frames_came ? "The connection broke off"
                       : "It cannot be reached, or breaks off before its first frame";
  return {};
}

}  // namespace

std::string error_text(GstMessage *message, bool frames_came, const std::string &uri) {
  const Parsed parsed = parse(message);
  std::string text = network_text(message, parsed, frames_came);
  if (text.empty()) {
    text = parsed.error->message;
    // Behind file, line and function stands what was not said yet: what the server answered, say.
    const size_t line = parsed.debug.find(":\n");
    if (line != std::string::npos && line + 2 < parsed.debug.size())
      text += " (" + parsed.debug.substr(line + 2) + ")";
  }
  // What a server answers may hold anything: codes that a terminal obeys, or a codec's header.
  std::replace_if(
      text.begin(), text.end(), [](char c) { return g_ascii_iscntrl(c); }, ' ');
  text = redact(text, uri);
  return shortened(text);
}

std::string shortened(const std::string &text) {
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while ((text[end] & 0xc0) == 0x80) --end;  // between characters
  return text.substr(0, end) + " \u2026";
}

bool is_about_file(GstMessage *message) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR && GST_MESSAGE_TYPE(message) != GST_MESSAGE_WARNING)
    return false;
  const Parsed parsed = parse(message);
  return g_error_matches(parsed.error.get(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE) ||
         g_error_matches(parsed.error.get(), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE);
}

bool is_about_decoding(GstMessage *message) {
  const Parsed parsed = parse(message);
  gint flow = GST_FLOW_OK;
  if (parsed.details) gst_structure_get_int(parsed.details, "flow-return", &flow);
  return flow == GST_FLOW_NOT_LINKED ||
         g_error_matches(parsed.error.get(), GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN) ||
         g_error_matches(parsed.error.get(), GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND);
}

std::string media_text(const GstCaps *caps) {
  if (!caps || gst_caps_get_size(caps) == 0) return "unknown";
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  const char *profile = gst_structure_get_string(s, "profile");
  return std::string(gst_structure_get_name(s)) + (profile ? std::string(" (") + profile + ")" : "");
}

}  // namespace monitor
