// How the frames of both pads become the engine's pictures, whatever memory they are in, and by which way each went.
#pragma once
#include <gst/gst.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/dmabuf.h"
#include "engine/session.h"
#include "gst/vmafhip/aligner.h"
#include "gst/vmafhip/dmabuf_picture.h"
#include "gst/vmafhip/frame.h"
#include "gst/vmafhip/read_counts.h"

namespace vmafhip {

// Owned by the comparing thread.
class PictureReader {
 public:
  explicit PictureReader(GstElement *element);
  ~PictureReader();

  // The session that reads them, which outlives it until stop(). Counts begin anew.
  void start(const Session &session);
  void stop();
  // Formats change, and with them the pools: what is known of their memory is let go.
  void forget();

  // For the session, as it is configured; the reference of a pair first. Counted, and said when the way is another than
  // before.
  Result<Picture> read(Side side, const QueuedFrame &frame);
  // For the processor.
  Result<Picture> look_at(const QueuedFrame &frame);

  ReadCounts counts() const;

 private:
  enum class Way { system, imported, registered, mapped, copied };
  struct How {
    Way way = Way::system;
    const char *memory = "system memory";  // what it is called
    std::string why;                       // the GPU does not read it where it is
  };
  struct Pools;
  // `gpu`: that the pictures are for; null: none.
  Result<Picture> read(const QueuedFrame &frame, HostPlanes host, const Gpu *gpu, How &how);
  Result<Picture> read_gpu_memory(const QueuedFrame &frame, uint8_t host, const Gpu *gpu, How &how);
  void note(Side side, const How &how);

  GstElement *element_;
  const Session *session_ = nullptr;
  std::shared_ptr<DmaBufs> objects_;
  std::shared_ptr<Pools> pools_;
  std::array<std::optional<std::pair<Way, std::string>>, 2> ways_;  // and the memory
  std::pair<int, int> ref_size_;
  size_t others_ = 0;  // pictures in other memory since the last one in dma-bufs
  ReadCounts counts_;
};

}  // namespace vmafhip
