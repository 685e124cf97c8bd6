#include "tc/polyhedral/spread/grid_tree.h"

#include "tc/polyhedral/spread/branch_loops.h"
#include "tc/polyhedral/spread/grid_loops.h"
#include "tc/polyhedral/spread/spread_over_threads.h"
#include "tc/polyhedral/spread/spread_statement.h"
#include "tc/polyhedral/spread/tile_members.h"
#include "test/polyhedral/mapping_passes_fixture.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class GridTreePasses : public MappingPassTest {
 protected:
  isl::union_pw_aff function(const std::string& text) const { return isl::union_pw_aff(ctx(), "{ " + text + " }"); }
  static bool same(const isl::union_pw_aff& a, const isl::union_pw_aff& b) {
    auto map = [](const isl::union_pw_aff& of) { return call(of.ctx(), isl_union_map_from_union_pw_aff, of.copy()); };
    return map(a).is_equal(map(b));
  }
  bool is_filter(const isl::union_set& filter, const std::string& text) const {
    return filter.is_equal(isl::union_set(ctx(), text));
  }
  /// The node of the statements of row_sums() below their outer band.
  static isl::schedule_node below_band(const Scop& scop) { return scop.schedule.root().child(0).child(0); }
};

TEST_F(GridTreePasses, DigitsOfAnIndexAreWhatLoopsAroundLeave) {
  auto i = function("S[i] -> [(i)]");
  OpenIndex index(i, 1000, true);
  EXPECT_EQ(index.mod(), 0);
  EXPECT_EQ(index.values(240), 5);
  EXPECT_TRUE(same(index.digit(240), function("S[i] -> [(floor(i/240))]")));
  const auto tile = index.below(240), part = tile.below(48);
  EXPECT_EQ(tile.extent(), 240);
  EXPECT_EQ(part.mod(), 48);
  EXPECT_TRUE(same(part.rest(), function("S[i] -> [((i mod 240) mod 48)]")));
  EXPECT_TRUE(same(part.digit(16), function("S[i] -> [(floor(((i mod 240) mod 48)/16))]")));
  EXPECT_TRUE(same(part.coordinate(16), part.digit(16))) << "on whole tiles: floor(i/16) mod 3";
  const auto uneven = index.below(100).below(16);
  EXPECT_TRUE(same(uneven.coordinate(4), function("S[i] -> [(floor(((i mod 100) mod 16)/4))]")));
  EXPECT_TRUE(same(uneven.digit(4), uneven.coordinate(4)));
  EXPECT_EQ(OpenIndex(i, 10, true).below(64).extent(), 10) << "a tile has no more values than its index";
}

TEST_F(GridTreePasses, ThreadsOfALoopMayHaveADigitOfWarps) {
  auto scop = row_sums(128, 4);
  GridClusterMapping mapping{.members = {{0, -1, {1, 1, 8, {1, 64, 2}}}}, .block = {1, 16, 1}};
  const auto state = kernel_state(scop, mapping);
  const auto node = below_band(scop).child(0).child(0);
  const std::vector<OpenIndex> points{{function("I[i] -> [(i)]; U[i, k] -> [(i)]"), 128, true}};
  const auto one =
      branch_loops(state.space, state.branch("I", {}), branch_indices(node, scop, state, points), state.block(), false);
  const auto i = isl::union_set(ctx(), "{ I[i] }");
  const auto of_i =
      call(ctx(), isl_union_pw_aff_intersect_domain, isl::union_pw_aff(one.threads[1]).release(), i.copy());
  EXPECT_TRUE(same(of_i, function("I[i] -> [((i mod 8) + 8 * floor(i/64))]")));
}

