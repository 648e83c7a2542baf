// What the objects of engine/hip/device.h ask of a runtime, how they fail and what they leave behind: with a driver that
// does nothing (tests/fake_gpu). What working ones do with data is in hip_runtime_test.cpp.
#include "engine/hip/device.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <regex>
#include <thread>

#include <gtest/gtest.h>

#include "engine/hip/external.h"
#include "engine/hip/images.h"
#include "tests/fake_gpu/library.h"

namespace vmafhip::test {
extern std::atomic<uint64_t> allocations;  // count_allocations.cpp
}

namespace vmafhip::hip {

// In place of the build's.
std::span<const Image> images() {
  static const Image probe = {"probe", nullptr, 0, nullptr, 0};
  return {&probe, 1};
}

namespace {

using Log = std::vector<std::string>;
constexpr DeviceAddress<std::byte> kTo{0x10000};
constexpr DeviceAddress<const std::byte> kFrom{0x20000};

class HipDevice : public testing::Test {
 protected:
  void SetUp() override {
    gpu->devices = 2;
    Result<std::shared_ptr<Device>> opened = Device::open(0);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = *opened;
    take_log();
  }
  void TearDown() override {
    device.reset();
    if (gpu->lost != 0) return;
    EXPECT_EQ(gpu->total(), 0);
    EXPECT_EQ(gpu->live["registration"], 0);
    EXPECT_EQ(gpu->wrong, Log());
  }
  // What was called since the last time, but for changes of the thread's device.
  Log take_log() {
    Log log = gpu->take_log();
    std::erase_if(log, [](const std::string &call) { return call.starts_with("hipSetDevice("); });
    return log;
  }
  // What `work` throws; fails the test if it does not.
  DeviceError thrown(const std::function<void()> &work) {
    try {
      work();
    } catch (const DeviceError &error) {
      EXPECT_EQ(gpu->last_error(), 0) << "left for others to find: " << error.what();
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return DeviceError(0, "");
  }

  test::FakeHip gpu;
  std::shared_ptr<Device> device;
  int row[16] = {};
};

std::string hex(const void *pointer) {
  std::ostringstream text;
  text << pointer;
  return text.str();
}

TEST_F(HipDevice, ErrorsNameCallPlaceAndError) {
  const Stream stream(*device);
  const auto text_of = [&](const char *function, int code, const std::function<void()> &work) {
    gpu->failures[function] = {0, code};
    const DeviceError error = thrown(work);
    gpu->failures.clear();
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.out_of_memory(), code == 2);
    return std::string(error.what());
  };
  const auto expect = [](const std::string &text, const char *pattern) {
    EXPECT_TRUE(std::regex_match(text, std::regex(pattern))) << text;
  };
  const std::string place = R"( \(engine/hip/(device|streams)\.cpp:[0-9]+\))";
  expect(
      text_of("hipMemcpy2DAsync", 1, [&] { stream.upload(kTo, 32, row, 16, 8, 2); }),
      (R"(hipMemcpy2DAsync\(pointer\(to\.value\), to_stride, from, stride, width, rows, kCopyHostToDevice, handle_\) failed: )"
       "hipErrorInvalidValue" +
       place)
          .c_str());
  expect(text_of("hipMalloc", 2, [&] { Buffer<int>(*device, 3); }),
         (R"(hipMalloc\(&data, bytes\) failed: hipErrorOutOfMemory)" + place).c_str());
  expect(text_of("hipEventSynchronize", 700, [&] { Event(*device).synchronize(); }),
         (R"(hipEventSynchronize\(handle_\) failed: hipErrorIllegalAddress)" + place).c_str());
  expect(text_of("hipModuleLaunchKernel", 4321,
                 [&] { stream.launch(device->function("probe", "kernel"), {}, 32, 5); }),
         (R"(hipModuleLaunchKernel\(\) of kernel failed: error 4321)" + place).c_str());
  expect(text_of("hipModuleGetFunction", 500, [&] { device->function("probe", "kernel"); }),
         (R"(hipModuleGetFunction\(\) of kernel among the probe kernels failed: hipErrorNotFound)" + place)
             .c_str());
  EXPECT_EQ(text_of("hipModuleLoadData", 209, [&] { device->function("other", "kernel"); }),
            "the other kernels were not built for Fake (gfx 11.5), " + gpu.path());
}

// Every function of the runtime that can fail is looked at.
TEST_F(HipDevice, EveryFailureIsThrown) {
  const Stream stream(*device);
  const Event event(*device), later(*device, Event::Use::timing);
  const std::map<std::string, std::function<void()>> calls = {
      {"hipMemGetInfo", [&] { device->free_memory(); }},
      {"hipSetDevice", [&] { device->make_current(); }},
      {"hipMalloc", [&] { Buffer<char>(*device, 1); }},
      {"hipHostMalloc", [&] { PinnedBuffer(*device, 1); }},
      {"hipHostRegister", [&] { HostRegistration(*device, row, sizeof row); }},
      {"hipStreamCreateWithFlags", [&] { Stream{*device}; }},
      {"hipStreamSynchronize", [&] { stream.synchronize(); }},
      {"hipStreamWaitEvent", [&] { stream.wait(event); }},
      {"hipEventCreateWithFlags", [&] { Event{*device}; }},
      {"hipEventRecord", [&] { stream.record(event); }},
      {"hipEventQuery", [&] { (void)event.done(); }},
      {"hipEventSynchronize", [&] { event.synchronize(); }},
      {"hipEventElapsedTime", [&] { (void)later.milliseconds_since(event); }},
      {"hipMemsetAsync", [&] { stream.clear(kTo, 4); }},
      {"hipMemcpyAsync", [&] { stream.download(row, kFrom, 4); }},
      {"hipMemcpy2DAsync", [&] { stream.copy(kTo, 8, kFrom, 8, 4, 2); }},
      {"hipModuleLoadData", [&] { device->function("other", "kernel"); }},
      {"hipModuleGetFunction", [&] { device->function("probe", "kernel"); }},
      {"hipModuleLaunchKernel",
       [&] {
         stream.launch(Function{nullptr, "kernel"}, {}, 1, 0);
       }},
  };
  for (const auto &[function, work] : calls) {
    gpu->failures = {{function, {0, 700}}};
    const std::string text = thrown(work).what();
    EXPECT_EQ(text.rfind(function, 0) == 0 || function == "hipSetDevice", true) << text;
  }
  gpu->failures.clear();
}

TEST_F(HipDevice, EventsThatAreNotDone) {
  const Event event(*device);
  EXPECT_TRUE(event.done());
  gpu->failures["hipEventQuery"] = {0, 600};
  EXPECT_FALSE(event.done());
  EXPECT_EQ(gpu->last_error(), 0) << "not ready is no error that others should find";
  gpu->failures.clear();
}

TEST_F(HipDevice, EventsSleepAndTimeOnlyIfAsked) {
  const Event order(*device), timing(*device, Event::Use::timing);
  EXPECT_EQ(take_log(), (Log{"hipEventCreateWithFlags(3)", "hipEventCreateWithFlags(1)"}));
  EXPECT_EQ(timing.milliseconds_since(order), 2.5);
  EXPECT_EQ(take_log(),
            Log{"hipEventElapsedTime(" + hex(order.handle()) + ", " + hex(timing.handle()) + ")"});
}

TEST_F(HipDevice, Copies) {
  const Stream stream(*device);
  EXPECT_EQ(take_log(), (Log{"hipStreamCreateWithFlags(1)"}));
  const std::string s = "0x2000";  // after the module
  const auto calls = [&](const std::function<void()> &work) {
    work();
    return take_log();
  };
  const char *const from = reinterpret_cast<const char *>(0x30000);
  EXPECT_EQ(calls([&] { stream.upload(kTo, 64, from, 48, 40, 3); }),
            Log{"hipMemcpy2DAsync(0x10000, 64, 0x30000, 48, 40, 3, 1, " + s + ")"});
  EXPECT_EQ(calls([&] { stream.upload(kTo, 40, from, 40, 40, 3); }),
            Log{"hipMemcpyAsync(0x10000, 0x30000, 120, 1, " + s + ")"});
  EXPECT_EQ(calls([&] { stream.upload(kTo, 64, from, 48, 40, 1); }),
            Log{"hipMemcpyAsync(0x10000, 0x30000, 40, 1, " + s + ")"});
  EXPECT_EQ(calls([&] { stream.upload(kTo, 64, from, 64, 40, 2); }),
            Log{"hipMemcpy2DAsync(0x10000, 64, 0x30000, 64, 40, 2, 1, " + s + ")"})
      << "what lies between rows stays";
  EXPECT_EQ(calls([&] { stream.upload(kTo, 64, from, -48, 40, 3); }),
            (Log{"hipMemcpyAsync(0x10000, 0x30000, 40, 1, " + s + ")",
                 "hipMemcpyAsync(0x10040, 0x2ffd0, 40, 1, " + s + ")",
                 "hipMemcpyAsync(0x10080, 0x2ffa0, 40, 1, " + s + ")"}));
  EXPECT_EQ(calls([&] { stream.copy(kTo, 64, kFrom, 48, 40, 3); }),
            Log{"hipMemcpy2DAsync(0x10000, 64, 0x20000, 48, 40, 3, 3, " + s + ")"});
  EXPECT_EQ(calls([&] { stream.copy(kTo, 40, kFrom, 40, 40, 3); }),
            Log{"hipMemcpyAsync(0x10000, 0x20000, 120, 3, " + s + ")"});
  EXPECT_EQ(calls([&] { stream.download(nullptr, kFrom, 12); }),
            Log{"hipMemcpyAsync(0, 0x20000, 12, 2, " + s + ")"});
  EXPECT_EQ(calls([&] { stream.clear(kTo, 12); }), Log{"hipMemsetAsync(0x10000, 0, 12, " + s + ")"});
  EXPECT_EQ(calls([&] {
              stream.upload(kTo, 64, from, 48, 0, 3);
              stream.upload(kTo, 64, from, 48, 40, 0);
              stream.upload(kTo, 64, from, -48, 0, 3);
              stream.copy(kTo, 64, kFrom, 48, 0, 3);
              stream.copy(kTo, 64, kFrom, 48, 40, 0);
              stream.download(nullptr, kFrom, 0);
              stream.clear(kTo, 0);
            }),
            Log())
      << "nothing is not copied";
}

TEST_F(HipDevice, ManyUploads) {
  const Stream stream(*device);
  take_log();
  const Upload copies[] = {
      {reinterpret_cast<void *>(0x10000), 8, reinterpret_cast<void *>(0x30000), 6, 5, 1},
      {reinterpret_cast<void *>(0x11000), 8, reinterpret_cast<void *>(0x31000), 6, 5, 3}};
  stream.upload(copies);
  EXPECT_EQ(take_log(), (Log{"hipMemcpyAsync(0x10000, 0x30000, 5, 1, 0x2000)",
                             "hipMemcpy2DAsync(0x11000, 8, 0x31000, 6, 5, 3, 1, 0x2000)"}));
  gpu->failures["hipMemcpyAsync"] = {0, 700};
  EXPECT_THROW(stream.upload(copies), DeviceError);
  EXPECT_EQ(take_log(), Log{"hipMemcpyAsync(0x10000, 0x30000, 5, 1, 0x2000)"}) << "no further ones";
}

// Much pinned memory is the process's own, in large pages.
TEST_F(HipDevice, MuchPinnedMemory) {
  constexpr size_t kMuch = (5 << 20) + 3;
  const std::string whole = ", " + std::to_string(6 << 20) + ", 0)";
  std::string data;
  {
    PinnedBuffer pinned(*device, kMuch);
    data = hex(pinned.data());
    EXPECT_EQ(take_log(), Log{"hipHostRegister(" + data + whole});
    EXPECT_EQ(pinned.size(), kMuch);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pinned.data()) % (2 << 20), 0u);
    pinned.data()[kMuch - 1] = std::byte{7};
    const PinnedBuffer other = std::move(pinned);
    EXPECT_EQ(other.data()[kMuch - 1], std::byte{7});
    EXPECT_EQ(pinned.data(), nullptr);
  }
  EXPECT_EQ(take_log(), Log{"hipHostUnregister(" + data + ")"});
  // Where that cannot be, the driver's.
  gpu->failures["hipHostRegister"] = {0, 2};
  {
    const PinnedBuffer pinned(*device, kMuch);
    EXPECT_NE(pinned.data(), nullptr);
  }
  const Log log = take_log();
  ASSERT_EQ(log.size(), 3u);
  EXPECT_TRUE(log[0].starts_with("hipHostRegister(") && log[0].ends_with(whole)) << log[0];
  EXPECT_EQ(log[1], "hipHostMalloc(" + std::to_string(kMuch) + ", 0)");
  EXPECT_TRUE(log[2].starts_with("hipHostFree(")) << log[2];
  gpu->failures["hipHostMalloc"] = {0, 2};
  gpu->failures["hipHostRegister"] = {0, 2};
  EXPECT_THROW(PinnedBuffer(*device, kMuch), DeviceError);
}

