// The HTTP server: what is asked and what is answered. See the header.
#include "examples/monitor/server.h"

#include <libsoup/soup.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <vector>

#include "examples/monitor/event_stream.h"
#include "examples/monitor/listener.h"
#include "examples/monitor/metrics.h"
#include "examples/monitor/report.h"
#include "examples/monitor/state_json.h"
#include "examples/monitor/taking.h"

namespace monitor {

namespace {

struct Asset {
  const char *path, *file, *type;
};
constexpr Asset kAssets[] = {
    {"/", "index.html", "text/html; charset=utf-8"},
    {"/page.css", "page.css", "text/css; charset=utf-8"},
    {"/page.js", "page.js", "text/javascript; charset=utf-8"},
    {"/score_chart.js", "score_chart.js", "text/javascript; charset=utf-8"},
    {"/card.js", "card.js", "text/javascript; charset=utf-8"},
    {"/html.js", "html.js", "text/javascript; charset=utf-8"},
    {"/icon.svg", "icon.svg", "image/svg+xml"},
};

// Where a page may load from. The report brings its style and pictures along and runs no script.
constexpr const char *kPagePolicy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
constexpr const char *kReportPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

void answer(SoupServerMessage *message, unsigned status, const char *type, const std::string &body) {
  soup_server_message_set_status(message, status, nullptr);
  soup_server_message_set_response(message, type, SOUP_MEMORY_COPY, body.data(), body.size());
}

void refuse(SoupServerMessage *message, unsigned status, const std::string &why) {
  answer(message, status, "text/plain; charset=utf-8", why + "\n");
}

void set_header(SoupServerMessage *message, const char *name, const char *value) {
  soup_message_headers_replace(soup_server_message_get_response_headers(message), name, value);
}

const char *get_header(SoupServerMessage *message, const char *name) {
  return soup_message_headers_get_one(soup_server_message_get_request_headers(message), name);
}

// The first of the formats that the reader would like best; plain text if it asks for nothing that we have.
MetricsFormat choose_format(SoupServerMessage *message) {
  const char *accept =
      soup_message_headers_get_list(soup_server_message_get_request_headers(message), "Accept");
  MetricsFormat format = MetricsFormat::text;
  if (!accept) return format;
  GSList *types = soup_header_parse_quality_list(accept, nullptr);
  for (GSList *type = types; type; type = type->next) {
    const auto *text = static_cast<const char *>(type->data);
    if (g_str_has_prefix(text, "text/")) break;
    if (g_str_has_prefix(text, "application/openmetrics-text")) {
      format = MetricsFormat::openmetrics;
      break;
    }
  }
  soup_header_free_list(types);
  return format;
}

}  // namespace

struct Server::Body {
  std::vector<Record *> records;
  const Settings &settings;
  Time started = g_get_real_time();
  std::unique_ptr<SoupServer, Free<g_object_unref>> soup{
      soup_server_new("server-header", "vmafhip-monitor", nullptr)};
  Listener listener{soup.get()};
  EventStream events;
  std::map<const Record *, int64_t> told;  // the newest second whose point the readers have

  Body(std::span<Record *const> records, const Settings &settings)
      : records(records.begin(), records.end()), settings(settings) {}
  ~Body();

  void observe();
  void check(SoupServerMessage *message) const;
  void serve(SoupServerMessage *message, const std::string &path);
  bool serve_asset(SoupServerMessage *message, const std::string &path) const;
  void serve_chart(SoupServerMessage *message) const;
  void serve_thumbnail(SoupServerMessage *message, const std::string &path) const;
  void serve_events(SoupServerMessage *message);

