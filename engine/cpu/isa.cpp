// Compiled for the baseline: decides before anything else runs.
#include "engine/cpu/isa.h"

#include <cstdlib>
#include <string>

namespace vmafhip {
namespace {

struct Choice {
  const CpuKernels *kernels;
  bool (*runs_here)();
};

// Narrowest first.
const Choice kChoices[] = {
    {&scalar::kernels, [] { return true; }},
#if defined(__x86_64__)
    // What engine/cpu/meson.build lets the compiler use. The compiler's function also asks whether the system
    // saves the wide registers.
    {&avx2::kernels,
     [] {
       return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
              __builtin_cpu_supports("popcnt");
     }},
    {&avx512::kernels,
     [] {
       return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
              __builtin_cpu_supports("fma");
     }},
#endif
};

const CpuKernels *widest() {
  const CpuKernels *best = nullptr;
  for (const Choice &choice : kChoices)
    if (choice.runs_here()) best = choice.kernels;
  return best;
}

}  // namespace

Result<const CpuKernels *> find_cpu_kernels(std::string_view name) {
  std::string names;
  for (const Choice &choice : kChoices) {
    if (name == choice.kernels->isa) {
      if (choice.runs_here()) return choice.kernels;
      return Status(Code::unsupported, "VMAFHIP_ISA=" + std::string(name) +
                                           ": this processor lacks it; the widest that it has is " +
                                           widest()->isa);
    }
    names += (names.empty() ? "" : ", ") + std::string(choice.kernels->isa);
  }
  return Status(Code::invalid_argument,
                "VMAFHIP_ISA=" + std::string(name) + " is no instruction set of this build; it has " + names);
}

Result<const CpuKernels *> choose_cpu_kernels() {
  const char *wanted = std::getenv("VMAFHIP_ISA");
  if (wanted && *wanted) return find_cpu_kernels(wanted);
  static const CpuKernels *const best = widest();
  return best;
}

}  // namespace vmafhip
