// What the monitor is asked to do: command line and configuration file, checked.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monitor {

struct RenditionSettings {
  std::string name;
  std::string uri;     // the distorted stream, or empty and then
  std::string encode;  // a gst-launch fragment that encodes the reference: "x264enc bitrate=800"
};

struct ChannelSettings {
  std::string name;
  std::string reference;  // URI
  std::vector<RenditionSettings> renditions;
  std::string model = "vmaf_v0.6.1", features, backend = "auto";
  std::string sync = "content";  // "timestamp" where an encoder is in place
  double window_seconds = 10;
  std::optional<double> alert_threshold, alert_clear;
  double alert_seconds = 2;
  double stall_seconds = 10;  // without data for so long, a source counts as dead
  std::string results;        // file name pattern of result files, empty: none
};

struct Settings {
  std::string listen = "127.0.0.1:8080";  // address:port; port 0: any free one; empty: no server
  std::string report;                     // HTML file, empty: none
  bool once = false;                      // end when all sources have ended, instead of starting them again
  std::vector<ChannelSettings> channels;
};

// Throws nothing: the text of the error, one line that says what to do, or empty.
std::string read_settings(int argc, char **argv, Settings &settings);

}  // namespace monitor
