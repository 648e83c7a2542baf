// Texts that nobody means to write, for the options of every extractor, and pictures of odd formats: an error that says
// something, or a score for each frame. What else there could be, a sanitizer tells.
#include <cmath>
#include <cstdio>
#include <iterator>
#include <random>
#include <string>

#include "engine/registry.h"
#include "tests/metric_run.h"
#include "tests/session_run.h"

namespace vmafhip::test {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : state_(seed) {}
  size_t below(size_t n) { return size_t(state_() % n); }
  template <class List>
  const auto &of(const List &list) {
    return *(std::begin(list) + std::ptrdiff_t(below(std::size(list))));
  }

 private:
  std::mt19937 state_;
};

constexpr const char *kJunk[] = {
    "",     "nan",      "inf", "1e999", "-1",   "0x10", " 1", "1 ", "1e-320", "99999999999999999999",
    "-0",   "+1",       "1,5", "1e308", "TRUE", "1.",   ".5", "\\", "=",      "a=b",
    "%s%n", "\xff\xfe", "a\nb"};
constexpr double kKernelScales[] = {0.5, 1.5, 2, 2.4, 3};

// Within the option's range, its ends often; of texts one that means something.
std::string good_value(const OptionSpec &spec, Random &random) {
  const std::string name = spec.name;
  if (spec.type == OptionType::boolean) return random.below(2) ? "true" : "false";
  if (spec.type == OptionType::string) {
    if (name == "heatmaps_path") return "/proc/no/such/folder";
    if (name.find("eotf") != name.npos) return random.below(2) ? "pq" : "bt1886";
    return random.of(std::initializer_list<const char *>{"nearest", "bilinear", "bicubic", "lanczos4"});
  }
  const double share = double(std::min<size_t>(1000, random.below(3000))) / 1000;  // often 1
  double value = spec.min + (std::min(spec.max, 1e9) - spec.min) * (random.below(4) ? share : 0);
  if (name.find("kernelscale") != name.npos && random.below(4)) value = random.of(kKernelScales);
  if (spec.type == OptionType::integer) return std::to_string(int(value));
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string feature(Random &random, bool hostile) {
  const Extractor &extractor = *random.of(extractors());
  std::string text = extractor.name;
  for (size_t n = random.below(4), i = 0; i < n && !extractor.options.empty(); ++i) {
    const OptionSpec &spec = random.of(extractor.options);
    text += (i ? ":" : "=") + std::string(spec.name) + "=";
    text += hostile && random.below(3) == 0 ? random.of(kJunk) : good_value(spec, random);
  }
  return text;
}

void damage(std::string &text, Random &random) {
  constexpr std::string_view kBytes("=|:\\._-0123456789eE, ab\xc3\0\n", 27);
  const size_t at = random.below(text.size());
  switch (random.below(4)) {
    case 0:
      text[at] = random.of(kBytes);
      break;
    case 1:
      text.erase(at, 1 + random.below(5));
      break;
    case 2:
      text.insert(at, 1, random.of(kBytes));
      break;
    default:
      text.insert(at, text.substr(random.below(text.size()), random.below(20)));
  }
}

// A picture of noise in memory that ends where its samples end.
Picture noise_picture(const PictureFormat &format, uint32_t seed) {
  auto planes = std::make_shared<std::vector<StoredLuma>>();
  Picture picture;
  picture.format = format;
  planes->reserve(3);
  for (int p = 0; p < (format.chroma == Chroma::c400 ? 1 : 3); ++p) {
    const bool half_width = p > 0 && format.chroma != Chroma::c444,
               half_height = p > 0 && format.chroma == Chroma::c420;
    const int width = half_width ? (format.width + 1) / 2 : format.width,
              height = half_height ? (format.height + 1) / 2 : format.height;
    planes->emplace_back(noise(width, height, format.depth, seed + uint32_t(p)), Layout());
    const PlaneView &view = planes->back().view();
    picture.planes[size_t(p)] = {view.data, view.stride, width, height, 1};
  }
  picture.owner = planes;
  return picture;
}

// Whether there were scores; if not there was an error.
bool scored(const std::string &features, const PictureFormat &format, uint32_t seed) {
  SessionOptions options;
  options.models = "";
  options.features = features;
  options.threads = 1;
  const auto session = Session::create(options);
  Status status = session.status();
  if (status.ok()) status = (*session)->configure(format, format);
  if (!status.ok()) {
    EXPECT_GT(status.message().size(), 20u) << features;
    return false;
  }
  std::vector<Pair> clip;
  for (uint32_t n = 0; n < 2; ++n)
    clip.push_back({noise_picture(format, seed + 10 * n), noise_picture(format, seed + 10 * n + 5)});
  const auto scores = run_clip(**session, clip);
  EXPECT_EQ(scores.size(), clip.size()) << features;
  return true;
}

PictureFormat any_format(Random &random) {
  return {int(1 + random.below(100)), int(1 + random.below(100)),
          random.of(std::initializer_list<int>{8, 8, 9, 10, 12, 15, 16}),
          random.of(std::initializer_list<Chroma>{Chroma::c400, Chroma::c420, Chroma::c422, Chroma::c444})};
}

TEST(HostileOptions, AnErrorOrScores) {
  Random random(7);
  int good = 0;
  for (uint32_t n = 0; n < 3000; ++n) {
    std::string text = feature(random, true);
    for (size_t more = random.below(3); more > 0; --more) text += "|" + feature(random, true);
    for (size_t times = random.below(4); times > 0 && !text.empty(); --times) damage(text, random);
    good += scored(text, any_format(random), n);
  }
  EXPECT_GT(good, 50);
  EXPECT_LT(good, 1000);
}

TEST(HostileOptions, EveryOptionInItsRange) {
  Random random(8);
  int good = 0;
  for (uint32_t n = 0; n < 600; ++n) good += scored(feature(random, false), any_format(random), n);
  EXPECT_GT(good, 150);
}

}  // namespace
}  // namespace vmafhip::test
