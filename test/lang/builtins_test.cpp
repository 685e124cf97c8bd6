#include "tc/lang/syntax/builtins.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tc::lang {
namespace {

TEST(Builtins, FindsByName) {
  EXPECT_EQ(find_builtin("fma")->arity, 3);
  EXPECT_EQ(find_builtin("min")->kind, BuiltinKind::Arithmetic);
  EXPECT_EQ(find_builtin("rnorm4d")->arity, 4);
  EXPECT_EQ(find_builtin("isnan")->kind, BuiltinKind::Predicate);
  EXPECT_EQ(find_builtin("select")->kind, BuiltinKind::Choice);
  EXPECT_EQ(find_builtin("popcount")->kind, BuiltinKind::Integer);
  EXPECT_EQ(find_builtin("Exp"), nullptr);
  EXPECT_EQ(find_builtin(""), nullptr);
}

TEST(Builtins, NamesAreUniqueAndSorted) {
  const auto& all = builtins();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](auto& a, auto& b) { return a.name <= b.name; }));
  for (const auto& builtin : all) EXPECT_EQ(find_builtin(builtin.name), &builtin);
}

}  // namespace
}  // namespace tc::lang
