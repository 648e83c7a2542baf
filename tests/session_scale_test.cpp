// Distorted pictures of another size: scores are those of pictures that were scaled by the definition beforehand,
// whatever the threads, the formats, and the company of other pictures.
#include <atomic>
#include <cmath>

#include "engine/view.h"
#include "tests/scale_run.h"
#include "tests/session_run.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // sanitizers allocate as they like
#else
constexpr bool kSanitized = false;
#endif

namespace vmafhip {
namespace test {
extern std::atomic<uint64_t> allocations;  // count_allocations.cpp
}
namespace {

using namespace test;

PictureFormat format_of(int width, int height, int depth, Chroma chroma) {
  return {width, height, depth, chroma};
}

// A picture in memory of its own, planes one behind the other; interleaved chroma and high bits as wanted.
struct Packing {
  int shift = 0;
  bool interleaved = false;
};

template <class Sample>  // Sample(plane, x, y)
Picture make_picture(const PictureFormat &format, const Packing &layout, Sample sample) {
  const int bytes = format.depth > 8 ? 2 : 1;
  Picture picture;
  picture.format = format;
  picture.shift = layout.shift;
  const int planes = format.chroma == Chroma::c400 ? 1 : 3;
  size_t total = 0;
  std::array<size_t, 3> at{};
  std::array<PlaneSize, 3> sizes;
  for (int p = 0; p < planes; ++p) {
    sizes[size_t(p)] = plane_size(format, p);
    at[size_t(p)] = total;
    total += size_t(sizes[size_t(p)].width) * size_t(sizes[size_t(p)].height) * size_t(bytes);
  }
  const auto memory = std::make_shared<std::vector<uint8_t>>(total, 0xee);
  picture.owner = memory;
  for (int p = 0; p < planes; ++p) {
    const PlaneSize size = sizes[size_t(p)];
    const int step = layout.interleaved && p > 0 ? 2 : 1;
    uint8_t *first = memory->data() + (step == 2 ? at[1] + size_t(p - 1) * size_t(bytes) : at[size_t(p)]);
    picture.planes[size_t(p)] = {first, ptrdiff_t(size.width) * step * bytes, size.width, size.height, step};
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        uint8_t *to = first + y * picture.planes[size_t(p)].stride + ptrdiff_t(x) * step * bytes;
        const uint16_t word = uint16_t(sample(p, x, y) << layout.shift);
        if (bytes == 1)
          *to = uint8_t(word);
        else
          std::memcpy(to, &word, 2);
      }
  }
  return picture;
}

Picture textured(const PictureFormat &format, int frame, int kind, const Packing &layout = {}) {
  Noise grain(uint32_t(frame * 64 + kind + 1));
  const int top = (1 << format.depth) - 1;
  return make_picture(format, layout, [&](int p, int x, int y) {
    // The same scene at any size.
    const double u = double(x) / format.width * 40 + frame, v = double(y) / format.height * 30 + p;
    const int wave =
        int(70 * (std::sin(u) + std::cos(v + kind * 0.1))) + 40 * ((int(u) / 5 + int(v) / 4) % 2);
    return std::clamp((100 + wave + grain.below(1 + 6 * kind)) * top / 255, 0, top);
  });
}

// The picture as the definition has it at another size and depth, scaled plane by plane.
Picture scaled_picture(const Picture &from, const PictureFormat &to, ScaleMethod method) {
  std::array<Luma, 3> planes = {Luma(0, 0, 8), Luma(0, 0, 8), Luma(0, 0, 8)};
  for (int p = 0; p < (to.chroma == Chroma::c400 ? 1 : 3); ++p) {
    const PlaneSize size = plane_size(to, p), old = plane_size(from.format, p);
    Picture alone = from;
    alone.format = {old.width, old.height, from.format.depth, Chroma::c400};
    alone.planes[0] = from.planes[size_t(p)];
    planes[size_t(p)] = scaled(plain_kernels(), alone, Luma(size.width, size.height, to.depth), method);
  }
  return make_picture(to, {}, [&](int p, int x, int y) { return planes[size_t(p)].at(x, y); });
}

using Clip = std::vector<std::vector<Picture>>;  // per frame: the reference, then distorted pictures

std::vector<FrameScores> run(const Clip &clip, SessionOptions options) {
  options.distorted = int(clip[0].size()) - 1;
  auto session = Session::create(options);
  if (!session.ok()) throw std::runtime_error(session.status().message());
  std::vector<PictureFormat> formats;
  for (size_t d = 1; d < clip[0].size(); ++d) formats.push_back(clip[0][d].format);
  const Status status = (*session)->configure(clip[0][0].format, formats);
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status.ok()) return {};
  std::vector<FrameScores> all;
  FrameScores scores;
  for (const auto &frame : clip) {
    std::vector<Picture> dist(frame.begin() + 1, frame.end());
    while (!(*session)->submit(frame[0], dist)) {
      if ((*session)->wait(scores) != Session::Next::ready) throw std::runtime_error("stuck");
      all.push_back(scores);
    }
  }
  (*session)->finish();
  while ((*session)->wait(scores) == Session::Next::ready) all.push_back(scores);
  return all;
}

