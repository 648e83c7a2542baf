// A device that measures frames beside the CPU's workers: what the scheduler asks of a back end.
//
// A frame in progress has a place, 0 to places() - 1, whose upload memory is filled by workers before the frame is
// started. Started frames are measured in their order, as many at a time as are there; the device never waits for more.
// What a frame reads of the ones before it stays on the device: nothing is uploaded twice. Planes that the device reads
// where they are stay there, and come again with frames that read them as earlier ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "engine/metric.h"
#include "engine/status.h"

namespace vmafhip {

class Accelerator {
 public:
  // Lets go of everything in flight; returns when the device touches none of it.
  virtual ~Accelerator() = default;

  // Frames that may be in progress at a time.
  virtual int places() const = 0;
  // Memory of a place, as large as was asked for when this was made, for planes that are not on the device. Aligned to
  // kAlign. Any thread, several at a time; it may take long the first time. Null if there is none: then `failed` has run.
  virtual std::byte *upload_memory(int place) = 0;
  // Memory that this takes now, on the device and pinned on the host. It grows while ever more frames wait, to what their
  // size and places() allow. Any thread.
  virtual uint64_t device_bytes() const = 0;
  virtual uint64_t pinned_bytes() const = 0;

  // Before the first frame. `measured` runs on a thread of the device when the sums of places are written, in their
  // frames' order. `failed` runs once, on any thread, when the device or its memory is lost: no place will be measured
  // from then on.
  virtual void on_events(std::function<void(std::span<const int> places)> measured,
                         std::function<void(const Status &)> failed) = 0;

  // Hands over a frame; from any thread, and in any order, but without gaps: all frames that one of the device's items
  // measures come. The planes of `view` are those that are not there yet: current pictures in pinned memory, current
  // and earlier ones in device memory; all of it stays until the place is measured. Current planes in device memory that
  // are not readable_on_device() are unpacked to the device's own; such earlier ones do not come. Sums of the device's
  // items go to where each was told among those of the frame, `sums`; the others are not touched.
  virtual void start(int place, const FrameView &view, std::byte *sums) = 0;
  // Drops what was started; returns when the device touches none of it and no event is under way. The next frame is
  // frame 0.
  virtual void clear() = 0;
};

}  // namespace vmafhip
