#include "tc/lang/check/promote.h"

#include <gtest/gtest.h>

namespace tc::lang {
namespace {

constexpr int types = static_cast<int>(DType::Float64) + 1;

/// Rows and columns in the order of DType; "-" where there is no common type.
TEST(Promote, Table) {
  const char* const table[types] = {
      "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64",
      "int8 int8 int16 int32 int64 int16 int32 int64 - float16 bfloat16 float32 float64",
      "int16 int16 int16 int32 int64 int16 int32 int64 - float16 bfloat16 float32 float64",
      "int32 int32 int32 int32 int64 int32 int32 int64 - float16 bfloat16 float32 float64",
      "int64 int64 int64 int64 int64 int64 int64 int64 - float16 bfloat16 float32 float64",
      "uint8 int16 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64",
      "uint16 int32 int32 int32 int64 uint16 uint16 uint32 uint64 float16 bfloat16 float32 float64",
      "uint32 int64 int64 int64 int64 uint32 uint32 uint32 uint64 float16 bfloat16 float32 float64",
      "uint64 - - - - uint64 uint64 uint64 uint64 float16 bfloat16 float32 float64",
      "float16 float16 float16 float16 float16 float16 float16 float16 float16 float16 float32 float32 float64",
      "bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 float32 bfloat16 float32 "
      "float64",
      "float32 float32 float32 float32 float32 float32 float32 float32 float32 float32 float32 float32 float64",
      "float64 float64 float64 float64 float64 float64 float64 float64 float64 float64 float64 float64 float64",
  };
  for (int a = 0; a < types; ++a) {
    std::string row;
    for (int b = 0; b < types; ++b) {
      const auto joined = promote(static_cast<DType>(a), static_cast<DType>(b));
      row += (b ? " " : "") + (joined ? std::string(name(*joined)) : "-");
    }
    EXPECT_EQ(row, table[a]);
  }
}

TEST(Promote, SilentConversionsStayWithinAKindOrWiden) {
  EXPECT_TRUE(converts_silently(DType::Int64, DType::Int8));
  EXPECT_TRUE(converts_silently(DType::Float64, DType::Float16));
  EXPECT_TRUE(converts_silently(DType::UInt64, DType::Float16));
  EXPECT_TRUE(converts_silently(DType::Bool, DType::Int8));
  EXPECT_FALSE(converts_silently(DType::Float16, DType::Int64));
  EXPECT_FALSE(converts_silently(DType::Int8, DType::Bool));
  EXPECT_FALSE(converts_silently(DType::Float32, DType::Bool));
}

}  // namespace
}  // namespace tc::lang
