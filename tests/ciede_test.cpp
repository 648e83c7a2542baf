// CIEDE2000: libvmaf's figures, an evaluation by the book with the C library's functions, where chroma is taken from,
// and what is refused.
#include "engine/arith/ciede.h"

#include <cmath>

#include "tests/colour_run.h"

namespace vmafhip {
namespace {

using namespace test;

double score(const Colours &ref, const Colours &dist, const OptionTexts &texts = {},
             const Layout &layout = {}) {
  return score_colours(extractor("ciede"), texts, ref, dist, layout);
}

const OptionTexts kPlain422 = {{"plain_422", "true"}};
constexpr Chroma kChromas[] = {Chroma::c420, Chroma::c422, Chroma::c444};

TEST(Ciede, EqualsLibvmaf) {
  const double at8[] = {46.6466952165, 46.6392390195, 46.6483383178};
  const double at10[] = {46.191628706, 46.2120672511, 46.250073887};
  for (int n = 0; n < 3; ++n) {
    const CheckPair pair8 = check_pair(8, n), pair10 = check_pair(10, n);
    EXPECT_NEAR(score(pair8.ref, pair8.dist), at8[n], 2e-7) << n;
    EXPECT_NEAR(score(pair10.ref, pair10.dist), at10[n], 2e-7) << n;
  }
}

// ---- Evaluation by the book: formulas in double with the C library's functions, angles in degrees; what libvmaf keeps
// in a float is a float here.

struct Lab {
  float l, a, b;
};

Lab book_lab(int y_sample, int u_sample, int v_sample, int depth) {
  const double unit = 1 << (depth - 8);
  const double y = (y_sample / unit - 16) / 219, u = (u_sample / unit - 128) / 224,
               v = (v_sample / unit - 128) / 224;
  const auto linear = [](double c) {
    return c > 10 / 255.0 ? std::pow((c + 0.055) / 1.055, 2.4) : c / 12.92;
  };
  const double r = linear(y + 1.28033 * v), g = linear(y - 0.21482 * u - 0.38059 * v),
               b = linear(y + 2.12798 * u);
  const auto response = [](double t) {
    return static_cast<float>(t > 216 / 24389.0 ? std::cbrt(t) : (24389 / 27.0 * t + 16) / 116);
  };
  const double x =
      response((0.4124564390896921 * r + 0.357576077643909 * g + 0.18043748326639894 * b) / 0.95047);
  const double l = response(0.21267285140562248 * r + 0.715152155287818 * g + 0.07217499330655958 * b);
  const double z =
      response((0.019333895582329317 * r + 0.119192025881303 * g + 0.9503040785363677 * b) / 1.08883);
  return {static_cast<float>(116 * l - 16), static_cast<float>(500 * (x - l)),
          static_cast<float>(200 * (l - z))};
}

double book_difference(const Lab &p, const Lab &q) {
  const double degree = std::acos(-1.0) / 180;
  const auto length = [](double a, double b) { return static_cast<float>(std::sqrt(a * a + b * b)); };
  const auto power7 = [](double v) { return std::pow(v, 7.0); };
  const float mean = (length(p.a, p.b) + length(q.a, q.b)) / 2;
  const double stretch = 1 + (1 - std::sqrt(power7(mean) / (power7(mean) + power7(25)))) / 2;
  const float ap = static_cast<float>(p.a * stretch), aq = static_cast<float>(q.a * stretch);
  const float cp = length(ap, p.b), cq = length(aq, q.b);
  const double c_mean = (cp + cq) / 2;
  const auto hue = [&](double a, double b) {
    const float h = static_cast<float>(std::atan2(b, a));
    return h < 0 ? static_cast<float>(h + 360 * degree) : h;
  };
  const float hp = hue(ap, p.b), hq = hue(aq, q.b);
  const bool far = std::fabs(double{hp} - hq) > 180 * degree;
  const float step = hq - hp;
  const double turn = far ? step + (hq <= hp ? 360 : -360) * degree : step;
  const double h_mean = (double{hp} + hq) / 2 / degree + (far ? 180 : 0);
  const auto cosine = [&](double at) { return std::cos(at * degree); };
  const double t = 1 - 0.17 * cosine(h_mean - 30) + 0.24 * cosine(2 * h_mean) +
                   0.32 * cosine(3 * h_mean + 6) - 0.2 * cosine(4 * h_mean - 63);
  const double off = (double{p.l} + q.l) / 2 - 50;
  const double sl = 1 + 0.015 * off * off / std::sqrt(20 + off * off), sc = 1 + 0.045 * c_mean,
               sh = 1 + 0.015 * c_mean * t;
  const double lean = 60 * std::exp(-std::pow((h_mean - 275) / 25, 2.0));
  const double rotation =
      -2 * std::sqrt(power7(c_mean) / (power7(c_mean) + power7(25))) * std::sin(lean * degree);
  const float dl = q.l - p.l, dc = cq - cp;
  const double l = dl / (0.65 * sl), c = dc / sc,
               h = 2 * std::sqrt(double{cp} * cq) * std::sin(turn / 2) / (4 * sh);
  return std::sqrt(l * l + c * c + h * h + rotation * c * h);
}

// A sample of chroma for a pixel, as the text says it.
int book_chroma(const Colours &picture, int plane, int x, int y, bool plain_422) {
  const PictureFormat &f = picture.format;
  const Luma &samples = picture.planes[static_cast<size_t>(plane)];
  if (f.chroma == Chroma::c444) return samples.at(x, y);
  const int width = std::max(1, f.width / 2);
  if (f.chroma == Chroma::c420)
    return samples.at(std::min(x / 2, width - 1), std::min(y / 2, std::max(1, f.height / 2) - 1));
  if (plain_422) return samples.at(std::min(x / 2, width - 1), y);
  std::vector<int> memory;  // rows one after the other, filled up with zeros to multiples of 32
  for (int row = 0; row < f.height; ++row)
    for (int i = 0; i < (width + 31) / 32 * 32; ++i) memory.push_back(i < width ? samples.at(i, row) : 0);
  return memory[static_cast<size_t>(y / 2 * ((width + 31) / 32 * 32) + x)];
}

double book_score(const Colours &ref, const Colours &dist, bool plain_422) {
  const PictureFormat &f = ref.format;
  double sum = 0;
  for (int y = 0; y < f.height; ++y)
    for (int x = 0; x < f.width; ++x) {
      const auto lab = [&](const Colours &c) {
        return book_lab(c.planes[0].at(x, y), book_chroma(c, 1, x, y, plain_422),
                        book_chroma(c, 2, x, y, plain_422), f.depth);
      };
      sum += book_difference(lab(ref), lab(dist));
    }
  return 45 - 20 * std::log10(sum / (f.width * f.height));
}

void expect_book(const Colours &ref, const Colours &dist, bool plain_422 = false) {
  const PictureFormat &f = ref.format;
  const double want = book_score(ref, dist, plain_422);
  EXPECT_NEAR(score(ref, dist, plain_422 ? kPlain422 : OptionTexts{}), want,
              std::max(5e-5, 1e-6 * std::fabs(want)))
      << f.width << "x" << f.height << ", depth " << f.depth << ", chroma " << static_cast<int>(f.chroma)
      << (plain_422 ? ", plain_422" : "");
}

TEST(Ciede, EqualsTheBook) {
  for (Chroma chroma : kChromas)
    for (int depth : {8, 10, 12, 16})
      for (bool plain_422 : {false, true}) {
        const PictureFormat format = {86, 40, depth, chroma};
        const Colours ref = noise(format, 1);
        expect_book(ref, noise(format, 2), plain_422);
        expect_book(ref, disturbed(ref, 4 << (depth - 8), 3), plain_422);
      }
}

// One colour against another, a few steps apart: nothing averages out, so that every rounding to float has to be where
// libvmaf has it. Without roundings these scores would differ by up to 0.001.
TEST(Ciede, SingleColours) {
  Noise source(5);
  for (int i = 0; i < 3000; ++i) {
    const auto value = [&] { return source.below(256); };
    const int y = value(), u = value(), v = value(), near = 1 + i % 5;
    const auto moved = [&](int from) { return std::clamp(from + source.below(2 * near + 1) - near, 0, 255); };
    const int y2 = moved(y), u2 = moved(u), v2 = moved(v);
    if (y == y2 && u == u2 && v == v2) continue;
    const PictureFormat format = {1, 1, 8, Chroma::c444};
    const Colours ref = plain(format, y, u, v), dist = plain(format, y2, u2, v2);
    EXPECT_NEAR(score(ref, dist), book_score(ref, dist, false), 5e-5)
        << y << " " << u << " " << v << " against " << y2 << " " << u2 << " " << v2;
  }
}

TEST(Ciede, NothingDiffers) {
  for (Chroma chroma : kChromas) {
    const Colours picture = noise({75, 31, 8, chroma}, 1);
    EXPECT_EQ(score(picture, picture), HUGE_VAL);
  }
}

// ---- Chroma ----------------------------------------------------------------------------------------------------------

// Odd sizes: the last column and row of chroma, which libvmaf has not, do not count.
TEST(Ciede, OddSizes) {
  for (Chroma chroma : kChromas)
    for (const auto &[width, height] :
         std::vector<std::pair<int, int>>{{33, 17}, {34, 17}, {33, 18}, {131, 9}})
      for (bool plain_422 : {false, true}) {
        const PictureFormat format = {width, height, 8, chroma};
        expect_book(noise(format, 1), noise(format, 2), plain_422);
      }
}

TEST(Ciede, TinyPictures) {
  for (Chroma chroma : {Chroma::c420, Chroma::c444})
    for (int width : {1, 2, 3})
      for (int height : {1, 2, 3}) {
        const PictureFormat format = {width, height, 8, chroma};
        expect_book(noise(format, 1), noise(format, 2));
      }
  for (int height : {1, 2, 3})
    for (bool plain_422 : {false, true}) {
      const PictureFormat format = {3, height, 8, Chroma::c422};
      expect_book(noise(format, 1), noise(format, 2), plain_422);
    }
  // A row of 4:2:2 that would go on in a second one.
  const PictureFormat row = {70, 1, 8, Chroma::c422};
  EXPECT_TRUE(std::isfinite(score(noise(row, 1), noise(row, 2))));
}

TEST(Ciede, Plain422TakesEachSampleForItsTwoPixels) {
  const PictureFormat format = {64, 16, 8, Chroma::c422}, full = {64, 16, 8, Chroma::c444};
  const auto wide = [&](const Colours &from) {
    return paint(
        full, [&](int p, int x, int y) { return from.planes[static_cast<size_t>(p)].at(p ? x / 2 : x, y); });
  };
  const Colours ref = noise(format, 1), dist = noise(format, 2);
  const double right = score(wide(ref), wide(dist));
  EXPECT_EQ(score(ref, dist, kPlain422), right);
  EXPECT_NE(score(ref, dist), right);
  // Elsewhere the option changes nothing.
  EXPECT_EQ(score(wide(ref), wide(dist), kPlain422), right);
}

TEST(Ciede, LayoutDoesNotMatter) { expect_layout_does_not_matter(extractor("ciede")); }

// The vectors' sum equals that of single pixels, added in the order that the definition says.
TEST(Ciede, EqualsTheDefinition) {
  const PictureFormat format = {203, 5, 10, Chroma::c444};
  const Colours ref = noise(format, 1), dist = disturbed(ref, 40, 2);
  const CiedeRange range = ciede_range(10);
  CiedeSums want;
  for (int y = 0; y < format.height; ++y) {
    double lanes[kSumLanes] = {};
    for (int x = 0; x < format.width; ++x) {
      const auto lab = [&](const Colours &c) {
        const auto sample = [&](size_t p) { return static_cast<float>(c.planes[p].at(x, y)); };
        return ciede_lab(sample(0), sample(1), sample(2), range);
      };
      lanes[x % kSumLanes] += static_cast<double>(ciede_difference(lab(ref), lab(dist)));
    }
    want.difference += lane_sum(lanes);
  }
  const Extractor &e = extractor("ciede");
  const StoredColours frame(ref, {dist});
  const auto metric = CpuBackend::choose()->make(e, parse(e, {}), format);
  CiedeSums got;
  std::memcpy(&got, measure_colours(e, *metric, frame.view)[0].data(), sizeof got);
  EXPECT_EQ(got.difference, want.difference);
}

// ---- Interface -------------------------------------------------------------------------------------------------------

TEST(Ciede, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("ciede");
  const Options options = parse(e, {});
  EXPECT_TRUE(e.check(options, {1, 1, 8, Chroma::c420}).ok());
  EXPECT_EQ(e.check(options, {64, 64, 8, Chroma::c400}).message(),
            "ciede needs pictures with chroma, these have luma alone");
  for (int depth = 8; depth <= 16; ++depth)
    EXPECT_EQ(e.check(options, {64, 64, depth, Chroma::c444}).ok(),
              depth == 8 || depth == 10 || depth == 12 || depth == 16)
        << depth;
}

TEST(Ciede, NameStaysWhateverTheOption) {
  const Extractor &e = extractor("ciede");
  EXPECT_EQ(log_name(e.outputs[0], parse(e, kPlain422)), "ciede2000_plain_422");
  EXPECT_FALSE(Options::parse(e.name, e.options, {{"plain_422", "maybe"}}).ok());
}

}  // namespace
}  // namespace vmafhip
