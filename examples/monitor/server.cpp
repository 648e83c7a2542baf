// The HTTP server: listening, who may ask, and what is answered. See the header.
#include "examples/monitor/server.h"

#include <libsoup/soup.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "examples/monitor/event_stream.h"
#include "examples/monitor/metrics.h"
#include "examples/monitor/report.h"
#include "examples/monitor/state_json.h"

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

struct Listen {
  std::string host;
  uint16_t port;
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:0".
std::optional<Listen> parse_listen(const std::string &text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  Listen listen{text.substr(0, colon), 0};
  const char *begin = text.data() + colon + 1, *end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(begin, end, listen.port);
  if (begin == end || stop != end || problem != std::errc()) return std::nullopt;
  if (listen.host == "localhost") listen.host = "127.0.0.1";
  const bool bracketed = listen.host.size() > 2 && listen.host.front() == '[' && listen.host.back() == ']';
  if (bracketed) listen.host = listen.host.substr(1, listen.host.size() - 2);
  // An IPv6 address without brackets would leave its last group to the port.
  if (!bracketed && listen.host.find(':') != std::string::npos) return std::nullopt;
  if (!g_hostname_is_ip_address(listen.host.c_str())) return std::nullopt;
  return listen;
}

std::string in_address(const std::string &host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

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

// Each connection holds a descriptor, of which pipelines and reports need some, too: idle ones end after a minute, and
// beyond so many at once new ones are closed. Readers of events hear something every 15 s.
constexpr size_t kMostConnections = 256;
constexpr guint kIdleSeconds = 60;
using ConnectionCount = std::shared_ptr<size_t>;  // connections may end after the server

struct Connections {
  SoupServer *soup;
  ConnectionCount count = std::make_shared<size_t>(0);
};

// GIO listens and hands connections to libsoup: those that libsoup 3.2 accepts itself leave a GSocket behind each.
gboolean take_connection(GSocketService *, GSocketConnection *connection, GObject *, gpointer data) {
  const Connections &connections = *static_cast<Connections *>(data);
  if (*connections.count >= kMostConnections) return TRUE;
  ++*connections.count;
  g_object_weak_ref(
      G_OBJECT(connection),
      [](gpointer count, GObject *) {
        const std::unique_ptr<ConnectionCount> mine(static_cast<ConnectionCount *>(count));
        --**mine;
      },
      new ConnectionCount(connections.count));
  g_socket_set_timeout(g_socket_connection_get_socket(connection), kIdleSeconds);
  GSocketAddress *local = g_socket_connection_get_local_address(connection, nullptr);
  GSocketAddress *remote = g_socket_connection_get_remote_address(connection, nullptr);
  // One that has gone already has no addresses.
  if (local && remote) {
    soup_server_accept_iostream(connections.soup, G_IO_STREAM(connection), local, remote, nullptr);
  }
  g_clear_object(&local);
  g_clear_object(&remote);
  return TRUE;
}

}  // namespace

struct Server::Body {
  std::vector<Record *> records;
  const Settings &settings;
  Time started = g_get_real_time();
  SoupServer *soup = soup_server_new("server-header", "vmafhip-monitor", nullptr);
  GSocketService *service = g_socket_service_new();
  Connections connections{soup};
  EventStream events;
  std::map<const Record *, int64_t> told;  // the newest second whose point the readers have
  std::string host, address;
  bool loopback = false;

  Body(std::span<Record *const> records, const Settings &settings)
      : records(records.begin(), records.end()), settings(settings) {}
  ~Body();

