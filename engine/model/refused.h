// How the parts of engine/model report damage to each other: one exception type that never leaves this folder.
// load_model() turns it into a Status.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "engine/status.h"

namespace vmafhip {

struct Refused {
  Code code;
  std::string message;
};

[[noreturn]] inline void refuse(std::string message) {
  throw Refused{Code::invalid_argument, std::move(message)};
}

// User or file text for an error message: one line, at most 60 bytes of it.
inline std::string printable(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 60)) out += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return out + (text.size() > 60 ? "..." : "");
}

inline std::string in_quotes(std::string_view text) {
  return std::string("'").append(printable(text)).append("'");
}

}  // namespace vmafhip
