// The clips of tests/golden.
#include "tests/clip_picture.h"
#include "tests/parity/cases.h"

namespace vmafhip::parity {
namespace {

void add_feature(SessionOptions &options, const std::string &spec) {
  if (!options.features.empty()) options.features += '|';
  options.features += spec;
}

// One that is off if it is not asked for.
bool has_switch(const Extractor &extractor, std::string_view name) {
  for (const OptionSpec &option : extractor.options)
    if (option.name == name && std::string_view(option.initial) == "false") return true;
  return false;
}

// Whether it measures such pictures, without options.
bool takes(const Extractor &extractor, const PictureFormat &format) {
  const auto options = Options::parse(extractor.name, extractor.options, {});
  return options.ok() && extractor.check(*options, format).ok();
}

// Whether a score, with whatever options in its name, is of an extractor that equals libvmaf in every bit.
bool equals_libvmaf(const std::string &score) {
  for (const Extractor *extractor : extractors()) {
    if (std::string_view(extractor->exactness) == "bits") continue;
    for (const OutputSpec &output : extractor->outputs) {
      const std::string name = *output.alias ? output.alias : output.name;
      if (score == name || score.starts_with(name + "_")) return false;
    }
  }
  return true;
}

}  // namespace

PictureFormat Case::ref_format() const { return ref.at(0).format; }

std::vector<PictureFormat> Case::dist_formats() const {
  std::vector<PictureFormat> formats;
  for (const Picture &picture : dist.at(0)) formats.push_back(picture.format);
  return formats;
}

SessionOptions with_folder(SessionOptions options, const std::string &folder) {
  constexpr std::string_view kName = "FOLDER";
  if (const size_t at = options.features.find(kName); at != std::string::npos)
    options.features.replace(at, kName.size(), folder);
  return options;
}

std::vector<std::string> golden_names() { return golden::case_names(); }

Case golden_case(const std::string &name, int frames, const Extractors &only) {
  const golden::Golden &golden = golden::load(name);
  const clipgen::Generator generator = test::generator_of(golden.parameters());
  const clipgen::Format &format = generator.format();
  Case c;
  c.name = name;
  c.mirrored = 2;
  c.text = golden.parameters().clip + " " + std::to_string(format.width) + "x" +
           std::to_string(format.height) + ", " + std::to_string(format.depth) + " bits";
  const bool whole = frames == 0 || frames >= format.frames;
  for (int n = 0; n < (whole ? format.frames : frames); ++n) {
    c.ref.push_back(test::to_picture(format, generator.frame(clipgen::Role::reference, n)));
    c.dist.push_back({test::to_picture(format, generator.frame(clipgen::Role::distorted, n))});
  }

  c.options.models = "";
  std::vector<std::string> titles = {"default"};
  const auto titles_of_clip = golden.titles();
  for (const Extractor *extractor : only.empty() ? all_extractors() : only) {
    if (!takes(*extractor, c.ref_format())) continue;
    const std::string plain = extractor->name;
    add_feature(c.options, has_switch(*extractor, "debug") ? plain + "=debug=true" : plain);
    for (const std::string &title : titles_of_clip)
      if (title.starts_with("variant " + plain + "=")) {
        add_feature(c.options, title.substr(8));
        titles.push_back(title);
      }
    if (has_switch(*extractor, "enable_chroma")) add_feature(c.options, plain + "=enable_chroma=true");
  }
  if (only.empty()) {
    if (takes(*find_extractor("cambi"), c.ref_format())) add_feature(c.options, kOfTheCpu);
    c.options.models = "vmaf_v0.6.1";
  }
  if (!whole) return c;
  if (golden.has("fork")) titles.push_back("fork");
  for (const std::string &title : titles)
    for (const auto &[score, values] : golden.section(title)) c.expected.emplace(score, values);
  for (const std::string &score : golden.unstable()) c.expected.erase(score);
  std::erase_if(c.expected, [](const auto &figures) { return !equals_libvmaf(figures.first); });
  return c;
}

}  // namespace vmafhip::parity
