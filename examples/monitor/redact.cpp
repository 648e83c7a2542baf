// What opens a source is not for the page, the report, the log or the metrics: user names and passwords in URIs, and
// values of parameters that look like keys.
#include <glib.h>

#include <algorithm>
#include <string_view>

#include "examples/monitor/settings.h"

namespace monitor {

namespace {

constexpr const char *kHidden = "***";
// Of anything that ends a URI in a text.
constexpr const char *kEnds = " \t\n\"'<>`";

bool secret(std::string key) {
  std::transform(key.begin(), key.end(), key.begin(), [](char c) { return g_ascii_tolower(c); });
  for (const char *word :
       {"auth", "cred", "key", "pass", "pwd", "secret", "sig", "streamid", "token", "user"})
    if (key.find(word) != std::string::npos) return true;
  return false;
}

// "user:password@" goes up to the first slash. Passwords with a slash in them are not valid, but typed: what then
// stands behind the first colon is no port.
std::string without_user(std::string uri) {
  const size_t from = uri.find("://") + 3;
  size_t end = std::min(uri.find_first_of("/?#", from), uri.size());
  const size_t colon = uri.find(':', from);
  const bool port = colon < end && uri.find_first_not_of("0123456789", colon + 1) >= end;
  if (colon < end && !port && uri[from] != '[') end = uri.size();
  const size_t at = uri.rfind('@', end == uri.size() ? std::string::npos : end);
  if (at == std::string::npos || at < from) return uri;
  return uri.replace(from, at - from, kHidden);
}

std::string without_keys(const std::string &uri) {
  const size_t query = uri.find('?');
  if (query == std::string::npos) return uri;
  std::string shown = uri.substr(0, query + 1);
  for (size_t from = query + 1; from < uri.size();) {
    const size_t to = std::min(uri.find_first_of("&;#", from), uri.size());
    const std::string part = uri.substr(from, to - from);
    const size_t equals = part.find('=');
    shown += equals != std::string::npos && secret(part.substr(0, equals))
                 ? part.substr(0, equals + 1) + kHidden
                 : part;
    if (to < uri.size()) shown += uri[to];
    from = to + 1;
  }
  return shown;
}

}  // namespace

std::string redact(const std::string &text) {
  std::string shown;
  size_t from = 0;
  for (size_t mark = text.find("://"); mark != std::string::npos; mark = text.find("://", from)) {
    size_t start = mark;
    while (start > from && (g_ascii_isalnum(text[start - 1]) || strchr("+-.", text[start - 1]))) --start;
    const size_t end = std::min(text.find_first_of(kEnds, mark), text.size());
    shown += text.substr(from, start - from) + without_keys(without_user(text.substr(start, end - start)));
    from = end;
  }
  return shown + text.substr(from);
}

}  // namespace monitor
