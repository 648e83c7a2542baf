// JSON for files that nobody vouches for: bounded in depth and number of values, without repeated keys, and read
// through a cursor that knows where it stands, so that every complaint names its key.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace vmafhip {

using Json = nlohmann::json;

// Throws Refused: not JSON, nested too deeply, too many values, a key that an object holds twice.
Json parse_json(std::string_view text);

// A value and its path in the document, e.g. model_dict.slopes[2]. All readers throw Refused with that path.
class JsonAt {
 public:
  JsonAt(const Json &value, std::string path) : value_(&value), path_(std::move(path)) {}

  bool is_object() const;
  bool is_string() const;
  bool is_boolean() const;
  bool is_number() const;

  const std::string &string() const;
  bool boolean() const;
  double number() const;  // at most kLargestNumber in magnitude
  std::vector<JsonAt> items() const;
  // Members that are not null, in byte order of their keys.
  std::vector<std::pair<std::string, JsonAt>> members() const;
  // Member of an object. A null counts as absent.
  std::optional<JsonAt> find(const char *key) const;
  JsonAt need(const char *key) const;

  [[noreturn]] void fail(const std::string &what) const;

 private:
  const Json *value_;
  std::string path_;
};

}  // namespace vmafhip
