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

int add_node(Capture &capture, Stream &stream, Node node) {
  int &last = capture.last.at(&stream);
  if (last >= 0) node.after.push_back(last);
  capture.graph.nodes.push_back(std::move(node));
  return last = static_cast<int>(capture.graph.nodes.size()) - 1;
}

}  // namespace

void Queue::add(Stream &stream, WorkPointer work) {
  if (stream.last && !stream.last->done) work->after.insert(work->after.begin(), stream.last);
  stream.last = std::move(work);
}

void Queue::put(Lock &lock, Stream &stream, std::function<void()> run) {
  if (stream.capture) {
    add_node(*stream.capture, stream, {std::move(run), {}});
    return;
  }
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
  if (stream.capture) {
    event.work = nullptr;
    event.capture = stream.capture->number;
    event.node = add_node(*stream.capture, stream, {});
    return;
  }
  event.capture = 0;
  event.work = std::make_shared<Work>();
  add(stream, event.work);
  if (event.work->after.empty()) {
    event.work->done = true;
    event.work->when = std::chrono::steady_clock::now();
  }
}

int Queue::wait(Stream &stream, const Event &event) {
  if (event.capture) {
    Capture *capture = nullptr;
    for (Capture *other : open_)
      if (other->number == event.capture) capture = other;
    if (!capture) return kErrorCapturedEvent;
    if (stream.capture && stream.capture != capture) return kErrorStreamCaptureMerge;
    stream.capture = capture;
    capture->last.try_emplace(&stream, -1);
    add_node(*capture, stream, {nullptr, {event.node}});
    return kSuccess;
  }
  if (stream.capture) {
    if (!event.work) return kSuccess;
    stream.capture->invalid = true;
    return kErrorStreamCaptureIsolation;
  }
  if (!event.work || event.work->done) return kSuccess;
  auto work = std::make_shared<Work>();
  work->after.push_back(event.work);
  add(stream, std::move(work));
  return kSuccess;
}

int Queue::begin_capture(Stream &stream) {
  if (stream.capture) return kErrorStreamCaptureUnsupported;
  auto *capture = new Capture;
  capture->number = ++captures_;
  capture->origin = &stream;
  capture->last[&stream] = -1;
  stream.capture = capture;
  open_.push_back(capture);
  return kSuccess;
}

int Queue::end_capture(Stream &stream, Graph *graph) {
  if (!stream.capture || stream.capture->origin != &stream) return kErrorStreamCaptureUnmatched;
  const std::unique_ptr<Capture> capture(stream.capture);
  std::erase(open_, capture.get());
  for (const auto &[member, last] : capture->last) member->capture = nullptr;
  if (capture->invalid) return kErrorStreamCaptureInvalidated;

  // What the captured stream's last piece depends on; all other streams' must be among it.
  std::vector<bool> reached(capture->graph.nodes.size());
  const int end = capture->last.at(&stream);
  if (end >= 0) reached[static_cast<size_t>(end)] = true;
  for (int i = end; i >= 0; --i)
    if (reached[static_cast<size_t>(i)])
      for (int earlier : capture->graph.nodes[static_cast<size_t>(i)].after)
        reached[static_cast<size_t>(earlier)] = true;
  for (const auto &[member, last] : capture->last)
    if (last >= 0 && !reached[static_cast<size_t>(last)]) return kErrorStreamCaptureUnjoined;
  *graph = std::move(capture->graph);
  graph->last = end;
  return kSuccess;
}

void Queue::forget(Stream &stream) {
  if (Capture *capture = stream.capture) {
    capture->last.erase(&stream);
    capture->invalid = true;
    if (capture->origin == &stream) {
      for (const auto &[member, last] : capture->last) member->capture = nullptr;
      std::erase(open_, capture);
      delete capture;
    }
  }
}

void Queue::launch(Lock &lock, Stream &stream, const Graph &graph) {
  std::vector<WorkPointer> copies;
  for (const Node &node : graph.nodes) {
    auto work = std::make_shared<Work>();
    work->run = node.run;
    for (int earlier : node.after) work->after.push_back(copies[static_cast<size_t>(earlier)]);
    // The first ones wait for what the stream has to do already.
    if (node.after.empty() && stream.last && !stream.last->done) work->after.push_back(stream.last);
    copies.push_back(std::move(work));
  }
  if (graph.last < 0) return;
  stream.last = copies[static_cast<size_t>(graph.last)];
  if (settings().eager) finish(lock, stream.last);
}

}  // namespace hipsim
