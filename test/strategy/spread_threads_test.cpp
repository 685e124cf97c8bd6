#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/grid/block_threads.h"
#include "tc/strategy/grid/promote_temporaries.h"
#include "tc/strategy/grid/read_whole_sectors.h"
#include "tc/strategy/grid/spread_members.h"
#include "tc/strategy/grid/spread_rows.h"
#include "tc/strategy/grid/thread_gain.h"
#include "tc/strategy/grid/tile_transposition.h"
#include "test/support/expect_error.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy::spread_threads_test {
namespace {

using polyhedral::ClusterView;
using polyhedral::GridClusterMapping;
using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;
using polyhedral::Tensor;

const GridLimits limits = GridLimits::of("sm_90");

class SpreadThreads : public polyhedral::IslTest {
 protected:
  /// O(i, j) = I at \p index, of n x m.
  Scop elements(int n, int m, const std::string& index, std::vector<std::int64_t> extent) const {
    return scheduled(ScopBuilder(context())
                         .input("I", std::move(extent))
                         .output("O", {n, m})
                         .statement(str("S[i, j] : 0 <= i < ", n, " and 0 <= j < ", m), "O[i, j]", {"I[" + index + "]"})
                         .scop());
  }
  /// C(i) += A(i, k).
  Scop row_sums(int n, int m) const {
    return scheduled(ScopBuilder(context())
                         .input("A", {n, m})
                         .output("C", {n})
                         .accumulate(str("U[i, k] : 0 <= i < ", n, " and 0 <= k < ", m), "C[i]", {"A[i, k]"})
                         .scop());
  }
  static ClusterView cluster(const Scop& scop) { return polyhedral::cluster_views(scop).at(0); }
  /// Nothing is spread yet.
  static GridClusterMapping unspread(const Scop& scop) {
    GridClusterMapping result;
    result.members.resize(cluster(scop).members.size());
    result.shared_bytes = limits.block_shared_bytes;
    return result;
  }
  static Scop scheduled(Scop scop) {
    scop.schedule = compute_schedule(scop, compute_dependences(scop), {});
    return scop;
  }
};

TEST_F(SpreadThreads, ABlockHasPowersOfTwoOrWhatIsAsked) {
  EXPECT_EQ(threads_for(20, 0, 256, limits, {}), 32);
  EXPECT_EQ(threads_for(1000, 0, 256, limits, {}), 256);
  EXPECT_EQ(threads_for(20, 1, 256, limits, {.block = {8, 4}}), 4);
  EXPECT_EQ(threads_for(20, 2, 256, limits, {.block = {8, 4}}), 1);
  EXPECT_EQ(most_threads(limits, {}), 256);
  EXPECT_EQ(most_threads(limits, {.block = {8, 4}}), 32);
  EXPECT_ERROR(most_threads(limits, {.block = {64, 64}}), OptionsError,
               "'block=64x64': the target has at most 1024 threads a block, 64 of them in z");
  EXPECT_EQ(shared_bytes(limits, {}), limits.block_shared_bytes);
  EXPECT_EQ(shared_bytes(limits, {.shared_bytes = 1 << 30}), limits.block_shared_bytes_requested);
}

TEST_F(SpreadThreads, ThreadsGainAlongNeighbouringElements) {
  auto scop = elements(8, 64, "i, j", {8, 64});
  const auto view = cluster(scop);
  EXPECT_EQ(thread_gain(scop, view.statements[0], 1), 2 * 512);
  EXPECT_EQ(thread_gain(scop, view.statements[0], 0), -512);
  EXPECT_EQ(best_member(scop, view), std::pair(1, 1024.0));
}

TEST_F(SpreadThreads, LongRowsThatAreReducedBelongTogether) {
  auto rows = row_sums(1000, 4096), columns = row_sums(100000, 4);
  EXPECT_EQ(best_inner(rows, cluster(rows).statements[0], {}), 1);
  EXPECT_EQ(best_inner(rows, cluster(rows).statements[0], {.reduce_in_block = false}), -1);
  EXPECT_TRUE(rows_belong_together(rows, cluster(rows), best_member(rows, cluster(rows)).second, limits, {}));
  EXPECT_FALSE(
      rows_belong_together(columns, cluster(columns), best_member(columns, cluster(columns)).second, limits, {}));
}

TEST_F(SpreadThreads, MembersFillABlockFromTheInnermost) {
  auto scop = elements(1000, 20, "i, j", {1000, 20});
  auto result = spread_members(unspread(scop), scop, cluster(scop), 1, limits, {});
  EXPECT_EQ(to_string(result),
            "grid 1, block 8x32, member 0 tile 32 threads y, member 1 tile 32 threads x run 4, "
            "others: vector, shared bytes 49152");
  result = spread_members(unspread(scop), scop, cluster(scop), 1, limits, {.tile = {4, 10}, .block = {5, 2}});
  EXPECT_EQ(to_string(result),
            "grid 1, block 5x2, member 0 tile 4 threads y, member 1 tile 10 threads x, "
            "shared bytes 49152");
}

TEST_F(SpreadThreads, WholeWarpsReduceRows) {
  auto scop = row_sums(1000, 4096);
  EXPECT_EQ(to_string(spread_rows(unspread(scop), scop, cluster(scop), limits, {})),
            "grid 1, block 256, member 0 tile 1, U: i1 threads x run 4, U: vector, shared bytes 49152");
  scop = row_sums(1000, 40);
  EXPECT_EQ(to_string(spread_rows(unspread(scop), scop, cluster(scop), limits, {})),
            "grid 1, block 32, member 0 tile 1, U: i1 threads x run 4, U: vector, shared bytes 49152");
}

TEST_F(SpreadThreads, AccumulatorsOfOneThreadAreFound) {
  auto scop = row_sums(1000, 4096);
  EXPECT_EQ(thread_accumulators(scop, cluster(scop)), std::vector<std::string>{"C"});
  scop = elements(8, 64, "i, j", {8, 64});
  EXPECT_TRUE(thread_accumulators(scop, cluster(scop)).empty());
}

TEST_F(SpreadThreads, TranspositionsGoBySquares) {
  auto scop = elements(100, 200, "j, i", {200, 100});
  auto result = tile_transposition(unspread(scop), scop, cluster(scop), limits, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(to_string(*result),
            "grid 1, block 8x32, member 0 tile 64 threads y, member 1 tile 64 threads x run 4, "
            "others: vector unroll, copy read 0 of S along i0 run i0 vector 4, separate full tiles, "
            "shared bytes 49152");
  EXPECT_FALSE(tile_transposition(unspread(scop), scop, cluster(scop), limits, {.block = {32}}));
  auto straight = elements(100, 200, "i, j", {100, 200});
  EXPECT_FALSE(tile_transposition(unspread(straight), straight, cluster(straight), limits, {}));
  auto narrow = elements(100, 20, "j, i", {20, 100});
  EXPECT_FALSE(tile_transposition(unspread(narrow), narrow, cluster(narrow), limits, {}));
}

TEST_F(SpreadThreads, TemporariesAreBuffersAndShortLoopsUnrolled) {
  auto scop = elements(8, 64, "i, j", {8, 64});
  scop.tensor("O").storage = Tensor::Storage::Workspace;
  scop.tensor("O").live_out = false;
  auto mapping = unspread(scop);
  mapping.block = {8, 1, 1};
  mapping.statements = {{"S", {{1, {0, 4}}}}};
  auto result = promote_temporaries(mapping, scop, cluster(scop), {});
  EXPECT_EQ(result.promoted, std::vector<std::string>{"O"});
  EXPECT_TRUE(result.statements[0].unroll) << "two vectors of four";
  EXPECT_FALSE(promote_temporaries(mapping, scop, cluster(scop), {.unroll_limit = 4}).statements[0].unroll);
  EXPECT_TRUE(promote_temporaries(mapping, scop, cluster(scop), {.promote = false}).promoted.empty());
}

TEST_F(SpreadThreads, NeighboursReadWholeSectors) {
  auto scop = scheduled(
      ScopBuilder(context())
          .input("A", {128, 64})
          .input("B", {64, 64})
          .output("C", {128, 64})
          .accumulate("U[m, n, k] : 0 <= m < 128 and 0 <= n < 64 and 0 <= k < 64", "C[m, n]", {"A[m, k]", "B[k, n]"})
          .scop());
  auto beside = [&](std::int64_t block, DType type, std::int64_t rows = 64) {
    scop.tensor("A").type = type;
    auto mapping = unspread(scop);
    mapping.block = {16, 16, 1};
    mapping.members[0].tile = rows;
    mapping.blocks = {"U", 2, block, 1};
    mapping.copies = {{"U", 0, 0, 2, 4}, {"U", 1, 1, 1, 4}};
    auto result = read_whole_sectors(mapping, scop, cluster(scop), limits);
    EXPECT_EQ(result.copies[1].beside, 1) << "its neighbours read neighbouring vectors anyway";
    return result.copies[0].beside;
  };
  EXPECT_EQ(beside(16, DType::Float32), 4);
  EXPECT_EQ(beside(16, DType::Float32, 128), 2) << "two rounds of all threads";
  EXPECT_EQ(beside(12, DType::Float32), 1) << "three vectors";
  EXPECT_EQ(beside(4, DType::Float32), 1) << "a block has one vector of a row";
  EXPECT_EQ(beside(16, DType::Float16), 4);
  EXPECT_EQ(beside(8, DType::Float16), 2);
  EXPECT_EQ(beside(16, DType::Float64), 1) << "a vector is a sector";
}

}  // namespace
}  // namespace tc::strategy::spread_threads_test
