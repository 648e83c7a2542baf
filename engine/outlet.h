// A file written by a thread of its own: whoever has something to write never waits for a disk or for the reader of a
// FIFO, and a reader that goes away ends neither the process (SIGPIPE) nor anything else.
//
// What waits to be written is bounded by what its owner does when full() says so: it writes no more for the moment, or
// gives up. All that can go wrong is said once, by status().
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "engine/status.h"

namespace vmafhip {

class Outlet {
 public:
  struct Options {
    size_t most_bytes = 4 << 20;  // full() beyond
    // For how long a reader may take nothing while somebody waits for it: the owner, because of full() or in drain().
    std::chrono::milliseconds patience{10'000};
  };
  // Creates or empties the file; the error names it. The reader of a FIFO may come later. `on_change` is called by the
  // thread when there is room again, and when it fails.
  static Result<std::unique_ptr<Outlet>> open(const std::string &path, std::function<void()> on_change,
                                              const Options &options);
  // Writes what it can without waiting for a reader.
  ~Outlet();
  Outlet(const Outlet &) = delete;

  // ---- One owner's thread.

  // Takes the text. Nothing happens after a failure.
  void write(std::string_view text);
  // Until all is written, it fails, nothing moves for `patience`, or `cancelled` says so (asked every 20 ms). True if all
  // is written.
  bool drain(std::chrono::milliseconds patience, const std::function<bool()> &cancelled);
  // Bytes taken since open().
  uint64_t position() const { return position_; }
  // Fails, for a reason of the owner's.
  void give_up(const std::string &reason);

  // After drain(): what is written of a regular file can be changed, and the file closed; nothing may be written then.
  // The reader of a FIFO sees the end.
  bool regular() const { return regular_; }
  void overwrite(uint64_t at, std::string_view text);
  void truncate(uint64_t size);
  void close();

  // ---- Any thread.

  bool full() const;
  // What has gone wrong, naming the file.
  Status status() const;

 private:
  using Clock = std::chrono::steady_clock;

  Outlet(const std::string &path, std::function<void()> on_change, const Options &options);
  bool start();
  void work();
  void put(std::string_view text);
  bool connect();
  bool stay(const char *why_not);
  void fail(const std::string &reason);
  void fail(int error_number);

  const std::string path_;
  const std::function<void()> on_change_;
  const Options options_;
  int fd_ = -1;  // -1: a FIFO without reader so far, or closed
  bool regular_ = false;
  uint64_t position_ = 0;

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable wake_, changed_;
  std::string waiting_;
  Status status_;
  bool busy_ = false, closing_ = false, draining_ = false;
  std::chrono::milliseconds drain_patience_{0};
  Clock::time_point moved_;  // when text was last taken, or somebody began to wait for it

  std::string writing_;  // the thread's own
  std::thread thread_;
};

}  // namespace vmafhip
