#include "tc/halide_bridge/lower/linear_index.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <sstream>

#include "tc/halide_bridge/rewrite/guarded_update.h"
#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

const std::vector<std::string> names{"i", "j", "r"};
const lang::Box box{{0, 5}, {-2, 6}, {0, 3}};

Expr variable(std::size_t v) { return ir::Variable::make(Halide::Int(64), names[v]); }
Expr number(std::int64_t value) { return ir::make_const(Halide::Int(64), value); }

/// \p expr at one point of the box.
std::int64_t value_at(const Expr& expr, const std::vector<std::int64_t>& point) {
  std::map<std::string, Expr> values;
  for (std::size_t v = 0; v < names.size(); ++v) values[names[v]] = number(point[v]);
  const Expr value = ir::simplify(replaced(expr, values));
  return value.type().is_bool() ? ir::is_const_one(value) : value.as<ir::IntImm>()->value;
}

Expr random_index(std::mt19937_64& random, int depth) {
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  if (depth == 0) return pick(3) == 0 ? number(pick(9) - 4) : variable(static_cast<std::size_t>(pick(3)));
  const Expr a = random_index(random, depth - 1);
  switch (pick(5)) {
    case 0:
      return ir::Add::make(a, random_index(random, depth - 1));
    case 1:
      return ir::Sub::make(a, random_index(random, depth - 1));
    case 2:
      return ir::Mul::make(a, number(pick(7) - 3));
    case 3:
      return ir::Div::make(a, number(1 + pick(4)));
    default:
      return ir::Mod::make(a, number(1 + pick(4)));
  }
}

/// What is simplified has the same value at every point.
TEST(LinearIndices, KeepValues) {
  std::mt19937_64 random(3);
  const LinearIndices indices(names, box);
  for (int trial = 0; trial < 300; ++trial) {
    const Expr a = random_index(random, 3), b = random_index(random, 2);
    for (const Expr& expr :
         {a, Expr(ir::LT::make(a, b)), Expr(ir::LE::make(a, b)), Expr(ir::GT::make(a, b)), Expr(ir::GE::make(a, b)),
          Expr(ir::EQ::make(a, b)), Expr(ir::And::make(ir::LT::make(a, b), ir::GE::make(b, number(0))))}) {
      const Expr simple = indices.simplified(expr);
      for (std::int64_t i = 0; i < 5; ++i)
        for (std::int64_t j = -2; j < 4; ++j)
          for (std::int64_t r = 0; r < 3; ++r)
            ASSERT_EQ(value_at(simple, {i, j, r}), value_at(expr, {i, j, r})) << expr << " became " << simple;
    }
  }
}

TEST(LinearIndices, QuotientsRemaindersAndWhatBothSidesHaveAreGone) {
  const LinearIndices indices(names, box);
  const Expr i = variable(0), j = variable(1), r = variable(2);
  const auto text = [&](const Expr& expr) {
    std::ostringstream out;
    out << indices.simplified(expr);
    return std::regex_replace(out.str(), std::regex("\\(int64\\)"), "");
  };
  EXPECT_EQ(text((3 * i + r - (3 * j + r)) / number(3)), "(i - j)");
  EXPECT_EQ(text((3 * i + r) % number(3)), "r");
  EXPECT_EQ(text((r + 1 - (r + 1) % number(3)) / number(3)), "((r + 1)/3)");
  EXPECT_EQ(text(ir::LT::make(3 * i + r, 3 * j + r + number(6))), "(i <= (j + 1))");
  EXPECT_EQ(text(ir::EQ::make((3 * i - 3 * j) % number(3), number(0))), "(uint1)1");
}

TEST(GuardedUpdate, JoinsConditionsAndKnowsIdentities) {
  const auto update_of = [](const std::string& text) {
    const auto program = lowered("def f(float(N) X) -> (Y) { Y(i) " + text + " where i in 0:4, k in 0:4 }", {{"N", 4}});
    return guarded_update(program.launches.at(0).statements.back());
  };
  const auto found = update_of("+=! i > k && k > 1 ? (i < 3 ? X(k) : 0) : 0");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->conditions.size(), 3u);
  EXPECT_TRUE(reads_tensor(found->value));
  EXPECT_TRUE(ir::is_const_zero(found->identity));
  EXPECT_FALSE(update_of("+=! i > k ? X(k) : 1"));
  EXPECT_FALSE(update_of("max=! i > k ? X(k) : 0"));
  EXPECT_FALSE(update_of("+=! X(k)"));
  const auto inner = update_of("+=! i > k ? (k > 1 ? X(k) : 2) : 0");
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->conditions.size(), 1u);
}

}  // namespace
}  // namespace tc::halide_bridge
