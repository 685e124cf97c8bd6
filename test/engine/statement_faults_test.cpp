// Faults planted behind the passes over raised statements: the law right behind each finds them.

#include <Halide.h>
#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cpu/stmt/statement_passes.h"
#include "tc/engine/compile/pipeline.h"

namespace tc::engine {
namespace {

namespace ir = Halide::Internal;

/// Lets the first store write its value one element further on.
class MoveAStore : public ir::IRMutator {
 public:
  bool changed = false;

 private:
  using ir::IRMutator::visit;
  ir::Stmt visit(const ir::Store* op) override {
    if (changed) return op;
    changed = true;
    return ir::Store::make(op->name, op->value, op->index + 1, op->param, op->predicate, {});
  }
};

/// What the stages of code of a transposed copy say, up to the last that a law follows, with a store moved behind
/// \p spoilt; "" where none finds anything.
std::string found_behind(const std::string& spoilt) {
  auto function =
      define("def f(float(M,N) A) -> (O) { O(j,i) = i > 0 ? A(i-1,j) : 0 where i in 0:M }").functions.front();
  CompileOptions options;
  options.target = Target::parse("cpu:avx2");
  options.stages.verify = true;
  bool done = false;
  options.stages.mutate = [&](const std::string& stage, CompileState& state) {
    if (stage != spoilt) return;
    MoveAStore move;
    auto& body = state.launches[0].cpu().body;
    body = std::make_shared<ir::Stmt>(move.mutate(*body));
    done = move.changed;
  };
  std::string message;
  auto run = [&](CompileState& state) {
    std::vector<Stage<CompileState>> stages;
    for (const auto& stage : launch_stages(state, 0, Phase::Code))
      if (stage.print) stages.push_back(stage);
    try {
      run_stages(stages, state, options.stages);
    } catch (const InternalError& error) {
      message = error.what();
    }
  };
  map_launches(function, make_arguments(*function, {contiguous(DType::Float32, {24, 32})}, {}, options), options, run);
  EXPECT_TRUE(done || spoilt.empty()) << "there was nothing to spoil behind " << spoilt;
  return message.substr(0, message.find('\n'));
}

TEST(StatementFaults, AreFoundRightBehindThePass) {
  EXPECT_EQ(found_behind(""), "");
  EXPECT_NE(found_behind("raise").find("behind stage 'raise'"), std::string::npos) << found_behind("raise");
  int followed = 0;
  for (const auto& pass : cpu::statement_passes()) {
    if (!pass.like_raised) continue;
    auto message = found_behind(pass.name);
    EXPECT_NE(message.find(str("behind stage '", pass.name, "'")), std::string::npos) << pass.name << ": " << message;
    ++followed;
  }
  EXPECT_EQ(followed, 5);
}

}  // namespace
}  // namespace tc::engine
