// Requests byte for byte, answers byte for byte: what a library would put right is what the tests are about. The server
// runs on this thread's main context, so each request waits in a thread of its own while that context turns.
#pragma once
#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <string>

struct Answer {
  std::string head, body;
  int status() const { return head.size() > 12 ? std::stoi(head.substr(9, 3)) : 0; }
  // A header's value, empty if it is not there.
  std::string header(std::string name) const {
    std::string lower = head;
    std::ranges::transform(lower, lower.begin(), g_ascii_tolower);
    std::ranges::transform(name, name.begin(), g_ascii_tolower);
    const size_t at = lower.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

class Connection {
 public:
  // The kernel keeps about `buffer` bytes that were not read; 0: as many as it likes.
  explicit Connection(int port, int buffer = 0) {
    descriptor_ = socket(AF_INET, SOCK_STREAM, 0);
    if (buffer > 0) setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(descriptor_, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) close();
  }
  ~Connection() { close(); }
  Connection(const Connection &) = delete;
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  bool is_open() const { return descriptor_ >= 0; }
  void write(const std::string &text) {
    size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t now = ::send(descriptor_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) return;
      sent += static_cast<size_t>(now);
    }
  }
  // What has come; with `wait`, at least something unless it is the end.
  std::string read(bool wait) {
    std::string text(1 << 18, '\0');
    const ssize_t size = recv(descriptor_, text.data(), text.size(), wait ? 0 : MSG_DONTWAIT);
    ended_ = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
    text.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return text;
  }
  bool ended() const { return ended_; }

 private:
  int descriptor_;
  bool ended_ = false;
};

// Turns the main context until `done()` or the time is over; whether it was done.
template <typename Done>
bool turn_until(Done &&done, std::chrono::seconds most = std::chrono::seconds(60)) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    if (!g_main_context_iteration(nullptr, FALSE)) g_usleep(200);
  }
  return true;
}

// A whole exchange; `request` should ask for the connection to be closed.
inline Answer ask(int port, const std::string &request) {
  auto task = std::async(std::launch::async, [&] {
    Connection connection(port);
    connection.write(request);
    std::string text;
    while (connection.is_open() && !connection.ended()) text += connection.read(true);
    return text;
  });
  turn_until([&] { return task.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  const std::string text = task.get();
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return {text, ""};
  return {text.substr(0, end + 2), text.substr(end + 4)};
}

inline std::string request_text(const std::string &method, const std::string &path,
                                const std::string &more = "", const std::string &host = "localhost") {
  return method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + more + "\r\n";
}

inline Answer get(int port, const std::string &path, const std::string &more = "") {
  return ask(port, request_text("GET", path, more));
}

inline int port_of(const std::string &address) { return std::stoi(address.substr(address.rfind(':') + 1)); }
