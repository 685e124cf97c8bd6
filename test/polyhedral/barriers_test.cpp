#include "tc/polyhedral/map_grid/barriers.h"

#include "test/polyhedral/block_passes_fixture.h"

namespace tc::polyhedral {
namespace {

using namespace build;

class Barriers : public BlockPassTest {
 protected:
  /// In each of four steps k: s(i) = A(k, i), then B(k, i) = s(\p read), i in thread i.
  Scop steps(const std::string& read) const {
    auto box = " : 0 <= k < 4 and 0 <= i < 32";
    auto scop = ScopBuilder(context())
                    .input("A", {4, 32})
                    .temporary("s", {32})
                    .output("B", {4, 32})
                    .statement(str("S[k, i]", box), "s[i]", {"A[k, i]"})
                    .statement(str("T[k, i]", box), "B[k, i]", {str("s[", read, "]")})
                    .scop();
    scop.tensor("s").shared = true;
    scop.tensor("s").storage = Tensor::Storage::Local;
    scop.schedule =
        domain(ctx(), str("{ S[k, i]", box, "; T[k, i]", box, " }"),
               band("[{ S[k, i] -> [(k)]; T[k, i] -> [(k)] }]", sequence({{"{ S[k, i] }"}, {"{ T[k, i] }"}})));
    return scop;
  }
  Scop inserted(const Scop& scop, std::array<std::int64_t, 3> block = {32, 1, 1}, std::int64_t warp_size = 8) const {
    return insert_barriers(scop, one_block(scop, "{ S[k, i] -> [(i)]; T[k, i] -> [(i)] }"), block, warp_size);
  }
};

TEST_F(Barriers, SeparateWritersFromReadersInAndAcrossIterations) {
  auto scop = inserted(steps("31 - i"));
  EXPECT_EQ(count(scop, str("{ ", block_barrier)), 2) << print_block(scop.schedule);
}

TEST_F(Barriers, AreNotNeededWithinAThread) {
  EXPECT_TRUE(plain_equal(inserted(steps("i")).schedule, steps("i").schedule));
  auto alone = steps("31 - i");
  EXPECT_TRUE(plain_equal(inserted(alone, {1, 1, 1}).schedule, alone.schedule));
}

TEST_F(Barriers, AreThoseOfWarpsWhereOnlyTheirThreadsMeet) {
  auto scop = inserted(steps("8*floor(i/8) + 7 - (i mod 8)"));
  EXPECT_EQ(count(scop, block_barrier + "_"), 0) << print_block(scop.schedule);
  EXPECT_GT(count(scop, warp_barrier + "_"), 0);
  EXPECT_GT(count(inserted(steps("8*floor(i/8) + 7 - (i mod 8)"), {32, 1, 1}, 4), block_barrier + "_"), 0)
      << "of warps of four threads, two meet";
}

TEST_F(Barriers, AreAsFewAsSeparateAllPairs) {
  auto box = " : 0 <= i < 32";
  auto statement = [&](const char* id) { return str(id, "[i]", box); };
  auto scop = ScopBuilder(context())
                  .input("A", {32})
                  .local("s", {32})
                  .local("t", {32})
                  .output("B", {32})
                  .output("C", {32})
                  .statement(statement("S"), "s[i]", {"A[i]"})
                  .statement(statement("T"), "t[i]", {"A[i]"})
                  .statement(statement("U"), "B[i]", {"s[31 - i]"})
                  .statement(statement("V"), "C[i]", {"t[31 - i]"})
                  .scop();
  for (const char* name : {"s", "t"}) scop.tensor(name).shared = true;
  scop.schedule = domain(ctx(), str("{ S[i]", box, "; T[i]", box, "; U[i]", box, "; V[i]", box, " }"),
                         sequence({{"{ S[i] }"}, {"{ T[i] }"}, {"{ U[i] }"}, {"{ V[i] }"}}));
  auto where = one_block(scop, "{ S[i] -> [(i)]; T[i] -> [(i)]; U[i] -> [(i)]; V[i] -> [(i)] }");
  auto result = insert_barriers(scop, where, {32, 1, 1}, 8);
  EXPECT_EQ(count(result, str("{ ", block_barrier)), 1) << print_block(result.schedule);
}

TEST_F(Barriers, WhatStandsBehindAStatementIsAddedToo) {
  auto scop = steps("i");
  auto where = one_block(scop, "{ S[k, i] -> [(i)]; T[k, i] -> [(i)] }");
  auto result = insert_barriers(scop, where, {32, 1, 1}, 8, {{{"S", {copy_commit}}, {"T", {copy_wait + "_1"}}}});
  auto text = print_block(result.schedule);
  EXPECT_NE(text.find(copy_commit), std::string::npos) << text;
  EXPECT_NE(text.find(copy_wait + "_1"), std::string::npos) << text;
}

TEST_F(Barriers, NamesTellWhatInstancesAre) {
  EXPECT_TRUE(is_barrier(block_barrier + "_3") && is_barrier(warp_barrier + "_0"));
  EXPECT_FALSE(is_barrier(copy_commit) || is_barrier("S0"));
  EXPECT_EQ(groups_left(copy_wait + "_2_5"), 2);
  EXPECT_EQ(groups_left(copy_commit), -1);
  for (const auto& name : {block_barrier + "_1", copy_commit + "_0", copy_wait + "_0_1"})
    EXPECT_TRUE(is_synchronisation(name)) << name;
  EXPECT_FALSE(is_synchronisation("S1"));
}

}  // namespace
}  // namespace tc::polyhedral
