// Which instruction set the CPU metrics use.
#pragma once
#include <string_view>

#include "engine/cpu/kernels.h"
#include "engine/status.h"

namespace vmafhip {

// The kernels called `name`; an error that lists the names if there are none.
Result<const CpuKernels *> find_cpu_kernels(std::string_view name);

// The widest set that this machine has, or the one that the environment variable VMAFHIP_ISA names.
Result<const CpuKernels *> choose_cpu_kernels();

}  // namespace vmafhip
