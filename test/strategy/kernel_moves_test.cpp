#include "tc/strategy/construct/kernel_moves.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tc/polyhedral/laws/verify.h"
#include "tc/polyhedral/map_grid/check_kernel_nest.h"
#include "tc/polyhedral/map_grid/map_to_grid.h"
#include "tc/polyhedral/nest/check_nest.h"
#include "tc/polyhedral/nest/nest_of_mapping.h"
#include "tc/polyhedral/nest/nest_text.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "tc/strategy/grid/choose_grid_mapping.h"
#include "test/support/scops.h"

namespace tc::strategy::kernel_moves_test {
namespace {

using polyhedral::Nest;

const Target target = Target::parse("cuda:sm_90");

class KernelMoves : public testing::Test {
 protected:
  KernelMoves() { take(polyhedral::scops::product(std::make_shared<polyhedral::Context>(), 96, 8, 64)); }

  void take(polyhedral::Scop scop) {
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), {});
    clustered_.emplace(polyhedral::clustered(scop));
    names_ = polyhedral::nest_names(clustered_->scop, cluster());
  }
  const polyhedral::ClusterView& cluster() const { return clustered_->clusters.at(0); }
  polyhedral::NestSpace space() const { return kernel_nest_space(clustered_->scop, cluster()); }
  Nest chosen() const { return nest_of(space(), choose_grid_cluster(clustered_->scop, cluster(), *target.grid, {})); }
  bool is_allowed(const Nest& nest) const {
    return is_realisable_kernel(clustered_->scop, cluster(), nest, *target.grid);
  }
  /// The texts of the nests beside the one of \p text.
  std::vector<std::string> beside(const std::string& text) const {
    std::vector<std::string> result;
    for (const auto& each : kernels_beside(space(), polyhedral::parse_nest(text, names_)))
      result.push_back(to_string(each, names_));
    return result;
  }

  std::optional<polyhedral::ClusteredScop> clustered_;
  polyhedral::NestNames names_;
};

/// The nest of a product whose block is of \p threads, with tiles, threads and steps that are given.
std::string product_nest(const std::string& names, const std::string& threads, const std::string& tile,
                         const std::string& rows, const std::string& steps) {
  return "nest of " + names + "\n  blocks of " + threads + " threads, shared bytes 49152\n  " + tile +
         "\n    copy A of " + names.substr(names.find(',') + 2) + " to shared memory\n    keep C\n    " +
         names.substr(0, names.find(',')) + ": " + rows + "\n    " + names.substr(names.find(',') + 2) + ": " + steps +
         " with copies  " + "k%" + steps.substr(2) + "  " + rows;
}

TEST_F(KernelMoves, ChangeTilesThreadsRunsAndSteps) {
  const auto ids = names_.statements.at(0).id + ", " + names_.statements.at(1).id;
  const auto nest = [&](const char* threads, std::string tile, const std::string& rows, const char* steps) {
    if (tile.find(" on grid") == std::string::npos) tile += " on grid.y";
    return to_string(polyhedral::parse_nest(product_nest(ids, threads, tile, rows, steps), names_), names_);
  };
  const std::string i = names_.members.at(0), j = names_.members.at(1);
  const auto columns = "  " + j;
  const auto start = nest("1x8", i + "/32", i + "%32/4 on thread.y" + columns + "  " + i + "%4", "k/16");
  const auto found = beside(start);
  const auto leads_to = [&](const std::string& other) { return std::count(found.begin(), found.end(), other) == 1; };
  const auto partial = i + "/64 on grid.y\n    separate full tiles";
  EXPECT_TRUE(
      leads_to(nest("1x8", partial, i + "%64/32  " + i + "%32/4 on thread.y" + columns + "  " + i + "%4", "k/16")))
      << start << "\nby a round more of all threads";
  EXPECT_TRUE(leads_to(nest("1x16", partial, i + "%64/4 on thread.y" + columns + "  " + i + "%4", "k/16")));
  EXPECT_TRUE(leads_to(nest("1x8", partial, i + "%64/8 on thread.y" + columns + "  " + i + "%8", "k/16")));
  EXPECT_TRUE(leads_to(nest("1x4", i + "/16", i + "%16/4 on thread.y" + columns + "  " + i + "%4", "k/16")));
  EXPECT_TRUE(
      leads_to(nest("1x4", i + "/32", i + "%32/16  " + i + "%16/4 on thread.y" + columns + "  " + i + "%4", "k/16")));
  EXPECT_TRUE(leads_to(nest("1x4", i + "/32", i + "%32/8 on thread.y" + columns + "  " + i + "%8", "k/16")));
  EXPECT_TRUE(leads_to(nest("1x8", i + "/32", i + "%32/4 on thread.y" + columns + "  " + i + "%4", "k/32")));
}