// Memory that could not be unpinned: its pages go, but its addresses are nobody's again.
TEST_F(HipDevice, PinnedMemoryThatCannotBeUnpinned) {
  const auto last_page = [&](int error) {
    if (error != 0) gpu->failures["hipHostUnregister"] = {0, error};
    const PinnedBuffer pinned(*device, 6 << 20);
    return pinned.data() + (6 << 20) - 4096;
  };
  unsigned char there = 0;
  errno = 0;
  EXPECT_EQ(::mincore(last_page(0), 4096, &there), -1);
  EXPECT_EQ(errno, ENOMEM) << "it is unmapped";
  there = 1;
  EXPECT_EQ(::mincore(last_page(700), 4096, &there), 0) << "it is mapped";
  EXPECT_EQ(there & 1, 0) << "without memory";
  EXPECT_EQ(gpu->last_error(), 0);
}

// ROCm 5 counts no mapped buffers: hipFree() would free what hipDestroyExternalMemory() frees.
TEST_F(HipDevice, ImportedMemoryIsReleasedAsTheVersionWantsIt) {
  const std::shared_ptr<const Importer> importer = make_importer(device);
  const int fd = ::dup(0);
  for (const int version : {50'200'000, 60'000'000, 70'200'000}) {
    gpu->version = version;
    {
      const auto memory = importer->import(fd, 4096);
      ASSERT_TRUE(memory.ok()) << memory.status().message();
      EXPECT_NE(gpu->imported, fd) << "a duplicate";
      EXPECT_EQ(::fcntl(gpu->imported, F_GETFD), -1) << "closed: the driver has its own by now";
    }
    Log log = take_log();
    ASSERT_EQ(log.size(), version < 60'000'000 ? 3u : 4u);
    EXPECT_EQ(log[0], "hipImportExternalMemory(1, 4096, 0, 0)");
    EXPECT_TRUE(log[1].ends_with(", 0, 4096, 0, 0)")) << log[1];
    if (log.size() == 4) {
      EXPECT_TRUE(log[2].starts_with("hipFree(")) << log[2];
    }
    EXPECT_TRUE(log.back().starts_with("hipDestroyExternalMemory(")) << log.back();
  }
  gpu->failures["hipImportExternalMemory"] = {0, 1};
  EXPECT_FALSE(importer->import(fd, 4096).ok());
  EXPECT_EQ(::fcntl(gpu->imported, F_GETFD), -1) << "the duplicate is closed";
  EXPECT_EQ(gpu->last_error(), 0);
  EXPECT_EQ(::close(fd), 0) << "it stayed the caller's";
}

