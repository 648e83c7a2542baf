// What the objects of engine/hip/device.h do with data, time and failures, on a runtime that works: copies of rows,
// kernels, what waits for what, memory that ends, a device that goes. On the simulated GPU, which also checks that
// every call is right and that nothing is left.
#include <algorithm>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "engine/hip/device.h"
#include "tests/hipsim/demo_args.h"
#include "tests/hipsim_control.h"

namespace vmafhip::hip {
namespace {

class HipRuntime : public testing::Test {
 protected:
  void SetUp() override {
    sim.reset();
    open();
  }
  void TearDown() override {
    device.reset();
    EXPECT_EQ(sim.reports(), "");
    EXPECT_EQ(sim.leaks(), 0u);
    sim.reset();
  }
  void open(int number = 0) {
    Result<std::shared_ptr<Device>> opened = Device::open(number);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = *opened;
    device->make_current();
  }
  // The text of a failure that was meant to happen.
  std::string expected_report() {
    const std::string text = sim.reports();
    sim.reset();
    return text;
  }

  test::HipSim sim;
  std::shared_ptr<Device> device;
};

std::vector<uint8_t> noise(size_t bytes, unsigned seed) {
  std::vector<uint8_t> samples(bytes);
  for (uint8_t &s : samples) s = uint8_t((seed = seed * 1664525u + 1013904223u) >> 24);
  return samples;
}

// What hipsim_demo sums up.
uint64_t differences(const uint8_t *row, ptrdiff_t stride, int width, int height) {
  uint64_t sum = 0;
  for (int y = 0; y < height; ++y, row += stride)
    for (int x = 0; x + 1 < width; ++x) sum += uint64_t(std::abs(row[x] - row[x + 1]));
  return sum;
}

template <class T>
DeviceAddress<std::byte> bytes_of(const Buffer<T> &buffer) {
  return address_cast<std::byte>(buffer.address());
}

template <class T>
std::vector<T> contents(const Stream &stream, const Buffer<T> &buffer) {
  std::vector<T> host(buffer.size());
  stream.download(host.data(), address_cast<const std::byte>(buffer.address()), buffer.size() * sizeof(T));
  stream.synchronize();
  return host;
}

TEST_F(HipRuntime, Description) {
  const char *warp = std::getenv("HIPSIM_WARP");
  EXPECT_EQ(device->warp_size(), warp ? std::atoi(warp) : 32);
  EXPECT_EQ(device->name(), "simulated GPU 0");
  EXPECT_EQ(device->description(), std::string("simulated GPU 0 (gfx ") +
                                       (device->warp_size() == 64 ? "9.0" : "11.0") + "), " +
                                       std::getenv("VMAFHIP_HIP_LIBRARY"));
}

TEST_F(HipRuntime, RowsAreCopiedAndNothingBetween) {
  constexpr size_t kWidth = 37, kRows = 5, kHostStride = 48, kStride = 64;
  const Stream stream(*device);
  const std::vector<uint8_t> host = noise(kHostStride * kRows, 1);
  Buffer<uint8_t> a(*device, kStride * kRows), b(*device, kStride * kRows);
  for (const Buffer<uint8_t> *buffer : {&a, &b}) stream.clear(bytes_of(*buffer), buffer->size());
  stream.upload(bytes_of(a), kStride, host.data(), kHostStride, kWidth, kRows);
  std::vector<uint8_t> expected(kStride * kRows);
  for (size_t y = 0; y < kRows; ++y) std::memcpy(&expected[y * kStride], &host[y * kHostStride], kWidth);
  EXPECT_EQ(contents(stream, a), expected);

  // To the same rows, closer together.
  stream.copy(bytes_of(b), 40, address_cast<const std::byte>(a.address()), kStride, kWidth, kRows);
  std::vector<uint8_t> closer(kStride * kRows);
  for (size_t y = 0; y < kRows; ++y) std::memcpy(&closer[y * 40], &host[y * kHostStride], kWidth);
  EXPECT_EQ(contents(stream, b), closer);
}

TEST_F(HipRuntime, RowsFromBottomToTop) {
  constexpr size_t kWidth = 37, kRows = 5, kHostStride = 48, kStride = 64;
  const Stream stream(*device);
  const std::vector<uint8_t> host = noise(kHostStride * kRows, 2);
  const Buffer<uint8_t> buffer(*device, kStride * kRows);
  stream.clear(bytes_of(buffer), buffer.size());
  stream.upload(bytes_of(buffer), kStride, &host[kHostStride * (kRows - 1)], -ptrdiff_t(kHostStride), kWidth,
                kRows);
  std::vector<uint8_t> expected(kStride * kRows);
  for (size_t y = 0; y < kRows; ++y)
    std::memcpy(&expected[y * kStride], &host[(kRows - 1 - y) * kHostStride], kWidth);
  EXPECT_EQ(contents(stream, buffer), expected);
}

// Planes on the host, some with gaps between rows, and where they go.
struct ManyPlanes {
  static constexpr size_t kWidth = 40, kRows = 3, kPlanes = 5;
  PinnedBuffer host;
  Buffer<uint8_t> there;
  std::vector<Upload> copies;
  std::vector<uint8_t> expected = std::vector<uint8_t>(kPlanes * 64 * kRows);