SessionOptions options_of(ScaleMethod method, int threads, const std::string &features = "") {
  SessionOptions options;
  options.models = "vmaf_v0.6.1";
  options.features = features;
  options.threads = threads;
  options.scale = method;
  return options;
}

struct Case {
  PictureFormat ref;
  std::vector<PictureFormat> dist;
  Packing layout;
};

void expect_as_defined(const Case &c, ScaleMethod method, const std::string &features = "") {
  Clip clip, beforehand;
  PictureFormat compared = c.ref;
  for (const PictureFormat &d : c.dist) compared.depth = std::max(compared.depth, d.depth);
  for (int frame = 0; frame < 3; ++frame) {
    clip.push_back({textured(c.ref, frame, 0)});
    beforehand.push_back({clip.back()[0]});
    for (size_t d = 0; d < c.dist.size(); ++d) {
      clip.back().push_back(textured(c.dist[d], frame, int(d) + 1, c.layout));
      PictureFormat to = compared;
      to.chroma = c.dist[d].chroma;
      beforehand.back().push_back(scaled_picture(clip.back().back(), to, method));
    }
  }
  const auto want = run(beforehand, options_of(ScaleMethod::none, 1, features));
  ASSERT_EQ(want.size(), 3u);
  for (const int threads : {1, 3}) expect_same(run(clip, options_of(method, threads, features)), want);
}

class SessionScaleTest : public testing::Test {
 protected:
  ModelPath no_files_{""};
};

constexpr Chroma k420 = Chroma::c420, k422 = Chroma::c422, k444 = Chroma::c444, k400 = Chroma::c400;

TEST_F(SessionScaleTest, EqualsScalingBeforehand) {
  for (const ScaleMethod method : kScaleMethods) {
    expect_as_defined({format_of(96, 64, 8, k420), {format_of(64, 48, 8, k420)}, {}}, method);
    expect_as_defined({format_of(96, 64, 10, k420), {format_of(150, 99, 10, k420)}, {}}, method);
  }
}

TEST_F(SessionScaleTest, Depths) {
  expect_as_defined({format_of(96, 64, 10, k420), {format_of(48, 32, 8, k420)}, {}}, ScaleMethod::bicubic);
  expect_as_defined({format_of(96, 64, 8, k420), {format_of(48, 32, 10, k420)}, {}}, ScaleMethod::bicubic);
  expect_as_defined({format_of(96, 64, 16, k420), {format_of(48, 80, 12, k420)}, {}}, ScaleMethod::lanczos);
}

