// A GPU for those who share it with sessions: what other software of this process has put there is read where it is.
#pragma once
#include <cstdint>
#include <memory>

#include "engine/status.h"

namespace vmafhip {

// From any thread. Sessions on the GPU and this keep it ready, each for itself.
class Gpu {
 public:
  enum class Vendor { amd, nvidia };
  // As SessionOptions::device has it.
  static Result<std::shared_ptr<const Gpu>> open(int device);
  virtual ~Gpu() = default;

  virtual Vendor vendor() const = 0;
  virtual int number() const = 0;  // as the vendor's runtime counts
  // NVIDIA: the CUcontext that sessions work in, which is the GPU's primary one. AMD: null, for it has no such thing.
  virtual void *context() const = 0;
  // Whether kernels of sessions may read what lies at an address of the GPU's. Also false if nobody knows.
  virtual bool reads(uint64_t address) const = 0;
  // NVIDIA: waits for what the default stream of the CUcontext that the address is of has yet to do. Sessions have streams
  // of their own, which do not.
  virtual void await_default_stream(uint64_t address) const = 0;
};

}  // namespace vmafhip
