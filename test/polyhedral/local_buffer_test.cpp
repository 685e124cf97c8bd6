#include "tc/polyhedral/map/local_buffer.h"

#include <gtest/gtest.h>

#include "test/polyhedral/mapping_passes_fixture.h"

namespace tc::polyhedral {
namespace {

/// The parts of contract().
class LocalBuffer : public ShiftedRowsTest {
 protected:
  const ClusterState vectors_{.statements = {{"S", 1, 8}, {"T", 1, 8}}};
};

TEST_F(LocalBuffer, ASubtreeKnowsWhenItsStatementsRun) {
  auto scop = rows();
  Subtree subtree(scop, {0, 0});
  EXPECT_EQ(subtree.statements, (std::vector<std::string>{"S", "T"}));
  auto runs = isl::union_map(ctx(),
                             "{ [i] -> S[i, j] : 0 <= i < 8 and 0 <= j < 20; "
                             "[i] -> T[i, j] : 0 <= i < 8 and 0 <= j < 19 }");
  EXPECT_TRUE(subtree.runs.is_equal(runs));
  EXPECT_TRUE(points_of(subtree, "T").isa<isl::schedule_node_band>());
  std::vector<AccessPlace> places;
  for_each_access(scop, subtree, "t", [&](const AccessPlace& at, const auto&, const auto&) { places.push_back(at); });
  EXPECT_EQ(places, (std::vector<AccessPlace>{{"S", 0}, {"T", 1}}));
}

TEST_F(LocalBuffer, AFootprintIsTheBoxOfOneExecution) {
  auto scop = rows();
  auto box = footprint_box(scop, Subtree(scop, {0, 0}), {}, "t");
  ASSERT_TRUE(box);
  EXPECT_EQ(box->extent, (std::vector<std::int64_t>{1, 20}));
  auto place = box->places.at({"T", 1}).as_map();
  EXPECT_TRUE(place.intersect_domain(scop.statement("T").domain)
                  .is_equal(isl::map(ctx(), "{ T[i, j] -> t[0, j] : 0 <= i < 8 and 0 <= j < 19 }")))
      << str(place);
}

TEST_F(LocalBuffer, ElementsOfSeveralExecutionsHaveNoFootprint) {
  auto scop = rows("t[0, j]");
  EXPECT_FALSE(footprint_box(scop, Subtree(scop, {0, 0}), {}, "t"));
  EXPECT_FALSE(footprint_box(scop, Subtree(scop, {0, 0}), {}, "nothing"));
}

TEST_F(LocalBuffer, LanesMoveAccessesByOneInOneDimension) {
  auto lanes = [&](const std::string& read) { return lanes_of(rows(read).statement("T").reads[0], 1); };
  EXPECT_EQ(lanes("t[i, j]").dimension, 1);
  EXPECT_EQ(lanes("t[j, i]").dimension, 0);
  EXPECT_TRUE(lanes("t[i, 2j]").scattered);
  EXPECT_TRUE(lanes("t[j, j]").scattered);
  EXPECT_EQ(lanes("t[i, 0]").dimension, -1);
  EXPECT_FALSE(lanes("t[i, 0]").scattered);
}

TEST_F(LocalBuffer, VectorsAreFullWhereTheirLanesDivideTheRange) {
  auto scop = rows();
  Subtree subtree(scop, {0, 0});
  auto full = [&](const char* id, int lanes) {
    StatementMapping choice{id, 1, lanes};
    return has_full_vectors(scop.statement(id), choice, *lane_member(subtree, scop.statement(id), choice));
  };
  EXPECT_TRUE(full("S", 4));
  EXPECT_FALSE(full("S", 8));
  EXPECT_FALSE(full("T", 4));
  EXPECT_EQ(FirstLanes(subtree).of(scop.statement("S"), {"S", 1, 8}), 0);
}

TEST_F(LocalBuffer, HasRoomForEveryLane) {
  auto buffer = [&](const std::string& read, const ClusterState& cluster) {
    auto scop = rows(read);
    Subtree subtree(scop, {0, 0});
    FirstLanes first_lanes(subtree);
    return local_buffer(scop, subtree, cluster, scop.tensor("t"), *footprint_box(scop, subtree, cluster, "t"),
                        first_lanes);
  };
  auto aligned = buffer("t[i, j]", vectors_);
  EXPECT_EQ(aligned.name, "local_t");
  EXPECT_EQ(aligned.extent, (std::vector<std::int64_t>{1, 24}));
  EXPECT_EQ(aligned.strides, (std::vector<std::int64_t>{24, 1}));
  EXPECT_TRUE(aligned.padded);
  EXPECT_EQ(buffer("t[i, j + 1]", vectors_).extent, (std::vector<std::int64_t>{1, 32}));
  EXPECT_FALSE(buffer("t[i, 19 - j]", vectors_).padded);
  EXPECT_EQ(buffer("t[i, j]", {}).extent, (std::vector<std::int64_t>{1, 20}));
}

}  // namespace
}  // namespace tc::polyhedral