TEST_F(GridTreePasses, AThreadHasRoundsGroupsAndRuns) {
  auto scop = row_sums(1024, 4);
  GridClusterMapping mapping{.members = {{0, -1, {0, 4}}}, .block = {64, 1, 1}};
  auto state = kernel_state(scop, mapping);
  const auto node = below_band(scop).child(0).child(0);
  const std::vector<OpenIndex> points{{function("I[i] -> [(i)]; U[i, k] -> [(i)]"), 1024, true}};
  auto branch = state.branch("I", {});
  const auto loops = [&] {
    return branch_loops(state.space, branch, branch_indices(node, scop, state, points), state.block(), false).loops;
  };
  ASSERT_EQ(loops().size(), 2u) << "rounds and threads are one loop in steps of the threads";
  EXPECT_TRUE(same(loops()[0].loop.index, function("I[i] -> [(floor(i/4))]; U[i, k] -> [(floor(i/4))]")));
  EXPECT_EQ(loops()[1].group, BranchLoop::Runs);
  EXPECT_TRUE(same(loops()[1].loop.index, function("I[i] -> [(i mod 4)]; U[i, k] -> [(i mod 4)]")));
  branch.loops[0].place = NestPlace::Unrolled;
  ASSERT_EQ(loops().size(), 3u) << "unrolled rounds are a loop of their own";
  EXPECT_TRUE(same(loops()[0].loop.index, function("I[i] -> [(floor(i/256))]; U[i, k] -> [(floor(i/256))]")));
}

TEST_F(GridTreePasses, BlocksTakeTilesOfMembers) {
  auto scop = row_sums(100, 20);
  auto view = cluster_views(scop).at(0);
  auto band = scop.schedule.root().child(0);
  GridClusterMapping mapping{.members = {{8, 0, {0, 1}}}, .separate = true, .grid = {4, 1, 1}};
  auto cut = tile_members(band, view, kernel_state(scop, mapping).nest);
  ASSERT_EQ(cut.tiles.size(), 1u);
  ASSERT_EQ(cut.points.size(), 1u);
  EXPECT_EQ(cut.points[0].extent(), 8);
  EXPECT_EQ(cut.grid, (std::array<std::int64_t, 3>{4, 1, 1}));
  EXPECT_EQ(cut.full, std::vector<std::string>{"8*t0+8<=100"});
  EXPECT_TRUE(is_filter(cut.filter,
                        "[block_x] -> { I[i] : floor(i/8) mod 4 = block_x; U[i, k] : floor(i/8) mod 4 = block_x }"));
  auto whole = tile_members(band, view, kernel_state(scop, {}).nest);
  EXPECT_TRUE(whole.tiles.empty()) << "members that the trunk does not name stay whole";
  EXPECT_EQ(whole.points.size(), 1u);
}

TEST_F(GridTreePasses, AStatementRunsAheadOrInStep) {
  auto scop = row_sums(8, 256);
  GridClusterMapping mapping{.statements = {{"U", {{1, {0, 1}}}}}, .block = {32, 1, 1}};
  auto node = below_band(scop).child(1).child(0);
  ASSERT_EQ(statement_ids(node), std::vector<std::string>{"U"});
  const std::vector<OpenIndex> points{{function("I[i] -> [(i)]; U[i, k] -> [(i)]"), 8, true}};
  auto ahead = spread_statement(node, scop, kernel_state(scop, mapping), points, false);
  EXPECT_TRUE(is_filter(ahead.filter, "[thread_x] -> { U[i, k] : k mod 32 = thread_x }"));
  EXPECT_TRUE(ahead.above.empty());
  EXPECT_FALSE(ahead.numbers);
  mapping.statements[0].loops.clear();
  auto together = spread_statement(node, scop, kernel_state(scop, mapping), points, true);
  EXPECT_TRUE(is_filter(together.filter, "{ U[i, k] }"));
  ASSERT_EQ(together.above.size(), 1u);
  EXPECT_EQ(together.above[0].size(), 1u) << "the loop over k stands above the thread";
  EXPECT_EQ(together.lanes, 0);
  auto inserted = insert_threads(node, together);
  EXPECT_EQ(mark_name(inserted.child(0)), "thread") << "below the band of all threads";
}

