// A product computed by matrix instructions, run on symbols beside the product as a statement whose elements of C go to the
// threads that the digits of a block of 4 x 8 threads name.

#include "tc/halide_bridge/laws/symbolic_units.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/halide_bridge/laws/verify_body.h"
#include "tc/halide_bridge/stmt/function_call.h"
#include "test/support/isl_fixture.h"
#include "test/support/kernel_case.h"
#include "test/support/rejects.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;
using polyhedral::ScopBuilder;

/// How a body computes C of 16 x 16 from A and B of 32 steps; a row of A has them, a row of B has them if it is transposed.
struct Body {
  bool transposed_b = false;
  std::string load_a = "tc_load_matrix_4", multiply = "tc_multiply_m16n8k16_bf16";
  int other_rows = 8, other_steps = 8;  ///< from a matrix of A to the next along each
  int moved = 0;                        ///< elements of A's rows
  bool loads_b = true;
  std::int64_t threads = 32;
  int steps = 32;       ///< of the statement; the body has 32
  bool fills_b = true;  ///< with zeros behind the steps, as A is
};

class SymbolicUnitsTest : public polyhedral::IslTest {
 protected:
  static Expr number(std::int64_t value) { return ir::make_const(Halide::Int(32), value); }
  static Expr thread(const char* axis) { return ir::Variable::make(Halide::Int(32), std::string("thread_") + axis); }
  static Expr at(const Halide::Type& type, const std::string& buffer, const Expr& index) {
    return ir::Load::make(type, buffer, index, Halide::Buffer<>(), ir::Parameter(), ir::const_true(), {});
  }

  /// One step of 16: fragments of both operands, then both instructions along the columns.
  static Stmt step(const Body& body, int steps) {
    const Expr row = thread("y") % 2 * 4 + thread("x"), matrix = thread("y") / 2;
    const Expr row_of_a = row + matrix % 2 * body.other_rows, step_of_a = matrix / 2 * body.other_steps + steps;
    Stmt result = function_call(body.load_a, {at(Halide::UInt(32), "fragment_A", number(0)),
                                              at(Halide::BFloat(16), "A", row_of_a * 32 + step_of_a + body.moved)});
    const Expr other = row + matrix % 2 * 8 + steps, column = matrix / 2 * 8;
    const Expr stored = body.transposed_b ? (row + matrix / 2 * 8) * 32 + matrix % 2 * 8 + steps : other * 16 + column;
    const char* load_b = body.transposed_b ? "tc_load_matrix_4" : "tc_load_matrix_4_transposed";
    if (body.loads_b)
      result = ir::Block::make(result, function_call(load_b, {at(Halide::UInt(32), "fragment_B", number(0)),
                                                              at(Halide::BFloat(16), "B", stored)}));
    for (int tile : {0, 1}) {
      std::vector<Expr> arguments;
      for (int i = 0; i < 4; ++i) {
        const Expr m = thread("y") + i / 2 * 8, n = thread("x") * 2 + i % 2 + tile * 8;
        arguments.push_back(at(Halide::Float(32), "C", m * 16 + n));
      }
      arguments.push_back(at(Halide::UInt(32), "fragment_A", number(0)));
      arguments.push_back(at(Halide::UInt(32), "fragment_B", number(2 * tile)));
      result = ir::Block::make(result, function_call(body.multiply, arguments));
    }
    return result;
  }

  /// Zeros behind the first 24 steps of A or B, four elements a thread.
  static Stmt fill(const Body& body) {
    const Expr number_of_thread = thread("x") + thread("y") * 4, i = ir::Variable::make(Halide::Int(32), "i");
    const auto zeros = [&](const char* buffer, const Expr& index) {
      return ir::Store::make(buffer, ir::make_zero(Halide::BFloat(16)), index, ir::Parameter(), ir::const_true(), {});
    };
    const Stmt a = zeros("A", number_of_thread / 2 * 32 + 24 + number_of_thread % 2 * 4 + i),
               b = zeros("B", 24 * 16 + number_of_thread * 4 + i);
    return ir::Block::make(ir::For::make("i", 0, 4, ir::ForType::Serial, Halide::DeviceAPI::None,
                                         body.fills_b ? ir::Block::make(a, b) : a),
                           function_call("tc_barrier", {}));
  }

