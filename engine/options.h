// Options of extractors: one table per extractor gives parsing, ranges, names, documentation.
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/status.h"

namespace vmafhip {

enum class OptionType { boolean, integer, real, string };

struct OptionSpec {
  const char *name;
  OptionType type;
  const char *initial;  // default, as text
  double min, max;      // inclusive; numbers only; a default outside means "not set"
  const char *alias;    // short form in output names, "" = the full name
  bool named;           // a value other than the default becomes part of the output names
  const char *help;     // one sentence with unit
  // Matters so late that one metric measures several values of it in one pass, or matters to the scorer alone.
  bool one_pass = false;
};

using OptionValue = std::variant<bool, int, double, std::string>;

// Option name -> text, as users and model files give them.
using OptionTexts = std::map<std::string, std::string, std::less<>>;

// All options of one extractor with their values.
class Options {
 public:
  // Values of `texts`, defaults elsewhere. Errors name `extractor`, the option, its range or the
  // options that exist.
  static Result<Options> parse(std::string_view extractor, std::span<const OptionSpec> specs,
                               const OptionTexts &texts);

  // Whether a text was given for it, be it the default's.
  bool given(std::string_view name) const { return given_.contains(name); }
  bool has(std::string_view name) const { return values_.count(name) != 0; }
  // Of options that there are.
  bool same(std::string_view name, const Options &other) const { return get(name) == other.get(name); }
  bool boolean(std::string_view name) const;
  int integer(std::string_view name) const;
  double real(std::string_view name) const;
  const std::string &string(std::string_view name) const;

  // What is appended to output names: "" with defaults, else e.g. "_csf_2_egl_1". Options come in
  // byte order of their full names (spec: models and pooling, section 5).
  const std::string &suffix() const { return suffix_; }

 private:
  const OptionValue &get(std::string_view name) const;

  std::map<std::string, OptionValue, std::less<>> values_;
  std::set<std::string, std::less<>> given_;
  std::string suffix_;
};

// The text a number of a model file or a user option becomes before it is parsed: libvmaf rounds it to
// f32 and prints it with %g (6 digits), so 0.1234567 means 0.123457. Other texts are returned as they are.
std::string normalised_option(const std::string &text);
// As above for the numbers among an extractor's options: a folder may be called 007.
std::string normalised_option(std::span<const OptionSpec> specs, std::string_view name,
                              const std::string &text);

}  // namespace vmafhip
