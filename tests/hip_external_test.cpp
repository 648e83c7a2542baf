// Memory of others on a GPU: what is imported is the memory itself, what is refused leaves nothing behind, and who closes
// which descriptor. On the simulated GPU, by AMD's rules and by NVIDIA's; it checks the order of releases, too.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "engine/dmabuf.h"
#include "engine/hip/external.h"
#include "tests/hipsim_control.h"

namespace vmafhip::hip {
namespace {

constexpr uint64_t kBytes = 2 * 4096 + 100;

size_t open_descriptors() {
  using Files = std::filesystem::directory_iterator;
  return size_t(std::distance(Files("/proc/self/fd"), Files()));
}

class HipExternal : public testing::Test {
 protected:
  void SetUp() override {
    sim.reset("external=any");
    const auto opened = Device::open(0);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = *opened;
    device->make_current();
    importer = make_importer(device);
    fd = memfd();
    before = sim.imports();
    descriptors = open_descriptors();
    held = sim.leaks();
  }
  void TearDown() override {
    importer.reset();
    device.reset();
    EXPECT_EQ(open_descriptors(), descriptors);
    ::close(fd);
    EXPECT_EQ(sim.reports(), "");
    EXPECT_EQ(sim.leaks(), 0u);
    sim.reset();
  }

  static int memfd() {
    const int fd = ::memfd_create("test", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(fd, off_t(kBytes)), 0);
    write(fd, 0, "first");
    write(fd, kBytes - 4, "last");
    return fd;
  }
  static void write(int fd, uint64_t at, const std::string &text) {
    ASSERT_EQ(::pwrite(fd, text.data(), text.size(), off_t(at)), ssize_t(text.size()));
  }
  ExternalMemory import() {
    auto memory = importer->import(fd, kBytes);
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    return memory.ok() ? *memory : ExternalMemory();
  }
  std::string refusal() {
    const auto memory = importer->import(fd, kBytes);
    EXPECT_FALSE(memory.ok());
    return memory.status().message();
  }
  // As the device reads it.
  std::string device_reads(uint64_t address, size_t bytes) {
    const Stream stream(*device);
    std::string text(bytes, '?');
    stream.download(text.data(), {address}, bytes);
    stream.synchronize();
    return text;
  }
  uint64_t imported() const { return sim.imports().imported - before.imported; }
  uint64_t destroyed() const { return sim.imports().destroyed - before.destroyed; }
  uint64_t refused() const { return sim.imports().refused - before.refused; }

