// The simulated GPU: kernels compute what they should, and each mistake that the simulator promises to find is found.
#include <array>
#include <numeric>
#include <thread>

#include "tests/hipsim/simulated_gpu.h"

namespace vmafhip::test {
namespace {

using Hipsim = SimulatedGpu;

struct Picture {
  static constexpr int kWidth = 300, kHeight = 5;
  std::vector<uint8_t> samples = std::vector<uint8_t>(kWidth * kHeight);
  uint64_t sum = 0;  // what hipsim_demo finds

  Picture() {
    for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<uint8_t>(i * i * 7 / 13);
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x + 1 < kWidth; ++x) {
        const uint8_t *p = &samples[static_cast<size_t>(y * kWidth + x)];
        sum += static_cast<uint64_t>(std::abs(p[0] - p[1]));
      }
  }
};

TEST_F(Hipsim, RunsAKernel) {
  const Picture picture;
  for (const char *threads : {"threads=1", "threads=3"}) {
    simulator.configure(threads);
    const auto plane = allocate<const uint8_t>(picture.samples.size());
    const auto sum = allocate<uint64_t>(1);
    ASSERT_EQ(gpu->hipMemcpyAsync(pointer(plane), picture.samples.data(), picture.samples.size(),
                                  kHostToDevice, stream),
              0);
    ASSERT_EQ(gpu->hipMemsetAsync(pointer(sum), 0, 8, stream), 0);
    const DemoArgs args{{plane, Picture::kWidth}, Picture::kWidth, Picture::kHeight, sum};
    void *function = nullptr;
    ASSERT_EQ(gpu->hipModuleGetFunction(&function, module, "hipsim_demo"), 0);
    size_t bytes = sizeof args;
    void *extra[] = {hip::kLaunchBufferPointer, const_cast<DemoArgs *>(&args), hip::kLaunchBufferSize, &bytes,
                     gpu->launch_end};
    ASSERT_EQ(gpu->hipModuleLaunchKernel(function, 3, Picture::kHeight, 1, kDemoThreads, 1, 1, 0, stream,
                                         nullptr, extra),
              0);
    EXPECT_EQ(fetch(sum, 1)[0], picture.sum) << threads;
  }
}

TEST_F(Hipsim, OperationsOfAWarp) {
  const auto data = allocate<uint32_t>(kBrokenThreads * 10);
  ASSERT_EQ(launch("hipsim_warp", BrokenArgs{data, 0, 0}), 0);
  const auto values = fetch(data, kBrokenThreads * 10);
  for (unsigned t = 0; t < kBrokenThreads; ++t) {
    const unsigned lane = t % warp, first = t - lane;
    const uint32_t *got = &values[t * 10];
    EXPECT_EQ(got[0], lane + 3 < warp ? t + 3 : t) << t;
    EXPECT_EQ(got[1], lane >= 3 ? t - 3 : t) << t;
    EXPECT_EQ(got[2], first + (lane ^ 5)) << t;
    EXPECT_EQ(got[3], first <= 77 && 77 < first + warp ? 1u : 0u) << t;
    const uint32_t sum = warp * first + warp * (warp - 1) / 2;
    EXPECT_EQ(got[4], sum) << t;
    if (lane == 0)
      EXPECT_EQ(got[5], sum) << t;
    else
      EXPECT_NE(got[5], sum) << "only lane 0 is promised the sum";
    EXPECT_EQ(got[6], lane + 1 < warp ? t + 1 : t) << t;
    uint64_t thirds = 0;
    for (unsigned i = 0; i < warp; ++i) thirds |= uint64_t{(first + i) % 3 == 0} << i;
    EXPECT_EQ(got[7] | uint64_t{got[8]} << 32, thirds) << t;
    EXPECT_EQ(got[9], (3 - first % 3) % 3) << t;
  }
}

TEST_F(Hipsim, MatrixStep) {
  const auto data = allocate<uint32_t>(128);
  if (warp == 64)
    return expect_fault(kErrorLaunchFailure, "warps of 32", "hipsim_matrix", BrokenArgs{data, 0, 0}, 64);
  ASSERT_EQ(launch("hipsim_matrix", BrokenArgs{data, 0, 0}, 32), 0);
  const auto d = fetch(data, 128);
  for (uint32_t i = 0; i < 16; ++i)
    for (uint32_t j = 0; j < 8; ++j) {
      uint32_t want = 1000;
      for (uint32_t k = 0; k < 32; ++k) want += (3 * i + k) * (k + 5 * j);
      EXPECT_EQ(d[i * 8 + j], want) << i << ", " << j;
    }
}

TEST_F(Hipsim, SignedMatrixStep) {
  const auto data = allocate<uint32_t>(256);
  if (warp == 32)
    return expect_fault(kErrorLaunchFailure, "warps of 64", "hipsim_signed_matrix", BrokenArgs{data, 0, 0},
                        32);
  ASSERT_EQ(launch("hipsim_signed_matrix", BrokenArgs{data, 0, 0}, 64), 0);
  const auto d = fetch(data, 256);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      int want = 1000;
      for (int k = 0; k < 32; ++k)
        want += static_cast<int8_t>(11 * i + 3 * k - 128) * static_cast<int8_t>(5 * j - 7 * k + 100);
      EXPECT_EQ(static_cast<int>(d[static_cast<size_t>(i * 16 + j)]), want) << i << ", " << j;
    }
}