  std::span<const Record *const> all() const { return {records.data(), records.size()}; }
  std::string rendition_event(const Record &record, Time now, nlohmann::json points) const;
  static std::string happened_event(const Record &record, const Event &event);
};

Server::Body::~Body() {
  for (Record *record : records) {
    record->on_event = nullptr;
    record->on_change = nullptr;
  }
  soup_server_disconnect(soup.get());
}

// Before a request's body is read: none is wanted, and one without end must not fill the memory.
void Server::Body::check(SoupServerMessage *message) const {
  soup_message_body_set_accumulate(soup_server_message_get_request_body(message), FALSE);
  // libsoup would answer thousands of ranges that overlap, each with a copy. Whoever asks for a part may be given all.
  soup_message_headers_remove(soup_server_message_get_request_headers(message), "Range");
  set_header(message, "X-Content-Type-Options", "nosniff");
  set_header(message, "Content-Security-Policy", kPagePolicy);
  set_header(message, "Cross-Origin-Resource-Policy", "same-origin");
  set_header(message, "Referrer-Policy", "no-referrer");
  set_header(message, "Cache-Control", "no-store");
  const std::string method = soup_server_message_get_method(message);
  if (method != "GET" && method != "HEAD") {
    set_header(message, "Allow", "GET, HEAD");
    refuse(message, SOUP_STATUS_METHOD_NOT_ALLOWED, "Only GET and HEAD are answered");
  } else if (!listener.is_host_ours(get_header(message, "Host"))) {
    refuse(message, SOUP_STATUS_FORBIDDEN,
           "Ask for localhost: this monitor serves its own machine only (see --listen)");
  }
}

// ---- what is answered --------------------------------------------------------------------------------

void Server::Body::serve(SoupServerMessage *message, const std::string &path) {
  if (serve_asset(message, path)) return;
  const Time now = g_get_real_time();
  if (path == "/chart.js") {
    serve_chart(message);
  } else if (path == "/api/state") {
    answer(message, SOUP_STATUS_OK, "application/json", json_text(state_json(all(), settings, started, now)));
  } else if (path == "/api/events") {
    serve_events(message);
  } else if (path == "/metrics") {
    const MetricsFormat format = choose_format(message);
    set_header(message, "Vary", "Accept");
    answer(message, SOUP_STATUS_OK, content_type(format), metrics_text(all(), started, format));
  } else if (path == "/report") {
    set_header(message, "Content-Security-Policy", kReportPolicy);
    answer(message, SOUP_STATUS_OK, "text/html; charset=utf-8", report_html(all(), settings));
  } else if (path.starts_with("/thumbnails/")) {
    serve_thumbnail(message, path);
  } else {
    refuse(message, SOUP_STATUS_NOT_FOUND, "There is nothing here; / has the page");
  }
}

bool Server::Body::serve_asset(SoupServerMessage *message, const std::string &path) const {
  const auto asset = std::ranges::find(kAssets, path, &Asset::path);
  if (asset == std::end(kAssets)) return false;
  const std::string name = std::string("/vmafhip/monitor/") + asset->file;
  GBytes *bytes = g_resources_lookup_data(name.c_str(), G_RESOURCE_LOOKUP_FLAGS_NONE, nullptr);
  if (!bytes) return false;
  gsize size = 0;
  const auto *data = static_cast<const char *>(g_bytes_get_data(bytes, &size));
  answer(message, SOUP_STATUS_OK, asset->type, std::string(data, size));
  g_bytes_unref(bytes);
  return true;
}

// Looked for at each request: the package may be installed while the monitor runs.
void Server::Body::serve_chart(SoupServerMessage *message) const {
  char *data = nullptr;
  gsize size = 0;
  if (!g_file_get_contents(VMAFHIP_CHART_JS, &data, &size, nullptr)) {
    refuse(message, SOUP_STATUS_NOT_FOUND, "Charts need Chart.js: install Debian's package libjs-chart.js");
    return;
  }
  answer(message, SOUP_STATUS_OK, "text/javascript; charset=utf-8", std::string(data, size));
  g_free(data);
}

// /thumbnails/ID/reference.png
void Server::Body::serve_thumbnail(SoupServerMessage *message, const std::string &path) const {
  const char *begin = path.data() + std::string("/thumbnails/").size(), *end = path.data() + path.size();
  uint64_t id = 0;
  const auto [stop, problem] = std::from_chars(begin, end, id);
  const std::string name(stop, end);
  Image image;
  for (const Record *record : records) {
    const WorstFrame *frame = problem == std::errc() ? record->find_worst(id) : nullptr;
    if (!frame) continue;
    if (name == "/reference.png") image = frame->reference;
    if (name == "/distorted.png") image = frame->distorted;
    if (name == "/difference.png") image = frame->difference;
  }
  if (!image) {
    refuse(message, SOUP_STATUS_NOT_FOUND, "There is no such thumbnail; frames leave when worse ones come");
    return;
  }
  set_header(message, "Cache-Control", "private, max-age=31536000, immutable");  // ids are never used twice
  answer(message, SOUP_STATUS_OK, "image/png", *image);
}

// ---- events ------------------------------------------------------------------------------------------

void Server::Body::observe() {
  for (Record *record : records) {
    told[record] = started / 1'000'000 - 1;
    record->on_event = [this](const Record &of, const Event &event) {
      events.send(happened_event(of, event));
    };
    record->on_change = [this](const Record &of) {
      const Time now = g_get_real_time();
      int64_t &newest = told[&of];
      events.send(rendition_event(of, now, points_json(of, now, newest, kPoints)));
      newest = now / 1'000'000 - 1;
    };
  }
}

std::string Server::Body::rendition_event(const Record &record, Time now, nlohmann::json points) const {
  nlohmann::json data = rendition_json(record, settings, now);
  data["points"] = std::move(points);
  return "event: rendition\ndata: " + json_text(data) + "\n\n";
}

std::string Server::Body::happened_event(const Record &record, const Event &event) {
  const nlohmann::json data{
      {"channel", record.channel}, {"rendition", record.name}, {"event", event_json(event)}};
  return "id: " + std::to_string(event.id) + "\nevent: happened\ndata: " + json_text(data) + "\n\n";
}

// First where all renditions stand, and what happened since the reader left, as far as it is kept.
void Server::Body::serve_events(SoupServerMessage *message) {
  std::string first = "retry: 2000\n\n";
  std::map<uint64_t, std::pair<const Record *, const Event *>> missed;
  if (const char *header = get_header(message, "Last-Event-ID")) {
    const uint64_t last = g_ascii_strtoull(header, nullptr, 10);
    for (const Record *record : records) {
      for (const Event &event : record->events()) {
        if (event.id > last) missed[event.id] = {record, &event};
      }
    }
  }
  while (missed.size() > Record::kEvents) missed.erase(missed.begin());
  for (const auto &[id, what] : missed) first += happened_event(*what.first, *what.second);
  for (const Record *record : records)
    first += rendition_event(*record, g_get_real_time(), nlohmann::json::array());
  if (std::string("HEAD") == soup_server_message_get_method(message)) {
    answer(message, SOUP_STATUS_OK, "text/event-stream", "");
  } else if (!events.add(message, first)) {
    refuse(message, SOUP_STATUS_SERVICE_UNAVAILABLE, "Too many pages are open");
  }
}

// ------------------------------------------------------------------------------------------------------

Server::Server(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Server::~Server() = default;
std::string Server::address() const { return body_->listener.address(); }

std::unique_ptr<Server> Server::start(const std::string &listen, std::span<Record *const> records,
                                      const Settings &settings, std::string &error) {
  auto body = std::make_unique<Body>(records, settings);
  error = body->listener.open(listen);
  if (!error.empty()) return nullptr;
  soup_server_add_early_handler(
      body->soup.get(), nullptr,
      [](SoupServer *, SoupServerMessage *message, const char *, GHashTable *, gpointer of) {
        static_cast<const Body *>(of)->check(message);
      },
      body.get(), nullptr);
  soup_server_add_handler(
      body->soup.get(), nullptr,
      [](SoupServer *, SoupServerMessage *message, const char *path, GHashTable *, gpointer of) {
        static_cast<Body *>(of)->serve(message, path);
      },
      body.get(), nullptr);
  body->observe();
  return std::unique_ptr<Server>(new Server(std::move(body)));
}

}  // namespace monitor
