#include "tc/halide_bridge/laws/verify_body.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/kernel_case.h"
#include "test/support/rejects.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;
using polyhedral::ScopBuilder;

/// Changes what \p Node says everywhere.
template <typename Node, typename Change>
Stmt changed(const Stmt& body, const Change& change) {
  struct Mutator : ir::IRMutator {
    using ir::IRMutator::visit;
    explicit Mutator(const Change& change) : change(change) {}
    const Change& change;
    std::conditional_t<std::is_same_v<Node, ir::Load>, Expr, Stmt> visit(const Node* op) override { return change(op); }
  } mutator(change);
  return mutator.mutate(body);
}

Stmt with_loads(const Stmt& body, const std::string& buffer, const std::function<Expr(const ir::Load*)>& change) {
  return changed<ir::Load>(body, [&](const ir::Load* op) { return op->name == buffer ? change(op) : Expr(op); });
}

Expr at(const ir::Load* load, const Expr& index, const Expr& predicate) {
  return ir::Load::make(load->type, load->name, index, load->image, load->param, predicate, load->alignment);
}

/// C[i, j] = i + j >= 3 ? A[j, i - 1] : 0 in vectors of 4 along j, of 6 columns, with B[i] added.
class VerifyBodyTest : public polyhedral::IslTest {
 protected:
  VerifyBodyTest()
      : kernel_(ScopBuilder(context())
                    .input("A", {6, 5})
                    .input("B", {5})
                    .output("C", {5, 6})
                    .statement("S[i, j] : 0 <= i < 5 and 0 <= j < 6", "C[i, j]", {"B[i]", "A[j, i - 1] : i >= 1"})
                    .scop()) {
    auto variable = [](const char* name) { return ir::Variable::make(Halide::Int(64), name); };
    Expr one = ir::make_one(Halide::Int(64));
    Expr read = element_read(Halide::Float(32), "A", {variable("j"), variable("i") - one});
    Expr guarded =
        ir::Call::make(Halide::Float(32), ir::Call::if_then_else,
                       {variable("i") >= one, read, ir::make_zero(Halide::Float(32))}, ir::Call::PureIntrinsic);
    kernel_.value("S", element_read(Halide::Float(32), "B", {variable("i")}) + guarded);
    kernel_.vectorise("S", "j", 4);
  }

  testing::AssertionResult finds(const Stmt& body, const std::string& what) const {
    return rejects([&] { verify(body); }, "law 'body accesses' is broken: the body " + what);
  }
  void verify(const Stmt& body) const {
    verify_body(body, polyhedral::generate_ast(kernel_.scop), kernel_.scop, kernel_.program);
  }

  KernelCase kernel_;
};

TEST_F(VerifyBodyTest, AcceptsWhatIsRaised) { EXPECT_NO_THROW(verify(kernel_.raised())); }

TEST_F(VerifyBodyTest, FindsAShiftedIndex) {
  auto shifted = with_loads(kernel_.raised(), "A", [](const ir::Load* op) {
    return at(op, op->index + ir::make_one(op->index.type()), op->predicate);
  });
  EXPECT_TRUE(finds(shifted, "computes C["));
}

TEST_F(VerifyBodyTest, FindsADroppedDimension) {
  auto dropped = with_loads(kernel_.raised(), "B",
                            [](const ir::Load* op) { return at(op, ir::make_zero(op->index.type()), op->predicate); });
  EXPECT_TRUE(finds(dropped, "computes C[6], which S writes, from other elements than the scop"));
}

TEST_F(VerifyBodyTest, FindsADroppedGuard) {
  struct Decided : ir::IRMutator {
    using ir::IRMutator::visit;
    Expr visit(const ir::Call* op) override {
      return op->is_intrinsic(ir::Call::if_then_else) ? op->args[1] : ir::IRMutator::visit(op);
    }
  } decided;
  EXPECT_TRUE(finds(decided.mutate(kernel_.raised()), "reads A[-1], outside of it"));
}

TEST_F(VerifyBodyTest, FindsADroppedMask) {
  auto unmasked = changed<ir::Store>(kernel_.raised(), [](const ir::Store* op) {
    return ir::Store::make(op->name, op->value, op->index, op->param, ir::const_true(op->index.type().lanes()),
                           op->alignment);
  });
  EXPECT_TRUE(finds(unmasked, ""));
}

