#include "tc/polyhedral/map_grid/pipeline_copies.h"

#include "tc/polyhedral/core/cluster_view.h"
#include "test/polyhedral/block_passes_fixture.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class PipelineCopies : public BlockPassTest {
 protected:
  /// Block by block of 16 reduced iterations k: s(k) = A(k), then C += s(k).
  Scop blocks() const {
    auto box = " : 0 <= k < 64";
    auto scop = ScopBuilder(context())
                    .input("A", {64})
                    .temporary("s", {64})
                    .output("C", {1})
                    .copy(str("S[k]", box), "s[k]", "A[k]")
                    .accumulate(str("U[k]", box), "C[0]", {"s[k]"})
                    .scop();
    scop.schedule =
        domain(ctx(), str("{ S[k]", box, "; U[k]", box, " }"),
               band("[{ S[k] -> [(floor(k/16))]; U[k] -> [(floor(k/16))] }]",
                    sequence({{"{ S[k] }", band("[{ S[k] -> [(k)] }]")}, {"{ U[k] }", band("[{ U[k] -> [(k)] }]")}})));
    return scop;
  }
};

TEST_F(PipelineCopies, RunEarlierThanTheirReaders) {
  auto scop = run_ahead(blocks(), {0}, {{"S", "U", 2}});
  auto band = node_at(scop.schedule, {0}).as<isl::schedule_node_band>();
  auto times = isl::union_map(call(ctx(), isl_schedule_node_band_get_partial_schedule_union_map, band.get()))
                   .intersect_domain(scop.domain());
  EXPECT_TRUE(
      times.is_equal(union_map("{ S[k] -> [floor(k/16) - 2] : 0 <= k < 64; U[k] -> [floor(k/16)] : 0 <= k < 64 }")))
      << times;
  EXPECT_TRUE(scop.domain().is_equal(blocks().domain()));
}

TEST_F(PipelineCopies, TheBandAboveSkipsMarks) {
  auto marked =
      domain(ctx(), "{ S[k] : 0 <= k < 8 }",
             band("[{ S[k] -> [(floor(k/4))] }]", mark("thread", mark("unroll", band("[{ S[k] -> [(k)] }]")))));
  auto inner = node_at(marked, {0, 0, 0, 0});
  ASSERT_TRUE(inner.isa<isl::schedule_node_band>());
  EXPECT_EQ(isl_schedule_node_is_equal(band_above(inner).get(), node_at(marked, {0}).get()), isl_bool_true);
}

}  // namespace
}  // namespace tc::polyhedral
