#include <cstring>

#include "tests/hipsim/api.h"

using namespace hipsim;

EXPORT const void *vmafhip_kernel_image(const char *stem) { return stem ? find_image(stem) : nullptr; }

EXPORT int hipModuleLoadData(void **module, const void *image) {
  return enter_device(Call::module, "hipModuleLoadData", [&](Lock &, Runtime &r) -> int {
    if (!is_image(image)) return kErrorInvalidImage;
    Module *loaded = add(r.modules);
    loaded->image = static_cast<const Image *>(image);
    *module = loaded;
    return kSuccess;
  });
}

EXPORT int hipModuleUnload(void *module) {
  return enter_release([&](Lock &lock, Runtime &r) -> int {
    r.drain(lock);
    return r.modules.erase(module) ? kSuccess : bad_handle("hipModuleUnload", "module");
  });
}

EXPORT int hipModuleGetFunction(void **function, void *handle, const char *name) {
  return enter_device(Call::other, "hipModuleGetFunction", [&](Lock &, Runtime &r) -> int {
    Module *module = find(r.modules, handle);
    if (!module) return bad_handle("hipModuleGetFunction", "module");
    for (size_t i = 0; i < module->image->count; ++i) {
      const Kernel &kernel = module->image->kernels[i];
      if (std::strcmp(kernel.name, name) != 0) continue;
      auto &known = module->functions[&kernel];
      if (!known) known = std::make_unique<Function>(Function{module, &kernel});
      *function = known.get();
      return kSuccess;
    }
    return report(kErrorNotFound, std::string("module ") + module->image->stem + " has no kernel " + name +
                                      " (tests/hipsim lists them)");
  });
}

// The argument of the kernel, from `extra`; null with the reason in `wrong`.
static const void *packed_arguments(void **extra, size_t *bytes, std::string *wrong) {
  const void *data = nullptr;
  const size_t *size = nullptr;
  for (int i = 0; extra && i < 6; i += 2) {
    const auto key = reinterpret_cast<uintptr_t>(extra[i]);
    if (key == 3) break;
    if (key == 1)
      data = extra[i + 1];
    else if (key == 2)
      size = static_cast<const size_t *>(extra[i + 1]);
    else {
      *wrong = "an unknown key in `extra`, or no end to it";
      return nullptr;
    }
  }
  if (!data || !size) *wrong = "the argument goes by `extra`, with pointer and size";
  if (data && size) *bytes = *size;
  return size ? data : nullptr;
}

EXPORT int hipModuleLaunchKernel(void *handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 void *stream_handle, void **parameters, void **extra) {
  return enter_device(Call::launch, "hipModuleLaunchKernel", [&](Lock &lock, Runtime &r) -> int {
    int error = 0;
    Stream *stream = stream_of(r, stream_handle, "hipModuleLaunchKernel", &error);
    if (!stream) return error;
    const Function *function = r.find_function(handle);
    if (!function) return bad_handle("hipModuleLaunchKernel", "kernel");
    const Kernel *kernel = function->kernel;
    const std::string name = std::string("kernel ") + kernel->name + ": ";
    const uint64_t threads = uint64_t{block_x} * block_y * block_z;
    if (!grid_x || !grid_y || !grid_z || grid_y > 65535 || grid_z > 65535)
      return report(kErrorInvalidConfiguration, name + "a grid of " + std::to_string(grid_x) + " x " +
                                                    std::to_string(grid_y) + " x " + std::to_string(grid_z) +
                                                    " blocks");
    if (!threads || block_x > kMostThreads || block_y > kMostThreads || threads > kMostThreads)
      return report(kErrorInvalidConfiguration, name + "a block of " + std::to_string(threads) + " threads");
    if (shared_bytes)
      return report(kErrorInvalidConfiguration,
                    name + "memory of the block is declared in the kernel, not at the launch");
    if (parameters) return report(kErrorInvalidValue, name + "the argument goes by `extra`");
    size_t bytes = 0;
    std::string wrong;
    const void *argument = packed_arguments(extra, &bytes, &wrong);
    if (!argument) return report(kErrorInvalidValue, name + wrong);
    if (bytes != kernel->argument_bytes)
      return report(kErrorInvalidValue, name + "launched with an argument of " + std::to_string(bytes) +
                                            " bytes, but takes " + std::to_string(kernel->argument_bytes));
    // Aligned for whatever it is made of.
    auto copy = std::make_shared<std::vector<Slot>>((bytes + sizeof(Slot) - 1) / sizeof(Slot));
    std::memcpy(copy->data(), argument, bytes);
    r.queue.put(lock, *stream,
                [=, grid = Index{grid_x, grid_y, grid_z}, block = Index{block_x, block_y, block_z}] {
                  if (runtime().device_error) return;
                  if (const auto fault = run({kernel, grid, block, copy->data()}))
                    report_in_work(fault->error, fault->text);
                });
    return kSuccess;
  });
}

AS_CALLED(hipModuleLoadData)
AS_CALLED(hipModuleUnload)
AS_CALLED(hipModuleGetFunction)
AS_CALLED(hipModuleLaunchKernel)
