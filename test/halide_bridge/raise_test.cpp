#include "tc/halide_bridge/raise/raise.h"

#include <gtest/gtest.h>

#include <sstream>

#include "test/support/isl_fixture.h"
#include "test/support/kernel_case.h"

namespace tc::halide_bridge {
namespace {

using Halide::Expr;
using Halide::Float;
using Halide::Int;
namespace ir = Halide::Internal;
using polyhedral::ScopBuilder;

class RaiseTest : public polyhedral::IslTest {
 protected:
  static std::string text(const KernelCase& kernel, const RaiseOptions& options = {}) {
    std::ostringstream out;
    out << kernel.raised(options);
    return out.str();
  }
  static Expr read(const std::string& tensor, const std::vector<Expr>& subscripts) {
    return element_read(Float(32), tensor, subscripts);
  }
  KernelCase copy(int n) const {
    auto scop = ScopBuilder(context())
                    .input("A", {n})
                    .output("C", {n})
                    .statement(str("S[i] : 0 <= i < ", n), "C[i]", {"A[i]"})
                    .scop();
    return KernelCase(scop).value("S", read("A", {iterator("i")}));
  }
};

TEST_F(RaiseTest, ScalarLoop) {
  EXPECT_EQ(text(copy(8)), R"(for (c0_0, 0, 8) {
 C[c0_0] = (float32)strict_float((float32)A[c0_0])
}
)");
}

TEST_F(RaiseTest, FullVectors) {
  EXPECT_EQ(text(copy(32).vectorise("S", "i", 8)), R"(for (c0_0, 0, 4) {
 C[ramp(c0_0*8, 1, 8)] = (float32x8)strict_float((float32x8)A[ramp(c0_0*8, 1, 8)])
}
)");
}

TEST_F(RaiseTest, PartialVectorsAreMasked) {
  EXPECT_EQ(text(copy(30).vectorise("S", "i", 8)), R"(for (c0_0, 0, 4) {
 predicate (ramp(0, 1, 8) <= x8(min(c0_0*-8, -22) + 29))
  C[ramp(c0_0*8, 1, 8)] = (float32x8)strict_float((float32x8)A[ramp(c0_0*8, 1, 8)] if (ramp(0, 1, 8) <= x8(min(c0_0*-8, -22) + 29)))
}
)");
}

TEST_F(RaiseTest, AddressesAreWideOnlyWhereTheyMustBe) {
  auto scop = ScopBuilder(context())
                  .input("A", {3, 2000000000})
                  .output("C", {3})
                  .statement("S[i] : 0 <= i < 3", "C[i]", {"A[i, 7]"})
                  .scop();
  EXPECT_EQ(text(KernelCase(scop).value("S", read("A", {iterator("i"), ir::make_const(Int(64), 7)}))),
            R"(for (c0_0, 0, 3) {
 C[c0_0] = (float32)strict_float((float32)A[(int64(c0_0)*(int64)2000000000) + (int64)7])
}
)");
}

TEST_F(RaiseTest, LoopsBeyond32BitsAreSplit) {
  const std::int64_t n = 5'000'000'000;
  auto scop = ScopBuilder(context())
                  .input("A", {n})
                  .output("C", {n})
                  .statement(str("S[i] : 0 <= i < ", n), "C[i]", {"A[i]"})
                  .scop();
  EXPECT_EQ(text(KernelCase(scop).value("S", read("A", {iterator("i")}))), R"(for (c0_0_outer, 0, 5) {
 for (c0_0, 0, int32(((int64)5000000000 - max(int64(c0_0_outer)*(int64)1073741824, (int64)3926258176)))) {
  C[(int64(c0_0_outer)*(int64)1073741824) + int64(c0_0)] = (float32)strict_float((float32)A[(int64(c0_0_outer)*(int64)1073741824) + int64(c0_0)])
 }
}
)");
}

TEST_F(RaiseTest, LookUpsAreContiguousAlongTheRow) {
  auto scop = ScopBuilder(context())
                  .input("I", {4})
                  .input("T", {100, 16})
                  .output("C", {4, 16})
                  .statement("S[n, c] : 0 <= n < 4 and 0 <= c < 16", "C[n, c]", {"I[n]"})
                  .read_any("T[r, c] : 0 <= r < 100 and 0 <= c < 16")
                  .scop();
  KernelCase kernel(scop);
  kernel.vectorise("S", "c", 16).type("I", DType::Int32);
  Expr row = ir::Cast::make(Int(64), element_read(Int(32), "I", {iterator("n")}));
  EXPECT_NE(text(kernel.value("S", read("T", {row, iterator("c")}))).find("*16, 1, 16)])"), std::string::npos)
      << text(kernel);
}

