// Memory of others, for a GPU: engine/external.h's Importer over the runtime's functions.
#pragma once
#include <memory>

#include "engine/external.h"
#include "engine/hip/device.h"

namespace vmafhip::hip {

// It keeps the device, as all that it has imported does.
std::shared_ptr<const Importer> make_importer(std::shared_ptr<const Device> device);

}  // namespace vmafhip::hip
