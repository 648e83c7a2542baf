// What the monitor is asked to do: command line and configuration file, checked.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monitor {

// A property of an encoder in place that gets another value while it runs: "30 bitrate=300".
struct Change {
  double seconds;        // from the reference's first frame on
  std::string property;  // of the first element in `encode` that has it, or ELEMENT.PROPERTY
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
  std::string sync = "content";
  bool sync_given = false;  // else an encoder in place keeps time stamps, unless it makes a container
  double window_seconds = 10;
  std::optional<double> alert_threshold, alert_clear;
  double alert_seconds = 2;
  bool alert_above = false;   // bad scores lie above the threshold: of a measure of errors, such as CIEDE2000
  double stall_seconds = 10;  // without data for so long, a source counts as dead
  double retry_seconds = 1;   // the first pause before a new attempt; each further one is twice as long
  bool loop = false;          // files begin again when they have ended; streams of the network do anyhow
  bool realtime = false;      // files are played at their own speed, not as fast as they can be scored
  std::string results;        // result files: %c is the channel, %r the rendition; empty: none
  std::vector<std::pair<std::string, std::string>> properties;  // further ones of the element
};

struct Settings {
  std::string listen = "127.0.0.1:8080";  // address:port; port 0: any free one; empty: no server
  std::string report;                     // HTML file, empty: none
  bool once = false;  // streams of the network, too, are not started again; then the process ends
  std::vector<ChannelSettings> channels;
};

// Whether what it names has an end that means something: a plain file of this machine.
bool is_plain_file(const std::string &uri);

// The name of a rendition's first result file; empty: none.
std::string results_name(const ChannelSettings &channel, const std::string &rendition);

// Throws nothing: the text of the error, one line that says what to do, or empty. Prints --help or --version and ends
// the process where they are asked for. Takes GStreamer's options, too, and initialises it.
std::string read_settings(int argc, char **argv, Settings &settings);

}  // namespace monitor
