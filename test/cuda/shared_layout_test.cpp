#include "tc/base/shared_banks.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <sstream>

#include "tc/cuda/swizzled_buffers.h"

namespace tc::cuda {
namespace {

/// 32 threads, thread i at \p place(i).
template <typename Place>
WarpAccess access(int elements, const Place& place, int bytes = 4) {
  WarpAccess result{"s", false, bytes, elements, 1, {}};
  for (std::int64_t i = 0; i < 32; ++i) result.places.push_back(place(i));
  return result;
}

constexpr SharedLayout square{32, 32, 32, {}}, large{64, 64, 64, {}};
constexpr std::int64_t no_limit = 1 << 20;

TEST(SharedLayout, CountsWhatAnotherLayoutWouldCost) {
  std::vector<WarpAccess> column{access(1, [](auto i) { return 32 * i + 3; })};
  EXPECT_EQ(count_bank_conflicts(column, square, square, 32).conflicts(), 31);
  EXPECT_EQ(count_bank_conflicts(column, square, {32, 32, 33, {}}, 32).conflicts(), 0);
  EXPECT_EQ(count_bank_conflicts(column, square, {32, 32, 34, {}}, 32).conflicts(), 1);
  EXPECT_EQ(count_bank_conflicts(column, square, {32, 32, 32, {5, 5, 0}}, 32).conflicts(), 0);
  std::vector<WarpAccess> padded{access(1, [](auto i) { return 33 * i + 3; })};
  EXPECT_EQ(count_bank_conflicts(padded, {32, 32, 33, {}}, square, 32).conflicts(), 31)
      << "rows are found by the pitch";
}

TEST(SharedLayout, RowsAndColumnsGetAPad) {
  auto best = best_layout({access(1, [](auto i) { return i; }), access(1, [](auto i) { return 32 * i; })}, square, 32,
                          no_limit);
  EXPECT_EQ(best.pitch, 33);
  EXPECT_EQ(best.swizzle.bits, 0);
}

TEST(SharedLayout, WhatHasNoConflictsStaysAsItIs) {
  EXPECT_EQ(best_layout({access(1, [](auto i) { return i; })}, square, 32, no_limit), square);
}

TEST(SharedLayout, PiecesThatMoveAtOnceStayTogether) {
  auto rows = access(4, [](auto i) { return i / 16 * 64 + i % 16 * 4; });
  std::vector<WarpAccess> all{rows};
  for (int k = 0; k < 4; ++k) all.push_back(access(1, [&](auto i) { return (i % 8 * 4 + k) * 64 + i / 8; }));
  auto best = best_layout(all, large, 32, no_limit);
  EXPECT_EQ(count_bank_conflicts(all, large, best, 32).conflicts(), 0);
  EXPECT_GT(best.swizzle.bits, 0) << "no pad of whole pieces does it";
  EXPECT_EQ(best.swizzle.to, 2);
  EXPECT_EQ(best.pitch % 4, 0);
}

TEST(SharedLayout, APadThatDoesNotFitGivesWayToASwizzle) {
  std::vector<WarpAccess> both{access(1, [](auto i) { return i; }), access(1, [](auto i) { return 32 * i; })};
  auto best = best_layout(both, square, 32, square.elements());
  EXPECT_EQ(best.pitch, 32);
  EXPECT_EQ(count_bank_conflicts(both, square, best, 32).conflicts(), 0);
}

/// s at \p place, read in a loop over k of 16 with one over m of 4 in it, by 16 threads along y.
std::string read_after(const Swizzle& swizzle,
                       const std::function<Halide::Expr(Halide::Expr, Halide::Expr, Halide::Expr)>& place) {
  namespace ir = Halide::Internal;
  auto variable = [](const char* name) { return ir::Variable::make(Halide::Int(32), name); };
  auto index = place(variable("k"), variable("thread_y"), variable("m"));
  auto read = ir::Load::make(Halide::Float(32), "s", index, Halide::Buffer<>(), ir::Parameter(), ir::const_true(), {});
  auto loop = [](const char* name, int extent, const ir::Stmt& body) {
    return ir::For::make(name, 0, extent, ir::ForType::Serial, Halide::DeviceAPI::None, body);
  };
  auto body = swizzled(loop("k", 16, loop("m", 4, ir::Evaluate::make(read))), {{"s", swizzle}}, {16, 16, 1});
  std::ostringstream out;
  out << body;
  return out.str();
}

TEST(Swizzle, ElementsOfAPieceStandSideBySideInTheText) {
  auto text = read_after({3, 7, 2}, [](const auto& k, const auto& y, const auto& m) { return k * 64 + y * 4 + m; });
  EXPECT_NE(text.find("*4) + m]"), std::string::npos) << text;
  EXPECT_NE(text.find("k/2"), std::string::npos) << text;
  EXPECT_EQ(text.find("m/4"), std::string::npos) << text;
}

TEST(Swizzle, PermutesItsPeriodAndIsItsOwnInverse) {
  for (Swizzle swizzle : {Swizzle{3, 8, 2}, {5, 5, 0}, {1, 6, 3}, {}}) {
    std::set<std::int64_t> seen;
    for (std::int64_t place = 0; place < 4096; ++place) {
      EXPECT_EQ(swizzle(swizzle(place)), place);
      EXPECT_EQ(swizzle(place) / swizzle.period(), place / swizzle.period());
      seen.insert(swizzle(place));
    }
    EXPECT_EQ(seen.size(), 4096u);
  }
}

}  // namespace
}  // namespace tc::cuda
