#include "tc/engine/recheck.h"

#include "tc/engine/persistent.h"
#include "test/cache/cache_fixture.h"
#include "test/engine/engine_fixture.h"

namespace tc::engine {
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
}  // namespace tc::engine
