// One table of options serves command line, configuration file and --help; what both have filled in is checked at the
// end, so that a mistake is told before anything starts.
#include "examples/monitor/settings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "examples/monitor/markup.h"
#include "examples/monitor/redact.h"
#include "examples/monitor/settings_check.h"
#include "examples/monitor/taking.h"

namespace monitor {

namespace {

using Error = std::string;  // empty: none
using Strings = std::vector<std::string>;

// What options fill in, wherever they stand.
struct Target {
  Settings &settings;
  ChannelSettings *channel;
  RenditionSettings *rendition = nullptr;
  Strings names;  // of the command line's renditions, in their order
};

enum class Place { process, channel, rendition, command_line };  // where an option stands in a file

struct Option {
  const char *name;
  Place place;
  const char *argument;  // null: a switch
  const char *help;
  Error (*set)(Target &, const std::string &value);
};

// ---- values ---------------------------------------------------------------------------------------

std::string trim(const std::string &text) {
  const size_t from = text.find_first_not_of(" \t\n"), to = text.find_last_not_of(" \t\n");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

Strings split(const std::string &text, char separator) {
  Strings parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(separator, from), text.size());
    if (const std::string part = trim(text.substr(from, to - from)); !part.empty()) parts.push_back(part);
    from = to + 1;
  }
  return parts;
}

Error number(const std::string &text, double least, double most, double &value) {
  char *end = nullptr;
  const double read = g_ascii_strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(read) || read < least || read > most) {
    return "\"" + text + "\" is not a number from " + plain(least) + " to " + plain(most);
  }
  value = read;
  return {};
}

Error optional_number(const std::string &text, std::optional<double> &value) {
  double read = 0;
  Error error = number(text, -1e6, 1e6, read);
  if (error.empty()) value = read;
  return error;
}

Error truth(const std::string &text, bool &value) {
  if (text != "true" && text != "false") return "\"" + text + "\" is neither true nor false";
  value = text == "true";
  return {};
}

Error one_of(const std::string &text, const Strings &values, std::string &value) {
  if (std::find(values.begin(), values.end(), text) == values.end()) {
    Error error = "\"" + text + "\" is not one of";
    for (const std::string &v : values) error += " " + v;
    return error;
  }
  value = text;
  return {};
}

Error assignment(const std::string &text, std::string &name, std::string &value) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return "\"" + text + "\" is not PROPERTY=VALUE";
  name = trim(text.substr(0, equals));
  value = trim(text.substr(equals + 1));
  return {};
}

Error add_change(const std::string &text, std::vector<Change> &changes) {
  const size_t space = text.find(' ');
  Change change;
  if (space == std::string::npos || !number(text.substr(0, space), 0, 1e9, change.seconds).empty())
    return "\"" + text + "\" is not SECONDS PROPERTY=VALUE";
  Error error = assignment(trim(text.substr(space)), change.property, change.value);
  if (error.empty()) changes.push_back(std::move(change));
  return error;
}

// ---- options --------------------------------------------------------------------------------------

RenditionSettings &new_rendition(Target &to) {
  if (!to.rendition || to.rendition->uri.size() + to.rendition->encode.size() > 0)
    to.rendition = &to.channel->renditions.emplace_back();
  return *to.rendition;
}