/// Rows that blocks have one by one go to threads along y; runs along x become vectors; and back.
TEST_F(KernelMoves, SpreadMembersAndMakeVectors) {
  const std::string i = names_.members.at(0), j = names_.members.at(1), first = names_.statements.at(0).id,
                    second = names_.statements.at(1).id;
  const auto nest = [&](const std::string& threads, const std::string& tile, const std::string& row, const char* runs) {
    const auto points = row + j + "/2 on thread.x";
    return to_string(
        polyhedral::parse_nest("nest of " + first + ", " + second + "\n  blocks of " + threads + " threads\n  " + i +
                                   tile + " on grid.x\n      " + first + ": " + points + "  " + j + runs + "\n      " +
                                   second + ": " + points + "  k  " + j + runs,
                               names_),
        names_);
  };
  const auto one = nest("4", "", "", "%2"), two = nest("4x2", "/2", i + "%2 on thread.y  ", "%2"),
             lanes = nest("4", "", "", "%2 lanes");
  const auto leads_to = [&](const std::string& from, const std::string& to) {
    const auto found = beside(from);
    return std::count(found.begin(), found.end(), to) == 1;
  };
  EXPECT_TRUE(leads_to(one, two));
  EXPECT_TRUE(leads_to(two, one));
  EXPECT_TRUE(leads_to(one, lanes));
  EXPECT_TRUE(leads_to(lanes, one));
}

TEST_F(KernelMoves, KeepTheLawsWhereTheyAreAllowed) {
  int made = 0;
  const auto part = polyhedral::kernel_parts(*clustered_).at(0);
  for (const auto& nest : kernels_beside(space(), chosen())) {
    EXPECT_NO_THROW(check_nest(clustered_->scop, cluster(), names_, nest)) << to_string(nest, names_);
    if (!is_allowed(nest)) continue;
    ++made;
    EXPECT_NO_THROW(verify_kernel(map_kernel(part, space(), nest, target.grid->warp_size))) << to_string(nest, names_);
  }
  EXPECT_GT(made, 4);
}

TEST_F(KernelMoves, ADescentEndsWhereNoMoveIsCheaper) {
  const PricedCluster prices(clustered_->scop, cluster(), target);
  const auto start = chosen();
  const auto found = descend_kernel(prices, start, [&](const Nest& nest) { return is_allowed(nest); });
  EXPECT_LE(found.price.seconds, grid_price(prices, start).seconds);
  EXPECT_EQ(grid_price(prices, found.nest).seconds, found.price.seconds);
  const auto again = descend_kernel(prices, found.nest, [&](const Nest& nest) { return is_allowed(nest); });
  EXPECT_EQ(again.nest, found.nest);
  const auto none = descend_kernel(prices, start, [](const Nest&) { return false; });
  EXPECT_EQ(none.nest, start);
}

/// Blocks that go round, and tiles of tiles, are as many tiles of a block as there are.
TEST_F(KernelMoves, TilesOfSeveralLoopsArePriced) {
  const PricedCluster prices(clustered_->scop, cluster(), target);
  const auto ids = names_.statements.at(0).id + ", " + names_.statements.at(1).id;
  const std::string i = names_.members.at(0), j = names_.members.at(1), first = names_.statements.at(0).id,
                    second = names_.statements.at(1).id;
  const auto nest = polyhedral::parse_nest(
      "nest of " + ids + "\n  blocks of 8 threads\n  " + i + "/48 on grid.x\n    " + i + "%48/8\n      " + first +
          ": " + i + "%8 on thread.x  " + j + "\n      " + second + ": " + i + "%8 on thread.x  " + j + "  k",
      names_);
  const auto spread = thread_spread(prices, nest, 1);
  EXPECT_EQ(spread.iterators[0].tile, 8);
  EXPECT_EQ(spread.iterators[0].tiles, 6);
  EXPECT_EQ(kernel_shape(prices, nest).grid[0], 2);
}

}  // namespace
}  // namespace tc::strategy::kernel_moves_test
