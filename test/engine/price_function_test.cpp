#include "tc/engine/compile/price_function.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tc/cpu/thread_pool.h"
#include "tc/engine/compile/library_call.h"
#include "test/cache/cache_fixture.h"
#include "test/engine/engine_fixture.h"

namespace tc::engine::price_function_test {
namespace {

std::optional<double> price_of(const std::string& text, const std::vector<TensorSpec>& inputs,
                               const CompileOptions& options = {}) {
  const auto function = define(text).functions.back();
  return price_function(function, make_arguments(*function, inputs, {}), options);
}

TensorSpec floats(std::vector<std::int64_t> shape) { return contiguous(DType::Float32, std::move(shape)); }

TEST(PriceFunction, GrowsAsTheWorkDoes) {
  const auto small = price_of(mm, {floats({64, 64}), floats({64, 64})});
  const auto large = price_of(mm, {floats({256, 256}), floats({256, 256})});
  ASSERT_TRUE(small && large);
  EXPECT_GT(*large, 20 * *small);
  EXPECT_GT(*small, 0);
}

TEST(PriceFunction, ReadsAcrossRowsCostMore) {
  const auto along = price_of("def f(float(N,M) X) -> (Y) { Y(n,m) = X(n,m) }", {floats({1024, 1024})});
  const auto across = price_of("def f(float(N,M) X) -> (Y) { Y(m,n) = X(n,m) }", {floats({1024, 1024})});
  ASSERT_TRUE(along && across);
  EXPECT_GT(*across, *along);
}

TEST(PriceFunction, KernelsOfAGpuHavePricesOfTheirOwn) {
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  const auto small = price_of(mm, {floats({64, 64}), floats({64, 64})}, options);
  const auto large = price_of(mm, {floats({2048, 2048}), floats({2048, 2048})}, options);
  ASSERT_TRUE(small && large);
  EXPECT_GT(*large, 20 * *small);
}

/// A library that is asked for by name counts as what its prices say, as in "auto".
TEST(PriceFunction, FollowsMeasuredPricesOfANamedLibrary) {
  const std::vector<TensorSpec> inputs{floats({64, 64}), floats({64, 64})};
  const auto function = define(mm).functions.back();
  const auto arguments = make_arguments(*function, inputs, {});
  cache::TemporaryFolder folder;
  cache::CacheSettings settings;
  settings.folder = folder / "cache";
  CompileOptions options;
  options.cache = std::make_shared<cache::Cache>(settings);
  options.libraries = "openblas";
  LibraryChoice choice;
  try {
    choice = choose_library_call(*function, arguments, options);
  } catch (const OptionsError& error) {
    GTEST_SKIP() << error.what();
  }
  ASSERT_TRUE(choice.call);
  const auto unmeasured = *price_function(function, arguments, options);
  auto price = library::price_of(*choice.call, cpu::num_threads());
  for (const double speed : {0.25, 4.0}) {
    price.library_seconds = 1e-6;
    price.own_seconds = speed * 1e-6;
    std::filesystem::create_directories(settings.folder);
    std::ofstream(library_prices_file(*options.cache))
        << library::to_string(library::PriceTable{cache::measurement_here().machine, std::vector{price}});
    EXPECT_NEAR(*price_function(function, arguments, options), unmeasured / speed, 1e-6 * unmeasured);
    EXPECT_EQ(choose_library_call(*function, arguments, options).call, choice.call);
  }
}

/// Of two calls of a library whose prices were not measured, the one that moves its operands for each row is the dearer.
TEST(PriceFunction, CountsWhatAnUnmeasuredCallMoves) {
  CompileOptions options;
  options.libraries = "openblas";
  const auto price_with_calls = [&](const char* text, const std::vector<TensorSpec>& inputs) {
    const auto function = define(text).functions.back();
    const auto arguments = make_arguments(*function, inputs, {});
    EXPECT_TRUE(choose_library_call(*function, arguments, options).call);
    return *price_function(function, arguments, options);
  };
  try {
    const auto whole = price_with_calls("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                                        {floats({64, 448}), floats({448, 4096})});
    const auto by_four =
        price_with_calls("def f(float(R,K,M) A, float(K,N) B) -> (C) { C(r,m,n) +=! A(r,k,m) * B(k,n) }",
                         {floats({16, 448, 4}), floats({448, 4096})});
    EXPECT_GT(by_four, 3 * whole);
  } catch (const OptionsError& error) {
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace tc::engine::price_function_test
