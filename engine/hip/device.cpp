#include "engine/hip/device.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <numeric>
#include <string_view>
#include <vector>

#include "engine/hip/calls.h"
#include "engine/hip/images.h"
#include "engine/text.h"

namespace vmafhip::hip {
namespace {

// Paths in messages begin at the source root, wherever the build was.
constexpr std::string_view from_root(std::string_view file) {
  const size_t at = file.rfind("engine/");
  return at == file.npos ? file : file.substr(at);
}

const void *image_of(const Api &api, const char *stem) {
  if (api.kernel_image) return api.kernel_image(stem);
  for (const Image &image : images())
    if (std::string_view(image.stem) == stem) return api.vendor == Vendor::amd ? image.amd : image.nvidia;
  return nullptr;
}

bool built_for(Vendor vendor) {
  return std::ranges::any_of(images(), [&](const Image &image) {
    return (vendor == Vendor::amd ? image.amd : image.nvidia) != nullptr;
  });
}

Status unusable(std::string text) { return {Code::resource, std::move(text)}; }
Status built_without(Vendor vendor) {
  return unusable(std::string("this build has no kernels for ") + name_of(vendor) + " GPUs");
}

}  // namespace

bool DeviceError::out_of_memory() const { return code_ == kErrorOutOfMemory; }

void fail(const Api &api, int error, const std::string &call, const char *file, int line) {
  api.hipGetLastError();  // which others in this process would take for theirs
  const char *name = api.hipGetErrorName(error);
  throw DeviceError(error, call + " failed: " + (name ? name : "error " + std::to_string(error)) + " (" +
                               std::string(from_root(file)) + ":" + std::to_string(line) + ")");
}

bool give_back(const Device *device, int (*Functions::*function)(void *), void *handle) noexcept {
  if (!handle || forked()) return false;
  const CurrentDevice current(*device);
  const Api &api = device->api();
  if ((api.*function)(handle) == 0) return true;
  api.hipGetLastError();
  return false;
}

// Makes that the driver keeps the device ready.
class Device::Context {
 public:
  Context(const Api &api, int number) : api_(api), number_(number) {
    CALL(api, retain_context, number, &handle);
  }
  ~Context() {
    if (!forked()) (void)api_.release_context(number_);
  }
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  void *handle = nullptr;

 private:
  const Api &api_;
  const int number_;
};

// Loaded modules by stem.
class Device::Modules {
 public:
  explicit Modules(const Device &device) : device_(device) {}
  ~Modules() {
    for (const auto &[stem, module] : loaded) give_back(&device_, &Functions::hipModuleUnload, module);
  }
  Modules(const Modules &) = delete;
  Modules &operator=(const Modules &) = delete;

  std::mutex mutex;
  std::map<std::string, void *, std::less<>> loaded;

 private:
  const Device &device_;
};

// Devices in use. Never destroyed: sessions may outlive static objects.
struct Device::Registry {
  struct Entry {
    std::weak_ptr<Device> device;
    int measuring = 0, others = 0;
  };
  // What open() gives out: who uses a device counts for as long as it is held.
  struct User {
    std::shared_ptr<Device> device;
    int &count;
    User(std::shared_ptr<Device> used, int &among) : device(std::move(used)), count(among) { ++count; }
    ~User() {
      const std::lock_guard lock(all().mutex);
      --count;
    }
    User(const User &) = delete;
    User &operator=(const User &) = delete;
  };

  std::mutex mutex;
  std::map<std::pair<const Api *, int>, Entry> entries;

  static Registry &all() {
    static Registry *const all = new Registry;
    return *all;
  }

  Result<std::shared_ptr<Device>> open(const Api &api, int number, Use use) {
    Entry &entry = entries[{&api, number}];
    std::shared_ptr<Device> device = entry.device.lock();
    if (!device) {
      try {
        device = std::shared_ptr<Device>(new Device(api, number));
      } catch (const DeviceError &error) {
        return unusable(error.what());
      }
      entry.device = device;
    }
    const auto user = std::make_shared<User>(device, use == Use::measuring ? entry.measuring : entry.others);
    return std::shared_ptr<Device>(user, user->device.get());
  }

