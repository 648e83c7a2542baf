// Where the HTTP server listens and who may ask it: its own machine only unless told otherwise, and so many at once.
#pragma once
#include <libsoup/soup.h>

#include <memory>
#include <string>

namespace monitor {

// Listens while it lives, on the main context of the thread that opens it. Connections go to `soup`, which must outlive it.
class Listener {
 public:
  explicit Listener(SoupServer *soup) : soup_(soup) {}
  ~Listener();
  Listener(const Listener &) = delete;

  // `listen` as in --listen. Empty, or one line that says what to do where it cannot.
  std::string open(const std::string &listen);

  const std::string &address() const {
    return address_;
  }  // "http://127.0.0.1:8080/", the port that was found
  // Whether a request's Host header, null without one, names this machine.
  bool is_host_ours(const char *header) const;

 private:
  static gboolean take(GSocketService *, GSocketConnection *connection, GObject *, gpointer self);

  SoupServer *soup_;
  GSocketService *service_ = g_socket_service_new();
  std::shared_ptr<size_t> connections_ = std::make_shared<size_t>(0);  // some may end after the listener
  std::string host_, address_;
  bool loopback_ = false;
};

}  // namespace monitor
