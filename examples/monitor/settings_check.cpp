// Whether settings make sense on this machine: sources and folders that are there, names that are unique.
#include "examples/monitor/settings_check.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <sstream>

#include "examples/monitor/redact.h"
#include "examples/monitor/taking.h"

namespace monitor {

namespace {

using Error = std::string;  // empty: none

// How things are called where they were written.
struct Words {
  bool from_file;
  std::string option(const std::string &name) const { return (from_file ? "" : "--") + name; }
};

// A file's name becomes its URI; what cannot be opened here at all is said at once.
Error check_uri(std::string &uri) {
  if (uri.empty()) return "is empty";
  if (!gst_uri_is_valid(uri.c_str())) {
    GError *broken = nullptr;
    uri = take_text(gst_filename_to_uri(uri.c_str(), &broken));
    if (broken) return take_text(broken);
  }
  const std::string scheme = take_text(gst_uri_get_protocol(uri.c_str()));
  if (!gst_uri_protocol_is_supported(GST_URI_SRC, scheme.c_str()))
    return "No element that is installed reads " + redact_uri(uri) +
           "; packages gstreamer1.0-plugins-good and -bad have most";
  if (scheme == "file") {
    const std::string name = take_text(g_filename_from_uri(uri.c_str(), nullptr, nullptr));
    if (name.empty()) return redact_uri(uri) + " is not the URI of a file on this machine";
    if (!g_file_test(name.c_str(), G_FILE_TEST_EXISTS)) return "There is no file " + name;
    if (g_file_test(name.c_str(), G_FILE_TEST_IS_DIR)) return name + " is a folder, not a file";
    if (access(name.c_str(), R_OK) != 0) return "The file " + name + " cannot be read";
    // A session description is a file, but what it describes is a stream of the network. sdpsrc escapes nothing.
    if (g_str_has_suffix(name.c_str(), ".sdp")) uri = "sdp://" + name;
  }
  return {};
}

// The last part of a URI that says something: a file's name without its extension, else the host.
std::string name_of_uri(const std::string &uri) {
  std::string rest = uri.substr(0, uri.find_first_of("?#"));
  const size_t colon = rest.find(':');
  if (colon != std::string::npos) rest.erase(0, colon + 1);
  rest.erase(0, std::min(rest.find_first_not_of('/'), rest.size()));
  while (!rest.empty() && rest.back() == '/') rest.pop_back();
  const size_t slash = rest.rfind('/');
  if (slash != std::string::npos) {
    rest.erase(0, slash + 1);
    if (const size_t dot = rest.rfind('.'); dot != std::string::npos && dot > 0) rest.erase(dot);
  } else if (const size_t at = rest.rfind('@'); at != std::string::npos) {
    rest.erase(0, at + 1);
  }
  const std::string plain = take_text(g_uri_unescape_string(rest.c_str(), "/"));
  return !plain.empty() && g_utf8_validate(plain.c_str(), -1, nullptr) ? plain : rest;
}

// The first word that names an encoder.
std::string name_of_encoder(const std::string &fragment) {
  std::istringstream words(fragment);
  std::string first, word;
  while (words >> word) {
    if (first.empty()) first = word;
    if (word.find("enc") != std::string::npos && word.find('=') == std::string::npos) return word;
  }
  return first;
}

// A name from what a URI or an encoder is called, which may be anything.
std::string usable_name(const std::string &text) {
  constexpr size_t kLongest = 90;
  size_t end = std::min(text.size(), kLongest);
  while (end < text.size() && end > 0 && (text[end] & 0xc0) == 0x80) --end;  // between characters
  std::string name = take_text(g_utf8_make_valid(text.substr(0, end).c_str(), -1));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < 32 || c == 127; }, ' ');
  return name;
}

