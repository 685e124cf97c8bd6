#include "tc/cpu/machine_limits.h"

#include <gtest/gtest.h>

#include "tc/base/target.h"

namespace tc::cpu {
namespace {

TEST(MachineLimits, AreMeasuredOnceAndPlausible) {
  auto first = machine_limits(1, DType::Float32, 1 << 20);
  for (int i = 0; i < 10; ++i) {
    auto again = machine_limits(1, DType::Float32, 1 << 20);
    EXPECT_EQ(first.flops, again.flops);
    EXPECT_EQ(first.bandwidth, again.bandwidth);
  }
  EXPECT_GT(first.bandwidth, 0.1);
  EXPECT_LT(first.bandwidth, 10000);
  if (!Target::host().has_fma()) return;
  EXPECT_GT(first.flops, 1);
  EXPECT_LT(first.flops, 2000) << "one core";
}

TEST(MachineLimits, DoublesAreHalfAsFastAsFloats) {
  auto floats = machine_limits(1, DType::Float32, 1 << 20).flops,
       doubles = machine_limits(1, DType::Float64, 1 << 20).flops;
  if (!Target::host().has_fma()) GTEST_SKIP() << "this machine has no multiply-add";
  EXPECT_GT(doubles, floats / 6);
  EXPECT_LT(doubles, floats);
}

}  // namespace
}  // namespace tc::cpu
