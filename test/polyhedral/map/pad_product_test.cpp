#include "tc/polyhedral/map/pad_product.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/polyhedral/mapping_passes_fixture.h"

namespace tc::polyhedral {
namespace {

class PadProduct : public MappingPassTest {
 protected:
  /// C(m, n) = sum of A(m, k) * B(k, n) for m of 5, n of 6, k of 7; what reads C behind it, if \p is_read.
  Scop product(bool is_read = false) const {
    const std::string mn = "0 <= m < 5 and 0 <= n < 6", mnk = mn + " and 0 <= k < 7";
    ScopBuilder builder(context());
    builder.input("A", {5, 7}).input("B", {7, 6});
    is_read ? builder.temporary("C", {5, 6}).output("D", {5, 6}) : builder.output("C", {5, 6});
    builder.identity("I[m, n] : " + mn, "C[m, n]").accumulate("U[m, n, k] : " + mnk, "C[m, n]", {"A[m, k]", "B[k, n]"});
    if (is_read) builder.statement("V[m, n] : " + mn, "D[m, n]", {"C[m, n]"});
    auto scop = builder.scop();
    scop.statement("U").product = true;
    return scop;
  }
  static std::vector<std::string> ids(const Scop& scop) {
    std::vector<std::string> result;
    for (const auto& statement : scop.statements) result.push_back(statement.id);
    return result;
  }
  static Scop scheduled(Scop scop) {
    scop.schedule = compute_schedule(scop, compute_dependences(scop), {});
    return scop;
  }
};

const PaddedProduct to_eight{"U", {8, 8, 8}, {0, 1}};

TEST_F(PadProduct, OperandsHaveZerosAndSumsAreCopied) {
  auto scop = product();
  ASSERT_TRUE(may_be_padded(scop, scop.statement("U")));
  auto result = pad_product(scop, to_eight);
  EXPECT_EQ(ids(result), (std::vector<std::string>{"padded_A_zero", "padded_A_copy", "padded_B_zero", "padded_B_copy",
                                                   "I", "U", "U_copy"}));
  EXPECT_EQ(result.tensor("padded_A").extent, (std::vector<std::int64_t>{8, 8}));
  EXPECT_TRUE(result.statement("padded_A_copy").accumulates);
  EXPECT_TRUE(writes(result, "U", "U[m, n, k] -> sums_C[m, n]"));
  EXPECT_TRUE(writes(result, "U_copy", "U_copy[m, n] -> C[m, n]"));
  EXPECT_EQ(box(result.statement("U").domain)[2].extent(), 8);
  EXPECT_EQ(box(result.statement("U_copy").domain)[0].extent(), 5);
  EXPECT_NO_THROW(verify(result, compute_dependences(result)));
}

TEST_F(PadProduct, ATemporaryIsWidenedAndItsReadersKeepTheirLoops) {
  auto result = scheduled(pad_product(product(true), to_eight));
  EXPECT_EQ(result.tensor("C").extent, (std::vector<std::int64_t>{8, 8}));
  EXPECT_EQ(box(result.statement("V").domain)[0].extent(), 5);
  EXPECT_NO_THROW(verify(result, compute_dependences(result)));
  auto clusters = cluster_views(result);
  ASSERT_EQ(clusters.size(), 3u) << "a copy of each operand, and the product with what reads it";
  EXPECT_EQ(clusters[2].statements.size(), 3u);
  EXPECT_EQ(clusters[2].members[0].extent(), 8);
}

TEST_F(PadProduct, NamesOfTheProgramAreLeftAlone) {
  auto scop = product();
  for (const char* name : {"padded_A", "padded_B_zero", "sums_C", "U_copy"}) {
    scop.tensors.push_back(scop.tensor("A"));
    scop.tensors.back().name = name;
  }
  auto result = pad_product(scop, to_eight);
  EXPECT_EQ(ids(result), (std::vector<std::string>{"padded_A__zero", "padded_A__copy", "padded_B_zero_",
                                                   "padded_B_copy", "I", "U", "U_copy_"}));
  EXPECT_NO_THROW(verify(result, compute_dependences(result)));
}

TEST_F(PadProduct, AnOperandWithoutBordersIsOnlyMoved) {
  auto result = pad_product(product(), {"U", {5, 6, 7}, {0}});
  EXPECT_EQ(ids(result), (std::vector<std::string>{"padded_A_copy", "I", "U", "U_copy"}));
  EXPECT_FALSE(result.statement("padded_A_copy").accumulates);
  EXPECT_NO_THROW(verify(result, compute_dependences(result)));
}

TEST_F(PadProduct, OtherSumsAreNot) {
  auto scop = product();
  EXPECT_FALSE(may_be_padded(scop, scop.statement("I")));
  scop.statement("U").product = false;
  EXPECT_FALSE(may_be_padded(scop, scop.statement("U")));
  auto shifted = product();
  shifted.statement("U").domain = shifted.statement("U").domain.intersect(isl::set(ctx(), "{ U[m, n, k] : m >= 1 }"));
  EXPECT_FALSE(may_be_padded(shifted, shifted.statement("U"))) << "its instances do not begin at 0";
}

}  // namespace
}  // namespace tc::polyhedral