// Names that were given must be unique; others are made so.
Error settle(std::string &name, const std::string &otherwise, std::set<std::string> &taken,
             const char *what) {
  const bool given = !name.empty();
  const std::string stem = given ? name : otherwise.empty() ? what : usable_name(otherwise);
  name = stem;
  for (int n = 2; !given && taken.count(name); ++n) name = stem + "-" + std::to_string(n);
  if (!taken.insert(name).second) return std::string("There are two ") + what + "s named \"" + name + "\"";
  const Error e = check_name(name);
  return e.empty() ? e : std::string(what) + " \"" + name + "\": " + e;
}

// A file that can be made or written.
Error check_output(const std::string &file) {
  if (g_file_test(file.c_str(), G_FILE_TEST_EXISTS) && !g_file_test(file.c_str(), G_FILE_TEST_IS_REGULAR))
    return access(file.c_str(), W_OK) == 0 ? "" : file + " cannot be written to";
  const std::string folder = take_text(g_path_get_dirname(file.c_str()));
  if (!g_file_test(folder.c_str(), G_FILE_TEST_IS_DIR)) return "There is no folder " + folder;
  if (access(folder.c_str(), W_OK) != 0) return "The folder " + folder + " cannot be written to";
  return {};
}

// A report takes the place of what has its name: of a file, not of a device, nor of a link to the file; and not of a source,
// a configuration or scores, by a slip.
Error check_report(std::string &file, const Words &words) {
  if (const std::unique_ptr<char, Free<free>> target(realpath(file.c_str(), nullptr)); target) {
    if (!g_file_test(target.get(), G_FILE_TEST_IS_REGULAR))
      return file + " is no plain file, which the report would replace: give " + words.option("report") +
             " another name";
    file = target.get();
  }
  const std::string lower = take_text(g_ascii_strdown(file.c_str(), -1));
  if (!lower.ends_with(".html") && !lower.ends_with(".htm"))
    return words.option("report") + ": " + file + " does not end in .html";
  return check_output(file);
}

// What has a key of its own is not set behind its back.
constexpr const char *kOwnKeys[] = {"alert-clear", "alert-direction", "alert-duration", "alert-threshold",
                                    "backend",     "features",        "model",          "sync",
                                    "window"};

Error check_properties(const ChannelSettings &channel, const Words &words) {
  for (const auto &[name, value] : channel.properties) {
    const bool is_file = name == "results-filename";
    if (is_file || std::find(std::begin(kOwnKeys), std::end(kOwnKeys), name) != std::end(kOwnKeys))
      return words.option("set") + ": instead of " + name + " use " +
             words.option(is_file ? "results" : name);
  }
  return {};
}

Error check_channel(ChannelSettings &channel, const Words &words) {
  if (channel.reference.empty()) return "a reference is missing (" + words.option("ref") + ")";
  if (channel.renditions.empty())
    return "nothing to compare with the reference: " +
           (words.from_file ? "there is no [rendition " + channel.name + "/NAME] with dist or encode"
                            : std::string("give --dist or --encode"));
  if (Error e = check_uri(channel.reference); !e.empty()) return e;
  std::set<std::string> names;
  for (RenditionSettings &r : channel.renditions) {
    if (!r.changes.empty() && r.encode.empty())
      return words.option("change") + " needs an encoder in place (" + words.option("encode") + ")";
    if (r.uri.empty() && r.encode.empty())
      return words.option("dist") + " and " + words.option("encode") + ": an empty one says nothing";
    if (!r.uri.empty())
      if (Error e = check_uri(r.uri); !e.empty()) return e;
    const std::string otherwise =
        r.encode.empty() ? name_of_uri(redact_uri(r.uri)) : name_of_encoder(r.encode);
    if (Error e = settle(r.name, otherwise, names, "rendition"); !e.empty()) return e;
    std::sort(r.changes.begin(), r.changes.end(),
              [](const Change &a, const Change &b) { return a.seconds < b.seconds; });
  }
  const std::string threshold = words.option("alert-threshold"), clear = words.option("alert-clear");
  if (channel.alert_clear && !channel.alert_threshold) return clear + " needs " + threshold;
  if (channel.alert_clear && (channel.alert_above ? *channel.alert_clear > *channel.alert_threshold
                                                  : *channel.alert_clear < *channel.alert_threshold))
    return clear + " lies " + (channel.alert_above ? "above " : "below ") + threshold +
           ": an alert would be cleared while the score is bad";
  return check_properties(channel, words);
}

