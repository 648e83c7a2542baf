// Every extractor against libvmaf's own figures, on the 22 clips of tests/golden: default options with all additional
// outputs, all variants, what only a fork has, values of the whole stream. To the last bit, unless the extractor's
// `exactness` says otherwise. A new extractor is in as soon as it is in the registry:
//
//   golden_test --gtest_filter='*psnr_hvs*'
//
// Every instruction set gives the same bits: they are compared with each other too, and the differences printed for one.
// Unless VMAFHIP_TEST_FULL is set (tests/run.sh --full), variants run on the six smallest clips.
//
// With VMAFHIP_TEST_BACKEND=hip the GPU takes the place of the instruction sets, for the extractors that have kernels;
// VMAFHIP_TEST_CASES then says how many of the smallest clips are taken, all if it is not set.
//
// Not here: integer adm with adm_csf_mode=1, where libvmaf's code paths contradict each other, is an error of ours and
// has no figures.
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <tuple>

#include "engine/registry.h"
#include "tests/golden_run.h"

namespace vmafhip {
namespace {

using namespace test;

// libvmaf's extractors and its fork's. `null` has no outputs.
constexpr const char *kOracles[] = {"float_psnr",    "float_ansnr",  "float_adm",    "float_vif",
                                    "float_motion",  "float_moment", "speed_chroma", "speed_temporal",
                                    "float_ms_ssim", "float_ssim",   "ciede",        "psnr",
                                    "psnr_hvs",      "adm",          "motion",       "vif",
                                    "cambi",         "ssim",         "ssimulacra2",  "motion_v2",
                                    "speed_qa"};

// Options that only add outputs: the default run had them on.
constexpr const char *kAddOutputs[] = {"debug", "enable_mse", "enable_apsnr", "enable_lcs"};

// What the fork adds to an extractor of libvmaf's. The rest of such a run has the figures of the default run, under
// names without the suffix.
struct Addition {
  const char *extractor, *option, *suffix;
};
constexpr Addition kAdditions[] = {{"vif", "enable_chroma=true", "_enable_chroma"}};

// The square of the peak does not fit the fork's 32 bits.
struct Overflow {
  const char *score;
  int depth;
};
constexpr Overflow kOverflows[] = {{"ssim", 16}};

// A clip that nothing is refused for.
constexpr const char *kWithEveryVariant = "sd-blur-8";

constexpr const char *kIsas[] = {"scalar", "avx2", "avx512"};
constexpr const char *kGpu = "hip";

std::vector<const char *> units() {
  if (on_gpu()) return {kGpu};
  return {std::begin(kIsas), std::end(kIsas)};
}

bool full() {
  const char *wanted = std::getenv("VMAFHIP_TEST_FULL");
  return wanted && *wanted;
}

std::string widest_isa() {
  for (size_t i = std::size(kIsas); i-- > 0;) {
    ::setenv("VMAFHIP_ISA", kIsas[i], 1);
    const bool good = CpuBackend::choose().ok();
    ::unsetenv("VMAFHIP_ISA");
    if (good) return kIsas[i];
  }
  return "";
}

std::vector<std::string> variant_cases() {
  if (on_gpu()) return chosen_cases();
  std::vector<std::string> names = cases_by_size();
  if (!full()) names.resize(6);
  return names;
}

std::string default_spec(const Extractor &extractor) {
  std::string options;
  for (const char *wanted : kAddOutputs)
    for (const OptionSpec &option : extractor.options)
      if (option.name == std::string(wanted))
        options += (options.empty() ? "=" : ":") + std::string(wanted) + "=true";
  return extractor.name + options;
}

std::string extractor_of(const std::string &spec) { return spec.substr(0, spec.find('=')); }

// What libvmaf says if it refuses the default run of an extractor; "" if it does not.
std::string default_refusal(const golden::Golden &golden, const std::string &extractor) {
  for (const auto &[run, words] : golden.errors()) {
    if (extractor_of(run) != extractor) continue;
    std::string options = run.substr(extractor.size());
    for (const char *added : kAddOutputs) {
      const std::string text = added + std::string("=true");
      if (const size_t at = options.find(text); at != options.npos) options.erase(at, text.size());
    }
    if (options.find_first_not_of("=:") == options.npos) return words;
  }
  return "";
}

// An extractor on one instruction set; skipped where the processor lacks it.
class Golden : public testing::TestWithParam<std::tuple<const Extractor *, const char *>> {
 protected:
  Golden() : judge_(std::string(extractor().exactness) == "bits") {}
  void SetUp() override {
    if (isa() == kGpu) return;
    ::setenv("VMAFHIP_ISA", isa(), 1);
    if (const auto cpu = CpuBackend::choose(); !cpu.ok()) GTEST_SKIP() << cpu.status().message();
  }
  void TearDown() override {
    ::unsetenv("VMAFHIP_ISA");
    if (judge_.values() > 0)
      judge_.print(std::string(extractor().name) + " " + isa(), isa() == kGpu || isa() == widest_isa());
  }
  static const Extractor &extractor() { return *std::get<0>(GetParam()); }
  static const char *isa() { return std::get<1>(GetParam()); }

