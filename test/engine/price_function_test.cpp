#include "tc/engine/compile/price_function.h"

#include <gtest/gtest.h>

#include "test/engine/engine_fixture.h"

namespace tc::engine {
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

TEST(PriceFunction, NothingPricesAGpu) {
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  EXPECT_FALSE(price_of(mm, {floats({64, 64}), floats({64, 64})}, options));
}

}  // namespace
}  // namespace tc::engine
