#include "engine/text.h"

#include <gtest/gtest.h>

namespace vmafhip {
namespace {

using Pieces = std::vector<std::string>;
constexpr size_t kNone = std::string_view::npos;

TEST(Text, FindSkipsEscapes) {
  EXPECT_EQ(find_escaped("ab:c", ':'), 2u);
  EXPECT_EQ(find_escaped(R"(a\:b:c)", ':'), 4u);
  EXPECT_EQ(find_escaped(R"(a\\:c)", ':'), 3u) << "an escaped backslash escapes nothing";
  EXPECT_EQ(find_escaped("abc", ':'), kNone);
  EXPECT_EQ(find_escaped("", ':'), kNone);
  EXPECT_EQ(find_escaped(R"(\)", ':'), kNone);
  EXPECT_EQ(find_escaped(R"(\:)", ':'), kNone);
  EXPECT_EQ(find_escaped(":", ':'), 0u);
}

TEST(Text, SplitKeepsEscapesAndEmptyPieces) {
  EXPECT_EQ(split_escaped("a|b|c", '|'), (Pieces{"a", "b", "c"}));
  EXPECT_EQ(split_escaped(R"(a\|b|c\:d)", '|'), (Pieces{R"(a\|b)", R"(c\:d)"}));
  EXPECT_EQ(split_escaped("", '|'), (Pieces{""}));
  EXPECT_EQ(split_escaped("|", '|'), (Pieces{"", ""}));
  EXPECT_EQ(split_escaped("a||b|", '|'), (Pieces{"a", "", "b", ""}));
  EXPECT_EQ(split_escaped(R"(a|b\)", '|'), (Pieces{"a", R"(b\)"}));
}

TEST(Text, UnescapeTakesTheNextCharacterLiterally) {
  EXPECT_EQ(unescape("plain"), "plain");
  EXPECT_EQ(unescape(R"(a\:b\|c)"), "a:b|c");
  EXPECT_EQ(unescape(R"(a\\b)"), R"(a\b)");
  EXPECT_EQ(unescape(R"(\\\\)"), R"(\\)");
  EXPECT_EQ(unescape(R"(end\)"), R"(end\)") << "nothing follows that it could escape";
  EXPECT_EQ(unescape(""), "");
}

TEST(Text, Join) {
  EXPECT_EQ(join({}), "");
  EXPECT_EQ(join({"a"}), "a");
  EXPECT_EQ(join({"a", "b", "c"}), "a, b, c");
}

}  // namespace
}  // namespace vmafhip
