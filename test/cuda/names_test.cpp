#include "tc/cuda/names.h"

#include <gtest/gtest.h>

namespace tc::cuda {
namespace {

bool is_identifier(const std::string& text) { return identifier_like(text) == text && !is_reserved(text); }

TEST(Names, KeepTheirSpellingWhileItIsFree) {
  Names names;
  EXPECT_EQ(names.declare("A"), "A");
  EXPECT_EQ(names.declare("A.value"), "A_1");
  EXPECT_EQ(names.declare("int"), "int_");
  EXPECT_EQ(*names.find("A.value"), "A_1");
}

TEST(Names, AreFreeAgainBehindTheirScope) {
  Names names;
  names.open_scope();
  EXPECT_EQ(names.fresh("A"), "A");
  names.close_scope();
  EXPECT_EQ(names.fresh("A"), "A");
}

/// What a number is put behind may end with underscores, or be reserved with one more.
TEST(Names, WhateverIsTakenThereIsAnother) {
  for (const char* wish :
       {"A", "A_", "A__", "_", "__", "tc", "TC", "tc_", "int", "int_", "1", "", "_A_", "A.value", "v_tc", "v"}) {
    Names names;
    std::set<std::string> given;
    for (int i = 0; i < 4; ++i) {
      auto identifier = names.fresh(wish);
      EXPECT_TRUE(is_identifier(identifier)) << wish << ": " << identifier;
      EXPECT_TRUE(given.insert(identifier).second) << wish << ": " << identifier;
    }
  }
}

}  // namespace
}  // namespace tc::cuda
