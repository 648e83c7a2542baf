#include "tests/golden.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>

namespace vmafhip::golden {
namespace {

constexpr std::string_view kFormat = "vmafhip-golden 1";

// One line, taken apart word by word; knows where it stands for the sake of errors.
class Line {
 public:
  Line(std::string_view text, const std::string &origin, int number)
      : rest_(text), origin_(origin), number_(number) {}

  [[noreturn]] void fail(const std::string &what) const {
    throw std::runtime_error(origin_ + ":" + std::to_string(number_) + ": " + what);
  }

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  // The next word; words are separated by exactly one space.
  std::string_view word() {
    if (rest_.empty()) fail("the line ends too early");
    const size_t end = rest_.find(' ');
    const std::string_view word = rest_.substr(0, end);
    if (word.empty()) fail("two spaces");
    rest_ = end == rest_.npos ? std::string_view() : rest_.substr(end + 1);
    return word;
  }

  template <class T>
  T number() {
    const std::string_view text = word();
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      fail("'" + std::string(text) + "' is not a number");
    return value;
  }

  void end() const {
    if (!empty()) fail("unexpected '" + std::string(rest_) + "'");
  }

 private:
  std::string_view rest_;
  const std::string &origin_;
  int number_;
};

void read_parameter(Line &line, Case &parameters) {
  const std::string_view key = line.word();
  if (key.starts_with("oracle.")) return;
  const std::pair<std::string_view, int *> numbers[] = {{"width", &parameters.width},
                                                        {"height", &parameters.height},
                                                        {"frames", &parameters.frames},
                                                        {"depth", &parameters.depth}};
  const std::pair<std::string_view, std::string *> texts[] = {{"name", &parameters.name},
                                                              {"clip", &parameters.clip},
                                                              {"chroma", &parameters.chroma},
                                                              {"md5_ref", &parameters.md5_ref},
                                                              {"md5_dis", &parameters.md5_dis}};
  bool known = false;
  for (const auto &[name, target] : numbers)
    if (name == key) *target = line.number<int>(), known = true;
  for (const auto &[name, target] : texts)
    if (name == key) *target = line.word(), known = true;
  if (key == "seed") parameters.seed = line.number<uint32_t>(), known = true;
  if (!known) line.fail("unknown parameter '" + std::string(key) + "'");
  line.end();
}

void check_parameters(const Line &line, const Case &parameters) {
  if (parameters.name.empty() || parameters.clip.empty() || parameters.width < 1 || parameters.height < 1 ||
      parameters.frames < 1 || parameters.depth < 8 || parameters.chroma.size() != 3 ||
      parameters.md5_ref.size() != 32 || parameters.md5_dis.size() != 32)
    line.fail("a section begins before all parameters of the case were given");
}

void add_score(Line &line, int frames, Section &section) {
  const std::string name(line.word());
  std::vector<double> values;
  for (int i = 0; i < frames; ++i) values.push_back(line.number<double>());
  if (line.word() != "|") line.fail("'" + name + "' has more values than the clip has frames");
  Pooled pooled;
  for (double *value : {&pooled.min, &pooled.max, &pooled.mean, &pooled.harmonic_mean})
    *value = line.number<double>();
  line.end();
  if (!section.scores.emplace(name, std::move(values)).second) line.fail("'" + name + "' comes twice");
  section.pooled.emplace(name, pooled);
  section.names.push_back(name);
}

void add_same_scores(Line &line, const Section &from, Section &section) {
  line.word();  // '='
  do {
    const std::string name(line.word());
    const auto found = from.scores.find(name);
    if (found == from.scores.end()) line.fail("[default] has no '" + name + "'");
    if (!section.scores.insert(*found).second) line.fail("'" + name + "' comes twice");
    section.pooled.emplace(name, from.pooled.find(name)->second);
    section.names.push_back(name);
  } while (!line.empty());
}

// That of the source tree, unless the test runs on another machine.
std::filesystem::path folder() {
  const char *elsewhere = std::getenv("VMAFHIP_GOLDEN_FOLDER");
  return elsewhere && *elsewhere ? elsewhere : VMAFHIP_GOLDEN_FOLDER;
}

}  // namespace

std::vector<std::string> Golden::titles() const {
  std::vector<std::string> titles;
  for (const auto &[title, section] : sections_) titles.push_back(title);
  return titles;
}

const Section &Golden::run(std::string_view title) const {
  const auto found = sections_.find(title);
  if (found == sections_.end())
    throw std::runtime_error(case_.name + ": no section [" + std::string(title) + "]");
  return found->second;
}

const std::vector<double> &Golden::score(std::string_view title, std::string_view name) const {
  const auto &scores = section(title);
  const auto found = scores.find(name);
  if (found == scores.end())
    throw std::runtime_error(case_.name + " [" + std::string(title) + "]: no score '" + std::string(name) +
                             "'");
  return found->second;
}

Golden parse(std::string_view text, const std::string &origin) {
  Golden golden;
  std::string title;
  Section *run = nullptr;
  bool aggregate = false;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (end == text.npos) throw std::runtime_error(origin + ": the last line is cut off");
    const std::string_view content = text.substr(begin, end - begin);
    begin = end + 1;
    Line line(content, origin, ++number);
    if (number == 1) {
      if (content != kFormat)
        line.fail("not a golden file: the first line is not '" + std::string(kFormat) + "'");
    } else if (line.empty()) {
    } else if (content.front() == '[') {
      if (content.back() != ']') line.fail("a title without ']'");
      check_parameters(line, golden.case_);
      title = content.substr(1, content.size() - 2);
      aggregate = title.ends_with(" aggregate");
      if (aggregate) {
        if (!run) line.fail("an aggregate before any run");
      } else if (title == "errors" || title == "unstable") {
        run = nullptr;
      } else {
        if (golden.sections_.empty() && title != "default") line.fail("the first section is not [default]");
        const auto [place, is_new] = golden.sections_.emplace(title, Section());
        if (!is_new) line.fail("[" + title + "] comes twice");
        run = &place->second;
      }
    } else if (title.empty()) {
      read_parameter(line, golden.case_);
    } else if (title == "errors") {
      const size_t arrow = content.find(" -> ");
      if (arrow == content.npos) line.fail("no ' -> '");
      golden.errors_.emplace(content.substr(0, arrow), content.substr(arrow + 4));
    } else if (title == "unstable") {
      line.word();
      golden.unstable_.emplace_back(line.word());
      line.number<double>();
      line.end();
    } else if (aggregate) {
      const std::string name(line.word());
      run->aggregate.emplace(name, line.number<double>());
      line.end();
    } else if (content.starts_with("= ")) {
      if (title == "default") line.fail("[default] cannot refer to itself");
      add_same_scores(line, golden.run("default"), *run);
    } else {
      add_score(line, golden.case_.frames, *run);
    }
  }
  if (golden.sections_.empty()) throw std::runtime_error(origin + ": no section");
  return golden;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder()))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  if (names.empty()) throw std::runtime_error("no golden file in " + folder().string());
  std::sort(names.begin(), names.end());
  return names;
}

const Golden &load(const std::string &case_name) {
  static std::mutex mutex;
  static std::map<std::string, Golden> cases;
  const std::lock_guard lock(mutex);
  const auto found = cases.find(case_name);
  if (found != cases.end()) return found->second;
  const std::string path = folder() / (case_name + ".txt");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Golden golden = parse(text, case_name + ".txt");
  if (golden.parameters().name != case_name)
    throw std::runtime_error(path + " holds the case '" + golden.parameters().name + "'");
  return cases.emplace(case_name, std::move(golden)).first->second;
}

}  // namespace vmafhip::golden
