// The HTTP server: what it answers, what it refuses, and that no reader can make it grow.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "examples/monitor/event_stream.h"
#include "examples/monitor/server.h"
#include "tests/monitor/http_client.h"
#include "tests/monitor/sample_records.h"

namespace {

using namespace monitor;
using nlohmann::json;

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = Server::start("127.0.0.1:0", pointers_, samples_.settings, error_);
    ASSERT_TRUE(server_) << error_;
    port_ = port_of(server_->address());
  }

  SampleRecords samples_;
  std::vector<Record *> pointers_ = samples_.pointers();
  std::string error_;
  std::unique_ptr<Server> server_;
  int port_ = 0;
};

TEST_F(ServerTest, StateHasEveryRendition) {
  const Answer answer = get(port_, "/api/state");
  ASSERT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.header("content-type"), "application/json");
  EXPECT_EQ(answer.header("cache-control"), "no-store");
  const json state = json::parse(answer.body);
  EXPECT_EQ(state["version"], VMAFHIP_VERSION);
  EXPECT_GT(state["now_ms"], SampleRecords::kEnd / 1000);
  EXPECT_GT(state["memory_bytes"], 1'000'000);
  ASSERT_EQ(state["channels"].size(), 1u);
  EXPECT_EQ(state["channels"][0]["name"], "news");
  const json &renditions = state["channels"][0]["renditions"];
  ASSERT_EQ(renditions.size(), 2u);
  const json &one = renditions[0];
  EXPECT_EQ(one["channel"], "news");
  EXPECT_EQ(one["name"], "720p");
  EXPECT_EQ(one["reference"], "rtsp://source.example/news");
  EXPECT_EQ(one["source"], "rtsp://edge.example/news/720p");
  EXPECT_EQ(one["state"], "running");
  EXPECT_EQ(one["score"], 91.25);
  EXPECT_EQ(one["score_name"], "vmaf");
  EXPECT_EQ(one["window"]["mean"], 92.5);
  EXPECT_EQ(one["window"]["min"], 88.75);
  EXPECT_EQ(one["window"]["p5"], 89.5);
  EXPECT_EQ(one["features"]["integer_adm2"], 0.9875);
  EXPECT_EQ(one["pooled"]["vmaf"]["p1"], 60.5);
  EXPECT_EQ(one["counters"]["ref_unmatched"], 3);
  EXPECT_EQ(one["offset_seconds"], 0.48);
  EXPECT_EQ(one["confidence"], 0.96875);
  EXPECT_EQ(one["sync_state"], "locked");
  EXPECT_EQ(one["alert"], false);
  EXPECT_EQ(one["alert_threshold"], 80);
  EXPECT_EQ(one["alert_clear"], 85);
  EXPECT_EQ(one["lag_seconds"], 0.25);
  EXPECT_EQ(one["backend_reason"], "no GPU was found");
  ASSERT_EQ(one["points"].size(), 300u);
  EXPECT_EQ(one["points"][0], json::array({1'699'999'700'000, 91, 90}));
  ASSERT_EQ(one["events"].size(), 2u);
  EXPECT_EQ(one["events"][1]["kind"], "sync");
  EXPECT_EQ(one["events"][1]["time_ms"], 1'699'999'705'000);
  ASSERT_EQ(one["worst"].size(), 3u);
  EXPECT_EQ(one["worst"][0]["score"], 41.5);
  EXPECT_EQ(one["worst"][2]["difference"], nullptr);
  const json &two = renditions[1];
  EXPECT_EQ(two["source"], "x264enc bitrate=400");
  EXPECT_EQ(two["state"], "connecting");
  EXPECT_EQ(two["score"], nullptr);
  EXPECT_EQ(two["window"], nullptr);
  EXPECT_EQ(two["sync_state"], nullptr);
  EXPECT_EQ(two["points"], json::array());
}

