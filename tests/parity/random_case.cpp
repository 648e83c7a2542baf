// Random pictures and options, of all sizes, depths, kinds of chroma and places in memory that the engine takes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "engine/arith/cambi.h"
#include "tests/clip_picture.h"
#include "tests/parity/cases.h"
#include "tests/scratch_folder.h"

namespace vmafhip::parity {
namespace {

class Random {
 public:
  Random(uint32_t seed, int number) : bits_(seed * 2654435761u + uint32_t(number) * 40503u + 1) {}
  int below(int n) { return int(bits_() % uint32_t(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  double real(double from, double to) { return from + (to - from) * below(1 << 20) / (1 << 20); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(int(values.size()))];
  }
  uint32_t word() { return uint32_t(bits_()); }

 private:
  std::mt19937 bits_;
};

// ---- Options

std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string value_of(Random &random, const OptionSpec &option) {
  if (option.type == OptionType::boolean) return random.chance(50) ? "true" : "false";
  if (option.type == OptionType::string) return option.initial;
  const double max = std::min(option.max, 1e6);
  double value = random.real(option.min, max);
  switch (random.below(6)) {
    case 0:
      return number_text(option.min);
    case 1:
      return number_text(max);
    case 2:
      return option.initial;
    case 3:  // small values are the usual ones
      value = random.real(option.min, std::min(max, option.min + 5));
      break;
    default:
      break;
  }
  return number_text(option.type == OptionType::integer ? std::floor(value) : value);
}

std::string feature(Random &random, const Extractor &extractor) {
  const int share = random.one_of({0, 20, 50});
  std::string text;
  for (const OptionSpec &option : extractor.options) {
    const bool debug = std::string_view(option.name) == "debug";
    if (!random.chance(debug ? 80 : share)) continue;
    const std::string value = debug ? "true" : value_of(random, option);
    text += (text.empty() ? "=" : ":") + std::string(option.name) + "=" + value;
  }
  return extractor.name + text;
}

void choose_features(Random &random, const Extractors &only, SessionOptions &options) {
  const Extractors all = only.empty() ? all_extractors() : only;
  options.features = options.models = "";
  for (int n = random.between(1, 4); n > 0; --n) {
    if (!options.features.empty()) options.features += '|';
    options.features += feature(random, *all[size_t(random.below(int(all.size())))]);
  }
  if (!only.empty()) return;
  if (random.chance(20)) options.features += std::string("|") + kOfTheCpu;
  options.models =
      random.chance(30) ? random.one_of({"vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1"}) : "";
}

// ---- Pictures

PictureFormat choose_format(Random &random, int64_t most_samples) {
  PictureFormat format;
  const int kind = random.below(10);
  const int most = kind < 4 ? 70 : kind < 8 ? 330 : kind < 9 ? 1100 : 2000;
  do {
    format.width = random.between(kind == 0 ? 1 : 16, most);
    format.height = random.between(kind == 0 ? 1 : 16, most);
  } while (int64_t(format.width) * format.height > most_samples);
  format.depth = random.chance(50) ? 8 : random.one_of({10, 12, 16});
  format.chroma = random.one_of({Chroma::c400, Chroma::c420, Chroma::c420, Chroma::c422, Chroma::c444});
  return format;
}

// As large as cambi takes them at least, on one side.
void make_long(Random &random, int64_t most_samples, PictureFormat &format) {
  if (std::max(format.width, format.height) >= kCambiMinSize) return;
  int &longer = random.chance(50) ? format.width : format.height,
      &other = &longer == &format.width ? format.height : format.width;
  longer = random.between(kCambiMinSize, kCambiMinSize + 30);
  other = int(std::clamp<int64_t>(most_samples / longer, 1, other));
}

enum class Content { natural, noise, flat, saturated, ramp };

// Samples of the planes of one frame, without padding.
using Planes = std::array<std::vector<uint16_t>, 3>;

Planes make_planes(Random &random, const PictureFormat &format, Content content,
                   const clipgen::Generator &natural, clipgen::Role role, int frame) {
  Planes planes;
  const int top = (1 << format.depth) - 1, level = random.below(top + 1);
  const int cell_x = random.between(1, 9), cell_y = random.between(1, 9);
  for (int p = 0; p < (format.chroma == Chroma::c400 ? 1 : 3); ++p) {
    if (content == Content::natural) {
      planes[size_t(p)] = natural.plane(role, frame, p);
      continue;
    }
    const int x_shift = p > 0 ? chroma_shift_x(format.chroma) : 0,
              y_shift = p > 0 ? chroma_shift_y(format.chroma) : 0;
    const int width = (format.width + x_shift) >> x_shift, height = (format.height + y_shift) >> y_shift;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int ramp = int(int64_t(top) * (x + y) / (width + height));
        const int sample = content == Content::noise       ? random.below(top + 1)
                           : content == Content::flat      ? level
                           : content == Content::saturated ? (x / cell_x + y / cell_y + frame) % 2 * top
                                                           : std::clamp(ramp + random.below(9) - 4, 0, top);
        planes[size_t(p)].push_back(uint16_t(sample));
      }
  }
  return planes;
}

// Changes some of a picture's samples a little, so that the others are equal.
void distort(Random &random, const PictureFormat &format, Planes &planes) {
  const int top = (1 << format.depth) - 1, strength = random.between(1, 1 + top / 8),
            share = random.one_of({1, 20, 100});
  for (auto &plane : planes)
    for (uint16_t &sample : plane)
      if (random.chance(share))
        sample = uint16_t(std::clamp(int(sample) + random.between(-strength, strength), 0, top));
}

// How pictures of a case lie in memory.
struct Layout {
  int padding = 0;  // samples between rows
  bool upside_down = false, interleaved = false;
  int shift = 0;
};

Picture to_picture(const PictureFormat &format, const Layout &layout, const Planes &planes) {
  Picture picture;
  picture.format = format;
  picture.shift = layout.shift;
  const size_t sample = format.depth > 8 ? 2 : 1;
  const auto memory = std::make_shared<std::vector<uint8_t>>();
  struct Place {
    size_t at;
    ptrdiff_t stride;
  } places[3];
  const auto size = [&](int p) {
    const int x_shift = p > 0 ? chroma_shift_x(format.chroma) : 0,
              y_shift = p > 0 ? chroma_shift_y(format.chroma) : 0;
    return std::pair((format.width + x_shift) >> x_shift, (format.height + y_shift) >> y_shift);
  };
  const int count = format.chroma == Chroma::c400 ? 1 : 3;
  for (int p = 0; p < count; ++p) {
    const auto [width, height] = size(p);
    const int step = p > 0 && layout.interleaved ? 2 : 1;
    if (p == 2 && layout.interleaved) {
      places[2] = {places[1].at + sample, places[1].stride};
    } else {
      const size_t row = (size_t(width) * size_t(step) + size_t(layout.padding)) * sample;
      places[p] = {memory->size() + (layout.upside_down ? row * size_t(height - 1) : 0),
                   layout.upside_down ? -ptrdiff_t(row) : ptrdiff_t(row)};
      memory->resize(memory->size() + row * size_t(height), 0xA5);
    }
  }
  for (int p = 0; p < count; ++p) {
    const auto [width, height] = size(p);
    const int step = p > 0 && layout.interleaved ? 2 : 1;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const uint32_t value = uint32_t(planes[size_t(p)][size_t(y) * size_t(width) + size_t(x)])
                               << layout.shift;
        uint8_t *at = memory->data() + ptrdiff_t(places[p].at) + places[p].stride * y +
                      ptrdiff_t(size_t(x) * size_t(step) * sample);
        at[0] = uint8_t(value);
        if (sample == 2) at[1] = uint8_t(value >> 8);
      }
    picture.planes[size_t(p)] = {memory->data() + places[p].at, places[p].stride, width, height, step};
  }
  picture.owner = memory;
  return picture;
}

const char *chroma_text(Chroma chroma) {
  switch (chroma) {
    case Chroma::c400:
      return "400";
    case Chroma::c420:
      return "420";
    case Chroma::c422:
      return "422";
    case Chroma::c444:
      return "444";
  }
  return "";
}

// Whether the engine takes them; on the CPU, which takes all that any back end does.
bool accepted(SessionOptions options, const PictureFormat &ref, const std::vector<PictureFormat> &dist) {
  options.backend = Backend::cpu;
  options.threads = 1;
  const test::ScratchFolder folder;
  auto session = Session::create(with_folder(options, folder.path()));
  return session.ok() && (*session)->configure(ref, dist).ok();
}

std::string describe(const PictureFormat &format) {
  return std::to_string(format.width) + "x" + std::to_string(format.height) + ", " +
         std::to_string(format.depth) + " bits, " + chroma_text(format.chroma);
}

}  // namespace

Case random_case(uint32_t seed, int number, int frames, int64_t most_samples, const Extractors &only) {
  Random random(seed, number);
  Case c;
  c.name = "random-" + std::to_string(number);
  PictureFormat ref;
  std::vector<PictureFormat> dist;
  int tries = 0;
  do {
    if (++tries > 1000) throw std::runtime_error(c.name + ": a thousand formats and options were refused");
    choose_features(random, only, c.options);
    c.options.distorted = random.chance(70) ? 1 : random.between(2, 4);
    c.options.subsample = random.chance(80) ? 1 : random.between(2, 4);
    c.options.threads = random.between(1, 4);
    c.options.batch = random.chance(50) ? 0 : random.between(1, 9);
    ref = choose_format(random, most_samples);
    if (c.options.features.ends_with(kOfTheCpu)) make_long(random, most_samples, ref);
    dist.assign(size_t(c.options.distorted), ref);
    c.memory = random.one_of({MemoryKind::host, MemoryKind::host, MemoryKind::pinned, MemoryKind::device});
    if (c.memory == MemoryKind::host)
      for (PictureFormat &d : dist) {
        if (random.chance(15)) d.width = random.between(8, 400), d.height = random.between(8, 400);
        if (random.chance(15)) d.depth = random.one_of({8, 10, 12, 16});
      }
  } while (!accepted(c.options, ref, dist));
  c.alignment = random.one_of({2, 64, 256});
  const bool large = int64_t(ref.width) * ref.height > 500'000;
  const int drawn = random.between(1, large ? 4 : 12);
  if (frames == 0) frames = drawn;

  Layout layout;
  layout.padding = random.chance(50) ? 0 : random.between(1, 40);
  if (c.memory == MemoryKind::host) {
    layout.upside_down = random.chance(15);
    layout.interleaved = random.chance(20);
  }
  const Content content = random.one_of(
      {Content::natural, Content::natural, Content::noise, Content::flat, Content::saturated, Content::ramp});
  const auto clips = clipgen::clips();
  const std::string clip = clips[size_t(random.below(int(clips.size())))].name;
  const uint32_t scene = random.word();
  const auto planes = [&](const PictureFormat &format, clipgen::Role role, int n) {
    clipgen::Format clip_format{format.width, format.height, frames, format.depth};
    clip_format.set_chroma(format.chroma == Chroma::c400 ? "420" : chroma_text(format.chroma));
    const clipgen::Generator natural(clip, clip_format, scene);
    return make_planes(random, format, content, natural, role, n);
  };
  const bool shifted = c.memory == MemoryKind::host && random.chance(20);
  const auto place = [&](const PictureFormat &format, const Planes &samples) {
    Layout own = layout;
    own.shift = shifted && format.depth > 8 ? 16 - format.depth : 0;
    return to_picture(format, own, samples);
  };
  for (int n = 0; n < frames; ++n) {
    const Planes samples = planes(ref, clipgen::Role::reference, n);
    c.ref.push_back(place(ref, samples));
    c.dist.emplace_back();
    for (const PictureFormat &format : dist) {
      Planes other;
      const int kind = random.below(4);
      if (kind < 3 && format == ref) {
        other = samples;  // equal, or nearly
        if (kind > 0) distort(random, format, other);
      } else {
        other = planes(format, clipgen::Role::distorted, n);
      }
      c.dist.back().push_back(place(format, other));
    }
  }
  if (c.memory == MemoryKind::host) {
    c.mirrored = random.one_of({0, 1, 2});
    c.offset = size_t(random.below(9));
  }

  static constexpr const char *kContents[] = {"natural", "noise", "flat", "saturated", "ramp"};
  static constexpr const char *kMemories[] = {"host", "pinned", "device"};
  c.text = describe(ref) + ", " + std::to_string(frames) + " frames of " + kContents[int(content)];
  if (content == Content::natural) c.text += " (" + clip + ")";
  for (const PictureFormat &d : dist) c.text += d == ref ? "" : ", against " + describe(d);
  c.text += std::string(", ") + kMemories[int(c.memory)] + " memory" +
            (c.mirrored ? ", the GPU reads every " + std::to_string(c.mirrored) + ". in place at " +
                              std::to_string(c.offset) + " bytes"
                        : "") +
            ", distorted " + std::to_string(c.options.distorted) + ", subsample " +
            std::to_string(c.options.subsample) + ", batch " + std::to_string(c.options.batch) +
            ", features " + c.options.features + ", model \"" + c.options.models + "\"";
  return c;
}

}  // namespace vmafhip::parity
