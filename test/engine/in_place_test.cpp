#include "tc/engine/run/in_place.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"

namespace tc::engine {
namespace {

std::string pairs(const std::string& text) {
  auto file = lang::check(lang::parse(text));
  std::vector<std::string> result;
  for (const auto& [input, output] : in_place_pairs(file.defs[0])) result.push_back(input + ">" + output);
  return join(result, " ");
}

TEST(InPlacePairs, Table) {
  const std::pair<const char*, const char*> cases[] = {
      {"def f(float(M,N) I) -> (O) { O(i,j) = I(i,j) * 2 }", "I>O"},
      {"def f(float(M,N) I, float(M,N) J) -> (O) { O(i,j) = I(i,j) + J(i,j) }", "I>O J>O"},
      {"def f(float(M,N) I) -> (O) { O(i,j) = I(j,i) }", ""},
      {"def f(float(N) I) -> (O) { O(i) = I(i+1) }", ""},
      {"def f(float(N) I) -> (O) { O(i) = I(i) + I(0) where i in 0:N }", ""},
      {"def f(float(N) I) -> (O, P) { O(i) = I(i)\n P(i) = I(i) }", ""},
      {"def f(float(N) I) -> (O) { O(i) = I(i)\n O(i) = O(i) + 1 }", ""},
      {"def f(float(N) I) -> (O) { O(i) +=! I(i) }", ""},
      {"def f(float(N) I) -> (O, P) { O(i) = I(i)\n P(i) = O(i) + 1 }", "I>O"},
  };
  for (auto [text, expected] : cases) EXPECT_EQ(pairs(text), expected) << text;
}

}  // namespace
}  // namespace tc::engine
