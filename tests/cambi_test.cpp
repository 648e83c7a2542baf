// Banding: an evaluation by the book, libvmaf's tables and figures of the text, options and what they refuse.
#include "engine/arith/cambi.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

#include "engine/extractors/extractors.h"
#include "engine/session.h"
#include "tests/metric_run.h"
#include "tests/scratch_folder.h"

namespace vmafhip {
namespace {

using namespace test;

// ---- Pictures that have something to find ------------------------------------------------------------------

// Slow gradients in coarse steps, with a disc of noise that the mask has to leave out.
Luma bands(int width, int height, int depth, int shift) {
  Noise source(static_cast<uint32_t>(shift));
  return paint(width, height, depth, [&](int x, int y) {
    const int grain = source.below(1 << (depth - 4)), dx = x - width / 3, dy = y - height / 2;
    const int wave = (2 * x + y + shift + x * y / 400) % 900, base = (wave < 450 ? wave : 900 - wave) / 30;
    const int value = (20 << (depth - 8)) + (base << (depth > 10 ? depth - 10 : 0));
    return dx * dx + dy * dy < height * height / 16 ? value + grain : value;
  });
}

// Squares of random codes: all in the mask, and every code.
Luma blocks(int width, int height, int depth, uint32_t seed) {
  const Luma colours = noise(width / 5 + 1, height / 4 + 1, depth, seed);
  return paint(width, height, depth, [&](int x, int y) { return colours.at(x / 5, y / 4); });
}

// ---- Evaluation by the book --------------------------------------------------------------------------------

using Plane = std::vector<std::vector<int>>;
Plane plane(int width, int height) { return Plane(size_t(height), std::vector<int>(size_t(width))); }

int mode3(int a, int b, int c) {
  if (a == b || a == c) return a;
  return b == c ? b : std::min({a, b, c});
}

float reciprocal_of_nine_digits(int k) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", 1.0 / k);
  return std::strtof(text, nullptr);
}

struct Book {
  CambiParams p;
  std::function<void(int scale, const Plane &image, const std::vector<float> &)> look = [](auto...) {};

