#include "tc/strategy/grid/choose_grid_mapping.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/polyhedral/core/instances.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/isl_fixture.h"
#include "test/support/mapping_text.h"
#include "test/support/scops.h"

namespace tc::strategy {
namespace {

using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class ChooseGridMapping : public polyhedral::IslTest {
 protected:
  /// O(i, j) = I at \p index.
  Scop copy(int n, int m, const std::string& index, std::vector<std::int64_t> extent) const {
    return scheduled(ScopBuilder(context())
                         .input("I", std::move(extent))
                         .output("O", {n, m})
                         .statement(str("S[i, j] : 0 <= i < ", n, " and 0 <= j < ", m), "O[i, j]", {"I[" + index + "]"})
                         .scop());
  }
  Scop row_sums(int n, int m) const { return scheduled(polyhedral::scops::row_sums(context(), n, m)); }
  Scop product(int m, int n, int k) const { return scheduled(polyhedral::scops::product(context(), m, n, k)); }
  /// C(m, n) = sum over k of T(I(m), k) B(k, n).
  Scop gathered_product(int m, int n, int k) const {
    auto domain = str("U[m, n, k] : 0 <= m < ", m, " and 0 <= n < ", n, " and 0 <= k < ", k);
    auto scop = ScopBuilder(context())
                    .input("T", {100, k})
                    .input("I", {m})
                    .input("B", {k, n})
                    .output("C", {m, n})
                    .accumulate(domain, "C[m, n]", {"I[m]"})
                    .read_through(str("T[v, k] : 0 <= v < 100 and 0 <= k < ", k), {0, 2}, 1)
                    .scop();
    return with_row_read(std::move(scop), "U[m, n, k] -> T[v, k]", "U[m, n, k] -> B[k, n]");
  }
  /// O(b, n) = sum over k of T(I(b), k) P(b, k, n).
  Scop gathered_sums(int b, int n, int k) const {
    auto domain = str("U[b, n, k] : 0 <= b < ", b, " and 0 <= n < ", n, " and 0 <= k < ", k);
    auto scop = ScopBuilder(context())
                    .input("T", {100, k})
                    .input("I", {b})
                    .input("P", {b, k, n})
                    .output("O", {b, n})
                    .accumulate(domain, "O[b, n]", {"I[b]"})
                    .read_through(str("T[v, k] : 0 <= v < 100 and 0 <= k < ", k), {0, 2}, 1)
                    .scop();
    return with_row_read(std::move(scop), "U[b, n, k] -> T[v, k]", "U[b, n, k] -> P[b, k, n]");
  }
  /// O(b, n, d) = T(I(b), d) P(n, d).
  Scop gathered_rows(int b, int n, int d) const {
    auto domain = str("S[b, n, d] : 0 <= b < ", b, " and 0 <= n < ", n, " and 0 <= d < ", d);
    auto scop = ScopBuilder(context())
                    .input("T", {100, d})
                    .input("I", {b})
                    .input("P", {n, d})
                    .output("O", {b, n, d})
                    .statement(domain, "O[b, n, d]", {"I[b]"})
                    .read_through(str("T[v, d] : 0 <= v < 100 and 0 <= d < ", d), {0, 2}, 1)
                    .scop();
    return with_row_read(std::move(scop), "S[b, n, d] -> T[v, d]", "S[b, n, d] -> P[n, d]");
  }
  std::string choose(const Scop& scop, const MappingOptions& options = {}) const {
    return polyhedral::essentials(
        to_string(choose_grid_mapping(polyhedral::clustered(scop), GridLimits::of("sm_90"), options)));
  }

 private:
  /// The last read of the statement as far as \p gathered says, and one more.
  Scop with_row_read(Scop scop, const std::string& gathered, const std::string& another) const {
    auto& statement = scop.statements.back();
    auto& relation = statement.reads.back().relation;
    relation = relation.intersect(isl::map(ctx(), "{ " + gathered + " }"));
    auto more = isl::map(ctx(), "{ " + another + " }").intersect_domain(statement.domain);
    statement.reads.push_back(polyhedral::exact_access(more));
    return scheduled(std::move(scop));
  }
  static Scop scheduled(Scop scop) {
    scop.schedule = compute_schedule(scop, compute_dependences(scop), {});
    return scop;
  }
};

TEST_F(ChooseGridMapping, NeighbouringThreadsUseNeighbouringElements) {
  EXPECT_EQ(choose(copy(100, 1000, "i, j", {100, 1000})),
            "grid 100, block 256, member 0 tile 1 blocks x, member 1 tile 1024 threads x run 4\n");
}

TEST_F(ChooseGridMapping, ShortRowsShareABlock) {
  EXPECT_EQ(choose(copy(1000, 20, "i, j", {1000, 20})),
            "grid 32, block 8x32, member 0 tile 32 blocks x threads y, member 1 tile 32 threads x run 4\n");
}

TEST_F(ChooseGridMapping, TransposesGoThroughSharedTiles) {
  EXPECT_EQ(choose(copy(100, 200, "j, i", {200, 100})),
            "grid 4x2, block 8x32, member 0 tile 64 blocks y threads y, member 1 tile 64 blocks x threads x run 4, "
            "copy read 0 of S along i0 vector 4, separate full tiles\n");
}

TEST_F(ChooseGridMapping, AllThreadsOfABlockReduceARow) {
  EXPECT_EQ(choose(row_sums(1000, 4096)),
            "grid 1000, block 256, member 0 tile 1 blocks x, U: i1 threads x run 4, U: vector unroll\n");
  EXPECT_EQ(choose(row_sums(1000, 4096), {.reduce_in_block = false}),
            "grid 4, block 256, member 0 tile 256 blocks x threads x, separate full tiles, stage C\n");
}

TEST_F(ChooseGridMapping, ContractionsAreTiledInRegistersAndSharedMemory) {
  EXPECT_EQ(
      choose(product(4096, 4096, 4096)),
      "grid 32x32, block 16x16, member 0 tile 128 blocks y threads y run 4, member 1 tile 128 blocks x threads x "
      "run 4, "
      "U: i2 in blocks of 16 slots 2, copy read 0 of U along i0 vector 4 beside 2 by registers, copy read 1 of U along "
      "i1 vector 4 asynchronous, stage C\n");
}

TEST_F(ChooseGridMapping, SmallContractionsHaveSmallTiles) {
  EXPECT_EQ(
      choose(product(256, 256, 64)),
      "grid 8x8, block 16x16, member 0 tile 32 blocks y threads y run 2, member 1 tile 32 blocks x threads x run 2, "
      "U: i2 in blocks of 16 slots 4, copy read 0 of U along i0 vector 4 beside 4 by registers, copy read 1 of U along "
      "i1 "
      "vector 4 asynchronous, stage C\n");
}

TEST_F(ChooseGridMapping, BlocksThatAreGivenGoRoundTheTilesOfAContraction) {
  EXPECT_EQ(choose(product(4096, 4096, 4096), {.grid = {8, 4}}),
            "grid 8x4, block 16x16, member 0 tile 128 blocks y threads y run 4, member 1 tile 128 blocks x threads x "
            "run 4, U: i2 in blocks of 16 slots 2, copy read 0 of U along i0 vector 4 beside 2 by registers, copy read "
            "1 of U along i1 vector 4 asynchronous, stage C\n");
  EXPECT_EQ(choose(product(256, 256, 64), {.grid = {2, 2}}).find("grid 2x2, block 16x16, member 0 tile 128 blocks y"),
            0u)
      << "four blocks have work, so tiles are large";
}

TEST_F(ChooseGridMapping, ContractionsCopyGatheredRows) {
  EXPECT_EQ(choose(gathered_product(4096, 4096, 4096)),
            "grid 32x32, block 16x16, member 0 tile 128 blocks y threads y run 4, member 1 tile 128 blocks x threads x "
            "run 4, U: i2 in blocks of 16 slots 2, copy read 1 of U along i0 vector 4 beside 2 by registers, copy read "
            "2 of U "
            "along i1 vector 4 asynchronous, stage C\n");
  EXPECT_EQ(choose(gathered_product(64, 64, 33)),
            "grid 2x2, block 16x16, member 0 tile 32 blocks y threads y run 2, member 1 tile 32 blocks x threads x run "
            "2, U: i2 in blocks of 16, copy read 0 of U along i0, copy read 1 of U along i0, copy read 2 of U along i1 "
            "vector 4 asynchronous, stage C\n");
  EXPECT_EQ(choose(gathered_product(64, 64, 33), {.gather_reuse = 100}),
            "grid 4, block 16x16, member 0 tile 16 blocks x threads y, member 1 tile 64 threads x run 4, stage C\n");
}

TEST_F(ChooseGridMapping, RowsThatABlockReadsOftenAreCopied) {
  EXPECT_EQ(choose(gathered_rows(50, 100, 64)),
            "grid 7x50, block 16x16, member 0 tile 1 blocks y, member 1 tile 16 blocks x threads y, member 2 tile 64 "
            "threads x run 4, copy read 1 of S along i2 vector 4\n");
  EXPECT_EQ(choose(gathered_rows(50, 100, 1024)),
            "grid 100x50, block 256, member 0 tile 1 blocks y, member 1 tile 1 blocks x, member 2 tile 1024 threads x "
            "run 4\n");
  EXPECT_EQ(choose(gathered_rows(50, 100, 1024), {.gather_reuse = 1}),
            "grid 100x50, block 256, member 0 tile 1 blocks y, member 1 tile 1 blocks x, member 2 tile 1024 threads x "
            "run 4, copy read 1 of S along i2 vector 4\n");
  EXPECT_EQ(choose(gathered_rows(50, 100, 64), {.gather_reuse = 17}),
            "grid 7x50, block 16x16, member 0 tile 1 blocks y, member 1 tile 16 blocks x threads y, member 2 tile 64 "
            "threads x run 4\n");
  EXPECT_EQ(choose(gathered_rows(50, 100, 64), {.shared = false}),
            "grid 7x50, block 16x16, member 0 tile 1 blocks y, member 1 tile 16 blocks x threads y, member 2 tile 64 "
            "threads x run 4\n");
}

TEST_F(ChooseGridMapping, LargeGathersHoldBlocksOfAReduction) {
  EXPECT_EQ(choose(gathered_sums(64, 2048, 16)),
            "grid 2x64, block 256, member 0 tile 1 blocks y, member 1 tile 1024 blocks x threads x run 4, copy read 1 "
            "of U along i2 vector 4, stage O\n");
  EXPECT_EQ(choose(gathered_sums(64, 32, 1600)),
            "grid 2, block 8x32, member 0 tile 32 blocks x threads y, member 1 tile 32 threads x run 4, U: i2 in "
            "blocks of 16, copy read 1 of U along i2 vector 4, stage O\n");
  EXPECT_EQ(choose(gathered_sums(64, 32, 1600), {.shared_bytes = 64}),
            "grid 2, block 8x32, member 0 tile 32 blocks x threads y, member 1 tile 32 threads x run 4, stage O\n");
}

TEST_F(ChooseGridMapping, OptionsDecide) {
  auto scop = copy(100, 1000, "i, j", {100, 1000});
  EXPECT_EQ(choose(scop, {.tile = {4, 64}, .grid = {8, 8}, .block = {32, 2}}),
            "grid 8x8, block 16x2, member 0 tile 4 blocks y threads y, member 1 tile 64 blocks x threads x run 4\n");
  EXPECT_EQ(
      choose(product(4096, 4096, 64), {.register_tile = {4, 8}, .reduction_block = 8}),
      "grid 32x64, block 16x16, member 0 tile 64 blocks y threads y run 4, member 1 tile 128 blocks x threads x run 4, "
      "U: i2 in blocks of 8 slots 3, copy read 0 of U along i0 vector 4 beside 2 by registers, copy read 1 of U along "
      "i1 "
      "vector 4 asynchronous, stage C\n");
  try {
    choose(scop, {.block = {64, 64}});
    ADD_FAILURE();
  } catch (const OptionsError& error) {
    EXPECT_NE(std::string(error.what()).find("the target has at most 1024 threads a block"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tc::strategy
