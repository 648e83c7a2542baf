// What is shown of URIs and of texts with URIs in them.
#include <gtest/gtest.h>

#include "examples/monitor/redact.h"

using namespace monitor;

namespace {

TEST(Redact, HidesWhoOpensASource) {
  EXPECT_EQ(redact_uri("rtsp://user:pass@host:554/a"), "rtsp://***@host:554/a");
  EXPECT_EQ(redact_uri("rtsp://token@host/a"), "rtsp://***@host/a");
  EXPECT_EQ(redact_uri("rtsp://user:p@ss@host/a"), "rtsp://***@host/a");
  EXPECT_EQ(redact_uri("rtsp://user:pass@host:554"), "rtsp://***@host:554");
}

// As they are typed, not as they are valid.
TEST(Redact, HidesPasswordsWithAnyCharacter) {
  for (const char *password :
       {"p/a", "p#a", "p?a", "p:a", "it's", "two words", "a\"b", "<a>", "`a", "p/a?s#s@t", "p@s/t"})
    EXPECT_EQ(redact_uri(std::string("rtsp://user:") + password + "@host/a"), "rtsp://***@host/a");
  EXPECT_EQ(redact_uri("rtsp://me@corp.com:se/cret@host/a"), "rtsp://***@host/a");
  EXPECT_EQ(redact_uri("rtsp://user:pass@host/live?mail=a@b"), "rtsp://***@host/live?***");
}

TEST(Redact, HidesAllThatFollowsThePath) {
  EXPECT_EQ(redact_uri("srt://host:9000?passphrase=my secret&mode=caller"), "srt://host:9000?***");
  EXPECT_EQ(redact_uri("https://host/a.m3u8?hdnts=exp=1~hmac=2"), "https://host/a.m3u8?***");
  EXPECT_EQ(redact_uri("https://host/a?token=a;b&c"), "https://host/a?***");
  EXPECT_EQ(redact_uri("https://host/a#token=a"), "https://host/a#***");
  EXPECT_EQ(redact_uri("https://host/a?"), "https://host/a?");
}

TEST(Redact, HidesOptionsBehindBlanks) {
  EXPECT_EQ(redact_uri("rtmp://host/app/x pubPasswd=geheim live=1"),
            "rtmp://host/app/x pubPasswd=*** live=1");
}

TEST(Redact, HidesWhatAProxyIsToOpen) {
  EXPECT_EQ(redact_uri("http://proxy/?url=rtsp://admin:pass@cam/live"), "http://proxy/?***");
  EXPECT_EQ(redact_uri("http://proxy/rtsp://admin:pass@cam/live"), "http://proxy/rtsp://***@cam/live");
  EXPECT_EQ(redact_uri("http://me:pass@proxy/rtsp://admin:pass@cam/live"),
            "http://***@proxy/rtsp://***@cam/live");
}

TEST(Redact, FindsUrisInTexts) {
  EXPECT_EQ(redact("Could not open 'rtsp://u:p@h/x' nor \"http://v:q@i/y\"."),
            "Could not open 'rtsp://***@h/x' nor \"http://***@i/y\".");
  EXPECT_EQ(redact("No 'https://h/a?b=c': 404"), "No 'https://h/a?***': 404");
  EXPECT_EQ(redact("of rtsp://u:it's@h/x: gone"), "of rtsp://***@h/x: gone");
  const std::string uri = "srt://h:1?passphrase=my secret \"words\"";
  EXPECT_EQ(redact("rtsp://u:p@h is not " + uri + ", nor " + uri, uri),
            "rtsp://***@h is not srt://h:1?***, nor srt://h:1?***");
  EXPECT_EQ(redact("a file and no URI", "a file"), "a file and no URI");
}

TEST(Redact, HidesValuesOfSecretProperties) {
  EXPECT_EQ(redact("x264enc ! tee ! srtsink passphrase=geheim latency=5"),
            "x264enc ! tee ! srtsink passphrase=*** latency=5");
  EXPECT_EQ(redact("rtspclientsink user-id = me user-pw=\"a \\\" b\" x=1"),
            "rtspclientsink user-id = *** user-pw=*** x=1");
  EXPECT_EQ(redact("e.passphrase = geheim"), "e.passphrase = ***");
  EXPECT_EQ(redact("srtsink uri=srt://h?a=b streamid=c"), "srtsink uri=srt://h?*** streamid=***");
}

TEST(Redact, TextsMayBeAnyBytes) {
  EXPECT_EQ(redact("There is no file caf\xe9"), "There is no file caf\xe9");
  EXPECT_EQ(redact("secret=a caf\xe9"), "secret=*** caf\xe9");
}

// A server's answer must not hold anybody up. What takes time in the square of these takes hours.
TEST(Redact, LongTexts) {
  constexpr size_t kMany = 1 << 20;
  std::string uris, users, hidden, words;
  for (size_t i = 0; i < kMany; ++i) {
    uris += "://x";
    users += "://a:b@";
    hidden += "://***@";
    words += "password";
  }
  const std::string letters(kMany, 'a');
  EXPECT_EQ(redact(letters + " = " + letters), letters + " = " + letters);
  EXPECT_EQ(redact(words + "=" + letters), words + "=***");
  EXPECT_EQ(redact(words), words);
  EXPECT_EQ(redact(uris), uris);
  EXPECT_EQ(redact_uri(users), hidden);
  EXPECT_EQ(redact_uri(uris + "@"), uris.substr(0, uris.size() - 1) + "***@");
  EXPECT_EQ(redact(std::string(kMany, '=')), std::string(kMany, '='));
  EXPECT_EQ(redact(std::string(kMany, '\'') + "://").size(), kMany + 3);
}

TEST(Redact, NamesOfSecrets) {
  for (const char *name : {"passphrase", "user-pw", "pubPasswd", "API-Key", "e.token"})
    EXPECT_TRUE(is_secret(name));
  for (const char *name : {"", "pass", "key-int-max", "bitrate", "user-agent"}) EXPECT_FALSE(is_secret(name));
}

TEST(Redact, LeavesTheRest) {
  for (const char *text :
       {"", "x264enc bitrate=800 pass=qual key-int-max=25", "file:///a@b/c:d.mp4", "http://host:8080/@live",
        "http://[::1]:80/x@y", "mail a@b.c", "rtsp://host/a", "://", "user:pass@host", "it's 'so'"}) {
    EXPECT_EQ(redact(text), text);
    EXPECT_EQ(redact_uri(text), text);
  }
}

}  // namespace
