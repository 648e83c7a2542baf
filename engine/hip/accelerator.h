// A GPU as an Accelerator: what is on the device of frames in progress, and which frames it works on together.
//
// Planes go from pinned memory to a ring on the device, each once, where all metrics and later frames find them. A lane is
// a pair of streams with memory for a batch of frames; when one is free it takes all frames that are there. Whoever
// starts a frame also puts the work on the streams, so that a frame alone waits for nobody; one thread sleeps until the
// device is done and tells of it.
#pragma once
#include <memory>

#include "engine/accelerator.h"
#include "engine/hip/device.h"
#include "engine/hip/metric.h"
#include "engine/registry.h"
#include "engine/status.h"

namespace vmafhip::hip {

// What users are told of a failure. Code::resource: the device works, but has not enough memory.
Status status_of(const Device &device, const DeviceError &error);

Result<std::unique_ptr<Accelerator>> make_accelerator(std::shared_ptr<const Device> device,
                                                      HipBackend::Work work);

}  // namespace vmafhip::hip