  // Null if the clip is refused, as it has to be if `refusal` is not empty.
  std::unique_ptr<Scored> run(const std::string &name, const std::string &spec, const std::string &refusal) {
    auto scored = score(name, "", spec);
    if (!refusal.empty()) {
      EXPECT_FALSE(scored.ok()) << name << ", " << spec << ": libvmaf refuses it: " << refusal;
      if (!scored.ok()) {
        EXPECT_EQ(scored.status().code(), Code::unsupported) << scored.status().message();
        EXPECT_NE(scored.status().message().find(extractor().name), std::string::npos)
            << "does not name the metric: " << scored.status().message();
      }
      return nullptr;
    }
    if (!scored.ok()) {
      ADD_FAILURE() << name << ", " << spec << ": " << scored.status().message();
      return nullptr;
    }
    same_on_all(name + ", " + spec, *scored);
    return std::make_unique<Scored>(std::move(*scored));
  }

  void compare_aggregates(const Scored &scored, const golden::Section &run, const std::string &where) {
    EXPECT_EQ(scored.aggregate_names.size(), scored.aggregates.size());
    for (size_t i = 0; i < scored.aggregate_names.size(); ++i) {
      const auto expected = run.aggregate.find(scored.aggregate_names[i]);
      if (expected == run.aggregate.end())
        ADD_FAILURE() << where << ": libvmaf has no " << scored.aggregate_names[i];
      else
        judge_.compare(scored.aggregate_names[i], scored.aggregates[i], expected->second, where);
    }
  }

  // New scores are in the fork's section, the others in the default one without the suffix.
  void compare_addition(const std::string &name, const Addition &addition) {
    const golden::Golden &golden = golden::load(name);
    const auto scored = run(name, std::string(addition.extractor) + "=" + addition.option, "");
    if (!scored) return;
    size_t new_ones = 0;
    for (size_t column = 0; column < scored->names.size(); ++column) {
      std::string score = scored->names[column];
      const bool is_new = golden.run("fork").scores.count(score) != 0;
      new_ones += is_new;
      ASSERT_TRUE(score.ends_with(addition.suffix)) << score;
      if (!is_new) score.resize(score.size() - std::string(addition.suffix).size());
      judge_.compare_feature(*scored, column, golden.run(is_new ? "fork" : "default"), score, name);
    }
    EXPECT_GT(new_ones, 0u) << name;
  }

  Judge judge_;

 private:
  // Against the first instruction set that ran the same.
  static void same_on_all(const std::string &what, const Scored &scored) {
    std::vector<uint64_t> bits;
    for (const FrameScores &frame : scored.frames)
      for (const double value : frame.dist[0].features) bits.push_back(std::bit_cast<uint64_t>(value));
    for (const double value : scored.aggregates) bits.push_back(std::bit_cast<uint64_t>(value));
    static std::map<std::string, std::pair<std::string, std::vector<uint64_t>>> first;
    const auto [known, is_new] = first.emplace(what, std::pair(isa(), bits));
    EXPECT_TRUE(known->second.second == bits)
        << what << ": " << isa() << " and " << known->second.first << " give different bits";
  }
};

// Figures to leave out: those that libvmaf itself is not sure of, and those of an arithmetic that overflows.
bool is_void(const golden::Golden &golden, const std::string &score) {
  if (std::count(golden.unstable().begin(), golden.unstable().end(), score) > 0) return true;
  return std::any_of(std::begin(kOverflows), std::end(kOverflows), [&](const Overflow &overflow) {
    return score == overflow.score && golden.parameters().depth == overflow.depth;
  });
}

TEST_P(Golden, Default) {
  const std::string spec = default_spec(extractor());
  for (const std::string &name : chosen_cases()) {
    const golden::Golden &golden = golden::load(name);
    const auto scored = run(name, spec, default_refusal(golden, extractor().name));
    if (!scored) continue;
    std::vector<size_t> places;  // in libvmaf's order
    for (size_t column = 0; column < scored->names.size(); ++column) {
      const std::string &score = scored->names[column];
      if (is_void(golden, score)) continue;
      const bool of_fork = !golden.run("default").scores.count(score);
      const golden::Section &section = golden.run(of_fork ? "fork" : "default");
      judge_.compare_feature(*scored, column, section, score, name);
      places.push_back(
          size_t(std::find(section.names.begin(), section.names.end(), score) - section.names.begin()));
    }
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end())) << name << ": not in libvmaf's order";
    compare_aggregates(*scored, golden.run("default"), name);
  }
  for (const Addition &addition : kAdditions)
    if (std::string(addition.extractor) == extractor().name)
      for (const std::string &name : chosen_cases()) compare_addition(name, addition);
}