TEST_F(ServerTest, LongHistoriesAreThinned) {
  Record &record = samples_[1];
  const int64_t begin = SampleRecords::kEnd / 1'000'000 - 5000;
  for (int64_t second = begin; second < begin + 5000; ++second) {
    record.score(second * 1'000'000, second == begin + 3001 ? 10 : 50);
  }
  const json state = json::parse(get(port_, "/api/state").body);
  const json &points = state["channels"][0]["renditions"][1]["points"];
  EXPECT_LE(points.size(), 2000u);
  EXPECT_GE(points.size(), 1600u);
  double lowest = 100;
  int64_t before = 0;
  for (const json &point : points) {
    lowest = std::min(lowest, point[2].get<double>());
    EXPECT_GT(point[0].get<int64_t>(), before);
    EXPECT_EQ(point[0].get<int64_t>() % 3000, 0);
    before = point[0];
  }
  EXPECT_EQ(lowest, 10) << "the lowest score must survive";
}

TEST_F(ServerTest, TheSecondThatIsNotOverIsNoPoint) {
  const Time now = g_get_real_time();
  samples_[1].score(now - 1'000'000, 70);
  samples_[1].score(now + 60'000'000, 30);
  const json state = json::parse(get(port_, "/api/state").body);
  const json &points = state["channels"][0]["renditions"][1]["points"];
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0][1], 70);
}

TEST_F(ServerTest, NamesThatAreNotUtf8DoNotBreakIt) {
  samples_[0].event(EventKind::warning, "caf\xe9", SampleRecords::kEnd);
  samples_[0].now().features["\xff"] = 1;
  samples_[0].now().lag_seconds = std::numeric_limits<double>::quiet_NaN();
  const json state = json::parse(get(port_, "/api/state").body);
  const json &one = state["channels"][0]["renditions"][0];
  EXPECT_EQ(one["events"][2]["text"], "caf\xef\xbf\xbd");
  EXPECT_EQ(one["lag_seconds"], nullptr);
}

TEST_F(ServerTest, ThePageAndWhatItLoads) {
  for (const auto &[path, type] : std::map<std::string, std::string>{{"/", "text/html"},
                                                                     {"/page.js", "text/javascript"},
                                                                     {"/score_chart.js", "text/javascript"},
                                                                     {"/html.js", "text/javascript"},
                                                                     {"/card.js", "text/javascript"},
                                                                     {"/page.css", "text/css"},
                                                                     {"/icon.svg", "image/svg+xml"},
                                                                     {"/report", "text/html"}}) {
    const Answer answer = get(port_, path);
    EXPECT_EQ(answer.status(), 200) << path;
    EXPECT_TRUE(answer.header("content-type").starts_with(type)) << path;
    EXPECT_EQ(answer.header("x-content-type-options"), "nosniff") << path;
    EXPECT_TRUE(answer.header("content-security-policy").starts_with("default-src ")) << path;
    EXPECT_EQ(answer.header("access-control-allow-origin"), "") << path;
    EXPECT_GT(answer.body.size(), 100u) << path;
  }
}

TEST_F(ServerTest, ChartJsOrWhatToInstall) {
  const Answer answer = get(port_, "/chart.js");
  if (access(VMAFHIP_CHART_JS, R_OK) == 0) {
    EXPECT_EQ(answer.status(), 200);
    EXPECT_NE(answer.body.find("Chart.js v3"), std::string::npos);
  } else {
    EXPECT_EQ(answer.status(), 404);
    EXPECT_NE(answer.body.find("libjs-chart.js"), std::string::npos);
  }
}

TEST_F(ServerTest, HeadIsGetWithoutItsBody) {
  for (const char *path : {"/", "/api/state", "/metrics", "/api/events", "/nothing"}) {
    const Answer with = std::string(path) == "/api/events" ? Answer{} : get(port_, path);
    const Answer without = ask(port_, request_text("HEAD", path));
    EXPECT_EQ(without.body, "") << path;
    EXPECT_EQ(without.status(), std::string(path) == "/nothing" ? 404 : 200) << path;
    if (std::string(path) == "/") {
      EXPECT_EQ(without.header("content-length"), with.header("content-length"));
    }
  }
}

TEST_F(ServerTest, OtherMethodsAreRefused) {
  for (const char *method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "BREW"}) {
    const Answer answer = ask(port_, request_text(method, "/api/state"));
    // libsoup itself answers what no server of its kind knows.
    EXPECT_TRUE(answer.status() == 405 || answer.status() == 400 || answer.status() == 501)
        << method << " " << answer.head;
    if (answer.status() == 405) {
      EXPECT_EQ(answer.header("allow"), "GET, HEAD") << method;
    }
    EXPECT_EQ(answer.body.find("channels"), std::string::npos) << method;
  }
  EXPECT_EQ(ask(port_, request_text("POST", "/api/state", "Content-Length: 5\r\n") + "hello").status(), 405);
}