  Plane prepared(const Luma &from, const CambiTarget &to) const {
    const auto samples = [](int size, int target) {
      std::vector<int> at;
      const float ratio = float(size) / float(target);
      float x = float(double(ratio / 2) - 0.5);
      for (int i = 0; i < target; ++i, x = x + ratio) at.push_back(size == target ? i : int(double(x) + 0.5));
      return at;
    };
    const auto columns = samples(from.width, to.width), rows = samples(from.height, to.height);
    Plane q = plane(to.width, to.height), out = q;
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x) {
        const int v = from.at(columns[size_t(x)], rows[size_t(y)]), b = from.depth;
        q[y][x] = b <= 10 ? v << (10 - b) : (v + (1 << (b - 11))) >> (b - 10);
      }
    if (!p.anti_dither) return q;
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x) {
        const bool right = x + 1 < to.width, below = y + 1 < to.height;
        out[y][x] = right && below ? (q[y][x] + q[y][x + 1] + q[y + 1][x] + q[y + 1][x + 1]) >> 2
                    : below        ? (q[y][x] + q[y + 1][x]) >> 1
                    : right        ? (q[y][x] + q[y][x + 1]) >> 1
                                   : q[y][x];
      }
    return out;
  }

  static Plane mask(const Plane &q) {
    const int w = int(q[0].size()), h = int(q.size());
    const int area = (w >> 6) * (h >> 6), log = area > 1 ? int(std::ceil(std::log2(area))) : 0;
    const int limit = (49 + 3 * (log - 11) - 1) >> 1;
    Plane flat = plane(w, h), out = flat;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        flat[y][x] = (x + 1 == w || q[y][x] == q[y][x + 1]) && (y + 1 == h || q[y][x] == q[y + 1][x]);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        int sum = 0;
        for (int v = std::max(0, y - 3); v <= std::min(h - 1, y + 3); ++v)
          for (int u = std::max(0, x - 3); u <= std::min(w - 1, x + 3); ++u) sum += flat[v][u];
        out[y][x] = sum > limit;
      }
    return out;
  }

  static Plane halved(const Plane &in) {
    const int w = (int(in[0].size()) + 1) / 2, h = (int(in.size()) + 1) / 2;
    Plane out = plane(w, h);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) out[y][x] = in[2 * y][2 * x];
    return out;
  }

  static Plane filtered(const Plane &in) {
    const int w = int(in[0].size()), h = int(in.size());
    Plane across = in, out = in;
    for (int y = 0; y < h; ++y)
      for (int x = 1; x + 1 < w; ++x) across[y][x] = mode3(in[y][x - 1], in[y][x], in[y][x + 1]);
    for (int y = 1; y + 1 < h; ++y)
      for (int x = 0; x < w; ++x) out[y][x] = mode3(across[y - 1][x], across[y][x], across[y + 1][x]);
    return out;
  }

  std::vector<float> values(const Plane &image, const Plane &kept, int window) const {
    const int w = int(image[0].size()), h = int(image.size()), pad = window / 2;
    std::vector<float> out;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        float c = 0;
        if (kept[y][x]) {
          int count[2 * kCambiMostContrasts + 1] = {};
          const int v = image[y][x];
          for (int j = std::max(0, y - pad); j <= std::min(h - 1, y + pad); ++j)
            for (int i = std::max(0, x - pad); i <= std::min(w - 1, x + pad); ++i)
              if (const int away = image[j][i] - v; kept[j][i] && std::abs(away) <= p.contrasts)
                ++count[kCambiMostContrasts + away];
          const int own = count[kCambiMostContrasts];
          for (int d = 0; d < p.contrasts; ++d) {
            if (v > p.visible_up_to[d] || v + p.contrasts + d + 1 <= p.darkest) continue;
            const int other =
                std::max(count[kCambiMostContrasts + d + 1], count[kCambiMostContrasts - d - 1]);
            c = std::max(c, float(kCambiWeights[d] * own * other) * reciprocal_of_nine_digits(own + other));
          }
        }
        out.push_back(c);
      }
    return out;
  }

  double score(const Luma &picture, const CambiTarget &target) const {
    Plane image = prepared(picture, target), kept = mask(image);
    double score = 0;
    for (int scale = 0; scale < 5; ++scale) {
      if (scale > 0 || p.half) {
        image = halved(image);
        kept = halved(kept);
      }
      image = filtered(image);
      std::vector<float> c = values(image, kept, target.window);
      look(scale, image, c);
      std::sort(c.begin(), c.end(), std::greater<>());
      const size_t top = std::min(c.size(), std::max<size_t>(1, size_t(p.topk * double(c.size()))));
      double sum = 0;
      for (size_t i = 0; i < top; ++i) sum += double(c[i]);
      score += sum / double(top) * (16 >> scale);
    }
    return score / (target.window * target.window);
  }
};

void expect_book(const Luma &ref, const Luma &dist, const OptionTexts &texts = {},
                 const Layout &layout = {}) {
  const Extractor &e = extractor("cambi");
  const Options options = parse(e, texts);
  const Book book{cambi_params(options, {dist.width, dist.height, dist.depth, Chroma::c400})};
  const Scores scores = run("cambi", texts, {ref}, {dist}, layout);
  const std::string suffix = options.suffix();
  const double enc = book.score(dist, book.p.enc);
  EXPECT_EQ(scores.at("cambi" + suffix)[0], std::min(enc, book.p.max_val)) << suffix;
  EXPECT_EQ(scores.size(), book.p.full_ref ? 3u : 1u);
  if (!book.p.full_ref) return;
  const double src = book.score(ref, book.p.src);
  EXPECT_EQ(scores.at("cambi_source" + suffix)[0], std::min(src, book.p.max_val)) << suffix;
  EXPECT_EQ(scores.at("cambi_full_reference" + suffix)[0], std::min(std::max(0.0, enc - src), book.p.max_val))
      << suffix;
}

