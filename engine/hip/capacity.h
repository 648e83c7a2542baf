// How many frames a GPU works on at a time, and what memory that takes.
#pragma once
#include <cstdint>

#include "engine/picture.h"
#include "engine/registry.h"

namespace vmafhip::hip {

// How much is in progress at a time.
struct Capacity {
  int lanes = 1;   // batches on the device
  int batch = 1;   // frames of one at most
  int places = 2;  // frames, from the first plane that is put into upload memory on

  // Enough to keep a large GPU busy, and no more: what is in progress has to be held. `asked`: frames of a batch, or 0.
  static Capacity of(const PictureFormat &format, int distorted, int threads, int asked);
  // For a device, or a host, with less memory; false if there is no less.
  bool reduce(int threads);
};

// What an accelerator takes in the end.
struct AcceleratorBytes {
  uint64_t on_device, pinned;
};
AcceleratorBytes bytes_of(const HipBackend::Work &work, const Capacity &capacity);
// Whether that is more than the share of a session that begins as one of `users` of the device.
bool is_beyond_share(const HipBackend::Work &work, const Capacity &capacity, int users);

}  // namespace vmafhip::hip
