#include "tc/polyhedral/map_grid/used_blocks.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "test/support/expect_error.h"
#include "test/support/isl_fixture.h"

namespace tc::polyhedral {
namespace {

class UsedBlocks : public IslTest {
 protected:
  /// S[i, j], N rows of 100, in tiles of 16 and 64 on blocks; T[] on the first one.
  GridKernel kernel() const {
    Scop scop{.context = context(), .statements = {}, .tensors = {}, .schedule = {}};
    scop.parameters = {{"size_N", 1, 64}};
    scop.sizes = isl::set(ctx(), "[size_N] -> { : 1 <= size_N <= 64 }");
    for (const auto& [domain, write] :
         {std::pair{"[size_N] -> { S[i, j] : 0 <= i < size_N and 0 <= j < 100 }", "{ S[i, j] -> C[i, j] }"},
          {"{ T[] }", "{ T[] -> C[0, 0] }"}})
      scop.statements.push_back({.domain = isl::set(ctx(), domain), .write = {isl::map(ctx(), write)}});
    const auto at = [&](const char* x, const char* y) {
      return isl::multi_union_pw_aff(ctx(), str("[{ S[i, j] -> [(", x, ")]; T[] -> [(0)] }, { S[i, j] -> [(", y,
                                                ")]; T[] -> [(0)] }, { S[i, j] -> [(0)]; T[] -> [(0)] }]"));
    };
    return {scop, {at("floor(i / 16)", "floor(j / 64)"), at("i mod 16", "j mod 64")}, {4, 2, 1}, {16, 64, 1}};
  }
};

TEST_F(UsedBlocks, FollowTheSizes) {
  const auto used = used_blocks(kernel(), {"size_N"});
  for (const auto& [size, blocks] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {16, 1}, {17, 2}, {63, 4}, {64, 4}})
    EXPECT_EQ(used[0].at(std::vector<std::int64_t>{size}, 4), blocks) << size;
  EXPECT_TRUE(used[1].is_fixed()) << "no size decides";
  EXPECT_TRUE(used[2].is_fixed()) << "the grid has one block";
  verify_used_blocks(kernel(), {"size_N"}, used);
}

TEST_F(UsedBlocks, LawFindsABlockThatIsNotLaunched) {
  auto used = used_blocks(kernel(), {"size_N"});
  for (auto& part : used[0].parts)
    for (auto& term : part) term.constant -= 1;
  EXPECT_ERROR(verify_used_blocks(kernel(), {"size_N"}, used), InternalError, "law 'grids' is broken: block_x of");
}

}  // namespace
}  // namespace tc::polyhedral
