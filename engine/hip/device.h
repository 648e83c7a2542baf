// Devices and what belongs to them, owned by C++ objects that can be moved and not copied.
//
// Every call of the runtime is checked once, here; a failure is thrown as DeviceError with the call, the place and the
// runtime's name of the error. The back end catches it at its boundary: no exception leaves engine/hip. Destructors do
// not throw; on a lost device they give up quietly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/hip/runtime.h"
#include "engine/memory.h"
#include "engine/status.h"
#include "kernels/args.h"

namespace vmafhip::hip {

class DeviceError : public std::runtime_error {
 public:
  DeviceError(int code, const std::string &text) : std::runtime_error(text), code_(code) {}
  int code() const { return code_; }
  // The device has not enough memory; it works on.
  bool out_of_memory() const;

 private:
  int code_;
};

// A kernel of a loaded module; lives as long as its device.
struct Function {
  void *handle = nullptr;
  std::string name;
};

// One GPU of this process. Shared by all sessions that use it, and closed with the last; modules are loaded when first
// asked for. Functions may be called from any thread, and all but make_current() leave alone what the calling thread
// works with.
class Device : public std::enable_shared_from_this<Device> {
 public:
  // `measuring`: a session; `others`: who tells of it, and will have a session that counts by itself.
  enum class Use { measuring, others };
  // `number` as the runtime counts; -1: the one that has the fewest uses, of those that can be used. AMD's are
  // tried first, then NVIDIA's. The error says why no GPU can be used: library, devices, code objects.
  static Result<std::shared_ptr<Device>> open(int number, Use use = Use::measuring);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const Api &api() const { return *api_; }
  int number() const { return number_; }
  const std::string &name() const { return name_; }  // as the driver calls it
  // "NVIDIA H200 (compute capability 9.0), libcuda.so.1"
  const std::string &description() const { return description_; }
  int warp_size() const { return warp_size_; }  // 32 or 64
  int multiprocessors() const { return multiprocessors_; }
  uint64_t free_memory() const;
  int users() const;  // that open() has given it to for measuring, and who still hold it
  // For what may outlive its user, and then is none.
  std::shared_ptr<const Device> share() const { return shared_from_this(); }
  void *context() const;  // what its threads work with, as Api has it
  // Whether kernels may read what lies at the address, which somebody else has allocated.
  bool reads(uint64_t address) const noexcept;
  void await_default_stream(uint64_t address) const noexcept;  // of the context that the address is of

  // The calling thread works with this device from now on. Threads of others use CurrentDevice.
  void make_current() const;
  // A kernel of kernels/<stem>.hip.
  Function function(const char *stem, const char *name) const;

 private:
  friend class CurrentDevice;
  class Context;
  class Modules;
  struct Registry;
  Device(const Api &api, int number);
  void *module(const char *stem) const;

  const Api *api_;
  int number_, warp_size_ = 0, multiprocessors_ = 0;
  std::string name_, description_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<Modules> modules_;
};

// The calling thread works with a device for as long as this lives, and with what it had before afterwards: an
// application has devices of its own. Cheap.
class CurrentDevice {
 public:
  explicit CurrentDevice(const Device &device) noexcept;
  ~CurrentDevice();
  // False: the thread works with what it had. Nothing may be made then, for it would be another device's.
  bool ok() const { return error_ == 0; }
  // Throws if not ok().
  void check() const;
  CurrentDevice(const CurrentDevice &) = delete;
  CurrentDevice &operator=(const CurrentDevice &) = delete;

