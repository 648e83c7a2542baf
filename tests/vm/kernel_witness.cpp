#include "tests/vm/kernel_witness.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

namespace vmafhip::test {
namespace {

const std::filesystem::path kTracing = "/sys/kernel/tracing";

// At once: the kernel takes each write() for a command.
void write_file(const std::filesystem::path &path, const std::string &text, int flags) {
  const int fd = ::open(path.c_str(), O_WRONLY | flags);
  const bool done = fd >= 0 && ::write(fd, text.data(), text.size()) == ssize_t(text.size());
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!done)
    throw std::runtime_error(path.string() + ": cannot write '" + text + "': " + std::strerror(error));
}

std::mutex producers_mutex;
std::set<long> producers;  // threads that are left out

}  // namespace

int mappings() {
  int count = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) count += line.find("/dmabuf:") != std::string::npos;
  return count;
}

void KernelWitness::leave_out_this_thread() {
  std::lock_guard lock(producers_mutex);
  producers.insert(::syscall(SYS_gettid));
}

KernelWitness::KernelWitness() {
  {
    std::lock_guard lock(producers_mutex);
    producers.clear();
  }
  write_file(kTracing / "kprobe_events",
             "p:vmafhip/ioctl dma_buf_ioctl command=%si flags=+u0(%dx):u64\n"
             "p:vmafhip/mmap dma_buf_mmap_internal\n",
             O_APPEND);
  write_file(kTracing / "trace", "", O_TRUNC);
  write_file(kTracing / "events/vmafhip/enable", "1", 0);
}

KernelWitness::~KernelWitness() {
  try {
    write_file(kTracing / "events/vmafhip/enable", "0", 0);
    write_file(kTracing / "kprobe_events", "", O_TRUNC);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();  // later tests would count wrongly
  }
}

KernelWitness::Counts KernelWitness::counts() const {
  Counts counts;
  std::lock_guard lock(producers_mutex);
  std::ifstream trace(kTracing / "trace");
  for (std::string line; std::getline(trace, line);) {
    // "   name-thread  [processor] ... event: ..."
    const auto bracket = line.find(" [");
    if (bracket == std::string::npos) continue;
    const auto dash = line.rfind('-', bracket);
    if (producers.contains(std::atol(line.c_str() + dash + 1))) continue;
    counts.mapped += line.find(" mmap: ") != std::string::npos;
    if (line.find(" ioctl: ") == std::string::npos) continue;
    const auto value = [&](const char *name) {
      const auto at = line.find(name);
      return at == std::string::npos ? 0 : std::strtoull(line.c_str() + at + std::strlen(name), nullptr, 0);
    };
    if (uint32_t(value("command=")) != uint32_t(DMA_BUF_IOCTL_SYNC)) continue;
    const auto flags = value("flags=");
    if (flags & DMA_BUF_SYNC_READ) ++(flags & DMA_BUF_SYNC_END ? counts.end_read : counts.begin_read);
  }
  return counts;
}

}  // namespace vmafhip::test