TEST_F(Hipsim, BarriersOfWhatIsLeftOfABlock) {
  const auto data = allocate<uint32_t>(kBrokenThreads);
  ASSERT_EQ(launch("hipsim_barrier_of_few", BrokenArgs{data, 0, 0}), 0);
  const auto values = fetch(data, kBrokenThreads);
  for (unsigned t = 0; t < 40; ++t) EXPECT_EQ(values[t], t);
}

// Whatever thread is first, one of its two neighbours has not written yet.
TEST_F(Hipsim, MissingBarriersShow) {
  const auto data = allocate<uint32_t>(kBrokenThreads);
  ASSERT_EQ(launch("hipsim_no_barrier", BrokenArgs{data, 0, 0}), 0);
  const auto values = fetch(data, kBrokenThreads);
  unsigned wrong = 0;
  for (unsigned t = 0; t < kBrokenThreads; ++t)
    wrong += values[t] != (t + 1) % kBrokenThreads + (t + kBrokenThreads - 1) % kBrokenThreads;
  EXPECT_GT(wrong, kBrokenThreads / 2u);
}

TEST_F(Hipsim, MemoryOfABlockIsNotTheLastOnes) {
  constexpr size_t kBlocks = 5;
  const auto data = allocate<uint32_t>(kBlocks);
  ASSERT_EQ(launch("hipsim_unwritten", BrokenArgs{data, kBlocks, 0}, 32, kBlocks), 0);
  for (uint32_t value : fetch(data, kBlocks)) {
    EXPECT_NE(value, 4711u);
    EXPECT_NE(value, 0u);
  }
}

TEST_F(Hipsim, LanesThatLeftGiveGarbage) {
  const auto data = allocate<uint32_t>(kBrokenThreads);
  ASSERT_EQ(launch("hipsim_exchange_with_left", BrokenArgs{data, 0, 0}), 0);
  const auto values = fetch(data, kBrokenThreads);
  for (unsigned t = 0; t < kBrokenThreads; t += 2) EXPECT_NE(values[t], t + 1);
}

TEST_F(Hipsim, FindsWhatDiverges) {
  const BrokenArgs args{allocate<uint32_t>(kBrokenThreads), 0, 0};
  expect_fault(kErrorLaunchFailure, "while others wait in line", "hipsim_two_barriers", args);
  expect_fault(kErrorLaunchFailure, "gpu_shuffle_down in line", "hipsim_exchange_of_few", args);
  expect_fault(kErrorLaunchFailure, "while other threads of the warp are in", "hipsim_two_exchanges", args);
  // 40 threads: no number of whole warps.
  expect_fault(kErrorLaunchFailure, "gpu_warp_sum in line", "hipsim_warp_sum", args, 40);
  EXPECT_EQ(launch("hipsim_warp_sum", args, 64), 0);
  EXPECT_EQ(gpu->hipStreamSynchronize(stream), 0);
}

TEST_F(Hipsim, FindsTooMuchMemoryOfABlock) {
  expect_fault(kErrorLaunchFailure, "bytes of GPU_SHARED", "hipsim_too_much_memory",
               BrokenArgs{allocate<uint32_t>(kBrokenThreads), 0, 0});
}