TEST_F(RaiseTest, GuardsBecomePredicatesInVectors) {
  auto scop = ScopBuilder(context())
                  .input("A", {8})
                  .output("C", {8})
                  .statement("S[i] : 0 <= i < 8", "C[i]", {"A[i - 1] : i >= 1"})
                  .scop();
  Expr one = ir::make_const(Int(64), 1);
  Expr value =
      ir::Call::make(Float(32), ir::Call::if_then_else,
                     {iterator("i") >= one, read("A", {iterator("i") - one}), Expr(0.0f)}, ir::Call::PureIntrinsic);
  KernelCase kernel(scop);
  kernel.value("S", value);
  EXPECT_EQ(text(kernel), R"(for (c0_0, 0, 8) {
 C[c0_0] = (float32)strict_float((float32)if_then_else(1 <= c0_0, (float32)A[c0_0 + -1], 0.000000f))
}
)");
  EXPECT_NE(text(kernel.vectorise("S", "i", 8)).find("(float32x8)A[ramp(-1, 1, 8)] if x"), std::string::npos)
      << text(kernel);
}

TEST_F(RaiseTest, TheMarkedLoopIsParallelAndBuffersLiveBelowTheirMark) {
  auto scop =
      ScopBuilder(context())
          .input("A", {4, 4})
          .output("C", {4, 4})
          .temporary("t", {4})
          .statement("P[i, j] : 0 <= i < 4 and 0 <= j < 4", "t[j]", {"A[i, j]"})
          .statement("Q[i, j] : 0 <= i < 4 and 0 <= j < 4", "C[i, j]", {"t[3 - j]"}, polyhedral::Statement::Body::Copy)
          .scop();
  scop.tensor("t").storage = polyhedral::Tensor::Storage::Local;
  scop.schedule = schedule(R"(
domain: "{ P[i, j] : 0 <= i < 4 and 0 <= j < 4; Q[i, j] : 0 <= i < 4 and 0 <= j < 4 }"
child:
  mark: parallel
  child:
    schedule: "[{ P[i, j] -> [(i)]; Q[i, j] -> [(i)] }]"
    child:
      mark: allocate_t
      child:
        sequence:
        - filter: "{ P[i, j] }"
          child:
            mark: register
            child:
              schedule: "[{ P[i, j] -> [(j)] }]"
        - filter: "{ Q[i, j] }"
          child:
            schedule: "[{ Q[i, j] -> [(j)] }]"
)");
  EXPECT_EQ(text(KernelCase(scop).value("P", read("A", {iterator("i"), iterator("j")}))), R"(parallel (c0_0, 0, 4) {
 allocate t[float32 * 4] in Stack
 t[0] = (float32)strict_float((float32)A[c0_0*4])
 t[1] = (float32)strict_float((float32)A[(c0_0*4) + 1])
 t[2] = (float32)strict_float((float32)A[(c0_0*4) + 2])
 t[3] = (float32)strict_float((float32)A[(c0_0*4) + 3])
 for (c1_1, 0, 4) {
  C[(c0_0*4) + c1_1] = (float32)strict_float(t[3 - c1_1])
 }
}
)");
}

TEST_F(RaiseTest, KernelsKeepLoopsAndTheNamesOfIterators) {
  auto scop = ScopBuilder(context())
                  .input("A", {30})
                  .output("C", {30})
                  .temporary("t", {8})
                  .statement("P[m] : 0 <= m < 30", "t[m mod 8]", {"A[m]"})
                  .statement("Q[m] : 0 <= m < 30", "C[m]", {"t[m mod 8]"}, polyhedral::Statement::Body::Copy)
                  .scop();
  scop.tensor("t").storage = polyhedral::Tensor::Storage::Local;
  scop.schedule = schedule(R"(
domain: "{ P[m] : 0 <= m < 30; Q[m] : 0 <= m < 30 }"
child:
  schedule: "[{ P[m] -> [(floor(m/8))]; Q[m] -> [(floor(m/8))] }]"
  child:
    mark: allocate_t
    child:
      sequence:
      - filter: "{ P[m] }"
        child:
          mark: register
          child:
            schedule: "[{ P[m] -> [(m mod 8)] }]"
      - filter: "{ Q[m] }"
        child:
          schedule: "[{ Q[m] -> [(m mod 8)] }]"
)");
  EXPECT_EQ(text(KernelCase(scop).value("P", read("A", {iterator("m")})), {.as_kernel = true}),
            R"(for (m_outer$0, 0, 4) {
 allocate t[float32 * 8] in Stack
 unrolled (m_inner$1, 0, 8) {
  if (m_inner$1 <= (min(m_outer$0*-8, -22) + 29)) {
   t[m_inner$1] = (float32)strict_float((float32)A[(m_outer$0*8) + m_inner$1])
  }
 }
 for (c1$2, 0, min(m_outer$0*-8, -22) + 30) {
  C[(m_outer$0*8) + c1$2] = (float32)strict_float(t[c1$2])
 }
}
)");
}

}  // namespace
}  // namespace tc::halide_bridge
