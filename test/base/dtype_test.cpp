#include "tc/base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tc {
namespace {

TEST(DType, NamesAndAliasesParse) {
  for (int i = 0; i <= static_cast<int>(DType::Float64); ++i) {
    auto type = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name(type)), type);
  }
  EXPECT_EQ(parse_dtype("float"), DType::Float32);
  EXPECT_EQ(parse_dtype("double"), DType::Float64);
  EXPECT_EQ(parse_dtype("half"), DType::Float16);
  EXPECT_EQ(parse_dtype("int"), DType::Int32);
  EXPECT_EQ(parse_dtype("byte"), DType::UInt8);
  EXPECT_EQ(parse_dtype("complex64"), std::nullopt);
}

TEST(DType, EveryHalfSurvivesTheWayThroughFloat) {
  for (int bits = 0; bits < 65536; ++bits) {
    auto half = static_cast<std::uint16_t>(bits);
    if (!std::isnan(half_to_float(half))) {
      EXPECT_EQ(float_to_half(half_to_float(half)), half) << bits;
    }
    if (!std::isnan(bfloat_to_float(half))) {
      EXPECT_EQ(float_to_bfloat(bfloat_to_float(half)), half) << bits;
    }
  }
}

TEST(DType, HalvesRoundToNearestEven) {
  EXPECT_EQ(half_to_float(float_to_half(2049.0f)), 2048.0f);
  EXPECT_EQ(half_to_float(float_to_half(2051.0f)), 2052.0f);
  EXPECT_EQ(bfloat_to_float(float_to_bfloat(257.0f)), 256.0f);
  EXPECT_EQ(bfloat_to_float(float_to_bfloat(259.0f)), 260.0f);
  EXPECT_EQ(half_to_float(float_to_half(65520.0f)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(half_to_float(float_to_half(65519.0f)), 65504.0f);
  EXPECT_EQ(float_to_half(std::ldexp(1.0f, -25)), 0);
  EXPECT_EQ(float_to_half(std::ldexp(1.5f, -25)), 1);
  EXPECT_TRUE(std::isnan(half_to_float(float_to_half(NAN))));
  EXPECT_TRUE(std::signbit(half_to_float(float_to_half(-0.0f))));
}

TEST(DType, DoublesRoundOnceToHalf) {
  double just_above_tie = 2049.0 + std::ldexp(1.0, -30);
  EXPECT_EQ(half_to_float(double_to_half(just_above_tie)), 2050.0f);
}

}  // namespace
}  // namespace tc
