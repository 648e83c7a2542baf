// Fixture of the simulator's own tests: the functions of the ABI as engine/hip/runtime.h loads them, a stream, the
// simulator's kernels; and that nothing is left or was reported at the end of a test.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "engine/hip/runtime.h"
#include "tests/hipsim/broken_args.h"
#include "tests/hipsim/demo_args.h"
#include "tests/hipsim/hip_abi.h"
#include "tests/hipsim_control.h"

namespace vmafhip::test {

using namespace hipsim;  // numbers of the ABI

// This program's, or only the simulated runtime's.
inline bool address_sanitizer() { return dlsym(RTLD_DEFAULT, "__asan_init") != nullptr; }

class SimulatedGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    simulator.configure("streams=lazy devices=1 threads=1 memory=256M fail=");
    simulator.forget();
    const auto opened = hip::open_runtime({hip::Vendor::amd, std::getenv("VMAFHIP_HIP_LIBRARY")});
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    gpu = *opened;
    ASSERT_EQ(gpu->set_current(nullptr), 0);
    int value = 0;
    ASSERT_EQ(gpu->hipDeviceGetAttribute(&value, kAttributeWarpSize, 0), 0);
    warp = static_cast<unsigned>(value);
    stream = make_stream();
    ASSERT_EQ(gpu->hipModuleLoadData(&module, gpu->kernel_image("hipsim_demo")), 0);
  }

  void TearDown() override {
    simulator.configure("fail= devices=1");
    EXPECT_EQ(simulator.reports(), "");
    for (void *data : allocations) EXPECT_EQ(gpu->hipFree(data), 0);
    for (void *data : pinned) EXPECT_EQ(gpu->hipHostFree(data), 0);
    for (void *event : events) EXPECT_EQ(gpu->hipEventDestroy(event), 0);
    for (void *other : streams) EXPECT_EQ(gpu->hipStreamDestroy(other), 0);
    EXPECT_EQ(gpu->hipModuleUnload(module), 0);
    EXPECT_EQ(simulator.leaks(), 0u);
    simulator.forget();
  }

  // All of these are released at the end.
  void *make_stream() {
    return keep(streams, [&](void **p) { return gpu->hipStreamCreateWithFlags(p, kStreamNonBlocking); });
  }
  void *make_event(unsigned flags = kEventDisableTiming) {
    return keep(events, [&](void **p) { return gpu->hipEventCreateWithFlags(p, flags); });
  }
  template <class T>
  DeviceAddress<T> allocate(size_t count) {
    return {reinterpret_cast<uint64_t>(
        keep(allocations, [&](void **p) { return gpu->hipMalloc(p, count * sizeof(T)); }))};
  }
  template <class T>
  T *allocate_pinned(size_t count) {
    return static_cast<T *>(
        keep(pinned, [&](void **p) { return gpu->hipHostMalloc(p, count * sizeof(T), 0); }));
  }

  template <class T>
  static void *pointer(DeviceAddress<T> address) {
    return reinterpret_cast<void *>(address.value);
  }

  template <class Args>
  int launch(const char *name, const Args &args, unsigned threads = kBrokenThreads, unsigned blocks = 1) {
    void *function = nullptr;
    if (const int error = gpu->hipModuleGetFunction(&function, module, name)) return error;
    size_t bytes = sizeof args;
    void *extra[] = {hip::kLaunchBufferPointer, const_cast<Args *>(&args), hip::kLaunchBufferSize, &bytes,
                     gpu->launch_end};
    return gpu->hipModuleLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, nullptr, extra);
  }

  template <class T>
  std::vector<T> fetch(DeviceAddress<T> from, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(gpu->hipMemcpyAsync(values.data(), pointer(from), count * sizeof(T), kDeviceToHost, stream), 0);
    return values;
  }

  // The checks have found this last; forgets it.
  void expect_report(const std::string &part) {
    EXPECT_NE(simulator.reports().find(part), std::string::npos)
        << '"' << simulator.reports() << "\" should say \"" << part << '"';
    simulator.forget();
  }

  // The launch is accepted; waiting for it tells what the kernel did.
  template <class Args>
  void expect_fault(int error, const std::string &part, const char *name, const Args &args,
                    unsigned threads = kBrokenThreads) {
    ASSERT_EQ(launch(name, args, threads), 0) << name;
    EXPECT_EQ(gpu->hipStreamSynchronize(stream), error) << name;
    EXPECT_NE(simulator.reports().find(name), std::string::npos) << simulator.reports();
    // Nothing works until then.
    EXPECT_EQ(gpu->hipStreamSynchronize(stream), error);
    expect_report(part);
    EXPECT_EQ(gpu->hipStreamSynchronize(stream), 0);
  }

  HipSim simulator;
  const hip::Api *gpu = nullptr;
  unsigned warp = 0;
  void *stream = nullptr, *module = nullptr;
  std::vector<void *> allocations, pinned, events, streams;

 private:
  template <class Make>
  static void *keep(std::vector<void *> &list, const Make &make) {
    void *made = nullptr;
    EXPECT_EQ(make(&made), 0);
    if (made) list.push_back(made);
    return made;
  }
};

}  // namespace vmafhip::test
