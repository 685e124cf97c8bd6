#include "tc/halide_bridge/rewrite/drop_idle_iterators.h"

#include <gtest/gtest.h>

#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

/// The iterators of the update in a def with the statement \p text.
std::vector<std::string> update_iterators(const std::string& text, const std::set<std::string>& named = {}) {
  const auto def = "def f(float(N,M) A, int(N) p) -> (Y) { " + text + " }";
  for (const auto& launch : drop_idle_iterators(lowered(def, {{"N", 9}, {"M", 4}}), named).launches)
    for (const auto& statement : launch.statements)
      if (statement.target == "Y" && statement.kind == ProgramStatement::Kind::Update) return statement.iterators;
  ADD_FAILURE() << text;
  return {};
}

TEST(DropIdleIterators, OfOperatorsForWhichOneTermIsAsGoodAsMany) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(update_iterators("Y(e) max=! p(i) == e ? i : -1 where e in 0:9, exists A(i,j)"), (Names{"e", "i"}));
  EXPECT_EQ(update_iterators("Y(i) min=! p(i) where exists A(i,j)"), (Names{"i"}));
  EXPECT_EQ(update_iterators("Y(i) min=! A(i,j)"), (Names{"i", "j"}));
  EXPECT_EQ(update_iterators("Y(i) +=! p(i) where exists A(i,j)"), (Names{"i", "j"})) << "a sum has each term";
  EXPECT_EQ(update_iterators("Y(i) min=! p(i) where exists A(i,j)", {"j"}), (Names{"i", "j"})) << "named by an option";
}

}  // namespace
}  // namespace tc::halide_bridge