const Option kOptions[] = {
    {"ref", Place::channel, "URI", "The reference: a file or any URI that GStreamer plays",
     [](Target &to, const std::string &value) { return to.channel->reference = value, Error(); }},
    {"dist", Place::rendition, "URI", "A distorted stream that is compared with it; may be repeated",
     [](Target &to, const std::string &value) { return new_rendition(to).uri = value, Error(); }},
    {"encode", Place::rendition, "FRAGMENT", "Or an encoder in place: 'x264enc bitrate=800'; may be repeated",
     [](Target &to, const std::string &value) { return new_rendition(to).encode = value, Error(); }},
    {"change", Place::rendition, "'SECONDS PROPERTY=VALUE'",
     "Change a property of the encoder before it while it runs; may be repeated",
     [](Target &to, const std::string &value) {
       if (!to.rendition) return Error("comes after the --encode that it changes");
       Error error;
       for (const std::string &change : split(value, ';'))
         if (error.empty()) error = add_change(change, to.rendition->changes);
       return error;
     }},
    {"name", Place::command_line, "NAME", "Name of the first rendition, and so on",
     [](Target &to, const std::string &value) { return to.names.push_back(value), Error(); }},
    {"channel", Place::command_line, "NAME", "Name of the channel",
     [](Target &to, const std::string &value) { return to.channel->name = value, Error(); }},
    {"model", Place::channel, "MODELS", "As the element's property (default vmaf_v0.6.1)",
     [](Target &to, const std::string &value) { return to.channel->model = value, Error(); }},
    {"features", Place::channel, "FEATURES", "As the element's property",
     [](Target &to, const std::string &value) { return to.channel->features = value, Error(); }},
    {"backend", Place::channel, "auto|cpu|hip", "Where scores are computed (default auto)",
     [](Target &to, const std::string &value) {
       return one_of(value, {"auto", "cpu", "hip"}, to.channel->backend);
     }},
    {"sync", Place::channel, "content|timestamp|order",
     "How frames find each other (default content; timestamp with --encode without a container)",
     [](Target &to, const std::string &value) {
       to.channel->sync_given = true;
       return one_of(value, {"content", "timestamp", "order"}, to.channel->sync);
     }},
    {"set", Place::channel, "PROPERTY=VALUE", "Any other property of the element; may be repeated",
     [](Target &to, const std::string &value) {
       Error error;
       for (const std::string &part : split(value, ';')) {
         auto &[name, text] = to.channel->properties.emplace_back();
         if (error.empty()) error = assignment(part, name, text);
       }
       return error;
     }},
    {"window", Place::channel, "SECONDS", "Length of the window of mean, min and p5 (default 10)",
     [](Target &to, const std::string &value) {
       return number(value, 0.1, 86400, to.channel->window_seconds);
     }},
    {"alert-direction", Place::channel, "below|above",
     "On which side of the threshold scores are bad (default below; above: of a measure of errors)",
     [](Target &to, const std::string &value) {
       std::string direction;
       Error error = one_of(value, {"below", "above"}, direction);
       if (error.empty()) to.channel->alert_above = direction == "above";
       return error;
     }},
    {"alert-threshold", Place::channel, "SCORE", "Raise an alert when the score stays beyond this",
     [](Target &to, const std::string &value) {
       return optional_number(value, to.channel->alert_threshold);
     }},
    {"alert-clear", Place::channel, "SCORE", "And clear it at this score (default: the threshold)",
     [](Target &to, const std::string &value) { return optional_number(value, to.channel->alert_clear); }},
    {"alert-duration", Place::channel, "SECONDS", "How long it must stay beyond (default 2)",
     [](Target &to, const std::string &value) { return number(value, 0, 86400, to.channel->alert_seconds); }},
    {"stall", Place::channel, "SECONDS", "A source without data for so long counts as dead (default 10)",
     [](Target &to, const std::string &value) {
       return number(value, 0.5, 86400, to.channel->stall_seconds);
     }},
    {"retry", Place::channel, "SECONDS",
     "Pause before a source is tried again, twice as long each time up to 60 s (default 1)",
     [](Target &to, const std::string &value) {
       return number(value, 0.001, 60, to.channel->retry_seconds);
     }},
    {"realtime", Place::channel, nullptr, "Play files at their own speed, not as fast as they can be scored",
     [](Target &to, const std::string &value) { return truth(value, to.channel->realtime); }},
    {"loop", Place::channel, nullptr,
     "Start files again when they have ended; without it they are scored once",
     [](Target &to, const std::string &value) { return truth(value, to.channel->loop); }},
    {"results", Place::channel, "PATTERN",
     "Write result files (.csv .json .xml .sub): %c is the channel, %r the rendition; one for each start, of "
     "which the newest 100 are kept",
     [](Target &to, const std::string &value) { return to.channel->results = value, Error(); }},
    {"listen", Place::process, "ADDRESS:PORT",
     "Where the dashboard is (default 127.0.0.1:8080; port 0: any free one; none: nowhere)",
     [](Target &to, const std::string &value) {
       return to.settings.listen = value == "none" ? "" : value, Error();
     }},
    {"report", Place::process, "FILE.html", "Write a report at the end and on SIGUSR1",
     [](Target &to, const std::string &value) { return to.settings.report = value, Error(); }},
    {"once", Place::process, nullptr,
     "Start no source again that has ended, not even one of the network, and end when all have",
     [](Target &to, const std::string &value) { return truth(value, to.settings.once); }},
};

// ---- configuration file ---------------------------------------------------------------------------

using KeyFile = std::unique_ptr<GKeyFile, Free<g_key_file_unref>>;
using KeyList = std::unique_ptr<gchar *, Free<g_strfreev>>;

