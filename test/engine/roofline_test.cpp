#include "tc/engine/describe/roofline.h"

#include <gtest/gtest.h>

#include "test/engine/engine_fixture.h"

namespace tc::engine {
namespace {

/// The position of rates under limits of 100 GFLOP/s and 10 GB/s.
Roofline at(double flops, double bandwidth) {
  Roofline result;
  result.seconds = 1e-3;
  result.flops = flops;
  result.bandwidth = bandwidth;
  result.limits = {100, 10};
  return result;
}

TEST(Roofline, TheGreaterShareBinds) {
  EXPECT_EQ(at(90, 2).bound(), "arithmetic");
  EXPECT_EQ(at(10, 8).bound(), "memory");
  EXPECT_EQ(at(60, 9).bound(), "memory");
  EXPECT_EQ(at(20, 3).bound(), "neither");
  EXPECT_DOUBLE_EQ(at(90, 2).share_of_peak(), 0.9);
  EXPECT_DOUBLE_EQ(at(90, 2).share_of_bandwidth(), 0.2);
}

TEST(Roofline, WithoutALimitNothingIsGuessed) {
  auto unknown = at(90, 2);
  unknown.limits.flops = 0;
  EXPECT_EQ(unknown.bound(), "unknown");
  EXPECT_EQ(to_string(unknown).find("of the peak"), std::string::npos);
}

TEST(Roofline, MemoryIsNoLimitOfDataInACache) {
  auto cached = at(20, 147);
  cached.cache = 2;
  cached.bytes = 300 << 10;
  EXPECT_EQ(cached.bound(), "neither");
  EXPECT_EQ(cached.share_of_bandwidth(), 0);
  EXPECT_NE(to_string(cached).find("no limit, because all data (301 KB) stay in the L2 cache"), std::string::npos);
}

TEST(Roofline, TheNearestCacheHoldsTheData) {
  auto function = define("def f(float(N) X) -> (Y) { Y(i) = X(i) + 1 }").functions.back();
  CompileOptions options;
  options.target.l1_bytes = 32 << 10;
  options.target.l2_bytes = 1 << 20;
  options.target.l3_bytes = 16 << 20;
  options.mapping = options.mapping.with_parallel(false);
  for (const auto& [size, cache] : {std::pair(1 << 10, 1), {1 << 15, 2}, {1 << 20, 3}, {1 << 23, 0}}) {
    auto executable = compile(function, {contiguous(DType::Float32, {size})}, {}, options);
    auto found = roofline(describe_work(function, executable->image().arguments, options), options.target, 1);
    EXPECT_EQ(found.bytes, 8.0 * size);
    EXPECT_EQ(found.cache, cache) << size;
  }
}

TEST(Roofline, ReadsAsText) {
  EXPECT_EQ(to_string(at(90, 2)),
            "measured: 1 ms in 1 thread\narithmetic: 90 GFLOP/s, 90 % of the peak of 100\n"
            "memory: 2 GB/s, as predicted, 20 % of the bandwidth of 10\nbound by: arithmetic\n");
}

TEST(Roofline, OfAMeasuredRun) {
  auto function = define(mm).functions.back();
  std::vector<TensorSpec> inputs = {contiguous(DType::Float32, {256, 256}), contiguous(DType::Float32, {256, 256})};
  CompileOptions options;
  auto executable = compile(function, inputs, {}, options);
  double seconds = measure_seconds(*executable);
  EXPECT_GT(seconds, 1e-6);
  EXPECT_LT(seconds, 10);
  auto report = describe_work(function, executable->image().arguments, options);
  auto found = roofline(report, options.target, seconds);
  EXPECT_DOUBLE_EQ(found.flops, 2.0 * 256 * 256 * 256 / seconds / 1e9);
  EXPECT_GT(found.bandwidth, 0);
  EXPECT_GT(found.limits.bandwidth, 0);
}

TEST(Roofline, TensorsOfItsOwnMakingSuitIndices) {
  auto function = define("def f(float(E,D) T, int32(N) at) -> (O) { O(i,d) = T(at(i), d) }").functions.back();
  auto executable = compile(function, {contiguous(DType::Float32, {10, 16}), contiguous(DType::Int32, {50})});
  EXPECT_GT(measure_seconds(*executable), 0);
}

}  // namespace
}  // namespace tc::engine