// Those whose options other than the default have figures.
std::vector<const Extractor *> extractors_with_variants() {
  std::set<const Extractor *> found;
  for (const std::string &title : golden::load(kWithEveryVariant).titles())
    if (title.starts_with("variant ")) found.insert(find_extractor(extractor_of(title.substr(8))));
  return {found.begin(), found.end()};
}

class GoldenVariants : public Golden {};

TEST_P(GoldenVariants, OfOptions) {
  for (const std::string &name : variant_cases()) {
    const golden::Golden &golden = golden::load(name);
    std::map<std::string, std::string> specs;  // with libvmaf's words where it refuses them
    for (const std::string &title : golden.titles())
      if (title.starts_with("variant ")) specs.emplace(title.substr(8), "");
    for (const auto &[run, words] : golden.errors())
      if (extractor_of(run) == extractor().name && golden::load(kWithEveryVariant).has("variant " + run)) {
        EXPECT_TRUE(specs.emplace(run, words).second) << run << " both is refused and has figures";
      }
    for (const auto &[spec, refusal] : specs) {
      if (extractor_of(spec) != extractor().name) continue;
      const auto scored = run(name, spec, refusal);
      if (!scored) continue;
      const std::string where = name + ", " + spec;
      const golden::Section &section = golden.run("variant " + spec);
      std::vector<std::string> names = scored->names, expected = section.names;
      std::erase_if(names, [&](const auto &score) { return is_void(golden, score); });
      EXPECT_EQ(names, expected) << where;
      for (size_t column = 0; column < scored->names.size(); ++column)
        if (!is_void(golden, scored->names[column]))
          judge_.compare_feature(*scored, column, section, scored->names[column], where);
      EXPECT_EQ(scored->aggregate_names.size(), section.aggregate.size()) << where;
      compare_aggregates(*scored, section, where);
    }
  }
}

std::string name_of(const testing::TestParamInfo<Golden::ParamType> &info) {
  return std::string(std::get<0>(info.param)->name) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Extractors, Golden,
                         testing::Combine(testing::ValuesIn(extractors()), testing::ValuesIn(units())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Extractors, GoldenVariants,
                         testing::Combine(testing::ValuesIn(extractors_with_variants()),
                                          testing::ValuesIn(units())),
                         name_of);

// ---- Nothing is left out ----------------------------------------------------------------------------------

void add_names(const std::string &spec, std::set<std::string> &names) {
  SessionOptions options;
  options.models = "";
  options.features = spec;
  const auto session = Session::create(options);
  ASSERT_TRUE(session.ok()) << session.status().message();
  names.insert((*session)->feature_names().begin(), (*session)->feature_names().end());
  names.insert((*session)->aggregate_names().begin(), (*session)->aggregate_names().end());
}

TEST(GoldenCoverage, EveryScoreBelongsToAnExtractor) {
  std::set<std::string> missing, covered, uncovered;
  for (const char *name : kOracles) {
    if (find_extractor(name))
      add_names(default_spec(*find_extractor(name)), covered);
    else
      missing.insert(name);
  }
  for (const Addition &addition : kAdditions)
    add_names(std::string(addition.extractor) + "=" + addition.option, covered);
  for (const std::string &name : golden::case_names()) {
    const golden::Golden &golden = golden::load(name);
    for (const char *title : {"default", "fork"}) {
      for (const auto &[score, values] : golden.run(title).scores)
        if (!covered.count(score)) uncovered.insert(score);
      for (const auto &[score, value] : golden.run(title).aggregate)
        if (!covered.count(score)) uncovered.insert(score);
    }
    for (const std::string &title : golden.titles()) {
      if (!title.starts_with("variant ")) continue;
      const std::string extractor = extractor_of(title.substr(8));
      EXPECT_TRUE(std::count(std::begin(kOracles), std::end(kOracles), extractor)) << title;
    }
  }
  const auto list = [](const std::set<std::string> &names) {
    std::string text;
    for (const std::string &name : names) text += " " + name;
    return text;
  };
  EXPECT_EQ(list(missing), "") << "extractors of libvmaf or its fork that are not registered";
  EXPECT_EQ(list(uncovered), "");
}

// A refusal that nobody runs into would go unnoticed.
TEST(GoldenCoverage, EveryRefusalIsOfARun) {
  for (const std::string &name : golden::case_names())
    for (const auto &[run, words] : golden::load(name).errors()) {
      if (run.starts_with("model ")) continue;
      const bool variant = golden::load(kWithEveryVariant).has("variant " + run);
      EXPECT_TRUE(variant || !default_refusal(golden::load(name), extractor_of(run)).empty())
          << name << ": " << run;
    }
}

}  // namespace
}  // namespace vmafhip
