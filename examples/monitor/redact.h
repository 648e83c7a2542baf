// What opens a source is not for the page, the report, the log or the metrics: user names and passwords in URIs, all that
// follows their "?" or "#" (keys have many names), values of properties whose names say that they are secret.
#pragma once
#include <string>

namespace monitor {

// Whether a property's name says that its value opens something: "passphrase", "user-pw"; not "key-int-max", or x264enc's "pass".
bool is_secret(const std::string &property);

// A URI, whole: rtsp://***@host/path?***. Spaces and quotes are part of it. What is no URI is left.
std::string redact_uri(const std::string &uri);

// A text with URIs in it, and with NAME=VALUE of such properties. A URI that is known to be in it is found whole, whatever
// it holds; others end at a space or a quote. Takes time in proportion to the text, as servers say what they like.
std::string redact(const std::string &text, const std::string &known_uri = {});

}  // namespace monitor