TEST_F(SessionScaleTest, HighBitsAndInterleavedChroma) {
  expect_as_defined({format_of(97, 65, 10, k420), {format_of(65, 43, 10, k420)}, {6, true}},
                    ScaleMethod::bicubic, "vif=enable_chroma=true");
  expect_as_defined({format_of(97, 65, 8, k420), {format_of(65, 43, 8, k420)}, {0, true}},
                    ScaleMethod::bicubic, "vif=enable_chroma=true");
}

// Every plane from its own size.
TEST_F(SessionScaleTest, Chroma) {
  for (const Chroma chroma : {k420, k422, k444})
    expect_as_defined({format_of(97, 65, 8, chroma), {format_of(71, 51, 8, chroma)}, {}},
                      ScaleMethod::bicubic, "vif=enable_chroma=true");
  // Luma alone is compared: chroma may be of any kind.
  expect_as_defined({format_of(96, 64, 8, k420), {format_of(64, 48, 8, k444)}, {}}, ScaleMethod::bicubic);
  expect_as_defined({format_of(96, 64, 8, k400), {format_of(64, 48, 8, k420)}, {}}, ScaleMethod::bicubic);
}

TEST_F(SessionScaleTest, SeveralSizesAtOnce) {
  expect_as_defined({format_of(96, 64, 8, k420),
                     {format_of(48, 32, 8, k420), format_of(96, 64, 8, k420), format_of(144, 100, 8, k420),
                      format_of(96, 40, 10, k420), format_of(33, 64, 8, k420)},
                     {}},
                    ScaleMethod::bicubic);
}

// Many strips of each plane.
TEST_F(SessionScaleTest, LargePictures) {
  expect_as_defined({format_of(1280, 720, 8, k420), {format_of(854, 480, 8, k420)}, {}}, ScaleMethod::bicubic,
                    "vif=enable_chroma=true");
  expect_as_defined({format_of(854, 480, 8, k420), {format_of(1280, 720, 8, k420)}, {}},
                    ScaleMethod::lanczos);
}

TEST_F(SessionScaleTest, OnePixel) {
  expect_as_defined({format_of(640, 360, 8, k420), {format_of(1, 1, 8, k420)}, {}}, ScaleMethod::bicubic);
}

TEST_F(SessionScaleTest, MethodsDiffer) {
  Clip clip;
  for (int frame = 0; frame < 2; ++frame)
    clip.push_back(
        {textured(format_of(96, 64, 8, k420), frame, 0), textured(format_of(64, 40, 8, k420), frame, 1)});
  const auto bicubic = run(clip, options_of(ScaleMethod::bicubic, 2)),
             bilinear = run(clip, options_of(ScaleMethod::bilinear, 2)),
             lanczos = run(clip, options_of(ScaleMethod::lanczos, 2));
  EXPECT_NE(bicubic[1].dist[0].models, bilinear[1].dist[0].models);
  EXPECT_NE(bicubic[1].dist[0].models, lanczos[1].dist[0].models);
  expect_same(run(clip,
                  [] {
                    auto options = options_of(ScaleMethod::lanczos, 2);
                    options.scale = SessionOptions().scale;
                    return options;
                  }()),
              bicubic);
}

// A session changes sizes on the way, as on a ladder of bit rates.
TEST_F(SessionScaleTest, SizesMayChange) {
  const PictureFormat ref = format_of(96, 64, 8, k420);
  const auto session = make_session();
  for (const PictureFormat &dist : {format_of(48, 32, 8, k420), ref, format_of(64, 40, 8, k420), ref}) {
    std::vector<Pair> clip;
    Clip alone;
    for (int frame = 0; frame < 4; ++frame) {
      clip.push_back({textured(ref, frame, 0), textured(dist, frame, 1)});
      alone.push_back({clip.back().ref, clip.back().dist});
    }
    ASSERT_TRUE(session->configure(ref, dist).ok());
    expect_same(run_clip(*session, clip), run(alone, options_of(ScaleMethod::bicubic, 1, "")));
  }
}

