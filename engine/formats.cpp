#include "engine/formats.h"

namespace vmafhip {
namespace {

constexpr int kMostSamples = 32768;  // a picture's width or height

const char *chroma_name(Chroma chroma) {
  switch (chroma) {
    case Chroma::c400:
      return "no chroma";
    case Chroma::c420:
      return "4:2:0 chroma";
    case Chroma::c422:
      return "4:2:2 chroma";
    case Chroma::c444:
      return "4:4:4 chroma";
  }
  return "";
}

}  // namespace

std::string describe(const PictureFormat &f) {
  return std::to_string(f.width) + "x" + std::to_string(f.height) + " at " + std::to_string(f.depth) +
         " bits";
}

bool same_size(const PictureFormat &a, const PictureFormat &b) {
  return a.width == b.width && a.height == b.height;
}

Status check_formats(const PictureFormat &ref, std::span<const PictureFormat> dist, bool chroma,
                     ScaleMethod method) {
  for (const PictureFormat &d : dist) {
    for (const PictureFormat *f : {&ref, &d})
      if (f->width < 1 || f->height < 1 || f->width > kMostSamples || f->height > kMostSamples ||
          f->depth < 8 || f->depth > 16)
        return Status(Code::unsupported,
                      "pictures of " + describe(*f) + " cannot be compared, only of 1 to " +
                          std::to_string(kMostSamples) + " samples in each direction at 8 to 16 bits");
    if (!same_size(ref, d) && method == ScaleMethod::none)
      return Status(Code::unsupported,
                    "the reference is " + describe(ref) + ", the distorted picture " + describe(d) +
                        ", and scale-method=none: set scale-method to bicubic, bilinear or lanczos, or bring "
                        "them to one size first (videoscale)");
    if (d.width > int64_t{kMostScaledDown} * ref.width || d.height > int64_t{kMostScaledDown} * ref.height)
      return Status(Code::unsupported, "the distorted picture is " + describe(d) + ", the reference " +
                                           describe(ref) + ": only up to " + std::to_string(kMostScaledDown) +
                                           " times its width and height can be scaled down");
    if (chroma && ref.chroma != d.chroma)
      return Status(Code::unsupported, std::string("the reference has ") + chroma_name(ref.chroma) +
                                           ", the distorted picture " + chroma_name(d.chroma) +
                                           ": bring them to one format first (videoconvert)");
  }
  return Status();
}

bool on_device(const PictureFormat &format) { return format.memory == MemoryKind::device; }

Status check_on_device(const PictureFormat &compared, const PictureFormat &format) {
  if (same_size(compared, format) && compared.depth == format.depth) return Status();
  return Status(Code::unsupported,
                "a picture in GPU memory is " + describe(format) + ", compared is at " + describe(compared) +
                    ": it can be neither scaled nor brought to another depth there; copy it "
                    "to system memory first");
}

}  // namespace vmafhip
