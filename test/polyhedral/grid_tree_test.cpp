#include "tc/polyhedral/map_grid/grid_tree.h"

#include "tc/polyhedral/map_grid/grid_loops.h"
#include "tc/polyhedral/map_grid/spread_over_threads.h"
#include "tc/polyhedral/map_grid/spread_statement.h"
#include "tc/polyhedral/map_grid/tile_members.h"
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

TEST_F(GridTreePasses, ThreadsOfALoopTakeItsRunsInTurn) {
  auto i = function("S[i] -> [(i)]");
  auto all = coordinates_of({i, 8, true, {0, 1}}, {16, 1, 1}).at(0);
  EXPECT_EQ(all.threads, 8);
  EXPECT_TRUE(same(all.value, i));
  auto cyclic = coordinates_of({i, 100, true, {0, 4}}, {8, 1, 1}).at(0);
  EXPECT_EQ(cyclic.threads, 8);
  EXPECT_TRUE(same(cyclic.value, function("S[i] -> [(floor(i/4) mod 8)]")));
  EXPECT_TRUE(uses({{i, 8, true, {1, 1}}}, 1));
  EXPECT_FALSE(uses({{i, 8, true, {1, 1}}}, 0));
}

TEST_F(GridTreePasses, ThreadsOfALoopMayHaveADigitOfWarps) {
  auto i = function("S[i] -> [(i)]");
  auto rows = coordinates_of({i, 128, true, {1, 1, 8, {1, 64, 2}}}, {4, 16, 1});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].threads, 16);
  EXPECT_TRUE(same(rows[0].value, function("S[i] -> [((i mod 8) + 8 * (floor(i/64) mod 2))]")));
  auto columns = coordinates_of({i, 64, true, {0, 2, 4, {2, 32, 2}}}, {4, 8, 2});
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0].dimension, 0);
  EXPECT_TRUE(same(columns[0].value, function("S[i] -> [(floor(i/2) mod 4)]")));
  EXPECT_EQ(columns[1].dimension, 2);
  EXPECT_TRUE(same(columns[1].value, function("S[i] -> [(floor(i/32) mod 2)]")));
}

TEST_F(GridTreePasses, AThreadHasRoundsGroupsAndRuns) {
  GridLoops band, runs;
  take_apart({function("S[i] -> [(i)]"), 1024, true, {0, 4}}, 64, band, runs);
  ASSERT_EQ(band.size(), 2u);
  EXPECT_TRUE(same(band[0].index, function("S[i] -> [(floor(i/256))]")));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_TRUE(same(runs[0].index, function("S[i] -> [(i mod 4)]")));
  band.clear();
  take_apart({function("S[i] -> [(i)]"), 8, true, {}}, 0, band, runs);
  EXPECT_EQ(band.size(), 1u) << "a serial loop stays as it is";
}

TEST_F(GridTreePasses, BlocksTakeTilesOfMembers) {
  auto scop = row_sums(100, 20);
  auto view = cluster_views(scop).at(0);
  auto band = scop.schedule.root().child(0);
  GridClusterMapping mapping{.members = {{8, 0, {0, 1}}}, .separate = true, .grid = {4, 1, 1}};
  auto cut = tile_members(band, view, mapping);
  ASSERT_EQ(cut.tiles.size(), 1u);
  EXPECT_EQ(cut.tiles[0].extent, 13);
  ASSERT_EQ(cut.points.size(), 1u);
  EXPECT_EQ(cut.points[0].extent, 8);
  EXPECT_EQ(cut.grid, (std::array<std::int64_t, 3>{4, 1, 1}));
  EXPECT_EQ(cut.full, std::vector<std::string>{"8*t0+8<=100"});
  EXPECT_TRUE(is_filter(cut.filter,
                        "[block_x] -> { I[i] : floor(i/8) mod 4 = block_x; U[i, k] : floor(i/8) mod 4 = block_x }"));
  auto whole = tile_members(band, view, {});
  EXPECT_TRUE(whole.tiles.empty()) << "members that the mapping does not name stay whole";
  EXPECT_EQ(whole.points.size(), 1u);
}

TEST_F(GridTreePasses, AStatementRunsAheadOrInStep) {
  auto scop = row_sums(8, 256);
  GridClusterMapping mapping{.statements = {{"U", {{1, {0, 1}}}}}, .block = {32, 1, 1}};
  auto node = below_band(scop).child(1).child(0);
  ASSERT_EQ(statement_ids(node), std::vector<std::string>{"U"});
  auto ahead = spread_statement(node, scop, {mapping, warp_size}, {}, false);
  EXPECT_TRUE(is_filter(ahead.filter, "[thread_x] -> { U[i, k] : k mod 32 = thread_x }"));
  EXPECT_EQ(ahead.used, (std::array<std::int64_t, 3>{32, 1, 1}));
  EXPECT_TRUE(ahead.above.empty());
  EXPECT_FALSE(ahead.numbers);
  mapping.statements[0].loops.clear();
  auto together = spread_statement(node, scop, {mapping, warp_size}, {}, true);
  EXPECT_TRUE(is_filter(together.filter, "[thread_x] -> { U[i, k] : thread_x = 0 }"));
  ASSERT_EQ(together.above.size(), 1u);
  EXPECT_EQ(together.above[0].size(), 1u) << "the loop over k stands above the thread";
  EXPECT_EQ(vector_lanes(together, {mapping, warp_size}), 0);
  auto inserted = insert_threads(node, together, {"U", {}});
  EXPECT_EQ(mark_name(inserted.child(0)), "thread") << "below the band of all threads";
}

TEST_F(GridTreePasses, VectorsBesideEachOtherGoToNeighbours) {
  auto scop = row_sums(16, 16);
  GridClusterMapping mapping{.block = {16, 2, 1}};
  GridClusterState state(mapping, warp_size);
  GridStatement copy{"U", {{1, {-1, 4}, 2}, {0, {-1, 1}}}, true};
  copy.vector = true;
  state.added.push_back(copy);
  auto node = below_band(scop).child(1).child(0);
  auto i = function("I[i] -> [(i)]; U[i, k] -> [(i)]");
  auto spread = spread_statement(node, scop, state, {{i, 16, true, {}}}, false);
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
  GridClusterMapping mapping{.statements = {{"S", {{1, {0, 1}}}}, {"T", {{1, {0, 1}}}}}, .block = {32, 1, 1}};
  auto result = spread_over_threads(scop.schedule.root().child(0), {}, scop, {mapping, warp_size}, {});
  ASSERT_EQ(result.statements.size(), 2u);
  EXPECT_TRUE(is_filter(result.statements[1].filter, "[thread_x] -> { T[i, j] : j mod 32 = thread_x }"));
  ASSERT_TRUE(result.node.isa<isl::schedule_node_band>());
  EXPECT_TRUE(same(band_members(result.node)[0], function("S[i, j] -> [(floor(j/32))]; T[i, j] -> [(floor(j/32))]")));
  GridClusterMapping tiles{.members = {{32, 0, {0, 1}}}, .grid = {64, 1, 1}, .block = {32, 1, 1}};
  auto tree = grid_tree(scop, {tiles, warp_size}, {});
  EXPECT_EQ(tree.grid, (std::array<std::int64_t, 3>{4, 1, 1}));
  EXPECT_EQ(tree.block, (std::array<std::int64_t, 3>{32, 1, 1}));
  EXPECT_EQ(print_block(with_tree(scop, tree).schedule), print_block(tree.schedule));
}

}  // namespace
}  // namespace tc::polyhedral
