// Parsing of extractor options: the whole text must parse, whatever the locale, and lie in its range.
#include "engine/options.h"

#include <charconv>
#include <cmath>

#include "engine/text.h"

namespace vmafhip {
namespace {

// As printf's %g in the C locale.
std::string general(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
  return std::string(text, end);
}

template <class T>
bool parse_whole(const std::string &text, T *value) {
  const char *end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && at == end && !text.empty();
}

const char *noun(OptionType type) {
  switch (type) {
    case OptionType::boolean:
      return "true or false";
    case OptionType::integer:
      return "a whole number";
    case OptionType::real:
      return "a number";
    case OptionType::string:
      return "a text";
  }
  return "";
}

Result<OptionValue> parse_value(std::string_view extractor, const OptionSpec &spec, const std::string &text) {
  const auto expected = [&] {
    std::string message = std::string(extractor) + ": option " + spec.name + " must be " + noun(spec.type);
    if (spec.type == OptionType::integer || spec.type == OptionType::real)
      message += " from " + general(spec.min) + " to " + general(spec.max);
    return Status(Code::invalid_argument, message + ", not \"" + text + "\"");
  };
  // A default may lie outside the range: it then means that nothing is set.
  const auto in_range = [&](double value) {
    return text == spec.initial || (value >= spec.min && value <= spec.max);
  };
  switch (spec.type) {
    case OptionType::boolean:
      if (text == "true") return OptionValue(true);
      if (text == "false") return OptionValue(false);
      return expected();
    case OptionType::integer: {
      int value = 0;
      if (!parse_whole(text, &value) || !in_range(value)) return expected();
      return OptionValue(value);
    }
    case OptionType::real: {
      double value = 0;
      if (!parse_whole(text, &value) || !std::isfinite(value) || !in_range(value)) return expected();
      return OptionValue(value);
    }
    case OptionType::string:
      break;
  }
  return OptionValue(text);
}

std::string suffix_part(const OptionSpec &spec, const OptionValue &value) {
  std::string part = std::string("_") + (spec.alias[0] ? spec.alias : spec.name);
  switch (spec.type) {
    case OptionType::boolean:
      break;
    case OptionType::integer:
      part.append("_").append(std::to_string(std::get<int>(value)));
      break;
    case OptionType::real:
      part.append("_").append(general(std::get<double>(value)));
      break;
    case OptionType::string:
      part.append("_").append(std::get<std::string>(value));
      break;
  }
  return part;
}

}  // namespace

Result<Options> Options::parse(std::string_view extractor, std::span<const OptionSpec> specs,
                               const OptionTexts &texts) {
  for (const auto &[name, text] : texts) {
    bool known = false;
    for (const OptionSpec &spec : specs) known = known || name == spec.name;
    if (known) continue;
    std::vector<std::string> names;
    for (const OptionSpec &spec : specs) names.push_back(spec.name);
    return Status(Code::invalid_argument,
                  std::string(extractor) + " has no option \"" + name + "\"; its options are " + join(names));
  }

  Options options;
  std::map<std::string_view, std::string> parts;  // in byte order of full names
  for (const OptionSpec &spec : specs) {
    Result<OptionValue> initial = parse_value(extractor, spec, spec.initial);
    if (!initial.ok()) return initial.status();
    OptionValue value = *initial;
    if (const auto given = texts.find(spec.name); given != texts.end()) {
      Result<OptionValue> parsed = parse_value(extractor, spec, given->second);
      if (!parsed.ok()) return parsed.status();
      value = *parsed;
      options.given_.insert(spec.name);
    }
    if (spec.named && value != *initial) parts[spec.name] = suffix_part(spec, value);
    options.values_.emplace(spec.name, std::move(value));
  }
  for (const auto &[name, part] : parts) options.suffix_ += part;
  return options;
}

const OptionValue &Options::get(std::string_view name) const { return values_.find(name)->second; }

bool Options::boolean(std::string_view name) const { return std::get<bool>(get(name)); }
int Options::integer(std::string_view name) const { return std::get<int>(get(name)); }
double Options::real(std::string_view name) const { return std::get<double>(get(name)); }
const std::string &Options::string(std::string_view name) const { return std::get<std::string>(get(name)); }

std::string normalised_option(const std::string &text) {
  float value = 0;
  if (!parse_whole(text, &value) || !std::isfinite(value)) return text;
  return general(value);
}

std::string normalised_option(std::span<const OptionSpec> specs, std::string_view name,
                              const std::string &text) {
  for (const OptionSpec &spec : specs)
    if (spec.name == name && spec.type == OptionType::string) return text;
  return normalised_option(text);
}

}  // namespace vmafhip
