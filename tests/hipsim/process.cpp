// A process that uses the simulated GPU and ends in a way that hipsim_streams_test looks at.
//
//   hipsim_process nothing | leak | mistake | overrun | fork | count
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/hip/runtime.h"
#include "tests/hipsim/broken_args.h"

using namespace vmafhip;

int main(int argc, char **argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  const char *library = std::getenv("VMAFHIP_HIP_LIBRARY");
  if (!library) return 2;
  const auto opened = hip::open_runtime({hip::Vendor::amd, library});
  int count = 0;
  if (what == "count") return 10 + (opened.ok() && (*opened)->hipGetDeviceCount(&count) == 0 ? count : 0);
  if (!opened.ok()) return 3;
  const hip::Api &gpu = **opened;
  constexpr int kElements = 25;
  void *stream = nullptr, *data = nullptr, *module = nullptr, *kernel = nullptr;
  if (gpu.set_current(nullptr) != 0 || gpu.hipStreamCreateWithFlags(&stream, hip::kStreamNonBlocking) != 0 ||
      gpu.hipMalloc(&data, 4 * kElements) != 0 ||
      gpu.hipModuleLoadData(&module, gpu.kernel_image("hipsim_demo")) != 0 ||
      gpu.hipModuleGetFunction(&kernel, module, "hipsim_store") != 0)
    return 1;
  // A kernel has run: there are threads.
  BrokenArgs args{{reinterpret_cast<uint64_t>(data)}, kElements, what == "overrun" ? kElements : 0};
  size_t bytes = sizeof args;
  void *extra[] = {hip::kLaunchBufferPointer, &args, hip::kLaunchBufferSize, &bytes, gpu.launch_end};
  if (gpu.hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, extra) != 0 ||
      gpu.hipStreamSynchronize(stream) != 0)
    return 1;
  if (what == "leak") return 0;
  if ((gpu.hipFree(data) != 0) != (what == "overrun") || gpu.hipStreamDestroy(stream) != 0 ||
      gpu.hipModuleUnload(module) != 0)
    return 1;
  if (what == "mistake") gpu.hipFree(data);
  if (what == "fork") {
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  return 0;
}
