#include "tc/engine/recheck.h"

#include <iostream>
#include <random>

#include "tc/engine/engine.h"
#include "tc/engine/persistent.h"
#include "test/cache/cache_fixture.h"
#include "test/engine/engine_fixture.h"
#include "test/support/from_environment.h"
#include "test/support/random/random_program.h"

namespace tc::engine::recheck_test {
namespace {

/// What the cache keeps of a compile of the last def of \p text.
cache::CodeEntry kept(const std::string& text, const std::vector<TensorSpec>& inputs, const char* options = "") {
  cache::TemporaryFolder folder;
  cache::CacheSettings settings;
  settings.folder = folder / "cache";
  CompileOptions how;
  how.cache = std::make_shared<cache::Cache>(settings);
  how.mapping = options::MappingOptions::parse(options);
  auto function = define(text).functions.back();
  load_or_compile(function, make_arguments(*function, inputs, {}), how);
  return cache::list_code(settings.folder).at(0).entry;
}

const std::vector<TensorSpec> matrices = {contiguous(DType::Float32, {8, 9}), contiguous(DType::Float32, {9, 10})};

TEST(Recheck, CodeCompilesToItselfAgain) {
  EXPECT_EQ(recheck(kept(mm, matrices)), "");
  EXPECT_EQ(recheck(kept(mm, matrices, "tile=4x4,parallel=0")), "");
  const char* calls = R"(
    def twice(float(N) X) -> (Y) { Y(i) = 2 * X(i) }
    def sums(float(N) X, int32(M) at) -> (Y, S) {
      D = twice(X)
      Y(j) = d + 0.5 where d = D(at(j)), exists at(j)
      S +=! (D(i) > 1 && i >= 1) ? D(i-1) : 0.25
    })";
  EXPECT_EQ(recheck(kept(calls, {contiguous(DType::Float32, {40}), contiguous(DType::Int32, {7})})), "");
}

/// Whatever was compiled before in the process: entries of other processes are made by as many histories.
TEST(Recheck, FreshEntriesOfAllKindsCompileToThemselves) {
  const cache::TemporaryFolder folder;
  cache::CacheSettings settings;
  settings.folder = folder / "cache";
  std::size_t made = 0;
  const auto first = test::from_environment("TC_FUZZ_SEED", 1), count = test::from_environment("TC_FUZZ_COUNT", 24);
  for (auto seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    CompileOptions how;
    how.cache = std::make_shared<cache::Cache>(settings);
    if (random() % 4 == 0) how.target = Target::parse(random() % 2 ? "cuda:sm_90" : "cpu:avx2");
    static const char* const options[] = {"", "tile=8x8", "parallel=0", "fusion=max", "pack=0"};
    how.mapping = options::MappingOptions::parse(options[random() % std::size(options)]);
    try {
      const auto function =
          seed % 4 == 0 ? define(mm).functions.back() : define(test::random_program(seed).text()).functions.back();
      const auto size = static_cast<std::int64_t>(seed % 4 == 0 ? 100 : 1 + random() % 60);
      std::vector<TensorSpec> inputs;
      for (const auto& param : function->def.params) {
        const auto& tensor = function->def.tensors.at(param.name);
        inputs.push_back(
            contiguous(tensor.type, std::vector<std::int64_t>(static_cast<std::size_t>(tensor.rank), size)));
      }
      ExecutableCache executables;
      compile_cached(executables, function, inputs, {}, how);
      ++made;
    } catch (const Error&) {
    }
  }
  std::size_t kept = 0;
  for (const auto& stored : cache::list_code(settings.folder)) {
    EXPECT_EQ(recheck(stored.entry), "") << stored.entry.source << "\n"
                                         << stored.entry.options << " " << stored.entry.key.target;
    ++kept;
  }
  EXPECT_GT(made, count / 2);
  EXPECT_GT(kept, count / 3);
  std::cout << kept << " entries of " << made << " programs\n";
}

TEST(Recheck, WhatDoesNotFitTogetherIsFound) {
  auto entry = kept(mm, matrices);
  auto changed = [&](auto&& change) {
    auto copy = entry;
    change(copy);
    return recheck(copy);
  };
  auto other = kept(mm, {contiguous(DType::Float32, {8, 9}), contiguous(DType::Float32, {9, 11})});
  EXPECT_EQ(changed([&](auto& e) { e.image = other.image; }), "it is not the machine code that its source compiles to");
  EXPECT_EQ(changed([&](auto& e) { e.options = "tile=4x4"; }),
            "it is not the machine code that its source compiles to");
  EXPECT_EQ(changed([&](auto& e) { e.key = other.key; }), "it is not the machine code that its source compiles to");
  EXPECT_EQ(changed([&](auto& e) { e.key.program += " "; }), "its source is not that of its key");
  EXPECT_EQ(changed([&](auto& e) { e.build = "another"; }), "it is of another build of the compiler");
  EXPECT_NE(changed([&](auto& e) { e.source = "def"; }).find("error"), std::string::npos);
  EXPECT_NE(changed([&](auto& e) { e.options = "tile=much"; }).find("tile"), std::string::npos);
}

}  // namespace
}  // namespace tc::engine::recheck_test
