#include "tc/base/count_product.h"

#include <gtest/gtest.h>

namespace tc {
namespace {

TEST(CountProduct, IsExactUpToTheMost) {
  EXPECT_EQ(count_product(0, INT64_MAX), 0);
  EXPECT_EQ(count_product(3, 5), 15);
  EXPECT_EQ(count_product(std::int64_t{1} << 47, 31), std::int64_t{31} << 47);
  EXPECT_EQ(count_product(3, 5, 14), 14);
}

TEST(CountProduct, EndsWhereItWouldWrap) {
  for (std::int64_t b : {std::int64_t{1} << 5, std::int64_t{1} << 16, std::int64_t{1} << 17, std::int64_t{1} << 47})
    EXPECT_EQ(count_product(std::int64_t{1} << 47, b), most_counted) << b;
  EXPECT_EQ(count_product(INT64_MAX, INT64_MAX), most_counted);
}

}  // namespace
}  // namespace tc
