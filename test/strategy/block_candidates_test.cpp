#include "tc/strategy/cpu/block_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tc/polyhedral/schedule/gather_coincident.h"
#include "tc/polyhedral/schedule/schedule.h"
#include "test/support/isl_fixture.h"
#include "test/support/mapping_text.h"
#include "test/support/scops.h"

namespace tc::strategy {
namespace {

using polyhedral::ClusterMapping;
using polyhedral::MappingOptions;
using polyhedral::Scop;
using polyhedral::ScopBuilder;

class BlockCandidates : public polyhedral::IslTest {
 protected:
  Scop product(int n, const char* a = "A[i, k]") const { return polyhedral::scops::square_product(context(), n, a); }

  /// The texts of all candidates for tiles of 8 rows and 48 columns of the sum U.
  std::vector<std::string> texts(Scop scop, const MappingOptions& options = {},
                                 const char* machine = "cpu:avx512,cores=2,l1=32k,l2=1m,l3=16m") const {
    scop.schedule = polyhedral::compute_schedule(scop, polyhedral::compute_dependences(scop), options);
    const auto all = polyhedral::clustered(scop);
    const auto& cluster = all.clusters.front();
    ClusterMapping mapping;
    mapping.members.resize(cluster.members.size());
    mapping.members[0].points = 8;
    mapping.members[1].points = 48;
    mapping.register_tile = true;
    const auto target = Target::parse(machine);
    const TiledReduction tiled{cluster.statements.back(), 0, 1};
    std::vector<std::string> result;
    for (const auto& each : block_candidates(all.scop, cluster, tiled, target, options, mapping))
      result.push_back(polyhedral::essentials(to_string(polyhedral::Mapping{{each}, 0})));
    return result;
  }
  static std::size_t with(const std::vector<std::string>& texts, const std::string& word) {
    return static_cast<std::size_t>(std::count_if(
        texts.begin(), texts.end(), [&](const std::string& text) { return text.find(word) != std::string::npos; }));
  }
};

TEST_F(BlockCandidates, TheSimplestComesFirst) {
  auto all = texts(product(256), {.parallel = false});
  EXPECT_EQ(all.front(), "register 8x48\n");
  EXPECT_EQ(with(all, "parallel"), 0u);
  for (const char* word : {"pack read 0", "pack read 1"}) {
    EXPECT_GT(with(all, word), 0u);
    EXPECT_LT(with(all, word), all.size());
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(std::count(all.begin(), all.end(), all[i]), 1) << "each once: " << all[i];
}

TEST_F(BlockCandidates, ReductionsAreWholeOrCutForEitherCache) {
  auto all = texts(product(4096), {.parallel = false});
  EXPECT_GT(with(all, "in blocks of 832"), 0u) << "8 rows in two thirds of 32 KB, a quarter more at most";
  EXPECT_GT(with(all, "in blocks of 2048"), 0u) << "48 columns in half of 1 MB";
  EXPECT_LT(with(all, "in blocks of"), all.size());
  EXPECT_EQ(with(texts(product(256), {.parallel = false}), "in blocks of"), 0u) << "too short";
  EXPECT_EQ(with(texts(product(4096), {.reduction_block = 100}), "in blocks of 100"),
            texts(product(4096), {.reduction_block = 100}).size());
}

TEST_F(BlockCandidates, RowsAreCopiedAboveColumnsOrBelowThem) {
  auto all = texts(product(2048, "A[k, i]"), {.parallel = false});
  EXPECT_GT(with(all, "pack read 0 of U in panels of 8 i0 below blocks, pack read 1 of U in panels of 48 i1"), 0u);
  EXPECT_GT(with(all, "pack read 0 of U in panels of 8 i0, pack read 1 of U in panels of 48 i1 below blocks"), 0u);
}

TEST_F(BlockCandidates, ThreadsShareAnyLoopAndMakeCopiesTogetherOrEach) {
  auto all = texts(product(1024));
  EXPECT_EQ(with(all, "parallel"), all.size());
  EXPECT_GT(with(all, "parallel 0, blocks 512"), 0u);
  EXPECT_GT(with(all, "parallel 1, blocks 0x528"), 0u);
  EXPECT_GT(with(all, " once"), 0u);
  EXPECT_EQ(with(texts(product(1024), {.parallel_along = {"j"}}), "parallel 0"), 0u);
  EXPECT_EQ(with(texts(product(16)), "parallel"), 0u) << "too little work";
  auto copies_columns = std::find_if(all.begin(), all.end(), [](const std::string& text) {
    return text.find("pack read 0") == std::string::npos && text.find("pack read 1") != std::string::npos;
  });
  ASSERT_NE(copies_columns, all.end());
  EXPECT_EQ(copies_columns->find("parallel 1"), 0u) << "each thread copies its own: " << *copies_columns;
}

TEST_F(BlockCandidates, WhatIsReadTwiceIsCopiedTwiceOrNotAtAll) {
  auto ij = std::string("0 <= i, j < 256");
  auto scop = ScopBuilder(context())
                  .input("A", {256, 256})
                  .input("B", {256, 256})
                  .output("C", {256, 256})
                  .identity("I[i, j] : " + ij, "C[i, j]")
                  .accumulate("U[i, j, k] : " + ij + " and 0 <= k < 256", "C[i, j]", {"B[j, k]", "A[i, k]", "B[j, k]"})
                  .scop();
  auto all = texts(scop, {.parallel = false});
  EXPECT_GT(with(all, "pack read 0"), 0u);
  EXPECT_EQ(with(all, "pack read 0"), with(all, "pack read 2"));
}

TEST_F(BlockCandidates, OfManyOperandsNoneOneOrAllAreCopied) {
  auto ij = std::string("0 <= i, j < 256");
  auto builder = ScopBuilder(context());
  std::vector<std::string> reads;
  for (int i = 0; i < 5; ++i) {
    builder.input(str("B", i), {256, 256});
    reads.push_back(str("B", i, "[j, k]"));
  }
  auto all = texts(builder.input("A", {256, 256})
                       .output("C", {256, 256})
                       .identity("I[i, j] : " + ij, "C[i, j]")
                       .accumulate("U[i, j, k] : " + ij + " and 0 <= k < 256", "C[i, j]", reads)
                       .scop(),
                   {.parallel = false});
  auto packs = [](const std::string& text) {
    std::size_t count = 0;
    for (auto at = text.find("pack read"); at != std::string::npos; at = text.find("pack read", at + 1)) ++count;
    return count;
  };
  for (const auto& text : all) EXPECT_TRUE(packs(text) <= 1 || packs(text) == 5) << text;
}

TEST_F(BlockCandidates, NothingIsCopiedWhereThatIsForbiddenOrDoneAlready) {
  EXPECT_EQ(with(texts(product(1024), {.pack = false}), "pack"), 0u);
  auto ij = std::string("0 <= i, j < 1024");
  auto scop = ScopBuilder(context())
                  .input("A", {1024, 1024})
                  .input("B", {64, 1024, 16})
                  .output("C", {1024, 1024})
                  .identity("I[i, j] : " + ij, "C[i, j]")
                  .accumulate("U[i, j, k] : " + ij + " and 0 <= k < 1024", "C[i, j]",
                              {"A[i, k]", "B[floor(j/16), k, j mod 16]"})
                  .scop();
  auto ready = texts(scop, {.parallel = false});
  EXPECT_EQ(with(ready, "pack read 1"), 0u) << "panels of 16 columns lie as a copy would";
  EXPECT_GT(with(ready, "blocks 0x"), 0u) << "it has the blocks of a copy";
}

}  // namespace
}  // namespace tc::strategy