  explicit ManyPlanes(const Device &device)
      : host(device, kPlanes * 64 * kRows), there(device, kPlanes * 64 * kRows) {
    const std::vector<uint8_t> samples = noise(host.size(), 11);
    std::memcpy(host.data(), samples.data(), samples.size());
    for (size_t n = 0; n < kPlanes; ++n) {
      const size_t at = n * 64 * kRows, from_stride = 48, to_stride = 64, rows = n % 2 ? kRows : 1;
      copies.push_back({reinterpret_cast<void *>(there.address().value + at), to_stride, host.data() + at,
                        from_stride, kWidth, rows});
      for (size_t y = 0; y < rows; ++y)
        std::memcpy(&expected[at + y * to_stride], &samples[at + y * from_stride], kWidth);
    }
  }
};

// Where the library has no call for many copies, or says so in the middle, they go one by one.
TEST_F(HipRuntime, ManyUploads) {
  for (const char *batch : {"yes", "no", "half"}) {
    SCOPED_TRACE(batch);
    sim.configure(std::string("batch=") + batch);
    const ManyPlanes planes(*device);
    const Stream stream(*device);
    const hipsim_traffic before = sim.traffic();
    stream.clear(bytes_of(planes.there), planes.there.size());
    stream.upload(planes.copies);
    EXPECT_EQ(contents(stream, planes.there), planes.expected);
    const hipsim_traffic after = sim.traffic();
    EXPECT_EQ(after.batches - before.batches, batch == std::string("yes") ? 1u : 0u);
    EXPECT_EQ(after.uploads - before.uploads, planes.kPlanes + (batch == std::string("half") ? 2u : 0u));
    EXPECT_EQ(device->api().hipGetLastError(), 0) << "others would take it for theirs";
  }
}

// Of those that failed none is sent again.
TEST_F(HipRuntime, ManyUploadsThatFailInTheMiddle) {
  const ManyPlanes planes(*device);
  const Stream stream(*device);
  const hipsim_traffic before = sim.traffic();
  sim.configure("fail=copy:3");
  EXPECT_THROW(stream.upload(planes.copies), DeviceError);
  stream.synchronize();
  EXPECT_EQ(sim.traffic().uploads - before.uploads, 2u);
}

TEST_F(HipRuntime, KernelsReadWhatWasUploaded) {
  constexpr int kWidth = 301, kHeight = 7;
  const Stream stream(*device);
  const Function kernel = device->function("hipsim_demo", "hipsim_demo");
  const std::vector<uint8_t> host = noise(kWidth * kHeight, 3);
  const Buffer<uint8_t> plane(*device, 512 * kHeight);
  const Buffer<uint64_t> sum(*device, 1);
  stream.upload(bytes_of(plane), 512, host.data(), kWidth, kWidth, kHeight);
  stream.clear(bytes_of(sum), 8);
  const Grid grid = {(kWidth + kDemoThreads - 1) / kDemoThreads, kHeight};
  const auto data = address_cast<const uint8_t>(plane.address());
  stream.launch(kernel, grid, kDemoThreads, DemoArgs{{data, 512}, kWidth, kHeight, sum.address()});
  const uint64_t expected = differences(host.data(), kWidth, kWidth, kHeight);
  EXPECT_EQ(contents(stream, sum)[0], expected);
  // The same plane, from its last row up.
  stream.launch(kernel, grid, kDemoThreads,
                DemoArgs{{data + 512 * (kHeight - 1), -512}, kWidth, kHeight, sum.address()});
  EXPECT_EQ(contents(stream, sum)[0], 2 * expected);
}

// One row through the kernel, and the sum of its differences to the host.
struct Pass {
  PinnedBuffer in, out;
  Buffer<uint8_t> row;
  Buffer<uint64_t> sum;
  Function kernel;
  static constexpr int kWidth = 200;

