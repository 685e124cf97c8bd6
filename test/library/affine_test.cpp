#include "tc/library/match/affine.h"

#include <gtest/gtest.h>

namespace tc::library {
namespace {

Affine iterator(int id) {
  Affine result;
  result.terms[id] = {1, ""};
  return result;
}
Affine name(const std::string& text) {
  Affine result;
  result.names[text] = 1;
  return result;
}

TEST(Affine, AddsAndMultiplies) {
  const auto sum = iterator(0) * 3 + iterator(1) - iterator(0) * 3;
  EXPECT_EQ(sum, iterator(1)) << "terms that vanish are gone";
  Affine product;
  EXPECT_TRUE(multiply(name("S"), iterator(2), product));
  EXPECT_EQ(product.terms.at(2), (Factor{1, "S"}));
  EXPECT_FALSE(multiply(iterator(1), iterator(2), product));
  EXPECT_FALSE(multiply(name("S"), name("T"), product));
  EXPECT_EQ(to_string(iterator(4) * 2), "0 + 2*i4");
}

TEST(Affine, TakesNumbersForNamesAndFunctionsForIterators) {
  Affine window;
  ASSERT_TRUE(multiply(name("S"), iterator(0), window));
  window = window + iterator(1) - name("P");
  const auto numbers = with_numbers(window, {{"S", 2}, {"P", 1}});
  EXPECT_EQ(numbers.constant, -1);
  EXPECT_EQ(numbers.factor(0), 2);
  EXPECT_EQ(numbers.factor(1), 1);
  const auto other = substitute(numbers, {{0, iterator(5) * 4 + iterator(6)}, {1, Affine()}});
  EXPECT_EQ(other.factor(5), 8);
  EXPECT_EQ(other.factor(6), 2);
  EXPECT_EQ(other.factor(1), 0);
}

}  // namespace
}  // namespace tc::library
