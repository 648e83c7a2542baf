// Lists inside option texts: pieces separated by one character, '\' takes the next one literally.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace vmafhip {

// Splits at every unescaped `separator`. Escapes stay in the pieces, so that they can be split further.
std::vector<std::string> split_escaped(std::string_view text, char separator);
// Position of the first unescaped `wanted`, or npos.
size_t find_escaped(std::string_view text, char wanted);
// Drops each '\' that escapes a character.
std::string unescape(std::string_view text);
// The shortest decimal that reads back as the number, whatever the locale.
std::string to_text(double number);
// "a, b, c".
std::string join(const std::vector<std::string> &items);

}  // namespace vmafhip
