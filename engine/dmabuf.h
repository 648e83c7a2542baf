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

// One kernel object, kept alive by a descriptor of our own. From any thread.
class DmaBuf {
 public:
  virtual ~DmaBuf() = default;
  // Mapped for reading, whole; null if it cannot be mapped: then device() is not 0.
  virtual const std::byte *data() const = 0;
  virtual uint64_t bytes() const = 0;
  virtual uint64_t device() const = 0;  // address on the GPU, if that reads it where it is; else 0
  virtual bool pinned() const = 0;      // the GPU copies from data() by itself
  // Around reads by the processor (DMA_BUF_IOCTL_SYNC): they see what devices wrote. Objects that know no such thing are
  // as they are. begin_read() may wait for the fence of whoever writes: ask is_written() first.
  virtual Status begin_read() const = 0;
  virtual void end_read() const = 0;
};

// Whether what devices still write to the object is done. `wait_ms`: how long to wait for it; 0: not at all. What has no
// fences (memfds, and descriptors that are not open) is written.
bool is_written(int fd, int wait_ms);

// Those that keep coming back. From any thread.
class DmaBufs {
 public:
  // An object that no one uses and that was not among the last so many that were found is let go: its pool is gone, or
  // is too large to be kept. So many are kept at most, besides those in use.
  static constexpr size_t kMostObjects = 256;
  // Nor are more bytes kept of objects that no one uses, whose sources take them for freed. Of larger pools, whose objects
  // come again after they were let go, all are kept from then on.
  static constexpr uint64_t kMostBytes = uint64_t{512} << 20;

  DmaBufs();
  ~DmaBufs();
  DmaBufs(const DmaBufs &) = delete;
  DmaBufs &operator=(const DmaBufs &) = delete;

  // Which GPU imports what comes from now on; null: none. If it is another than before, objects known so far are mapped
  // and imported anew when they come again.
  void set_importer(std::shared_ptr<const Importer> importer);
  // The object behind the descriptor, which stays the caller's. `least_bytes`: how much of it is read; for objects that do
  // not tell their size (CUDA's), all of it. The error says what is wrong with it: closed, neither to be mapped nor
  // imported, too small.
  Result<std::shared_ptr<const DmaBuf>> find(int fd, uint64_t least_bytes);
  void clear();  // objects in use go when their users let go

  // Objects so far, each counted once: by how the GPU gets at them, or `mapped` if it does not.
  struct Counts {
    uint64_t mapped = 0, imported = 0, pinned = 0;
  };
  Counts counts() const;
  size_t size() const;  // that are kept now
  // Why the GPU did not import the last object that it was asked to; empty if it did or was not asked.
  std::string refusal() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vmafhip