TEST_F(HipDevice, LaunchPassesTheArgument) {
  const Stream stream(*device);
  const Function kernel = device->function("probe", "kernel");
  take_log();
  struct {
    char text[5];
  } const args = {{'a', 'b', 0, 'c', 'd'}};
  stream.launch(kernel, {7, 6, 5}, 64, args);
  EXPECT_EQ(take_log(), Log{"hipModuleLaunchKernel(0x77, 7, 6, 5, 64, 1, 1, 0, 0x2000)"});
  EXPECT_EQ(gpu->arguments, std::string("ab\0cd", 5));
}

TEST_F(HipDevice, ModulesAreLoadedOnce) {
  (void)device->function("other", "one");
  (void)device->function("other", "two");
  (void)device->function("probe", "three");
  Log loads = take_log();
  std::erase_if(loads, [](const std::string &call) { return !call.starts_with("hipModuleLoadData"); });
  EXPECT_EQ(loads, Log{"hipModuleLoadData(other)"});
}

TEST_F(HipDevice, NothingIsAllocatedPerFrame) {
  const Stream stream(*device), other(*device);
  const Event event(*device);
  const Function kernel = device->function("probe", "kernel");
  gpu->keeps_log = false;
  const uint64_t before = test::allocations;
  for (int i = 0; i < 100; ++i) {
    device->make_current();
    stream.upload(kTo, 64, row, 48, 40, 3);
    stream.clear(kTo, 64);
    stream.launch(kernel, {}, 32, i);
    stream.download(row, kFrom, 64);
    stream.record(event);
    other.wait(event);
    (void)event.done();
    event.synchronize();
  }
  EXPECT_EQ(test::allocations - before, 0u);
}

