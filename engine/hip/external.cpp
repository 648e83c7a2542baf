#include "engine/hip/external.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/descriptor.h"

namespace vmafhip::hip {
namespace {

// What has been imported, from hipImportExternalMemory() on.
class Imported {
 public:
  Imported(std::shared_ptr<const Device> device, void *memory)
      : device_(std::move(device)), memory_(memory) {}
  // Waits, by the drivers' way, for what the device does.
  ~Imported() {
    if (forked()) return;
    const CurrentDevice current(*device_);
    const Api &api = device_->api();
    if (data_ && api.mapped_is_freed() && api.hipFree(data_) != 0) api.hipGetLastError();
    if (api.hipDestroyExternalMemory(memory_) != 0) api.hipGetLastError();
  }
  Imported(const Imported &) = delete;
  Imported &operator=(const Imported &) = delete;

  // Error of the runtime; none, and no address either, is how some versions of AMD's refuse.
  int map(uint64_t bytes) {
    ExternalMemoryBuffer buffer;
    buffer.bytes = bytes;
    const int error = device_->api().hipExternalMemoryGetMappedBuffer(&data_, memory_, &buffer);
    if (error != 0) data_ = nullptr;
    return error;
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(data_); }

 private:
  std::shared_ptr<const Device> device_;
  void *memory_, *data_ = nullptr;
};

struct Pinned {
  std::shared_ptr<const Device> device;
  HostRegistration registration;
};

class DeviceImporter final : public Importer {
 public:
  explicit DeviceImporter(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  Result<ExternalMemory> import(int fd, uint64_t bytes) const override {
    const Api &api = device_->api();
    if (forked()) return Status(Code::resource, "GPUs do not work in a forked process");
    if (!api.has_external_memory())
      return Status(Code::unsupported, api.library + " is too old to import memory: update the GPU's driver");
    const CurrentDevice current(*device_);
    if (!current.ok()) return Status(Code::resource, device_->name() + " does not work");
    // One that a driver may keep or close.
    Descriptor own = Descriptor::duplicate(fd);
    if (own.get() < 0)
      return Status(Code::resource,
                    std::string("a file descriptor cannot be duplicated (") + std::strerror(errno) + ")");
    ExternalMemoryHandle handle;
    handle.fd = own.get();
    handle.bytes = bytes;
    void *memory = nullptr;
    if (const int error = api.hipImportExternalMemory(&memory, &handle); error != 0 || !memory)
      return refused(error);
    const auto imported = std::make_shared<Imported>(device_, memory);
    if (api.import_takes_descriptor()) own.release();
    // AMD's driver, which may import no earlier than now, needs the descriptor no longer then.
    if (const int error = imported->map(bytes); error != 0 || imported->address() == 0) return refused(error);
    return ExternalMemory{MemoryKind::device, imported->address(), imported};
  }

  Result<ExternalMemory> pin(void *data, uint64_t bytes) const override {
    if (forked()) return Status(Code::resource, "GPUs do not work in a forked process");
    try {
      std::shared_ptr<const Pinned> pinned(new Pinned{device_, HostRegistration(*device_, data, bytes)});
      return ExternalMemory{MemoryKind::pinned, 0, std::move(pinned)};
    } catch (const DeviceError &error) {
      return Status(Code::resource, std::string("the memory cannot be pinned: ") + error.what());
    }
  }

 private:
  Status refused(int error) const {
    const Api &api = device_->api();
    api.hipGetLastError();  // which others in this process would take for theirs
    const char *name = error != 0 ? api.hipGetErrorName(error) : nullptr;
    return {Code::unsupported,
            device_->name() + " does not import the memory (" + (name ? name : "no address") + "): " +
                (api.vendor == Vendor::amd ? "AMD's driver takes dma-bufs of AMD GPUs alone"
                                           : "NVIDIA's driver takes what CUDA and Vulkan export alone")};
  }

  std::shared_ptr<const Device> device_;
};

}  // namespace

std::shared_ptr<const Importer> make_importer(std::shared_ptr<const Device> device) {
  return std::make_shared<DeviceImporter>(std::move(device));
}

}  // namespace vmafhip::hip
