// HIP's functions as those of CUDA's driver: which are called, with what, from a libcuda that does nothing
// (tests/fake_gpu).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include <gtest/gtest.h>

#include "engine/hip/device.h"
#include "engine/hip/external.h"
#include "engine/hip/images.h"
#include "tests/fake_gpu/library.h"

namespace vmafhip::hip {

// In place of the build's.
std::span<const Image> images() {
  static const Image probe = {"probe", nullptr, 0, "NVIDIA code", 12};
  return {&probe, 1};
}

namespace {

using Log = std::vector<std::string>;
// Not multiples of 4096, as handles are.
constexpr DeviceAddress<std::byte> kTo{0x10008};
constexpr DeviceAddress<const std::byte> kFrom{0x20008};

class HipCuda : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("VMAFHIP_HIP_LIBRARY");
    // Found by its soname from now on.
    static FakeGpu *const loaded = test::open_fake(VMAFHIP_FAKES "/libfake_cuda.so");
    gpu = loaded;
    gpu->devices = 2;
    gpu->failures.clear();
    gpu->current() = 7;  // the application's
    gpu->take_log();
  }
  void TearDown() override {
    EXPECT_EQ(gpu->total(), 0);
    EXPECT_EQ(gpu->wrong, Log());
    EXPECT_EQ(gpu->current(), 7u);
    for (const auto &[device, times] : gpu->contexts) EXPECT_EQ(times, 0) << device;
  }
  // What `work` calls, but for the making current of device 0's context. Handles are numbered as they appear.
  Log calls(const std::function<void()> &work) {
    gpu->take_log();
    work();
    Log log = gpu->take_log();
    std::erase(log, "cuCtxSetCurrent(1000)");
    std::vector<std::string> handles;
    const std::regex handle("0x[0-9a-f]+000\\b");
    for (std::string &call : log) {
      std::smatch found;
      while (std::regex_search(call, found, handle)) {
        const auto known = std::ranges::find(handles, found.str());
        const std::string number = "#" + std::to_string(known - handles.begin() + 1);
        if (known == handles.end()) handles.push_back(found.str());
        call = found.prefix().str() + number + found.suffix().str();
      }
    }
    return log;
  }
  FakeGpu *gpu = nullptr;
};

TEST_F(HipCuda, OpeningAndClosing) {
  std::shared_ptr<Device> device;
  Log log = calls([&] { device = Device::open(1).value(); });
  std::erase(log, "cuInit(0)");  // of the first that opens it
  EXPECT_EQ(log, (Log{"cuDeviceGetCount()", "cuDevicePrimaryCtxRetain(11)", "cuCtxSetCurrent(1001)",
                      "cuDeviceGetName(11)", "cuDeviceGetAttribute(10, 11)", "cuDeviceGetAttribute(16, 11)",
                      "cuDeviceGetAttribute(75, 11)", "cuDeviceGetAttribute(76, 11)", "cuCtxSetCurrent(1001)",
                      "cuModuleLoadData(NVIDIA code)", "cuCtxSetCurrent(7)"}));
  EXPECT_EQ(device->description(), "Fake (compute capability 11.5), libcuda.so.1");
  EXPECT_EQ(device->api().vendor, Vendor::nvidia);
  EXPECT_EQ(calls([&] { device->make_current(); }), Log{"cuCtxSetCurrent(1001)"});
  gpu->current() = 7;
  EXPECT_EQ(calls([&] { (void)device->free_memory(); }),
            (Log{"cuCtxSetCurrent(1001)", "cuMemGetInfo_v2()", "cuCtxSetCurrent(7)"}));
  log = calls([&] { device.reset(); });
  EXPECT_EQ(log, (Log{"cuCtxSetCurrent(1001)", "cuModuleUnload(#1)", "cuCtxSetCurrent(7)",
                      "cuDevicePrimaryCtxRelease_v2(11)"}));
}