TEST_F(ServerTest, RangesThatOverlapAreNotMultiplied) {
  std::string ranges = "Range: bytes=0-";
  for (int i = 0; i < 1000; ++i) ranges += ",0-";
  const Answer whole = get(port_, "/"), answer = get(port_, "/", ranges + "\r\n");
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.body.size(), whole.body.size());
}

TEST_F(ServerTest, ARequestsBodyDoesNotStayInMemory) {
  const auto resident = [] {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
  };
  constexpr long kBody = 64l << 20;
  const long before = resident();
  long most = before;
  auto task = std::async(std::launch::async, [&] {
    Connection connection(port_);
    connection.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kBody) +
                     "\r\n\r\n");
    const std::string piece(1 << 20, 'x');
    for (long sent = 0; sent < kBody; sent += long(piece.size())) connection.write(piece);
    return connection.read(true).substr(9, 3);
  });
  EXPECT_TRUE(turn_until([&] {
    most = std::max(most, resident());
    return task.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }));
  EXPECT_LT(most - before, kBody / 2);
}

TEST_F(ServerTest, PathsDoNotLeaveTheServedSet) {
  for (const char *path : {"/../etc/passwd",
                           "/..%2f..%2f..%2fetc%2fpasswd",
                           "/%2e%2e/%2e%2e/etc/passwd",
                           "//etc/passwd",
                           "/page.js/",
                           "/page.js/../../../../etc/passwd",
                           "/./page/index.html",
                           "/index.html",
                           "/page.gresource.xml",
                           "/thumbnails/",
                           "/thumbnails/../etc/passwd",
                           "/thumbnails/1/../../../etc/passwd",
                           "/thumbnails/-1/reference.png",
                           "/thumbnails/1/reference.png%00",
                           "/thumbnails/99999999999999999999999/reference.png",
                           "/api",
                           "/api/",
                           "/api/state/more",
                           "/metrics/",
                           "/chart.js/../../../../../../etc/passwd",
                           "/\\..\\etc",
                           "/%00",
                           "/~root"}) {
    const Answer answer = get(port_, path);
    EXPECT_TRUE(answer.status() == 404 || answer.status() == 400 || answer.status() == 403)
        << path << " " << answer.head;
    EXPECT_EQ(answer.body.find("root:"), std::string::npos) << path;
  }
  EXPECT_EQ(ask(port_, "GET etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").status(),
            400);
}

TEST_F(ServerTest, QueriesAreIgnored) { EXPECT_EQ(get(port_, "/api/state?x=%00&../../y").status(), 200); }

TEST_F(ServerTest, NoPageOfAnotherNameReadsIt) {
  const auto status = [&](const std::string &host) {
    return ask(port_, request_text("GET", "/api/state", "", host)).status();
  };
  for (const char *host :
       {"localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:9000", "[::1]:8080", "[::1]"}) {
    EXPECT_EQ(status(host), 200) << host;
  }
  for (const char *host : {"evil.example", "evil.example:8080", "localhost.evil.example",
                           "127.0.0.1.evil.example", "192.168.1.1", "[::2]", "evil@localhost", "0.0.0.0"}) {
    const int answered = status(host);
    EXPECT_TRUE(answered == 403 || answered == 400) << host << " " << answered;
  }
}

TEST_F(ServerTest, Thumbnails) {
  const WorstFrame &worst = samples_[0].worst_frames()[0];
  const std::string folder = "/thumbnails/" + std::to_string(worst.id);
  for (const auto &[name, image] : std::map<std::string, Image>{{"/reference.png", worst.reference},
                                                                {"/distorted.png", worst.distorted},
                                                                {"/difference.png", worst.difference}}) {
    const Answer answer = get(port_, folder + name);
    EXPECT_EQ(answer.status(), 200) << name;
    EXPECT_EQ(answer.header("content-type"), "image/png");
    EXPECT_EQ(answer.body, *image) << name;
  }
  EXPECT_EQ(get(port_, folder + "/other.png").status(), 404);
  EXPECT_EQ(get(port_, folder).status(), 404);
  EXPECT_EQ(get(port_, "/thumbnails/" + std::to_string(samples_[0].worst_frames()[2].id) + "/difference.png")
                .status(),
            404)
      << "a picture that could not be made";
}

