// Listening: see the header. GIO accepts connections and hands them to libsoup: those that libsoup 3.2 accepts itself leave
// a GSocket behind each.
#include "examples/monitor/listener.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace monitor {

namespace {

// Each connection holds a descriptor, of which pipelines and reports need some, too: idle ones end after a minute, and
// beyond so many at once new ones are closed. Readers of events hear something every 15 s.
constexpr size_t kMostConnections = 256;
constexpr guint kIdleSeconds = 60;

struct Place {
  std::string host;
  uint16_t port;
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:0".
std::optional<Place> parse(const std::string &text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  Place place{text.substr(0, colon), 0};
  const char *begin = text.data() + colon + 1, *end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(begin, end, place.port);
  if (begin == end || stop != end || problem != std::errc()) return std::nullopt;
  if (place.host == "localhost") place.host = "127.0.0.1";
  const bool bracketed = place.host.size() > 2 && place.host.front() == '[' && place.host.back() == ']';
  if (bracketed) place.host = place.host.substr(1, place.host.size() - 2);
  // An IPv6 address without brackets would leave its last group to the port.
  if (!bracketed && place.host.find(':') != std::string::npos) return std::nullopt;
  if (!g_hostname_is_ip_address(place.host.c_str())) return std::nullopt;
  return place;
}

std::string in_address(const std::string &host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

Listener::~Listener() {
  g_socket_service_stop(service_);
  g_socket_listener_close(G_SOCKET_LISTENER(service_));
  g_object_unref(service_);
}

std::string Listener::open(const std::string &listen) {
  const std::optional<Place> place = parse(listen);
  if (!place) {
    return "--listen " + listen + ": give ADDRESS:PORT, such as 127.0.0.1:8080, [::1]:0 or 0.0.0.0:8080";
  }
  host_ = place->host;
  // Zones (fe80::1%eth0) are for addresses of one link.
  GSocketAddress *wanted = g_inet_socket_address_new_from_string(host_.c_str(), place->port);
  if (!wanted) return "--listen " + listen + ": this address has no such zone; give it without";
  GInetAddress *inet = g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(wanted));
  loopback_ = g_inet_address_get_is_loopback(inet);
  const bool any = g_inet_address_get_is_any(inet);
  GError *problem = nullptr;
  GSocketAddress *bound = nullptr;
  g_socket_listener_add_address(G_SOCKET_LISTENER(service_), wanted, G_SOCKET_TYPE_STREAM,
                                G_SOCKET_PROTOCOL_TCP, nullptr, &bound, &problem);
  g_object_unref(wanted);
  if (problem) {
    const std::string error = "Cannot listen on " + in_address(host_) + ":" + std::to_string(place->port) +
                              " (" + problem->message +
                              "): give another --listen ADDRESS:PORT; port 0 takes any free one";
    g_error_free(problem);
    return error;
  }
  const int port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
  g_object_unref(bound);
  g_signal_connect(service_, "incoming", G_CALLBACK(take), this);
  address_ = "http://" + (any ? g_get_host_name() : in_address(host_)) + ":" + std::to_string(port) + "/";
  return "";
}

gboolean Listener::take(GSocketService *, GSocketConnection *connection, GObject *, gpointer self) {
  const Listener &listener = *static_cast<Listener *>(self);
  using Count = std::shared_ptr<size_t>;
  if (*listener.connections_ >= kMostConnections) return TRUE;
  ++*listener.connections_;
  g_object_weak_ref(
      G_OBJECT(connection),
      [](gpointer count, GObject *) {
        const std::unique_ptr<Count> mine(static_cast<Count *>(count));
        --**mine;
      },
      new Count(listener.connections_));
  g_socket_set_timeout(g_socket_connection_get_socket(connection), kIdleSeconds);
  GSocketAddress *local = g_socket_connection_get_local_address(connection, nullptr);
  GSocketAddress *remote = g_socket_connection_get_remote_address(connection, nullptr);
  // One that has gone already has no addresses.
  if (local && remote) {
    soup_server_accept_iostream(listener.soup_, G_IO_STREAM(connection), local, remote, nullptr);
  }
  g_clear_object(&local);
  g_clear_object(&remote);
  return TRUE;
}

// A page from elsewhere can have its own name resolve to this machine and then read what only this machine may; its
// requests still carry that name. Ports are not compared, as they may be forwarded.
bool Listener::is_host_ours(const char *header) const {
  if (!loopback_) return true;
  if (!header) return false;
  std::string name = header;
  const size_t colon = name.rfind(':');
  if (colon != std::string::npos && name.find(']', colon) == std::string::npos) name.resize(colon);
  std::ranges::transform(name, name.begin(), g_ascii_tolower);
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]" || name == in_address(host_);
}

}  // namespace monitor