TEST_F(Hipsim, FindsAddressesThatAreNotTheDevices) {
  const auto data = allocate<uint32_t>(10);
  const char *name = "hipsim_store";
  uint32_t here = 0;
  const DeviceAddress<uint32_t> host{reinterpret_cast<uint64_t>(&here)};
  expect_fault(kErrorIllegalAddress, "a host pointer?", name, BrokenArgs{host, 1, 0});
  uint32_t *const pinned = allocate_pinned<uint32_t>(4);
  expect_fault(kErrorIllegalAddress, "pinned host memory", name,
               BrokenArgs{{reinterpret_cast<uint64_t>(pinned)}, 1, 0});
  expect_fault(kErrorIllegalAddress, "null address", name, BrokenArgs{{}, 1, 0});
  expect_fault(kErrorIllegalAddress, "not a multiple of 4", name, BrokenArgs{{data.value + 2}, 1, 0});
  expect_fault(kErrorIllegalAddress, "4 bytes past the end", name, BrokenArgs{data, 11, 0});
  expect_fault(kErrorIllegalAddress, "past the end of 40 bytes", name, BrokenArgs{data + 10, 1, 0});
  expect_fault(kErrorIllegalAddress, "not in live device memory", name, BrokenArgs{data + -1, 1, 0});
  EXPECT_EQ(launch(name, BrokenArgs{data, 10, 9}), 0);
  EXPECT_EQ(gpu->hipStreamSynchronize(stream), 0);

  ASSERT_EQ(gpu->hipFree(pointer(data)), 0);
  allocations.clear();
  expect_fault(kErrorIllegalAddress, "has been freed", name, BrokenArgs{data, 1, 0});
}

// Elements that get() knew nothing of: caught by the pages around.
TEST_F(Hipsim, FindsAccessesPastTheEnd) {
  if (address_sanitizer()) GTEST_SKIP() << "there the address sanitizer ends the process with a report";
  const BrokenArgs args{allocate<uint32_t>(64), 64, 0};
  for (const auto &[element, text] :
       {std::pair<int64_t, const char *>{64, "1 bytes past the end of 256 bytes"},
        {-1024, "not in live device memory"}}) {
    BrokenArgs outside = args;
    outside.element = element;
    expect_fault(kErrorIllegalAddress, text, "hipsim_store", outside);
  }
  expect_fault(kErrorIllegalAddress, "", "hipsim_deep_stack",
               BrokenArgs{allocate<uint32_t>(kBrokenThreads), 0, 0});
}

// Next to the allocation, within its pages: told when it is freed.
TEST_F(Hipsim, FindsWritesNextToAnAllocation) {
  if (address_sanitizer()) GTEST_SKIP() << "there the address sanitizer ends the process with a report";
  for (const auto &[element, text] :
       {std::pair<int64_t, const char *>{60, "0 bytes after the end of 240 bytes"},
        {-1, "4 bytes before the beginning"}}) {
    void *data = nullptr;
    ASSERT_EQ(gpu->hipMalloc(&data, 240), 0);
    ASSERT_EQ(launch("hipsim_store", BrokenArgs{{reinterpret_cast<uint64_t>(data)}, 60, element}), 0);
    EXPECT_EQ(gpu->hipStreamSynchronize(stream), 0);
    EXPECT_EQ(gpu->hipFree(data), kErrorIllegalAddress);
    expect_report(text);
  }
}

TEST_F(Hipsim, NewMemoryHoldsGarbage) {
  const auto data = allocate<uint32_t>(100);
  for (uint32_t value : fetch(data, 100)) EXPECT_EQ(value, 0xfff7dba5u);
  const uint8_t *const pinned = allocate_pinned<uint8_t>(8);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(pinned[i], (std::array<uint8_t, 8>{0xa5, 0xdb, 0xf7, 0xff, 0xa5, 0xdb, 0xf7,
                                                 0xff})[static_cast<size_t>(i)]);
}

