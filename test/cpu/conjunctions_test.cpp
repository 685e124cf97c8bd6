#include "tc/cpu/guards/conjunctions.h"

#include <gtest/gtest.h>

#include <map>

#include "test/cpu/halide_statements.h"

namespace tc::cpu {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using Truth = Conjunctions::Truth;

const Expr h = variable("h"), w = variable("w");

std::size_t cases(const std::vector<Expr>& conditions) {
  const Conjunctions conjunctions(conditions);
  return conjunctions.cases(conjunctions.none(), 100);
}

TEST(Conjunctions, ComparisonsOnOneLineDecideEachOther) {
  EXPECT_EQ(cases({h >= 1, h >= 2, h + 3 > 0}), 4u) << "of 8";
  EXPECT_EQ(cases({h >= 1, h < 1}), 2u);
  EXPECT_EQ(cases({h >= 1, h < 7}), 3u) << "of 4: none fails both";
  EXPECT_EQ(cases({h >= 1, 1 <= h}), 2u) << "one comparison in two words";
  EXPECT_EQ(cases({h >= 1, w >= 1}), 4u);
  EXPECT_EQ(cases({h >= 1 && w >= 1, h >= 1}), 3u);
  EXPECT_EQ(cases({Expr(), ir::const_true()}), 1u);
}

TEST(Conjunctions, CountsUpToALimit) {
  const Conjunctions four({h >= 1, w >= 1, variable("u") >= 1, variable("v") >= 1});
  EXPECT_EQ(four.cases(four.none(), 16), 16u);
  EXPECT_EQ(four.cases(four.none(), 15), 16u);
  EXPECT_EQ(four.cases(four.none(), 3), 4u);
}

/// For each h and w the tree must lead to what the conditions are there.
TEST(Conjunctions, EachCaseIsWhatItSays) {
  const Expr nested = ir::Call::make(Halide::Bool(), ir::Call::if_then_else, {h <= w, w < h + 3, ir::const_false()},
                                     ir::Call::PureIntrinsic);
  const std::vector<Expr> conditions{h >= 1 && w < 3, h + 1 >= 1,         nested, 2 * h - w > 1, w - 2 * h >= -1,
                                     h == w,          !(h < 2) && w >= 0, Expr()};
  const Conjunctions conjunctions(conditions);
  const auto holds = [](const Expr& condition, int h_is, int w_is) {
    const std::map<std::string, Expr> at{{"h", h_is}, {"w", w_is}};
    return !condition.defined() || ir::is_const_one(ir::simplify(ir::substitute(at, condition)));
  };
  for (int h_is = -4; h_is <= 4; ++h_is)
    for (int w_is = -4; w_is <= 4; ++w_is) {
      auto decisions = conjunctions.none();
      while (const auto c = conjunctions.next(decisions))
        decisions = conjunctions.with(decisions, *c, holds(conjunctions.comparison(*c), h_is, w_is));
      for (std::size_t i = 0; i < conditions.size(); ++i)
        EXPECT_EQ(conjunctions.of_condition(i, decisions) == Truth::Holds, holds(conditions[i], h_is, w_is))
            << conditions[i] << " where h = " << h_is << ", w = " << w_is;
    }
}

}  // namespace
}  // namespace tc::cpu
