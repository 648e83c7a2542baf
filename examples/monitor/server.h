// What the monitor shows over HTTP: page, state, events, thumbnails, metrics, report. It reads only, answers only GET and
// HEAD, and serves a fixed set of paths: assets are compiled in, everything else is made from records.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "examples/monitor/record.h"
#include "examples/monitor/settings.h"

namespace monitor {

// Listens while it lives, on the main context of the thread that starts it. Records and settings must outlive it; it
// takes the records' observers.
class Server {
 public:
  // Null, and one line in `error` that says what to do, where it cannot listen.
  static std::unique_ptr<Server> start(const std::string &listen, std::span<Record *const> records,
                                       const Settings &settings, std::string &error);
  ~Server();

  std::string address() const;  // "http://127.0.0.1:8080/", the port that was found

 private:
  struct Body;
  explicit Server(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace monitor
