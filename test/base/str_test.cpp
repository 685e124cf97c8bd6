#include "tc/base/str.h"

#include <gtest/gtest.h>

#include <vector>

namespace tc {
namespace {

/// Groups digits and writes a decimal comma, as locales of many countries do.
struct Grouping : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Str, DoesNotDependOnTheGlobalLocale) {
  auto before = std::locale::global(std::locale(std::locale::classic(), new Grouping));
  auto text = str(1234567, " ", 0.5), list = join(std::vector{1000, 2000});
  std::locale::global(before);
  EXPECT_EQ(text, "1234567 0.5");
  EXPECT_EQ(list, "1000, 2000");
}

}  // namespace
}  // namespace tc
