// Random options of all extractors, sensible and senseless, on small random pictures: each is an error that names what
// is wrong, or scores. Texts that are damaged as well are an error or scores. Every case follows from its number alone; what
// else there could be, a sanitizer tells.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/registry.h"
#include "engine/session.h"
#include "tests/scratch_folder.h"

namespace vmafhip {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kCases = 400;
#else
constexpr int kCases = 3000;
#endif

class Random {
 public:
  explicit Random(uint32_t seed) : bits_(seed) {}
  int below(int n) { return static_cast<int>(bits_() % static_cast<uint32_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  double real(double from, double to) { return from + (to - from) * below(1 << 20) / (1 << 20); }
  std::string one_of(const std::vector<std::string> &texts) {
    return texts[static_cast<size_t>(below(static_cast<int>(texts.size())))];
  }

 private:
  std::mt19937 bits_;
};

// ---- Texts

std::string text_of(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string escaped(const std::string &text) {
  std::string out;
  for (const char c : text) (out += '\\') += c;
  return out;
}

std::string garbage(Random &random) {
  static const std::vector<std::string> kTexts = {"",
                                                  " ",
                                                  "nan",
                                                  "-nan",
                                                  "inf",
                                                  "-inf",
                                                  "1e999",
                                                  "-1e999",
                                                  "1e-320",
                                                  "1e308",
                                                  "-0",
                                                  "-1",
                                                  ".5",
                                                  "1.",
                                                  "0x10",
                                                  "1,5",
                                                  "1 ",
                                                  " 1",
                                                  "--1",
                                                  "+",
                                                  "1e",
                                                  "tru",
                                                  "TRUE",
                                                  "%s%n",
                                                  "\xff\xfe",
                                                  "\\\\",
                                                  "a\\:b",
                                                  ":",
                                                  "=",
                                                  "|",
                                                  "::::",
                                                  "99999999999999999999",
                                                  "-2147483649",
                                                  "\t",
                                                  "a\nb",
                                                  "\\",
                                                  "nearest;",
                                                  "true=true",
                                                  "\xc3\xa9"};
  return random.chance(5) ? std::string(5000, '9') : random.one_of(kTexts);
}

class Case {
 public:
  // Files of heat maps go into `folder` and nowhere else.
  Case(int number, const std::string &folder) : random(static_cast<uint32_t>(number)), folder_(folder) {
    for (int n = 1 + random.below(3); n > 0; --n) add_feature();
    if (random.chance(12)) add_model();
  }

  std::string features, models;
  std::vector<std::string> named;  // an error names one of these at least
  Random random;

  // Nobody can say what an error is about then.
  void damage() {
    constexpr std::string_view kBytes("=|:\\._-0123456789eE, ab\xc3\0\n", 27);
    named = {""};
    for (int times = random.below(3); times > 0 && !features.empty(); --times) {
      const size_t at = static_cast<size_t>(random.below(static_cast<int>(features.size())));
      const char byte = kBytes[static_cast<size_t>(random.below(static_cast<int>(kBytes.size())))];
      switch (random.below(4)) {
        case 0:
          features[at] = byte;
          break;
        case 1:
          features.erase(at, static_cast<size_t>(1 + random.below(5)));
          break;
        case 2:
          features.insert(at, 1, byte);
          break;
        default:
          features.insert(at, features.substr(features.size() / 2, static_cast<size_t>(random.below(20))));
      }
    }
  }

 private:
  std::string number(const OptionSpec &option) {
    if (std::string_view(option.name).ends_with("kernelscale") && random.chance(80))
      return random.one_of({"0.5", "1", "1.5", "2", "2.4", "3"});
    // Sources and encodings of full size are as large as they say.
    const bool size =
        std::string_view(option.name).ends_with("width") || std::string_view(option.name).ends_with("height");
    const double max = std::min(size && random.chance(95) ? option.min + 150 : option.max, 1e30);
    const bool whole = option.type == OptionType::integer;
    switch (random.below(12)) {
      case 0:
        return text_of(option.min);
      case 1:
        return text_of(max);
      case 2:
        return random.chance(30) ? text_of(option.min - (whole ? 1 : 1e-3)) : option.initial;
      case 3:
        return random.chance(30) ? text_of(option.max * 1.001 + 1) : option.initial;
      case 4:
        return option.initial;
      default:
        break;
    }
    const double value = random.real(option.min, max);
    return text_of(whole ? std::floor(value) : value);
  }

  std::string value(const OptionSpec &option) {
    if (std::string_view(option.name) == "heatmaps_path")
      return folder_ + random.one_of({"", "/a", "/a/b", "/file/below", "/file"});
    if (random.chance(4)) return garbage(random);
    switch (option.type) {
      case OptionType::boolean:
        return random.one_of({"true", "false"});
      case OptionType::string:
        return random.one_of({option.initial, "nearest", "bilinear", "bicubic", "lanczos4", "bt1886", "pq"});
      case OptionType::integer:
      case OptionType::real:
        break;
    }
    return number(option);
  }

  void add_feature() {
    if (!features.empty()) features += '|';
    const auto all = extractors();
    const Extractor &extractor = *all[static_cast<size_t>(random.below(static_cast<int>(all.size())))];
    const std::string name = random.chance(2) ? garbage(random) : extractor.name;
    const std::string written = random.chance(5) ? escaped(name) : name;
    features += written;
    named.insert(named.end(), {name, written});
    std::string options;
    const auto add = [&](const std::string &key, const std::string &text) {
      if (!options.empty()) options += ':';
      options += (random.chance(5) ? escaped(key) : key) + "=" + (random.chance(5) ? escaped(text) : text);
      named.push_back(key);
    };
    const int share = random.one_of({"a", "b", "c"})[0] == 'a' ? 60 : 15;
    for (const OptionSpec &option : extractor.options) {
      if (!random.chance(share)) continue;
      add(option.name, value(option));
      if (random.chance(1)) add(option.name, value(option));
    }
    if (random.chance(2)) add(garbage(random), garbage(random));
    if (!options.empty() || random.chance(3)) features += "=" + options;
  }

  void add_model() {
    const Extractor &adm = *find_extractor("adm");
    const OptionSpec &option =
        adm.options[static_cast<size_t>(random.below(static_cast<int>(adm.options.size())))];
    models = random.one_of({"vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_v1.0.16_3d0h", "version=vmaf_4k_v0.6.1"});
    if (random.chance(20)) models += ":name=" + garbage(random);
    if (random.chance(50)) models += std::string(":adm.") + option.name + "=" + value(option);
    if (random.chance(20)) models += ":" + garbage(random);
    named.insert(named.end(), {"model", "vmaf", option.name});
  }

  const std::string folder_;
};

// ---- Pictures

PictureFormat random_format(Random &random) {
  PictureFormat format;
  const bool tiny = random.chance(30);
  format.width = tiny ? 1 + random.below(48) : 150 + random.below(100);
  format.height = tiny ? 1 + random.below(48) : 150 + random.below(100);
  if (random.chance(10)) std::swap(format.width, format.height = 1 + random.below(300));
  format.depth = random.chance(50) ? 8 : 8 + random.below(9);
  format.chroma = static_cast<Chroma>(random.below(4));
  format.transfer = random.chance(20) ? Transfer::pq : Transfer::sdr;
  return format;
}

Picture random_picture(Random &random, const PictureFormat &format) {
  struct Memory {
    std::vector<uint16_t> words[3];
    std::vector<uint8_t> bytes[3];
  };
  auto memory = std::make_shared<Memory>();
  Picture picture;
  picture.format = format;
  const int top = (1 << format.depth) - 1, kind = random.below(5), level = random.below(top + 1);
  for (int p = 0; p < (format.chroma == Chroma::c400 ? 1 : 3); ++p) {
    Plane &plane = picture.planes[p];
    const int x_shift = p > 0 ? chroma_shift_x(format.chroma) : 0,
              y_shift = p > 0 ? chroma_shift_y(format.chroma) : 0;
    plane.width = (format.width + x_shift) >> x_shift;
    plane.height = (format.height + y_shift) >> y_shift;
    auto &words = memory->words[p];
    words.reserve(static_cast<size_t>(plane.width) *
                  static_cast<size_t>(plane.height));  // and nothing behind
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x) {
        const int ramp = top * (x + y) / (plane.width + plane.height);
        const int sample = kind == 0   ? random.below(top + 1)
                           : kind == 1 ? level
                           : kind == 2 ? (x / 3 + y / 2) % 2 * top
                           : kind == 3 ? ramp
                                       : std::clamp(ramp + random.below(9) - 4, 0, top);
        words.push_back(static_cast<uint16_t>(sample));
      }
    if (format.depth == 8) memory->bytes[p].assign(words.begin(), words.end());
    plane.data = format.depth == 8 ? static_cast<const void *>(memory->bytes[p].data()) : words.data();
    plane.stride = plane.width * (format.depth == 8 ? 1 : 2);
  }
  picture.owner = memory;
  return picture;
}

// ---- A case

// The README's list of values that are not finite, since their definition gives none that is.
bool may_be_infinite(const std::string &name) {
  return name.starts_with("float_ssim") || name.starts_with("float_ms_ssim") ||
         name.starts_with("ciede2000") || name.starts_with("psnr_hvs") ||
         name.find("_apn_") != std::string::npos;
}

bool may_be_nan(const std::string &name) {
  return name.starts_with("float_ms_ssim") || name.starts_with("speed_chroma") ||
         name.starts_with("speed_temporal") || name.find("_apn_") != std::string::npos ||
         (name + "_").find("_nw_0_") != std::string::npos;
}

void expect_scores(const Session &session, const std::vector<double> &values) {
  const auto &names = session.feature_names();
  ASSERT_EQ(values.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (!session.has_feature(i)) {
      EXPECT_TRUE(std::isnan(values[i])) << names[i];
    } else if (std::isnan(values[i])) {
      EXPECT_TRUE(may_be_nan(names[i])) << names[i];
    } else if (std::isinf(values[i])) {
      EXPECT_TRUE(may_be_infinite(names[i])) << names[i];
    }
  }
}

enum class Outcome { refused, format_refused, scored };

void expect_named(const Status &status, const std::vector<std::string> &named) {
  const std::string &message = status.message();
  const bool names = std::any_of(named.begin(), named.end(), [&](const std::string &word) {
    return message.find(word) != std::string::npos;
  });
  EXPECT_TRUE(names && message.size() > 20) << message;
  EXPECT_NE(status.code(), Code::ok);
}

Outcome run(Case &c) {
  SessionOptions options;
  options.models = c.models;
  options.features = c.features;
  options.threads = 1 + c.random.below(2);
  auto created = Session::create(options);
  if (!created.ok()) {
    c.named.push_back("no feature extractor \"");
    expect_named(created.status(), c.named);
    return Outcome::refused;
  }
  Session &session = **created;
  const PictureFormat format = random_format(c.random);
  SCOPED_TRACE(std::to_string(format.width) + "x" + std::to_string(format.height) + ", " +
               std::to_string(format.depth) + " bits, chroma " +
               std::to_string(static_cast<int>(format.chroma)));
  if (const Status status = session.configure(format, format); !status.ok()) {
    std::vector<std::string> names = c.named;
    names.push_back("heat maps to \"");
    if (!c.models.empty()) names.insert(names.end(), {"adm", "vif", "motion", "cambi", "speed"});
    expect_named(status, names);
    return Outcome::format_refused;
  }
  FrameScores scores;
  size_t frames = 0;
  const auto take = [&] {
    while (session.wait(scores) == Session::Next::ready) {
      ++frames;
      expect_scores(session, scores.dist[0].features);
      for (const double score : scores.dist[0].models) EXPECT_TRUE(std::isfinite(score));
    }
  };
  for (int n = 0; n < 2; ++n) {
    const Picture ref = random_picture(c.random, format);
    const Picture dist = c.random.chance(20) ? ref : random_picture(c.random, format);
    while (!session.submit(ref, dist)) take();
  }
  session.finish();
  take();
  EXPECT_EQ(frames, 2u);
  return Outcome::scored;
}

void run_cases(bool damaged, double least_share) {
  const char *wanted = std::getenv("VMAFHIP_TEST_CASES");
  const int cases = wanted ? std::atoi(wanted) : kCases, first = damaged ? cases : 0;
  const test::ScratchFolder folder;
  std::ofstream(folder.path("file")) << "not a folder";
  int counts[3] = {};
  for (int n = first; n < first + cases; ++n) {
    Case c(n, folder.path());
    if (damaged) c.damage();
    SCOPED_TRACE("case " + std::to_string(n) + "\nfeatures=" + c.features + "\nmodel=" + c.models);
    ++counts[static_cast<int>(run(c))];
  }
  // Otherwise it would show little.
  for (const int count : counts) EXPECT_GT(count, least_share * cases);
}

TEST(OptionsFuzz, AnErrorThatNamesSomethingOrScores) { run_cases(false, 0.1); }

TEST(OptionsFuzz, DamagedIsAnErrorOrScores) { run_cases(true, 0.02); }

}  // namespace
}  // namespace vmafhip
