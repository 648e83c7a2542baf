// Work put on streams and when it is done. Work is a graph: each piece comes after the one before it on its stream and
// after events that its stream waits for. Lazily, nothing is done before somebody waits for it, and then only what it
// depends on: work whose order was left to luck is done in the wrong one.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace hipsim {

struct Work {
  std::function<void()> run;  // empty: only a point in time
  std::vector<std::shared_ptr<Work>> after;
  bool done = false;
  std::chrono::steady_clock::time_point when;  // it was done
};
using WorkPointer = std::shared_ptr<Work>;

struct Stream {
  int device = 0;
  WorkPointer last;  // null: nothing yet
};

struct Event {
  int device = 0;
  bool timing = true;
  WorkPointer work;  // null: never recorded
};

// All functions that take a lock want the runtime's, held; they let go of it while work is done.
using Lock = std::unique_lock<std::mutex>;

class Queue {
 public:
  void put(Lock &lock, Stream &stream, std::function<void()> run);
  // Does what `work` depends on, and it.
  void finish(Lock &lock, WorkPointer work);
  // Does one piece of it. True: it was all done before.
  bool advance(Lock &lock, WorkPointer work);

  void record(Event &event, Stream &stream);
  void wait(Stream &stream, const Event &event);

 private:
  void add(Stream &stream, WorkPointer work);
  void do_one(Lock &lock, const WorkPointer &target);

  std::condition_variable changed_;
  bool busy_ = false;  // somebody does a piece of work
};

}  // namespace hipsim
