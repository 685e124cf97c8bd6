#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/derive/derive.h"
#include "tc/derive/form/to_def.h"
#include "tc/derive/rules/fuse.h"
#include "tc/derive/rules/merge_expressions.h"
#include "tc/derive/rules/move_bounds.h"
#include "tc/derive/rules/split_summation.h"
#include "tc/derive/rules/substitute_variables.h"
#include "test/derive/derive_fixture.h"

/// The block of a graph convolutional network (EINNET, OSDI 2023): a convolution of a row and one of a column behind each other, in both
/// orders, added.
namespace tc::test {
namespace {

using derive::Program;
using derive::Step;

const std::string block =
    "def gcn(float(1,6,5,5) X, float(4,6,3) K, float(4,4,3) L, float(4,6,3) M, float(4,4,3) N) -> (O) {\n"
    "  A(n,f,h,w) +=! w + s >= 1 && w + s < 6 ? X(n,c,h,w+s-1) * K(f,c,s) : 0 where h in 0:5, w in 0:5\n"
    "  B(n,f,h,w) +=! h + r >= 1 && h + r < 6 ? A(n,c,h+r-1,w) * L(f,c,r) : 0 where h in 0:5, w in 0:5\n"
    "  D(n,f,h,w) +=! h + r >= 1 && h + r < 6 ? X(n,c,h+r-1,w) * M(f,c,r) : 0 where h in 0:5, w in 0:5\n"
    "  E(n,f,h,w) +=! w + s >= 1 && w + s < 6 ? D(n,c,h,w+s-1) * N(f,c,s) : 0 where h in 0:5, w in 0:5\n"
    "  O(n,f,h,w) = B(n,f,h,w) + E(n,f,h,w) }";

/// A derivation by hand.
class Hand {
 public:
  explicit Hand(Program program) : program_(std::move(program)) {}

  const Program& now() const { return steps.empty() ? program_ : steps.back().after; }
  void take(Step step) {
    const auto copies = step.copies;
    steps.push_back(std::move(step));
    for (const auto& copy : copies)
      if (!now().is_output(copy)) steps.push_back(derive::fuse(now(), copy));
  }

  /// The sum over channels of the window that defines \p tensor as a product of matrices, and its name.
  std::string product_of(const std::string& tensor) {
    const auto& scope = *now().find(tensor);
    const auto channels = std::find(scope.iterators.begin(), scope.iterators.end(), "c") - scope.iterators.begin();
    std::set<std::string> known;
    for (const auto& each : now().scopes) known.insert(each->tensor);
    take(derive::split_summation(now(), tensor, {static_cast<int>(channels)}));
    const auto made = [&] {
      for (const auto& each : now().scopes)
        if (!known.count(each->tensor)) return each->tensor;
      return std::string();
    };
    for (auto& step : derive::substitutions(now()))
      if (step.what.rfind(str(made(), " by "), 0) == 0) {
        take(std::move(step));
        break;
      }
    take(derive::relax_bounds(now(), made()));
    take(derive::tighten_bounds(now(), made()));
    return made();
  }

  std::vector<Step> steps;

 private:
  Program program_;
};

/// What the scope of \p tensor in \p program reads.
std::set<std::string> read_by(const Program& program, const std::string& tensor) {
  std::set<std::string> result;
  for (const auto& part : program.find(tensor)->cases)
    for (const auto& read : part.reads) result.insert(read.tensor);
  return result;
}

TEST(Gcn, TheFirstProductsAreOneAndTheNextABatch) {
  const auto program = program_of(block);
  Hand hand(program);
  const auto row = hand.product_of("A"), column = hand.product_of("D");
  EXPECT_EQ(read_by(hand.now(), row), (std::set<std::string>{"X", "K"}));
  hand.take(derive::merge_expressions(hand.now(), row, column, 0));
  const auto next_row = hand.product_of("E"), next_column = hand.product_of("B");
  hand.take(derive::merge_expressions(hand.now(), next_column, next_row, std::nullopt));
  EXPECT_EQ(derive::broken_step(program, hand.steps), "");
  const auto text = derive::to_text(hand.now());
  EXPECT_FALSE(integer_difference(block, text)) << text;

  std::vector<std::set<std::string>> products, copies;
  for (const auto& scope : hand.now().scopes) {
    const auto reads = read_by(hand.now(), scope->tensor);
    if (scope->op && reads.size() == 2) products.push_back(reads);
    if (!scope->op && !hand.now().is_output(scope->tensor)) copies.push_back(reads);
  }
  ASSERT_EQ(products.size(), 2u) << text;
  EXPECT_TRUE(products[0].count("X")) << text;
  EXPECT_EQ(copies, (std::vector<std::set<std::string>>{{"K", "M"}, {"A", "D"}, {"L", "N"}})) << text;
}

}  // namespace
}  // namespace tc::test
