// Golden figures: what libvmaf itself says about the clips of tests/clipgen. tests/golden/README.md
// defines the files. Whatever is wrong with a file is thrown as std::runtime_error naming file and line.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vmafhip::golden {

struct Case {
  std::string name;  // e.g. sd-blur-8
  std::string clip;  // clipgen's name of it
  uint32_t seed = 0;
  int width = 0, height = 0, frames = 0, depth = 0;
  std::string chroma;  // "420", "422", "444"
  std::string md5_ref, md5_dis;
};

struct Pooled {
  double min = 0, max = 0, mean = 0, harmonic_mean = 0;
};

// One run of libvmaf: "default", "model NAME", "variant SPEC" or "fork".
struct Section {
  std::vector<std::string> names;                                  // libvmaf's order
  std::map<std::string, std::vector<double>, std::less<>> scores;  // one value a frame
  std::map<std::string, Pooled, std::less<>> pooled;
  std::map<std::string, double, std::less<>> aggregate;  // of the whole clip, e.g. apsnr_y
};

class Golden {
 public:
  const Case &parameters() const { return case_; }

  bool has(std::string_view title) const { return sections_.count(title) != 0; }
  std::vector<std::string> titles() const;
  // Throws if there is none of that title.
  const Section &run(std::string_view title) const;
  // Score name -> one value a frame.
  const std::map<std::string, std::vector<double>, std::less<>> &section(std::string_view title) const {
    return run(title).scores;
  }
  // The values of one score; throws if there is none.
  const std::vector<double> &score(std::string_view title, std::string_view name) const;

  // Runs that libvmaf refuses -> its words. Keys: "model NAME", an extractor, or an extractor with options.
  const std::map<std::string, std::string, std::less<>> &errors() const { return errors_; }
  // Score names that are left out, because libvmaf's own value is not stable.
  const std::vector<std::string> &unstable() const { return unstable_; }

 private:
  friend Golden parse(std::string_view text, const std::string &origin);

  Case case_;
  std::map<std::string, Section, std::less<>> sections_;
  std::map<std::string, std::string, std::less<>> errors_;
  std::vector<std::string> unstable_;
};

// All cases, sorted by name.
std::vector<std::string> case_names();
// Read once, then kept.
const Golden &load(const std::string &case_name);
// From the text of a file; `origin` is its name in errors.
Golden parse(std::string_view text, const std::string &origin);

}  // namespace vmafhip::golden
