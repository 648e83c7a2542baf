// Sessions that come and go on GPUs from many threads, are left in the middle, and go on when the GPU fails: scores are
// the CPU's, and nothing is left behind.
#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <utility>

#include "tests/hipsim_control.h"
#include "tests/session_run.h"

namespace vmafhip {
namespace {

using namespace test;

class HipStress : public testing::Test {
 protected:
  void SetUp() override {
    hipsim_.reset("devices=2");
    SessionOptions options;
    options.backend = Backend::cpu;
    auto session = std::move(*Session::create(options));
    const Status status = session->configure(clip_[0].ref.format, clip_[0].dist.format);
    ASSERT_TRUE(status.ok()) << status.message();
    expected_ = run_clip(*session, clip_);
    ASSERT_EQ(expected_.size(), clip_.size());
  }
  void TearDown() override {
    EXPECT_EQ(hipsim_.leaks(), 0u);
    EXPECT_EQ(hipsim_.reports(), "");
    hipsim_.reset();
  }
  std::unique_ptr<Session> session(Backend backend, std::mt19937 &random) const {
    SessionOptions options;
    options.backend = backend;
    options.device = int(random() % 3) - 1;
    options.batch = int(random() % 4);
    options.threads = 1 + int(random() % 2);
    auto session = Session::create(options);
    EXPECT_TRUE(session.ok()) << session.status().message();
    if (!session.ok()) return nullptr;
    const Status status = (*session)->configure(clip_[0].ref.format, clip_[0].dist.format);
    EXPECT_TRUE(status.ok()) << status.message();
    return status.ok() ? std::move(*session) : nullptr;
  }
  // Runs `work` in threads, each with numbers of its own.
  static void in_threads(unsigned count, const std::function<void(std::mt19937 &)> &work) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; ++t)
      threads.emplace_back([&work, t] {
        std::mt19937 random(t);
        work(random);
      });
    for (std::thread &thread : threads) thread.join();
  }

  HipSim hipsim_;
  const std::vector<Pair> clip_ = small_clip(5, 80, 64);
  std::vector<FrameScores> expected_;
};

TEST_F(HipStress, SessionsComeAndGo) {
  std::atomic<int> on_gpu{0};
  in_threads(4, [&](std::mt19937 &random) {
    for (int i = 0; i < 6; ++i) {
      const auto measured = session(Backend::hip, random);
      if (!measured) return;
      on_gpu += measured->device_bytes() > 0;
      if (random() % 2) {  // left, or begun anew, while frames are in flight
        for (const Pair &pair : clip_) measured->submit(pair.ref, pair.dist);
        if (random() % 2) continue;
        measured->reset();
      }
      expect_same(run_clip(*measured, clip_), expected_);
    }
  });
  EXPECT_EQ(on_gpu, 24);
}

// With device=-1 each new session takes the GPU that the fewest use.
TEST_F(HipStress, SpreadOverGpus) {
  hipsim_.configure("devices=3");
  const auto open = [&] {
    auto session = Session::create({.backend = Backend::hip, .threads = 1});
    EXPECT_TRUE(session.ok()) << session.status().message();
    const Status status = (*session)->configure(clip_[0].ref.format, clip_[0].dist.format);
    EXPECT_TRUE(status.ok()) << status.message();
    return std::move(*session);
  };
  const auto number = [](const std::unique_ptr<Session> &session) {
    const std::string text = session->backend_description();
    for (int gpu = 0; gpu < 3; ++gpu)
      if (text.find("simulated GPU " + std::to_string(gpu)) != std::string::npos) return gpu;
    ADD_FAILURE() << text;
    return 0;
  };
  std::vector<std::unique_ptr<Session>> sessions;
  std::array<int, 3> users{};
  for (int i = 0; i < 6; ++i) {
    sessions.push_back(open());
    ++users[size_t(number(sessions.back()))];
  }
  EXPECT_EQ(users, (std::array<int, 3>{2, 2, 2}));

  // All of one GPU's go, and one of another's: three new ones take their places.
  users = {};
  std::erase_if(sessions, [&](const auto &session) { return number(session) == 1; });
  std::erase_if(sessions, [&, gone = false](const auto &session) mutable {
    return number(session) == 2 && !std::exchange(gone, true);
  });
  ASSERT_EQ(sessions.size(), 3u);
  for (int i = 0; i < 3; ++i) sessions.push_back(open());
  for (const auto &session : sessions) ++users[size_t(number(session))];
  EXPECT_EQ(users, (std::array<int, 3>{2, 2, 2}));

  std::vector<std::thread> threads;
  for (const auto &session : sessions)
    threads.emplace_back([&] { expect_same(run_clip(*session, clip_), expected_); });
  for (std::thread &thread : threads) thread.join();
}

TEST_F(HipStress, GpusThatFailNowAndThen) {
  std::atomic<bool> done{false};
  std::thread failures([&] {
    const char *const all[] = {"malloc:1", "launch:3", "sync:2",   "lost:40", "copy:5+",
                               "host:1",   "event:7",  "stream:2", "module:1"};
    std::mt19937 random(99);
    while (!done) {
      hipsim_.configure(std::string("fail=") + all[random() % std::size(all)]);
      std::this_thread::sleep_for(std::chrono::milliseconds(1 + random() % 8));
      hipsim_.configure("fail=");
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 16));
    }
  });
  in_threads(3, [&](std::mt19937 &random) {
    for (int i = 0; i < 8; ++i)
      if (const auto measured = session(Backend::automatic, random))
        expect_same(run_clip(*measured, clip_), expected_);
  });
  done = true;
  failures.join();
}

}  // namespace
}  // namespace vmafhip