 private:
  const Api &api_;
  void *before_ = nullptr;
  int error_ = 0;
  bool restores_ = false;
};

// Launch dimensions.
struct Grid {
  unsigned x = 1, y = 1, z = 1;
};

class Event {
 public:
  enum class Use { order, timing };  // timing costs a little
  explicit Event(const Device &device, Use use = Use::order);
  ~Event();
  Event(Event &&other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  Event &operator=(Event &&other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }

  // Sleeps until what was recorded is done; does not poll.
  void synchronize() const;
  bool done() const;
  // Between two timing events that are done.
  double milliseconds_since(const Event &start) const;
  void *handle() const { return handle_; }

 private:
  const Device *device_;
  void *handle_ = nullptr;
};

// Work that is done in order. All functions return at once, but for synchronize() and the destructor, which waits so
// that memory can go after it. The calling thread works with the stream's device.
class Stream {
 public:
  explicit Stream(const Device &device);
  ~Stream();
  Stream(Stream &&other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream &operator=(Stream &&other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }

  const Device &device() const { return *device_; }

  // `args` is the kernel's only parameter, copied now.
  template <class Args>
  void launch(const Function &function, Grid grid, unsigned threads, const Args &args) const {
    static_assert(std::is_trivially_copyable_v<Args>);
    launch_bytes(function, grid, threads, &args, sizeof args);
  }
  void clear(DeviceAddress<std::byte> to, size_t bytes) const;  // zeroes
  // Rows of `width` bytes. Host memory that is not pinned makes copies wait. Runtimes know no negative strides: such
  // rows are copied one by one, at some microseconds each.
  void upload(DeviceAddress<std::byte> to, size_t to_stride, const void *from, ptrdiff_t from_stride,
              size_t width, size_t rows) const;
  // Many of single rows, in any order.
  void upload(std::span<const Upload> copies) const;
  void download(void *to, DeviceAddress<const std::byte> from, size_t bytes) const;
  void copy(DeviceAddress<std::byte> to, size_t to_stride, DeviceAddress<const std::byte> from,
            size_t from_stride, size_t width, size_t rows) const;

  void record(const Event &event) const;
  // What follows waits on the device until `event`, which may be of another stream, is done.
  void wait(const Event &event) const;
  void synchronize() const;

 private:
  void launch_bytes(const Function &function, Grid grid, unsigned threads, const void *args,
                    size_t bytes) const;
  const Device *device_;
  void *handle_ = nullptr;
};

// Device memory of `bytes`, as a number; 0 for 0 bytes.
uint64_t allocate_on(const Device &device, size_t bytes);
void free_on(const Device &device, uint64_t address) noexcept;

// Device memory, 256-byte aligned, not cleared.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Device &device, size_t count)
      : device_(&device), address_{allocate_on(device, times(count, sizeof(T)))}, count_(count) {}
  ~Buffer() {
    if (address_) free_on(*device_, address_.value);
  }
  Buffer(Buffer &&other) noexcept
      : device_(other.device_),
        address_(std::exchange(other.address_, {})),
        count_(std::exchange(other.count_, 0)) {}
  Buffer &operator=(Buffer &&other) noexcept {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    std::swap(count_, other.count_);
    return *this;
  }

  DeviceAddress<T> address() const { return address_; }
  size_t size() const { return count_; }

 private:
  const Device *device_ = nullptr;
  DeviceAddress<T> address_;
  size_t count_ = 0;
};

// Host memory that the device copies from and to without waiting; page-aligned, not cleared. Much of it is made of the
// system's large pages where it has them: the driver takes a quarter of the time to pin these, and what it does for several
// threads it does for one after the other.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(const Device &device, size_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer &&other) noexcept
      : device_(other.device_),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        mapped_(std::exchange(other.mapped_, 0)) {}
  PinnedBuffer &operator=(PinnedBuffer &&other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }

  std::byte *data() const { return data_; }
  size_t size() const { return bytes_; }
  size_t pinned() const {
    return mapped_ ? mapped_ : bytes_;
  }  // bytes, in whole large pages where it is made of them

 private:
  bool map(size_t bytes);
  const Device *device_ = nullptr;
  std::byte *data_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_ = 0;  // bytes of the process's own that are pinned; 0: they are the driver's
};

// Host memory of somebody else, pinned for as long as this lives. Takes a while (all pages are touched), and fails where
// the system limits locked memory: then copies work still, and wait.
class HostRegistration {
 public:
  HostRegistration(const Device &device, void *data, size_t bytes);
  ~HostRegistration();
  HostRegistration(HostRegistration &&other) noexcept
      : device_(other.device_), data_(std::exchange(other.data_, nullptr)) {}
  HostRegistration &operator=(HostRegistration &&other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    return *this;
  }

 private:
  const Device *device_;
  void *data_ = nullptr;
};

}  // namespace vmafhip::hip
