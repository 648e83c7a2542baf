// What the monitor is asked to do: command line and configuration file, checked.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace monitor {

// A property of an encoder in place that gets another value while it runs: "30 bitrate=300".
struct Change {
  double seconds;        // of the reference, from its first frame on
  std::string property;  // of whichever element in `encode` has it, or ELEMENT.PROPERTY
  std::string value;
};

struct RenditionSettings {
  std::string name;
  std::string uri;     // the distorted stream, or empty and then
  std::string encode;  // a gst-launch fragment that encodes the reference: "x264enc bitrate=800"
  std::vector<Change> changes;
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
  bool realtime = false;      // files are played at their own speed, not as fast as they can be scored
  std::string results;  // name of result files with %c for the channel and %r for the rendition; empty: none
};

struct Settings {
  std::string listen = "127.0.0.1:8080";  // address:port; port 0: any free one; empty: no server
  std::string report;                     // HTML file, empty: none
  bool once = false;                      // end when all sources have ended, instead of starting them again
  std::vector<ChannelSettings> channels;
};

// A text as it may be shown: URIs in it (rtsp://user:password@host/…?key=…) without what opens them.
std::string redact(const std::string &text);

// Throws nothing: the text of the error, one line that says what to do, or empty. Prints --help and --version and
// ends the process where they are asked for.
std::string read_settings(int argc, char **argv, Settings &settings);

}  // namespace monitor
