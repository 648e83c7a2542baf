// Small clips and whole runs of a session, for the tests of it.
#pragma once
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/session.h"
#include "tests/clip_picture.h"
#include "tests/model_files.h"

namespace vmafhip::test {

struct Pair {
  Picture ref, dist;
};

inline std::vector<Pair> small_clip(int frames = 8, int width = 96, int height = 64, int depth = 8) {
  const clipgen::Format format{width, height, frames, depth};
  const clipgen::Generator generator("natural-blur", format);
  std::vector<Pair> pairs;
  for (int n = 0; n < frames; ++n)
    pairs.push_back({to_picture(format, generator.frame(clipgen::Role::reference, n)),
                     to_picture(format, generator.frame(clipgen::Role::distorted, n))});
  return pairs;
}

// Throws if it cannot be had.
inline std::unique_ptr<Session> make_session(const std::string &models = "vmaf_v0.6.1",
                                             const std::string &features = "", int threads = 2) {
  SessionOptions options;
  options.models = models;
  options.features = features;
  options.threads = threads;
  auto session = Session::create(options);
  if (!session.ok()) throw std::runtime_error(session.status().message());
  return std::move(*session);
}

enum class Pace {
  full,       // submits whenever there is room
  reluctant,  // takes scores whenever there are any
  polling,    // never blocks
};

inline std::vector<FrameScores> run_clip(Session &session, const std::vector<Pair> &clip,
                                         Pace pace = Pace::full) {
  std::vector<FrameScores> all;
  FrameScores scores;
  const auto keep = [&](Session::Next next) {
    if (next == Session::Next::ready) all.push_back(scores);
    return next == Session::Next::ready;
  };
  for (const Pair &pair : clip) {
    if (pace == Pace::reluctant)
      while (keep(session.wait(scores))) {
      }
    while (!session.submit(pair.ref, pair.dist)) {
      const auto next = pace == Pace::polling ? session.next(scores) : session.wait(scores);
      // No room, and none to come: where frames are not scored, they can have been measured since.
      if (!keep(next) && next != Session::Next::pending && !session.has_room()) return all;
    }
  }
  session.finish();
  for (;;) {
    const auto next = pace == Pace::polling ? session.next(scores) : session.wait(scores);
    if (!keep(next) && next != Session::Next::pending) return all;
  }
}

inline std::vector<uint64_t> bits_of(const std::vector<double> &values) {
  std::vector<uint64_t> bits;
  for (double v : values) bits.push_back(std::bit_cast<uint64_t>(v));
  return bits;
}

inline void expect_same(const PictureScores &a, const PictureScores &b, size_t frame) {
  ASSERT_EQ(bits_of(a.features), bits_of(b.features)) << frame;
  ASSERT_EQ(bits_of(a.models), bits_of(b.models)) << frame;
  ASSERT_EQ(a.extrapolated, b.extrapolated) << frame;
}

inline void expect_same(const std::vector<FrameScores> &a, const std::vector<FrameScores> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t n = 0; n < a.size(); ++n) {
    ASSERT_EQ(a[n].index, b[n].index) << n;
    ASSERT_EQ(a[n].warm_up, b[n].warm_up) << n;
    ASSERT_EQ(a[n].dist.size(), b[n].dist.size()) << n;
    for (size_t d = 0; d < a[n].dist.size(); ++d) expect_same(a[n].dist[d], b[n].dist[d], n);
  }
}

// Of a clip in one format, in a session of its own.
inline std::vector<FrameScores> scores_of(const std::vector<Pair> &clip, int threads = 2,
                                          const std::string &models = "vmaf_v0.6.1") {
  const auto session = make_session(models, "", threads);
  const Status status = session->configure(clip[0].ref.format, clip[0].dist.format);
  EXPECT_TRUE(status.ok()) << status.message();
  return run_clip(*session, clip);
}

}  // namespace vmafhip::test