TEST(Cambi, EqualsTheBook) {
  for (int depth : {8, 9, 10, 12, 16}) {
    SCOPED_TRACE(depth);
    const Luma ref = bands(273, 40, depth, 0), dist = bands(273, 40, depth, 100);
    expect_book(ref, dist);
    EXPECT_GT(run("cambi", {}, {ref}, {dist}).at("cambi")[0], 0.1) << "there are bands to find";
  }
  for (const auto &[width, height] : std::vector<std::pair<int, int>>{
           {216, 1}, {1, 216}, {216, 2}, {217, 5}, {230, 33}, {25, 219}, {513, 17}})
    expect_book(bands(width, height, 8, 0), blocks(width, height, 8, 1));
}

TEST(Cambi, EqualsTheBookWithOptions) {
  const Luma ref = bands(300, 60, 8, 0), dist = bands(300, 60, 8, 100);
  for (const OptionTexts &texts : std::vector<OptionTexts>{
           {{"full_ref", "true"}},
           {{"full_ref", "true"}, {"cambi_max_val", "0.5"}},
           {{"max_log_contrast", "0"}},
           {{"max_log_contrast", "5"}, {"tvi_threshold", "0.05"}},
           {{"window_size", "127"}},
           {{"window_size", "15"}},
           {{"topk", "0.01"}},
           {{"cambi_topk", "0.2"}},
           {{"topk", "1"}, {"cambi_topk", "0.2"}},
           {{"cambi_vis_lum_threshold", "1"}},
           {{"cambi_vis_lum_threshold", "300"}},
           {{"eotf", "pq"}},
           {{"cambi_eotf", "pq"}},
           {{"enc_width", "250"}, {"enc_height", "150"}},
           {{"enc_width", "217"}, {"enc_height", "200"}},
           {{"enc_bitdepth", "10"}},
           {{"src_width", "320"}, {"src_height", "200"}, {"full_ref", "true"}},
       })
    expect_book(ref, dist, texts);
  const OptionTexts smaller = {{"enc_width", "250"}, {"enc_height", "150"}, {"full_ref", "true"}};
  expect_book(bands(300, 160, 10, 0), bands(300, 160, 10, 9), smaller);
}

// Blocks have more c-values than count, of many kinds.
TEST(Cambi, TakesTheLargest) {
  const Luma picture = blocks(260, 50, 8, 3);
  for (const char *topk : {"0.0001", "0.003", "0.07", "0.5", "0.9", "1"})
    expect_book(picture, picture, {{"topk", topk}, {"tvi_threshold", "0.005"}, {"max_log_contrast", "5"}});
}

TEST(Cambi, HalvesLargePicturesFirst) {
  const Luma wide = bands(8192, 260, 8, 0);
  const OptionTexts texts = {{"cambi_high_res_speedup", "1080"}, {"window_size", "15"}};
  EXPECT_TRUE(cambi_params(parse(extractor("cambi"), texts), {8192, 260, 8, Chroma::c400}).half);
  expect_book(wide, wide, texts);
}

TEST(Cambi, LayoutDoesNotMatter) {
  for (int depth : {8, 10}) {
    const Luma picture = bands(233, 31, depth, 7);
    expect_book(picture, picture, {}, {.padding = 14});
    expect_book(picture, picture, {}, {.padding = 6, .upside = true});
  }
}

// Words above the range of the depth, which libvmaf refuses, must not be read as codes.
TEST(Cambi, TakesWordsBeyondTheDepthAsItsLargest) {
  Luma high = bands(216, 20, 10, 0), top = high;
  for (size_t i = 0; i < high.samples.size(); i += 7) {
    high.samples[i] = 65535 - int(i % 1000);
    top.samples[i] = 1023;
  }
  EXPECT_EQ(run("cambi", {}, {high}, {high}), run("cambi", {}, {top}, {top}));
}

// ---- Heat maps ---------------------------------------------------------------------------------------------