TEST_F(SessionScaleTest, TimeIsCountedApart) {
  SessionOptions options = options_of(ScaleMethod::bicubic, 1);
  options.stage_times = true;
  auto session = Session::create(options);
  ASSERT_TRUE(session.ok());
  const PictureFormat ref = format_of(640, 360, 8, k420);
  const auto seconds = [&](const PictureFormat &dist) {
    EXPECT_TRUE((*session)->configure(ref, dist).ok());
    EXPECT_TRUE((*session)->submit(textured(ref, 0, 0), textured(dist, 0, 1)));
    (*session)->finish();
    FrameScores scores;
    while ((*session)->wait(scores) == Session::Next::ready) {
    }
    std::map<std::string, double> times;
    for (const StageTime &t : (*session)->stage_times()) times[t.extractor] += t.seconds;
    EXPECT_TRUE(times.count("unpack") && times.count("scale"));
    return times["scale"];
  };
  EXPECT_GT(seconds(format_of(320, 180, 8, k420)), 0);
  EXPECT_EQ(seconds(ref), 0);
}

TEST_F(SessionScaleTest, NoAllocationPerFrame) {
  const PictureFormat ref = format_of(96, 64, 8, k420), dist = format_of(64, 40, 8, k420);
  const auto session = make_session("vmaf_v0.6.1", "", 2);
  ASSERT_TRUE(session->configure(ref, dist).ok());
  const Picture a = textured(ref, 0, 0), b = textured(dist, 0, 1);
  FrameScores scores;
  const auto frames = [&](int count) {
    for (int i = 0; i < count; ++i)
      while (!session->submit(a, b)) ASSERT_EQ(session->wait(scores), Session::Next::ready);
  };
  frames(50);
  const uint64_t before = allocations;
  frames(100);
  if (!kSanitized) {
    EXPECT_EQ(allocations, before);
  }
}

// ---- What is refused ------------------------------------------------------------------------------------------

Status configure(const PictureFormat &ref, const PictureFormat &dist, ScaleMethod method,
                 const std::string &features = "motion") {
  SessionOptions options = options_of(method, 1, features);
  options.models = "";
  return (*Session::create(options))->configure(ref, dist);
}

void expect_refused(const Status &status, const std::vector<std::string> &words) {
  EXPECT_EQ(status.code(), Code::unsupported);
  for (const std::string &word : words)
    EXPECT_NE(status.message().find(word), std::string::npos) << word << " in: " << status.message();
}

TEST_F(SessionScaleTest, NoneNamesBothSizes) {
  expect_refused(configure({96, 64}, {96, 66}, ScaleMethod::none),
                 {"96x64", "96x66", "scale-method=none", "bicubic", "videoscale"});
  expect_refused(configure({98, 64}, {96, 64}, ScaleMethod::none), {"98x64", "96x64", "scale-method=none"});
  EXPECT_TRUE(configure({96, 64}, {96, 64}, ScaleMethod::none).ok());
}

TEST_F(SessionScaleTest, TooLarge) {
  EXPECT_TRUE(configure({10, 10}, {640, 640}, ScaleMethod::bicubic).ok());
  EXPECT_TRUE(configure({11, 11}, {704, 703}, ScaleMethod::bicubic, "vif=enable_chroma=true|motion").code() ==
              Code::unsupported);  // too small for vif, not too large to scale
  expect_refused(configure({10, 10}, {641, 640}, ScaleMethod::bicubic), {"641x640", "10x10", "64 times"});
  expect_refused(configure({10, 10}, {640, 641}, ScaleMethod::lanczos), {"640x641", "10x10", "64 times"});
  EXPECT_TRUE(configure({3840, 2160}, {1, 1}, ScaleMethod::bicubic).ok());
}

TEST_F(SessionScaleTest, OtherChromaIsRefusedIfItIsCompared) {
  expect_refused(
      configure({96, 64, 8, k420}, {48, 32, 8, k444}, ScaleMethod::bicubic, "vif=enable_chroma=true"),
      {"4:2:0", "4:4:4"});
}

}  // namespace
}  // namespace vmafhip