  std::string listen(const Listen &at);
  void observe();
  bool is_host_ours(const char *header) const;
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
  g_socket_service_stop(service);
  g_socket_listener_close(G_SOCKET_LISTENER(service));
  g_object_unref(service);
  soup_server_disconnect(soup);
  g_object_unref(soup);
}

// ---- who may ask -------------------------------------------------------------------------------------

std::string Server::Body::listen(const Listen &at) {
  host = at.host;
  GSocketAddress *socket_address = g_inet_socket_address_new_from_string(at.host.c_str(), at.port);
  if (!socket_address) return "--listen " + in_address(host) + ": give an address without a zone";
  GInetAddress *inet = g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(socket_address));
  loopback = g_inet_address_get_is_loopback(inet);
  const bool any = g_inet_address_get_is_any(inet);
  GError *problem = nullptr;
  GSocketAddress *bound = nullptr;
  g_socket_listener_add_address(G_SOCKET_LISTENER(service), socket_address, G_SOCKET_TYPE_STREAM,
                                G_SOCKET_PROTOCOL_TCP, nullptr, &bound, &problem);
  g_object_unref(socket_address);
  if (problem) {
    const std::string port = std::to_string(at.port);
    const std::string error = "Cannot listen on " + in_address(host) + ":" + port + " (" + problem->message +
                              "): give another --listen ADDRESS:PORT; port 0 takes any free one";
    g_error_free(problem);
    return error;
  }
  const int port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
  g_object_unref(bound);
  g_signal_connect(service, "incoming", G_CALLBACK(take_connection), &connections);
  address = "http://" + (any ? g_get_host_name() : in_address(host)) + ":" + std::to_string(port) + "/";
  return "";
}

// A page from elsewhere can have its own name resolve to this machine and then read what only this machine may; its
// requests still carry that name. Ports are not compared, as they may be forwarded.
bool Server::Body::is_host_ours(const char *header) const {
  if (!loopback) return true;
  if (!header) return false;
  std::string name = header;
  const size_t colon = name.rfind(':');
  if (colon != std::string::npos && name.find(']', colon) == std::string::npos) name.resize(colon);
  std::ranges::transform(name, name.begin(), g_ascii_tolower);
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]" || name == in_address(host);
}

// Before a request's body is read: none is wanted, and one without end must not fill the memory.
void Server::Body::check(SoupServerMessage *message) const {
  soup_message_body_set_accumulate(soup_server_message_get_request_body(message), FALSE);
  set_header(message, "X-Content-Type-Options", "nosniff");
  set_header(message, "Content-Security-Policy", kPagePolicy);
  set_header(message, "Cross-Origin-Resource-Policy", "same-origin");
  set_header(message, "Referrer-Policy", "no-referrer");
  set_header(message, "Cache-Control", "no-store");
  const std::string method = soup_server_message_get_method(message);
  if (method != "GET" && method != "HEAD") {
    set_header(message, "Allow", "GET, HEAD");
    refuse(message, SOUP_STATUS_METHOD_NOT_ALLOWED, "Only GET and HEAD are answered");
  } else if (!is_host_ours(get_header(message, "Host"))) {
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
    for (const WorstFrame &frame : record->worst_frames()) {
      if (problem != std::errc() || frame.id != id) continue;
      if (name == "/reference.png") image = frame.reference;
      if (name == "/distorted.png") image = frame.distorted;
      if (name == "/difference.png") image = frame.difference;
    }
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
std::string Server::address() const { return body_->address; }

std::unique_ptr<Server> Server::start(const std::string &listen, std::span<Record *const> records,
                                      const Settings &settings, std::string &error) {
  const std::optional<Listen> at = parse_listen(listen);
  if (!at) {
    error = "--listen " + listen + ": give ADDRESS:PORT, such as 127.0.0.1:8080, [::1]:0 or 0.0.0.0:8080";
    return nullptr;
  }
  auto body = std::make_unique<Body>(records, settings);
  error = body->listen(*at);
  if (!error.empty()) return nullptr;
  soup_server_add_early_handler(
      body->soup, nullptr,
      [](SoupServer *, SoupServerMessage *message, const char *, GHashTable *, gpointer of) {
        static_cast<const Body *>(of)->check(message);
      },
      body.get(), nullptr);
  soup_server_add_handler(
      body->soup, nullptr,
      [](SoupServer *, SoupServerMessage *message, const char *path, GHashTable *, gpointer of) {
        static_cast<Body *>(of)->serve(message, path);
      },
      body.get(), nullptr);
  body->observe();
  return std::unique_ptr<Server>(new Server(std::move(body)));
}

}  // namespace monitor
