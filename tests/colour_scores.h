// For the tests of metrics that read all planes: scores by name.
#pragma once
#include "tests/colour_run.h"

namespace vmafhip::test {

// Of frames 0, 1, … of a stream with one distorted picture.
inline Scores run_colours(const std::string &name, const OptionTexts &texts,
                          const std::vector<CheckPair> &pairs, const Layout &layout = {}) {
  const Extractor &e = extractor(name);
  const Options options = parse(e, texts);
  const PictureFormat &format = pairs[0].ref.format;
  const auto metric = CpuBackend::choose()->make(e, options, format);
  const auto scorer = e.make_scorer(options, format);
  Scores scores;
  const Emit emit = [&](int output, uint64_t frame, double value) {
    std::vector<double> &values = scores[log_name(e.outputs[static_cast<size_t>(output)], options)];
    EXPECT_EQ(values.size(), frame) << "frames of an output come in order, each once";
    values.push_back(value);
  };
  for (size_t i = 0; i < pairs.size(); ++i) {
    StoredColours frame(pairs[i].ref, {pairs[i].dist}, layout);
    frame.view.index = i;
    scorer->add(i, measure_colours(e, *metric, frame.view)[0].data(), emit);
  }
  scorer->flush(emit);
  return scores;
}

inline std::vector<CheckPair> check_pairs(int depth) {
  return {check_pair(depth, 0), check_pair(depth, 1), check_pair(depth, 2)};
}

// Figures of libvmaf of which 12 digits are written down.
inline void expect_digits(const Scores &scores, const std::string &name,
                          const std::vector<double> &expected) {
  const auto found = scores.find(name);
  ASSERT_NE(found, scores.end()) << name;
  ASSERT_EQ(found->second.size(), expected.size()) << name;
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found->second[i], expected[i], 1e-11 * std::abs(expected[i])) << name << ", frame " << i;
}

}  // namespace vmafhip::test
