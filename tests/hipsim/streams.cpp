#include "tests/hipsim/streams.h"

#include <utility>

#include "tests/hipsim/hip_abi.h"
#include "tests/hipsim/settings.h"

namespace hipsim {
namespace {

// What has to be done first of all that `target` depends on, which is not done.
WorkPointer first_of(WorkPointer target) {
  for (;;) {
    WorkPointer earlier;
    for (const WorkPointer &work : target->after)
      if (!work->done) {
        earlier = work;
        break;
      }
    if (!earlier) return target;
    target = std::move(earlier);
  }
}

}  // namespace

void Queue::add(Stream &stream, WorkPointer work) {
  if (stream.last && !stream.last->done) work->after.insert(work->after.begin(), stream.last);
  stream.last = std::move(work);
}

void Queue::put(Lock &lock, Stream &stream, std::function<void()> run) {
  auto work = std::make_shared<Work>();
  work->run = std::move(run);
  add(stream, work);
  if (settings().eager) finish(lock, work);
}

void Queue::do_one(Lock &lock, const WorkPointer &target) {
  const WorkPointer work = first_of(target);
  busy_ = true;
  lock.unlock();
  if (work->run) work->run();
  lock.lock();
  work->when = std::chrono::steady_clock::now();
  work->done = true;
  work->run = nullptr;
  work->after.clear();
  busy_ = false;
  changed_.notify_all();
}

void Queue::finish(Lock &lock, WorkPointer work) {
  while (work && !work->done)
    if (busy_)
      changed_.wait(lock);
    else
      do_one(lock, work);
}

bool Queue::advance(Lock &lock, WorkPointer work) {
  if (!work || work->done) return true;
  if (!busy_) do_one(lock, work);
  return false;
}

void Queue::record(Event &event, Stream &stream) {
  event.work = std::make_shared<Work>();
  add(stream, event.work);
  if (event.work->after.empty()) {
    event.work->done = true;
    event.work->when = std::chrono::steady_clock::now();
  }
}

void Queue::wait(Stream &stream, const Event &event) {
  if (!event.work || event.work->done) return;
  auto work = std::make_shared<Work>();
  work->after.push_back(event.work);
  add(stream, std::move(work));
}

}  // namespace hipsim
