// A server whose records are filled by lines on its standard input, for page_test.py. It prints its address and, for each
// line, "ok" when that is done.
//
//   page_server PORT [NUMBER | hostile | errors | fresh]
//     also another channel: of so many renditions, with names that attack, or whose scores are worse the higher they are;
//     or nothing that has been scored yet
//
//   clock SECONDS              the server's clock is set forward, or back if negative
//   score RENDITION VALUE      a frame of this second
//   alert RENDITION VALUE 0|1  raised or cleared at this score
//   rate RENDITION FPS OF      frames scored a second, and of how many
//   state RENDITION connecting|running|lost|repeating|ended|failed
//   event RENDITION KIND TEXT
//   worst RENDITION SCORE
#include <glib-unix.h>
#include <glib.h>

#include <cmath>
#include <ctime>
#include <iostream>
#include <sstream>

#include "examples/monitor/server.h"
#include "examples/monitor/state_json.h"
#include "tests/monitor/sample_records.h"

using namespace monitor;

namespace {

std::string buffered;
Time clock_set = 0;

}  // namespace

// In place of GLib's, so that a test sets the clock of this process alone.
gint64 g_get_real_time() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return Time(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000 + clock_set;
}

namespace {

// Ten minutes in which the encoder starved for a while.
void fill_history(Record &record, Time end, double level, double noise, double depth = 30) {
  for (int second = 600; second > 1; --second) {
    const double dip = second > 200 && second < 260 ? depth * std::sin((second - 200) / 60.0 * 3.14159) : 0;
    for (int frame = 0; frame < 5; ++frame) {
      const double wave = noise * std::sin(second * 0.9) + noise * std::cos(second * 0.31 + frame);
      record.score(end - second * 1'000'000, level - dip + wave - frame * noise / 3);
    }
  }
}

// Names and texts that would run as code, load something or break the page where they are not taken as text.
const char *const kHostile[] = {
    "<script>document.title='attacked'</script>", "\"><img src=x onerror=alert(1)>",
    "</title></style></svg><link rel=stylesheet href=//evil.example/a.css>", "' onload='x&y;"};

// CIEDE2000, of which an encoder that starves makes more.
void add_errors(SampleRecords &samples, Time now) {
  ChannelSettings channel;
  channel.name = "errors";
  channel.alert_above = true;
  channel.alert_threshold = 6;
  channel.alert_clear = 4;
  channel.renditions.push_back({.name = "ciede"});
  samples.records.push_back(std::make_unique<Record>(channel.name, "ciede", "", "", true));
  Record &record = *samples.records.back();
  fill_history(record, now, 2.5, -0.2, -6);
  record.now().score_name = "ciede2000";
  record.now().score = 2.5;
  record.now().state = State::running;
  record.now().window = Window{now, {2.5, 1.5, 7.25, 0, 0, 0, 2.25, 0}};
  samples.settings.channels.push_back(channel);
}

void add_channel(SampleRecords &samples, Time now, const std::string &kind) {
  ChannelSettings channel;
  const bool hostile = kind == "hostile";
  channel.name = hostile ? kHostile[0] : "sports-world-feed-with-a-name-that-does-not-end";
  channel.reference = "srt://ingest.example:9000?mode=caller&latency=200&streamid=sports/world/feed/primary";
  for (int n = 0; n < (hostile ? 1 : std::stoi(kind)); ++n) {
    channel.renditions.push_back({.name = hostile ? kHostile[1] : "rendition_number_" + std::to_string(n)});
    const std::string source = "https://cdn.example/hls/sports/" + std::to_string(n) + "/index.m3u8";
    samples.records.push_back(std::make_unique<Record>(channel.name, channel.renditions.back().name,
                                                       channel.reference, hostile ? kHostile[2] : source));
    Record &record = *samples.records.back();
    fill_history(record, now, 95 - 7 * n, 0.8);
    record.now().state = State::running;
    if (!hostile) continue;
    for (const char *text : kHostile) {
      record.event(EventKind::warning, text, now);
      record.now().pooled[text] = {};
      record.now().features[text] = 1;
    }
    record.now().backend = record.now().backend_reason = record.now().caps = record.now().sync_state =
        kHostile[1];
  }
  samples.settings.channels.push_back(channel);
}

Record *find(SampleRecords &samples, const std::string &name) {
  for (const auto &record : samples.records) {
    if (record->name == name) return record.get();
  }
  return nullptr;
}

bool obey(SampleRecords &samples, const std::string &line) {
  std::istringstream words(line);
  std::string command, name;
  words >> command >> name;
  if (command == "clock") {
    clock_set += std::stoi(name) * Time(1'000'000);
    return true;
  }
  Record *record = find(samples, name);
  if (!record) return false;
  const Time now = g_get_real_time();
  double value = 0;
  if (command == "score") {
    words >> value;
    record->score(now, value);
    record->now().score = value;
    record->now().state = State::running;
    ++record->now().counters.compared;
  } else if (command == "alert") {
    words >> value >> record->now().alert;
    std::ostringstream text;
    text << "Score " << value << ", the threshold is 80";
    record->now().score = value;
    record->event(record->now().alert ? EventKind::alert_raised : EventKind::alert_cleared, text.str(), now);
  } else if (command == "rate") {
    words >> record->now().fps >> record->now().stream_fps;
  } else if (command == "state") {
    std::string state;
    words >> state;
    for (State one :
         {State::connecting, State::running, State::lost, State::repeating, State::ended, State::failed}) {
      if (state == state_name(one)) record->now().state = one;
    }
    if (record->now().state == State::ended) {
      record->now().score.reset();
      record->now().window.reset();
      record->now().features.clear();
    }
  } else if (command == "event") {
    std::string kind, text;
    words >> kind;
    std::getline(words >> std::ws, text);
    for (size_t n = 0; n < kEventKinds; ++n) {
      if (kind == event_name(static_cast<EventKind>(n))) record->event(static_cast<EventKind>(n), text, now);
    }
  } else if (command == "worst") {
    words >> value;
    record->worst({.id = next_id(),
                   .time = now,
                   .stream_time = 3'723'480'000'000,
                   .score = value,
                   .reference = sample_png(240, 135, 0),
                   .distorted = sample_png(240, 135, 1),
                   .difference = sample_png(240, 135, 2)});
  } else {
    return false;
  }
  record->changed();
  return true;
}

struct Input {
  SampleRecords &samples;
  GMainLoop *loop;
};

gboolean read_lines(int descriptor, GIOCondition, gpointer of) {
  auto *input = static_cast<Input *>(of);
  char bytes[4096];
  const ssize_t size = read(descriptor, bytes, sizeof bytes);
  if (size <= 0) {
    g_main_loop_quit(input->loop);
    return G_SOURCE_REMOVE;
  }
  buffered.append(bytes, static_cast<size_t>(size));
  for (size_t end; (end = buffered.find('\n')) != std::string::npos; buffered.erase(0, end + 1)) {
    std::cout << (obey(input->samples, buffered.substr(0, end)) ? "ok" : "what?") << std::endl;
  }
  return G_SOURCE_CONTINUE;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  // The history ends with a whole second: a score that is told at once begins a second of its own.
  const Time now = g_get_real_time() / 1'000'000 * 1'000'000;
  SampleRecords samples(now);
  const std::string kind = argc > 2 ? argv[2] : "";
  if (kind != "fresh") fill_history(samples[1], now, 84, 1.2);
  if (kind == "errors") {
    add_errors(samples, now);
  } else if (!kind.empty() && kind != "fresh") {
    add_channel(samples, now, kind);
  }
  // A second that is over reaches the readers even where nothing follows.
  g_timeout_add_seconds(
      1,
      [](gpointer of) -> gboolean {
        for (const auto &record : static_cast<SampleRecords *>(of)->records) {
          record->changed();
          record->tick(g_get_real_time());
        }
        return G_SOURCE_CONTINUE;
      },
      &samples);
  const std::vector<Record *> pointers = samples.pointers();
  std::string error;
  const auto server = Server::start(std::string("127.0.0.1:") + argv[1], pointers, samples.settings, error);
  if (!server) {
    std::cerr << error << std::endl;
    return 1;
  }
  std::cout << server->address() << std::endl;
  GMainLoop *loop = g_main_loop_new(nullptr, FALSE);
  Input input{samples, loop};
  g_unix_fd_add(STDIN_FILENO, G_IO_IN, read_lines, &input);
  g_main_loop_run(loop);
  g_main_loop_unref(loop);
}
