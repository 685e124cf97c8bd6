#include "tc/strategy/cost/fixed_order.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy {
namespace {

using polyhedral::Scop;
using polyhedral::ScopBuilder;

class FixedOrderOf : public polyhedral::IslTest {
 protected:
  /// For example "i2 x16 in 4 vectors", "one after the other".
  static std::string order(const Scop& scop) {
    const auto order = fixed_order(scop, scop.statements.front(), Target::parse("cpu:avx512"));
    if (order.lanes.iterator < 0) return "one after the other";
    return str("i", order.lanes.iterator, " x", order.lanes.lanes, " in ", order.vectors, " vectors");
  }
  /// A product of \p n rows; the second operand is B[k, m], or B[m, k] where it is \p transposed.
  Scop product(std::int64_t n, std::int64_t length, bool transposed) const {
    return ScopBuilder(context())
        .input("A", {n, length})
        .input("B", transposed ? std::vector<std::int64_t>{33, length} : std::vector<std::int64_t>{length, 33})
        .output("C", {n, 33})
        .accumulate(str("U[n, m, k] : 0 <= n < ", n, " and 0 <= m < 33 and 0 <= k < ", length), "C[n, m]",
                    {"A[n, k]", transposed ? "B[m, k]" : "B[k, m]"})
        .scop();
  }
  Scop sum(std::int64_t rows, std::int64_t columns, const char* result) const {
    return ScopBuilder(context())
        .input("A", {rows, columns})
        .output("S", {std::max(rows, columns)})
        .accumulate(str("U[n, k] : 0 <= n < ", rows, " and 0 <= k < ", columns), result, {"A[n, k]"})
        .scop();
  }
};

TEST_F(FixedOrderOf, ProductsDependsOnHowOperandsAreIndexed) {
  for (std::int64_t rows : {1, 2, 64}) {
    EXPECT_EQ(order(product(rows, 200, true)), "i2 x16 in 1 vectors") << rows;
    EXPECT_EQ(order(product(rows, 100, true)), "one after the other") << rows;
    EXPECT_EQ(order(product(rows, 200, false)), "one after the other") << rows;
  }
}

TEST_F(FixedOrderOf, SumsDependsOnTheirLengthAlone) {
  for (std::int64_t rows : {1, 5, 300}) {
    EXPECT_EQ(order(sum(rows, 10, "S[n]")), "one after the other") << rows;
    EXPECT_EQ(order(sum(rows, 40, "S[n]")), "i1 x16 in 2 vectors") << rows;
    EXPECT_EQ(order(sum(rows, 1000, "S[n]")), "i1 x16 in 4 vectors") << rows;
    EXPECT_EQ(order(sum(1000, rows, "S[k]")), "one after the other") << rows;
  }
}

}  // namespace
}  // namespace tc::strategy
