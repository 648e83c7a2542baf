#include "engine/model/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/model/limits.h"
#include "engine/model/refused.h"

namespace vmafhip {
namespace {

// Walks through the text without building anything, so that a hostile one costs next to no memory.
class Inspector : public nlohmann::json_sax<Json> {
 public:
  const std::string &complaint() const { return complaint_; }

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t &) override { return count(); }
  bool string(string_t &) override { return count(); }
  bool binary(binary_t &) override { return count(); }

  bool start_object(size_t) override { return enter(); }
  bool start_array(size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(string_t &name) override {
    if (!keys_.back().insert(name).second) return fail("holds the key " + in_quotes(name) + " twice");
    return true;
  }

  bool parse_error(size_t position, const std::string &, const Json::exception &error) override {
    if (error.id == 406)
      return fail("holds a number that is too large, near byte " + std::to_string(position));
    return fail("is not JSON: error near byte " + std::to_string(position) +
                ", the file may be damaged or cut off");
  }

 private:
  bool fail(std::string what) {
    complaint_ = std::move(what);
    return false;
  }
  bool count() { return ++values_ <= kMaxValues || fail("holds more than 100,000 values: not a model"); }
  bool enter() {
    keys_.emplace_back();
    if (keys_.size() > static_cast<size_t>(kMaxNesting)) return fail("is nested too deeply: not a model");
    return count();
  }
  bool leave() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // of the objects that are open
  size_t values_ = 0;
  std::string complaint_;
};

}  // namespace

Json parse_json(std::string_view text) {
  Inspector inspector;
  if (!Json::sax_parse(text, &inspector)) refuse(inspector.complaint());
  return Json::parse(text, nullptr, false);
}

bool JsonAt::is_object() const { return value_->is_object(); }
bool JsonAt::is_string() const { return value_->is_string(); }
bool JsonAt::is_boolean() const { return value_->is_boolean(); }
bool JsonAt::is_number() const { return value_->is_number(); }

const std::string &JsonAt::string() const {
  if (!is_string()) fail("must be a string");
  return value_->get_ref<const std::string &>();
}

bool JsonAt::boolean() const {
  if (!is_boolean()) fail("must be true or false");
  return value_->get<bool>();
}

double JsonAt::number() const {
  if (!is_number()) fail("must be a number");
  const double number = value_->get<double>();
  if (!(std::abs(number) <= kLargestNumber)) fail("is too large");
  return number;
}

std::vector<JsonAt> JsonAt::items() const {
  if (!value_->is_array()) fail("must be an array");
  std::vector<JsonAt> items;
  for (const Json &item : *value_) items.emplace_back(item, path_ + "[" + std::to_string(items.size()) + "]");
  return items;
}

std::vector<std::pair<std::string, JsonAt>> JsonAt::members() const {
  if (!is_object()) fail("must be an object");
  std::vector<std::pair<std::string, JsonAt>> members;
  for (const auto &[key, value] : value_->items())
    if (!value.is_null()) members.emplace_back(key, JsonAt(value, path_ + "." + printable(key)));
  return members;
}

std::optional<JsonAt> JsonAt::find(const char *key) const {
  if (!is_object()) fail("must be an object");
  const auto member = value_->find(key);
  if (member == value_->end() || member->is_null()) return std::nullopt;
  return JsonAt(*member, path_.empty() ? key : path_ + "." + key);
}

JsonAt JsonAt::need(const char *key) const {
  const auto value = find(key);
  if (!value) refuse((path_.empty() ? key : path_ + "." + key) + std::string(" is missing"));
  return *value;
}

void JsonAt::fail(const std::string &what) const { refuse(path_ + " " + what); }

}  // namespace vmafhip
