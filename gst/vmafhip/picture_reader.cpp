#include "gst/vmafhip/picture_reader.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "gst/vmafhip/buffer_memory.h"
#include "gst/vmafhip/gpu_memory.h"
#include "gst/vmafhip/log.h"
#include "gst/vmafhip/mapping.h"

#define GST_CAT_DEFAULT vmafhip_debug

namespace vmafhip {

static constexpr const char *kDmaBufs = "dma-bufs";

// As GStreamer maps it.
static Result<Picture> map_whole(const QueuedFrame &frame) {
  if (const Status s = check_descriptors(frame.buffer.get()); !s.ok()) return s;
  return map_picture(frame.buffer, frame.stream);
}

// Pools whose memory is known. When one goes, so must what is kept of its memory: its source may be about to make room
// for the next. It is not said which objects were its own, so all are let go; those that come again are mapped again.
struct PictureReader::Pools {
  std::mutex mutex;
  std::shared_ptr<DmaBufs> objects;  // null: nobody listens any more
  std::vector<GObject *> known;

  static void watch(const std::shared_ptr<Pools> &pools, GstBufferPool *pool) {
    std::lock_guard lock(pools->mutex);
    GObject *object = G_OBJECT(pool);
    if (std::find(pools->known.begin(), pools->known.end(), object) != pools->known.end()) return;
    pools->known.push_back(object);
    g_object_weak_ref(object, gone, new std::shared_ptr<Pools>(pools));
  }
  static void gone(gpointer self, GObject *pool) {
    const std::unique_ptr<std::shared_ptr<Pools>> pools(static_cast<std::shared_ptr<Pools> *>(self));
    std::shared_ptr<DmaBufs> objects;
    {
      std::lock_guard lock((*pools)->mutex);
      std::erase((*pools)->known, pool);
      objects = (*pools)->objects;
    }
    if (objects) objects->clear();
  }
};

PictureReader::PictureReader(GstElement *element) : element_(element) {}
PictureReader::~PictureReader() { stop(); }

void PictureReader::start(const Session &session) {
  stop();
  session_ = &session;
  objects_ = std::make_shared<DmaBufs>();
  pools_ = std::make_shared<Pools>();
  pools_->objects = objects_;
  ways_ = {};
  others_ = 0;
  counts_ = ReadCounts();
}

void PictureReader::stop() {
  counts_ = counts();
  if (pools_) {
    std::lock_guard lock(pools_->mutex);
    pools_->objects.reset();
  }
  pools_.reset();
  objects_.reset();
  session_ = nullptr;
}

void PictureReader::forget() { objects_->clear(); }

ReadCounts PictureReader::counts() const {
  ReadCounts counts = counts_;
  if (!objects_) return counts;
  const DmaBufs::Counts objects = objects_->counts();
  counts.objects_imported = objects.imported;
  counts.objects_registered = objects.pinned;
  counts.objects_mapped = objects.mapped;
  return counts;
}

Result<Picture> PictureReader::read(Side side, const QueuedFrame &frame) {
  const bool on_gpu = session_->importer() != nullptr;
  const auto gpu = session_->gpu();
  const auto planes = session_->host_planes(side == Side::ref ? 0 : 1);
  How how;
  auto picture = read(frame, {planes, on_gpu ? uint8_t(0xff) : planes}, gpu.get(), how);
  if (!picture.ok()) return picture;
  // The processor scales distorted pictures.
  const std::pair size(picture->format.width, picture->format.height);
  if (side == Side::ref)
    ref_size_ = size;
  else if (size != ref_size_ && how.memory == kDmaBufs)
    how.way = Way::mapped;
  note(side, how);
  return picture;
}

Result<Picture> PictureReader::look_at(const QueuedFrame &frame) {
  How how;
  return read(frame, {}, nullptr, how);
}

Result<Picture> PictureReader::read(const QueuedFrame &frame, HostPlanes host, const Gpu *gpu, How &how) {
  if (gpu_memory_kind(frame.buffer.get())) return read_gpu_memory(frame, host.always, gpu, how);
  if (!is_dmabuf(frame.buffer.get())) {
    // Their source may have gone over to other memory, and whoever allocates takes them for freed.
    if (++others_ == DmaBufs::kMostObjects) objects_->clear();
    return map_whole(frame);
  }
  others_ = 0;
  how.memory = kDmaBufs;
  if (frame.buffer->pool) Pools::watch(pools_, frame.buffer->pool);
  const auto importer = session_->importer();  // another one, or none, once the GPU is lost
  objects_->set_importer(importer);
  auto read = dmabuf_picture(frame.buffer, frame.stream, *objects_, host);
  if (!read.ok()) return read.status();
  if (!*read) {
    how.way = Way::copied;
    return map_whole(frame);
  }
  const DmaBufPicture &at = **read;
  const uint8_t all = at.picture.format.chroma == Chroma::c400 ? 1 : 7;
  how.why = objects_->refusal();
  how.way = !importer                                 ? Way::mapped
            : at.imported == all                      ? Way::imported
            : uint8_t(at.imported | at.pinned) == all ? Way::registered
                                                      : Way::copied;
  return std::move((*read)->picture);
}

Result<Picture> PictureReader::read_gpu_memory(const QueuedFrame &frame, uint8_t host, const Gpu *gpu,
                                               How &how) {
  how.memory = gpu_memory_kind(frame.buffer.get())->feature;
  const uint8_t all = GST_VIDEO_INFO_N_COMPONENTS(&frame.stream->info) > 1 ? 7 : 1;
  if (gpu && (host & all) != all) {
    auto picture = gpu_picture(frame.buffer, frame.stream, *gpu, host, how.why);
    if (!picture.ok()) return picture.status();
    if (*picture) {
      how.way = Way::imported;
      return std::move(**picture);
    }
  }
  how.way = Way::copied;  // by GStreamer, when it is mapped
  return map_picture(frame.buffer, frame.stream);
}

void PictureReader::note(Side side, const How &how) {
  switch (how.way) {
    case Way::system:
      break;
    case Way::imported:
      ++counts_.imported;
      break;
    case Way::registered:
      ++counts_.registered;
      break;
    case Way::mapped:
      ++counts_.mapped;
      break;
    case Way::copied:
      ++counts_.copied;
      break;
  }
  auto &before = ways_[size_t(side)];
  std::pair<Way, std::string> now(how.way, how.memory);
  if (std::exchange(before, now) == now) return;
  static constexpr const char *kTexts[] = {
      "", ", and the GPU reads it where it is", ", and the GPU copies from it, as registered memory",
      ", and the processor reads it where it is", ", and a copy in host memory is made"};
  GST_INFO_OBJECT(element_, "%s: pictures come in %s%s%s%s", side == Side::ref ? "ref_sink" : "dist_sink",
                  how.memory, kTexts[size_t(how.way)],
                  how.why.empty() ? "" : "; not read by the GPU there: ", how.why.c_str());
}

}  // namespace vmafhip
