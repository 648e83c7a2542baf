// Which GPU is opened, and what is said when none can be: with drivers that do nothing (tests/fake_gpu).
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>

#include "engine/hip/device.h"
#include "engine/hip/external.h"
#include "engine/hip/images.h"
#include "tests/fake_gpu/library.h"

namespace vmafhip::hip {
namespace {
bool amd_built = true, nvidia_built = true;
}

// In place of the build's.
std::span<const Image> images() {
  static Image probe;
  probe = {"probe", amd_built ? "AMD code" : nullptr, 9, nvidia_built ? "NVIDIA code" : nullptr, 12};
  return {&probe, 1};
}

namespace {

using test::FakeHip;

std::string reason(int number = -1) {
  const Result<std::shared_ptr<Device>> device = Device::open(number);
  return device.ok() ? "opened " + (*device)->description() : device.status().message();
}
std::string count(const std::vector<std::string> &log, const std::string &call) {
  return std::to_string(
      std::ranges::count_if(log, [&](const std::string &s) { return s.starts_with(call + "("); }));
}

TEST(HipOpen, LibraryThatIsNotThere) {
  ::setenv("VMAFHIP_HIP_LIBRARY", "no/such/library.so", 1);
  EXPECT_EQ(reason(),
            "no GPU can be used (VMAFHIP_HIP_LIBRARY: no/such/library.so: cannot open shared object file: No "
            "such file "
            "or directory)");
  ::unsetenv("VMAFHIP_HIP_LIBRARY");
}

TEST(HipOpen, LibraryOfSomethingElse) {
  ::setenv("VMAFHIP_HIP_LIBRARY", "libm.so.6", 1);
  EXPECT_EQ(reason(), "no GPU can be used (VMAFHIP_HIP_LIBRARY: libm.so.6 has no function hipGetErrorName)");
  ::unsetenv("VMAFHIP_HIP_LIBRARY");
}

TEST(HipOpen, InitialisationThatFailsIsTriedAgain) {
  const FakeHip gpu;
  gpu->failures["hipInit"] = {0, 3};
  const std::string failed = "no GPU can be used (VMAFHIP_HIP_LIBRARY: " + gpu.path() +
                             ": hipInit() fails with hipErrorNotInitialized)";
  EXPECT_EQ(reason(), failed);
  EXPECT_EQ(reason(), failed);
  gpu->failures["hipInit"] = {0, 12345};
  EXPECT_EQ(reason(),
            "no GPU can be used (VMAFHIP_HIP_LIBRARY: " + gpu.path() + ": hipInit() fails with error 12345)");
  gpu->failures.clear();
  EXPECT_EQ(reason(), "opened Fake (gfx 11.5), " + gpu.path());
  gpu->take_log();
  EXPECT_EQ(reason(), "opened Fake (gfx 11.5), " + gpu.path());
  EXPECT_EQ(count(gpu->log, "hipInit"), "0") << "once";
}

TEST(HipOpen, NoDevices) {
  const FakeHip gpu;
  const std::string before = "no GPU can be used (VMAFHIP_HIP_LIBRARY: " + gpu.path();
  gpu->failures["hipInit"] = {0, 100};
  EXPECT_EQ(reason(), before + " finds no GPU (hipErrorNoDevice))");
  gpu->failures["hipInit"] = {0, 101};
  EXPECT_EQ(reason(), before + " finds no GPU (hipErrorInvalidDevice))");
  gpu->failures.clear();
  gpu->devices = 0;
  EXPECT_EQ(reason(), before + " finds no GPU)");
  gpu->failures["hipGetDeviceCount"] = {0, 100};
  EXPECT_EQ(reason(0), before + " finds no GPU)");
  gpu->failures["hipGetDeviceCount"] = {0, 3};
  EXPECT_EQ(reason(0), before + ": hipGetDeviceCount() fails with hipErrorNotInitialized)");
}

TEST(HipOpen, NumbersThatThereAreNot) {
  const FakeHip gpu;
  EXPECT_EQ(reason(1), "no GPU can be used (VMAFHIP_HIP_LIBRARY: there is no device 1: " + gpu.path() +
                           " has one device, 0)");
  gpu->devices = 3;
  EXPECT_EQ(reason(3), "no GPU can be used (VMAFHIP_HIP_LIBRARY: there is no device 3: " + gpu.path() +
                           " has 3 devices, 0 to 2)");
  const auto device = Device::open(-2);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.status().code(), Code::invalid_argument);
  EXPECT_EQ(device.status().message(),
            "device -2: devices count from 0, and -1 takes the one that is used least");
}

TEST(HipOpen, NoCodeForTheDevice) {
  const FakeHip gpu;
  const std::string text =
      "no GPU can be used (VMAFHIP_HIP_LIBRARY: the probe kernels were not built for Fake (gfx 11.5), " +
      gpu.path() + ")";
  gpu->failures["hipModuleLoadData"] = {0, 209};
  EXPECT_EQ(reason(), text);
  EXPECT_EQ(gpu->last_error(), 0);
  gpu->failures.clear();
  gpu->brings_images = false;
  EXPECT_EQ(reason(), text);
  gpu->brings_images = true;
  gpu->failures["hipModuleLoadData"] = {0, 2};
  const std::string other = reason();
  EXPECT_TRUE(other.find("hipModuleLoadData() of the probe kernels for Fake (gfx 11.5), " + gpu.path() +
                         " failed: hipErrorOutOfMemory (engine/hip/device.cpp:") != other.npos)
      << other;
  EXPECT_EQ(gpu->total(), 0);
}

TEST(HipOpen, DevicesThatAreOdd) {
  const FakeHip gpu;
  gpu->device_name.clear();
  gpu->warp_size = 64;
  const auto device = Device::open(0);
  ASSERT_TRUE(device.ok());
  EXPECT_EQ((*device)->name(), "AMD GPU 0");
  EXPECT_EQ((*device)->warp_size(), 64);
  gpu->devices = 2;
  gpu->warp_size = 16;
  EXPECT_EQ(
      reason(1),
      "no GPU can be used (VMAFHIP_HIP_LIBRARY: AMD GPU 1 has warps of 16 threads; kernels take 32 and 64)");
  gpu->device_name = std::string(1000, 'x');
  gpu->warp_size = 32;
  EXPECT_EQ(Device::open(1).value()->name(), std::string(255, 'x'));
}

TEST(HipOpen, OneDeviceIsSharedAndClosedByTheLast) {
  const FakeHip gpu;
  auto first = Device::open(0);
  ASSERT_TRUE(first.ok());
  auto second = Device::open(-1);
  EXPECT_EQ(first->get(), second->get());
  EXPECT_EQ(count(gpu->log, "hipModuleLoadData"), "1");
  first->reset();
  EXPECT_EQ(gpu->live["module"], 1);
  second->reset();
  EXPECT_EQ(gpu->total(), 0);
  EXPECT_EQ(Device::open(0).value()->name(), "Fake") << "it opens again";
  EXPECT_EQ(gpu->wrong, std::vector<std::string>());
}

TEST(HipOpen, TheDeviceThatIsUsedLeast) {
  const FakeHip gpu;
  gpu->devices = 3;
  const auto open = [] { return Device::open(-1).value(); };
  const auto a = open(), b = open(), c = open();
  EXPECT_EQ(a->number(), 0);
  EXPECT_EQ(b->number(), 1);
  EXPECT_EQ(c->number(), 2);
  const auto again = Device::open(0).value(), copy = again, copy2 = again;
  auto d = open();
  EXPECT_EQ(d->number(), 1) << "copies are no users";
  EXPECT_EQ(open()->number(), 2);
  EXPECT_EQ(open()->number(), 2) << "it was given back";
  d.reset();
  EXPECT_EQ(open()->number(), 1);
}

// Sessions share memory on it; the others only count for who comes where.
TEST(HipOpen, UsersAreThoseThatMeasure) {
  const FakeHip gpu;
  gpu->devices = 2;
  const auto other = Device::open(0, Device::Use::others).value();
  EXPECT_EQ(other->users(), 0);
  EXPECT_EQ(Device::open(-1).value()->number(), 1);
  auto session = Device::open(0).value();
  EXPECT_EQ(session->users(), 1);
  const auto shared = session->share();
  EXPECT_EQ(shared.get(), session.get());
  session.reset();
  EXPECT_EQ(shared->users(), 0);
}

TEST(HipOpen, TheNextDeviceIfOneFails) {
  const FakeHip gpu;
  gpu->devices = 3;
  gpu->failures["hipModuleLoadData"] = {2, 209};  // the third, and all that follow
  const auto a = Device::open(-1).value(), b = Device::open(-1).value();
  EXPECT_EQ(a->number(), 0);
  EXPECT_EQ(b->number(), 1);
  EXPECT_EQ(Device::open(-1).value()->number(), 0) << "device 2 has no code";
  EXPECT_EQ(
      reason(2),
      "no GPU can be used (VMAFHIP_HIP_LIBRARY: the probe kernels were not built for Fake (gfx 11.5), " +
          gpu.path() + ")");
}

TEST(HipOpen, ManyThreads) {
  const FakeHip gpu;
  gpu->devices = 2;
  gpu->keeps_log = false;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto device = Device::open(t % 3 - 1);
        if (!device.ok()) {
          ++wrong;
          continue;
        }
        const Stream stream(**device);
        const Buffer<int> buffer(**device, 4);
        const Function kernel = (*device)->function(i % 2 ? "probe" : "other", "kernel");
        stream.launch(kernel, {}, 32, i);
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(gpu->total(), 0);
  EXPECT_EQ(gpu->wrong, std::vector<std::string>());
}

// Vendors' own libraries, which are found by their sonames once they are loaded. In processes of their own: what is
// loaded stays.
class HipOpenVendors : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ::unsetenv("VMAFHIP_HIP_LIBRARY");
  }
  // Exits with what `check` finds.
  static void finish(const std::function<std::string()> &check) {
    const std::string found = check();
    if (!found.empty()) std::fprintf(stderr, "%s\n", found.c_str());
    std::_Exit(found.empty() ? 0 : 1);
  }
  static std::string differ(const std::string &is, const std::string &expected) {
    return is == expected ? "" : "is       " + is + "\nexpected " + expected;
  }
};

