#include "tests/vm/kernel_buffers.h"

#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

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

void sync(int fd, uint64_t flags) {
  dma_buf_sync sync = {flags};
  if (::ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync)) throw std::runtime_error("DMA_BUF_IOCTL_SYNC");
}

}  // namespace

const Vgem &vgem() {
  static const Vgem device;
  return device;
}

void write_object(int fd, size_t offset, const void *data, size_t bytes) {
  const size_t all = offset + bytes;
  void *at = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) throw std::runtime_error("cannot map a dma-buf");
  sync(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE);
  std::memcpy(static_cast<char *>(at) + offset, data, bytes);
  sync(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE);
  ::munmap(at, all);
}

GstMemory *memory_of(int fd, size_t offset, size_t bytes) {
  GstAllocator *allocator = gst_dmabuf_allocator_new();
  GstMemory *memory = gst_dmabuf_allocator_alloc(allocator, fd, offset + bytes);
  gst_object_unref(allocator);
  gst_memory_resize(memory, gssize(offset), bytes);
  return memory;
}

GstBuffer *in_kernel(GstBuffer *buffer, Place place) {
  constexpr size_t kNobodys = 4096 + 64;
  std::vector<GstMemory *> memories;
  int fd = place == Place::shared ? vgem().make(kNobodys + gst_buffer_get_size(buffer)) : -1;
  size_t offset = place == Place::shared ? kNobodys : 0;
  for (guint n = 0; n < gst_buffer_n_memory(buffer); ++n) {
    GstMapInfo map;
    if (!gst_memory_map(gst_buffer_peek_memory(buffer, n), &map, GST_MAP_READ))
      throw std::runtime_error("cannot map a memory");
    const int object = place == Place::shared ? ::fcntl(fd, F_DUPFD_CLOEXEC, 0) : vgem().make(map.size);
    write_object(object, offset, map.data, map.size);
    memories.push_back(memory_of(object, offset, map.size));
    if (place == Place::shared) offset += map.size;
    gst_memory_unmap(map.memory, &map);
  }
  if (fd >= 0) ::close(fd);
  gst_buffer_remove_all_memory(buffer);
  for (GstMemory *memory : memories) gst_buffer_append_memory(buffer, memory);
  return buffer;
}

std::string dmabuf_caps(const std::string &caps) {
  constexpr std::string_view kRaw = "video/x-raw,";
  return "\"video/x-raw(memory:DMABuf)," + caps.substr(kRaw.size()) + "\"";
}

int open_files() {
  int count = 0;
  for (const auto &file : std::filesystem::directory_iterator("/proc/self/fd")) count += file.exists();
  return count;
}

// ---- the kernel's tracing ----------------------------------------------------------------------

KernelWitness::KernelWitness() {
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
  std::ifstream trace(kTracing / "trace");
  for (std::string line; std::getline(trace, line);) {
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