class CambiHeatMaps : public testing::Test {
 protected:
  // A session over pictures compared with themselves, frame by frame.
  std::unique_ptr<Session> session(const std::string &path, const OptionTexts &texts, const Luma &first,
                                   int threads = 2) {
    SessionOptions options;
    options.models = "";
    options.threads = threads;
    options.features = "cambi=heatmaps_path=" + path;
    for (const auto &[name, text] : texts) options.features += ":" + name + "=" + text;
    auto session = Session::create(options);
    if (!session.ok()) throw std::runtime_error(session.status().message());
    const PictureFormat format = {first.width, first.height, first.depth, Chroma::c400};
    configured_ = (*session)->configure(format, format);
    return std::move(*session);
  }
  static void play(Session &session, const std::vector<Luma> &pictures) {
    FrameScores scores;
    for (const Luma &luma : pictures) {
      const auto stored = std::make_shared<StoredLuma>(luma, Layout());
      Picture picture;
      picture.format = {luma.width, luma.height, luma.depth, Chroma::c400};
      picture.planes[0] = {stored->view().data, stored->view().stride, luma.width, luma.height, 1};
      picture.owner = stored;
      while (!session.submit(picture, picture)) ASSERT_EQ(session.wait(scores), Session::Next::ready);
    }
    session.finish();
    while (session.wait(scores) == Session::Next::ready) {
    }
  }
  static std::vector<uint16_t> contents(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<uint16_t> pixels(size_t(std::filesystem::file_size(path) / 2));
    file.read(reinterpret_cast<char *>(pixels.data()), std::streamsize(pixels.size() * 2));
    return pixels;
  }

  const ScratchFolder folder_;
  Status configured_;
};

TEST_F(CambiHeatMaps, AreTheBooks) {
  for (const OptionTexts &texts :
       std::vector<OptionTexts>{{},
                                {{"max_log_contrast", "0"}},
                                {{"enc_width", "250"}, {"enc_height", "151"}, {"full_ref", "true"}},
                                {{"cambi_vis_lum_threshold", "300"}}}) {
    std::vector<Luma> pictures;
    for (int n = 0; n < 5; ++n) pictures.push_back(bands(301, 160, 8, 40 * n));
    const std::string path = folder_.path("new/maps");
    const auto s = session(path, texts, pictures[0]);
    ASSERT_TRUE(configured_.ok()) << configured_.message();
    play(*s, pictures);
    EXPECT_TRUE(s->status().ok()) << s->status().message();

    Book book{cambi_params(parse(extractor("cambi"), texts), {301, 160, 8, Chroma::c400})};
    std::vector<std::string> names(5);
    std::vector<std::vector<uint16_t>> want(5);
    const int brightest = *std::max_element(kCambiWeights, kCambiWeights + book.p.contrasts) *
                          book.p.enc.window * book.p.enc.window / 4;
    book.look = [&](int scale, const Plane &image, const std::vector<float> &c) {
      names[size_t(scale)] = "cambi_heatmap_scale_" + std::to_string(scale) + "_" +
                             std::to_string(image[0].size()) + "x" + std::to_string(image.size()) +
                             "_16b.gray";
      for (const float value : c)
        want[size_t(scale)].push_back(uint16_t(std::min(65535, int(value * 65535 / float(brightest)))));
    };
    for (const Luma &picture : pictures) book.score(picture, book.p.enc);
    for (size_t scale = 0; scale < 5; ++scale)
      EXPECT_EQ(contents(path + "/" + names[scale]), want[scale]) << names[scale];
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}), 5);
    std::filesystem::remove_all(path);
  }
}

TEST_F(CambiHeatMaps, SayAtOnceThatTheirFolderCannotBe) {
  std::ofstream(folder_.path("file")) << "not a folder";
  session(folder_.path("file/maps"), {}, bands(216, 20, 8, 0));
  EXPECT_EQ(configured_.code(), Code::io);
  EXPECT_EQ(configured_.message(),
            "cannot write heat maps to \"" + folder_.path("file/maps") + "\": Not a directory");
}

