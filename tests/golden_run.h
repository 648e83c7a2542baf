// The clips of the golden files in a session, and its scores against those of the files.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/session.h"
#include "tests/clip_picture.h"
#include "tests/golden.h"

namespace vmafhip::test {

struct Pair {
  Picture ref, dist;
};

// The clips of a case, made once.
inline const std::vector<Pair> &clip_of(const std::string &name) {
  static std::map<std::string, std::vector<Pair>> clips;
  std::vector<Pair> &pairs = clips[name];
  if (pairs.empty()) {
    const clipgen::Generator generator = generator_of(golden::load(name).parameters());
    for (int i = 0; i < generator.format().frames; ++i)
      pairs.push_back({to_picture(generator.format(), generator.frame(clipgen::Role::reference, i)),
                       to_picture(generator.format(), generator.frame(clipgen::Role::distorted, i))});
  }
  return pairs;
}

// VMAFHIP_TEST_BACKEND=hip: on the GPU, and then on nothing else.
inline bool on_gpu() {
  const char *wanted = std::getenv("VMAFHIP_TEST_BACKEND");
  return wanted && std::string(wanted) == "hip";
}

// Smallest first, by samples of the whole clip.
inline std::vector<std::string> cases_by_size() {
  std::vector<std::string> names = golden::case_names();
  const auto samples = [](const std::string &name) {
    const golden::Case &c = golden::load(name).parameters();
    return int64_t(c.width) * c.height * c.frames;
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const auto &a, const auto &b) { return samples(a) < samples(b); });
  return names;
}

// Names of all cases; of the VMAFHIP_TEST_CASES smallest on the GPU, since a simulated one is slow.
inline std::vector<std::string> chosen_cases() {
  const char *most = on_gpu() ? std::getenv("VMAFHIP_TEST_CASES") : nullptr;
  if (!most || !*most) return golden::case_names();
  std::vector<std::string> names = cases_by_size();
  names.resize(std::min(names.size(), size_t(std::max(1, std::atoi(most)))));
  return names;
}

// One session over one whole clip: names, scores a frame, pools, values of the whole.
struct Scored {
  std::vector<std::string> names, aggregate_names;
  std::vector<ModelInfo> models;
  std::vector<FrameScores> frames;
  std::vector<RunningPool> feature_pools, model_pools;
  std::vector<double> aggregates;
};

// The error is that of the session's create() or configure(); whatever goes wrong later is a failure of the test.
inline Result<Scored> score(const std::string &name, const std::string &models, const std::string &features) {
  SessionOptions options;
  options.models = models;
  options.features = features;
  options.backend = on_gpu() ? Backend::hip : Backend::cpu;
  auto session = Session::create(options);
  if (!session.ok()) return session.status();
  Session &s = **session;
  const std::vector<Pair> &pairs = clip_of(name);
  const PictureFormat format = pairs.front().ref.format;
  if (Status status = s.configure(format, format); !status.ok()) return status;
  Scored result;
  FrameScores scores;
  for (const Pair &pair : pairs)
    while (!s.submit(pair.ref, pair.dist)) {
      if (s.wait(scores) != Session::Next::ready) {
        ADD_FAILURE() << "no room, and no score to take";
        return result;
      }
      result.frames.push_back(scores);
    }
  s.finish();
  while (s.wait(scores) == Session::Next::ready) result.frames.push_back(scores);
  EXPECT_EQ(result.frames.size(), pairs.size());
  for (size_t i = 0; i < result.frames.size(); ++i) EXPECT_EQ(result.frames[i].index, i);
  result.names = s.feature_names();
  result.aggregate_names = s.aggregate_names();
  result.models = s.models();
  result.feature_pools = s.feature_pools();
  result.model_pools = s.model_pools();
  result.aggregates = s.aggregates();
  return result;
}

inline std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

// Compares with libvmaf's figures, either bits or within the tolerance of the field, and remembers the largest
// differences.
class Judge {
 public:
  // 1e-6 of the value or 5e-5, whichever is larger: half of the fourth decimal.
  static double allowed(double expected) { return std::max(5e-5, 1e-6 * std::abs(expected)); }

  explicit Judge(bool bits) : bits_(bits) {}

  void compare(const std::string &name, double actual, double expected, const std::string &where) {
    ++values_;
    Largest &largest = largest_[name];
    if (std::bit_cast<uint64_t>(actual) == std::bit_cast<uint64_t>(expected) ||
        (std::isnan(actual) && std::isnan(expected)))
      return;
    const double difference = std::isfinite(actual) && std::isfinite(expected)
                                  ? std::abs(actual - expected)
                                  : std::numeric_limits<double>::infinity();
    if (difference / allowed(expected) >= largest.of_allowed)
      largest = {difference, difference / allowed(expected), where};
    if (bits_ || !(difference <= allowed(expected)))
      ADD_FAILURE() << name << ", " << where << ": " << digits(actual) << ", libvmaf says "
                    << digits(expected);
  }

  // Every value of feature `column` and its pools against the same score of libvmaf's run.
  void compare_feature(const Scored &scored, size_t column, const golden::Section &run,
                       const std::string &run_name, const std::string &where) {
    const std::string &name = scored.names[column];
    const auto expected = run.scores.find(run_name);
    if (expected == run.scores.end()) {
      ADD_FAILURE() << where << ": libvmaf has no " << run_name;
      return;
    }
    for (size_t i = 0; i < scored.frames.size(); ++i)
      compare(name, scored.frames[i].dist[0].features[column], expected->second[i],
              where + ", frame " + std::to_string(i));
    const RunningPool &pool = scored.feature_pools[column];
    const golden::Pooled &pooled = run.pooled.find(run_name)->second;
    compare(name, pool.get(PoolMethod::mean), pooled.mean, where + ", mean");
    compare(name, pool.get(PoolMethod::min), pooled.min, where + ", min");
    compare(name, pool.get(PoolMethod::max), pooled.max, where + ", max");
    compare(name, pool.get(PoolMethod::harmonic_mean), pooled.harmonic_mean, where + ", harmonic mean");
  }

  // How many outputs differ, and with `details` by how much.
  void print(const std::string &title, bool details) const {
    size_t same = 0;
    for (const auto &[name, largest] : largest_) {
      if (largest.of_allowed == 0)
        ++same;
      else if (details)
        std::printf("  %s: %s differs by at most %.3g (%.2g of what is allowed; %s)\n", title.c_str(),
                    name.c_str(), largest.difference, largest.of_allowed, largest.where.c_str());
    }
    std::printf("  %s: %zu of %zu outputs equal in every bit, %zu values compared\n", title.c_str(), same,
                largest_.size(), values_);
  }
  size_t values() const { return values_; }

 private:
  struct Largest {
    double difference = 0, of_allowed = 0;
    std::string where;
  };
  const bool bits_;
  size_t values_ = 0;
  std::map<std::string, Largest> largest_;
};

}  // namespace vmafhip::test