TEST_F(Hipsim, FindsWrongLaunches) {
  const BrokenArgs args{allocate<uint32_t>(1), 1, 0};
  void *function = nullptr;
  EXPECT_EQ(gpu->hipModuleGetFunction(&function, module, "hipsim_stores"), kErrorNotFound);
  expect_report("no kernel hipsim_stores");

  struct Longer {
    BrokenArgs args;
    int more;
  };
  EXPECT_EQ(launch("hipsim_store", Longer{args, 0}), kErrorInvalidValue);
  expect_report("an argument of 32 bytes, but takes 24");
  EXPECT_EQ(launch("hipsim_store", args, 1025), kErrorInvalidConfiguration);
  expect_report("a block of 1025 threads");
  EXPECT_EQ(launch("hipsim_store", args, 0), kErrorInvalidConfiguration);
  expect_report("a block of 0 threads");
  EXPECT_EQ(launch("hipsim_store", args, 1, 0), kErrorInvalidConfiguration);
  expect_report("a grid of 0 x 1 x 1 blocks");

  ASSERT_EQ(gpu->hipModuleGetFunction(&function, module, "hipsim_store"), 0);
  size_t bytes = sizeof args;
  BrokenArgs copy = args;
  void *cuda_end[] = {hip::kLaunchBufferPointer, &copy, hip::kLaunchBufferSize, &bytes, nullptr, nullptr};
  EXPECT_EQ(gpu->hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, cuda_end),
            kErrorInvalidValue);
  expect_report("unknown key");
  void *parameters[] = {&copy};
  EXPECT_EQ(gpu->hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr),
            kErrorInvalidValue);
  expect_report("goes by `extra`");
  void *extra[] = {hip::kLaunchBufferPointer, &copy, hip::kLaunchBufferSize, &bytes, gpu->launch_end};
  EXPECT_EQ(gpu->hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 16, stream, nullptr, extra),
            kErrorInvalidConfiguration);
  expect_report("declared in the kernel");
  EXPECT_EQ(gpu->hipModuleLaunchKernel(&copy, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, extra),
            kErrorInvalidHandle);
  expect_report("not a live kernel");
  EXPECT_EQ(gpu->hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
            kErrorInvalidHandle);
  expect_report("null stream");
}

TEST_F(Hipsim, ModulesAreImagesOfThisLibrary) {
  EXPECT_EQ(gpu->kernel_image("no_such_stem"), nullptr);
  void *loaded = nullptr;
  EXPECT_EQ(gpu->hipModuleLoadData(&loaded,
                                   "\x7f"
                                   "ELF"),
            kErrorInvalidImage);
  EXPECT_EQ(gpu->hipModuleLoadData(&loaded, nullptr), kErrorInvalidImage);
}

TEST_F(Hipsim, FindsWrongCopies) {
  const auto data = allocate<uint8_t>(1000), other = allocate<uint8_t>(1000);
  std::vector<uint8_t> host(1000);
  uint8_t *const pinned = allocate_pinned<uint8_t>(1000);
  const auto copy = [&](void *to, const void *from, size_t bytes, int kind) {
    return gpu->hipMemcpyAsync(to, from, bytes, kind, stream);
  };
  EXPECT_EQ(copy(pointer(data), pointer(other), 1000, kHostToDevice), kErrorInvalidValue);
  expect_report("the source lies in device memory");
  EXPECT_EQ(copy(pointer(data), pointer(other), 1000, kDeviceToHost), kErrorInvalidValue);
  expect_report("the destination lies in device memory");
  EXPECT_EQ(copy(host.data(), pinned, 1000, kHostToDevice), kErrorInvalidValue);
  expect_report("not in live device memory");
  EXPECT_EQ(copy(host.data(), pinned, 1000, kDeviceToHost), kErrorInvalidValue);
  expect_report("pinned host memory, not the device's");
  EXPECT_EQ(copy(pointer(data), host.data(), 1001, kHostToDevice), kErrorInvalidValue);
  expect_report("1 bytes past the end of 1000 bytes of device memory");
  EXPECT_EQ(copy(pointer(data), pinned + 1, 1000, kHostToDevice), kErrorInvalidValue);
  expect_report("1 bytes past the end of 1000 bytes of pinned memory");
  EXPECT_EQ(copy(pointer(data), pinned, 1000, kCopyDefault), kErrorInvalidMemcpyDirection);
  expect_report("kind of copy");
  EXPECT_EQ(gpu->hipMemsetAsync(pointer(data), 0, 1001, stream), kErrorInvalidValue);
  expect_report("past the end");
  EXPECT_EQ(gpu->hipMemsetAsync(host.data(), 0, 1, stream), kErrorInvalidValue);
  expect_report("not in live device memory");

  // The last row ends with its width, not with its stride.
  const auto rows = [&](size_t to_stride, size_t from_stride, size_t width, size_t count) {
    return gpu->hipMemcpy2DAsync(pointer(data), to_stride, pinned, from_stride, width, count, kHostToDevice,
                                 stream);
  };
  EXPECT_EQ(rows(330, 330, 10, 4), 0);
  EXPECT_EQ(rows(330, 330, 11, 4), kErrorInvalidValue);
  expect_report("past the end of 1000 bytes of device memory");
  EXPECT_EQ(rows(100, 331, 10, 4), kErrorInvalidValue);
  expect_report("past the end of 1000 bytes of pinned memory");
  EXPECT_EQ(rows(9, 10, 10, 4), kErrorInvalidPitchValue);
  expect_report("less than the width");
  EXPECT_EQ(gpu->hipStreamSynchronize(stream), 0);
}

