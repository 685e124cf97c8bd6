#include "tc/engine/graph/graph_stages.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tc/base/str.h"
#include "tc/engine/graph/compile.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

/// The passes over graphs as stages: dumped, timed, verified and replaced.
namespace tc::engine::graph_stages_test {
namespace {

namespace fs = std::filesystem;

const std::string text =
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
    "def main(float(N,C) X, float(C,C) W) -> (Y) {\n"
    "  A = fc(X, W)\n  T(i,j) = A(i,j)\n  B = fc(T, W)\n  Y(i,j) = B(i,j) + A(i,j)\n}\n";

class GraphStages : public ::testing::Test {
 protected:
  GraphStages() : x_({5, 4}, 0), w_({4, 4}, 0) {
    for (std::size_t i = 0; i < x_.values.size(); ++i) x_.values[i] = static_cast<float>(static_cast<int>(i % 5) - 2);
    for (std::size_t i = 0; i < w_.values.size(); ++i) w_.values[i] = static_cast<float>(static_cast<int>(i % 3) - 1);
    options_.partition = graph::Partition::Each;
  }

  std::shared_ptr<const Executable> compile_with(const CompileOptions& options) const {
    return compile(define(text).function("main"),
                   {contiguous(DType::Float32, {5, 4}), contiguous(DType::Float32, {4, 4})}, {}, options);
  }

  std::vector<float> run(const Executable& executable) {
    Floats result({5, 4}, -77);
    executable.run(std::vector<TensorView>{x_, w_}, std::vector<TensorView>{result});
    return result.values;
  }

  /// The options with \p replacement as the result of \p stage.
  CompileOptions replaced(const std::string& stage, const std::string& replacement) const {
    auto result = options_;
    result.stages.replace[stage] = replacement;
    return result;
  }

  /// The stages run with a fault behind one of them.
  void run_stages_with(const std::string& stage, const std::function<void(GraphState&)>& fault) const {
    GraphState state{define(text).function("main")};
    state.options = options_;
    state.kind = options_.partition;
    state.arguments =
        make_arguments(*state.function, {contiguous(DType::Float32, {5, 4}), contiguous(DType::Float32, {4, 4})}, {});
    StageOptions<GraphState> how;
    how.verify = true;
    how.mutate = [&](const std::string& name, GraphState& at) {
      if (name == stage) fault(at);
    };
    run_stages(graph_stages(), state, how);
  }

  Floats x_, w_;
  CompileOptions options_;
};

TEST_F(GraphStages, AreTimedAndDumped) {
  const auto folder = fs::temp_directory_path() / str("tc_graph_stages_", ::getpid());
  fs::remove_all(folder);
  options_.stages.dump_directory = folder.string();
  const auto executable = compile_with(options_);
  std::vector<std::string> names;
  for (const auto& record : executable->stats().records)
    if (is_graph_stage(record.name)) names.push_back(record.name);
  EXPECT_EQ(join(names, " "), "bind drop_copies fold_scales derive layouts partition libraries spread");
  std::ifstream dump(folder / "main/graph/01_drop_copies.txt");
  std::stringstream dumped;
  dumped << dump.rdbuf();
  EXPECT_EQ(dumped.str().find("T(i,j)"), std::string::npos) << dumped.str();
  EXPECT_NE(dumped.str().find("def main("), std::string::npos) << dumped.str();
  fs::remove_all(folder);
}

TEST_F(GraphStages, PartsMayBeGiven) {
  const auto want = run(*compile_with(options_));
  const auto two = compile_with(replaced("partition", "part A\npart B, Y\n"));
  EXPECT_EQ(two->image().parts, 2u);
  EXPECT_EQ(run(*two), want);
  const auto one = compile_with(replaced("libraries", "part A, B, Y"));
  EXPECT_EQ(one->image().parts, 1u);
  EXPECT_EQ(run(*one), want);
  EXPECT_ERROR(compile_with(replaced("partition", "part A\npart B")), OptionsError, "parts hold 2 of 3 nodes");
  EXPECT_ERROR(compile_with(replaced("partition", "part B, Y\npart A")), OptionsError, "which no part before it gives");
  EXPECT_ERROR(compile_with(replaced("partition", "part A, Q\npart B, Y")), OptionsError, "no node writes 'Q'");
  EXPECT_ERROR(compile_with(replaced("partition", "A, B, Y")), OptionsError, "is no line 'part A, B'");
}

TEST_F(GraphStages, AGraphMayBeGivenThatComputesTheSame) {
  const auto want = run(*compile_with(options_));
  auto other = text;
  other.replace(other.find("B(i,j) + A(i,j)"), 15, "A(i,j) + B(i,j)");
  EXPECT_EQ(run(*compile_with(replaced("layouts", other))), want);
  auto wrong = text;
  wrong.replace(wrong.find("B(i,j) + A(i,j)"), 15, "B(i,j) - A(i,j)");
  EXPECT_ERROR(compile_with(replaced("derive", wrong)), OptionsError, "is no graph of this def: element 0 of 'Y' is");
  auto integers = text;
  integers.replace(integers.rfind("-> (Y)"), 6, "-> (double(N,C) Y)");
  EXPECT_ERROR(compile_with(replaced("derive", integers)), OptionsError, "its outputs are others");
  EXPECT_ERROR(compile_with(replaced("bind", text)), OptionsError, "cannot be replaced by a text");
}

TEST_F(GraphStages, ABrokenPassIsNamed) {
  EXPECT_NO_THROW(run_stages_with("layouts", [](GraphState&) {}));
  EXPECT_ERROR(
      run_stages_with("drop_copies", [](GraphState& at) { std::swap(at.plan.graph.nodes[0], at.plan.graph.nodes[1]); }),
      InternalError, "behind stage 'drop_copies': a law of graphs is broken in 'main'");
  EXPECT_ERROR(run_stages_with("derive", [](GraphState& at) { at.plan.graph.nodes.pop_back(); }), InternalError,
               "nothing writes the output 'Y'");
  EXPECT_ERROR(run_stages_with("derive",
                               [](GraphState& at) {
                                 auto& graph = at.plan.graph;
                                 graph.tensors[graph.nodes[0].outputs[0]].spec = contiguous(DType::Float32, {5, 5});
                               }),
               InternalError, "behind stage 'derive'");
  EXPECT_ERROR(run_stages_with("fold_scales", [](GraphState& at) { at.plan.graph.tensors[0].consumers.clear(); }),
               InternalError, "among its readers");
  EXPECT_ERROR(run_stages_with("partition", [](GraphState& at) { at.plan.parts[0].outputs.clear(); }), InternalError,
               "behind stage 'partition'");
  EXPECT_ERROR(run_stages_with("libraries", [](GraphState& at) { at.plan.parts.pop_back(); }), InternalError,
               "parts hold 2 of 3 nodes");
}

/// What a node computes is exchanged for something of the same shape: only results show it.
TEST_F(GraphStages, AnotherResultIsFound) {
  auto other = text;
  other.replace(other.find("B(i,j) + A(i,j)"), 15, "B(i,j) + B(i,j)");
  EXPECT_ERROR(run_stages_with("layouts",
                               [&](GraphState& at) {
                                 const auto own = define(other);
                                 GraphState wrong{own.function("main"), at.arguments, at.options};
                                 graph_stages()[0].run(wrong);
                                 at.plan.graph = wrong.plan.graph;
                               }),
               InternalError, "behind stage 'layouts': element");
}

}  // namespace
}  // namespace tc::engine::graph_stages_test