TEST_F(ServerTest, ThumbnailsOfAFrameThatWasJustReplaced) {
  WorstFrame frame = samples_[0].worst_frames()[0];
  const std::string address = "/thumbnails/" + std::to_string(frame.id) + "/reference.png";
  frame.id = next_id();
  frame.score -= 1;
  samples_[0].worst(frame);
  EXPECT_NE(samples_[0].worst_frames()[0].score, 41.5);
  EXPECT_EQ(get(port_, address).status(), 200) << "a page that has not heard of it yet asks";
}

TEST_F(ServerTest, MetricsInBothFormats) {
  const Answer text = get(port_, "/metrics");
  EXPECT_EQ(text.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(text.body.find("vmafhip_score{channel=\"news\",rendition=\"720p\"} 91.25\n"), std::string::npos);
  EXPECT_EQ(text.body.find("# EOF"), std::string::npos);
  for (const char *accept :
       {"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "text/plain;q=0.2, application/openmetrics-text"}) {
    const Answer open = get(port_, "/metrics", std::string("Accept: ") + accept + "\r\n");
    EXPECT_EQ(open.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
    EXPECT_TRUE(open.body.ends_with("# EOF\n"));
  }
  const Answer html = get(port_, "/metrics", "Accept: text/html,application/openmetrics-text;q=0.1\r\n");
  EXPECT_TRUE(html.header("content-type").starts_with("text/plain"));
}

// ---- server-sent events --------------------------------------------------------------------------------

// Reads a stream of events while the main context turns.
class Reader {
 public:
  Reader(int port, const std::string &more = "", int buffer = 0) : connection_(port, buffer) {
    connection_.write("GET /api/events HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n");
  }
  bool wait_for(const std::string &what) {
    return turn_until([&] {
             text_ += connection_.read(false);
             return text_.find(what) != std::string::npos || connection_.ended();
           }) &&
           text_.find(what) != std::string::npos;
  }
  const std::string &text() const { return text_; }
  void forget() { text_.clear(); }
  Connection &connection() { return connection_; }
  // Data of the events of a kind.
  std::vector<json> all(const std::string &kind) const {
    std::vector<json> result;
    const std::string begin = "event: " + kind + "\ndata: ";
    for (size_t at = text_.find(begin); at != std::string::npos; at = text_.find(begin, at + 1)) {
      const size_t data = at + begin.size();
      result.push_back(json::parse(text_.substr(data, text_.find("\n\n", data) - data)));
    }
    return result;
  }

 private:
  Connection connection_;
  std::string text_;
};

TEST_F(ServerTest, ReadersAreToldWhatHappensAndHowItStands) {
  Reader reader(port_);
  ASSERT_TRUE(reader.wait_for("\"360p\""));
  EXPECT_NE(reader.text().find("text/event-stream"), std::string::npos);
  ASSERT_EQ(reader.all("rendition").size(), 2u) << "where each stands, at once";
  EXPECT_TRUE(reader.all("happened").empty()) << "nothing old unless asked for";

  samples_[1].event(EventKind::alert_raised, "62.5 is below 80", SampleRecords::kEnd);
  ASSERT_TRUE(reader.wait_for("is below 80"));
  const json happened = reader.all("happened").at(0);
  EXPECT_EQ(happened["channel"], "news");
  EXPECT_EQ(happened["rendition"], "360p");
  EXPECT_EQ(happened["event"]["kind"], "alert_raised");
  EXPECT_NE(reader.text().find("id: " + std::to_string(samples_[1].events().back().id) + "\n"),
            std::string::npos);

  samples_[1].now().alert = true;
  samples_[1].changed();
  samples_[1].tick(g_get_real_time());
  ASSERT_TRUE(reader.wait_for("\"alert\":true"));
  const json now = reader.all("rendition").back();
  EXPECT_EQ(now["name"], "360p");
  EXPECT_FALSE(now.contains("events"));
}

TEST_F(ServerTest, ASecondIsToldOnceAndNoneIsLeftOut) {
  Reader reader(port_);
  ASSERT_TRUE(reader.wait_for("\"360p\""));
  // Changes that are told more than a second apart must not lose the second between.
  for (int n = 0; n < 3; ++n) {
    samples_[1].score(g_get_real_time(), 50);
    const Time until = g_get_real_time() + 1'400'000;
    turn_until([&] {
      samples_[1].score(g_get_real_time(), 50);
      return g_get_real_time() > until;
    });
    samples_[1].now().lag_seconds = 100 + n;
    samples_[1].changed();
    samples_[1].tick(g_get_real_time());
    ASSERT_TRUE(reader.wait_for("\"lag_seconds\":" + std::to_string(100 + n)));
  }
  std::vector<int64_t> seconds;
  for (const json &now : reader.all("rendition")) {
    for (const json &point : now["points"]) seconds.push_back(point[0].get<int64_t>() / 1000);
  }
  // On a machine that is busy a second may have no score at all.
  std::vector<int64_t> expected;
  for (const Second &second : samples_[1].seconds()) expected.push_back(second.second);
  ASSERT_GE(seconds.size(), 2u);
  ASSERT_LT(seconds.size(), expected.size()) << "the second that is not over";
  expected.resize(seconds.size());
  EXPECT_EQ(seconds, expected);
}

TEST_F(ServerTest, AReaderThatComesBackGetsWhatItMissed) {
  samples_[0].event(EventKind::lost, "one", SampleRecords::kEnd);
  const uint64_t seen = samples_[0].events().back().id;
  samples_[1].event(EventKind::retry, "two", SampleRecords::kEnd);
  samples_[0].event(EventKind::started, "three", SampleRecords::kEnd);
  Reader reader(port_, "Last-Event-ID: " + std::to_string(seen) + "\r\n");
  ASSERT_TRUE(reader.wait_for("\"360p\""));
  ASSERT_TRUE(reader.wait_for("three"));
  const std::vector<json> happened = reader.all("happened");
  ASSERT_EQ(happened.size(), 2u);
  EXPECT_EQ(happened[0]["event"]["text"], "two");
  EXPECT_EQ(happened[1]["event"]["text"], "three");
  Reader earlier(port_, "Last-Event-ID: 17\r\n");  // of a process before: all ids of this one are higher
  ASSERT_TRUE(earlier.wait_for("three"));
  EXPECT_EQ(earlier.all("happened").size(), 5u);
}

TEST_F(ServerTest, AReaderThatDoesNotReadIsLetGo) {
  // What the kernel may keep of what was written, and the server's own bound, and something more.
  size_t smallest = 0, usual = 0, kept = 0;
  std::ifstream("/proc/sys/net/ipv4/tcp_wmem") >> smallest >> usual >> kept;
  constexpr size_t kEvent = 500'000;
  const size_t events = (kept + (1 << 18) + EventStream::kMostWaiting) / kEvent + 3;
  Reader slow(port_, "", 1 << 16), quick(port_);
  ASSERT_TRUE(slow.wait_for("\"360p\""));
  ASSERT_TRUE(quick.wait_for("\"360p\""));
  const std::string text(kEvent, 'x');
  for (size_t n = 0; n < events; ++n) {
    samples_[0].event(EventKind::warning, text + std::to_string(n), SampleRecords::kEnd);
    ASSERT_TRUE(quick.wait_for("x" + std::to_string(n) + "\","));
    quick.forget();
  }
  size_t received = 0;
  EXPECT_TRUE(turn_until([&] {
    received += slow.connection().read(false).size();
    return slow.connection().ended();
  })) << "its connection ends";
  EXPECT_LT(received, kEvent * (events - 1));
}

// Descriptors are for pipelines and reports, too.
TEST_F(ServerTest, ConnectionsBeyondABoundAreClosedAtOnce) {
  constexpr size_t kBound = 256;
  std::vector<std::unique_ptr<Connection>> idle;
  for (size_t n = 0; n < kBound; ++n) {
    idle.push_back(std::make_unique<Connection>(port_));
    turn_until([&] { return !g_main_context_pending(nullptr); });
  }
  Connection beyond(port_);
  EXPECT_TRUE(turn_until([&] {
    beyond.read(false);
    return beyond.ended();
  }));
  EXPECT_FALSE(idle.back()->ended());
  idle.clear();
  // Room again.
  EXPECT_TRUE(turn_until([&] {
    Reader reader(port_);
    return reader.wait_for("\"360p\"");
  }));
}

TEST_F(ServerTest, ReadersThatGoAreForgotten) {
  for (size_t n = 0; n < EventStream::kMostReaders + 20; ++n) {
    Reader reader(port_);
    ASSERT_TRUE(reader.wait_for("\"360p\"")) << n;
    reader.connection().close();
    // The end is seen when something is written.
    samples_[0].event(EventKind::warning, "a", SampleRecords::kEnd);
    turn_until([&] { return !g_main_context_pending(nullptr); });
    samples_[0].event(EventKind::warning, "b", SampleRecords::kEnd);
    turn_until([&] { return !g_main_context_pending(nullptr); });
  }
}

TEST_F(ServerTest, TooManyReadersAreRefused) {
  std::vector<std::unique_ptr<Reader>> readers;
  for (size_t n = 0; n < EventStream::kMostReaders; ++n) {
    readers.push_back(std::make_unique<Reader>(port_));
    ASSERT_TRUE(readers.back()->wait_for("\"360p\"")) << n;
  }
  EXPECT_EQ(get(port_, "/api/events").status(), 503);
  EXPECT_EQ(get(port_, "/api/state").status(), 200) << "others are answered still";
}

TEST_F(ServerTest, EndsWhileReadersListen) {
  Reader reader(port_);
  ASSERT_TRUE(reader.wait_for("\"360p\""));
  server_.reset();
  samples_[0].event(EventKind::warning, "no one listens", SampleRecords::kEnd);
  samples_[0].changed();
  samples_[0].tick(g_get_real_time());
  EXPECT_TRUE(turn_until([&] {
    reader.connection().read(false);
    return reader.connection().ended();
  }));
}

// ---- where it listens ----------------------------------------------------------------------------------

TEST_F(ServerTest, APortInUseIsAClearError) {
  const std::string listen = "127.0.0.1:" + std::to_string(port_);
  std::string error;
  EXPECT_FALSE(Server::start(listen, pointers_, samples_.settings, error));
  EXPECT_NE(error.find(listen), std::string::npos) << error;
  EXPECT_NE(error.find("--listen"), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  samples_[0].event(EventKind::warning, "observers of the one that listens are kept", SampleRecords::kEnd);
}

TEST(ServerListenTest, WhatIsNoAddressIsAClearError) {
  SampleRecords samples;
  const std::vector<Record *> pointers = samples.pointers();
  for (const char *listen :
       {"", "8080", ":8080", "localhost", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:80x", "::1:80", "[::1]", "host.example:80", "[127.0.0.1:80"}) {
    std::string error;
    EXPECT_FALSE(Server::start(listen, pointers, samples.settings, error)) << listen;
    EXPECT_NE(error.find("127.0.0.1:8080"), std::string::npos) << listen << ": " << error;
  }
}

TEST(ServerListenTest, AZoneThatIsNoneIsAClearError) {
  SampleRecords samples;
  const std::vector<Record *> pointers = samples.pointers();
  const GLogLevelFlags before = g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL);
  for (const char *listen : {"[::1%lo]:0", "[2001:db8::1%no-such-link]:80"}) {
    std::string error;
    EXPECT_FALSE(Server::start(listen, pointers, samples.settings, error)) << listen;
    EXPECT_NE(error.find("--listen " + std::string(listen)), std::string::npos) << error;
    EXPECT_NE(error.find("zone"), std::string::npos) << error;
  }
  g_log_set_always_fatal(before);
}

TEST(ServerListenTest, Ipv6) {
  SampleRecords samples;
  const std::vector<Record *> pointers = samples.pointers();
  std::string error;
  const auto server = Server::start("[::1]:0", pointers, samples.settings, error);
  if (!server) GTEST_SKIP() << error;  // a machine without IPv6
  EXPECT_TRUE(server->address().starts_with("http://[::1]:")) << server->address();
}

TEST(ServerListenTest, OthersMayAskByAnyNameWhenAskedTo) {
  SampleRecords samples;
  const std::vector<Record *> pointers = samples.pointers();
  std::string error;
  const auto server = Server::start("0.0.0.0:0", pointers, samples.settings, error);
  ASSERT_TRUE(server) << error;
  const int port = port_of(server->address());
  EXPECT_EQ(ask(port, request_text("GET", "/api/state", "", "monitor.example")).status(), 200);
}

}  // namespace
