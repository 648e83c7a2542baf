// The text of the `model` property.
#include <gtest/gtest.h>

#include "engine/model.h"

namespace vmafhip {
namespace {

std::vector<ModelRequest> parsed(std::string_view text) {
  auto requests = parse_models(text);
  EXPECT_TRUE(requests.ok()) << text << ": " << requests.status().message();
  return requests.ok() ? *requests : std::vector<ModelRequest>();
}

std::string error(std::string_view text) {
  auto requests = parse_models(text);
  EXPECT_FALSE(requests.ok()) << text;
  if (requests.ok()) return "";
  EXPECT_EQ(requests.status().code(), Code::invalid_argument);
  return requests.status().message();
}

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

TEST(ModelRequest, EmptyTextIsNoModel) { EXPECT_TRUE(parsed("").empty()); }

TEST(ModelRequest, NameAloneAndVersion) {
  for (const char *text : {"vmaf_v0.6.1", "version=vmaf_v0.6.1", "vmaf_v0.6.1:enable_transform=false"}) {
    const auto requests = parsed(text);
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].version, "vmaf_v0.6.1");
    EXPECT_EQ(requests[0].label, "vmaf_v0.6.1");
    EXPECT_EQ(requests[0].path, "");
    EXPECT_FALSE(requests[0].enable_transform);
    EXPECT_FALSE(requests[0].disable_clip);
    EXPECT_TRUE(requests[0].overloads.empty());
  }
}

TEST(ModelRequest, EverySetting) {
  const auto requests = parsed(
      "version=vmaf_v0.6.1:name=phone:enable_transform=true:disable_clip=true:vif.vif_enhn_gain_limit=1.0:"
      "adm.adm_enhn_gain_limit=1.0:adm.adm_csf_mode=2|name=x+y-z.0:path=/a b/m.json");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].label, "phone");
  EXPECT_TRUE(requests[0].enable_transform);
  EXPECT_TRUE(requests[0].disable_clip);
  ASSERT_EQ(requests[0].overloads.size(), 2u);
  EXPECT_EQ(requests[0].overloads.at("vif"), (OptionTexts{{"vif_enhn_gain_limit", "1.0"}}));
  EXPECT_EQ(requests[0].overloads.at("adm"),
            (OptionTexts{{"adm_csf_mode", "2"}, {"adm_enhn_gain_limit", "1.0"}}));
  EXPECT_EQ(requests[1].label, "x+y-z.0");
  EXPECT_EQ(requests[1].path, "/a b/m.json");
  EXPECT_EQ(requests[1].version, "");
}

TEST(ModelRequest, LabelOfAFileIsItsStem) {
  EXPECT_EQ(parsed("path=/models/vmaf_v0.6.1.json")[0].label, "vmaf_v0.6.1");
  EXPECT_EQ(parsed("path=mine.json")[0].label, "mine");
  EXPECT_EQ(parsed("vmaf_v0.6.1.json")[0].label, "vmaf_v0.6.1");
  EXPECT_SAYS(error("path=/models/my model.json"), "add name=LABEL");
  EXPECT_EQ(parsed("path=/models/my model.json:name=mine")[0].label, "mine");
}

TEST(ModelRequest, EscapesAndEqualSigns) {
  EXPECT_EQ(parsed(R"(path=/a\:b\|c\\d=e.json:name=x)")[0].path, R"(/a:b|c\d=e.json)");
  EXPECT_EQ(parsed(R"(a:vif.o=1\:2\|3)")[0].overloads.at("vif").at("o"), "1:2|3");
}

TEST(ModelRequest, ErrorsQuoteThePieceAndSayWhatIsAllowed) {
  EXPECT_SAYS(error("a|"), "model 2 of 'a|': is empty");
  EXPECT_SAYS(error("|a"), "model 1");
  EXPECT_SAYS(error("a||b"), "model 2");
  EXPECT_SAYS(error(":name=x"), "expected NAME, version=NAME or path=FILE");
  EXPECT_SAYS(error("name=x"), "names no model");
  EXPECT_SAYS(error("version=a:path=b"), "both a name and a path");
  EXPECT_SAYS(error("a:version=b"), "'version' is given twice");
  EXPECT_SAYS(error("a:name=x:name=y"), "'name' is given twice");
  EXPECT_SAYS(error("a:vif.x=1:vif.x=2"), "'vif.x' is given twice");
  EXPECT_SAYS(error("a:colour=red"), "'colour' is not a setting");
  EXPECT_SAYS(error("a:colour=red"), "enable_transform=true");
  EXPECT_SAYS(error("a:disable_clip"), "disable_clip=true");
  EXPECT_SAYS(error("a:disable_clip=1"), "'1' must be true or false");
  EXPECT_SAYS(error("a:enable_transform=yes"), "enable_transform='yes' must be true or false");
  EXPECT_SAYS(error("a:name="), "'name=' has no value");
  EXPECT_SAYS(error("a:"), "'' is not a setting");
  EXPECT_SAYS(error("a:name=x y"), "'x y' may hold only letters, digits and _.+-");
  EXPECT_SAYS(error("a:name=ü"), "may hold only");
  EXPECT_SAYS(error("models/vmaf.json"), "use path=FILE");
  EXPECT_SAYS(error("a b"), "'a b'");
  EXPECT_SAYS(error("a:.x=1"), "'.x' is not a setting");
  EXPECT_SAYS(error("a:x.=1"), "'x.' is not a setting");
  EXPECT_SAYS(error("="), "has no value");
}

TEST(ModelRequest, LabelsMustDiffer) {
  EXPECT_SAYS(error("a|a"), "models 1 and 2");
  EXPECT_SAYS(error("a|b:name=c|path=/x/c.json"), "same name 'c'; give one of them name=LABEL");
  EXPECT_EQ(parsed("a|a:name=b|path=/x/a.json:name=c").size(), 3u);
}

TEST(ModelRequest, AnyBytesAreRefusedOrRead) {
  // Random texts over the characters that mean something: never a crash, and what is accepted obeys the rules.
  constexpr std::string_view kAlphabet =
      "a.|:=\\v /\n\0"
      "1";
  uint32_t state = 1;
  int accepted = 0;
  for (int n = 0; n < 20000; ++n) {
    std::string text = n % 2 ? "a:" : "";
    for (int i = 0; i < n % 23; ++i) {
      state = state * 1664525 + 1013904223;
      text += kAlphabet[(state >> 16) % kAlphabet.size()];
    }
    const auto requests = parse_models(text);
    if (!requests.ok()) {
      EXPECT_FALSE(requests.status().message().empty());
      continue;
    }
    for (const ModelRequest &request : *requests) {
      ++accepted;
      EXPECT_NE(request.version.empty(), request.path.empty()) << text;
      EXPECT_FALSE(request.label.empty()) << text;
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace vmafhip