TEST_F(Hipsim, CopiesRows) {
  const auto data = allocate<uint8_t>(64), other = allocate<uint8_t>(64);
  ASSERT_EQ(gpu->hipMemsetAsync(pointer(data), 9, 64, stream), 0);
  ASSERT_EQ(gpu->hipMemsetAsync(pointer(other), 7, 64, stream), 0);
  std::vector<uint8_t> host(64);
  std::iota(host.begin(), host.end(), uint8_t{100});
  ASSERT_EQ(gpu->hipMemcpy2DAsync(pointer(data), 16, host.data(), 10, 3, 4, kHostToDevice, stream), 0);
  ASSERT_EQ(gpu->hipMemcpy2DAsync(pointer(other), 8, pointer(data), 16, 3, 4, kDeviceToDevice, stream), 0);
  const auto got = fetch(other, 64);
  for (size_t i = 0; i < 64; ++i) {
    const size_t row = i / 8, column = i % 8;
    EXPECT_EQ(got[i], row < 4 && column < 3 ? 100 + 10 * row + column : 7) << i;
  }
}

TEST_F(Hipsim, FindsWhatIsReleasedTwiceOrNeverWas) {
  void *data = nullptr;
  ASSERT_EQ(gpu->hipMalloc(&data, 10), 0);
  EXPECT_EQ(gpu->hipHostFree(data), kErrorInvalidValue);
  expect_report("no live allocation of pinned memory");
  EXPECT_EQ(gpu->hipFree(data), 0);
  EXPECT_EQ(gpu->hipFree(data), kErrorInvalidValue);
  expect_report("freed twice?");
  EXPECT_EQ(gpu->hipFree(nullptr), 0);
  int here = 0;
  EXPECT_EQ(gpu->hipHostUnregister(&here), kErrorHostMemoryNotRegistered);
  expect_report("registered memory");

  void *lost = make_event();
  events.clear();
  EXPECT_EQ(gpu->hipEventDestroy(lost), 0);
  EXPECT_EQ(gpu->hipEventDestroy(lost), kErrorInvalidHandle);
  expect_report("hipEventDestroy(): not a live event");
  EXPECT_EQ(gpu->hipEventRecord(lost, stream), kErrorInvalidHandle);
  expect_report("hipEventRecord(): not a live event");
  EXPECT_EQ(gpu->hipStreamDestroy(lost), kErrorInvalidHandle);
  expect_report("not a live stream");
  EXPECT_EQ(gpu->hipModuleUnload(lost), kErrorInvalidHandle);
  expect_report("not a live module");
}

TEST_F(Hipsim, RegisteredMemoryIsPinned) {
  std::vector<uint8_t> host(5000, 1);
  ASSERT_EQ(gpu->hipHostRegister(host.data(), host.size(), 0), 0);
  EXPECT_EQ(gpu->hipHostRegister(host.data() + 100, 10, 0), kErrorHostMemoryAlreadyRegistered);
  const auto data = allocate<uint8_t>(5000);
  ASSERT_EQ(gpu->hipMemcpyAsync(pointer(data), host.data(), 5000, kHostToDevice, stream), 0);
  host[0] = 2;  // the copy has not been made yet
  EXPECT_EQ(fetch(data, 1)[0], 2);
  EXPECT_EQ(gpu->hipHostUnregister(host.data()), 0);
  ASSERT_EQ(gpu->hipMemcpyAsync(pointer(data), host.data(), 5000, kHostToDevice, stream), 0);
  host[0] = 3;  // too late
  EXPECT_EQ(fetch(data, 1)[0], 2);
}

TEST_F(Hipsim, ThreadsChooseTheirDevice) {
  int error = 0;
  void *data = nullptr;
  std::thread([&] { error = gpu->hipMalloc(&data, 10); }).join();
  EXPECT_EQ(error, kErrorInvalidContext);
  expect_report("hipMalloc() in a thread that never called hipSetDevice()");

  simulator.configure("devices=2");
  void *const second = reinterpret_cast<void *>(1);
  ASSERT_EQ(gpu->set_current(second), 0);
  EXPECT_EQ(gpu->hipStreamSynchronize(stream), kErrorInvalidContext);
  expect_report("the stream is of device 0, the thread's is 1");
  EXPECT_EQ(gpu->set_current(reinterpret_cast<void *>(2)), kErrorInvalidDevice);
  ASSERT_EQ(gpu->set_current(nullptr), 0);
  EXPECT_EQ(gpu->hipStreamSynchronize(stream), 0);
}

}  // namespace
}  // namespace vmafhip::test
