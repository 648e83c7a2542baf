#include "examples/monitor/server.h"

namespace monitor {

struct Server::Body {};

Server::Server(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Server::~Server() = default;

std::unique_ptr<Server> Server::start(const std::string &, std::span<Record *const>, const Settings &,
                                      std::string &error) {
  error = "to be written";
  return nullptr;
}

std::string Server::address() const { return ""; }

}  // namespace monitor
