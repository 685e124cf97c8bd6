#include "tc/base/ceil_div.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "test/support/expect_error.h"

namespace tc {
namespace {

TEST(CeilDiv, IsTheLeastNumberOfGroupsThatHoldAll) {
  for (std::int64_t a = 0; a <= 40; ++a)
    for (std::int64_t b = 1; b <= 9; ++b) {
      EXPECT_GE(ceil_div(a, b) * b, a);
      EXPECT_LT((ceil_div(a, b) - 1) * b, a);
      EXPECT_EQ(round_up(a, b) % b, 0);
      EXPECT_EQ(round_up(a, b), ceil_div(a, b) * b);
    }
}

TEST(FloorDiv, IsTheGreatestQuotientThatIsNotMore) {
  for (int a = -40; a <= 40; ++a)
    for (int b : {-7, -3, -2, -1, 1, 2, 3, 7}) {
      const int rest = a - floor_div(a, b) * b;
      EXPECT_TRUE(b > 0 ? 0 <= rest && rest < b : b < rest && rest <= 0) << a << " / " << b;
    }
}

TEST(CeilDiv, CountsInTheWiderType) {
  EXPECT_EQ(ceil_div(std::int64_t{1} << 40, 3), (std::int64_t{1} << 40) / 3 + 1);
  EXPECT_EQ(round_up(5, std::int64_t{1} << 40), std::int64_t{1} << 40);
  EXPECT_EQ(round_up(std::size_t{65}, 64), std::size_t{128});
}

TEST(CeilDiv, DoesNotOverflow) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ceil_div(most, 2), most / 2 + 1);
  EXPECT_EQ(ceil_div(most, most), 1);
  EXPECT_EQ(ceil_div(most, 1), most);
}

TEST(CeilDiv, ADivisorOf0IsAnErrorOfTheCompiler) {
  EXPECT_ERROR(ceil_div(7, 0), InternalError, "a division by 0");
  EXPECT_ERROR(floor_div(7, 0), InternalError, "a division by 0");
  EXPECT_ERROR(round_up(7, 0), InternalError, "a division by 0");
}

}  // namespace
}  // namespace tc
