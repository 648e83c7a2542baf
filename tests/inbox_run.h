// What tests of the inbox share: frames, and the threads on both sides of it. That something blocks is seen by waiting a
// little; that something goes on, by waiting as long as it takes.
#pragma once
#include <future>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "gst/vmafhip/inbox.h"
#include "gst/vmafhip/log.h"

namespace vmafhip::test {

using namespace std::chrono_literals;
using Taken = Inbox::Taken;
using Woken = Inbox::Woken;

constexpr gint64 kMs = 1'000'000;
constexpr Inbox::Limits kRoomy = {guint64(5'000 * kMs), guint64(1) << 30};
constexpr auto kLittle = 100ms;
constexpr auto kAges = 60s;

inline Item frame(gint64 time_ms, gsize bytes = 1) {
  Item item;
  item.buffer = adopt(gst_buffer_new());
  item.time = time_ms * kMs;
  item.timed = true;
  item.bytes = bytes;
  return item;
}

inline Item untimed_frame() {
  Item item = frame(0);
  item.timed = false;
  return item;
}

inline Item event() {
  Item item;
  item.event.reset(gst_event_new_gap(0, 1));
  return item;
}

class InboxTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    gst_init(nullptr, nullptr);
    register_log_categories();
  }
  void SetUp() override { inbox_.start(kRoomy); }

  // A put() on a thread of its own.
  std::future<GstFlowReturn> put_later(Side side, Item item) {
    auto shared = std::make_shared<Item>(std::move(item));
    return std::async(std::launch::async,
                      [this, side, shared] { return inbox_.put(side, std::move(*shared)); });
  }
  std::future<Woken> wait_later(std::optional<Side> needed) {
    return std::async(std::launch::async, [this, needed] { return inbox_.wait(needed); });
  }
  // Time of the next frame in ms, -1 an event, -2 the end, -3 nothing.
  gint64 take(Side side) {
    Item item;
    switch (inbox_.take(side, item)) {
      case Taken::item:
        return item.buffer ? item.time / kMs : -1;
      case Taken::ended:
        return -2;
      case Taken::nothing:
        break;
    }
    return -3;
  }
  void fill(Side side, int frames) {
    for (int n = 0; n < frames; ++n) ASSERT_EQ(inbox_.put(side, frame(40 * n)), GST_FLOW_OK);
  }

  Inbox inbox_;
};

template <class T>
bool blocks(std::future<T> &future) {
  return future.wait_for(kLittle) == std::future_status::timeout;
}

template <class T>
T result(std::future<T> &future) {
  if (future.wait_for(kAges) == std::future_status::timeout) {
    ADD_FAILURE() << "still blocked";
    std::abort();  // the future would wait for ever
  }
  return future.get();
}

// The comparing thread while it waits for `needed`; takes nothing.
class Waiter {
 public:
  Waiter(Inbox &inbox, std::optional<Side> needed)
      : inbox_(inbox), thread_([this, needed] {
          while (inbox_.wait(needed) != Woken::interrupted) {
          }
        }) {}
  ~Waiter() {
    inbox_.interrupt(true);
    thread_.join();
    inbox_.interrupt(false);
  }

 private:
  Inbox &inbox_;
  std::thread thread_;
};

}  // namespace vmafhip::test
