// Kernel objects that devices share by file descriptors (dma-bufs; memfds likewise): each is mapped, and imported by the
// GPU, once, however often its descriptor comes back.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/external.h"
#include "engine/status.h"

namespace vmafhip {

// One kernel object, kept alive by a descriptor of our own.
class DmaBuf {
 public:
  virtual ~DmaBuf() = default;
  virtual const std::byte *data() const = 0;  // mapped for reading, whole
  virtual uint64_t bytes() const = 0;
  virtual uint64_t device() const = 0;  // address on the GPU, if that reads it where it is; else 0
  virtual bool pinned() const = 0;      // the GPU copies from data() by itself
  // Around reads by the processor (DMA_BUF_IOCTL_SYNC): they see what devices wrote. Objects that know no such thing are
  // as they are. May wait for the fence of whoever writes.
  virtual Status begin_read() const = 0;
  virtual void end_read() const = 0;
};

// Whether what devices still write to the object is done. `wait_ms`: how long to wait for it; 0: not at all.
bool is_written(int fd, int wait_ms);

class DmaBufs {
 public:
  static constexpr size_t kMostObjects = 128;  // of which the least recently used are let go

  DmaBufs();
  ~DmaBufs();
  // Which GPU imports what comes from now on; null: none. Objects known so far are imported anew when they come again.
  void set_importer(std::shared_ptr<const Importer> importer);
  // The object behind the descriptor, which stays the caller's. The error says what is wrong with it: closed, not to be
  // mapped, too small for `least_bytes`.
  Result<std::shared_ptr<const DmaBuf>> find(int fd, uint64_t least_bytes);
  void clear();  // objects in use go when their users let go

  // Objects so far, each counted once a way: imports + pins + refusals are no more than objects.
  struct Counts {
    uint64_t mapped = 0, imported = 0, pinned = 0;
  };
  Counts counts() const;
  size_t size() const;  // that are kept now
  // Why the GPU does not import, as it said last; empty if it does or was not asked.
  std::string refusal() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vmafhip
