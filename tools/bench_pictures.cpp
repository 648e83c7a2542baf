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
  clipgen::Format format{a.format.width, a.format.height, a.pictures ? a.pictures : kGenerated,
                         a.format.depth};
  format.set_chroma(a.format.chroma == Chroma::c400 ? "420" : chroma_text(a.format.chroma));
  std::vector<clipgen::Generator> generators;
  const auto known = clipgen::clips();
  for (const char *clip : kClips)
    if (std::any_of(known.begin(), known.end(), [&](const clipgen::Clip &c) { return c.name == clip; }))
      generators.emplace_back(clip, format);

  Pictures pictures;
  pictures.frames.resize(size_t(format.frames));
  const size_t each = 1 + size_t(a.session.distorted), all = pictures.frames.size() * each;
  for (Frame &frame : pictures.frames) frame.dist.resize(each - 1);
  pictures.bytes = all * format.frame_bytes();
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t job = next++; job < all; job = next++) {
      Frame &frame = pictures.frames[job / each];
      const int n = int(job / each);
      const size_t d = job % each;
      if (d == 0)
        frame.ref = to_picture(a.format, generators[0].frame(clipgen::Role::reference, n));
      else
        frame.dist[d - 1] =
            to_picture(a.format, generators[(d - 1) % generators.size()].frame(clipgen::Role::distorted, n));
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
    std::vector<Picture> dist = read(path, a.format, most);
    if (dist.size() != pictures.frames.size())
      throw std::runtime_error(a.ref + " and " + path + " have different numbers of frames");
    for (size_t n = 0; n < dist.size(); ++n) pictures.frames[n].dist.push_back(std::move(dist[n]));
  }
  pictures.bytes = pictures.frames.size() * (1 + a.dist.size()) * frame_bytes(a.format);
  return pictures;
}

}  // namespace

Pictures make_pictures(const Arguments &arguments) {
  return arguments.ref.empty() ? generate(arguments) : read(arguments);
}

}  // namespace vmafhip::bench
