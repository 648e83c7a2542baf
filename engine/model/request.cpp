// The text of the element's `model` property.
#include <algorithm>
#include <filesystem>

#include "engine/model.h"
#include "engine/model/refused.h"
#include "engine/text.h"

namespace vmafhip {
namespace {

constexpr std::string_view kSettings =
    "name=LABEL, enable_transform=true, disable_clip=true or EXTRACTOR.OPTION=VALUE";

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.+-").find(c) != std::string_view::npos;
  });
}

bool parse_switch(const std::string &key, const std::string &value) {
  if (value == "true") return true;
  if (value == "false") return false;
  refuse(key + "=" + in_quotes(value) + " must be true or false");
}

// One model; `text` still holds its escapes.
ModelRequest parse_model(std::string_view text) {
  ModelRequest request;
  if (text.empty() || text.front() == ':') refuse("is empty; expected NAME, version=NAME or path=FILE");

  std::vector<std::string> seen;
  const std::vector<std::string> pieces = split_escaped(text, ':');
  for (size_t i = 0; i < pieces.size(); ++i) {
    const size_t equals = find_escaped(pieces[i], '=');
    std::string key = unescape(std::string_view(pieces[i]).substr(0, equals));
    std::string value;
    if (equals != std::string::npos) {
      value = unescape(std::string_view(pieces[i]).substr(equals + 1));
      if (value.empty()) refuse(in_quotes(pieces[i]) + " has no value");
    } else if (i == 0) {
      value = std::exchange(key, "version");
    } else {
      refuse(in_quotes(pieces[i]) + " is not a setting of a model; expected " + std::string(kSettings));
    }

    if (std::find(seen.begin(), seen.end(), key) != seen.end()) refuse(in_quotes(key) + " is given twice");
    seen.push_back(key);

    const size_t dot = key.find('.');
    if (key == "version") {
      if (!is_name(value))
        refuse("version " + in_quotes(value) +
               " may hold only letters, digits and _.+-; use path=FILE for a file");
      request.version = value;
    } else if (key == "path") {
      request.path = value;
    } else if (key == "name") {
      if (!is_name(value)) refuse("name " + in_quotes(value) + " may hold only letters, digits and _.+-");
      request.label = value;
    } else if (key == "enable_transform") {
      request.enable_transform = parse_switch(key, value);
    } else if (key == "disable_clip") {
      request.disable_clip = parse_switch(key, value);
    } else if (dot != std::string::npos && dot > 0 && dot + 1 < key.size()) {
      request.overloads[key.substr(0, dot)][key.substr(dot + 1)] = value;
    } else {
      refuse(in_quotes(key) + " is not a setting of a model; expected " + std::string(kSettings));
    }
  }

  if (request.version.empty() == request.path.empty())
    refuse(in_quotes(text) + (request.path.empty() ? " names no model" : " has both a name and a path") +
           "; expected one of NAME, version=NAME and path=FILE");
  if (request.label.empty()) {
    request.label = default_label(request);
    if (!is_name(request.label))
      refuse("the file's name " + in_quotes(request.label) +
             " cannot be the score's name, which may hold only letters, digits and _.+-; add name=LABEL");
  }
  return request;
}

}  // namespace

std::string default_label(const ModelRequest &request) {
  if (!request.path.empty()) return std::filesystem::path(request.path).stem().string();
  std::string label = request.version;
  if (label.ends_with(".json")) label.resize(label.size() - 5);
  return label;
}

Result<std::vector<ModelRequest>> parse_models(std::string_view text) {
  std::vector<ModelRequest> requests;
  if (text.empty()) return requests;
  for (const std::string &piece : split_escaped(text, '|')) {
    try {
      requests.push_back(parse_model(piece));
    } catch (const Refused &refused) {
      return Status(refused.code, "model " + std::to_string(requests.size() + 1) + " of " + in_quotes(text) +
                                      ": " + refused.message);
    }
  }
  for (size_t i = 0; i < requests.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (requests[i].label == requests[k].label)
        return Status(Code::invalid_argument, "models " + std::to_string(k + 1) + " and " +
                                                  std::to_string(i + 1) + " of " + in_quotes(text) +
                                                  " have the same name " + in_quotes(requests[i].label) +
                                                  "; give one of them name=LABEL");
  return requests;
}

}  // namespace vmafhip