// Every object: made, moved into a new one, moved over another, and gone; none is freed twice, none stays.
template <class Object, class Make>
void move_around(const Make &make) {
  Object a = make();
  Object b = std::move(a);
  Object c = make();
  c = std::move(b);
  a = std::move(c);
  Object &same = a;
  a = std::move(same);
  std::swap(a, b);
}

TEST_F(HipDevice, Moves) {
  move_around<Event>([&] { return Event(*device); });
  move_around<Stream>([&] { return Stream(*device); });
  move_around<Buffer<int>>([&] { return Buffer<int>(*device, 4); });
  move_around<PinnedBuffer>([&] { return PinnedBuffer(*device, 4); });
  move_around<HostRegistration>([&] { return HostRegistration(*device, row, sizeof row); });
  EXPECT_EQ(gpu->total(), 1) << "the module";
}

TEST_F(HipDevice, MovesTakeEverything) {
  Buffer<uint16_t> a(*device, 4);
  const uint64_t address = a.address().value;
  EXPECT_NE(address, 0u);
  Buffer<uint16_t> b = std::move(a);
  EXPECT_EQ(b.address().value, address);
  EXPECT_EQ(b.size(), 4u);
  EXPECT_FALSE(a.address());
  EXPECT_EQ(a.size(), 0u);
  PinnedBuffer c(*device, 5), d;
  EXPECT_NE(c.data(), nullptr);
  d = std::move(c);
  EXPECT_EQ(d.size(), 5u);
  EXPECT_EQ(c.data(), nullptr);
  EXPECT_EQ(c.size(), 0u);
}

