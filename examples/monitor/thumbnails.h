// Small copies of the last frames of a stream, so that those of a frame whose score turns out bad can still be shown.
// Taking one costs about 0.1 ms and keeps no buffer of the stream; pictures are made of it only when they are wanted.
#pragma once
#include <gst/video/video.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace monitor {

// I420 without padding; the chroma of GRAY is 128.
struct Thumbnail {
  static constexpr int kWidth = 240, kMaxHeight = 480;

  int width = 0, height = 0;
  std::vector<uint8_t> samples;
  GstVideoColorimetry colorimetry{};

  int chroma_width() const { return (width + 1) / 2; }
  int chroma_height() const { return (height + 1) / 2; }
  size_t plane_at(int n) const {
    return n == 0 ? 0 : size_t(width) * height + (n - 1) * size_t(chroma_width()) * chroma_height();
  }
};
using ThumbnailPtr = std::shared_ptr<const Thumbnail>;

// Null if the buffer cannot be read by the processor.
ThumbnailPtr make_thumbnail(const GstVideoInfo &info, GstBuffer *buffer);

// PNG files. The difference is that of luma, so many times as large, white where that is more than there is.
inline constexpr int kDifferenceGain = 16;
std::string png_of(const Thumbnail &picture);
std::string png_of_difference(const Thumbnail &a, const Thumbnail &b);

// The last ones of a stream by their time stamps. One thread adds, another looks up.
class Thumbnails {
 public:
  static constexpr size_t kMaxBytes = 8 << 20;  // 172 pictures of 16:9: 6.9 s of 25 frames a second

  void add(GstClockTime timestamp, ThumbnailPtr picture);
  ThumbnailPtr find(GstClockTime timestamp) const;  // the newest; null if there is none

 private:
  mutable std::mutex mutex_;
  std::deque<std::pair<GstClockTime, ThumbnailPtr>> pictures_;
  size_t bytes_ = 0;
};

}  // namespace monitor
