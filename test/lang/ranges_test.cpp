#include "tc/lang/interpret/ranges.h"

#include <gtest/gtest.h>

#include <limits>

#include "tc/base/error.h"
#include "tc/lang/syntax/parse.h"
#include "test/support/expect_error.h"

namespace tc::lang {
namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

/// The what() of the E that \p f throws; empty if it throws none.
template <typename E, typename F>
std::string message(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

Def only_def(const std::string& text) { return parse(text).defs.at(0); }

TEST(Ranges, EvaluatesSizeExpressions) {
  const std::pair<const char*, std::int64_t> rows[] = {
      {"N", 7},
      {"N + M * 2 - 1", 2},
      {"-N / 2", -4},
      {"N / -2", -4},
      {"-N % 4", 1},
      {"N % -4", -1},
      {"N / Z", 0},
      {"N % Z", 0},
      {"min(N, M)", -2},
      {"max(N, M) * abs(M)", 14},
      {"clamp(100, M, N)", 7},
      {"N > M && !(N == 7)", 0},
      {"N <= 7 || N / Z > undefined", 1},
      {"N != 7 && undefined > 0", 0},
      {"M < 0 ? N : undefined", 7},
      {"select(M >= 0, 1, 2)", 2},
      {"int64(N) * N", 49},
  };
  const SizeMap sizes{{"N", 7}, {"M", -2}, {"Z", 0}};
  for (const auto& [text, value] : rows) EXPECT_EQ(evaluate_size(parse_expr(text), sizes), value) << text;
}

TEST(Ranges, RefusesOverflowAndUnknownNames) {
  const SizeMap sizes{{"H", huge}, {"L", -huge - 1}};
  for (const char* text : {"H + 1", "L - 1", "H * 2", "-L", "L / -1", "abs(L)", "9223372036854775808", "int32(H)"})
    EXPECT_ERROR(evaluate_size(parse_expr(text), sizes), ArgumentError, " exceeds 64 bits") << text;
  EXPECT_EQ(evaluate_size(parse_expr("L % -1"), sizes), 0);
  EXPECT_ERROR(evaluate_size(parse_expr("K"), sizes), InternalError, "size 'K' has no value");
  EXPECT_ERROR(evaluate_size(parse_expr("exp(H)"), sizes), InternalError, "'exp(H)' is no expression over sizes");
}

TEST(Ranges, BindsSizesInOrderOfTheParameters) {
  Def def = only_def("def f(float(N,M) A, float(M,2*N+1,3) B, float s) -> (C) { C(i) = A(i,i) }");
  EXPECT_EQ(bind_sizes(def, {{4, 5}, {5, 9, 3}, {}}), (SizeMap{{"M", 5}, {"N", 4}}));
  EXPECT_EQ(bind_sizes(def, {{0, 0}, {0, 1, 3}, {}}), (SizeMap{{"M", 0}, {"N", 0}}));
}

TEST(Ranges, SaysWhichTensorDoesNotFit) {
  Def def = only_def("def f(float(N,M) A, float(M,2*N+1,3) B, float s) -> (C) { C(i) = A(i,i) }");
  const std::pair<std::vector<std::vector<std::int64_t>>, const char*> rows[] = {
      {{{4, 5}, {5, 9, 3}}, "f takes 3 tensors, 2 were given"},
      {{{4}, {5, 9, 3}, {}}, "parameter 'A' of f has 2 dimensions, the tensor given has 1 (shape (4))"},
      {{{4, 5}, {5, 9, 3}, {1}}, "parameter 's' of f has 0 dimensions, the tensor given has 1 (shape (1))"},
      {{{4, 5}, {6, 9, 3}, {}}, "dimension 0 of parameter 'B' of f is 6, but M is 5 (dimension 1 of 'A')"},
      {{{4, 5}, {5, 8, 3}, {}},
       "dimension 1 of parameter 'B' of f is 8, but it is declared as 2 * N + 1 = 9 with N = 4"},
      {{{4, 5}, {5, 9, 4}, {}}, "dimension 2 of parameter 'B' of f is 4, but it is declared as 3"},
  };
  for (const auto& [shapes, expected] : rows)
    EXPECT_EQ(message<ArgumentError>([&, &shapes = shapes] { bind_sizes(def, shapes); }), expected);
}

TEST(Ranges, ChecksPreconditionsAndExtents) {
  Ranges ranges;
  ranges.preconditions.push_back({parse_expr("KH <= H"), "subscript 0 of I, 'h + kh', must stay inside [0, H)", {}});
  ranges.tensors["O"] = {{parse_expr("0"), parse_expr("H - KH + 1")}};
  ranges.statements.push_back({{"h", {parse_expr("0"), parse_expr("H - KH - 1")}}});
  EXPECT_NO_THROW(check_preconditions(ranges, {{"H", 6}, {"KH", 5}}));
  EXPECT_EQ(message<ArgumentError>([&] { check_preconditions(ranges, {{"H", 3}, {"KH", 5}}); }),
            "these sizes do not fit: KH <= H does not hold for H = 3, KH = 5; "
            "subscript 0 of I, 'h + kh', must stay inside [0, H)");
  EXPECT_EQ(
      message<ArgumentError>([&] { check_preconditions(ranges, {{"H", 5}, {"KH", 5}}); }),
      "the extent of the range of index 'h' would be H - KH - 1 = -1 with H = 5, KH = 5; it must not be negative");
  ranges.statements.clear();
  ranges.tensors.clear();
  ranges.preconditions[0].extents = {parse_expr("H - 3")};
  EXPECT_NO_THROW(check_preconditions(ranges, {{"H", 3}, {"KH", 5}})) << "a loop without iterations";
  EXPECT_EQ(message<ArgumentError>([&] { check_preconditions(ranges, {{"H", 4}, {"KH", 5}}); }),
            "these sizes do not fit: KH <= H does not hold for H = 4, KH = 5; "
            "subscript 0 of I, 'h + kh', must stay inside [0, H)");
  ranges.preconditions.clear();
  ranges.tensors["O"] = {{parse_expr("0"), parse_expr("H - KH + 1")}};
  EXPECT_EQ(message<ArgumentError>([&] { check_preconditions(ranges, {{"H", 3}, {"KH", 5}}); }),
            "the extent of dimension 0 of 'O' would be H - KH + 1 = -1 with H = 3, KH = 5; it must not be negative");
}

TEST(Ranges, EvaluatesBoxes) {
  Box box = evaluate_box({{parse_expr("K - 1"), parse_expr("N / 2")}, {parse_expr("0"), parse_expr("3")}},
                         {{"K", 3}, {"N", 9}});
  EXPECT_EQ(box, (Box{{2, 4}, {0, 3}}));
}

}  // namespace
}  // namespace tc::lang
