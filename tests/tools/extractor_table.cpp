// The README's tables of extractors, from the registry, and of who gives the same bits, from that and tests/parity.
//
//   extractor_table                   prints them
//   extractor_table --check README    exit status 1 unless they stand between their marks in README, word for word
//   extractor_table --write README    puts them there
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/registry.h"
#include "tests/parity/record.h"

namespace {

using namespace vmafhip;

constexpr size_t kWidth = 125;  // of the README's lines

std::string code(const std::string &text) { return "`" + text + "`"; }

std::string join(const std::vector<std::string> &words, const char *between = ", ") {
  std::string all;
  for (const std::string &word : words) all += (all.empty() ? "" : between) + word;
  return all;
}

// Lines of at most kWidth where words allow it.
std::string wrapped(const std::string &text) {
  std::string lines, line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      lines += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return lines + line + "\n";
}

// The options of an extractor as they are when nobody says anything.
Options defaults(const Extractor &extractor) {
  auto options = Options::parse(extractor.name, extractor.options, {});
  if (!options.ok()) throw std::logic_error(options.status().message());
  return *options;
}

// ---- Outputs

std::optional<std::string> at_scale(std::string name, int scale) {
  const size_t at = name.find("scale0");
  if (at == std::string::npos) return std::nullopt;
  return name.replace(at + 5, 1, std::to_string(scale));
}

// Names, those of one kind at scales 0, 1 … as the first and the last.
std::string listed(const std::vector<std::string> &names) {
  const auto there = [&](const std::optional<std::string> &name) {
    return name && std::find(names.begin(), names.end(), *name) != names.end();
  };
  std::vector<std::string> words, dropped;
  for (const std::string &name : names) {
    if (std::find(dropped.begin(), dropped.end(), name) != dropped.end()) continue;
    int scale = 0;
    while (there(at_scale(name, scale + 1))) dropped.push_back(*at_scale(name, ++scale));
    words.push_back(scale == 0 ? code(name) : code(name) + " … " + code(dropped.back()));
  }
  return join(words);
}

// Names of the outputs that exist with the default options.
std::vector<std::string> usual(const Extractor &extractor) {
  const Options options = defaults(extractor);
  std::vector<std::string> found;
  for (const OutputSpec &output : extractor.outputs)
    if (extractor.reports(output, options)) found.push_back(log_name(output, options));
  return found;
}

// Names of those that exist only if `condition`, which is false by default, is true.
std::vector<std::string> conditional(const Extractor &extractor, std::span<const OutputSpec> outputs,
                                     const std::string &condition) {
  const Options options = defaults(extractor);
  std::vector<std::string> found;
  for (const OutputSpec &output : outputs)
    if (!extractor.reports(output, options) && (output.debug ? "debug" : output.when) == condition)
      found.push_back(log_name(output, options));
  return found;
}

// What is reported only if an option asks for it.
std::string further_outputs(const Extractor &extractor) {
  std::vector<std::string> sentences;
  const auto say = [&](const std::string &what, const char *condition, std::span<const OutputSpec> outputs) {
    const auto found = conditional(extractor, outputs, condition);
    if (!found.empty()) sentences.push_back(what + code(condition) + ": " + listed(found) + ".");
  };
  for (const OptionSpec &option : extractor.options) {
    say("Also with ", option.name, extractor.outputs);
    say("Of the whole stream, with ", option.name, extractor.aggregates);
  }
  return join(sentences, " ");
}

// ---- Formats

// The smallest 4:2:0 picture that it takes with these options.
std::string smallest_picture(const Extractor &extractor) {
  constexpr int kMost = 1024;  // no metric asks for more
  const Options options = defaults(extractor);
  const auto takes = [&](int width, int height) {
    return extractor.check(options, PictureFormat{.width = width, .height = height}).ok();
  };
  int side = kMost, width = kMost, height = kMost;
  while (side > 1 && takes(side - 1, side - 1)) --side;
  if (side > 1 && takes(1, side) && takes(side, 1)) return std::to_string(side) + " on one side";
  while (width > 1 && takes(width - 1, kMost)) --width;
  while (height > 1 && takes(kMost, height - 1)) --height;
  if (width == kMost || height == kMost || !takes(width, height))
    throw std::logic_error(std::string(extractor.name) + ": no smallest picture");
  return std::to_string(width) + "x" + std::to_string(height);
}

std::string depths(const Extractor &extractor) {
  const Options options = defaults(extractor);
  std::vector<int> taken;
  for (int depth = 8; depth <= 16; ++depth)
    if (extractor.check(options, PictureFormat{.width = 1024, .height = 1024, .depth = depth}).ok())
      taken.push_back(depth);
  const size_t range = static_cast<size_t>(taken.back() - taken.front()) + 1;
  if (taken.size() == range) return std::to_string(taken.front()) + " to " + std::to_string(taken.back());
  std::vector<std::string> words;
  for (const int depth : taken) words.push_back(std::to_string(depth));
  return join(words);
}

std::string chroma(const Extractor &extractor) {
  if (extractor.limits.chroma) return "needed";
  if (extractor.reads(defaults(extractor)).chroma()) return "if there is any";
  // An option may ask for it.
  for (const OptionSpec &option : extractor.options) {
    if (option.type != OptionType::boolean) continue;
    const auto options = Options::parse(extractor.name, extractor.options, {{option.name, "true"}});
    if (options.ok() && extractor.reads(*options).chroma()) return "with " + code(option.name);
  }
  return "";
}

// ---- Options

const char *type(const OptionSpec &option) {
  switch (option.type) {
    case OptionType::boolean:
      return "boolean";
    case OptionType::integer:
      return "integer";
    case OptionType::real:
      return "number";
    case OptionType::string:
      break;
  }
  return "text";
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::string range(const OptionSpec &option) {
  if (option.type == OptionType::boolean || option.type == OptionType::string) return "";
  // Nobody reads the largest number there is.
  if (option.max > 1e300) return number(option.min) + " and more";
  return number(option.min) + " to " + number(option.max);
}

std::string option_row(const OptionSpec &option) {
  const std::string alias = !option.named ? "" : code(*option.alias ? option.alias : option.name);
  const std::string initial = *option.initial ? code(option.initial) : "";
  return "| " + code(option.name) + " | " + alias + " | " + type(option) + " | " + initial + " | " +
         range(option) + " | " + option.help + " |\n";
}

// ---- All of it

std::string extractor_row(const Extractor &extractor) {
  const bool block = !extractor.options.empty();
  const std::string name = code(extractor.name), exactness = extractor.exactness;
  return "| " + (block ? "[" + name + "](#" + extractor.name + ")" : name) + " | " + extractor.summary +
         " | " + listed(usual(extractor)) + " | " +
         (exactness == "bits" ? "equal to the last bit" : exactness) + " | " + smallest_picture(extractor) +
         " | " + depths(extractor) + " | " + chroma(extractor) + " |\n";
}

std::string tables() {
  std::string text =
      "| extractor | what it measures | outputs | against libvmaf | smallest picture | bits | chroma |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const Extractor *extractor : extractors()) text += extractor_row(*extractor);
  for (const Extractor *extractor : extractors()) {
    if (extractor->options.empty()) continue;
    text += "\n#### " + std::string(extractor->name) + "\n\n";
    const std::string further = further_outputs(*extractor);
    if (!further.empty()) text += wrapped(further) + "\n";
    text += "| option | in names | type | default | range | meaning |\n|---|---|---|---|---|---|\n";
    for (const OptionSpec &option : extractor->options) text += option_row(option);
  }
  return text;
}

// ---- Who gives the same bits

// Options with which the CPU measures although the extractor has kernels.
std::vector<std::string> without_kernels(const Extractor &extractor, const HipBackend &gpu) {
  const PictureFormat format{.width = 512, .height = 512};
  std::vector<std::string> found;
  for (const OptionSpec &option : extractor.options) {
    std::vector<std::string> values;
    if (option.type == OptionType::boolean)
      values = {"true", "false"};
    else if (option.type == OptionType::string)
      values = {"/dev/null/folder"};  // of texts, paths are what kernels might not do
    else
      values = {number(option.min), number(std::min(option.max, 1e6))};
    for (const std::string &value : values) {
      const auto options = Options::parse(extractor.name, extractor.options, {{option.name, value}});
      if (!options.ok() || !extractor.check(*options, format).ok()) continue;
      const auto made = gpu.make(extractor, *options, format);
      if (!made.ok() || *made) continue;
      found.push_back(code(option.name));
      break;
    }
  }
  return found;
}

std::string count(int64_t n) {
  std::string digits = std::to_string(n);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string recorded(const parity::Record &record, const std::string &name) {
  const auto found = record.extractors.find(name);
  if (found == record.extractors.end() || found->second.values == 0) return "not recorded";
  const parity::Tally &tally = found->second;
  if (tally.differing == 0) return "identical";
  return count(tally.differing) + " of " + count(tally.values) + " values differ";
}

std::string parity_table() {
  if (::setenv("VMAFHIP_HIP_LIBRARY", VMAFHIP_HIPSIM, 1) != 0) throw std::runtime_error("setenv");
  const auto gpu = HipBackend::open(-1);
  if (!gpu.ok()) throw std::runtime_error(gpu.status().message());
  const parity::Record record = parity::Record::read(VMAFHIP_SOURCE_ROOT "/tests/parity/h200.txt");
  if (!record.extractors.empty() && record.device.find("H200") == std::string::npos)
    throw std::runtime_error("tests/parity/h200.txt is of another device: " + record.device);
  std::string text =
      "| extractor | scalar | AVX2 | AVX-512 | simulated GPU, warps of 32 | simulated GPU, warps of 64 | "
      "NVIDIA H200 |\n"
      "|---|---|---|---|---|---|---|\n";
  int64_t values = 0;
  for (const Extractor *extractor : extractors()) {
    const auto options = without_kernels(*extractor, *gpu);
    const std::string but = options.empty() ? "" : "; the CPU, with " + join(options);
    const std::string simulated = "identical" + but, real = recorded(record, extractor->name) + but;
    if (const auto found = record.extractors.find(extractor->name); found != record.extractors.end())
      values += found->second.values;
    text += "| " + code(extractor->name) + " | compared with | identical | identical | " + simulated + " | " +
            simulated + " | " + real + " |\n";
  }
  std::string how =
      "Identical means every bit of every score, compared with the scalar code: AVX2 and AVX-512 by "
      "`golden_test` and "
      "`*_isa_test`, which name a set that the processor lacks; the simulated GPU by `hip_*_test_warp32` and "
      "`…_warp64`, the golden clips on it (`golden_hip_*`) and random pictures and options (`hip_parity_*`); "
      "the H200 "
      "by `hip_parity --record`, whose figures are `tests/parity/h200.txt`: ";
  how += values ? record.runs + ", " + count(values) + " values." : "nothing so far.";
  return text + "\n" + wrapped(how);
}

// ---- The README

struct Section {
  std::string begin, end;  // marks
  std::string (*text)();
};
const Section kSections[] = {
    {"<!-- extractors: begin -->\n", "<!-- extractors: end -->\n", tables},
    {"<!-- parity: begin -->\n", "<!-- parity: end -->\n", parity_table},
};

int usage() {
  std::fputs("usage: extractor_table [--check README | --write README]\n", stderr);
  return 2;
}

int run(const std::vector<std::string> &arguments) {
  if (arguments.empty()) return std::puts((tables() + "\n" + parity_table()).c_str()) < 0;
  if (arguments.size() != 2 || (arguments[0] != "--check" && arguments[0] != "--write")) return usage();
  const std::string &path = arguments[1];
  std::ifstream file(path);
  const std::string before{std::istreambuf_iterator<char>(file), {}};
  std::string readme = before;
  for (const Section &section : kSections) {
    const size_t begin = readme.find(section.begin), end = readme.find(section.end);
    if (begin == std::string::npos || end == std::string::npos || end < begin) {
      std::fprintf(stderr, "%s: cannot be read, or lacks the lines\n%s%s", path.c_str(),
                   section.begin.c_str(), section.end.c_str());
      return 1;
    }
    const size_t from = begin + section.begin.size();
    readme.replace(from, end - from, "\n" + section.text() + "\n");
  }
  if (readme == before) return 0;
  if (arguments[0] == "--check") {
    std::fprintf(stderr,
                 "The tables in %s are not what the registry and tests/parity say. To renew them:\n"
                 "  ninja -C build tests/extractor_table && build/tests/extractor_table --write README.md\n",
                 path.c_str());
    return 1;
  }
  std::ofstream out(path);
  if (out << readme && out.flush()) return 0;
  std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
  return 1;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception &e) {
    std::fprintf(stderr, "extractor_table: %s\n", e.what());
    return 1;
  }
}
