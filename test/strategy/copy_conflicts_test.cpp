#include <gtest/gtest.h>

#include "tc/polyhedral/nest/nest_names.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/grid_price/grid_price.h"
#include "test/support/scops.h"

namespace tc::strategy::copy_conflicts_test {
namespace {

const Target target = Target::parse("cuda:sm_90");

class CopyConflicts : public testing::Test {
 protected:
  CopyConflicts() {
    auto scop = polyhedral::scops::product(std::make_shared<polyhedral::Context>(), 256, 256, 256);
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    clustered_.emplace(polyhedral::clustered(scop));
  }

  /// Rounds of the banks of a block of 8 x 8 threads, whose thread has columns as \p columns says in words of j.
  double rounds(const std::string& columns, const std::string& copy = " along j") const {
    const auto& cluster = clustered_->clusters.at(0);
    const auto names = polyhedral::nest_names(clustered_->scop, cluster);
    const auto nest = polyhedral::parse_nest(
        "nest of I, U\n  blocks of 8x8 threads, shared bytes 49152\n  i/32 on grid.y\n"
        "    j/128 on grid.x\n      copy B of U to shared memory" +
            copy + "\n      keep C\n      I: i%32/4 on thread.y  " + columns +
            "  i%4\n      U: k/16 with copies  k%16  i%32/4 on thread.y  " + columns + "  i%4\n",
        names);
    return grid_price(PricedCluster(clustered_->scop, cluster, target), nest).counts.shared_rounds;
  }

  std::optional<polyhedral::ClusteredScop> clustered_;
};

/// Eight threads are served together, each with four floats.
TEST_F(CopyConflicts, RunsOfThreadsThatFillBanksTwiceCostRounds) {
  const auto apart = rounds("j%128/32  j%32/4 on thread.x  j%4");
  EXPECT_NEAR(rounds("j%128/64  j%64/8 on thread.x  j%8") / apart, 2, 0.2) << "pieces of 4 floats, 8 apart";
  EXPECT_NEAR(rounds("j%128/16 on thread.x  j%16") / apart, 4, 0.4) << "16 apart";
}

/// What a pad or a swizzle takes away costs nothing: it is there behind the mapping.
TEST_F(CopyConflicts, LayoutsTakeConflictsAway) {
  const auto along = rounds("j%128/8  j%8 on thread.x"), across = rounds("j%128/8  j%8 on thread.x", " along k");
  EXPECT_NEAR(across, along, 0.05 * along) << "columns of rows of 16 floats";
}

}  // namespace
}  // namespace tc::strategy::copy_conflicts_test