TEST_F(CambiHeatMaps, SayThatADiskIsFullAndGoOn) {
  const std::string name = folder_.path("cambi_heatmap_scale_2_54x5_16b.gray");
  std::filesystem::create_symlink("/dev/full", name);
  const Luma picture = bands(216, 20, 8, 0);
  const auto s = session(folder_.path(), {}, picture, 1);
  ASSERT_TRUE(configured_.ok()) << configured_.message();
  play(*s, {picture, picture, picture});
  EXPECT_EQ(s->feature_pools()[0].count(), 3u);
  EXPECT_EQ(s->status().code(), Code::io);
  EXPECT_EQ(s->status().message(), "cannot write heat maps to \"" + name + "\": No space left on device");
}

TEST_F(CambiHeatMaps, WaitForNoReaderOfAFifo) {
  const std::string name = folder_.path("cambi_heatmap_scale_0_216x20_16b.gray");
  ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
  const Luma picture = bands(216, 20, 8, 0);
  session(folder_.path(), {}, picture);
  EXPECT_EQ(configured_.code(), Code::io);
  const int reader = open(name.c_str(), O_RDONLY | O_NONBLOCK);
  const auto s = session(folder_.path(), {}, picture);
  play(*s, {picture});
  EXPECT_EQ(s->status().message(), "cannot write heat maps to \"" + name + "\": it is not a regular file");
  close(reader);
}

TEST_F(CambiHeatMaps, HaveOneWriter) {
  const Luma picture = bands(216, 20, 8, 0);
  const auto first = session(folder_.path(), {}, picture);
  ASSERT_TRUE(configured_.ok()) << configured_.message();
  play(*first, {picture, picture});
  const std::string name = folder_.path("cambi_heatmap_scale_0_216x20_16b.gray");
  ASSERT_EQ(contents(name).size(), 2u * 216 * 20);

  session(folder_.path(), {{"eotf", "pq"}}, picture);
  EXPECT_EQ(configured_.message(), "cannot write heat maps to \"" + name +
                                       "\": it is being written already; give each measurement a folder of "
                                       "its own");
  EXPECT_EQ(contents(name).size(), 2u * 216 * 20) << "of the first";
  session(folder_.path("other"), {}, picture);
  EXPECT_TRUE(configured_.ok()) << configured_.message();

  // The same session begins again.
  const PictureFormat format = {216, 20, 8, Chroma::c400};
  EXPECT_TRUE(first->configure(format, format).ok());
  EXPECT_EQ(contents(name).size(), 0u);
}

TEST_F(CambiHeatMaps, FollowOneAnother) {
  for (int n = 0; n < 2; ++n) {
    session(folder_.path(), {}, bands(216, 20, 8, 0));
    EXPECT_TRUE(configured_.ok()) << configured_.message();
  }
}

// ---- Tables ------------------------------------------------------------------------------------------------

TEST(Cambi, ReciprocalsHaveNineDigits) {
  constexpr CambiReciprocals table = cambi_reciprocals();
  std::vector<int> off;
  EXPECT_EQ(table.of[0], 0.0f);
  for (int k = 1; k < kCambiReciprocals; ++k) {
    ASSERT_EQ(table.of[k], reciprocal_of_nine_digits(k)) << k;
    if (table.of[k] != 1.0f / float(k)) off.push_back(k);
  }
  EXPECT_EQ(off.size(), 42u);
  off.resize(14);
  EXPECT_EQ(off, (std::vector<int>{82, 83, 244, 488, 504, 510, 528, 564, 614, 664, 749, 760, 892, 1419}));
}

TEST(Cambi, LimitsOfVisibility) {
  const auto limits = [](const OptionTexts &texts) {
    OptionTexts all = texts;
    all["max_log_contrast"] = "5";
    const CambiParams p = cambi_params(parse(extractor("cambi"), all), {640, 360, 8, Chroma::c400});
    return std::vector<int>(p.visible_up_to, p.visible_up_to + 18);
  };
  std::vector<int> want = {178, 305, 432, 559, 686, 813};
  want.resize(18, 1023);
  EXPECT_EQ(limits({}), want);
  EXPECT_EQ(limits({{"tvi_threshold", "0.05"}}),
            (std::vector<int>{100, 149, 197, 246, 295, 344, 392, 441, 490, 538, 587, 636, 684, 733, 782, 830,
                              879, 1023}));
  want = {233};
  want.resize(18, 1023);
  EXPECT_EQ(limits({{"eotf", "pq"}}), want);
  want = {110, 179, 277, 433};
  want.resize(18, 1023);
  EXPECT_EQ(limits({{"eotf", "pq"}, {"tvi_threshold", "0.05"}}), want);
}