TEST_F(GridTreePasses, VectorsBesideEachOtherGoToNeighbours) {
  auto scop = row_sums(16, 16);
  auto state = kernel_state(scop, {});
  state.nest.launch->block = {16, 2, 1};
  auto vectors = loop_over(NestIndex{1, 1}, 0, 4), rows = loop_over(NestIndex{-1, 0}, 0, 1);
  vectors.place = rows.place = NestPlace::Threads;
  vectors.beside = 2;
  state.nest.branches[1].loops = {vectors, rows, loop_over(NestIndex{1, 1}, 4, 1)};
  auto node = below_band(scop).child(1).child(0);
  auto i = function("I[i] -> [(i)]; U[i, k] -> [(i)]");
  auto spread = spread_statement(node, scop, state, {{i, 16, true}}, false);
  EXPECT_TRUE(is_filter(spread.filter,
                        "[thread_x, thread_y] -> { U[i, k] : floor(k/4) mod 2 + 2 * (i mod 8) = thread_x and "
                        "floor(i/8) = thread_y }"));
  ASSERT_TRUE(spread.numbers);
  ASSERT_EQ(spread.numbers->size(), 2u) << "rounds, and the elements of a vector";
  EXPECT_EQ(spread.numbers->at(0).extent, 2);
  EXPECT_EQ(spread.numbers->at(1).extent, 4);
}

TEST_F(GridTreePasses, SharedLoopsAreCutIntoRounds) {
  auto ij = std::string(" : 0 <= i < 4 and 0 <= j < 100");
  auto scop = ScopBuilder(context())
                  .input("A", {4, 100})
                  .output("B", {4, 100})
                  .output("C", {4, 100})
                  .statement("S[i, j]" + ij, "B[i, j]", {"A[i, j]"})
                  .statement("T[i, j]" + ij, "C[i, j]", {"A[i, j]"})
                  .scop();
  scop.schedule = domain(ctx(), "{ S[i, j]" + ij + "; T[i, j]" + ij + " }",
                         coincident_band("[{ S[i, j] -> [(j)]; T[i, j] -> [(j)] }]", 1,
                                         sequence({{"{ S[i, j] }", band("[{ S[i, j] -> [(i)] }]")},
                                                   {"{ T[i, j] }", band("[{ T[i, j] -> [(i)] }]")}})));
  auto shared = kernel_state(scop, {});
  shared.space.members.clear();
  shared.nest.launch->block = {32, 1, 1};
  for (int number : {0, 1}) {
    auto rounds = loop_over(NestIndex{number, 1}, 0, 32), threads = loop_over(NestIndex{number, 1}, 32, 1);
    threads.place = NestPlace::Thread;
    shared.nest.branches[static_cast<std::size_t>(number)].loops = {rounds, threads,
                                                                    loop_over(NestIndex{number, 0}, 0, 1)};
  }
  auto result = spread_over_threads(scop.schedule.root().child(0), {}, scop, shared, {});
  ASSERT_EQ(result.statements.size(), 2u);
  EXPECT_TRUE(is_filter(result.statements[1].filter, "[thread_x] -> { T[i, j] : j mod 32 = thread_x }"));
  ASSERT_TRUE(result.node.isa<isl::schedule_node_band>());
  EXPECT_TRUE(same(band_members(result.node)[0], function("S[i, j] -> [(floor(j/32))]; T[i, j] -> [(floor(j/32))]")));
  GridClusterMapping tiles{.members = {{32, 0, {0, 1}}}, .grid = {64, 1, 1}, .block = {32, 1, 1}};
  auto tree = grid_tree(scop, kernel_state(scop, tiles), {});
  EXPECT_EQ(tree.grid, (std::array<std::int64_t, 3>{4, 1, 1}));
  EXPECT_EQ(tree.block, (std::array<std::int64_t, 3>{32, 1, 1}));
  EXPECT_EQ(print_block(with_tree(scop, tree).schedule), print_block(tree.schedule));
}

}  // namespace
}  // namespace tc::polyhedral
