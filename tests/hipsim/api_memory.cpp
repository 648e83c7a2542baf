#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "tests/hipsim/api.h"

namespace hipsim {
namespace {

// One side of a copy.
struct Rows {
  const void *data;
  size_t stride, width, rows;
  uint64_t extent() const { return rows ? (rows - 1) * stride + width : 0; }
  uint64_t begin() const { return reinterpret_cast<uint64_t>(data); }
};

// Empty: as it should be.
std::string check_device_side(const Rows &side, const char *name, bool written) {
  const Found found = find(side.data);
  if (!found.live || !on_device(found.kind) || (written && found.kind == MemoryKind::external))
    return std::string(name) + ": " + describe_access(side.begin(), side.extent());
  if (side.extent() > found.bytes - (side.begin() - found.begin))
    return std::string(name) + ": " + describe_access(side.begin(), side.extent());
  return "";
}

std::string check_host_side(const Rows &side, const char *name, bool *pinned) {
  const Found found = find(side.data);
  *pinned = found.live && !on_device(found.kind);
  if (found.live && on_device(found.kind))
    return std::string(name) + " lies in device memory, but is to be the host's";
  if (*pinned && side.extent() > found.bytes - (side.begin() - found.begin))
    return std::string(name) + ": " + describe_access(side.begin(), side.extent());
  if (!found.live && is_ours(side.begin()))
    return std::string(name) + ": " + describe_access(side.begin(), side.extent());
  return "";
}

std::string check_copy(const Rows &to, const Rows &from, int kind, bool *pinned) {
  *pinned = true;
  std::string wrong = kind == kHostToDevice || kind == kDeviceToDevice
                          ? check_device_side(to, "the destination", true)
                          : check_host_side(to, "the destination", pinned);
  if (wrong.empty())
    wrong = kind == kHostToDevice ? check_host_side(from, "the source", pinned)
                                  : check_device_side(from, "the source", false);
  return wrong;
}

void count(int kind, uint64_t bytes) {
  auto &traffic = runtime().traffic;
  if (kind == kHostToDevice) ++traffic.uploads, traffic.upload_bytes += bytes;
  if (kind == kDeviceToHost) ++traffic.downloads, traffic.download_bytes += bytes;
}

bool overlaps_pending_read(const Runtime &r, const Rows &side) {
  return std::any_of(r.pending_reads.begin(), r.pending_reads.end(), [&](const auto &read) {
    return side.begin() < read.second.second && read.second.first < side.begin() + side.extent();
  });
}

int copy(const char *function, const Rows &to, const Rows &from, int kind, void *stream_handle) {
  return enter_device(Call::copy, function, [&](Lock &lock, Runtime &r) {
    int error = 0;
    Stream *stream = stream_of(r, stream_handle, function, &error);
    if (!stream) return error;
    if (kind != kHostToDevice && kind != kDeviceToHost && kind != kDeviceToDevice)
      return report(kErrorInvalidMemcpyDirection,
                    std::string(function) + "(): the kind of copy must be told");
    if (to.rows > 1 && (to.stride < to.width || from.stride < from.width))
      return report(kErrorInvalidPitchValue, std::string(function) + "(): a stride is less than the width");
    if (!to.width || !to.rows) return int{kSuccess};
    bool pinned = false;
    if (const std::string wrong = check_copy(to, from, kind, &pinned); !wrong.empty())
      return report(kErrorInvalidValue, std::string(function) + "(): " + wrong);
    if (kind == kDeviceToHost && pinned && !overlaps_pending_read(r, to))
      for (size_t y = 0; y < to.rows; ++y)
        // Who reads too early finds no result of earlier.
        fill_with_garbage(static_cast<char *>(const_cast<void *>(to.data)) + y * to.stride, to.width);
    const std::shared_ptr<int> key = std::make_shared<int>();
    if (kind == kHostToDevice) r.pending_reads[key.get()] = {from.begin(), from.begin() + from.extent()};
    r.queue.put(lock, *stream, [=] {
      {
        const std::lock_guard again(runtime().mutex);
        runtime().pending_reads.erase(key.get());
      }
      if (runtime().device_error) return;
      count(kind, to.width * to.rows);
      for (size_t y = 0; y < to.rows; ++y)
        std::memcpy(static_cast<char *>(const_cast<void *>(to.data)) + y * to.stride,
                    static_cast<const char *>(from.data) + y * from.stride, to.width);
    });
    // As the drivers do it: the host waits for what it could change or read at once.
    return pinned ? int{kSuccess} : finish(lock, r, stream->last);
  });
}

// Drivers take only pages that the process may write to, and that are pages: devices' memory, which most dma-bufs map, is
// not.
bool can_be_pinned(const void *data, size_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(data);
  uint64_t checked = begin;
  std::ifstream maps("/proc/self/smaps");
  unsigned long long from = 0, to = 0;
  for (std::string line; checked < begin + bytes && std::getline(maps, line);) {
    if (std::sscanf(line.c_str(), "%llx-%llx ", &from, &to) == 2) continue;
    if (!line.starts_with("VmFlags:") || to <= checked) continue;
    line += ' ';
    if (from > checked || line.find(" wr ") == line.npos || line.find(" io ") != line.npos ||
        line.find(" pf ") != line.npos)
      return false;
    checked = to;
  }
  return checked >= begin + bytes;
}

}  // namespace
}  // namespace hipsim

using namespace hipsim;

EXPORT int hipMemGetInfo(size_t *free, size_t *total) {
  return enter_device(Call::other, "hipMemGetInfo", [&](Lock &, Runtime &) {
    *total = settings().memory;
    *free = *total - std::min(*total, allocated_bytes(MemoryKind::device));
    return kSuccess;
  });
}

