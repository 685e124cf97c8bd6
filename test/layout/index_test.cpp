#include "tc/layout/index/index.h"

#include <gtest/gtest.h>

#include <random>

#include "tc/base/str.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"

namespace tc::layout {
namespace {

const IteratorRanges ranges = {{"co", {0, 4}}, {"ci", {0, 16}}, {"q", {0, 4}}, {"h", {-1, 8}}};

std::string read(const std::string& text) {
  static const std::map<std::string, Index> none;
  return lang::print(
      to_expr(read_index(lang::parse_expr(text), {none, ranges, [](const ExprPtr& part) { return part; }})));
}

TEST(Index, FoldsWhatRangesDecide) {
  EXPECT_EQ(read("(16 * co + ci) / 16"), "co");
  EXPECT_EQ(read("(16 * co + ci) % 16"), "ci");
  EXPECT_EQ(read("(16 * co + ci) / 8"), "2 * co + ci / 8");
  EXPECT_EQ(read("(4 * co + q) / 16"), "0");
  EXPECT_EQ(read("(4 * ci + q) / 16"), "ci / 4");
  EXPECT_EQ(read("(4 * ci + q) % 16"), "4 * (ci % 4) + q");
  EXPECT_EQ(read("(ci / 2) / 4"), "ci / 8");
  EXPECT_EQ(read("(ci % 8) / 2"), "ci / 2 % 4");
  EXPECT_EQ(read("(h - 1) / 16"), "(h - 1) / 16");
  EXPECT_EQ(read("(h + 1) / 16"), "0");
  EXPECT_EQ(read("4 * (ci / 4) + ci % 4"), "ci");
  EXPECT_EQ(read("2 * (co + 3) - co - co"), "6");
  EXPECT_EQ(read("idx(3) / 16"), "idx(3) / 16");
}

TEST(Index, HasBounds) {
  const auto of = [](const std::string& text) {
    static const std::map<std::string, Index> none;
    return bounds(read_index(lang::parse_expr(text), {none, ranges, [](const ExprPtr& part) { return part; }}), ranges);
  };
  EXPECT_EQ(of("16 * co + ci")->high, 63);
  EXPECT_EQ(of("3 - h")->low, -3);
  EXPECT_EQ(of("min(max(h, 0), 4)")->low, 0);
  EXPECT_EQ(of("min(max(h, 0), 4)")->high, 4);
  EXPECT_FALSE(of("idx(3)").has_value());
}

/// A random quasi-affine expression over the iterators of `ranges`.
std::string random_text(std::mt19937_64& random, int depth) {
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  static const char* const names[] = {"co", "ci", "q", "h"};
  if (depth == 0) return pick(4) == 0 ? str(pick(9)) : names[pick(4)];
  const std::string a = random_text(random, depth - 1);
  switch (pick(6)) {
    case 0:
      return str("(", a, " + ", random_text(random, depth - 1), ")");
    case 1:
      return str("(", a, " - ", random_text(random, depth - 1), ")");
    case 2:
      return str(1 + pick(16), " * ", a);
    case 3:
      return str("(", a, ") / ", 1 << pick(5));
    case 4:
      return str("(", a, ") % ", 1 + pick(16));
    default:
      return a;
  }
}

TEST(Index, MeansWhatTheTextMeans) {
  std::mt19937_64 random(1);
  static const std::map<std::string, Index> none;
  for (int trial = 0; trial < 3000; ++trial) {
    const auto text = lang::parse_expr(random_text(random, 4));
    const Index index = read_index(text, {none, ranges, [](const ExprPtr& part) { return part; }});
    const auto range = bounds(index, ranges);
    ASSERT_TRUE(range.has_value());
    for (int point = 0; point < 20; ++point) {
      lang::SizeMap values;
      for (const auto& [name, r] : ranges)
        values[name] = r.min + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(r.extent));
      const auto want = lang::evaluate_size(text, values);
      ASSERT_EQ(lang::evaluate_size(to_expr(index), values), want) << lang::print(text);
      ASSERT_LE(range->low, want) << lang::print(text);
      ASSERT_GE(range->high, want) << lang::print(text);
    }
  }
}

}  // namespace
}  // namespace tc::layout