Error read_group(GKeyFile *file, const char *group, const std::vector<Place> &places, Target &to) {
  gsize count = 0;
  const KeyList keys(g_key_file_get_keys(file, group, &count, nullptr));
  for (gsize i = 0; i < count; ++i) {
    const char *key = keys.get()[i];
    const auto fits = [&](const Option &o) {
      return std::find(places.begin(), places.end(), o.place) != places.end();
    };
    const Option *option = nullptr;
    std::string known;
    for (const Option &o : kOptions) {
      if (!fits(o) ||
          (o.place == Place::channel && !g_strcmp0(o.name, "ref") && !g_strcmp0(group, "monitor")))
        continue;
      if (!g_strcmp0(o.name, key)) option = &o;
      known += std::string(" ") + o.name;
    }
    const std::string where = std::string("[") + group + "] " + key;
    if (!option) return where + ": there is no such key here; keys are" + known;
    GError *broken = nullptr;
    const std::string value = take_text(g_key_file_get_string(file, group, key, &broken));
    if (broken) return where + ": " + take_text(broken);
    if (const Error error = option->set(to, trim(value)); !error.empty()) return where + ": " + error;
  }
  return {};
}

// Groups: [monitor], with defaults of all channels; [channel NAME]; [rendition CHANNEL/NAME].
Error read_file(const std::string &name, Settings &settings) {
  const KeyFile file(g_key_file_new());
  GError *broken = nullptr;
  gchar *read = nullptr;
  gsize size = 0;
  if (!g_file_test(name.c_str(), G_FILE_TEST_EXISTS)) return "there is no such file";
  if (!g_file_test(name.c_str(), G_FILE_TEST_IS_REGULAR)) return "is no regular file";
  if (!g_file_get_contents(name.c_str(), &read, &size, &broken)) return take_text(broken);
  const std::unique_ptr<gchar, Free<g_free>> text(read);
  // Some editors put a mark of UTF-8 before it, which nobody sees.
  const gsize mark = g_str_has_prefix(read, "\xef\xbb\xbf") ? 3 : 0;
  if (!g_utf8_validate(read + mark, gssize(size - mark), nullptr))
    return "is no text in UTF-8: save it as such";
  if (!g_key_file_load_from_data(file.get(), read + mark, size - mark, G_KEY_FILE_NONE, &broken))
    return take_text(broken);
  ChannelSettings defaults;
  if (g_key_file_has_group(file.get(), "monitor")) {
    Target to{settings, &defaults};
    if (Error e = read_group(file.get(), "monitor", {Place::process, Place::channel}, to); !e.empty())
      return e;
  }
  const KeyList groups(g_key_file_get_groups(file.get(), nullptr));
  // Channels first, whatever the order.
  for (gchar **group = groups.get(); *group; ++group) {
    if (!g_str_has_prefix(*group, "channel ")) continue;
    settings.channels.push_back(defaults);
    settings.channels.back().name = trim(*group + 8);
    Target to{settings, &settings.channels.back()};
    if (Error e = read_group(file.get(), *group, {Place::channel}, to); !e.empty()) return e;
  }
  for (gchar **group = groups.get(); *group; ++group) {
    const std::string title = *group;
    if (title == "monitor" || g_str_has_prefix(*group, "channel ")) continue;
    const size_t slash = title.find('/');
    if (!g_str_has_prefix(*group, "rendition ") || slash == std::string::npos)
      return "[" + title + "]: groups are [monitor], [channel NAME] and [rendition CHANNEL/NAME]";
    const std::string channel = trim(title.substr(10, slash - 10));
    const auto it = std::find_if(settings.channels.begin(), settings.channels.end(),
                                 [&](const ChannelSettings &c) { return c.name == channel; });
    if (it == settings.channels.end()) return "[" + title + "]: there is no [channel " + channel + "]";
    RenditionSettings &rendition = it->renditions.emplace_back();
    rendition.name = trim(title.substr(slash + 1));
    Target to{settings, &*it, &rendition};
    if (Error e = read_group(file.get(), *group, {Place::rendition}, to); !e.empty()) return e;
    if (&it->renditions.back() != to.rendition || (rendition.uri.empty() == rendition.encode.empty()))
      return "[" + title + "]: needs either dist or encode";
  }
  return {};
}

// ---- command line ---------------------------------------------------------------------------------

struct CommandLine {
  Target target;
  std::string config;
  bool version = false;
  bool channel_given = false;  // something that describes a channel, which --config then may not
};

