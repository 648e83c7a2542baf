// Memory that others have allocated. Descriptors that are not as they must be, and releases in the wrong order, are
// reported; objects that are refused are not: which are taken only the driver knows.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/hipsim/api.h"

namespace hipsim {
namespace {

template <size_t n>
bool all_zero(const unsigned (&words)[n]) {
  return std::all_of(words, words + n, [](unsigned word) { return word == 0; });
}

int refuse(Runtime &r, int error) {
  ++r.imports.refused;
  return error;
}

}  // namespace
}  // namespace hipsim

using namespace hipsim;
using vmafhip::hip::ExternalMemoryBuffer;
using vmafhip::hip::ExternalMemoryHandle;

// As ROCm 6: mapped buffers are freed one by one.
EXPORT int hipRuntimeGetVersion(int *version) {
  *version = 60'000'000;
  return kSuccess;
}

EXPORT bool vmafhip_import_takes_descriptor() {
  const Lock lock(runtime().mutex);
  return settings().external == Settings::External::nvidia;
}

EXPORT int hipImportExternalMemory(void **memory, const ExternalMemoryHandle *handle) {
  return enter_device(Call::import, "hipImportExternalMemory", [&](Lock &, Runtime &r) -> int {
    *memory = nullptr;
    struct stat status;
    if (handle->type != vmafhip::hip::kExternalOpaqueFd || handle->bytes == 0 || handle->flags != 0 ||
        !all_zero(handle->reserved) || fstat(handle->fd, &status) != 0)
      return report(kErrorInvalidValue, "hipImportExternalMemory(): a descriptor that says nothing useful");
    if (settings().external == Settings::External::amdgpu) return refuse(r, kErrorOutOfMemory);
    if (S_ISREG(status.st_mode) && handle->bytes > static_cast<uint64_t>(status.st_size))
      return refuse(r, kErrorInvalidValue);
    const bool takes = settings().external == Settings::External::nvidia;
    const int fd = takes ? handle->fd : fcntl(handle->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return refuse(r, kErrorOutOfMemory);
    External *const external = add(r.external);
    external->fd = fd;
    external->bytes = handle->bytes;
    external->device = caller.device;
    external->device_number = status.st_dev;
    external->inode = status.st_ino;
    *memory = external;
    ++r.imports.imported;
    return kSuccess;
  });
}

EXPORT int hipExternalMemoryGetMappedBuffer(void **data, void *memory, const ExternalMemoryBuffer *buffer) {
  return enter_device(Call::map, "hipExternalMemoryGetMappedBuffer", [&](Lock &, Runtime &r) -> int {
    *data = nullptr;
    External *const external = find(r.external, memory);
    if (!external) return bad_handle("hipExternalMemoryGetMappedBuffer", "imported object");
    if (buffer->flags != 0 || !all_zero(buffer->reserved) || buffer->bytes == 0 || buffer->offset % 4096 ||
        buffer->offset > external->bytes || buffer->bytes > external->bytes - buffer->offset ||
        external->device != caller.device)
      return report(kErrorInvalidValue,
                    "hipExternalMemoryGetMappedBuffer() of what is not in the imported object");
    *data = map_external(caller.device, external->fd, buffer->offset, buffer->bytes);
    if (!*data) return kErrorInvalidValue;
    external->mapped.push_back(*data);
    return kSuccess;
  });
}

EXPORT int hipDestroyExternalMemory(void *memory) {
  return enter_release([&](Lock &, Runtime &r) -> int {
    External *const external = find(r.external, memory);
    if (!external) return bad_handle("hipDestroyExternalMemory", "imported object");
    int error = kSuccess;
    for (const void *data : external->mapped)
      if (const Found found = find(data); found.live && found.kind == MemoryKind::external)
        error = report(kErrorInvalidValue, "hipDestroyExternalMemory() before hipFree() of what is mapped");
    struct stat status;
    if (fstat(external->fd, &status) != 0 || status.st_dev != external->device_number ||
        status.st_ino != external->inode)
      error = report(kErrorInvalidValue,
                     "hipDestroyExternalMemory(): somebody closed the descriptor that the import took");
    else
      close(external->fd);
    r.external.erase(memory);
    ++r.imports.destroyed;
    return error;
  });
}

AS_CALLED(hipImportExternalMemory)
AS_CALLED(hipExternalMemoryGetMappedBuffer)
AS_CALLED(hipDestroyExternalMemory)
