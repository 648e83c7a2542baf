#include "engine/results_layout.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

namespace vmafhip {
namespace {

constexpr std::pair<PoolMethod, std::string_view> kPools[] = {{PoolMethod::min, "min"},
                                                              {PoolMethod::max, "max"},
                                                              {PoolMethod::mean, "mean"},
                                                              {PoolMethod::harmonic_mean, "harmonic_mean"}};

void append_fixed(std::string &out, double value, int decimals) {
  char text[400];  // the largest double has 309 digits before the point
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals).ptr;
  out.append(text, end);
}

void append_count(std::string &out, uint64_t number) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// A frame rate takes this many characters with its quotes, comma and blanks, so that it can be filled in later.
constexpr size_t kRateRoom = 24;

std::string padded(std::string text, bool room) {
  if (room && text.size() < kRateRoom) text.resize(kRateRoom, ' ');
  return text;
}

std::string rate_text(double rate) {
  std::string text;
  if (std::isfinite(rate)) append_fixed(text, rate, 2);
  return text.size() <= 12 ? text : "";
}

// ---- JSON -------------------------------------------------------------------------------------------------

std::string json_string(const std::string &text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

class Json final : public ResultsLayout {
 public:
  void begin(std::string &out, const ResultsHeader &header, bool room) override {
    for (const std::string &name : header.metrics) keys_.push_back(json_string(name));
    sources_ = header.model_sources;
    out += "{\n  \"version\": " + json_string(header.version) + ",\n  \"fps\": ";
    rate_at_ = out.size();
    out += padded("null,", room) + "\n  \"frames\": [";
  }

  void frame(std::string &out, uint64_t number, std::span<const double> values) override {
    out += first_ ? "\n    {\n      \"frameNum\": " : ",\n    {\n      \"frameNum\": ";
    first_ = false;
    append_count(out, number);
    out += ",\n      \"metrics\": {";
    for (size_t i = 0; i < values.size(); ++i) {
      out += i ? ",\n        " : "\n        ";
      member(out, keys_[i], values[i]);
    }
    out += "\n      }\n    }";
  }

  void end(std::string &out, std::span<const BasicPool> pools, const NamedValues &aggregates,
           const NamedCounters &counters) override {
    out += "\n  ],\n  \"pooled_metrics\": {";
    for (size_t i = 0; i < pools.size() && !first_; ++i) {
      out += i ? ",\n    " : "\n    ";
      out += keys_[i] + ": {";
      for (const auto &[method, name] : kPools) {
        out += method == kPools[0].first ? "\n      " : ",\n      ";
        member(out, '"' + std::string(name) + '"', pools[i].get(method));
      }
      out += "\n    }";
    }
    out += "\n  },\n  \"aggregate_metrics\": {";
    bool first = true;
    for (const auto &[name, value] : aggregates) {
      if (std::isnan(value)) continue;
      out += std::exchange(first, false) ? "\n    " : ",\n    ";
      member(out, json_string(name), value);
    }
    out += "\n  },\n  \"model_sources\": {";
    for (size_t i = 0; i < sources_.size(); ++i)
      out += (i ? ",\n    " : "\n    ") + json_string(sources_[i].first) + ": " +
             json_string(sources_[i].second);
    out += "\n  },\n  \"counters\": {";
    for (size_t i = 0; i < counters.size(); ++i) {
      out += (i ? ",\n    " : "\n    ") + json_string(counters[i].first) + ": ";
      append_count(out, counters[i].second);
    }
    out += "\n  }\n}\n";
  }

  std::string rate(double frames_per_second) const override {
    const std::string text = rate_text(frames_per_second);
    return padded((text.empty() ? "null" : text) + ",", true);
  }

 private:
  static void member(std::string &out, const std::string &key, double value) {
    out += key;
    out += ": ";
    if (std::isfinite(value))
      append_value(out, value);
    else
      out += "null";
  }

  std::vector<std::string> keys_;
  std::vector<std::pair<std::string, std::string>> sources_;
  bool first_ = true;
};

// ---- XML --------------------------------------------------------------------------------------------------

// Of an attribute; bytes that are not UTF-8 and control characters, which XML cannot hold, are replaced.
std::string xml_text(const std::string &text) {
  const std::string valid = nlohmann::json::parse(json_string(text)).get<std::string>();
  std::string out;
  for (const char c : valid) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (uint8_t(c) < 0x20)
      out += ' ';
    else
      out += c;
  }
  return out;
}

// Names of attributes that XML allows, no two alike; those of libvmaf's metrics stay as they are.
std::vector<std::string> xml_names(const std::vector<std::string> &names) {
  std::vector<std::string> result;
  for (std::string name : names) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    for (char &c : name)
      if (!letter(c) && !(c >= '0' && c <= '9') && c != '.' && c != '-') c = '_';
    if (name.empty() || !letter(name[0])) name.insert(0, "_");
    while (name == "frameNum" || std::find(result.begin(), result.end(), name) != result.end()) name += '_';
    result.push_back(std::move(name));
  }
  return result;
}