gboolean on_option(const char *name, const char *value, gpointer data, GError **error) {
  auto &line = *static_cast<CommandLine *>(data);
  name += strspn(name, "-");
  for (const Option &option : kOptions) {
    if (g_strcmp0(option.name, name) != 0) continue;
    if (option.place != Place::process) line.channel_given = true;
    const Error wrong = option.set(line.target, option.argument ? value : "true");
    if (wrong.empty()) return TRUE;
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s: %s", name, wrong.c_str());
    return FALSE;
  }
  if (!g_strcmp0(name, "config")) return line.config = value, TRUE;
  return line.version = true, TRUE;
}

Error parse(int argc, char **argv, CommandLine &line) {
  std::vector<GOptionEntry> entries;
  const auto add = [&](const char *name, const char *argument, const char *help) {
    // Names of files are bytes, whatever the locale.
    entries.push_back({name, 0, argument ? G_OPTION_FLAG_FILENAME : G_OPTION_FLAG_NO_ARG,
                       G_OPTION_ARG_CALLBACK, reinterpret_cast<gpointer>(on_option), help, argument});
  };
  for (const Option &option : kOptions) add(option.name, option.argument, option.help);
  add("config", "FILE", "Channels and the options above from a file; this is how there are several channels");
  add("version", nullptr, "Print the version");
  entries.push_back({});

  const std::unique_ptr<GOptionContext, Free<g_option_context_free>> context(
      g_option_context_new("- scores live video against its reference"));
  GOptionGroup *group = g_option_group_new("monitor", "", "", &line, nullptr);
  g_option_group_add_entries(group, entries.data());
  g_option_context_set_main_group(context.get(), group);
  g_option_context_add_group(context.get(), gst_init_get_option_group());
  g_option_context_set_description(
      context.get(),
      "Examples:\n"
      "  vmafhip-monitor --ref rtsp://studio/feed --dist srt://edge:9000 --alert-threshold 80\n"
      "  vmafhip-monitor --ref clip.mp4 --encode 'x264enc bitrate=800' --once --report report.html\n"
      "\n"
      "A configuration file has the groups [monitor] (with defaults of all channels), [channel NAME] and\n"
      "[rendition CHANNEL/NAME]; its keys are the options' names. Parts of a list, as of set\n"
      "and change, have ; between them.\n"
      "\n"
      "Files are scored once, as fast as it goes; the page stays until Ctrl-C, or with --once ends with\n"
      "them. Streams of the network are started again whenever they end.\n"
      "\n"
      "Exit status: 0 ended or interrupted; 1 a file could not be scored to its end, or the report not be\n"
      "written; 2 wrong usage.\n");
  // What has been understood is taken out of the words, and they are read twice beside a file.
  std::vector<char *> words(argv, argv + argc + 1);
  char **rest = words.data();
  GError *broken = nullptr;
  if (!g_option_context_parse(context.get(), &argc, &rest, &broken)) return take_text(broken);
  if (argc > 1)
    return std::string("What is \"") + redact_uri(rest[1]) +
           "\"? Sources come after --ref and --dist; see --help";
  return {};
}

}  // namespace

// ---- interface ------------------------------------------------------------------------------------

std::string read_settings(int argc, char **argv, Settings &settings) {
  ChannelSettings channel;
  CommandLine line{{settings, &channel}};
  if (Error e = parse(argc, argv, line); !e.empty()) return e;
  if (line.version) {
    g_print("vmafhip-monitor " VMAFHIP_VERSION "\n");
    exit(0);
  }
  if (!line.config.empty()) {
    if (line.channel_given)
      return "With --config, only --listen, --report and --once may be given beside it; the rest is in the "
             "file";
    // What is given on the command line outranks the file.
    settings = {};
    if (Error e = read_file(line.config, settings); !e.empty()) return line.config + ": " + e;
    if (Error e = check_once(settings, true); !e.empty()) return line.config + ": " + e;
    CommandLine over{{settings, &channel}};
    if (Error e = parse(argc, argv, over); !e.empty()) return e;
    const Error e = check(settings, true);
    return e.empty() ? e : line.config + ": " + e;
  }
  if (line.channel_given) {
    if (line.target.names.size() > channel.renditions.size())
      return "There are more names than --dist and --encode to name";
    for (size_t i = 0; i < line.target.names.size(); ++i) {
      channel.renditions[i].name = line.target.names[i];
      if (Error e = check_name(channel.renditions[i].name); !e.empty()) return "--name: " + e;
    }
    settings.channels.push_back(std::move(channel));
  }
  if (Error e = check_once(settings, false); !e.empty()) return e;
  return check(settings, false);
}

}  // namespace monitor