  test::HipSim sim;
  hipsim_imports before{};
  std::shared_ptr<Device> device;
  std::shared_ptr<const Importer> importer;
  int fd = -1;
  size_t descriptors = 0;
  unsigned held = 0;
};

TEST_F(HipExternal, IsTheMemoryItself) {
  const uint64_t uploads = sim.traffic().upload_bytes;
  {
    const ExternalMemory memory = import();
    EXPECT_EQ(memory.memory, MemoryKind::device);
    EXPECT_EQ(device_reads(memory.address, 5), "first");
    EXPECT_EQ(device_reads(memory.address + kBytes - 4, 4), "last");
    write(fd, 4096, "later");
    EXPECT_EQ(device_reads(memory.address + 4096, 5), "later") << "not a copy";
    EXPECT_EQ(destroyed(), 0u);
  }
  EXPECT_EQ(imported(), 1u);
  EXPECT_EQ(destroyed(), 1u);
  EXPECT_EQ(sim.traffic().upload_bytes, uploads);
}

TEST_F(HipExternal, LivesWithoutItsDescriptor) {
  const ExternalMemory memory = import();
  ::close(std::exchange(fd, -1));
  --descriptors;
  EXPECT_EQ(device_reads(memory.address, 5), "first");
}

TEST_F(HipExternal, KeepsItsDevice) {
  ExternalMemory memory = import();
  importer.reset();
  device.reset();
  memory = {};
  EXPECT_EQ(destroyed(), 1u);
}

TEST_F(HipExternal, NvidiaTakesDescriptors) {
  sim.configure("external=nvidia");
  {
    const ExternalMemory memory = import();
    EXPECT_EQ(open_descriptors(), descriptors + 1) << "the driver's";
    EXPECT_EQ(device_reads(memory.address, 5), "first");
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC) << "the caller's is as it was";
  for (int n = 0; n < 100; ++n) (void)import();
  EXPECT_EQ(imported(), 101u);
  EXPECT_EQ(destroyed(), 101u);
}

TEST_F(HipExternal, AmdTakesWhatIsAmdgpus) {
  sim.configure("external=amdgpu");
  EXPECT_EQ(
      refusal(),
      "simulated GPU 0 does not import the memory (hipErrorOutOfMemory): AMD's driver takes dma-bufs of AMD "
      "GPUs alone");
  EXPECT_EQ(refused(), 1u);
  EXPECT_EQ(imported(), 0u);
  EXPECT_EQ(device->api().hipGetLastError(), 0) << "others would take it for theirs";
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST_F(HipExternal, FailuresLeaveNothingBehind) {
  for (const char *rules : {"external=any", "external=nvidia"}) {
    sim.configure(rules);
    sim.configure("fail=import:2");
    (void)import();
    EXPECT_NE(refusal().find("hipErrorOutOfMemory"), std::string::npos);
    (void)import();
    sim.configure("fail=map:2");
    (void)import();
    EXPECT_NE(refusal().find("hipErrorInvalidValue"), std::string::npos);
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(sim.leaks(), held) << "what the device itself has";
    (void)import();
  }
  EXPECT_EQ(imported(), 10u);
  EXPECT_EQ(destroyed(), 10u);
  EXPECT_NE(importer->import(-1, kBytes).status().message().find("Bad file descriptor"), std::string::npos);
  EXPECT_FALSE(importer->import(fd, kBytes + 1).ok()) << "larger than it is";
}

TEST_F(HipExternal, EndsWhereItEnds) {
  const ExternalMemory memory = import();
  EXPECT_THROW(device_reads(memory.address + kBytes - 4, 5), DeviceError);
  EXPECT_NE(
      sim.reports().find("1 bytes past the end of " + std::to_string(kBytes) + " bytes of external memory"),
      std::string::npos)
      << sim.reports();
  sim.forget();
  const Stream stream(*device);
  EXPECT_THROW(stream.clear({memory.address}, 4), DeviceError) << "it is only read";
  EXPECT_NE(sim.reports().find("only read"), std::string::npos) << sim.reports();
  sim.forget();
}

TEST_F(HipExternal, IsNotReadAfterItIsLetGo) {
  const uint64_t address = import().address;
  EXPECT_THROW(device_reads(address, 5), DeviceError);
  EXPECT_NE(sim.reports().find("external memory that has been freed"), std::string::npos) << sim.reports();
  sim.forget();
}

TEST_F(HipExternal, PinnedMemoryIsCopiedWithoutWaiting) {
  auto *const data = static_cast<char *>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ASSERT_NE(data, MAP_FAILED);
  {
    const auto memory = importer->pin(data, kBytes);
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    EXPECT_EQ(memory->memory, MemoryKind::pinned);
    const Buffer<std::byte> buffer(*device, kBytes);
    const Stream stream(*device);
    stream.upload(buffer.address(), kBytes, data, ptrdiff_t(kBytes), kBytes, 1);
    write(fd, 0, "later");  // as late as can be, so before the copy
    stream.synchronize();
    EXPECT_EQ(device_reads(buffer.address().value, 5), "later");
    EXPECT_EQ(importer->pin(data, kBytes).status().code(), Code::resource) << "already pinned";
  }
  sim.configure("fail=host:1");
  const auto failed = importer->pin(data, kBytes);
  EXPECT_NE(failed.status().message().find("hipErrorOutOfMemory"), std::string::npos)
      << failed.status().message();
  ::mprotect(data, kBytes, PROT_READ);
  EXPECT_FALSE(importer->pin(data, kBytes).ok()) << "drivers pin pages that may be written to";
  ::munmap(data, kBytes);
}

TEST_F(HipExternal, OneImportAnObject) {
  sim.configure("external=nvidia");
  DmaBufs objects;
  objects.set_importer(importer);
  std::vector<int> pool;
  for (int n = 0; n < 4; ++n) pool.push_back(memfd());
  for (int n = 0; n < 200; ++n) {
    const int fresh = ::dup(pool[size_t(n % 4)]);
    const auto object = objects.find(fresh, kBytes);
    ::close(fresh);
    ASSERT_TRUE(object.ok()) << object.status().message();
    ASSERT_NE((*object)->device(), 0u);
  }
  EXPECT_EQ(imported(), 4u);
  EXPECT_EQ(objects.counts().imported, 4u);
  EXPECT_EQ(open_descriptors(), descriptors + 4 + 4 + 4) << "the pool's, the cache's, the driver's";
  const auto object = *objects.find(pool[0], kBytes);
  EXPECT_EQ(device_reads(object->device(), 5), "first");
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(object->data()), 5), "first");
  objects.clear();
  EXPECT_EQ(destroyed(), 3u) << "one is in use";
  for (int other : pool) ::close(other);
}

TEST_F(HipExternal, WhatIsRefusedIsPinned) {
  sim.configure("external=amdgpu");
  DmaBufs objects;
  objects.set_importer(importer);
  const auto object = objects.find(fd, kBytes);
  ASSERT_TRUE(object.ok());
  EXPECT_TRUE((*object)->pinned());
  EXPECT_EQ(objects.counts().pinned, 1u);
  EXPECT_NE(objects.refusal().find("AMD GPUs alone"), std::string::npos);
  sim.configure("fail=host:1");
  const int other = memfd();
  const auto mapped = objects.find(other, kBytes);
  ::close(other);
  ASSERT_TRUE(mapped.ok());
  EXPECT_FALSE((*mapped)->pinned());
  EXPECT_EQ(objects.counts().mapped, 1u);
  EXPECT_NE(objects.refusal().find("cannot be pinned"), std::string::npos) << objects.refusal();
}

TEST_F(HipExternal, LeavesTheThreadsDeviceAlone) {
  sim.configure("devices=2");
  const std::shared_ptr<Device> other = *Device::open(1);
  other->make_current();
  {
    const ExternalMemory memory = import();
    std::thread([&] { (void)import(); }).join();
    void *context = nullptr;
    ASSERT_EQ(device->api().get_current(&context), 0);
    EXPECT_EQ(context, reinterpret_cast<void *>(1));
    device->make_current();
    EXPECT_EQ(device_reads(memory.address, 5), "first");
  }
  other->make_current();
  device->make_current();
}

TEST_F(HipExternal, LostDevicesRefuse) {
  ExternalMemory memory = import();
  sim.configure("fail=lost:1");
  EXPECT_NE(refusal(), "");
  memory = {};
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(imported(), destroyed());
  sim.configure("fail=");
}

TEST_F(HipExternal, ForkedProcessesImportNothing) {
  ExternalMemory memory = import();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refused = !importer->import(fd, kBytes).ok() && !importer->pin(&fd, sizeof fd).ok();
    memory = {};  // the parent's
    ::_exit(refused && destroyed() == 0 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace vmafhip::hip