TEST_F(HipDevice, EmptyAndHugeMemory) {
  {
    const Buffer<int> none, zero(*device, 0);
    const PinnedBuffer no_host, zero_host(*device, 0);
    EXPECT_FALSE(zero.address());
    EXPECT_EQ(zero_host.data(), nullptr);
  }
  EXPECT_EQ(take_log(), Log());
  // As many bytes as the count says, or more than there are.
  (void)Buffer<int>(*device, 6);
  EXPECT_EQ(take_log()[0], "hipMalloc(24)");
  (void)Buffer<uint64_t>(*device, SIZE_MAX / 2);
  EXPECT_EQ(take_log()[0], "hipMalloc(" + std::to_string(kMostBytes) + ")");
}

TEST_F(HipDevice, WhatWasMovedAwayOutlivesTheDevice) {
  auto event = std::make_unique<Event>(*device);
  auto buffer = std::make_unique<Buffer<int>>(*device, 4);
  auto pinned = std::make_unique<PinnedBuffer>(*device, 4);
  {
    const Event gone = std::move(*event);
    const Buffer<int> gone_too = std::move(*buffer);
    const PinnedBuffer gone_three = std::move(*pinned);
  }
  device.reset();
  EXPECT_EQ(gpu->total(), 0);
  event.reset();
  buffer.reset();
  pinned.reset();
}