Error check_results(const std::vector<ChannelSettings> &channels, const Words &words) {
  std::set<std::string> files;
  for (const ChannelSettings &channel : channels) {
    if (channel.results.empty()) continue;
    for (const RenditionSettings &r : channel.renditions) {
      const std::string file = results_name(channel, r.name);
      if (!files.insert(file).second)
        return "Two renditions would write " + file + ": put %c (channel) and %r (rendition) into " +
               words.option("results");
      const bool known = g_str_has_suffix(file.c_str(), ".csv") || g_str_has_suffix(file.c_str(), ".json") ||
                         g_str_has_suffix(file.c_str(), ".xml") || g_str_has_suffix(file.c_str(), ".sub");
      const auto format = [](const auto &property) { return property.first == "results-format"; };
      if (!known && std::none_of(channel.properties.begin(), channel.properties.end(), format))
        return file + ": result files end in .csv, .json, .xml or .sub (or " + words.option("set") +
               " results-format=csv)";
      if (Error e = check_output(file); !e.empty()) return e;
    }
  }
  return {};
}

}  // namespace

bool is_plain_file(const std::string &uri) {
  const std::string name = take_text(g_filename_from_uri(uri.c_str(), nullptr, nullptr));
  return g_file_test(name.c_str(), G_FILE_TEST_IS_REGULAR);
}

std::string results_name(const ChannelSettings &channel, const std::string &rendition) {
  std::string name;
  const auto add = [&](const std::string &label) {
    for (const unsigned char c : label)
      name += g_ascii_isalnum(c) || c >= 128 || strchr("._-", c) ? char(c) : '_';
  };
  for (size_t i = 0; i < channel.results.size(); ++i) {
    const char c = channel.results[i], next = i + 1 < channel.results.size() ? channel.results[i + 1] : 0;
    if (c != '%' || !next || !strchr("cr%", next)) {
      name += c;
      continue;
    }
    ++i;
    if (next == '%')
      name += '%';
    else
      add(next == 'c' ? channel.name : rendition);
  }
  return name;
}

std::string check_name(const std::string &name) {
  const bool control =
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 32 || c == 127; });
  if (name.empty() || name.size() > 100 || control || !g_utf8_validate(name.c_str(), -1, nullptr))
    return "A name is 1 to 100 bytes of UTF-8 without control characters";
  return {};
}

std::string check_once(const Settings &settings, bool from_file) {
  const Words words{from_file};
  const bool loops = std::ranges::any_of(settings.channels, &ChannelSettings::loop);
  if (!settings.once || !loops) return {};
  return words.option("once") + " and " + words.option("loop") +
         " contradict each other: one ends with the files, the other starts them again";
}

std::string check(Settings &settings, bool from_file) {
  const Words words{from_file};
  if (settings.channels.empty())
    return from_file ? "There is no [channel NAME] in it"
                     : "Give --ref and --dist or --encode, or --config FILE; see --help";
  std::set<std::string> names;
  for (ChannelSettings &channel : settings.channels) {
    Error error = check_channel(channel, words);
    if (error.empty())
      error = settle(channel.name, name_of_uri(redact_uri(channel.reference)), names, "channel");
    if (!error.empty()) return from_file ? "[channel " + channel.name + "]: " + error : error;
  }
  if (Error e = check_results(settings.channels, words); !e.empty()) return e;
  return settings.report.empty() ? "" : check_report(settings.report, words);
}

}  // namespace monitor
