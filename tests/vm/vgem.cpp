#include "tests/vm/vgem.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace vmafhip::test {
namespace {

// drm.h, drm_mode.h and vgem_drm.h of the kernel, which Debian has in the package of libdrm: what is needed of them.
struct drm_version {
  int version_major, version_minor, version_patchlevel;
  size_t name_len;
  char *name;
  size_t date_len;
  char *date;
  size_t desc_len;
  char *desc;
};
struct drm_gem_close {
  uint32_t handle, pad;
};
struct drm_prime_handle {
  uint32_t handle, flags;
  int32_t fd;
};
struct drm_mode_create_dumb {
  uint32_t height, width, bpp, flags, handle, pitch;
  uint64_t size;
};
struct drm_vgem_fence_attach {
  uint32_t handle, flags, out_fence, pad;
};
struct drm_vgem_fence_signal {
  uint32_t fence, flags;
};
constexpr uint32_t VGEM_FENCE_WRITE = 1;
constexpr unsigned long DRM_IOCTL_VERSION = _IOWR('d', 0x00, drm_version);
constexpr unsigned long DRM_IOCTL_GEM_CLOSE = _IOW('d', 0x09, drm_gem_close);
constexpr unsigned long DRM_IOCTL_PRIME_HANDLE_TO_FD = _IOWR('d', 0x2d, drm_prime_handle);
constexpr unsigned long DRM_IOCTL_PRIME_FD_TO_HANDLE = _IOWR('d', 0x2e, drm_prime_handle);
constexpr unsigned long DRM_IOCTL_MODE_CREATE_DUMB = _IOWR('d', 0xb2, drm_mode_create_dumb);
constexpr unsigned long DRM_IOCTL_VGEM_FENCE_ATTACH = _IOWR('d', 0x41, drm_vgem_fence_attach);
constexpr unsigned long DRM_IOCTL_VGEM_FENCE_SIGNAL = _IOW('d', 0x42, drm_vgem_fence_signal);

[[noreturn]] void fail(const std::string &what) {
  throw std::runtime_error("vgem: " + what + ": " + std::strerror(errno));
}

bool is_vgem(int fd) {
  char name[16] = "";
  drm_version version = {};
  version.name = name;
  version.name_len = sizeof name - 1;
  return ::ioctl(fd, DRM_IOCTL_VERSION, &version) == 0 && std::strcmp(name, "vgem") == 0;
}

}  // namespace

Vgem::Vgem() {
  for (int n = 0; n < 8; ++n) {
    device_ = ::open(("/dev/dri/card" + std::to_string(n)).c_str(), O_RDWR | O_CLOEXEC);
    if (device_ >= 0 && is_vgem(device_)) return;
    if (device_ >= 0) ::close(device_);
  }
  throw std::runtime_error("vgem: there is no such device");
}

Vgem::~Vgem() { ::close(device_); }

int Vgem::make(size_t bytes) const {
  drm_mode_create_dumb create = {};
  create.width = 4096, create.height = uint32_t((bytes + 4095) / 4096), create.bpp = 8;
  if (::ioctl(device_, DRM_IOCTL_MODE_CREATE_DUMB, &create)) fail("cannot create an object");
  drm_prime_handle prime = {create.handle, O_RDWR | O_CLOEXEC, -1};
  if (::ioctl(device_, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime)) fail("cannot export an object");
  drm_gem_close close = {create.handle, 0};
  if (::ioctl(device_, DRM_IOCTL_GEM_CLOSE, &close)) fail("cannot let an object go");
  return prime.fd;
}

uint32_t Vgem::begin_write(int fd) const {
  drm_prime_handle prime = {0, 0, fd};
  if (::ioctl(device_, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime)) fail("does not know the object");
  drm_vgem_fence_attach attach = {prime.handle, VGEM_FENCE_WRITE, 0, 0};
  const int failed = ::ioctl(device_, DRM_IOCTL_VGEM_FENCE_ATTACH, &attach);
  drm_gem_close close = {prime.handle, 0};
  ::ioctl(device_, DRM_IOCTL_GEM_CLOSE, &close);
  if (failed) fail("cannot attach a fence");
  return attach.out_fence;
}

bool Vgem::end_write(uint32_t fence) const {
  drm_vgem_fence_signal signal = {fence, 0};
  if (::ioctl(device_, DRM_IOCTL_VGEM_FENCE_SIGNAL, &signal) == 0) return true;
  if (errno != ETIMEDOUT) fail("cannot signal a fence");
  return false;
}

const Vgem &vgem() {
  static const Vgem device;
  return device;
}

int vgem_object(size_t bytes) { return vgem().make(bytes); }

}  // namespace vmafhip::test
