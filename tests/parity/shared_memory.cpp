#include "tests/parity/shared_memory.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "tests/parity/cuda_vmm.h"

namespace vmafhip::parity {
namespace {

class Memfd final : public SharedMemory {
 public:
  explicit Memfd(std::span<const uint8_t> content)
      : fd_(::memfd_create("picture", MFD_CLOEXEC)), bytes_(content.size()) {
    if (fd_ < 0 || ::write(fd_, content.data(), content.size()) != ssize_t(content.size()))
      throw std::runtime_error("there is no memory for a memfd");
  }
  ~Memfd() override { ::close(fd_); }
  int fd() const override { return fd_; }
  uint64_t bytes() const override { return bytes_; }

 private:
  int fd_;
  uint64_t bytes_;
};

// Of the library that the runtime has opened.
const CudaVmm &vmm() {
  static const CudaVmm functions = [] {
    void *const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error("libcuda.so.1 does not open");
    CudaVmm f;
#define FIND(name)                                                      \
  f.name = reinterpret_cast<decltype(f.name)>(::dlsym(library, #name)); \
  if (!f.name) throw std::runtime_error("libcuda.so.1 has no function " #name);
    FIND(cuMemGetAllocationGranularity)
    FIND(cuMemCreate)
    FIND(cuMemRelease)
    FIND(cuMemExportToShareableHandle)
    FIND(cuMemAddressReserve)
    FIND(cuMemAddressFree)
    FIND(cuMemMap)
    FIND(cuMemUnmap)
    FIND(cuMemSetAccess)
#undef FIND
    return f;
  }();
  return functions;
}

class Exported final : public SharedMemory {
 public:
  Exported(std::shared_ptr<hip::Device> device, std::span<const uint8_t> content)
      : device_(std::move(device)) {
    const hip::CurrentDevice current(*device_);
    current.check();
    CudaMemoryKind kind;
    kind.place.device = device_->number();
    size_t granularity = 0;
    must("cuMemGetAllocationGranularity",
         vmm().cuMemGetAllocationGranularity(&granularity, &kind, kCudaLeastGranularity));
    bytes_ = (content.size() + granularity - 1) / granularity * granularity;
    must("cuMemCreate", vmm().cuMemCreate(&handle_, bytes_, &kind, 0));
    fill(content, kind.place);
    must("cuMemExportToShareableHandle",
         vmm().cuMemExportToShareableHandle(&fd_, handle_, kCudaFileDescriptor, 0));
  }
  ~Exported() override {
    if (fd_ >= 0) ::close(fd_);
    if (handle_ != 0) (void)vmm().cuMemRelease(handle_);
  }
  int fd() const override { return fd_; }
  uint64_t bytes() const override { return bytes_; }

 private:
  void must(const char *function, int error) const {
    if (error != 0)
      throw std::runtime_error(std::string(function) + "() fails with " +
                               device_->api().hipGetErrorName(error));
  }
  // Mapped for as long as it takes.
  void fill(std::span<const uint8_t> content, const CudaMemoryPlace &place) {
    uint64_t address = 0;
    must("cuMemAddressReserve", vmm().cuMemAddressReserve(&address, bytes_, 0, 0, 0));
    must("cuMemMap", vmm().cuMemMap(address, bytes_, 0, handle_, 0));
    CudaMemoryAccess access;
    access.place = place;
    must("cuMemSetAccess", vmm().cuMemSetAccess(address, bytes_, &access, 1));
    const hip::Stream stream(*device_);
    stream.upload({address}, content.size(), content.data(), ptrdiff_t(content.size()), content.size(), 1);
    stream.synchronize();
    must("cuMemUnmap", vmm().cuMemUnmap(address, bytes_));
    must("cuMemAddressFree", vmm().cuMemAddressFree(address, bytes_));
  }

  std::shared_ptr<hip::Device> device_;
  uint64_t bytes_ = 0, handle_ = 0;
  int fd_ = -1;
};

}  // namespace

std::unique_ptr<SharedMemory> make_memfd(std::span<const uint8_t> content) {
  return std::make_unique<Memfd>(content);
}

std::unique_ptr<SharedMemory> make_exported(const std::shared_ptr<hip::Device> &device,
                                            std::span<const uint8_t> content) {
  return std::make_unique<Exported>(device, content);
}

}  // namespace vmafhip::parity