TEST_F(HipDevice, LostDevice) {
  {
    Stream stream(*device);
    Event event(*device);
    Buffer<int> buffer(*device, 4);
    PinnedBuffer pinned(*device, 4);
    HostRegistration registration(*device, row, sizeof row);
    gpu->lost = 700;
    thrown([&] { stream.synchronize(); });
    thrown([&] { event.synchronize(); });
    take_log();
  }
  device.reset();
  const Log log = take_log();
  for (const char *call : {"hipStreamDestroy(", "hipEventDestroy(", "hipFree(", "hipHostFree(",
                           "hipHostUnregister(", "hipModuleUnload("})
    EXPECT_EQ(std::ranges::count_if(log, [&](const std::string &s) { return s.starts_with(call); }), 1)
        << call;
  EXPECT_EQ(gpu->last_error(), 0);
}

TEST_F(HipDevice, CallersKeepTheirDevice) {
  gpu->current() = 1;
  {
    const Stream stream(*device);
    const Event event(*device);
    const Buffer<int> buffer(*device, 4);
    const PinnedBuffer pinned(*device, 4);
    const HostRegistration registration(*device, row, sizeof row);
    (void)device->function("other", "kernel");
    (void)device->free_memory();
    EXPECT_EQ(gpu->current(), 1u);
    // Everything is made on device 0: each call lies between two that change and restore.
    const Log log = gpu->take_log();
    for (size_t i = 0; i < log.size(); ++i)
      if (log[i].starts_with("hipMalloc(")) {
        EXPECT_EQ(log[i - 1], "hipSetDevice(0)");
        EXPECT_EQ(log[i + 1], "hipSetDevice(1)");
      }
  }
  device.reset();
  EXPECT_EQ(gpu->current(), 1u);
  device = Device::open(0).value();
  EXPECT_EQ(gpu->current(), 1u);
  {
    const CurrentDevice current(*device);
    EXPECT_EQ(gpu->current(), 0u);
    take_log();
    const Buffer<int> buffer(*device, 4);
    EXPECT_EQ(gpu->take_log(), (Log{"hipSetDevice(0)", "hipMalloc(16)"})) << "nothing to restore";
  }
  EXPECT_EQ(gpu->current(), 1u);
  device->make_current();
  EXPECT_EQ(gpu->current(), 0u);
}

// What cannot be made on its device is not made on another one.
TEST_F(HipDevice, DeviceThatCannotBeMadeCurrent) {
  gpu->failures["hipSetDevice"] = {0, 101};
  const std::vector<std::function<void()>> makers = {
      [&] { Stream{*device}; },
      [&] { Event{*device}; },
      [&] { Buffer<int>(*device, 4); },
      [&] { PinnedBuffer(*device, 4); },
      [&] { HostRegistration(*device, row, sizeof row); },
      [&] { (void)device->function("other", "kernel"); },
      [&] { (void)device->function("probe", "kernel"); },
      [&] { (void)device->free_memory(); },
  };
  for (const auto &make : makers)
    EXPECT_TRUE(
        std::string(thrown(make).what())
            .starts_with("making a device current failed: hipErrorInvalidDevice (engine/hip/device.cpp:"));
  EXPECT_EQ(take_log(), Log());
  EXPECT_FALSE(Device::open(1).ok());
  EXPECT_FALSE(CurrentDevice(*device).ok());
  gpu->failures.clear();
  EXPECT_TRUE(CurrentDevice(*device).ok());
}

TEST_F(HipDevice, TwoThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      device->make_current();
      for (int i = 0; i < 100; ++i) {
        const Stream stream(*device);
        const Event event(*device);
        stream.launch(device->function(i % 2 ? "probe" : "other", "kernel"), {}, 32, i);
        stream.record(event);
        event.synchronize();
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(gpu->live["module"], 2);
}

}  // namespace
}  // namespace vmafhip::hip
