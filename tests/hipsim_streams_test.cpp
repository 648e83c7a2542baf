// When the simulated GPU does what streams were given, and what it does when calls are to fail.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "tests/hipsim/simulated_gpu.h"

namespace vmafhip::test {
namespace {

class HipsimStreams : public SimulatedGpu {
 protected:
  void SetUp() override {
    SimulatedGpu::SetUp();
    second = make_stream();
    host = allocate_pinned<uint8_t>(kBytes);
    result = allocate_pinned<uint8_t>(kBytes);
    data = allocate<uint8_t>(kBytes);
    fill(host, 1);
  }

  static void fill(uint8_t *p, uint8_t value) { std::fill(p, p + kBytes, value); }
  int upload(void *on) { return gpu->hipMemcpyAsync(pointer(data), host, kBytes, kHostToDevice, on); }
  int download(void *on) { return gpu->hipMemcpyAsync(result, pointer(data), kBytes, kDeviceToHost, on); }
  int clear(void *on, uint8_t value) { return gpu->hipMemsetAsync(pointer(data), value, kBytes, on); }

  static constexpr size_t kBytes = 1000;
  static constexpr uint8_t kGarbageByte = 0xdb;  // at an odd address
  void *second = nullptr;
  uint8_t *host = nullptr, *result = nullptr;
  DeviceAddress<uint8_t> data;
};

TEST_F(HipsimStreams, LazyWorkIsDoneWhenSomebodyWaits) {
  ASSERT_EQ(upload(stream), 0);
  fill(host, 2);  // too early: the copy has not been made
  ASSERT_EQ(download(stream), 0);
  EXPECT_EQ(result[1], kGarbageByte) << "too early: nobody waited";
  ASSERT_EQ(gpu->hipStreamSynchronize(stream), 0);
  EXPECT_EQ(result[1], 2);
}

TEST_F(HipsimStreams, EagerWorkIsDoneAtOnce) {
  simulator.configure("streams=eager");
  ASSERT_EQ(upload(stream), 0);
  fill(host, 2);
  ASSERT_EQ(download(second), 0);
  EXPECT_EQ(result[1], 1);
}

TEST_F(HipsimStreams, AMissingWaitShows) {
  ASSERT_EQ(upload(stream), 0);
  ASSERT_EQ(download(second), 0);
  ASSERT_EQ(gpu->hipStreamSynchronize(second), 0);
  EXPECT_EQ(result[1], kGarbageByte);

  void *const event = make_event();
  ASSERT_EQ(upload(stream), 0);
  ASSERT_EQ(gpu->hipEventRecord(event, stream), 0);
  ASSERT_EQ(clear(stream, 9), 0);  // not waited for
  ASSERT_EQ(gpu->hipStreamWaitEvent(second, event, 0), 0);
  ASSERT_EQ(download(second), 0);
  ASSERT_EQ(gpu->hipStreamSynchronize(second), 0);
  EXPECT_EQ(result[1], 1);
  // An event that is recorded anew does not hold up who waited for it before.
  ASSERT_EQ(gpu->hipStreamWaitEvent(second, event, 0), 0);
  ASSERT_EQ(gpu->hipEventRecord(event, stream), 0);
  ASSERT_EQ(download(second), 0);
  ASSERT_EQ(gpu->hipStreamSynchronize(second), 0);
  EXPECT_EQ(result[1], 1);
  ASSERT_EQ(gpu->hipEventSynchronize(event), 0);
  ASSERT_EQ(download(second), 0);
  ASSERT_EQ(gpu->hipStreamSynchronize(second), 0);
  EXPECT_EQ(result[1], 9);
}

// A download that comes after an upload from the same memory leaves that alone.
TEST_F(HipsimStreams, ThereAndBack) {
  result = host;
  ASSERT_EQ(upload(stream), 0);
  ASSERT_EQ(download(stream), 0);
  ASSERT_EQ(gpu->hipStreamSynchronize(stream), 0);
  EXPECT_EQ(result[1], 1);
}

TEST_F(HipsimStreams, CopiesOfOrdinaryMemoryWait) {
  std::vector<uint8_t> ordinary(kBytes, 5);
  ASSERT_EQ(gpu->hipMemcpyAsync(pointer(data), ordinary.data(), kBytes, kHostToDevice, stream), 0);
  std::fill(ordinary.begin(), ordinary.end(), uint8_t{6});
  ASSERT_EQ(gpu->hipMemcpyAsync(ordinary.data(), pointer(data), kBytes, kDeviceToHost, stream), 0);
  EXPECT_EQ(ordinary[7], 5);
}

TEST_F(HipsimStreams, Events) {
  void *const event = make_event(), *const start = make_event(0), *const stop = make_event(0);
  EXPECT_EQ(gpu->hipEventQuery(event), 0) << "never recorded";
  EXPECT_EQ(gpu->hipEventSynchronize(event), 0);

  ASSERT_EQ(gpu->hipEventRecord(start, stream), 0);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(clear(stream, 1), 0);
  ASSERT_EQ(gpu->hipEventRecord(event, stream), 0);
  ASSERT_EQ(gpu->hipEventRecord(stop, stream), 0);
  float milliseconds = -1;
  EXPECT_EQ(gpu->hipEventElapsedTime(&milliseconds, start, stop), kErrorNotReady);
  int asked = 0;
  while (gpu->hipEventQuery(event) == kErrorNotReady) ++asked;
  EXPECT_EQ(asked, 4) << "a piece of work each time";
  EXPECT_EQ(gpu->hipEventQuery(event), 0);
  EXPECT_EQ(gpu->hipEventQuery(stop), kErrorNotReady);
  EXPECT_EQ(gpu->hipEventSynchronize(stop), 0);
  EXPECT_EQ(gpu->hipEventElapsedTime(&milliseconds, start, stop), 0);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(gpu->hipEventElapsedTime(&milliseconds, start, event), kErrorInvalidHandle);
  expect_report("without timing");
}

// What was put on a stream is done though the stream is destroyed, and before memory that it uses is freed.
TEST_F(HipsimStreams, ReleasingWaits) {
  ASSERT_EQ(upload(second), 0);
  ASSERT_EQ(gpu->hipStreamDestroy(second), 0);
  streams.pop_back();
  ASSERT_EQ(download(stream), 0);
  void *more = nullptr;
  ASSERT_EQ(gpu->hipMalloc(&more, 10), 0);
  ASSERT_EQ(gpu->hipFree(more), 0);
  EXPECT_EQ(result[1], 1);
}

TEST_F(HipsimStreams, CallsFailAsTold) {
  void *const event = make_event();
  void *made = nullptr;
  const struct {
    const char *kind;
    int error;
    std::function<int()> call, undo;
  } kinds[] = {
      {"malloc", kErrorOutOfMemory, [&] { return gpu->hipMalloc(&made, 10); },
       [&] { return gpu->hipFree(made); }},
      {"host", kErrorOutOfMemory, [&] { return gpu->hipHostMalloc(&made, 10, 0); },
       [&] { return gpu->hipHostFree(made); }},
      {"copy", kErrorUnknown, [&] { return upload(stream); }, nullptr},
      {"launch", kErrorLaunchOutOfResources,
       [&] {
         return launch("hipsim_store", BrokenArgs{{data.value}, 1, 0});
       },
       nullptr},
      {"sync", kErrorLaunchFailure, [&] { return gpu->hipEventSynchronize(event); }, nullptr},
      {"module", kErrorNoBinaryForGpu,
       [&] { return gpu->hipModuleLoadData(&made, gpu->kernel_image("hipsim_demo")); },
       [&] { return gpu->hipModuleUnload(made); }},
      {"stream", kErrorOutOfMemory, [&] { return gpu->hipStreamCreateWithFlags(&made, kStreamNonBlocking); },
       [&] { return gpu->hipStreamDestroy(made); }},
      {"event", kErrorOutOfMemory, [&] { return gpu->hipEventCreateWithFlags(&made, kEventDisableTiming); },
       [&] { return gpu->hipEventDestroy(made); }},
      {"lost", kErrorNoDevice, [&] { return gpu->set_current(nullptr); }, nullptr},
  };
  for (const auto &kind : kinds)
    for (const char *on : {"", "+"}) {
      const bool always = *on || std::string(kind.kind) == "lost";
      simulator.configure("fail=" + std::string(kind.kind) + ":3" + on);
      for (int i = 1; i <= 5; ++i) {
        const int want = i == 3 || (i > 3 && always) ? kind.error : 0;
        EXPECT_EQ(kind.call(), want) << kind.kind << on << ", call " << i;
        if (!want && kind.undo) {
          EXPECT_EQ(kind.undo(), 0);
        }
      }
      simulator.configure("fail=");
    }
  EXPECT_EQ(gpu->hipStreamSynchronize(stream), 0);
}

// Everything fails on a device that is lost; what is released then is not leaked all the same.
TEST_F(HipsimStreams, ALostDevice) {
  void *memory = nullptr, *event = nullptr;
  ASSERT_EQ(gpu->hipMalloc(&memory, 10), 0);
  ASSERT_EQ(gpu->hipEventCreateWithFlags(&event, 0), 0);
  const unsigned alive = simulator.leaks();
  simulator.configure("fail=lost:1");
  EXPECT_EQ(gpu->hipStreamSynchronize(stream), kErrorNoDevice);
  EXPECT_STREQ(gpu->hipGetErrorName(kErrorNoDevice), "hipErrorNoDevice");
  EXPECT_EQ(gpu->hipGetLastError(), kErrorNoDevice);
  EXPECT_EQ(gpu->hipGetLastError(), 0);
  int count = 0;
  EXPECT_EQ(gpu->hipGetDeviceCount(&count), kErrorNoDevice);
  EXPECT_EQ(gpu->hipFree(memory), kErrorNoDevice);
  EXPECT_EQ(gpu->hipEventDestroy(event), kErrorNoDevice);
  EXPECT_EQ(simulator.leaks(), alive - 2);
}

TEST_F(HipsimStreams, MemoryEnds) {
  simulator.configure("memory=64K");
  size_t free = 0, total = 0;
  ASSERT_EQ(gpu->hipMemGetInfo(&free, &total), 0);
  EXPECT_EQ(total, 65536u);
  EXPECT_EQ(free, total - kBytes);
  void *more = nullptr;
  EXPECT_EQ(gpu->hipMalloc(&more, free + 1), kErrorOutOfMemory);
  EXPECT_EQ(gpu->hipMalloc(&more, free), 0);
  void *none = nullptr;
  EXPECT_EQ(gpu->hipMalloc(&none, 1), kErrorOutOfMemory);
  EXPECT_EQ(gpu->hipFree(more), 0);
}

TEST_F(HipsimStreams, SettingsThatAreNotUnderstood) {
  for (const char *text : {"warp=16", "warp", "streams=some", "threads=0", "memory=much", "fail=malloc",
                           "fail=malloc:0", "fail=malloc:x", "fail=other:1", "colour=red"})
    EXPECT_THROW(simulator.configure(text), std::invalid_argument) << text;
}

// hipsim_process, with `what` to do and variables of the environment; its exit status.
int status_of(const char *what, const std::vector<std::pair<const char *, const char *>> &variables) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "hipsim_process";
  const pid_t child = fork();
  if (child == 0) {
    for (const auto &[name, value] : variables) setenv(name, value, 1);
    execl(program.c_str(), program.c_str(), what, nullptr);
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(HipsimProcess, EndsWithAStatusThatTells) {
  EXPECT_EQ(status_of("nothing", {}), 0);
  EXPECT_EQ(status_of("leak", {{"HIPSIM_LEAKS", "told"}}), 0);
  EXPECT_EQ(status_of("leak", {{"HIPSIM_LEAKS", "fatal"}}), 23);
  EXPECT_EQ(status_of("mistake", {{"HIPSIM_LEAKS", "told"}}), 0);
  EXPECT_EQ(status_of("mistake", {{"HIPSIM_LEAKS", "fatal"}}), 23);
  // Next to an allocation, on its page: found when that is freed, or at once.
  EXPECT_EQ(status_of("overrun", {{"HIPSIM_LEAKS", "fatal"}}), address_sanitizer() ? 1 : 23);
  EXPECT_EQ(status_of("fork", {{"HIPSIM_LEAKS", "fatal"}}), 0);
}

TEST(HipsimProcess, HearsTheEnvironment) {
  EXPECT_EQ(status_of("count", {{"HIPSIM_DEVICES", "0"}}), 10);
  EXPECT_EQ(status_of("count", {{"HIPSIM_DEVICES", "3"}}), 13);
  EXPECT_EQ(status_of("nothing", {{"HIPSIM_FAIL", "sync:1"}, {"HIPSIM_LEAKS", "told"}}), 1);
  for (const char *variable :
       {"HIPSIM_WARP", "HIPSIM_SCHEDULE", "HIPSIM_STREAMS", "HIPSIM_THREADS", "HIPSIM_DEVICES",
        "HIPSIM_EXTERNAL", "HIPSIM_MEMORY", "HIPSIM_BATCH", "HIPSIM_FAIL", "HIPSIM_LEAKS"})
    EXPECT_EQ(status_of("nothing", {{variable, "nonsense"}}), 22) << variable;
}

}  // namespace
}  // namespace vmafhip::test