TEST_F(HipCuda, ContextsAreReleasedIfOpeningFails) {
  gpu->failures["cuModuleLoadData"] = {0, 209};
  EXPECT_FALSE(Device::open(0).ok());
  EXPECT_EQ(gpu->contexts[10], 0);
  gpu->failures = {{"cuDevicePrimaryCtxRetain", {0, 2}}};
  const std::string text = Device::open(0).status().message();
  EXPECT_NE(text.find("failed: CUDA_ERROR_OUT_OF_MEMORY"), text.npos) << text;
}

TEST_F(HipCuda, Memory) {
  const std::shared_ptr<Device> device = Device::open(0).value();
  const CurrentDevice current(*device);
  char host[4] = {};
  EXPECT_EQ(calls([&] {
              (void)Buffer<int>(*device, 3);
              (void)PinnedBuffer(*device, 5);
              (void)HostRegistration(*device, host, 4);
            }),
            (Log{"cuMemAlloc_v2(12)", "cuMemFree_v2(#1)", "cuMemHostAlloc(5, 0)", "cuMemFreeHost(#2)",
                 "cuMemHostRegister_v2(4, 0)", "cuMemHostUnregister()"}));
  gpu->failures["cuMemAlloc_v2"] = {0, 2};
  try {
    (void)Buffer<int>(*device, 3);
    ADD_FAILURE();
  } catch (const DeviceError &error) {
    EXPECT_TRUE(error.out_of_memory());
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("hipMalloc(&data, bytes) failed: CUDA_ERROR_OUT_OF_MEMORY (engine/"));
  }
}

// Device 1's context is 1001.
TEST_F(HipCuda, ReadsWhatItsContextSees) {
  const std::shared_ptr<Device> device = Device::open(1).value();
  EXPECT_EQ(device->context(), reinterpret_cast<void *>(1001));
  gpu->pointers = {{0x100, {1, 1001, 3}}, {0x200, {1, 1002, 1}},  {0x300, {0, 1001, 3}},
                   {0x400, {1, 1002, 0}}, {0x500, {1, 1001, -1}}, {0x600, {1, 1002, -1}},
                   {0x700, {1, 0, 1}}};
  EXPECT_TRUE(device->reads(0x100));
  EXPECT_TRUE(device->reads(0x200)) << "of another context, and open to this GPU";
  EXPECT_FALSE(device->reads(0x300)) << "another GPU's";
  EXPECT_FALSE(device->reads(0x400)) << "closed to it";
  EXPECT_TRUE(device->reads(0x500)) << "the driver does not say, but it is of this context";
  EXPECT_FALSE(device->reads(0x600)) << "the driver does not say";
  EXPECT_TRUE(device->reads(0x700)) << "of a pool, which belongs to no context";
  EXPECT_FALSE(device->reads(0x800)) << "nobody's";
  // Contexts of what others have put on their default streams.
  EXPECT_EQ(calls([&] { device->await_default_stream(0x200); }),
            (Log{"cuCtxSetCurrent(1002)", "cuStreamSynchronize(0)", "cuCtxSetCurrent(7)"}));
  EXPECT_EQ(calls([&] { device->await_default_stream(0x700); }),
            (Log{"cuCtxSetCurrent(1001)", "cuStreamSynchronize(0)", "cuCtxSetCurrent(7)"}));
  gpu->pointers.clear();
}

size_t open_descriptors() {
  using Files = std::filesystem::directory_iterator;
  return size_t(std::distance(Files("/proc/self/fd"), Files()));
}