  explicit Pass(const Device &device)
      : in(device, kWidth),
        out(device, 8),
        row(device, kWidth),
        sum(device, 1),
        kernel(device.function("hipsim_demo", "hipsim_demo")) {}
  uint64_t fill(unsigned seed) const {
    const std::vector<uint8_t> samples = noise(kWidth, seed);
    std::memcpy(in.data(), samples.data(), kWidth);
    return differences(samples.data(), 0, kWidth, 1);
  }
  void upload(const Stream &stream) const {
    stream.upload(bytes_of(row), kWidth, in.data(), kWidth, kWidth, 1);
  }
  void measure(const Stream &stream) const {
    stream.clear(bytes_of(sum), 8);
    stream.launch(kernel, {2}, kDemoThreads,
                  DemoArgs{{address_cast<const uint8_t>(row.address()), kWidth}, kWidth, 1, sum.address()});
    stream.download(out.data(), address_cast<const std::byte>(sum.address()), 8);
  }
  uint64_t result() const {
    uint64_t value = 0;
    std::memcpy(&value, out.data(), 8);
    return value;
  }
};

TEST_F(HipRuntime, EventsOrderStreams) {
  const Stream uploads(*device), work(*device);
  const Pass pass(*device);
  const Event uploaded(*device), measured(*device);
  for (unsigned i = 0; i < 4; ++i) {
    const uint64_t expected = pass.fill(i);
    pass.upload(uploads);
    uploads.record(uploaded);
    work.wait(uploaded);
    pass.measure(work);
    work.record(measured);
    if (i % 2)
      measured.synchronize();
    else
      while (!measured.done()) std::this_thread::yield();
    EXPECT_EQ(pass.result(), expected) << i;
    EXPECT_TRUE(measured.done());
  }
}

TEST_F(HipRuntime, EventsMeasureTime) {
  const Stream stream(*device);
  const Pass pass(*device);
  const Event before(*device, Event::Use::timing), between(*device, Event::Use::timing),
      after(*device, Event::Use::timing);
  pass.fill(1);
  stream.record(before);
  pass.upload(stream);
  stream.record(between);
  pass.measure(stream);
  stream.record(after);
  after.synchronize();
  EXPECT_GE(between.milliseconds_since(before), 0);
  EXPECT_GT(after.milliseconds_since(before), 0);
  EXPECT_NEAR(before.milliseconds_since(after), -after.milliseconds_since(before), 1e-6);
  EXPECT_NEAR(between.milliseconds_since(before) + after.milliseconds_since(between),
              after.milliseconds_since(before), 1e-3);
}

TEST_F(HipRuntime, Alignment) {
  for (size_t bytes : {1, 63, 256, 5000}) {
    const Buffer<uint8_t> buffer(*device, bytes);
    EXPECT_EQ(buffer.address().value % 256, 0u);
    const PinnedBuffer pinned(*device, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pinned.data()) % 4096, 0u);
  }
}

TEST_F(HipRuntime, RegisteredMemory) {
  const Stream stream(*device);
  const Pass pass(*device);
  std::vector<uint8_t> samples = noise(Pass::kWidth, 7);
  {
    HostRegistration pinned(*device, samples.data(), samples.size());
    const HostRegistration moved = std::move(pinned);
    try {
      (void)HostRegistration(*device, samples.data(), samples.size());
      ADD_FAILURE() << "registered twice";
    } catch (const DeviceError &error) {
      EXPECT_NE(std::string(error.what()).find("hipErrorHostMemoryAlreadyRegistered"), std::string::npos)
          << error.what();
    }
    stream.upload(bytes_of(pass.row), Pass::kWidth, samples.data(), Pass::kWidth, Pass::kWidth, 1);
    pass.measure(stream);
    stream.synchronize();
  }
  EXPECT_EQ(pass.result(), differences(samples.data(), 0, Pass::kWidth, 1));
  const HostRegistration again(*device, samples.data(), samples.size());
}

TEST_F(HipRuntime, MemoryThatEnds) {
  sim.configure("memory=1M");
  const uint64_t all = device->free_memory();
  const Pass pass(*device);
  const Stream stream(*device);
  EXPECT_LT(device->free_memory(), all);
  try {
    (void)Buffer<uint8_t>(*device, 2 << 20);
    ADD_FAILURE() << "2 MiB of 1";
  } catch (const DeviceError &error) {
    EXPECT_TRUE(error.out_of_memory());
    EXPECT_TRUE(std::string(error.what()).starts_with("hipMalloc(&data, bytes) failed: hipErrorOutOfMemory"))
        << error.what();
  }
  EXPECT_THROW((void)Buffer<uint64_t>(*device, SIZE_MAX / 4), DeviceError)
      << "more bytes than there are numbers for";
  const uint64_t expected = pass.fill(8);
  pass.upload(stream);
  pass.measure(stream);
  stream.synchronize();
  EXPECT_EQ(pass.result(), expected) << "the device works on";
}

TEST_F(HipRuntime, DeviceThatGoes) {
  (void)device->function("hipsim_demo", "hipsim_demo");
  const unsigned modules = sim.leaks();  // which stay as long as the device
  // Whichever call it is that meets it.
  for (int call = 1; call < 40; ++call) {
    bool failed = false;
    sim.configure(("fail=lost:" + std::to_string(call)));
    try {
      const Stream stream(*device), side(*device);
      const Pass pass(*device);
      const Event event(*device);
      pass.fill(1);
      pass.upload(side);
      side.record(event);
      stream.wait(event);
      pass.measure(stream);
      stream.synchronize();
    } catch (const DeviceError &error) {
      failed = true;
      EXPECT_FALSE(error.out_of_memory()) << error.what();
    }
    sim.reset();
    EXPECT_EQ(sim.leaks(), modules) << "call " << call;
    if (!failed) {
      EXPECT_GT(call, 25);
      return;
    }
  }
  ADD_FAILURE() << "the last call was never reached";
}

TEST_F(HipRuntime, WrongArguments) {
  const Stream stream(*device);
  const Function kernel = device->function("hipsim_demo", "hipsim_demo");
  try {
    stream.launch(kernel, {1}, kDemoThreads, uint32_t(5));
    ADD_FAILURE() << "4 bytes for a struct";
  } catch (const DeviceError &error) {
    EXPECT_TRUE(
        std::string(error.what())
            .starts_with("hipModuleLaunchKernel() of hipsim_demo failed: hipErrorInvalidValue (engine/"))
        << error.what();
  }
  EXPECT_NE(expected_report().find("takes " + std::to_string(sizeof(DemoArgs))), std::string::npos);
  EXPECT_THROW(device->function("hipsim_demo", "no_such_kernel"), DeviceError);
  EXPECT_NE(expected_report().find("no_such_kernel"), std::string::npos);
  EXPECT_THROW(device->function("no_such_stem", "hipsim_demo"), DeviceError);
}

TEST_F(HipRuntime, ThreadsShareADevice) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      device->make_current();
      for (unsigned i = 0; i < 20; ++i) {
        const Stream stream(*device);
        const Pass pass(*device);
        const Event done(*device);
        const uint64_t expected = pass.fill(100 * t + i);
        pass.upload(stream);
        pass.measure(stream);
        stream.record(done);
        done.synchronize();
        wrong += pass.result() != expected;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// A thread that has its own device makes things on another one, by CurrentDevice.
TEST_F(HipRuntime, ThreadsWithADeviceOfTheirOwn) {
  sim.configure("devices=2");
  const std::shared_ptr<Device> second = Device::open(1).value();
  EXPECT_EQ(second->name(), "simulated GPU 1");
  const Pass here(*device), there(*second);
  const Stream stream(*device);
  const uint64_t expected = here.fill(1), expected_there = there.fill(2);
  here.upload(stream);
  {
    const CurrentDevice current(*second);
    const Stream stream_there(*second);
    there.upload(stream_there);
    there.measure(stream_there);
    stream_there.synchronize();
  }
  here.measure(stream);
  stream.synchronize();
  EXPECT_EQ(here.result(), expected);
  EXPECT_EQ(there.result(), expected_there);
  // One that never chose.
  std::thread([&] {
    const CurrentDevice current(*device);
    EXPECT_GT(device->free_memory(), 0u);
    const Stream fresh(*device);
    here.measure(fresh);
    fresh.synchronize();
  }).join();
}

TEST_F(HipRuntime, ClosedAndOpenedAgain) {
  for (int i = 0; i < 3; ++i) {
    device.reset();
    EXPECT_EQ(sim.leaks(), 0u);
    open();
    const Stream stream(*device);
    const Pass pass(*device);
    const uint64_t expected = pass.fill(unsigned(i));
    pass.upload(stream);
    pass.measure(stream);
    stream.synchronize();
    EXPECT_EQ(pass.result(), expected);
  }
}

}  // namespace
}  // namespace vmafhip::hip
