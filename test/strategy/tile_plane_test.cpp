#include "tc/strategy/grid/tile_plane.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_grid/map_to_grid.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/construct/cheapest_grid_mapping.h"
#include "tc/strategy/grid/choose_grid_mapping.h"
#include "tc/strategy/grid/tile_contraction.h"
#include "test/support/isl_fixture.h"
#include "test/support/scop_builder.h"

namespace tc::strategy::tile_plane_test {
namespace {

using polyhedral::ScopBuilder;

const Target target = Target::parse("cuda:sm_90");

class TilePlane : public polyhedral::IslTest {
 protected:
  /// O[n, m, h, w] += I[n, c, h + r, w + s] K[m, c, r, s] for images of \p size x \p size results and windows of 3 x 3.
  void take(int images, int size, int rows, int channels) {
    const auto out = str("0 <= n < ", images, " and 0 <= m < ", rows, " and 0 <= h < ", size, " and 0 <= w < ", size);
    auto scop = ScopBuilder(context())
                    .input("I", {images, channels, size + 2, size + 2})
                    .input("K", {rows, channels, 3, 3})
                    .output("O", {images, rows, size, size})
                    .identity("Z[n, m, h, w] : " + out, "O[n, m, h, w]")
                    .accumulate(str("U[n, m, h, w, c, r, s] : ", out, " and 0 <= c < ", channels,
                                    " and 0 <= r < 3 and 0 <= s < 3"),
                                "O[n, m, h, w]", {"I[n, c, h + r, w + s]", "K[m, c, r, s]"})
                    .scop();
    scop.statement("U").product = true;
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    clustered_.emplace(polyhedral::clustered(scop));
    view_.emplace(*tileable_contraction(clustered_->scop, cluster(), *target.grid, options_));
  }
  const polyhedral::ClusterView& cluster() const { return clustered_->clusters.at(0); }
  std::string nest(const PlaneTile& tile) const {
    const auto mapping = tile_plane(*view_, tile);
    if (!mapping) return "";
    return to_string(nest_of(clustered_->scop, cluster(), *mapping), nest_names(clustered_->scop, cluster()));
  }

  polyhedral::MappingOptions options_;
  std::optional<polyhedral::ClusteredScop> clustered_;
  std::optional<ContractionView> view_;
};

TEST_F(TilePlane, AThreadHasRowsOfItsPixel) {
  take(4, 7, 64, 8);
  EXPECT_FALSE(tile_contraction(*view_)) << "more than half of 16 threads are idle";
  const auto text = nest({8, 4, 2});
  EXPECT_NE(text.find("blocks of 7x7x4 threads"), std::string::npos) << text;
  EXPECT_NE(text.find("copy I of U to shared memory"), std::string::npos) << text;
  EXPECT_NE(text.find("copy K of U to shared memory"), std::string::npos) << text;
  EXPECT_NE(text.find("h on thread.y"), std::string::npos) << text;
  EXPECT_NE(text.find("w on thread.x"), std::string::npos) << text;
  EXPECT_NE(text.find("n%2 unrolled"), std::string::npos) << text;
  EXPECT_NE(text.find("m%32/8 on thread.z"), std::string::npos) << text;
}

TEST_F(TilePlane, KeepsTheLaws) {
  take(3, 5, 24, 8);
  for (const auto& tile : {PlaneTile{4, 2, 1}, PlaneTile{8, 2, 2}, PlaneTile{4, 4, 2}}) {
    const auto mapping = tile_plane(*view_, tile);
    ASSERT_TRUE(mapping);
    const auto part = polyhedral::kernel_parts(*clustered_).at(0);
    EXPECT_NO_THROW(verify_kernel(map_kernel(part, *mapping, target.grid->warp_size))) << nest(tile);
  }
}

TEST_F(TilePlane, NeedsRoomAndFewColumns) {
  take(2, 40, 64, 8);
  EXPECT_EQ(nest({8, 4, 1}), "") << "wide rows have threads of their own";
  take(2, 7, 64, 8);
  EXPECT_EQ(nest({16, 8, 1}), "") << "more rows than there are";
  EXPECT_EQ(nest({8, 4, 4}), "") << "more planes than there are";
  EXPECT_EQ(nest({16, 2, 4}), "") << "code of so many multiply-adds takes too long";
}

TEST_F(TilePlane, TheCheapestOneIsTaken) {
  take(32, 7, 512, 512);
  const auto rules = choose_grid_cluster(clustered_->scop, cluster(), *target.grid, options_);
  const auto found = cheapest_grid_cluster(clustered_->scop, cluster(), target, options_, {});
  const PricedCluster prices(clustered_->scop, cluster(), target);
  EXPECT_EQ(rules.copies.size(), 0u) << "rules have one pixel in each thread";
  EXPECT_EQ(found.mapping.copies.size(), 2u);
  EXPECT_LT(found.price.seconds, 0.4 * grid_price(prices, rules).seconds);
}

}  // namespace
}  // namespace tc::strategy::tile_plane_test