// The driver takes a descriptor that it has imported, and none that it has not.
TEST_F(HipCuda, ExternalMemory) {
  const std::shared_ptr<const Importer> importer = make_importer(Device::open(0).value());
  const int fd = ::memfd_create("test", MFD_CLOEXEC);
  const size_t descriptors = open_descriptors();
  gpu->current() = 1000;  // so that nothing has to be restored
  EXPECT_EQ(
      calls([&] {
        const auto memory = importer->import(fd, 4096);
        ASSERT_TRUE(memory.ok()) << memory.status().message();
        EXPECT_EQ(memory->memory, MemoryKind::device);
        EXPECT_NE(memory->address, 0u);
        EXPECT_NE(gpu->imported, fd) << "a duplicate";
        EXPECT_EQ(::fcntl(gpu->imported, F_GETFD), FD_CLOEXEC);
        EXPECT_EQ(open_descriptors(), descriptors + 1);
      }),
      (Log{"cuImportExternalMemory(1, 4096, 0, 0)", "cuExternalMemoryGetMappedBuffer(#1, 0, 4096, 0, 0)",
           "cuMemFree_v2(#2)", "cuDestroyExternalMemory(#1)"}));
  EXPECT_EQ(open_descriptors(), descriptors);
  gpu->failures["cuExternalMemoryGetMappedBuffer"] = {0, 1};
  EXPECT_EQ(calls([&] { EXPECT_FALSE(importer->import(fd, 4096).ok()); }),
            (Log{"cuImportExternalMemory(1, 4096, 0, 0)",
                 "cuExternalMemoryGetMappedBuffer(#1, 0, 4096, 0, 0)", "cuDestroyExternalMemory(#1)"}));
  EXPECT_EQ(open_descriptors(), descriptors);
  gpu->failures["cuImportExternalMemory"] = {0, 2};
  const std::string text = importer->import(fd, 4096).status().message();
  EXPECT_EQ(text,
            "Fake does not import the memory (CUDA_ERROR_OUT_OF_MEMORY): NVIDIA's driver takes what CUDA and "
            "Vulkan export alone");
  EXPECT_EQ(open_descriptors(), descriptors);
  ::close(fd);
  gpu->current() = 7;
}

TEST_F(HipCuda, Copies) {
  const std::shared_ptr<Device> device = Device::open(0).value();
  const CurrentDevice current(*device);
  const Stream stream(*device);
  void *const host = reinterpret_cast<void *>(0x30008);
  EXPECT_EQ(calls([&] {
              stream.upload(kTo, 64, host, 48, 40, 3);
              stream.copy(kTo, 64, kFrom, 48, 40, 3);
              stream.upload(kTo, 40, host, 40, 40, 3);
              stream.copy(kTo, 40, kFrom, 40, 40, 3);
              stream.download(host, kFrom, 12);
              stream.clear(kTo, 12);
            }),
            // Kinds of memory: 1 host, 2 device.
            (Log{"cuMemcpy2DAsync_v2(2, 0, 0x10008, 64, 1, 0x30008, 0, 48, 40, 3, #1)",
                 "cuMemcpy2DAsync_v2(2, 0, 0x10008, 64, 2, 0, 0x20008, 48, 40, 3, #1)",
                 "cuMemcpyHtoDAsync_v2(0x10008, 0x30008, 120, #1)",
                 "cuMemcpyDtoDAsync_v2(0x10008, 0x20008, 120, #1)",
                 "cuMemcpyDtoHAsync_v2(0x30008, 0x20008, 12, #1)", "cuMemsetD8Async(0x10008, 0, 12, #1)"}));
  // Those that no object asks for, by the table.
  EXPECT_EQ(calls([&] {
              (void)device->api().hipMemcpy2DAsync(host, 64, reinterpret_cast<void *>(kFrom.value), 48, 40, 3,
                                                   kCopyDeviceToHost, nullptr);
            }),
            Log{"cuMemcpy2DAsync_v2(1, 0x30008, 0, 64, 2, 0, 0x20008, 48, 40, 3, 0)"});
  EXPECT_EQ(
      calls([&] { EXPECT_EQ(device->api().hipMemcpyAsync(host, host, 4, 0, nullptr), 1) << "host to host"; }),
      Log());
  int value = 0;
  EXPECT_EQ(device->api().hipDeviceGetAttribute(&value, 1, 0), 1)
      << "an attribute that has no number in CUDA here";
}

// Of four bytes each, in one row or more.
std::vector<Upload> uploads(size_t count, size_t rows = 1) {
  std::vector<Upload> copies;
  for (size_t i = 0; i < count; ++i)
    copies.push_back({reinterpret_cast<void *>(0x10008 + 16 * i), 6,
                      reinterpret_cast<void *>(0x30008 + 8 * i), 5, 4, rows});
  return copies;
}

