#include "examples/monitor/main_loop.h"

#include <thread>
#include <utility>

namespace monitor {

namespace {

int jobs = 0;  // of the main loop's thread

struct Job {
  std::function<void()> work, then;
};

}  // namespace

void Timer::set(double seconds, std::function<void()> call) {
  cancel();
  call_ = std::move(call);
  source_ = g_timeout_add(guint(seconds * 1000), on_time, this);
}

void Timer::cancel() {
  if (source_) g_source_remove(source_);
  source_ = 0;
}

gboolean Timer::on_time(gpointer self) {
  auto *timer = static_cast<Timer *>(self);
  timer->source_ = 0;
  std::exchange(timer->call_, nullptr)();  // which may set it anew
  return G_SOURCE_REMOVE;
}

void in_background(std::function<void()> work, std::function<void()> then) {
  ++jobs;
  std::thread([job = new Job{std::move(work), std::move(then)}] {
    job->work();
    job->work = nullptr;
    g_main_context_invoke_full(
        nullptr, G_PRIORITY_DEFAULT,
        [](gpointer done) -> gboolean {
          static_cast<Job *>(done)->then();
          return G_SOURCE_REMOVE;
        },
        job,
        [](gpointer done) {
          delete static_cast<Job *>(done);
          --jobs;
        });
  }).detach();
}

bool background_is_idle() {
  while (g_main_context_iteration(nullptr, FALSE)) {
  }
  return jobs == 0;
}

}  // namespace monitor
