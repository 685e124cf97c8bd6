#include "tc/library/prices.h"

#include <gtest/gtest.h>

namespace tc::library {
namespace {

Call product(std::int64_t m, std::int64_t n, std::int64_t k) {
  Call call{"blas", "1.0", "gemm", {{"M", m}, {"N", n}, {"K", k}}};
  call.operands.resize(3);
  return call;
}

PriceTable table() {
  PriceTable result{"a machine", {}};
  for (auto [size, own] : {std::pair(64, 1e-6), std::pair(1024, 6e-3)}) {
    auto price = price_of(product(size, size, size), 2);
    price.library_seconds = size == 64 ? 2e-6 : 3e-3;
    price.own_seconds = own;
    result.prices.push_back(price);
  }
  return result;
}

TEST(Prices, AreThoseOfCallsNearby) {
  EXPECT_DOUBLE_EQ(*speed_of(product(1000, 900, 1100), table(), 2), 2);
  EXPECT_DOUBLE_EQ(*speed_of(product(70, 60, 64), table(), 2), 0.5);
  EXPECT_FALSE(speed_of(product(1, 1, 1), table(), 2)) << "nothing is near";
  EXPECT_FALSE(speed_of(product(64, 64, 64), table(), 1)) << "another number of threads";
  auto other = product(64, 64, 64);
  other.version = "1.1";
  EXPECT_FALSE(speed_of(other, table(), 2));
  other = product(64, 64, 64);
  other.operands[0].type = DType::Float64;
  EXPECT_FALSE(speed_of(other, table(), 2));
  other = product(64, 64, 64).with_constants([](std::size_t argument) { return argument == 0; });
  EXPECT_FALSE(speed_of(other, table(), 2)) << "a constant";
  other = product(64, 64, 64);
  other.post_ops = {{PostOp::Kind::Add, Operand{.strides = {0, 1}}}, {PostOp::Kind::Relu, {}}};
  EXPECT_EQ(speed_of(other, table(), 2), 0.5) << "a bias costs nothing that can be told";
  other.post_ops[0].operand->strides = {64, 1};
  EXPECT_FALSE(speed_of(other, table(), 2)) << "a sum with a matrix";
}

/// One call that is fast does not speak for those between it and slow ones.
TEST(Prices, OfCallsBetweenMeasuredOnesAreTheirMean) {
  auto prices = table();
  prices.prices[0] = price_of(product(255, 255, 255), 2);
  prices.prices[0].library_seconds = 2;
  prices.prices[0].own_seconds = 1;
  prices.prices[1] = price_of(product(255, 255, 1023), 2);
  prices.prices[1].library_seconds = 1;
  prices.prices[1].own_seconds = 2;
  EXPECT_DOUBLE_EQ(*speed_of(product(255, 255, 511), prices, 2), 1) << "as far from both";
  EXPECT_DOUBLE_EQ(*speed_of(product(255, 255, 1023), prices, 2), 2) << "measured itself";
  EXPECT_LT(*speed_of(product(255, 127, 255), prices, 2), 0.6) << "three times as far from the fast one";
}

TEST(Prices, AreThoseOfCallsWithStridesNearby) {
  auto measured = product(512, 512, 512);
  measured.operands[1].strides = {512, 1};
  PriceTable prices{"a machine", {price_of(measured, 2)}};
  prices.prices[0].library_seconds = prices.prices[0].own_seconds = 1;
  auto other = measured;
  other.operands[1].strides = {520, 1};
  EXPECT_TRUE(speed_of(other, prices, 2)) << "a leading dimension";
  other.operands[1].strides = {1, 512};
  EXPECT_FALSE(speed_of(other, prices, 2)) << "the transpose";
  other.operands[1].strides = {0, 1};
  EXPECT_TRUE(speed_of(other, prices, 2)) << "a dimension of one element has no stride";
  EXPECT_TRUE(is_of_same_call(price_of(measured, 2), prices.prices[0]));
  EXPECT_FALSE(is_of_same_call(price_of(other, 2), prices.prices[0]));
}

TEST(Prices, AreTextsThatParseBack) {
  auto prices = table();
  prices.prices[0].strides[2] = {64, -1};
  prices.prices[0].constant[1] = true;
  const auto text = to_string(prices);
  const auto again = parse_prices(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(to_string(*again), text);
  EXPECT_EQ(again->machine, "a machine");
  EXPECT_FALSE(parse_prices(""));
  EXPECT_FALSE(parse_prices("library prices 0\nm\n"));
  EXPECT_FALSE(parse_prices(text + "blas 1.0 gemm"));
}

}  // namespace
}  // namespace tc::library