TEST_F(HipCuda, ManyUploadsTogether) {
  const std::shared_ptr<Device> device = Device::open(0).value();
  const CurrentDevice current(*device);
  const Stream stream(*device);
  EXPECT_EQ(calls([&] { stream.upload(uploads(0)); }), Log());
  EXPECT_EQ(calls([&] { stream.upload(uploads(1)); }), Log{"cuMemcpyHtoDAsync_v2(0x10008, 0x30008, 4, #1)"});
  EXPECT_EQ(calls([&] { stream.upload(uploads(2)); }),
            Log{"cuMemcpyBatchAsync_v2(0x10008 0x30008 4; 0x10018 0x30010 4, 1, 0, 1, #1)"});
  const Log many = calls([&] { stream.upload(uploads(130)); });
  ASSERT_EQ(many.size(), 3u);
  EXPECT_TRUE(many[1].starts_with("cuMemcpyBatchAsync_v2(0x10408 0x30208 4; 0x10418 0x30210 4;")) << many[1];
  EXPECT_EQ(many[2], "cuMemcpyBatchAsync_v2(0x10808 0x30408 4; 0x10818 0x30410 4, 1, 0, 1, #1)");
  gpu->failures["cuMemcpyBatchAsync_v2"] = {0, 801};  // not supported
  const Log single = calls([&] { stream.upload(uploads(2)); });
  EXPECT_EQ(single, (Log{"cuMemcpyBatchAsync_v2(0x10008 0x30008 4; 0x10018 0x30010 4, 1, 0, 1, #1)",
                         "cuMemcpyHtoDAsync_v2(0x10008, 0x30008, 4, #1)",
                         "cuMemcpyHtoDAsync_v2(0x10018, 0x30010, 4, #1)"}));
  gpu->failures["cuMemcpyBatchAsync_v2"] = {1, 700};
  EXPECT_THROW(stream.upload(uploads(130)), DeviceError);
}

TEST_F(HipCuda, ManyUploadsOfRowsTogether) {
  const std::shared_ptr<Device> device = Device::open(0).value();
  const CurrentDevice current(*device);
  const Stream stream(*device);
  EXPECT_EQ(calls([&] { stream.upload(uploads(1, 3)); }),
            Log{"cuMemcpy2DAsync_v2(2, 0, 0x10008, 6, 1, 0x30008, 0, 5, 4, 3, #1)"});
  const std::string two = "cuMemcpy3DBatchAsync_v2(0x10008 6 0x30008 5 4x3; 0x10018 6 0x30010 5 4x3, 0, #1)";
  EXPECT_EQ(calls([&] { stream.upload(uploads(2, 3)); }), Log{two});
  EXPECT_EQ(calls([&] { stream.upload(uploads(64, 3)); }).size(), 1u);
  const Log many = calls([&] { stream.upload(uploads(66, 3)); });
  ASSERT_EQ(many.size(), 2u);
  EXPECT_EQ(many[1], "cuMemcpy3DBatchAsync_v2(0x10408 6 0x30208 5 4x3; 0x10418 6 0x30210 5 4x3, 0, #1)");
  // Those of one row are another call's.
  std::vector<Upload> mixed = uploads(3, 3);
  mixed[1].rows = 1;
  EXPECT_EQ(calls([&] { stream.upload(mixed); }),
            (Log{"cuMemcpy3DBatchAsync_v2(0x10008 6 0x30008 5 4x3; 0x10028 6 0x30018 5 4x3, 0, #1)",
                 "cuMemcpyBatchAsync_v2(0x10018 0x30010 4, 1, 0, 1, #1)"}));
  gpu->failures["cuMemcpy3DBatchAsync_v2"] = {0, 801};  // not supported
  EXPECT_EQ(calls([&] { stream.upload(uploads(2, 3)); }),
            (Log{two, "cuMemcpy2DAsync_v2(2, 0, 0x10008, 6, 1, 0x30008, 0, 5, 4, 3, #1)",
                 "cuMemcpy2DAsync_v2(2, 0, 0x10018, 6, 1, 0x30010, 0, 5, 4, 3, #1)"}));
  gpu->failures["cuMemcpy3DBatchAsync_v2"] = {0, 700};
  EXPECT_EQ(calls([&] { EXPECT_THROW(stream.upload(mixed), DeviceError); }).size(), 1u);
}

