#include "tests/fences.h"

#include <dlfcn.h>
#include <gst/allocators/gstdmabuf.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace {

using Identity = std::pair<dev_t, ino_t>;

// Not destroyed: threads may poll to the last.
struct Registry {
  std::mutex mutex;
  std::map<Identity, int> events;  // readable once signalled
};
Registry &registry() {
  static auto *all = new Registry;
  return *all;
}
std::atomic<bool> any{false};

Identity identity(int fd) {
  struct stat status = {};
  ::fstat(fd, &status);
  return {status.st_dev, status.st_ino};
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int poll(pollfd *fds, nfds_t count, int timeout) {
  static const auto next = reinterpret_cast<int (*)(pollfd *, nfds_t, int)>(::dlsym(RTLD_NEXT, "poll"));
  if (!any) return next(fds, count, timeout);
  std::vector<pollfd> asked(fds, fds + count);
  {
    std::lock_guard lock(registry().mutex);
    for (pollfd &what : asked) {
      const auto fence = what.fd < 0 ? registry().events.end() : registry().events.find(identity(what.fd));
      if (fence != registry().events.end()) what.fd = fence->second;
    }
  }
  const int result = next(asked.data(), count, timeout);
  for (nfds_t i = 0; i < count; ++i) fds[i].revents = asked[i].revents;
  return result;
}

namespace vmafhip::test {

Fence::Fence(GstBuffer *buffer) : event_(::eventfd(0, EFD_CLOEXEC)) {
  std::lock_guard lock(registry().mutex);
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i)
    registry().events[identity(gst_dmabuf_memory_get_fd(gst_buffer_peek_memory(buffer, i)))] = event_;
  any = true;
}

void Fence::signal() { ::eventfd_write(event_, 1); }

Fence::~Fence() {
  signal();
  std::lock_guard lock(registry().mutex);
  std::erase_if(registry().events, [this](const auto &entry) { return entry.second == event_; });
  any = !registry().events.empty();
  ::close(event_);
}

}  // namespace vmafhip::test
