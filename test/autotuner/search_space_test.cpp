#include "tc/autotuner/search/search_space.h"

#include <gtest/gtest.h>

#include <set>

#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

SearchSpace space_of(const std::string& text, const std::vector<TensorSpec>& inputs, const std::string& target,
                     const std::vector<options::MappingOptions>& starts = {}) {
  auto function = function_of(text);
  return {*function, engine::make_arguments(*function, inputs, {}), Target::parse(target), starts};
}

SearchSpace product_space(const std::vector<options::MappingOptions>& starts = {}) {
  return space_of(product_text, {matrix(12, 100), matrix(100, 16)}, "cpu:avx2,cores=2", starts);
}

TEST(SearchSpace, FollowsFromTheDefItsSizesAndTheTarget) {
  EXPECT_EQ(product_space().text(),
            "tile 0: 0 4 6 7 8 12 13 16 25 32 50 64 100\n"
            "tile 1: 0 4 6 7 8 12 13 16 25 32 50 64 100\n"
            "tile 2: 0 4 6 7 8 12 13 16 25 32 50 64 100\n"
            "promote 0: 0\n"
            "parallel 0: 0\n"
            "vector_bytes 0: 16\n"
            "reduction_parts 0: 1 2 4 8 16 32 64\n"
            "register_tile 0: 1 2 3 4 5 6 7 8 10 12 14 16\n"
            "register_tile 1: 1 2 3 4 6 8\n"
            "unroll 0: 1 2 4 8 16\n"
            "pack 0: 0\n"
            "reduction_block 0: 16 25 32 50 64 100\n"
            "prefetch 0: 0\n"
            "prefetch_distance 0: 1 2 4 8 16\n"
            "parallel_along 0: m n\n"
            "vector_along 0: k m n\n");
}

TEST(SearchSpace, LeavesOutWhatCannotMatter) {
  struct Row {
    const char* text;
    const char* target;
    std::set<std::string> without;
  };
  const Row rows[] = {
      {"def f(float(N,M) A) -> (B) { B(i,j) = A(i,j) + 1 }",
       "cpu:avx2,cores=2",
       {"fusion", "allow_skewing", "register_tile", "unroll", "pack", "reduction_block", "reduction_parts",
        "promote_bytes"}},
      {"def f(float(N,M) A) -> (B) { B(i) +=! A(i,j) }",
       "cpu:avx2,cores=1",
       {"fusion", "allow_skewing", "parallel", "parallel_along", "reduction_parts", "promote_bytes"}},
      {"def f(float(N,M) A) -> (B) { T(i,j) = A(i,j) * 2\n B(i,j) = T(i,j) + 1 }",
       "cpu:plain,cores=2",
       {"allow_skewing", "vector_bytes", "register_tile", "unroll", "pack", "reduction_block", "reduction_parts"}},
      {"def f(float(N,M) A) -> (B) { T(i,j) = A(i,j) * 2\n B(i,j) +=! T(i,j+k) where k in 0:2, j in 0:40 }",
       "cpu:avx2,cores=2",
       {"reduction_block", "reduction_parts"}},
      {"def f(float(N,M) A) -> (B) { B() +=! A(i,j) }",
       "cpu:avx2,cores=2",
       {"fusion", "allow_skewing", "promote_bytes", "parallel_along"}},
  };
  const std::set<std::string> all = {"fusion",   "allow_skewing",   "register_tile",   "unroll",
                                     "pack",     "reduction_block", "reduction_parts", "promote_bytes",
                                     "parallel", "parallel_along",  "vector_bytes"};
  for (const auto& row : rows) {
    std::set<std::string> without = all;
    auto space = space_of(row.text, {matrix(32, 48)}, row.target);
    for (const auto& gene : space.genes()) without.erase(gene.option);
    EXPECT_EQ(without, row.without) << row.text;
  }
}

TEST(SearchSpace, NormalFormHasNoIdleGenes) {
  struct Row {
    const char* given;
    const char* normal;
  };
  const Row rows[] = {
      {"", ""},
      {"tile=8x0x4", "tile=8x0x4"},
      {"promote=0,pack=0", "promote=0"},
      {"parallel=0,parallel_along=n,reduction_parts=4", "parallel=0"},
      {"reduction_parts=5", "reduction_parts=4"},
      {"prefetch=0,prefetch_distance=4", "prefetch=0"},
      {"register_tile=16x8", "register_tile=16x1"},
      {"tile=9", "tile=8"},
      {"quota=5,tile=12", "tile=12"},
  };
  auto space = product_space();
  for (const auto& row : rows)
    EXPECT_EQ(space.options(space.choice(options::MappingOptions::parse(row.given))).to_text(), row.normal)
        << row.given;
}

TEST(SearchSpace, ValuesOfStartsAreInIt) {
  auto start = options::MappingOptions::parse("tile=9x31,register_tile=9x1,reduction_block=77");
  auto space = product_space({start});
  EXPECT_EQ(space.options(space.choice(start)), start);
}

TEST(SearchSpace, ChoicesAndOptionsAreOneToOne) {
  auto space = product_space();
  RandomSource random(3);
  for (int i = 0; i < 500; ++i) {
    auto choice = space.random(random);
    EXPECT_EQ(space.choice(space.options(choice)), choice);
    EXPECT_EQ(space.normalised(choice), choice);
    auto changed = space.mutated(choice, 0.2, random);
    EXPECT_EQ(space.normalised(changed), changed);
  }
}

TEST(SearchSpace, MutationAtRateZeroChangesNothingAndAtOneMuch) {
  auto space = product_space();
  RandomSource random(4);
  int changed = 0;
  for (int i = 0; i < 100; ++i) {
    auto choice = space.random(random);
    EXPECT_EQ(space.mutated(choice, 0, random), choice);
    changed += space.mutated(choice, 1, random) != choice;
  }
  EXPECT_GT(changed, 95);
}

TEST(SearchSpace, CrossoverTakesEachGeneFromOneOfThreeAboutEquallyOften) {
  const Choice a(300, 1), b(300, 2), c(300, 3);
  RandomSource random(5);
  auto child = SearchSpace::crossed(a, b, c, random);
  for (int parent = 1; parent <= 3; ++parent) EXPECT_NEAR(std::count(child.begin(), child.end(), parent), 100, 40);
  EXPECT_EQ(SearchSpace::crossed(a, a, a, random), a);
}

}  // namespace
}  // namespace tc::autotuner