class Xml final : public ResultsLayout {
 public:
  void begin(std::string &out, const ResultsHeader &header, bool room) override {
    header_ = header;
    attributes_ = xml_names(header.metrics);
    out += "<VMAF version=\"" + xml_text(header.version) + "\">\n  <params ";
    if (header.width > 0)
      out += "qualityWidth=\"" + std::to_string(header.width) + "\" qualityHeight=\"" +
             std::to_string(header.height) + "\" ";
    out += "/>\n  <fyi ";
    rate_at_ = out.size();
    out += padded("/>", room) + "\n  <frames>\n";
  }

  void frame(std::string &out, uint64_t number, std::span<const double> values) override {
    out += "    <frame frameNum=\"";
    append_count(out, number);
    out += "\" ";
    for (size_t i = 0; i < values.size(); ++i) attribute(out, attributes_[i], values[i]);
    out += "/>\n";
    any_ = true;
  }

  void end(std::string &out, std::span<const BasicPool> pools, const NamedValues &aggregates,
           const NamedCounters &counters) override {
    std::vector<std::string> names;
    for (const auto &[name, value] : aggregates) names.push_back(name);
    names = xml_names(names);
    out += "  </frames>\n  <pooled_metrics>\n";
    for (size_t i = 0; i < pools.size() && any_; ++i) {
      out += "    <metric name=\"" + xml_text(header_.metrics[i]) + "\" ";
      for (const auto &[method, name] : kPools) attribute(out, name, pools[i].get(method));
      out += "/>\n";
    }
    out += "  </pooled_metrics>\n  <aggregate_metrics ";
    for (size_t i = 0; i < aggregates.size(); ++i) attribute(out, names[i], aggregates[i].second);
    out += "/>\n  <model_sources>\n";
    for (const auto &[label, source] : header_.model_sources)
      out += "    <model name=\"" + xml_text(label) + "\" source=\"" + xml_text(source) + "\" />\n";
    out += "  </model_sources>\n  <counters ";
    for (const auto &[name, number] : counters) out += name + "=\"" + std::to_string(number) + "\" ";
    out += "/>\n</VMAF>\n";
  }

  std::string rate(double frames_per_second) const override {
    const std::string text = rate_text(frames_per_second);
    return padded(text.empty() ? "/>" : "fps=\"" + text + "\" />", true);
  }

 private:
  static void attribute(std::string &out, std::string_view name, double value) {
    if (!std::isfinite(value)) return;
    out += name;
    out += "=\"";
    append_value(out, value);
    out += "\" ";
  }

  ResultsHeader header_;
  std::vector<std::string> attributes_;
  bool any_ = false;
};

// ---- CSV and SUB ------------------------------------------------------------------------------------------

// Quoted if it has to be.
std::string csv_field(const std::string &text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

class Csv final : public ResultsLayout {
 public:
  void begin(std::string &out, const ResultsHeader &header, bool) override {
    out += "Frame,";
    for (const std::string &name : header.metrics) out += csv_field(name) + ',';
    out += '\n';
  }
  void frame(std::string &out, uint64_t number, std::span<const double> values) override {
    append_count(out, number);
    out += ',';
    for (const double value : values) {
      append_value(out, value);
      out += ',';
    }
    out += '\n';
  }
  void end(std::string &, std::span<const BasicPool>, const NamedValues &, const NamedCounters &) override {}
};

class Sub final : public ResultsLayout {
 public:
  void begin(std::string &, const ResultsHeader &header, bool) override {
    names_ = header.metrics;
    for (std::string &name : names_)
      for (char &c : name)
        if (c == '|' || c == '\n' || c == '\r') c = '_';  // they end a value or a line
  }
  void frame(std::string &out, uint64_t number, std::span<const double> values) override {
    out += '{';
    append_count(out, number);
    out += "}{";
    append_count(out, number + 1);
    out += "}frame: ";
    append_count(out, number);
    out += '|';
    for (size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) continue;
      out += names_[i];
      out += ": ";
      append_value(out, values[i]);
      out += '|';
    }
    out += '\n';
  }
  void end(std::string &, std::span<const BasicPool>, const NamedValues &, const NamedCounters &) override {}

 private:
  std::vector<std::string> names_;
};

}  // namespace

void append_value(std::string &out, double value) {
  if (!std::isfinite(value)) return;
  int zeros = 0;  // how often the fraction has to be multiplied by 10 to reach 1
  for (double fraction = std::abs(value) - std::trunc(std::abs(value)); fraction > 0 && fraction < 1; ++zeros)
    fraction *= 10;
  append_fixed(out, value, zeros <= 6 ? 6 : 16);
}

std::unique_ptr<ResultsLayout> make_layout(ResultsFormat format) {
  switch (format) {
    case ResultsFormat::json:
      return std::make_unique<Json>();
    case ResultsFormat::xml:
      return std::make_unique<Xml>();
    case ResultsFormat::csv:
      return std::make_unique<Csv>();
    case ResultsFormat::sub:
      return std::make_unique<Sub>();
  }
  return nullptr;
}

}  // namespace vmafhip
