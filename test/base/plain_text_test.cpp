#include "tc/base/plain_text.h"

#include <gtest/gtest.h>

namespace tc {
namespace {

TEST(PlainText, StaysAsItIs) {
  for (const char* text : {"", "def f(float(N) X)\n\t-> (Y)", "Größe 3 µs", "中文", "\U0001f600"}) {
    EXPECT_TRUE(is_plain_text(text)) << text;
    EXPECT_EQ(plain_text(text), text);
  }
}

TEST(PlainText, CommandsOfATerminalBecomeNumbers) {
  EXPECT_EQ(plain_text("a\x1b[2J\x07\x7f"), "a\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(plain_text(std::string("a\0b\r", 4)), "a\\x00b\\x0d");
  EXPECT_EQ(plain_text("\xc2\x9b"
                       "31m"),
            "\\u009b31m")
      << "the control sequence introducer of eight bits";
  EXPECT_EQ(plain_text("a\u202e"
                       "b\u2066"),
            "a\\u202eb\\u2066");
}

TEST(PlainText, WhatIsNoUtf8BecomesNumbers) {
  EXPECT_EQ(plain_text("\xff"), "\\xff");
  EXPECT_EQ(plain_text("\xc3"), "\\xc3") << "cut short";
  EXPECT_EQ(plain_text("\xc0\x9b"), "\\xc0\\x9b") << "longer than need be";
  EXPECT_EQ(plain_text("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");
  EXPECT_EQ(plain_text("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(plain_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
}

/// Of all texts of three bytes of the kinds that matter: what is made plain is plain, and what is plain stays.
TEST(PlainText, IsPlainWhateverItWas) {
  const std::string kinds = "a\n\x1b\x7f\x80\x9b\xa0\xbf\xc2\xc3\xe2\xed\xf0\xff";
  for (char a : kinds)
    for (char b : kinds)
      for (char c : kinds) {
        const std::string text{a, b, c};
        auto plain = plain_text(text);
        EXPECT_TRUE(is_plain_text(plain));
        EXPECT_EQ(is_plain_text(text), plain == text);
      }
}

}  // namespace
}  // namespace tc
