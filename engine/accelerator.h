// A device that measures frames beside the CPU's workers: what the scheduler asks of a back end.
//
// A frame in progress has a place, 0 to places() - 1, from announce() until it is measured; places are announced in the
// order of frames. When all its planes can be read, start() hands it over, in any order and from any thread; the device
// takes frames in their order, as many at a time as are there, and never waits for more.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "engine/metric.h"
#include "engine/status.h"

namespace vmafhip {

class Accelerator {
 public:
  // Lets go of everything in flight.
  virtual ~Accelerator() = default;

  // Frames that may be in progress at a time.
  virtual int places() const = 0;
  // Host memory of a place, kAlign-aligned, as large as was asked for when this was made: planes that are not on the
  // device are put there before start().
  virtual std::byte *upload_memory(int place) = 0;

  // `measured` runs on a thread of the device when the sums of a place are written; `failed` once, when the device
  // or its memory is lost: no place will be measured any more. Before the first announce().
  virtual void on_events(std::function<void(int place)> measured,
                         std::function<void(const Status &)> failed) = 0;

  virtual void announce(int place, uint64_t frame) = 0;
  // `view` stays until the place is measured. `sums`: those of the items of this device, one item after the other as
  // they were given, each with all distorted pictures.
  virtual void start(int place, const FrameView &view, std::byte *sums) = 0;
  // Drops what was announced; returns when the device touches none of it. The next frame is frame 0.
  virtual void clear() = 0;
};

}  // namespace vmafhip