TEST_F(VerifyBodyTest, FindsALoopThatEndsEarly) {
  auto shorter = changed<ir::For>(kernel_.raised(), [](const ir::For* op) {
    return ir::For::make(op->name, op->min, op->extent - 1, op->for_type, op->device_api, op->body);
  });
  EXPECT_TRUE(finds(shorter, "computes C["));
}

/// What lanes that do not run leave in a padded buffer is another statement's element.
TEST_F(VerifyBodyTest, FindsLanesThatOverwriteWhatOthersRead) {
  auto scop = ScopBuilder(context())
                  .input("X", {6})
                  .local("t", {8})
                  .output("Y", {6})
                  .statement("S[i] : 0 <= i < 6", "t[i]", {"X[i]"})
                  .statement("T[i] : 0 <= i < 2", "t[i]", {"X[i]"})
                  .statement("U[i] : 0 <= i < 6", "Y[i]", {"t[i]"})
                  .scop();
  scop.statement("T").vector_lanes = 4;
  scop.schedule = isl::schedule(scop.ctx(), R"({ domain: "{ S[i] : 0 <= i < 6; T[i] : 0 <= i < 2; U[i] : 0 <= i < 6 }",
    child: { mark: allocate_t, child: { sequence: [
      { filter: "{ S[i] }", child: { schedule: "[{ S[i] -> [(i)] }]" } },
      { filter: "{ T[i] }", child: { mark: vector, child: { schedule: "[{ T[i] -> [(i)] }]" } } },
      { filter: "{ U[i] }", child: { schedule: "[{ U[i] -> [(i)] }]" } } ] } } })");
  KernelCase kernel(scop);
  auto read = [](const char* tensor) {
    return element_read(Halide::Float(32), tensor, {ir::Variable::make(Halide::Int(64), "i")});
  };
  kernel.value("S", read("X")).value("T", read("X") + 1.0f).value("U", read("t"));
  auto verify = [&] {
    verify_body(kernel.raised(), polyhedral::generate_ast(kernel.scop), kernel.scop, kernel.program);
  };
  EXPECT_NO_THROW(verify());
  kernel.scop.tensor("t").padded = true;
  EXPECT_TRUE(rejects(verify, "the body computes Y[2], which U writes, from other elements than the scop"));
  kernel.scop.tensor("t").combined = true;
  EXPECT_NO_THROW(verify());
}

TEST_F(VerifyBodyTest, FindsABufferThatIsAllocatedAgainBeforeItIsRead) {
  auto scop = ScopBuilder(context())
                  .input("X", {6})
                  .local("t", {6})
                  .output("Y", {6})
                  .statement("S[i] : 0 <= i < 6", "t[i]", {"X[i]"})
                  .statement("U[i] : 0 <= i < 6", "Y[i]", {"t[i]"})
                  .scop();
  scop.schedule = isl::schedule(scop.ctx(), R"({ domain: "{ S[i] : 0 <= i < 6; U[i] : 0 <= i < 6 }",
    child: { mark: allocate_t, child: { sequence: [
      { filter: "{ S[i] }", child: { schedule: "[{ S[i] -> [(i)] }]" } },
      { filter: "{ U[i] }", child: { schedule: "[{ U[i] -> [(i)] }]" } } ] } } })");
  KernelCase kernel(scop);
  auto read = [](const char* tensor) {
    return element_read(Halide::Float(32), tensor, {ir::Variable::make(Halide::Int(64), "i")});
  };
  kernel.value("S", read("X")).value("U", read("t"));
  auto verify = [&](const Stmt& body) {
    verify_body(body, polyhedral::generate_ast(kernel.scop), kernel.scop, kernel.program);
  };
  EXPECT_NO_THROW(verify(kernel.raised()));
  auto again = changed<ir::Store>(kernel.raised(), [](const ir::Store* op) -> Stmt {
    if (op->name != "Y") return op;
    return ir::Allocate::make("t", Halide::Float(32), Halide::MemoryType::Stack, {6}, ir::const_true(), op);
  });
  EXPECT_TRUE(rejects([&] { verify(again); }, "the body computes Y[0], which U writes, from other elements"));
}

