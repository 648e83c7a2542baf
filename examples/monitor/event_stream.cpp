// Server-sent events: see the header.
#include "examples/monitor/event_stream.h"

#include <algorithm>

namespace monitor {

EventStream::EventStream()
    : heartbeat_(g_timeout_add_seconds(
          kHeartbeatSeconds,
          [](gpointer stream) -> gboolean {
            static_cast<EventStream *>(stream)->send(":\n\n");
            return G_SOURCE_CONTINUE;
          },
          this)) {}

EventStream::~EventStream() {
  g_source_remove(heartbeat_);
  while (!readers_.empty()) forget(readers_.front());
}

bool EventStream::add(SoupServerMessage *message, const std::string &first) {
  if (readers_.size() >= kMostReaders) return false;
  Reader &reader = readers_.emplace_back(Reader{this, SOUP_SERVER_MESSAGE(g_object_ref(message)), 0});
  SoupMessageHeaders *headers = soup_server_message_get_response_headers(message);
  soup_message_headers_set_encoding(headers, SOUP_ENCODING_CHUNKED);
  soup_message_headers_set_content_type(headers, "text/event-stream", nullptr);
  // Nginx, if there is one between, would collect what is meant to arrive now.
  soup_message_headers_replace(headers, "X-Accel-Buffering", "no");
  soup_server_message_set_status(message, SOUP_STATUS_OK, nullptr);
  soup_message_body_set_accumulate(soup_server_message_get_response_body(message), FALSE);
  g_signal_connect(message, "wrote-body-data", G_CALLBACK(+[](SoupServerMessage *, guint size, gpointer of) {
                     size_t &waiting = static_cast<Reader *>(of)->waiting;
                     waiting -= std::min<size_t>(waiting, size);
                   }),
                   &reader);
  g_signal_connect(message, "finished", G_CALLBACK(+[](SoupServerMessage *, gpointer of) {
                     Reader &reader = *static_cast<Reader *>(of);
                     reader.stream->forget(reader);
                   }),
                   &reader);
  append(reader, first);
  return true;
}

void EventStream::send(const std::string &text) {
  for (auto next = readers_.begin(); next != readers_.end();) {
    Reader &reader = *next++;
    if (reader.waiting + text.size() > kMostWaiting) {
      // What the kernel already has still arrives, then the end.
      GIOStream *connection = soup_server_message_steal_connection(reader.message);
      forget(reader);
      g_io_stream_close(connection, nullptr, nullptr);
      g_object_unref(connection);
      continue;
    }
    append(reader, text);
    soup_server_message_unpause(reader.message);
  }
}

void EventStream::append(Reader &reader, const std::string &text) {
  reader.waiting += text.size();
  soup_message_body_append(soup_server_message_get_response_body(reader.message), SOUP_MEMORY_COPY,
                           text.data(), text.size());
}

void EventStream::forget(Reader &reader) {
  g_signal_handlers_disconnect_by_data(reader.message, &reader);
  g_object_unref(reader.message);
  readers_.remove_if([&](const Reader &other) { return &other == &reader; });
}

}  // namespace monitor
