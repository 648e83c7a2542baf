#include "tools/bench_pictures.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "engine/view.h"
#include "tests/clipgen/clipgen.h"

namespace vmafhip::bench {
namespace {

constexpr int kGenerated = 4, kMostRead = 64;

uint64_t plane_bytes(const PictureFormat &format, int plane) {
  const PlaneSize size = plane_size(format, plane);
  return uint64_t(size.width) * uint64_t(size.height) * (format.depth > 8 ? 2 : 1);
}

uint64_t frame_bytes(const PictureFormat &format) {
  return plane_bytes(format, 0) + plane_bytes(format, 1) + plane_bytes(format, 2);
}

// A picture that owns one frame as it stands in a raw planar file; bytes behind it do no harm.
Picture to_picture(const PictureFormat &format, std::vector<uint8_t> bytes) {
  const auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  Picture picture;
  picture.format = format;
  picture.owner = owner;
  const uint8_t *at = owner->data();
  for (int p = 0; p < (format.chroma == Chroma::c400 ? 1 : 3); ++p) {
    const PlaneSize size = plane_size(format, p);
    picture.planes[size_t(p)] = {at, ptrdiff_t(size.width) * (format.depth > 8 ? 2 : 1), size.width,
                                 size.height, 1};
    at += plane_bytes(format, p);
  }
  return picture;
}

// Natural texture, objects and grain that move, against a blurred and coarser version; further distorted pictures are
// distorted otherwise.
Pictures generate(const Arguments &a) {
  static constexpr const char *kClips[] = {"natural-blur", "natural-block", "natural-rescale",
                                           "natural-sharpen"};
  const int frames = a.pictures ? a.pictures : kGenerated;
  const auto clip_format = [&](const PictureFormat &f) {
    clipgen::Format format{f.width, f.height, frames, f.depth};
    format.set_chroma(f.chroma == Chroma::c400 ? "420" : chroma_text(f.chroma));
    return format;
  };
  const clipgen::Format format = clip_format(a.format), dist_format = clip_format(a.dist_format());
  const clipgen::Generator reference(kClips[0], format);
  std::vector<clipgen::Generator> generators;
  const auto known = clipgen::clips();
  for (const char *clip : kClips)
    if (std::any_of(known.begin(), known.end(), [&](const clipgen::Clip &c) { return c.name == clip; }))
      generators.emplace_back(clip, dist_format);

  Pictures pictures;
  pictures.frames.resize(size_t(frames));
  const size_t each = 1 + size_t(a.session.distorted), all = pictures.frames.size() * each;
  for (Frame &frame : pictures.frames) frame.dist.resize(each - 1);
  pictures.bytes = pictures.frames.size() * (format.frame_bytes() + (each - 1) * dist_format.frame_bytes());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t job = next++; job < all; job = next++) {
      Frame &frame = pictures.frames[job / each];
      const int n = int(job / each);
      const size_t d = job % each;
      if (d == 0)
        frame.ref = to_picture(a.format, reference.frame(clipgen::Role::reference, n));
      else
        frame.dist[d - 1] = to_picture(
            a.dist_format(), generators[(d - 1) % generators.size()].frame(clipgen::Role::distorted, n));
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) helpers.emplace_back(work);
  work();
  for (std::thread &t : helpers) t.join();
  return pictures;
}

std::vector<Picture> read(const std::string &path, const PictureFormat &format, int most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<Picture> pictures;
  while (int(pictures.size()) < most) {
    std::vector<uint8_t> bytes(frame_bytes(format));
    file.read(reinterpret_cast<char *>(bytes.data()), std::streamsize(bytes.size()));
    if (file.gcount() == 0) break;
    if (size_t(file.gcount()) != bytes.size())
      throw std::runtime_error(path + " ends within a frame: it is not of this size, depth and chroma");
    pictures.push_back(to_picture(format, std::move(bytes)));
  }
  if (pictures.empty()) throw std::runtime_error(path + " is empty");
  return pictures;
}

Pictures read(const Arguments &a) {
  const int most = a.pictures ? a.pictures : kMostRead;
  Pictures pictures;
  for (Picture &ref : read(a.ref, a.format, most)) pictures.frames.push_back({std::move(ref), {}});
  for (const std::string &path : a.dist) {
    std::vector<Picture> dist = read(path, a.dist_format(), most);
    if (dist.size() != pictures.frames.size())
      throw std::runtime_error(a.ref + " and " + path + " have different numbers of frames");
    for (size_t n = 0; n < dist.size(); ++n) pictures.frames[n].dist.push_back(std::move(dist[n]));
  }
  pictures.bytes =
      pictures.frames.size() * (frame_bytes(a.format) + a.dist.size() * frame_bytes(a.dist_format()));
  return pictures;
}

}  // namespace

Pictures make_pictures(const Arguments &arguments) {
  return arguments.ref.empty() ? generate(arguments) : read(arguments);
}

Pictures place(const Pictures &pictures, const GpuPictures &gpu, MemoryKind memory) {
  // Decoders put rows in device memory at multiples of 256 bytes, those in host memory one behind the other.
  const size_t alignment = memory == MemoryKind::device ? 256 : 4;
  Pictures placed;
  placed.bytes = pictures.bytes;
  for (const Frame &frame : pictures.frames) {
    placed.frames.push_back({gpu.copy(frame.ref, memory, alignment), {}});
    for (const Picture &dist : frame.dist)
      placed.frames.back().dist.push_back(gpu.copy(dist, memory, alignment));
  }
  return placed;
}

}  // namespace vmafhip::bench