EXPORT int hipMalloc(void **data, size_t bytes) {
  return enter_device(Call::malloc, "hipMalloc", [&](Lock &, Runtime &) -> int {
    *data = nullptr;
    if (!bytes) return kSuccess;
    *data = allocate(MemoryKind::device, caller.device, bytes, settings().memory);
    return *data ? kSuccess : kErrorOutOfMemory;
  });
}

EXPORT int hipHostMalloc(void **data, size_t bytes, unsigned) {
  return enter_device(Call::host, "hipHostMalloc", [&](Lock &, Runtime &) -> int {
    *data = nullptr;
    if (!bytes) return kSuccess;
    *data = allocate(MemoryKind::pinned, 0, bytes, settings().memory);
    return *data ? kSuccess : kErrorOutOfMemory;
  });
}

static int release_memory(const char *function, MemoryKind kind, void *data) {
  return enter_release([&](Lock &lock, Runtime &r) -> int {
    if (!data) return kSuccess;
    r.drain(lock);  // as the drivers do
    std::string damage;
    if (!release(kind, data, &damage))
      return report(kind == MemoryKind::registered ? kErrorHostMemoryNotRegistered : kErrorInvalidValue,
                    std::string(function) + "(): " + hex(reinterpret_cast<uint64_t>(data)) +
                        " is no live allocation of " + name_of(kind) + " memory; freed twice?");
    if (!damage.empty()) return report(kErrorIllegalAddress, std::string(function) + "(): " + damage);
    return kSuccess;
  });
}

EXPORT int hipFree(void *data) {
  const Found found = find(data);
  const bool external = found.live && found.kind == MemoryKind::external;
  return release_memory("hipFree", external ? MemoryKind::external : MemoryKind::device, data);
}
EXPORT int hipHostFree(void *data) { return release_memory("hipHostFree", MemoryKind::pinned, data); }
EXPORT int hipHostUnregister(void *data) {
  return release_memory("hipHostUnregister", MemoryKind::registered, data);
}

EXPORT int hipHostRegister(void *data, size_t bytes, unsigned) {
  return enter_device(Call::host, "hipHostRegister", [&](Lock &, Runtime &) -> int {
    if (!data || !bytes) return report(kErrorInvalidValue, "hipHostRegister() of nothing");
    if (!can_be_pinned(data, bytes)) return kErrorInvalidValue;
    return register_memory(data, bytes) ? kSuccess : kErrorHostMemoryAlreadyRegistered;
  });
}

// Only whose memory it is; none of anybody's is no mistake of the caller's.
EXPORT int hipPointerGetAttribute(void *value, int attribute, void *data) {
  return enter(Call::other, [&](Lock &, Runtime &) -> int {
    const Found found = find(data);
    if (attribute != vmafhip::hip::kPointerDeviceOrdinal || !found.live || !on_device(found.kind))
      return kErrorInvalidValue;
    *static_cast<int *>(value) = found.device;
    return kSuccess;
  });
}

EXPORT int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
  return copy("hipMemcpyAsync", {to, bytes, bytes, 1}, {from, bytes, bytes, 1}, kind, stream);
}

EXPORT int hipMemcpy2DAsync(void *to, size_t to_stride, const void *from, size_t from_stride, size_t width,
                            size_t rows, int kind, void *stream) {
  return copy("hipMemcpy2DAsync", {to, to_stride, width, rows}, {from, from_stride, width, rows}, kind,
              stream);
}

// In no order that was asked for. Where only half is supported, the rest is for the caller to find out.
EXPORT int vmafhip_copy_together(const vmafhip::hip::Upload *copies, size_t count, void *stream) {
  const Settings::Batch batch = settings().batch;
  size_t left = batch == Settings::Batch::no ? 0 : batch == Settings::Batch::half ? count / 2 : count;
  for (; left > 0; --left) {
    const vmafhip::hip::Upload &c = copies[left - 1];
    const Rows to = {c.to, c.rows > 1 ? c.to_stride : c.width, c.width, c.rows},
               from = {c.from, c.rows > 1 ? c.from_stride : c.width, c.width, c.rows};
    if (const int error = copy("vmafhip_copy_together", to, from, kHostToDevice, stream)) return error;
  }
  if (batch != Settings::Batch::yes) return remember(kErrorNotSupported);
  ++runtime().traffic.batches;
  return kSuccess;
}

EXPORT int hipMemsetAsync(void *to, int value, size_t bytes, void *handle) {
  return enter_device(Call::copy, "hipMemsetAsync", [&](Lock &lock, Runtime &r) -> int {
    int error = 0;
    Stream *stream = stream_of(r, handle, "hipMemsetAsync", &error);
    if (!stream) return error;
    if (!bytes) return kSuccess;
    const Rows rows{to, bytes, bytes, 1};
    if (const std::string wrong = check_device_side(rows, "the destination", true); !wrong.empty())
      return report(kErrorInvalidValue, "hipMemsetAsync(): " + wrong);
    r.queue.put(lock, *stream, [=] {
      if (runtime().device_error) return;
      std::memset(to, value, bytes);
    });
    return kSuccess;
  });
}

AS_CALLED(hipMemGetInfo)
AS_CALLED(hipMalloc)
AS_CALLED(hipHostMalloc)
AS_CALLED(hipFree)
AS_CALLED(hipHostFree)
AS_CALLED(hipHostUnregister)
AS_CALLED(hipHostRegister)
AS_CALLED(hipPointerGetAttribute)
AS_CALLED(hipMemcpyAsync)
AS_CALLED(hipMemcpy2DAsync)
static_assert(std::is_same_v<decltype(&vmafhip_copy_together), decltype(vmafhip::hip::Api::copy_together)>);
AS_CALLED(hipMemsetAsync)
