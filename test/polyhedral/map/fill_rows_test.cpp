#include "tc/polyhedral/map_grid/fill_rows.h"

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/map_grid/copy_reads.h"
#include "test/polyhedral/block_passes_fixture.h"
#include "test/support/simulate.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class FillRows : public BlockPassTest {
 protected:
  /// for b in 0:3 { S: t(b, n) = A(n) X(b) }  O(n) = t(2, n), for 13 rows; rows n need the iterations b <= n / 8 + 1.
  Scop rows() const {
    const std::string in_loop = " : 0 <= b < 3 and 0 <= n < 13 and 8b <= n + 8", row = " : 0 <= n < 13";
    auto scop = ScopBuilder(context())
                    .input("A", {13})
                    .input("X", {3})
                    .temporary("t", {3, 13})
                    .output("O", {13})
                    .statement("S[b, n]" + in_loop, "t[b, n]", {"A[n]", "X[b]"})
                    .statement("T[n]" + row, "O[n]", {"t[1, n]"})
                    .scop();
    scop.statement("S").loops = {{0, 0}};
    scop.schedule = domain(ctx(), "{ S[b, n]" + in_loop + "; T[n]" + row + " }",
                           coincident_band("[{ S[b, n] -> [(n)]; T[n] -> [(n)] }]", 1,
                                           sequence({{"{ S[b, n] }", band("[{ S[b, n] -> [(b)] }]")}, {"{ T[n] }"}})));
    return scop;
  }
  GridClusterMapping mapping(bool copies) const {
    GridClusterMapping result{.members = {{8, 0, {0}}}, .grid = {2, 1, 1}, .block = {8, 1, 1}};
    result.promoted = {"t"};
    if (copies) result.copies = {{"S", 0, 0, -1, 1}};
    result.shared_bytes = 1000;
    return result;
  }
  /// As if the loop over b ran around several statements.
  static NestSpace in_ordered_loop(NestSpace space) {
    space.bands = {{.statements = {"S"}, .members = {{.coincident = false, .extent = 3, .iterators = {0}}}}};
    return space;
  }
};

TEST_F(FillRows, TheLastRowIsRepeatedInTheRestOfItsTile) {
  const auto scop = rows();
  auto state = kernel_state(scop, mapping(true));
  state.space = in_ordered_loop(state.space);
  const auto fill = rows_to_fill(scop, state.space, state.nest);
  ASSERT_TRUE(fill);
  EXPECT_EQ(fill->tile, 8);
  const auto filled = fill_rows(scop, state.space, state.nest, *fill);
  EXPECT_TRUE(filled.statement("S").domain.is_equal(
      isl::set(ctx(), "{ S[b, n] : 0 <= b < 3 and 0 <= n < 16 and 8b <= n + 8 }")));
  EXPECT_TRUE(filled.statement("T").domain.is_equal(scop.statement("T").domain)) << "of no temporary";
  EXPECT_EQ(filled.tensor("t").extent, (std::vector<std::int64_t>{3, 16}));
  EXPECT_EQ(filled_space(scop, state.space, state.nest, *fill).members[0].extent(), 16);
  EXPECT_EQ(simulate(filled), simulate(scop));
  state.space = filled_space(scop, state.space, state.nest, *fill);
  state.space.bands.clear();
  const auto copied = copy_reads(filled, state);
  EXPECT_EQ(simulate(copied), simulate(scop));
  const auto& copy = copied.statement("copy_A");
  EXPECT_TRUE(copy.domain.apply(copy.reads[0].function.as_map()).is_equal(isl::set(ctx(), "{ A[n] : 0 <= n < 13 }")));
  EXPECT_EQ(box(copy.domain)[0].extent(), 16);
}

TEST_F(FillRows, WhatIsNotCopiedIsReadInside) {
  const auto scop = rows();
  auto state = kernel_state(scop, mapping(false));
  EXPECT_FALSE(rows_to_fill(scop, state.space, state.nest)) << "without a loop in order";
  state.space = in_ordered_loop(state.space);
  const auto fill = rows_to_fill(scop, state.space, state.nest);
  ASSERT_TRUE(fill);
  const auto filled = fill_rows(scop, state.space, state.nest, *fill);
  EXPECT_EQ(simulate(filled), simulate(scop));
  const auto& read = filled.statement("S").reads[0].relation;
  EXPECT_TRUE(read.range().is_equal(isl::set(ctx(), "{ A[n] : 0 <= n < 13 }"))) << "the last row again";
  EXPECT_TRUE(read.domain().is_equal(filled.statement("S").domain));
}

TEST_F(FillRows, AStatementWithoutTheLastRowStopsIt) {
  auto scop = rows();
  auto& statement = scop.statement("S");
  statement.domain = statement.domain.intersect(isl::set(ctx(), "{ S[b, n] : n < 9 }"));
  const auto state = kernel_state(scop, mapping(false));
  EXPECT_FALSE(rows_to_fill(scop, in_ordered_loop(state.space), state.nest)) << "others may write rows 9 to 12";
}

TEST_F(FillRows, AConditionOfAReadStopsIt) {
  auto scop = rows();
  auto& read = scop.statement("S").reads[0];
  read.relation = read.relation.intersect_domain(isl::set(ctx(), "{ S[b, n] : n < 7 }"));
  const auto state = kernel_state(scop, mapping(false));
  EXPECT_FALSE(rows_to_fill(scop, in_ordered_loop(state.space), state.nest));
}

}  // namespace
}  // namespace tc::polyhedral