/// A simplifier turns the arms of a mask around.
TEST_F(VerifyBodyTest, KnowsAMaskWhoseArmsAreTurnedAround) {
  auto scop = ScopBuilder(context())
                  .input("X", {6})
                  .local("t", {8})
                  .output("Y", {6})
                  .statement("S[i] : 0 <= i < 6", "t[i]", {"X[i]"})
                  .statement("U[i] : 0 <= i < 6", "Y[i]", {"t[i]"})
                  .scop();
  scop.tensor("t").padded = scop.tensor("t").combined = true;
  scop.statement("S").vector_lanes = 4;
  scop.schedule = isl::schedule(scop.ctx(), R"({ domain: "{ S[i] : 0 <= i < 6; U[i] : 0 <= i < 6 }",
    child: { mark: allocate_t, child: { sequence: [
      { filter: "{ S[i] }", child: { schedule: "[{ S[i] -> [(floor(i/4))] }]",
        child: { mark: vector, child: { schedule: "[{ S[i] -> [(i mod 4)] }]" } } } },
      { filter: "{ U[i] }", child: { schedule: "[{ U[i] -> [(i)] }]" } } ] } } })");
  KernelCase kernel(scop);
  for (const auto& [id, tensor] : {std::pair("S", "X"), std::pair("U", "t")})
    kernel.value(id, element(Halide::Float(32), tensor, {iterator("i")}));
  struct Turned : ir::IRMutator {
    using ir::IRMutator::visit;
    bool done = false;
    Expr visit(const ir::Select* op) override {
      done = true;
      return ir::Select::make(!op->condition, op->false_value, op->true_value);
    }
  } turned;
  auto body = turned.mutate(kernel.raised());
  EXPECT_TRUE(turned.done);
  EXPECT_TRUE(verify_body(body, polyhedral::generate_ast(kernel.scop), kernel.scop, kernel.program));
}

/// A statement that selects what its element holds writes it all the same, in the lanes that run.
TEST_F(VerifyBodyTest, TellsWhatAStatementSelectsFromAMask) {
  auto scop = ScopBuilder(context()).output("Y", {6}).statement("S[i] : 0 <= i < 6", "Y[i]", {"Y[i]"}).scop();
  KernelCase kernel(scop);
  Expr i = iterator("i"), own = element(Halide::Float(32), "Y", {i});
  kernel.value("S", ir::Select::make(i < Expr(std::int64_t{2}), ir::make_const(Halide::Float(32), 3), own));
  for (int lanes : {1, 4}) {
    kernel.vectorise("S", "i", lanes);
    EXPECT_NO_THROW(verify_body(kernel.raised(), polyhedral::generate_ast(kernel.scop), kernel.scop, kernel.program));
  }
}

/// Its check fails before: no subscript finds an element.
TEST_F(VerifyBodyTest, AcceptsAnIndirectReadOfAnEmptyTensor) {
  auto scop = ScopBuilder(context())
                  .input("X", {2, 0})
                  .input("I", {})
                  .output("Y", {})
                  .statement("S[]", "Y[]", {"I[]", "X[1, 0]"})
                  .scop();
  scop.statement("S").reads[1].exact = false;
  scop.tensor("X").strides = {1, 0};
  KernelCase kernel(scop);
  kernel.type("I", DType::Int64);
  kernel.value("S", element(Halide::Float(32), "X", {Expr(std::int64_t{1}), element(Halide::Int(64), "I", {})}));
  EXPECT_NO_THROW(verify_body(kernel.raised(), polyhedral::generate_ast(kernel.scop), kernel.scop, kernel.program));
}

TEST_F(VerifyBodyTest, LeavesLargeProgramsAlone) {
  auto dropped = with_loads(kernel_.raised(), "B",
                            [](const ir::Load* op) { return at(op, ir::make_zero(op->index.type()), op->predicate); });
  EXPECT_NO_THROW(verify_body(dropped, polyhedral::generate_ast(kernel_.scop), kernel_.scop, kernel_.program, {}, 29));
}

}  // namespace
}  // namespace tc::halide_bridge
