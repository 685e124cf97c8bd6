#include "tc/cpu/stmt/hide_negative_bases.h"

#include <gtest/gtest.h>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::hide_negative_bases_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

std::string hidden(const Expr& index) {
  std::ostringstream text;
  text << hide_negative_bases(store("y", vector(0, index.type().lanes()), load("x", index)));
  return text.str();
}

Expr strided(int base, int stride, int lanes = 4) { return ir::Ramp::make(base, stride, lanes); }

TEST(HideNegativeBases, CountsNegativeAddressesFromAVariable) {
  EXPECT_EQ(hidden(strided(-1, 1)), "let origin' = 0\ny[ramp(0, 1, 4)] = (float32x4)x[ramp(origin' + -1, 1, 4)]\n");
  EXPECT_EQ(hidden(strided(2, -1)), "let origin' = 0\ny[ramp(0, 1, 4)] = (float32x4)x[ramp(origin' + 2, -1, 4)]\n")
      << "its last lane is at -1";
}

TEST(HideNegativeBases, LeavesWhatDoesNotStartBelow) {
  for (const Expr& index : {strided(0, 1), strided(3, -1), strided(0, 0), vector(variable("i") - 8, 4)}) {
    auto body = store("y", vector(0, 4), load("x", index));
    EXPECT_TRUE(hide_negative_bases(body).same_as(body)) << index;
  }
}

TEST(HideNegativeBases, HidesTheAddressesOfStoresAndOfSingleElements) {
  std::ostringstream text;
  text << hide_negative_bases(store("y", -3, load("x", variable("i"))));
  EXPECT_EQ(text.str(), "let origin' = 0\ny[origin' + -3] = (float32)x[i]\n");
}

}  // namespace
}  // namespace tc::cpu::hide_negative_bases_test
