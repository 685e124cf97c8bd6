#include "tc/strategy/cost/footprint.h"

#include <gtest/gtest.h>

#include "test/support/isl_fixture.h"
#include "test/support/schedule_builder.h"
#include "test/support/scops.h"

namespace tc::strategy {
namespace {

using polyhedral::Scop;
using polyhedral::ScopBuilder;
using polyhedral::Tensor;

Tensor tensor(std::vector<std::int64_t> extent, std::vector<std::int64_t> strides, DType type = DType::Float32) {
  Tensor result;
  result.name = "T";
  result.type = type;
  result.min.assign(extent.size(), 0);
  result.extent = std::move(extent);
  result.strides = std::move(strides);
  return result;
}

TouchedBox box(std::vector<Span> spans, double instances = 1e9) { return {std::move(spans), instances}; }

TouchedBox gather(std::vector<Span> spans, double instances) { return {std::move(spans), instances, false}; }

TEST(LinesTouched, OfOneBox) {
  auto matrix = tensor({64, 256}, {256, 1});
  struct Case {
    TouchedBox box;
    double lines, elements;
  };
  const std::vector<Case> cases = {
      {box({{3, 3}, {0, 0}}), 1, 1},           {box({{0, 0}, {0, 15}}), 1, 16},
      {box({{0, 0}, {8, 23}}), 2, 16},          // across two lines
      {box({{0, 3}, {0, 31}}), 8, 128},         // rows apart
      {box({{0, 1}, {0, 255}}), 32, 512},       // rows that join
      {box({{0, 63}, {5, 5}}), 64, 64},         // a column
      {box({{0, 0}, {0, 62, 2}}), 4, 32},       // every other element
      {box({{0, 62, 2}, {0, 15}}), 32, 512},    // every other row
      {box({{0, 63}, {0, 63}}, 64), 64, 64},    // a diagonal
      {gather({{0, 63}, {0, 15}}, 48), 3, 48},  // some rows
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(lines_touched(matrix, {&cases[i].box}, 64), cases[i].lines) << i;
    EXPECT_EQ(lines_touched(matrix, {&cases[i].box}, 0), cases[i].elements) << i;
  }
}

TEST(LinesTouched, RowsThatStartAnywhereInALineTouchMore) {
  auto matrix = tensor({64, 100}, {100, 1});
  auto piece = box({{0, 9}, {0, 15}});
  EXPECT_DOUBLE_EQ(lines_touched(matrix, {&piece}, 64), 10 * (60.0 / 64 + 1));
}

TEST(LinesTouched, OfBoxesTogether) {
  auto row = tensor({1024}, {1});
  auto a = box({{0, 99}}), b = box({{1, 100}}), far = box({{900, 963}});
  EXPECT_EQ(lines_touched(row, {&a, &a}, 64), 7);
  EXPECT_EQ(lines_touched(row, {&a, &b}, 0), 101);
  EXPECT_EQ(lines_touched(row, {&a, &far}, 0), 164) << "their joint box is larger than both";
}

class ComputeFootprints : public polyhedral::IslTest {};

TEST_F(ComputeFootprints, EachLoopOfAProduct) {
  auto scop = polyhedral::scops::matmul(context(), 10, 20, 30);
  using namespace polyhedral::build;
  scop.schedule = polyhedral::build::domain(
      ctx(), "{ S1[m, n, k] : 0 <= m < 10 and 0 <= n < 20 and 0 <= k < 30 }",
      band("[{ S1[m, n, k] -> [(floor(m/4))] }, { S1[m, n, k] -> [(n)] }, { S1[m, n, k] -> [(k)] }]"));
  auto found = compute_footprints(scop);
  const auto &tiles = found.root, &columns = tiles.children.at(0), &sum = columns.children.at(0);
  EXPECT_EQ(tiles.kind, LoopNest::Kind::Loop);
  EXPECT_DOUBLE_EQ(tiles.trips, 10 / 4.0) << "the last tile has two rows";
  EXPECT_EQ(columns.trips, 20);
  EXPECT_EQ(sum.trips, 30);
  auto lines = [&](const LoopNest& part, std::size_t reference) {
    const auto& touched = part.touched.at(reference);
    return touched ? lines_touched(found.references[reference].tensor, {&*touched}, 0) : -1;
  };
  ASSERT_EQ(found.references.at(1).tensor.name, "A");
  ASSERT_EQ(found.references.at(2).tensor.name, "B");
  EXPECT_EQ(lines(tiles, 1), 300);
  EXPECT_EQ(lines(columns, 1), 120);
  EXPECT_EQ(lines(sum, 1), 120);
  EXPECT_EQ(lines(sum.children.at(0), 1), 4);
  EXPECT_EQ(lines(columns, 2), 600);
  EXPECT_EQ(lines(sum, 2), 30);
  EXPECT_EQ(lines(tiles, 0), -1) << "S0 is not scheduled";
}

TEST_F(ComputeFootprints, GuardsRestrictAndSequencesAreParts) {
  auto scop = ScopBuilder(context())
                  .input("A", {100})
                  .output("B", {100})
                  .output("C", {100})
                  .statement("S[i] : 0 <= i < 100", "B[i]", {"A[i - 90] : i >= 90"})
                  .statement("T[i] : 0 <= i < 100", "C[i]", {"B[i]"})
                  .scop();
  auto found = compute_footprints(scop);
  EXPECT_EQ(found.root.kind, LoopNest::Kind::Sequence);
  EXPECT_EQ(found.root.children.size(), 2u);
  EXPECT_EQ(found.root.touched.at(0)->spans, (std::vector<Span>{{0, 9, 1}}));
  EXPECT_FALSE(found.root.children.at(1).touched.at(0));
}

}  // namespace
}  // namespace tc::strategy
