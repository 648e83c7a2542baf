#include "tests/hipsim/settings.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <string>

#include "tests/hipsim/hip_abi.h"

namespace hipsim {
namespace {

// The nth call of a kind fails; `on`: later ones too.
struct Rule {
  unsigned nth = 0;
  bool on = false;
  unsigned count = 0;

  bool hit() {
    ++count;
    return nth && (count == nth || (on && count > nth));
  }
};

constexpr struct {
  const char *name;
  int error;
} kCalls[] = {
    {"malloc", kErrorOutOfMemory}, {"host", kErrorOutOfMemory},
    {"copy", kErrorUnknown},       {"launch", kErrorLaunchOutOfResources},
    {"sync", kErrorLaunchFailure}, {"module", kErrorNoBinaryForGpu},
    {"stream", kErrorOutOfMemory}, {"event", kErrorOutOfMemory},
    {"import", kErrorOutOfMemory}, {"map", kErrorInvalidValue},
    {"lost", kErrorNoDevice},
};
constexpr size_t kLost = std::size(kCalls) - 1;

struct State {
  Settings settings;
  std::mutex mutex;
  Rule rules[std::size(kCalls)];

  State();
};

bool to_number(std::string_view text, size_t *out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool to_bytes(std::string_view text, size_t *out) {
  size_t unit = 1;
  if (!text.empty())
    if (const size_t at = std::string_view("KMG").find(text.back()); at != std::string_view::npos) {
      unit <<= 10 * (at + 1);
      text.remove_suffix(1);
    }
  if (!to_number(text, out)) return false;
  *out *= unit;
  return true;
}

// Calls `use` with each part between separators.
template <class Use>
bool each(std::string_view text, char separator, const Use &use) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0 && !use(text.substr(0, end))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

bool parse_rules(std::string_view text, Rule (&rules)[std::size(kCalls)]) {
  return each(text, ',', [&](std::string_view part) {
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos) return false;
    std::string_view nth = part.substr(colon + 1);
    for (size_t i = 0; i < std::size(kCalls); ++i) {
      if (part.substr(0, colon) != kCalls[i].name) continue;
      Rule rule;
      rule.on = i == kLost;
      if (!nth.empty() && nth.back() == '+') {
        rule.on = true;
        nth.remove_suffix(1);
      }
      size_t n = 0;
      if (!to_number(nth, &n) || n < 1) return false;
      rule.nth = static_cast<unsigned>(n);
      rules[i] = rule;
      return true;
    }
    return false;
  });
}

bool set(Settings &s, Rule (&rules)[std::size(kCalls)], std::string_view name, std::string_view value) {
  size_t n = 0;
  if (name == "warp") {
    if (value != "32" && value != "64") return false;
    s.warp_size = value == "64" ? 64 : 32;
  } else if (name == "schedule") {
    if (value != "forward" && value != "reverse") return false;
    s.reverse = value == "reverse";
  } else if (name == "streams") {
    if (value != "lazy" && value != "eager") return false;
    s.eager = value == "eager";
  } else if (name == "external") {
    using External = Settings::External;
    if (value != "amdgpu" && value != "any" && value != "nvidia") return false;
    s.external = value == "amdgpu" ? External::amdgpu : value == "any" ? External::any : External::nvidia;
  } else if (name == "batch") {
    using Batch = Settings::Batch;
    if (value != "yes" && value != "no" && value != "half") return false;
    s.batch = value == "yes" ? Batch::yes : value == "no" ? Batch::no : Batch::half;
  } else if (name == "leaks") {
    if (value != "fatal" && value != "told") return false;
    s.leaks_fatal = value == "fatal";
  } else if (name == "threads") {
    if (!to_number(value, &n) || n < 1 || n > 256) return false;
    s.threads = static_cast<unsigned>(n);
  } else if (name == "devices") {
    if (!to_number(value, &n) || n > 16) return false;
    s.devices = static_cast<int>(n);
  } else if (name == "memory") {
    return to_bytes(value, &s.memory);
  } else if (name == "fail") {
    for (Rule &rule : rules) rule = {};
    return parse_rules(value, rules);
  } else {
    return false;
  }
  return true;
}

State::State() {
  constexpr const char *kVariables[][2] = {
      {"HIPSIM_WARP", "warp"},       {"HIPSIM_SCHEDULE", "schedule"}, {"HIPSIM_STREAMS", "streams"},
      {"HIPSIM_THREADS", "threads"}, {"HIPSIM_DEVICES", "devices"},   {"HIPSIM_MEMORY", "memory"},
      {"HIPSIM_FAIL", "fail"},       {"HIPSIM_LEAKS", "leaks"},       {"HIPSIM_EXTERNAL", "external"},
      {"HIPSIM_BATCH", "batch"},
  };
  for (const auto &[variable, name] : kVariables)
    if (const char *value = std::getenv(variable); value && *value && !set(settings, rules, name, value)) {
      // A test that runs with something else than it asked for proves nothing.
      std::fprintf(stderr, "hipsim: %s=%s is not understood; tests/hipsim/settings.h says what is\n",
                   variable, value);
      std::_Exit(22);
    }
}

// Never destroyed: programs release things late.
State &state() {
  static State *const state = new State;
  return *state;
}

}  // namespace

const Settings &settings() { return state().settings; }

bool configure(std::string_view text) {
  State &s = state();
  const std::lock_guard lock(s.mutex);
  Settings changed = s.settings;
  Rule rules[std::size(kCalls)];
  std::copy(std::begin(s.rules), std::end(s.rules), rules);
  const bool ok = each(text, ' ', [&](std::string_view part) {
    const size_t equals = part.find('=');
    return equals != std::string_view::npos &&
           set(changed, rules, part.substr(0, equals), part.substr(equals + 1));
  });
  if (!ok) return false;
  s.settings = changed;
  std::copy(std::begin(rules), std::end(rules), s.rules);
  return true;
}

int injected_failure(Call call) {
  State &s = state();
  const std::lock_guard lock(s.mutex);
  const bool lost = s.rules[kLost].hit();
  const bool hit = call != Call::other && s.rules[static_cast<int>(call)].hit();
  return lost ? kCalls[kLost].error : hit ? kCalls[static_cast<int>(call)].error : 0;
}

}  // namespace hipsim
