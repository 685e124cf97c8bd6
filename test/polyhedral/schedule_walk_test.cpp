#include "tc/polyhedral/core/schedule_walk.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/schedule_builder.h"

namespace tc::polyhedral {
namespace {

using namespace build;
using ScheduleWalk = IslTest;

TEST_F(ScheduleWalk, TimeInterleavesMembersAndChildren) {
  auto tree = build::domain(ctx(), "{ S[i] : 0 <= i < 4; T[i, j] : 0 <= i < 4 and 0 <= j < 3 }",
                            band("[{ S[i] -> [(i)]; T[i, j] -> [(i)] }]",
                                 sequence({{"{ S[i] }"}, {"{ T[i, j] }", band("[{ T[i, j] -> [(j)] }]")}})));
  EXPECT_TRUE(sequential_time(tree).is_equal(
      union_map("{ S[i] -> [i, 0, 0] : 0 <= i < 4; T[i, j] -> [i, 1, j] : 0 <= i < 4 and 0 <= j < 3 }")))
      << sequential_time(tree);
}

TEST_F(ScheduleWalk, ExtensionsRunAtTheMembersTheyAreAddedFor) {
  auto tree = build::domain(
      ctx(), "{ S[i] : 0 <= i < 4 }",
      band("[{ S[i] -> [(i)] }]", before("{ [i] -> copy[i, x] : 0 <= i < 4 and 0 <= x < 2 }",
                                         band("[{ copy[i, x] -> [(x)] }]"), mark("m", band("[{ S[i] -> [(0)] }]")))));
  EXPECT_TRUE(sequential_time(tree).is_equal(
      union_map("{ copy[i, x] -> [i, 0, x] : 0 <= i < 4 and 0 <= x < 2; S[i] -> [i, 1, 0] : 0 <= i < 4 }")))
      << sequential_time(tree) << print_block(tree);
}

TEST_F(ScheduleWalk, PlacesKnowTheirInstancesAndMembers) {
  auto tree = build::domain(ctx(), "{ S[i] : 0 <= i < 4; T[i] : 0 <= i < 4 }",
                            sequence({{"{ S[i] }", band("[{ S[i] -> [(i)] }]")}, {"{ T[i] }"}}));
  std::vector<int> members;
  std::vector<std::string> leaves;
  for_each_place(tree, [&](const Place& place) {
    if (!place.node.isa<isl::schedule_node_leaf>()) return;
    members.push_back(place.members());
    leaves.push_back(tuple_name(place.instances.as_set()));
  });
  EXPECT_EQ(members, (std::vector<int>{1, 0}));
  EXPECT_EQ(leaves, (std::vector<std::string>{"S", "T"}));
}

}  // namespace
}  // namespace tc::polyhedral