  Result<std::shared_ptr<Device>> open(const Source &source, int number, Use use) {
    if (source.path.empty() && !built_for(source.vendor)) return built_without(source.vendor);
    const Result<const Api *> opened = open_runtime(source);
    if (!opened.ok()) return opened.status();
    const Api &api = **opened;
    if (!api.kernel_image && !built_for(api.vendor)) return built_without(api.vendor);

    int count = 0;
    if (const int error = api.hipGetDeviceCount(&count); error != 0 && error != kErrorNoDevice) {
      const char *name = api.hipGetErrorName(error);
      return unusable(api.library + ": hipGetDeviceCount() fails with " +
                      (name ? name : std::to_string(error)));
    }
    if (count < 1) return unusable(api.library + " finds no GPU");
    if (number >= count)
      return unusable("there is no device " + std::to_string(number) + ": " + api.library + " has " +
                      (count == 1 ? "one device, 0"
                                  : std::to_string(count) + " devices, 0 to " + std::to_string(count - 1)));
    if (number >= 0) return open(api, number, use);

    std::vector<int> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    std::ranges::stable_sort(numbers, {}, [&](int n) {
      const Entry &entry = entries[{&api, n}];
      return entry.measuring + entry.others;
    });
    std::vector<std::string> reasons;
    for (int n : numbers) {
      Result<std::shared_ptr<Device>> device = open(api, n, use);
      if (device.ok()) return device;
      reasons.push_back(device.status().message());
    }
    return unusable(join(reasons));
  }
};

int Device::users() const {
  Registry &all = Registry::all();
  const std::lock_guard lock(all.mutex);
  const auto entry = all.entries.find({api_, number_});
  return entry == all.entries.end() ? 0 : entry->second.measuring;
}

Result<std::shared_ptr<Device>> Device::open(int number, Use use) {
  if (number < -1)
    return Status(Code::invalid_argument, "device " + std::to_string(number) +
                                              ": devices count from 0, and -1 takes the "
                                              "one that is used least");
  if (forked())
    return unusable("no GPU can be used (this process was forked from one that already used a GPU)");
  Registry &all = Registry::all();
  const std::lock_guard lock(all.mutex);
  const std::vector<Source> places = sources();
  std::vector<std::string> reasons;
  for (const Source &source : places) {
    Result<std::shared_ptr<Device>> device = all.open(source, number, use);
    if (device.ok()) return device;
    const std::string whose = source.path.empty() ? name_of(source.vendor) : "VMAFHIP_HIP_LIBRARY";
    reasons.push_back(whose + ": " + device.status().message());
  }
  std::string text = "no GPU can be used (" + reasons[0];
  for (size_t i = 1; i < reasons.size(); ++i) text += "; " + reasons[i];
  return unusable(text + ")");
}

Device::Device(const Api &api, int number)
    : api_(&api), number_(number), context_(new Context(api, number)), modules_(new Modules(*this)) {
  const CurrentDevice current(*this);
  current.check();
  std::array<char, 256> name{};
  CALL(api, hipDeviceGetName, name.data(), static_cast<int>(name.size()) - 1, number);
  // Drivers without a table of names leave it empty.
  name_ = name[0] ? name.data() : std::string(name_of(api.vendor)) + " GPU " + std::to_string(number);
  int major = 0, minor = 0;
  CALL(api, hipDeviceGetAttribute, &warp_size_, kAttributeWarpSize, number);
  CALL(api, hipDeviceGetAttribute, &multiprocessors_, kAttributeMultiprocessors, number);
  multiprocessors_ = std::max(multiprocessors_, 1);  // work is divided by them
  CALL(api, hipDeviceGetAttribute, &major, kAttributeComputeMajor, number);
  CALL(api, hipDeviceGetAttribute, &minor, kAttributeComputeMinor, number);
  const std::string version = std::to_string(major) + "." + std::to_string(minor);
  description_ = name_ + " (" + (api.vendor == Vendor::amd ? "gfx " : "compute capability ") + version +
                 "), " + api.library;
  if (warp_size_ != 32 && warp_size_ != 64)
    throw DeviceError(
        0, name_ + " has warps of " + std::to_string(warp_size_) + " threads; kernels take 32 and 64");
  // Code objects are for single architectures: whether one fits shows only when it is loaded. A library with images of
  // its own may have some alone.
  const auto all = images();
  const auto there =
      std::ranges::find_if(all, [&](const Image &image) { return image_of(*api_, image.stem); });
  if (!all.empty()) (void)module((there == all.end() ? all.begin() : there)->stem);
}

Device::~Device() = default;

uint64_t Device::free_memory() const {
  const CurrentDevice current(*this);
  current.check();
  size_t free = 0, total = 0;
  CALL(*api_, hipMemGetInfo, &free, &total);
  return free;
}

void *Device::context() const { return context_->handle; }

bool Device::reads(uint64_t address) const noexcept {
  if (forked()) return false;
  const CurrentDevice current(*this);
  return current.ok() && api_->reads(number_, context_->handle, pointer(address));
}

void Device::await_default_stream(uint64_t address) const noexcept {
  if (!forked()) api_->await_default_stream(context_->handle, pointer(address));
}

void Device::make_current() const {
  if (forked()) throw DeviceError(0, "this process was forked from one that already used a GPU");
  CALL(*api_, set_current, context_->handle);
}

void *Device::module(const char *stem) const {
  const std::lock_guard lock(modules_->mutex);
  if (const auto known = modules_->loaded.find(std::string_view(stem)); known != modules_->loaded.end())
    return known->second;
  const void *image = image_of(*api_, stem);
  const CurrentDevice current(*this);
  current.check();
  void *loaded = nullptr;
  const int error = image ? api_->hipModuleLoadData(&loaded, image) : kErrorNoBinaryForGpu;
  if (error == kErrorNoBinaryForGpu) {
    api_->hipGetLastError();
    throw DeviceError(error, std::string("the ") + stem + " kernels were not built for " + description_);
  }
  if (error != 0)
    fail(*api_, error, std::string("hipModuleLoadData() of the ") + stem + " kernels for " + description_,
         __FILE__, __LINE__);
  modules_->loaded.emplace(stem, loaded);
  return loaded;
}

Function Device::function(const char *stem, const char *name) const {
  void *const from = module(stem);
  const CurrentDevice current(*this);
  current.check();
  Function function{nullptr, name};
  if (const int error = api_->hipModuleGetFunction(&function.handle, from, name); error != 0)
    fail(*api_, error, std::string("hipModuleGetFunction() of ") + name + " among the " + stem + " kernels",
         __FILE__, __LINE__);
  return function;
}

// Set even where it is current already: a thread that never chose has the first device by HIP, and none by CUDA.
CurrentDevice::CurrentDevice(const Device &device) noexcept : api_(device.api()) {
  void *const wanted = device.context_->handle;
  const bool known = api_.get_current(&before_) == 0;
  error_ = api_.set_current(wanted);
  restores_ = ok() && known && before_ != wanted;
  if (!ok()) api_.hipGetLastError();
}

void CurrentDevice::check() const {
  if (!ok()) fail(api_, error_, "making a device current", __FILE__, __LINE__);
}

CurrentDevice::~CurrentDevice() {
  if (restores_) (void)api_.set_current(before_);
}

}  // namespace vmafhip::hip
