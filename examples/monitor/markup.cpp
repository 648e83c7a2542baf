// Text, numbers and times as report, terminal and events write them: see the header.
#include "examples/monitor/markup.h"

#include <glib.h>

#include <cmath>

#include "examples/monitor/taking.h"

namespace monitor {

std::string escaped(std::string_view text) {
  // In UTF-8 a NUL would end it: nothing that is shown has one.
  const std::string valid = take_text(g_utf8_make_valid(text.data(), static_cast<gssize>(text.size())));
  std::string result;
  for (const char c : valid) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string decimal(std::optional<double> value, int digits) {
  if (!value || !std::isfinite(*value)) return "–";
  char text[400];  // the largest double has 309 digits before its point
  const std::string format = "%." + std::to_string(digits) + "f";
  return g_ascii_formatd(text, sizeof text, format.c_str(), *value);
}

int decimals_of(std::string_view name) {
  for (const char *part : {"adm", "aim", "vif", "ssim"}) {
    if (name.find(part) != std::string_view::npos) return 4;
  }
  return 2;
}

std::string plain(double value) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_formatd(text, sizeof text, "%.6g", value);
}

std::string rate_text(const Now &now) {
  const std::string rate = decimal(now.fps, 1);
  // Four digits: 29.97, 119.9.
  char due[G_ASCII_DTOSTR_BUF_SIZE];
  return now.stream_fps > 0 ? rate + " of " + g_ascii_formatd(due, sizeof due, "%.4g", now.stream_fps) : rate;
}

std::string slow_text(const Now &now) {
  if (!now.slow) return "";
  return "Slower than the stream: " + rate_text(now) +
         " frames/s are scored, so that scores have gaps. Frames are missing, or this machine cannot keep "
         "up: fewer "
         "renditions, a GPU, or every fifth frame alone (set=subsample=5) take less of it.";
}

std::string wall_time(Time time, bool short_form) {
  GDateTime *date = g_date_time_new_from_unix_local(time / 1'000'000);
  if (!date) return "–";
  std::string text = take_text(g_date_time_format(date, short_form ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S"));
  g_date_time_unref(date);
  return text;
}

std::string stream_time(uint64_t ns) {
  if (ns == UINT64_MAX) return "–";
  const uint64_t ms = ns / 1'000'000;
  char text[48];
  g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT ":%02u:%02u.%03u", ms / 3'600'000,
             unsigned(ms / 60'000 % 60), unsigned(ms / 1000 % 60), unsigned(ms % 1000));
  return text;
}

}  // namespace monitor
