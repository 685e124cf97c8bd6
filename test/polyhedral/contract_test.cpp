#include "tc/polyhedral/map/contract.h"

#include <gtest/gtest.h>

#include "tc/polyhedral/core/cluster_view.h"
#include "test/polyhedral/mapping_passes_fixture.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

using Contract = ShiftedRowsTest;

TEST_F(Contract, KeepsARowInALocalBuffer) {
  auto scop = rows();
  auto result = contract(scop, {0, 0}, {0, 0}, {}, {}, 1000);
  EXPECT_EQ(mark_name(node_at(result.schedule, {0, 0})), "allocate_local_t");
  EXPECT_TRUE(writes(result, "S", "S[i, j] -> local_t[0, j]"));
  EXPECT_EQ(range_name(result.statement("S").write.relation), "t");
  EXPECT_EQ(result.tensor("local_t").extent, (std::vector<std::int64_t>{1, 20}));
  EXPECT_EQ(result.tensor("local_t").storage, Tensor::Storage::Local);
  EXPECT_EQ(simulate(result), simulate(scop));
}

TEST_F(Contract, LeavesWhatNoInstanceTouches) {
  auto scop = ScopBuilder(context())
                  .temporary("t", {8})
                  .output("C", {8})
                  .statement("S[i] : 0 <= i < 8", "C[i]", {"t[i] : i < 0"})
                  .scop();
  EXPECT_FALSE(contract(scop, {0}, {0}, {}, {}, 1000).has_tensor("local_t"));
}

TEST_F(Contract, PadsForVectorsThatAccessIt) {
  ClusterState cluster{.statements = {{"S", 1, 8}, {"T", 1, 8}}};
  auto aligned = contract(rows(), {0, 0}, {0, 0}, cluster, {}, 1000).tensor("local_t");
  EXPECT_EQ(aligned.extent, (std::vector<std::int64_t>{1, 24}));
  EXPECT_TRUE(aligned.padded);
  auto shifted = contract(rows("t[i, j + 1]"), {0, 0}, {0, 0}, cluster, {}, 1000).tensor("local_t");
  EXPECT_EQ(shifted.extent, (std::vector<std::int64_t>{1, 32}));
  auto reversed = contract(rows("t[i, 19 - j]"), {0, 0}, {0, 0}, cluster, {}, 1000).tensor("local_t");
  EXPECT_FALSE(reversed.padded);
}

/// j mod 8 is the lane: the first vector begins at lane 3 and ends in the place of the second.
TEST_F(Contract, PadsForVectorsThatStartWithinATile) {
  auto scop =
      ScopBuilder(context()).temporary("t", {8, 9}).statement("S[i, j] : 0 <= i < 8 and 3 <= j < 9", "t[i, j]").scop();
  using namespace build;
  scop.schedule = domain(
      scop.domain(), coincident_band("[{ S[i, j] -> [(i)] }]", 1,
                                     band("[{ S[i, j] -> [(floor(j/8))] }]", band("[{ S[i, j] -> [(j mod 8)] }]"))));
  ClusterState cluster{.statements = {{"S", 1, 8}}};
  auto buffer = contract(scop, {0, 0}, {0, 0}, cluster, {}, 1000).tensor("local_t");
  EXPECT_GE(buffer.extent.back(), 13);
}

/// The masked-off lanes of a vector that ends early, or starts within a tile, may hold elements that others wrote.
TEST_F(Contract, LanesKeepWhatOthersWrote) {
  auto keeps = [&](const std::string& overwritten) {
    const std::string all = "S[i, j] : 0 <= i < 8 and 0 <= j < 20", some = "U[i, j] : 0 <= i < 8 and " + overwritten;
    auto scop =
        ScopBuilder(context()).temporary("t", {8, 20}).statement(all, "t[i, j]").statement(some, "t[i, j]").scop();
    using namespace build;
    scop.schedule =
        domain(scop.domain(), coincident_band("[{ S[i, j] -> [(i)]; U[i, j] -> [(i)] }]", 1,
                                              sequence({{"{ S[i, j] }", band("[{ S[i, j] -> [(j mod 8)] }]")},
                                                        {"{ U[i, j] }", band("[{ U[i, j] -> [(j mod 8)] }]")}})));
    ClusterState cluster{.statements = {{"S", 1, 8}, {"U", 1, 8}}};
    auto buffer = contract(scop, {0, 0}, {0, 0}, cluster, {}, 1000).tensor("local_t");
    EXPECT_TRUE(buffer.padded);
    return buffer.combined;
  };
  EXPECT_FALSE(keeps("0 <= j < 20"));
  EXPECT_FALSE(keeps("0 <= j < 16"));
  EXPECT_FALSE(keeps("8 <= j < 20"));
  EXPECT_FALSE(keeps("17 <= j < 20"));
  EXPECT_TRUE(keeps("0 <= j < 15"));
  EXPECT_TRUE(keeps("1 <= j < 20"));
  EXPECT_TRUE(keeps("17 <= j < 19"));
}

/// Tiles of three and vectors of four: a part of the tensor that ends within a tile leaves lanes at the other part.
TEST_F(Contract, LanesKeepWhatOthersWroteInPartsOfTiles) {
  auto scop = ScopBuilder(context())
                  .temporary("t", {6})
                  .statement("S[j] : 0 <= j < 4", "t[j]")
                  .statement("U[j] : 0 <= j < 6", "t[j]")
                  .scop();
  using namespace build;
  scop.schedule = domain(scop.domain(), coincident_band("[{ S[j] -> [(floor((j)/3))]; U[j] -> [(floor((j)/3))] }]", 1,
                                                        sequence({{"{ S[j] }", band("[{ S[j] -> [(j mod 3)] }]")},
                                                                  {"{ U[j] }", band("[{ U[j] -> [(j mod 3)] }]")}})));
  ClusterState cluster{.statements = {{"S", 0, 4}, {"U", 0, 4}}};
  auto buffer = contract(scop, {0, 0}, {0, 0}, cluster, {}, 1000).tensor("local_t");
  EXPECT_TRUE(buffer.padded);
  EXPECT_TRUE(buffer.combined);
}

TEST_F(Contract, LeavesWhatIsTooLargeSharedOrNeededLater) {
  EXPECT_FALSE(contract(rows(), {0, 0}, {0, 0}, {}, {}, 79).has_tensor("local_t"));
  EXPECT_TRUE(contract(rows(), {0, 0}, {0, 0}, {}, {"t"}, 0).has_tensor("local_t"));
  EXPECT_FALSE(contract(rows("t[7 - i, j]"), {0, 0}, {0, 0}, {}, {}, 1000).has_tensor("local_t"));
  auto scop = rows();
  scop.tensor("t").live_out = true;
  EXPECT_FALSE(contract(scop, {0, 0}, {0, 0}, {}, {}, 1000).has_tensor("local_t"));
}

}  // namespace
}  // namespace tc::polyhedral
