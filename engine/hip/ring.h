// The planes of frames in progress and of those just before them, on the device: each is uploaded or unpacked once, and
// all metrics, lanes and later frames read it there. Planes that kernels can read where they are stay there.
//
// Frames are numbered as the device gets them. A frame's planes lie in one block; as soon as the frame is measured, and
// those that read it as an earlier one, its block is another's. Blocks are made when there is none free, so that a live
// stream takes a few. One thread at a time may use all this, but for bytes().
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/hip/device.h"
#include "engine/hip/metric.h"
#include "engine/hip/unpack.h"
#include "engine/hip/upload_memory.h"
#include "engine/registry.h"

namespace vmafhip::hip {

class Ring {
 public:
  // `frames`: the most that are in progress; `own`: the upload memory, from which copies can be sent together. Throws
  // DeviceError, as all of this.
  Ring(const Device &device, const UploadMemory &own, const HipBackend::Work &work, int frames);
  // That blocks may take in the end.
  static uint64_t most_bytes(const HipBackend::Work &work, int frames);

  // Memory for a further frame. Frames before `oldest` are measured. False if there is none until others are measured.
  bool prepare(uint64_t oldest);
  // Frames before each that it reads.
  uint64_t lookback() const { return lookback_; }
  // Forgets all frames; the next one is frame 0. When nothing is copied or read any more.
  void clear();
  uint64_t bytes() const { return made_ * block_bytes_; }  // that blocks take now; any thread

  // After prepare(). Copies what is not in device memory, and unpacks what kernels cannot read there; `view` stays until the
  // frame is measured, and strides of what is copied are positive. Copies are sent together, as the device does them faster
  // so.
  void upload(uint64_t number, const FrameView &view);
  void send();
  // Two sends are under way: what comes meanwhile is better sent together.
  bool is_sending();
  // What follows on `stream` comes after all uploads so far; `event` is for that. One for many frames: between copies it
  // costs as much as a tenth of one.
  void wait(const Stream &stream, const Event &event) const {
    stream_.record(event);
    stream.wait(event);
  }
  // Where planes of a frame are: the reference's (picture 0) or those of a distorted picture (from 1 on). `given` are the
  // frame's as they were handed over. Null where there is nothing.
  DeviceViews views(const Views &given, uint64_t number, int picture) const;
  // The stream that copies and unpacks.
  const Stream &stream() const { return stream_; }

 private:
  // A plane in a block.
  struct RingPlane {
    bool used = false;
    uint64_t at = 0;
    int64_t stride = 0;
    int width = 0, height = 0;
    size_t row = 0;  // bytes that are samples
  };
  using Layout = std::vector<std::array<RingPlane, 3>>;  // per picture
  static Layout layout(const HipBackend::Work &work, uint64_t &block_bytes);
  // Whether a plane that was handed over is read where it is.
  bool is_read_there(const PlaneView &given, const RingPlane &here) const;
  DevicePlane plane(const PlaneView &given, uint64_t number, int picture, int plane) const;
  void add(Upload copy, size_t first_of_frame);

  using Block = Buffer<std::byte>;
  // Of a frame that is in progress, or read by one that is.
  const Block &block(uint64_t number) const { return held_[size_t(number - first_)]; }

  const Device &device_;
  const UploadMemory &own_;
  uint64_t block_bytes_ = 0;  // before the layout, which sets it
  Layout layout_;
  const int depth_;
  const uint64_t lookback_;
  std::optional<Unpacker> unpacker_;  // once something has to be unpacked
  std::deque<Block> held_;            // of frames first_ on
  uint64_t first_ = 0;
  std::vector<Block> free_;
  std::vector<Upload> copies_;  // to be sent
  // After what was sent last and before.
  std::array<Event, 2> sent_events_;
  uint64_t sent_ = 0, arrived_ = 0;
  std::atomic<uint64_t> made_ = 0;
  bool short_of_memory_ = false;
  const size_t most_;
  Stream stream_;  // last, so that it ends before memory goes
};

}  // namespace vmafhip::hip
