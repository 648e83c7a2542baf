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
#include <unordered_map>
#include <vector>

namespace hipsim {

struct Work {
  std::function<void()> run;  // empty: only a point in time
  std::vector<std::shared_ptr<Work>> after;
  bool done = false;
  std::chrono::steady_clock::time_point when;  // it was done
};
using WorkPointer = std::shared_ptr<Work>;

struct Capture;

struct Stream {
  int device = 0;
  WorkPointer last;  // null: nothing yet
  Capture *capture = nullptr;
};

struct Event {
  int device = 0;
  bool timing = true;
  WorkPointer work;  // null: never recorded
  // Recorded in a capture, which may have ended: its number, and the node there.
  uint64_t capture = 0;
  int node = -1;
};

struct Node {
  std::function<void()> run;
  std::vector<int> after;
};

// Nodes depend on earlier ones alone.
struct Graph {
  std::vector<Node> nodes;
  int last = -1;  // of the stream that was captured
};

struct Capture {
  uint64_t number = 0;
  Stream *origin = nullptr;
  bool invalid = false;
  Graph graph;
  std::unordered_map<Stream *, int> last;  // node of each stream that takes part
};

// All functions that take a lock want the runtime's, held; they let go of it while work is done.
using Lock = std::unique_lock<std::mutex>;

class Queue {
 public:
  // On the stream, or in its capture.
  void put(Lock &lock, Stream &stream, std::function<void()> run);
  // Does what `work` depends on, and it.
  void finish(Lock &lock, WorkPointer work);
  // Does one piece of it. True: it was all done before.
  bool advance(Lock &lock, WorkPointer work);

  void record(Event &event, Stream &stream);
  // HIP's error.
  int wait(Stream &stream, const Event &event);

  int begin_capture(Stream &stream);
  int end_capture(Stream &stream, Graph *graph);
  // The stream is about to be destroyed.
  void forget(Stream &stream);
  void launch(Lock &lock, Stream &stream, const Graph &graph);

 private:
  void add(Stream &stream, WorkPointer work);
  void do_one(Lock &lock, const WorkPointer &target);

  std::condition_variable changed_;
  bool busy_ = false;  // somebody does a piece of work
  uint64_t captures_ = 0;
  std::vector<Capture *> open_;
};

}  // namespace hipsim
