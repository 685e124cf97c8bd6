#include "tc/polyhedral/generate/simplify_quotients.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/polyhedral/core/isl.h"
#include "test/support/isl_fixture.h"

namespace tc::polyhedral {
namespace {

class SimplifyQuotients : public IslTest {};

TEST_F(SimplifyQuotients, DropsWhatStaysBelowTheStepOfTheRest) {
  const struct {
    const char *domain, *function, *expected;
  } cases[] = {
      {"{ [a, b] : 0 <= a < 9 and 0 <= b < 16 }", "{ [a, b] -> [floor((16a + b)/32)] }", "{ [a, b] -> [floor(a/2)] }"},
      {"{ [a, b] : 0 <= a < 9 and 0 <= b < 16 }", "{ [a, b] -> [a - 2*floor((16a + b + 32)/32)] }",
       "{ [a, b] -> [a - 2*floor((a + 2)/2)] }"},
      {"{ [a, b] : 0 <= a < 9 and 0 <= b <= 16 }", "{ [a, b] -> [floor((16a + b)/32)] }",
       "{ [a, b] -> [floor((16a + b)/32)] }"},
      {"{ [a, b] : 0 <= a < 9 and -3 <= b < 0 }", "{ [a, b] -> [floor((4a + b)/8)] }",
       "{ [a, b] -> [floor((a - 1)/2)] }"},
      {"{ [a, b] : 0 <= a }", "{ [a, b] -> [floor((4a + b)/8)] }", "{ [a, b] -> [floor((4a + b)/8)] }"},
      {"[t] -> { [a, b] : 0 <= a < 9 and 0 <= t < 16 }", "[t] -> { [a, b] -> [floor((16a - t)/48), b] }",
       "[t] -> { [a, b] -> [floor((16a - t)/48), b] }"},
      {"[t] -> { [a, b] : 0 <= a < 9 and 0 <= t < 16 }", "[t] -> { [a, b] -> [floor((16a + t)/48), b] }",
       "[t] -> { [a, b] -> [floor(a/3), b] }"},
  };
  for (const auto& c : cases) {
    auto result = simplify_quotients(isl::pw_multi_aff(ctx(), c.function), isl::set(ctx(), c.domain));
    EXPECT_TRUE(result.plain_is_equal(isl::pw_multi_aff(ctx(), c.expected))) << c.function << " became " << str(result);
  }
}

}  // namespace
}  // namespace tc::polyhedral
