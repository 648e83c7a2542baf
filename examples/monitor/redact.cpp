#include "examples/monitor/redact.h"

#include <glib.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "examples/monitor/taking.h"

namespace monitor {

namespace {

constexpr const char *kHidden = "***";
// Of anything that ends a URI in a text. An apostrophe may be part of one.
constexpr const char *kEnds = " \t\r\n\"<>`";

bool has(const std::string &text, size_t from, size_t to, char c) { return text.find(c, from) < to; }

// Where "user:password" stands, up to the "@"; `from` where there is none. It goes up to the first of "/?#". Passwords with
// these in them are not valid, but typed: what then stands behind the first colon is no port, and "@" comes later.
size_t end_of_user(const std::string &uri, size_t from) {
  size_t end = std::min(uri.find_first_of("/?#", from), uri.size());
  const size_t colon = uri.find(':', from);
  const bool port = colon < end && uri.find_first_not_of("0123456789", colon + 1) >= end;
  if (colon < end && !port && uri[from] != '[' && !has(uri, from, end, '@')) end = uri.size();
  if (!has(uri, from, end, '@')) return from;
  return uri.rfind('@', end == uri.size() ? std::string::npos : end);
}

// Of properties of elements: srtsink's passphrase, rtspclientsink's user-pw … and not key-int-max, or x264enc's pass.
std::string without_properties(const std::string &text) {
  static const std::unique_ptr<GRegex, Free<g_regex_unref>> secrets(g_regex_new(
      R"(([\w.-]*(?:password|passphrase|passwd|secret|token|credential|auth|streamid|user-(?:id|pw)|api-?key)[\w.-]*\s*=\s*))"
      R"((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'&;]+))",
      G_REGEX_CASELESS, GRegexMatchFlags(0), nullptr));
  return take_text(g_regex_replace(secrets.get(), text.c_str(), gssize(text.size()), 0, R"(\1***)",
                                   GRegexMatchFlags(0), nullptr));
}

}  // namespace

std::string redact_uri(const std::string &uri) {
  const size_t mark = uri.find("://");
  if (mark == std::string::npos) return uri;
  const size_t from = mark + 3, user = end_of_user(uri, from);
  std::string shown = uri.substr(0, from);
  if (user > from) shown += kHidden;
  // A path may hold a URI of its own: what a proxy is to fetch.
  const size_t query = std::min(uri.find_first_of("?#", user), uri.size());
  // librtmp takes options behind blanks.
  shown += without_properties(redact_uri(uri.substr(user, query - user)));
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
