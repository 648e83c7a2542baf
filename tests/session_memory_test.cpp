// The memory that a session works in: how much it is, that there is no other, and that it stays where it is.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "tests/session_run.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // sanitizers take memory as they like
#else
constexpr bool kSanitized = false;
#endif

namespace vmafhip {
namespace {

using namespace test;
using Next = Session::Next;

constexpr uint64_t kMiB = 1 << 20;

class SessionMemoryTest : public testing::Test {
 protected:
  SessionMemoryTest() {
    mallopt(M_PERTURB, 0);
  }  // Meson has memory filled that nobody uses, gigabytes of it here

  ModelPath no_files_{""};  // fitted surfaces only
};

std::unique_ptr<Session> make_cpu_session(const std::string &models, int threads,
                                          const std::string &features = "") {
  SessionOptions options;
  options.models = models;
  options.features = features;
  options.backend = Backend::cpu;
  options.threads = threads;
  auto session = Session::create(options);
  EXPECT_TRUE(session.ok()) << session.status().message();
  return std::move(*session);
}

uint64_t bytes_of(const std::string &models, const PictureFormat &format, int threads) {
  const auto session = make_cpu_session(models, threads);
  EXPECT_EQ(session->host_bytes(), 0u) << "before configure()";
  const Status status = session->configure(format, format);
  EXPECT_TRUE(status.ok()) << status.message();
  return session->host_bytes();
}

TEST_F(SessionMemoryTest, WorkingSetOfTwoWorkers) {
  for (const char *models : {"vmaf_v0.6.1", "vmaf_v0.6.1|vmaf_v0.6.1neg", "vmaf_4k_v0.6.1",
                             "vmaf_v1.0.16_3d0h", "vmaf_v1.0.16_1d5h_2160"})
    for (const int depth : {8, 10}) {
      SCOPED_TRACE(testing::Message() << models << ", " << depth << " bits");
      const uint64_t hd = bytes_of(models, {1920, 1080, depth}, 2),
                     uhd = bytes_of(models, {3840, 2160, depth}, 2);
      EXPECT_LE(hd, 24 * kMiB);
      EXPECT_LE(uhd, 80 * kMiB);
      // Were it not measured, it would be less than that.
      EXPECT_GE(hd, 4 * kMiB);
      EXPECT_GE(uhd, 3 * hd);
    }
}

TEST_F(SessionMemoryTest, NoMoreFramesThanWorkersCanWorkOn) {
  const PictureFormat small = {64, 64, 8}, uhd = {3840, 2160, 10};
  EXPECT_GT(bytes_of("vmaf_v0.6.1", small, 16), 12 * bytes_of("vmaf_v0.6.1", small, 1));
  EXPECT_LT(bytes_of("vmaf_v0.6.1", uhd, 64), 10 * bytes_of("vmaf_v0.6.1", uhd, 1));
  // Nor more pictures than these and the ones that follow.
  const auto session = make_cpu_session("vmaf_v0.6.1", 64);
  const int most = session->max_in_flight();
  EXPECT_GE(most, 64);
  ASSERT_TRUE(session->configure(small, small).ok());
  EXPECT_EQ(session->max_in_flight(), most);
  ASSERT_TRUE(session->configure(uhd, uhd).ok());
  EXPECT_LE(session->max_in_flight(), 12);
  const uint64_t huge = bytes_of("vmaf_v0.6.1", {16384, 8640, 8}, 2);
  EXPECT_LE(huge, 900 * kMiB) << "as much as two pairs of its pictures";
}

uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0, resident = 0;
  EXPECT_TRUE(file >> all >> resident);
  return resident * uint64_t(sysconf(_SC_PAGESIZE));
}

// Submits frames of the clip, over and over, and takes what scores there are.
void run_frames(Session &session, const std::vector<Pair> &clip, size_t frames) {
  FrameScores scores;
  for (size_t n = 0; n < frames; ++n) {
    const Pair &pair = clip[n % clip.size()];
    while (!session.submit(pair.ref, pair.dist)) ASSERT_EQ(session.wait(scores), Next::ready);
  }
}

TEST_F(SessionMemoryTest, ThereIsNoOther) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes memory as it likes";
  const auto clip = small_clip(3, 1280, 720, 10);
  malloc_trim(0);  // what the clip's maker left would be taken
  const uint64_t before = resident_bytes();
  const auto session = make_cpu_session("vmaf_v0.6.1|vmaf_v0.6.1neg", 2, "speed_chroma");
  ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
  run_frames(*session, clip, 12);
  const uint64_t after = resident_bytes(), taken = after > before ? after - before : 0;
  // Code, tables, models and stacks come to half of this.
  EXPECT_LE(taken, session->host_bytes() + 3 * kMiB);
}

// Planes of the session's own count as soon as there are any.
TEST_F(SessionMemoryTest, UnpackedPlanes) {
  const auto shallow = small_clip(2, 320, 180, 8), deep = small_clip(2, 320, 180, 10);
  const auto session = make_cpu_session("", 1, "psnr=enable_chroma=false");
  ASSERT_TRUE(session->configure(shallow[0].ref.format, deep[0].dist.format).ok());
  const uint64_t before = session->host_bytes();
  FrameScores scores;
  for (int n = 0; n < 2; ++n) {
    ASSERT_TRUE(session->submit(shallow[0].ref, deep[0].dist));
    ASSERT_EQ(session->wait(scores), Next::ready);
    EXPECT_EQ(session->host_bytes() - before, 320u * 180 * 2) << "the reference in words";
  }
  ASSERT_TRUE(session->configure(deep[0].ref.format, deep[0].dist.format).ok());
  ASSERT_TRUE(session->submit(deep[0].ref, deep[0].dist));
  ASSERT_EQ(session->wait(scores), Next::ready);
  EXPECT_EQ(session->host_bytes(), before);
}

uint64_t page_faults() {
  rusage usage;
  EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  return uint64_t(usage.ru_minflt);
}

// Memory that came and went with frames, or whose pages did, would have to be mapped anew each time: pages of blocks as
// large as these are given back to the system when they are freed. Which worker does what is up to chance: it takes a while
// until each has done everything.
TEST_F(SessionMemoryTest, NoPageFaultsOnceItIsWarm) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes memory as it likes";
  const auto shallow = small_clip(3, 480, 272, 8), deep = small_clip(3, 480, 272, 10),
             half = small_clip(3, 240, 136, 10);
  const auto mixed = [&](const std::vector<Pair> &dist) {
    std::vector<Pair> clip;
    for (size_t n = 0; n < 3; ++n) clip.push_back({shallow[n].ref, dist[n].dist});
    return clip;
  };
  for (const auto &clip : {shallow, mixed(deep), mixed(half)})
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(testing::Message() << clip[0].dist.format.width << ", " << threads << " threads");
      const auto session = make_cpu_session("vmaf_v0.6.1|vmaf_v1.0.16_3d0h", threads, "psnr|float_ssim");
      ASSERT_TRUE(session->configure(clip[0].ref.format, clip[0].dist.format).ok());
      uint64_t faults = 1;
      for (int window = 0; window < 15 && faults > 0; ++window) {
        const uint64_t before = page_faults();
        run_frames(*session, clip, 20);
        faults = page_faults() - before;
      }
      EXPECT_EQ(faults, 0u) << "in the last 20 of 300 frames";
    }
}

}  // namespace
}  // namespace vmafhip
