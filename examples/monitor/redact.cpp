#include "examples/monitor/redact.h"

#include <glib.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace monitor {

namespace {

constexpr const char *kHidden = "***";
// Of anything that ends a URI in a text. An apostrophe may be part of one.
constexpr const char *kEnds = " \t\r\n\"<>`";

bool in_name(char c) { return g_ascii_isalnum(c) || c == '-' || c == '.' || c == '_'; }

// The last "@" in [from, to), or `from`.
size_t last_at(std::string_view text, size_t from, size_t to) {
  const size_t at = text.substr(from, to - from).rfind('@');
  return at == std::string_view::npos ? from : from + at;
}

// Where "user:password" stands, up to the "@"; `from` where there is none. It goes up to the first of "/?#". Passwords with
// these in them are not valid, but typed: then what stands behind the first colon is no port, and "@" comes later. Of
// user:12/x@host nobody can tell whether 12 is a port. `to`: where the next URI begins, of what a proxy is to fetch.
size_t end_of_user(const std::string &uri, size_t from, size_t to) {
  const size_t end = std::min(uri.find_first_of("/?#", from), to);
  const size_t colon = uri.find_first_of(":/?#", from);
  const bool port = colon < end && uri.find_first_not_of("0123456789", colon + 1) >= end;
  if (colon >= end || port || uri[from] == '[') return last_at(uri, from, end);
  // A valid one may have another "@" in what follows the path.
  const size_t query = std::string_view(uri).substr(from, to - from).find_first_of("?#");
  const bool valid = last_at(uri, from, end) > from && query != std::string_view::npos;
  return last_at(uri, from, valid ? from + query : to);
}

// Where the value ends that begins at `from`: a quoted one, or a word.
size_t end_of_value(const std::string &text, size_t from) {
  const char quote = from < text.size() ? text[from] : '\0';
  if (quote != '"' && quote != '\'') return std::min(text.find_first_of(" \t\r\n\"'&;", from), text.size());
  for (size_t i = from + 1; i < text.size(); ++i) {
    if (text[i] == quote) return i + 1;
    if (text[i] == '\\' && quote == '"') ++i;
  }
  return text.size();
}

// NAME=VALUE and NAME = VALUE, of secret names.
std::string without_properties(const std::string &text) {
  std::string shown;
  size_t from = 0;
  for (size_t equals; (equals = text.find('=', from)) != std::string::npos;) {
    size_t end = equals, value = equals + 1;
    while (end > from && text[end - 1] == ' ') --end;
    size_t begin = end;
    while (begin > from && in_name(text[begin - 1])) --begin;
    while (value < text.size() && text[value] == ' ') ++value;
    const bool hide = is_secret(text.substr(begin, end - begin)) && value < text.size();
    if (!hide) value = equals + 1;
    shown += text.substr(from, value - from) + (hide ? kHidden : "");
    from = hide ? end_of_value(text, value) : value;
  }
  return shown + text.substr(from);
}

}  // namespace

bool is_secret(const std::string &property) {
  std::string name = property;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return g_ascii_tolower(c); });
  for (const char *word : {"apikey", "api-key", "auth", "credential", "passphrase", "passwd", "password",
                           "secret", "streamid", "token", "user-id", "user-pw"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

std::string redact_uri(const std::string &uri) {
  std::string shown;
  size_t from = 0, query = 0;
  for (size_t mark = uri.find("://"); mark != std::string::npos && (query == 0 || mark < query);) {
    const size_t begin = mark + 3, next = uri.find("://", begin);
    const size_t user = end_of_user(uri, begin, std::min(next, uri.size()));
    shown += uri.substr(from, begin - from);
    if (user > begin) shown += kHidden;
    if (query <= user) query = std::min(uri.find_first_of("?#", user), uri.size());
    from = user;
    mark = next;
  }
  if (query == 0) return uri;
  // librtmp takes options behind blanks.
  shown = without_properties(shown + uri.substr(from, query - from));
  if (query + 1 < uri.size()) return shown + uri[query] + kHidden;
  return shown + uri.substr(query);
}

std::string redact(const std::string &text, const std::string &known_uri) {
  std::string shown;
  size_t from = 0;
  if (known_uri.find("://") != std::string::npos)
    for (size_t at; (at = text.find(known_uri, from)) != std::string::npos; from = at + known_uri.size())
      shown += redact(text.substr(from, at - from)) + redact_uri(known_uri);
  for (size_t mark; (mark = text.find("://", from)) != std::string::npos;) {
    size_t start = mark;
    while (start > from && (g_ascii_isalnum(text[start - 1]) || std::strchr("+-.", text[start - 1]))) --start;
    size_t end = std::min(text.find_first_of(kEnds, mark), text.size());
    // Texts put URIs between apostrophes, too.
    const bool quoted = start > 0 && text[start - 1] == '\'';
    const size_t quote = quoted ? text.find_last_of('\'', end - 1) : std::string::npos;
    if (quote != std::string::npos && quote > mark) end = quote;
    shown +=
        without_properties(text.substr(from, start - from)) + redact_uri(text.substr(start, end - start));
    from = end;
  }
  return shown + without_properties(text.substr(from));
}

}  // namespace monitor
