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

// One GPU of this process. Shared by all sessions that use it; modules are loaded when first asked for.
class Device {
 public:
  // `number` as the runtime counts; -1: the one that the fewest sessions use. The error says why no GPU can be used:
  // library, devices, code objects.
  static Result<std::shared_ptr<Device>> open(int number);
  ~Device();
  Device(const Device &) = delete;

  const Api &api() const { return *api_; }
  int number() const { return number_; }
  const std::string &name() const { return name_; }  // as the driver calls it
  std::string description() const;                   // name, architecture, library
  int warp_size() const { return warp_size_; }       // 32 or 64
  uint64_t free_memory() const;

  // The calling thread works with this device from now on; every entry from outside calls it.
  void make_current() const;
  // A kernel of kernels/<stem>.hip.
  Function function(const char *stem, const char *name) const;

 private:
  explicit Device(const Api &api, int number);
  struct Modules;
  const Api *api_;
  int number_, warp_size_ = 32;
  std::string name_;
  std::unique_ptr<Modules> modules_;
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
  Event &operator=(Event &&other) noexcept;

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

// A launchable record of what was put on a stream.
class Graph {
 public:
  Graph(Graph &&other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  Graph &operator=(Graph &&other) noexcept;
  ~Graph();

 private:
  friend class Stream;
  Graph(const Device &device, void *handle) : device_(&device), handle_(handle) {}
  const Device *device_;
  void *handle_;
};

// Work that is done in order. All functions return at once, but for synchronize().
class Stream {
 public:
  explicit Stream(const Device &device);
  ~Stream();
  Stream(Stream &&other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream &operator=(Stream &&other) noexcept;

  const Device &device() const { return *device_; }

  // `args` is the kernel's only parameter, copied now.
  template <class Args>
  void launch(const Function &function, Grid grid, unsigned threads, const Args &args) const {
    static_assert(std::is_trivially_copyable_v<Args>);
    launch_bytes(function, grid, threads, &args, sizeof args);
  }
  void clear(DeviceAddress<std::byte> to, size_t bytes) const;  // zeroes
  // Rows of `width` bytes. Host memory that is not pinned makes copies wait.
  void upload(DeviceAddress<std::byte> to, size_t to_stride, const void *from, ptrdiff_t from_stride,
              size_t width, size_t rows) const;
  void download(void *to, DeviceAddress<const std::byte> from, size_t bytes) const;
  void copy(DeviceAddress<std::byte> to, size_t to_stride, DeviceAddress<const std::byte> from,
            size_t from_stride, size_t width, size_t rows) const;

  void record(const Event &event) const;
  // What follows waits on the device until `event`, which may be of another stream, is done.
  void wait(const Event &event) const;
  void synchronize() const;

  // Between begin_capture() and end_capture(), what is put on this stream, and on others that wait for its events, is
  // recorded instead of done.
  void begin_capture() const;
  Graph end_capture() const;
  void launch(const Graph &graph) const;

 private:
  void launch_bytes(const Function &function, Grid grid, unsigned threads, const void *args,
                    size_t bytes) const;
  const Device *device_;
  void *handle_ = nullptr;
};

// Device memory, 256-byte aligned, not cleared.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Device &device, size_t count);
  ~Buffer();
  Buffer(Buffer &&other) noexcept
      : device_(other.device_),
        address_(std::exchange(other.address_, {})),
        count_(std::exchange(other.count_, 0)) {}
  Buffer &operator=(Buffer &&other) noexcept;

  DeviceAddress<T> address() const { return address_; }
  size_t size() const { return count_; }

 private:
  const Device *device_ = nullptr;
  DeviceAddress<T> address_;
  size_t count_ = 0;
};

// Host memory that the device copies from and to without waiting; page-aligned, not cleared.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(const Device &device, size_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer &&other) noexcept;
  PinnedBuffer &operator=(PinnedBuffer &&other) noexcept;

  std::byte *data() const { return data_; }
  size_t size() const { return bytes_; }

 private:
  const Device *device_ = nullptr;
  std::byte *data_ = nullptr;
  size_t bytes_ = 0;
};

// Host memory of somebody else, pinned for as long as this lives.
class HostRegistration {
 public:
  HostRegistration(const Device &device, void *data, size_t bytes);
  ~HostRegistration();
  HostRegistration(HostRegistration &&other) noexcept;
  HostRegistration &operator=(HostRegistration &&other) noexcept;

 private:
  const Device *device_;
  void *data_;
};

}  // namespace vmafhip::hip