TEST_F(HipCuda, StreamsEventsKernels) {
  const std::shared_ptr<Device> device = Device::open(0).value();
  const CurrentDevice current(*device);
  EXPECT_EQ(
      calls([&] {
        const Stream stream(*device);
        const Event event(*device), timing(*device, Event::Use::timing);
        const Function kernel = device->function("probe", "kernel");
        stream.launch(kernel, {7, 6, 5}, 64, uint16_t(0x4241));
        stream.record(event);
        stream.wait(event);
        EXPECT_TRUE(event.done());
        event.synchronize();
        EXPECT_EQ(timing.milliseconds_since(event), 2.5);
        stream.synchronize();
      }),
      (Log{"cuStreamCreate(1)", "cuEventCreate(3)", "cuEventCreate(1)", "cuModuleGetFunction(#1, kernel)",
           "cuLaunchKernel(0x77, 7, 6, 5, 64, 1, 1, 0, #2)", "cuEventRecord(#3, #2)",
           "cuStreamWaitEvent(#2, #3, 0)", "cuEventQuery(#3)", "cuEventSynchronize(#3)",
           "cuEventElapsedTime(#3, #4)", "cuStreamSynchronize(#2)", "cuEventDestroy_v2(#4)",
           "cuEventDestroy_v2(#3)", "cuStreamSynchronize(#2)", "cuStreamDestroy_v2(#2)"}));
  EXPECT_EQ(gpu->arguments, "AB");
  const Event event(*device);
  gpu->failures["cuEventQuery"] = {0, 600};
  EXPECT_FALSE(event.done());
}

// In a process of its own: a loaded library stays.
TEST(HipCudaOld, ExternalMemoryBeforeCuda10) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        test::open_fake(VMAFHIP_FAKES "/libfake_cuda_9.so");
        const std::string text = make_importer(Device::open(0).value())->import(0, 4096).status().message();
        std::fprintf(stderr, "%s\n", text.c_str());
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "libcuda.so.1 is too old to import memory: update the GPU's driver");
}

// Their calls on a driver of that age.
std::string upload_calls(const char *library) {
  FakeGpu *const gpu = test::open_fake(std::string(VMAFHIP_FAKES "/") + library);
  const std::shared_ptr<Device> device = Device::open(0).value();
  const CurrentDevice current(*device);
  const Stream stream(*device);
  gpu->take_log();
  stream.upload(uploads(2));
  stream.upload(uploads(2, 3));
  std::string text;
  for (const std::string &call : gpu->take_log())
    if (call.starts_with("cuMemcpy")) text += call + "\n";
  return text;
}

TEST(HipCudaOld, UploadsBeforeCuda13) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::fputs(upload_calls("libfake_cuda_12.so").c_str(), stderr);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0),
      "cuMemcpyBatchAsync\\(0x10008 0x30008 4; 0x10018 0x30010 4, 1, 0, 1, 0x[0-9a-f]+\\)\n"
      "cuMemcpy3DBatchAsync\\(0x10008 6 0x30008 5 4x3; 0x10018 6 0x30010 5 4x3, 0, 0x[0-9a-f]+\\)");
  EXPECT_EXIT(
      {
        std::fputs(upload_calls("libfake_cuda_9.so").c_str(), stderr);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0),
      "cuMemcpyHtoDAsync_v2\\(0x10008, 0x30008, 4, 0x[0-9a-f]+\\)\n"
      "cuMemcpyHtoDAsync_v2\\(0x10018, 0x30010, 4, 0x[0-9a-f]+\\)\n"
      "cuMemcpy2DAsync_v2\\(2, 0, 0x10008, 6, 1, 0x30008, 0, 5, 4, 3, 0x[0-9a-f]+\\)\n"
      "cuMemcpy2DAsync_v2\\(2, 0, 0x10018, 6, 1, 0x30010, 0, 5, 4, 3, 0x[0-9a-f]+\\)");
}

}  // namespace
}  // namespace vmafhip::hip
