#include "examples/monitor/thumbnails.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>

namespace monitor {

namespace {

// One component at 8 bits, four samples to one: a quarter and three quarters of each small pixel's width and height.
void shrink(const GstVideoFrame &frame, int component, int width, int height, uint8_t *to) {
  const int source_width = GST_VIDEO_FRAME_COMP_WIDTH(&frame, component);
  const int source_height = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, component);
  auto *data = static_cast<const uint8_t *>(GST_VIDEO_FRAME_COMP_DATA(&frame, component));
  // The second chroma sample of P010 and its like lies two bytes behind the first, not one, as GStreamer 1.22 has it.
  if (GST_VIDEO_FRAME_COMP_DEPTH(&frame, component) > 8)
    data += GST_VIDEO_FRAME_COMP_POFFSET(&frame, component) % 2;
  const ptrdiff_t stride = GST_VIDEO_FRAME_COMP_STRIDE(&frame, component);
  const ptrdiff_t step = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, component);
  const int depth = GST_VIDEO_FRAME_COMP_DEPTH(&frame, component);
  const int shift = depth > 8 ? int(GST_VIDEO_FORMAT_INFO_SHIFT(frame.info.finfo, component)) + depth - 8 : 0;

  std::vector<ptrdiff_t> columns(size_t(2) * width);
  for (int x = 0; x < 2 * width; ++x) columns[x] = int64_t(2 * x + 1) * source_width / (4 * width) * step;
  for (int y = 0; y < height; ++y) {
    const uint8_t *rows[2];
    for (int half = 0; half < 2; ++half)
      rows[half] = data + int64_t(4 * y + 2 * half + 1) * source_height / (4 * height) * stride;
    for (int x = 0; x < width; ++x) {
      unsigned sum = 2;
      for (const uint8_t *row : rows)
        for (const ptrdiff_t at : {columns[2 * x], columns[2 * x + 1]})
          sum += depth > 8 ? uint8_t(GST_READ_UINT16_LE(row + at) >> shift) : row[at];
      *to++ = uint8_t(sum / 4);
    }
  }
}

uint8_t clamp(double value) { return uint8_t(std::clamp(std::lround(value), 0l, 255l)); }

void append_be32(std::string &to, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += char(value >> shift);
}

void append_chunk(std::string &png, const char *type, const std::string &data) {
  append_be32(png, uint32_t(data.size()));
  const std::string body = type + data;
  png += body;
  append_be32(png, uint32_t(crc32(0, reinterpret_cast<const Bytef *>(body.data()), uInt(body.size()))));
}

// Rows of `channels` bytes a pixel: 1 is grey, 3 is RGB.
std::string png_file(int width, int height, int channels, const std::vector<uint8_t> &pixels) {
  std::vector<uint8_t> rows;
  const size_t row = size_t(width) * channels;
  for (int y = 0; y < height; ++y) {
    const uint8_t *from = pixels.data() + y * row;
    rows.push_back(1);  // filter: what differs from the left neighbour
    for (size_t i = 0; i < row; ++i)
      rows.push_back(uint8_t(from[i] - (i < size_t(channels) ? 0 : from[i - channels])));
  }
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef *>(packed.data()), &size, rows.data(), rows.size(), 6);
  packed.resize(size);

  std::string png("\x89PNG\r\n\x1a\n", 8), header;
  append_be32(header, uint32_t(width));
  append_be32(header, uint32_t(height));
  header += {8, char(channels == 3 ? 2 : 0), 0, 0, 0};
  append_chunk(png, "IHDR", header);
  append_chunk(png, "IDAT", packed);
  append_chunk(png, "IEND", "");
  return png;
}

}  // namespace

ThumbnailPtr make_thumbnail(const GstVideoInfo &info, GstBuffer *buffer) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer,
                           GstMapFlags(int(GST_MAP_READ) | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)))
    return nullptr;
  auto picture = std::make_shared<Thumbnail>();
  const int width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  // As it is shown: pixels need not be square.
  const double shape = double(height) * std::max(GST_VIDEO_INFO_PAR_D(&info), 1) /
                       (double(width) * std::max(GST_VIDEO_INFO_PAR_N(&info), 1));
  picture->width = std::min(width, Thumbnail::kWidth);
  picture->height = std::clamp(int(std::lround(picture->width * shape)), 1, Thumbnail::kMaxHeight);
  picture->colorimetry = info.colorimetry;
  picture->samples.assign(picture->plane_at(3), 128);
  for (int n = 0; n < std::min(3, int(GST_VIDEO_FRAME_N_COMPONENTS(&frame))); ++n)
    shrink(frame, n, n == 0 ? picture->width : picture->chroma_width(),
           n == 0 ? picture->height : picture->chroma_height(),
           picture->samples.data() + picture->plane_at(n));
  gst_video_frame_unmap(&frame);
  return picture;
}

std::string png_of(const Thumbnail &picture) {
  // Where caps say nothing, GStreamer has filled in what the size suggests.
  double kr = 0.2126, kb = 0.0722;
  gst_video_color_matrix_get_Kr_Kb(picture.colorimetry.matrix, &kr, &kb);
  const bool full = picture.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  const double black = full ? 0 : 16, luma = full ? 1 : 255. / 219, chroma = full ? 1 : 255. / 224;
  std::vector<uint8_t> pixels;
  pixels.reserve(size_t(3) * picture.width * picture.height);
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      const size_t at = size_t(y / 2) * picture.chroma_width() + x / 2;
      const double grey = (picture.samples[size_t(y) * picture.width + x] - black) * luma;
      const double cb = (picture.samples[picture.plane_at(1) + at] - 128) * chroma;
      const double cr = (picture.samples[picture.plane_at(2) + at] - 128) * chroma;
      const double red = grey + 2 * (1 - kr) * cr, blue = grey + 2 * (1 - kb) * cb;
      pixels.push_back(clamp(red));
      pixels.push_back(clamp((grey - kr * red - kb * blue) / (1 - kr - kb)));
      pixels.push_back(clamp(blue));
    }
  return png_file(picture.width, picture.height, 3, pixels);
}

std::string png_of_difference(const Thumbnail &a, const Thumbnail &b) {
  // Of different shapes (a crop): what lies at the same part of the picture.
  std::vector<uint8_t> pixels;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) {
      const size_t other = size_t(y * b.height / a.height) * b.width + size_t(x * b.width / a.width);
      pixels.push_back(
          clamp(kDifferenceGain * std::abs(a.samples[size_t(y) * a.width + x] - b.samples[other])));
    }
  return png_file(a.width, a.height, 1, pixels);
}

void Thumbnails::add(GstClockTime timestamp, ThumbnailPtr picture) {
  if (!picture) return;
  std::lock_guard lock(mutex_);
  bytes_ += picture->samples.size();
  pictures_.emplace_back(timestamp, std::move(picture));
  while (bytes_ > kMaxBytes) {
    bytes_ -= pictures_.front().second->samples.size();
    pictures_.pop_front();
  }
}

ThumbnailPtr Thumbnails::find(GstClockTime timestamp) const {
  std::lock_guard lock(mutex_);
  const auto it = std::find_if(pictures_.rbegin(), pictures_.rend(),
                               [&](const auto &entry) { return entry.first == timestamp; });
  return it == pictures_.rend() ? nullptr : it->second;
}

}  // namespace monitor