TEST_F(HipOpenVendors, NothingIsOpenedBeforeItIsNeeded) {
  EXPECT_EXIT(
      finish([]() -> std::string {
        const auto loaded = [](const char *name) {
          return ::dlopen(name, RTLD_NOW | RTLD_NOLOAD) != nullptr;
        };
        if (sources().size() != 2) return "two vendors";
        for (const char *name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libcuda.so.1"})
          if (loaded(name)) return std::string(name) + " is loaded";
        amd_built = nvidia_built = false;
        std::string text =
            differ(reason(),
                   "no GPU can be used (AMD: this build has no kernels for AMD GPUs; NVIDIA: this "
                   "build has no kernels for NVIDIA GPUs)");
        for (const char *name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libcuda.so.1"})
          if (loaded(name)) return std::string(name) + " is loaded";
        return text;
      }),
      testing::ExitedWithCode(0), "");
}

TEST_F(HipOpenVendors, AmdBeforeNvidia) {
  EXPECT_EXIT(finish([] {
                test::open_fake(VMAFHIP_FAKES "/libfake_amd.so");
                test::open_fake(VMAFHIP_FAKES "/libfake_cuda.so");
                return differ(reason(), "opened Fake (gfx 11.5), libamdhip64.so.7");
              }),
              testing::ExitedWithCode(0), "");
}

TEST_F(HipOpenVendors, NvidiaIfAmdFails) {
  EXPECT_EXIT(finish([] {
                FakeGpu *const amd = test::open_fake(VMAFHIP_FAKES "/libfake_amd.so");
                test::open_fake(VMAFHIP_FAKES "/libfake_cuda.so");
                const std::string nvidia = "opened Fake (compute capability 11.5), libcuda.so.1";
                amd->failures["hipInit"] = {0, 100};
                std::string text = differ(reason(), nvidia);
                ::setenv("VMAFHIP_HIP_LIBRARY", "", 1);  // is as if it were not there
                text += differ(reason(), nvidia);
                amd->failures.clear();
                amd->failures["hipModuleLoadData"] = {0, 209};
                text += differ(reason(), nvidia);
                amd->devices = 0;
                text += differ(reason(0), nvidia);
                amd_built = false;
                text += differ(reason(0), nvidia);
                return text;
              }),
              testing::ExitedWithCode(0), "");
}

TEST_F(HipOpenVendors, BothReasons) {
  EXPECT_EXIT(
      finish([] {
        FakeGpu *const amd = test::open_fake(VMAFHIP_FAKES "/libfake_amd.so");
        FakeGpu *const nvidia = test::open_fake(VMAFHIP_FAKES "/libfake_cuda.so");
        amd->failures["hipInit"] = {0, 101};
        nvidia->failures["cuInit"] = {0, 3};
        std::string text =
            differ(reason(),
                   "no GPU can be used (AMD: libamdhip64.so.7 finds no GPU (hipErrorInvalidDevice); "
                   "NVIDIA: libcuda.so.1: cuInit() fails with CUDA_ERROR_NOT_INITIALIZED)");
        amd->failures.clear();
        nvidia->failures["cuInit"] = {0, 998};
        text += differ(
            reason(4),
            "no GPU can be used (AMD: there is no device 4: libamdhip64.so.7 has one device, 0; NVIDIA: "
            "libcuda.so.1: cuInit() fails with an error that this driver has no name for)");
        nvidia->failures.clear();
        nvidia->failures["cuModuleLoadData"] = {0, 209};
        amd_built = false;
        text += differ(
            reason(),
            "no GPU can be used (AMD: this build has no kernels for AMD GPUs; NVIDIA: the probe kernels "
            "were not built for Fake (compute capability 11.5), libcuda.so.1)");
        return text;
      }),
      testing::ExitedWithCode(0), "");
}

// The fake one has no functions for external memory, and is opened all the same.
TEST_F(HipOpenVendors, TooOldToImport) {
  EXPECT_EXIT(finish([] {
                test::open_fake(VMAFHIP_FAKES "/libfake_amd.so");
                return differ(make_importer(Device::open(0).value())->import(0, 4096).status().message(),
                              "libamdhip64.so.7 is too old to import memory: update the GPU's driver");
              }),
              testing::ExitedWithCode(0), "");
}

TEST_F(HipOpenVendors, TheNamedLibraryAlone) {
  EXPECT_EXIT(finish([] {
                test::open_fake(VMAFHIP_FAKES "/libfake_amd.so");
                test::open_fake(VMAFHIP_FAKES "/libfake_cuda.so");
                ::setenv("VMAFHIP_HIP_LIBRARY", "no/such/library.so", 1);
                std::string text =
                    differ(reason(),
                           "no GPU can be used (VMAFHIP_HIP_LIBRARY: no/such/library.so: cannot open shared "
                           "object file: No such file or directory)");
                // Without kernels of its own it takes those for AMD.
                ::setenv("VMAFHIP_HIP_LIBRARY", VMAFHIP_FAKES "/libfake_amd.so", 1);
                text += differ(reason(), "opened Fake (gfx 11.5), " VMAFHIP_FAKES "/libfake_amd.so");
                amd_built = false;
                text += differ(
                    reason(),
                    "no GPU can be used (VMAFHIP_HIP_LIBRARY: this build has no kernels for AMD GPUs)");
                return text;
              }),
              testing::ExitedWithCode(0), "");
}

// What `check` says in a child of this process.
std::string in_child(const std::function<std::string()> &check) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string found = check();
    const bool written = ::write(ends[1], found.data(), found.size()) == ssize_t(found.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t n; (n = ::read(ends[0], part, sizeof part)) > 0;) text.append(part, size_t(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : text + " (died)";
}

TEST(HipOpen, ForkedProcess) {
  const FakeHip gpu;
  std::shared_ptr<Device> device = Device::open(0).value();
  Buffer<int> buffer(*device, 4);
  gpu->take_log();
  EXPECT_EQ(in_child([&] { return reason(); }),
            "no GPU can be used (this process was forked from one that already used a GPU)");
  EXPECT_EQ(in_child([&]() -> std::string {
              try {
                device->make_current();
              } catch (const DeviceError &error) {
                return error.what();
              }
              return "nothing was thrown";
            }),
            "this process was forked from one that already used a GPU");
  EXPECT_EQ(in_child([&]() -> std::string {
              buffer = {};
              device.reset();
              return std::to_string(gpu->log.size()) + " calls";
            }),
            "0 calls")
      << "what is the parent's is not freed";
  EXPECT_FALSE(forked());
  EXPECT_EQ(gpu->live["memory"], 1);
}

TEST_F(HipOpenVendors, ForkBeforeAnyUse) {
  EXPECT_EXIT(finish([] {
                const FakeHip gpu;
                return differ(in_child([] { return reason(); }), "opened Fake (gfx 11.5), " + gpu.path());
              }),
              testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace vmafhip::hip
