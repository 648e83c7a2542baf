// What device.h makes on devices: events, streams, and memory.
#include <sys/mman.h>
#include <unistd.h>

#include "engine/hip/calls.h"
#include "engine/memory.h"

namespace vmafhip::hip {

Event::Event(const Device &device, Use use) : device_(&device) {
  const CurrentDevice current(device);
  current.check();
  const unsigned flags = kEventBlockingSync | (use == Use::order ? kEventDisableTiming : 0);
  CALL(device.api(), hipEventCreateWithFlags, &handle_, flags);
}

Event::~Event() { give_back(device_, &Functions::hipEventDestroy, handle_); }

void Event::synchronize() const { CALL(device_->api(), hipEventSynchronize, handle_); }

bool Event::done() const {
  const Api &api = device_->api();
  const int error = api.hipEventQuery(handle_);
  if (error == kErrorNotReady) {
    api.hipGetLastError();
    return false;
  }
  if (error != 0) fail(api, error, "hipEventQuery(handle_)", __FILE__, __LINE__);
  return true;
}

double Event::milliseconds_since(const Event &start) const {
  float milliseconds = 0;
  CALL(device_->api(), hipEventElapsedTime, &milliseconds, start.handle_, handle_);
  return milliseconds;
}

Stream::Stream(const Device &device) : device_(&device) {
  const CurrentDevice current(device);
  current.check();
  CALL(device.api(), hipStreamCreateWithFlags, &handle_, kStreamNonBlocking);
}

Stream::~Stream() {
  if (!handle_ || forked()) return;
  const CurrentDevice current(*device_);
  const Api &api = device_->api();
  if (current.ok() && api.hipStreamSynchronize(handle_) != 0) api.hipGetLastError();
  if (api.hipStreamDestroy(handle_) != 0) api.hipGetLastError();
}

void Stream::launch_bytes(const Function &function, Grid grid, unsigned threads, const void *args,
                          size_t bytes) const {
  const Api &api = device_->api();
  void *extra[] = {kLaunchBufferPointer, const_cast<void *>(args), kLaunchBufferSize, &bytes, api.launch_end};
  const int error = api.hipModuleLaunchKernel(function.handle, grid.x, grid.y, grid.z, threads, 1, 1, 0,
                                              handle_, nullptr, extra);
  if (error != 0) [[unlikely]]
    fail(api, error, "hipModuleLaunchKernel() of " + function.name, __FILE__, __LINE__);
}

void Stream::clear(DeviceAddress<std::byte> to, size_t bytes) const {
  if (bytes != 0) CALL(device_->api(), hipMemsetAsync, pointer(to.value), 0, bytes, handle_);
}

void Stream::upload(DeviceAddress<std::byte> to, size_t to_stride, const void *from, ptrdiff_t from_stride,
                    size_t width, size_t rows) const {
  if (width == 0 || rows == 0) return;
  const Api &api = device_->api();
  if (from_stride < 0) {
    const auto *row = static_cast<const std::byte *>(from);
    for (size_t y = 0; y < rows; ++y) {
      CALL(api, hipMemcpyAsync, pointer(to.value + y * to_stride), row, width, kCopyHostToDevice, handle_);
      row += from_stride;
    }
    return;
  }
  const auto stride = static_cast<size_t>(from_stride);
  if (rows == 1 || (stride == width && to_stride == width)) {
    CALL(api, hipMemcpyAsync, pointer(to.value), from, width * rows, kCopyHostToDevice, handle_);
  } else {
    CALL(api, hipMemcpy2DAsync, pointer(to.value), to_stride, from, stride, width, rows, kCopyHostToDevice,
         handle_);
  }
}

void Stream::upload(std::span<const Upload> copies) const { CALL(device_->api(), upload, copies, handle_); }

void Stream::download(void *to, DeviceAddress<const std::byte> from, size_t bytes) const {
  if (bytes != 0)
    CALL(device_->api(), hipMemcpyAsync, to, pointer(from.value), bytes, kCopyDeviceToHost, handle_);
}

void Stream::copy(DeviceAddress<std::byte> to, size_t to_stride, DeviceAddress<const std::byte> from,
                  size_t from_stride, size_t width, size_t rows) const {
  if (width == 0 || rows == 0) return;
  const Api &api = device_->api();
  if (rows == 1 || (from_stride == width && to_stride == width)) {
    CALL(api, hipMemcpyAsync, pointer(to.value), pointer(from.value), width * rows, kCopyDeviceToDevice,
         handle_);
  } else {
    CALL(api, hipMemcpy2DAsync, pointer(to.value), to_stride, pointer(from.value), from_stride, width, rows,
         kCopyDeviceToDevice, handle_);
  }
}

void Stream::record(const Event &event) const {
  CALL(device_->api(), hipEventRecord, event.handle(), handle_);
}

void Stream::wait(const Event &event) const {
  CALL(device_->api(), hipStreamWaitEvent, handle_, event.handle(), 0);
}

void Stream::synchronize() const { CALL(device_->api(), hipStreamSynchronize, handle_); }

uint64_t allocate_on(const Device &device, size_t bytes) {
  if (bytes == 0) return 0;
  const CurrentDevice current(device);
  current.check();
  void *data = nullptr;
  CALL(device.api(), hipMalloc, &data, bytes);
  return reinterpret_cast<uint64_t>(data);
}

void free_on(const Device &device, uint64_t address) noexcept {
  give_back(&device, &Functions::hipFree, pointer(address));
}

// From a few large pages on. They are written to first: the driver would have to do it page by page.
bool PinnedBuffer::map(size_t bytes) {
  constexpr size_t kLarge = 2 << 20;
  if (bytes < 2 * kLarge) return false;
  const size_t whole = times(plus(bytes, kLarge - 1) / kLarge, kLarge), room = plus(whole, kLarge);
  void *const all = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return false;
  auto *const begin = static_cast<std::byte *>(all);
  const size_t before = (kLarge - reinterpret_cast<uintptr_t>(all) % kLarge) % kLarge;
  std::byte *const data = begin + before;
  if (before > 0) ::munmap(begin, before);
  if (before < kLarge) ::munmap(data + whole, kLarge - before);
  ::madvise(data, whole, MADV_HUGEPAGE);
  ::madvise(data, whole, MADV_DONTFORK);  // a child that writes must not be given these pages
  const size_t page = size_t(::sysconf(_SC_PAGESIZE));
  for (size_t i = 0; i < whole; i += page) data[i] = std::byte{0};
  const Api &api = device_->api();
  if (api.hipHostRegister(data, whole, 0) != 0) {
    api.hipGetLastError();
    ::munmap(data, whole);
    return false;
  }
  data_ = data;
  mapped_ = whole;
  return true;
}

PinnedBuffer::PinnedBuffer(const Device &device, size_t bytes) : device_(&device) {
  if (bytes == 0) return;
  const CurrentDevice current(device);
  current.check();
  if (!map(bytes)) {
    void *data = nullptr;
    CALL(device.api(), hipHostMalloc, &data, bytes, 0);
    data_ = static_cast<std::byte *>(data);
  }
  bytes_ = bytes;
}

PinnedBuffer::~PinnedBuffer() {
  const bool done =
      give_back(device_, mapped_ ? &Functions::hipHostUnregister : &Functions::hipHostFree, data_);
  if (!mapped_ || !data_ || forked()) return;
  if (done) {
    ::munmap(data_, mapped_);
  } else {
    // The driver takes these addresses for pinned: it would copy from pages that they had before. Nobody gets them again.
    ::mmap(data_, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }
}

HostRegistration::HostRegistration(const Device &device, void *data, size_t bytes) : device_(&device) {
  const CurrentDevice current(device);
  current.check();
  CALL(device.api(), hipHostRegister, data, bytes, 0);
  data_ = data;
}

HostRegistration::~HostRegistration() { give_back(device_, &Functions::hipHostUnregister, data_); }

}  // namespace vmafhip::hip
