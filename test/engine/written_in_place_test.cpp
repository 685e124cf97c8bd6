#include "tc/engine/parts/written_in_place.h"

#include <gtest/gtest.h>

namespace tc::engine::written_in_place_test {
namespace {

graph::Part part(std::vector<std::size_t> inputs, std::size_t output) {
  graph::Part result;
  result.inputs = std::move(inputs);
  result.outputs = {output};
  return result;
}

/// Tensors 1, 2 and 3 that parts 0, 1 and 2 write, each in place of its second input; part 3 reads the last.
InPlaceMemory placed(std::vector<graph::Part> parts, std::map<std::size_t, Lifetime> lives) {
  return written_in_place(
      parts, {0, 1, 2, 3}, [](std::size_t p) { return p == 3 ? std::nullopt : std::optional<std::size_t>(1); },
      std::move(lives));
}

TEST(WrittenInPlace, ResultsLieWhereWhatIsReadLastLay) {
  const auto memory = placed({part({0, 9}, 1), part({0, 1}, 2), part({0, 2}, 3), part({3}, 4)},
                             {{1, {"1", 64, 0, 1}}, {2, {"2", 64, 1, 2}}, {3, {"3", 64, 2, 3}}});
  EXPECT_EQ(memory.homes, (std::map<std::size_t, std::size_t>{{2, 1}, {3, 1}})) << "in place of one in place";
  ASSERT_EQ(memory.lives.size(), 1u);
  EXPECT_EQ(memory.lives.at(1).first, 0);
  EXPECT_EQ(memory.lives.at(1).last, 3) << "as long as the last of them";
}

TEST(WrittenInPlace, WhatIsReadLaterOrTwiceOrOfAnotherSizeStays) {
  const std::map<std::size_t, Lifetime> lives{{1, {"1", 64, 0, 1}}, {2, {"2", 64, 1, 2}}};
  const std::vector<graph::Part> parts{part({0, 9}, 1), part({0, 1}, 2), part({0, 8}, 7), part({2}, 4)};
  EXPECT_EQ(placed(parts, lives).homes.size(), 1u);
  auto later = lives;
  later.at(1).last = 2;
  EXPECT_TRUE(placed(parts, later).homes.empty());
  auto larger = lives;
  larger.at(2).bytes = 128;
  EXPECT_TRUE(placed(parts, larger).homes.empty());
  auto twice = parts;
  twice[1] = part({1, 1}, 2);
  EXPECT_TRUE(placed(twice, lives).homes.empty());
}

}  // namespace
}  // namespace tc::engine::written_in_place_test
