// Time stamps that jump, by an hour say, when an encoder or a receiver starts its clock anew: running times go on as if
// nothing had happened. What jumps ahead by more than a minute, or back by more than a second, is taken out by an offset,
// the same for both streams if both jump, so that frames still find each other. Back it is often a few seconds: demuxers begin
// a new segment where time stamps lie before theirs, and running time is at its start again.
#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>

namespace monitor {

class Continuity {
 public:
  static constexpr int64_t kSecond = 1'000'000'000, kJump = 60 * kSecond;

  // From the streams' threads, for each frame of stream 0 or 1: its running time, and the wall clock's, both in ns.
  // The offset to be added to running times from this frame on, if it is another than before.
  std::optional<int64_t> frame(size_t stream, int64_t time, int64_t wall);

  // Whether a gap up to that running time would be such a jump: it had better not be told, as a frame will.
  bool jumps(size_t stream, int64_t time);

 private:
  struct Stream {
    std::optional<int64_t> last, wall;
    int64_t step = 0;    // between the last two frames
    int64_t offset = 0;  // all corrections so far
  };
  std::mutex mutex_;
  std::array<Stream, 2> streams_;
};

}  // namespace monitor