TEST(Cambi, WindowsAndMasks) {
  const std::vector<std::array<int, 3>> windows = {
      {3840, 2160, 65}, {1920, 1080, 33}, {640, 360, 11}, {320, 240, 7}};
  for (const auto &[width, height, window] : windows)
    EXPECT_EQ(cambi_window(65, width, height, false), window);
  EXPECT_EQ(cambi_window(65, 3840, 2160, true), 33);
  EXPECT_EQ(cambi_mask_limit(1920, 1080), 21);
  EXPECT_EQ(cambi_mask_limit(640, 360), 16);
  EXPECT_EQ(cambi_mask_limit(320, 240), 13);
}

// ---- Options -----------------------------------------------------------------------------------------------

TEST(Cambi, Names) {
  const Extractor &e = extractor("cambi");
  const auto name = [&](const OptionTexts &texts) { return log_name(e.outputs[0], parse(e, texts)); };
  EXPECT_EQ(name({}), "cambi");
  EXPECT_EQ(name({{"full_ref", "true"}, {"enc_width", "0"}}), "cambi");
  EXPECT_EQ(
      name(
          {{"cambi_max_val", "17"}, {"cambi_high_res_speedup", "1080"}, {"cambi_vis_lum_threshold", "0.06"}}),
      "cambi_hrs_1080_cmxv_17_vlt_0.06");
  EXPECT_EQ(name({{"eotf", "pq"}, {"topk", "0.5"}, {"cambi_eotf", "pq"}}), "cambi_ceot_pq_eotf_pq_topk_0.5");
}

TEST(Cambi, ReadsTheReferenceOnlyIfAsked) {
  const Extractor &e = extractor("cambi");
  EXPECT_EQ(e.reads(parse(e, {})).ref, 0);
  EXPECT_EQ(e.reads(parse(e, {{"full_ref", "true"}})).ref, kLuma);
  EXPECT_EQ(e.reads(parse(e, {})).dist, kLuma);
}

TEST(Cambi, RefusesWhatItIsNotDefinedFor) {
  const Extractor &e = extractor("cambi");
  const auto refusal = [&](const OptionTexts &texts, int width, int height) {
    return e.check(parse(e, texts), {width, height, 8, Chroma::c420}).message();
  };
  EXPECT_EQ(refusal({}, 216, 1), "");
  EXPECT_EQ(refusal({}, 215, 215),
            "cambi needs at least 216 samples in width or in height, the distorted picture is 215x215");
  EXPECT_EQ(refusal({{"enc_width", "200"}, {"enc_height", "200"}}, 640, 360),
            "cambi needs at least 216 samples in width or in height, the distorted picture is 200x200");
  EXPECT_EQ(refusal({{"enc_width", "700"}, {"enc_height", "200"}}, 640, 360), "")
      << "larger than the picture";
  EXPECT_EQ(refusal({}, 4096, 2160),
            "cambi's window is 67 samples wide when the distorted picture is 4096x2160, and "
            "65 at most: lower window_size");
  EXPECT_EQ(refusal({{"window_size", "15"}}, 8192, 8192), "");
  const OptionTexts crossed = {{"src_width", "700"}, {"src_height", "300"}, {"full_ref", "true"}};
  EXPECT_EQ(
      refusal(crossed, 640, 360),
      "cambi: the source, 700x300, must not be wider and lower than the encoding, 640x360, nor narrower and "
      "higher");
  EXPECT_EQ(e.check(parse(e, {{"eotf", "hlg"}})).message(),
            "cambi: option eotf must be bt1886 or pq, not \"hlg\"");
  EXPECT_EQ(e.check(parse(e, {{"cambi_eotf", ""}})).message(),
            "cambi: option cambi_eotf must be bt1886 or pq, not \"\"");
}

}  // namespace
}  // namespace vmafhip
