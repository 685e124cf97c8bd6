#include "tc/graph/bound_steps.h"

#include <gtest/gtest.h>

#include "tc/engine/define/function.h"
#include "tc/graph/statements_node.h"
#include "tc/graph/step_statement.h"
#include "tc/lang/syntax/print.h"

/// The parts of bind(): steps in groups, and what their statements become.
namespace tc::graph {
namespace {

/// Steps of the last def of \p text, with the sizes of its frame for parameters of \p shapes.
BoundSteps steps_of(const std::string& text, const std::vector<std::vector<std::int64_t>>& shapes) {
  const auto function = engine::define(text).functions.back();
  BoundSteps steps(function->defs, function->name(), flatten(*function->defs, function->name()).value());
  for (std::size_t i = 0; i < shapes.size(); ++i)
    steps.set(steps.graph.inputs[i], contiguous(DType::Float32, shapes[i]), {});
  steps.sizes[0] = lang::bind_sizes(*steps.flat.frames[0].def, shapes);
  return steps;
}

const char* const two_writers =
    "def main(float(N) X) -> (Y, Z) { A(i) = X(i) * 2  B(i) = A(i)  A(i) += X(i) * N  Z(i) = A(i)  "
    "Y(i) = B(i) where i in 0:N }";

TEST(BoundSteps, StepsThatWriteOneTensorAreOneGroup) {
  auto steps = steps_of(two_writers, {{4}});
  std::vector<std::pair<std::size_t, std::size_t>> groups;
  for (const auto& group : group_steps(steps.flat)) groups.emplace_back(group.first, group.end);
  EXPECT_EQ(groups, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 3}, {3, 4}, {4, 5}}));
}

TEST(BoundSteps, KnowShapesAndWhoReadsBehind) {
  auto steps = steps_of(two_writers, {{4}});
  const auto x = steps.graph.inputs[0], a = steps.flat.steps[0].writes[0];
  EXPECT_TRUE(steps.known[x]);
  EXPECT_FALSE(steps.known[a]);
  EXPECT_EQ(steps.shapes({x}), (std::vector<std::vector<std::int64_t>>{{4}}));
  EXPECT_TRUE(steps.is_seen(a, {0, 3}));
  EXPECT_FALSE(steps.is_seen(a, {0, 4}));
}

TEST(StepStatement, HasSizesAsNumbers) {
  auto steps = steps_of(two_writers, {{4}});
  EXPECT_EQ(lang::print(step_statement(steps, steps.flat.steps[2], {})), "A(i) += X(i) * int64(4)");
  EXPECT_EQ(lang::print(step_statement(steps, steps.flat.steps[4], {})), "Y(i) = B(i) where i in 0:4");
}

TEST(StatementsNode, ReadsAndGivesWhatOthersKnow) {
  auto steps = steps_of(two_writers, {{4}});
  StatementDefs defs(steps.graph);
  auto node = statements_node(steps, {0, 3}, false, defs);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->inputs, std::vector<std::size_t>{steps.graph.inputs[0]});
  EXPECT_EQ(node->outputs.size(), 2u);
  EXPECT_EQ(node->statements.size(), 3u);
  EXPECT_EQ(node->def->def.params[0].name, "X0");
  EXPECT_EQ(statements_node(steps, {0, 3}, false, defs)->def, node->def) << "understood once";
}

}  // namespace
}  // namespace tc::graph
