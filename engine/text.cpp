#include "engine/text.h"

#include <charconv>

namespace vmafhip {

size_t find_escaped(std::string_view text, char wanted) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == wanted) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::vector<std::string> split_escaped(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (;;) {
    const size_t end = find_escaped(text, separator);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    plain += text[i];
  }
  return plain;
}

std::string to_text(double number) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

std::string join(const std::vector<std::string> &items) {
  std::string list;
  for (const std::string &item : items) list += (list.empty() ? "" : ", ") + item;
  return list;
}

}  // namespace vmafhip
