// Server-sent events: text that goes to every reader of /api/events. A reader that does not keep up is let go: browsers
// connect again and ask for what they missed.
#pragma once
#include <libsoup/soup.h>

#include <list>
#include <string>

namespace monitor {

class EventStream {
 public:
  static constexpr size_t kMostWaiting = 1 << 20;  // bytes for one reader
  static constexpr size_t kMostReaders = 100;
  static constexpr unsigned kHeartbeatSeconds =
      15;  // shows readers, and proxies between, that the connection lives

  EventStream();
  ~EventStream();
  EventStream(const EventStream &) = delete;
  EventStream &operator=(const EventStream &) = delete;

  // Answers `message` with `first` and whatever is sent later. False if there are too many readers.
  bool add(SoupServerMessage *message, const std::string &first);
  void send(const std::string &text);

 private:
  struct Reader {
    EventStream *stream;
    SoupServerMessage *message;
    size_t waiting;
  };
  void append(Reader &reader, const std::string &text);
  void forget(Reader &reader);

  std::list<Reader> readers_;
  unsigned heartbeat_;
};

}  // namespace monitor