  void verify(const Body& body) const {
    const bool transposed = body.transposed_b;
    const auto domain = str("S[m, n, k] : 0 <= m < 16 and 0 <= n < 16 and 0 <= k < ", body.steps);
    const auto extents_of_b = transposed ? std::vector<std::int64_t>{16, 32} : std::vector<std::int64_t>{32, 16};
    ScopBuilder builder(context());
    if (body.steps == 32)
      builder.input("A", {16, 32}).input("B", extents_of_b);
    else
      builder.local("A", {16, 32}).local("B", extents_of_b);
    auto scop = builder.output("C", {16, 16})
                    .accumulate(domain, "C[m, n]", {"A[m, k]", transposed ? "B[n, k]" : "B[k, n]"})
                    .scop();
    for (const char* operand : {"A", "B"}) scop.tensor(operand).shared = body.steps < 32;
    scop.schedule = isl::schedule(scop.ctx(), str("{ domain: \"{ ", domain, R"( }",
      child: { context: "[thread_x, thread_y] -> { [] : 0 <= thread_x < 4 and 0 <= thread_y < 8 }", child: {
        filter: "[thread_x, thread_y] -> { S[m, n, k] : m mod 8 = thread_y and floor(n/2) mod 4 = thread_x }", child: {
          schedule: "[{ S[m, n, k] -> [(k)] }, { S[m, n, k] -> [(m)] }, { S[m, n, k] -> [(n)] }]" } } } })"));
    KernelCase kernel(scop);
    kernel.type("A", DType::BFloat16).type("B", DType::BFloat16);
    Expr m = iterator("m"), n = iterator("n"), k = iterator("k");
    const auto subscripts_of_b = transposed ? std::vector<Expr>{n, k} : std::vector<Expr>{k, n};
    kernel.value("S", element(Halide::Float(32), "A", {m, k}) * element(Halide::Float(32), "B", subscripts_of_b));
    Stmt made = ir::Block::make(step(body, 0), step(body, 16));
    if (body.steps < 32) made = ir::Block::make(fill(body), made);
    EXPECT_TRUE(verify_body(made, polyhedral::generate_ast(kernel.scop), kernel.scop, kernel.program,
                            {{1, 1, 1}, {4, body.threads / 4, 1}, 32}));
  }
  testing::AssertionResult finds(const Body& body, const std::string& what) const {
    return rejects([&] { verify(body); }, "law 'body accesses' is broken: " + what);
  }
};

TEST_F(SymbolicUnitsTest, AcceptsProductsOfBothOrders) {
  EXPECT_NO_THROW(verify({}));
  EXPECT_NO_THROW(verify({.transposed_b = true}));
}

TEST_F(SymbolicUnitsTest, AcceptsZerosOfBothOperands) {
  EXPECT_NO_THROW(verify({.steps = 24}));
  EXPECT_TRUE(finds({.steps = 24, .fills_b = false}, "the body computes C["));
}

TEST_F(SymbolicUnitsTest, FindsATransposedFragment) {
  EXPECT_TRUE(finds({.load_a = "tc_load_matrix_4_transposed"}, "the body computes C["));
}

TEST_F(SymbolicUnitsTest, FindsMatricesInAnotherOrder) {
  EXPECT_TRUE(finds({.other_rows = 0}, "the body computes C["));
  EXPECT_TRUE(finds({.other_steps = 0}, "the body computes C["));
}

TEST_F(SymbolicUnitsTest, FindsAShiftedRow) {
  EXPECT_TRUE(finds({.moved = 1}, "a load of matrices takes a row at A[1], which is not aligned to 16 bytes"));
  EXPECT_TRUE(finds({.moved = 8}, "the body reads A[512], outside of it"));
}

TEST_F(SymbolicUnitsTest, FindsAFragmentThatNothingLoaded) {
  EXPECT_TRUE(finds({.loads_b = false}, "a matrix unit multiplies fragment_B[0], which nothing has loaded"));
}

TEST_F(SymbolicUnitsTest, FindsAnInstructionOfAnotherType) {
  EXPECT_TRUE(finds({.multiply = "tc_multiply_m16n8k8_tf32"}, "fragment_A[0] holds elements of another type"));
}

TEST_F(SymbolicUnitsTest, FindsAWarpThatIsNotWhole) {
  EXPECT_TRUE(finds({.threads = 24}, "a matrix unit runs without all of its warps"));
}

}  // namespace
}  // namespace tc::halide_bridge
