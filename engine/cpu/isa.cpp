// Compiled for the baseline: decides before anything else runs.
#include "engine/cpu/isa.h"

#include <cstdlib>
#include <string>

namespace vmafhip {
namespace {

// Narrowest first.
const CpuKernels *const kKernels[] = {&scalar::kernels};

}  // namespace

Result<const CpuKernels *> find_cpu_kernels(std::string_view name) {
  std::string names;
  for (const CpuKernels *kernels : kKernels) {
    if (name == kernels->isa) return kernels;
    names += (names.empty() ? "" : ", ") + std::string(kernels->isa);
  }
  return Status(Code::invalid_argument,
                "VMAFHIP_ISA=" + std::string(name) + " is no instruction set of this build; it has " + names);
}

Result<const CpuKernels *> choose_cpu_kernels() {
  const char *wanted = std::getenv("VMAFHIP_ISA");
  if (wanted && *wanted) return find_cpu_kernels(wanted);
  return kKernels[0];
}

}  // namespace vmafhip
