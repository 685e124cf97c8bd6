#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "test/support/isl_fixture.h"
#include "test/support/kernel_runner.h"  // IWYU pragma: export

namespace tc::cpu {

using Halide::Bool;
using Halide::Expr;
using Halide::Float;
using Halide::Int;
namespace ir = Halide::Internal;
using polyhedral::ScopBuilder;

inline const float infinity = std::numeric_limits<float>::infinity();
inline const float nan = std::numeric_limits<float>::quiet_NaN();

class KernelTest : public polyhedral::IslTest {
 protected:
  static Expr read(const std::string& tensor, const std::vector<std::string>& iterators) {
    std::vector<Expr> subscripts;
    for (const auto& name : iterators) subscripts.push_back(iterator(name));
    return element(Float(32), tensor, subscripts);
  }
  static Expr call(const std::string& name, const std::vector<Expr>& args) {
    return ir::Call::make(args[0].type(), name, args, ir::Call::PureExtern);
  }

  KernelCase matmul(int m, int n, int k) const {
    auto scop = ScopBuilder(context())
                    .input("A", {m, k})
                    .input("B", {k, n})
                    .output("C", {m, n})
                    .identity(str("S0[i, j] : 0 <= i < ", m, " and 0 <= j < ", n), "C[i, j]")
                    .accumulate(str("S1[i, j, k] : 0 <= i < ", m, " and 0 <= j < ", n, " and 0 <= k < ", k), "C[i, j]",
                                {"A[i, k]", "B[k, j]"})
                    .scop();
    return KernelCase(scop).value("S1", read("A", {"i", "k"}) * read("B", {"k", "j"}));
  }

  /// The element reads of \p value in order, as accesses [i].
  static std::vector<std::string> reads_of(const Expr& value) {
    struct Collector : ir::IRVisitor {
      using ir::IRVisitor::visit;
      std::vector<std::string> reads;
      void visit(const ir::Call* op) override {
        if (op->call_type == ir::Call::Halide) reads.push_back(op->name + "[i]");
        ir::IRVisitor::visit(op);
      }
    } collector;
    value.accept(&collector);
    return collector.reads;
  }

  /// C(i) = value over 0 <= i < n in vectors of \p lanes, A(i) and B(i) as inputs.
  KernelCase pointwise(int n, int lanes, const Expr& value) const {
    auto scop = ScopBuilder(context())
                    .input("A", {n})
                    .input("B", {n})
                    .output("C", {n})
                    .statement(str("S[i] : 0 <= i < ", n), "C[i]", reads_of(value))
                    .scop();
    KernelCase result(scop);
    result.vectorise("S", "i", lanes);
    return result.value("S", value);
  }
};

}  // namespace tc::cpu
