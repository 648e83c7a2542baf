// The GPU runtime as one table of functions with HIP's names and meaning, filled when first asked for from a library
// that is there: no vendor's library is linked, no vendor's header needed.
//
// AMD: libamdhip64. NVIDIA: libcuda's driver API under the same names (engine/hip/runtime_cuda.cpp). Any library with
// libamdhip64's functions can be named by the environment variable VMAFHIP_HIP_LIBRARY.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/status.h"

namespace vmafhip::hip {

enum class Vendor { amd, nvidia };

// Results are HIP's error numbers or CUDA's; 0 is success with both.
struct Api {
  Vendor vendor = Vendor::amd;
  std::string library;  // as it was opened
};

}  // namespace vmafhip::hip
