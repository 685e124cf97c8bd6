#include "tc/cuda/warp_accesses.h"

#include <gtest/gtest.h>

namespace tc::cuda::warp_accesses_test {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;

Expr variable(const std::string& name) { return ir::Variable::make(Halide::Int(32), name); }
Expr load(const std::string& buffer, const Expr& index) {
  int lanes = index.type().lanes();
  return ir::Load::make(Halide::Float(32, lanes), buffer, index, Halide::Buffer<>(), ir::Parameter(),
                        ir::const_true(lanes), ir::ModulusRemainder());
}
ir::Stmt store(const std::string& buffer, const Expr& index, const Expr& value) {
  return ir::Store::make(buffer, value, index, ir::Parameter(), ir::const_true(index.type().lanes()),
                         ir::ModulusRemainder());
}
Expr ramp(const Expr& base, int stride = 1) { return ir::Ramp::make(base, stride, 4); }

const Expr x = variable("thread_x"), y = variable("thread_y");

/// "read s 4: 0 33 ..." for each access, the places of the first three threads.
std::string listed(const ir::Stmt& body, const WarpPlace& warp = {{32, 8, 1}, 0, 32}) {
  std::string text;
  for (const auto& access : warp_accesses(body, warp)) {
    text += (access.write ? "write " : "read ") + access.buffer + " " + std::to_string(access.bytes()) + ":";
    for (std::size_t i = 0; i < std::min<std::size_t>(access.places.size(), 3); ++i)
      text += " " + std::to_string(access.places[i]);
    text += access.places.size() > 3 ? " ...\n" : "\n";
  }
  return text;
}

TEST(WarpAccesses, AreThoseOfTheThreadsOfAWarp) {
  EXPECT_EQ(listed(store("s", x * 33 + y, load("A", y * 100 + x))), "read A 4: 0 1 2 ...\nwrite s 4: 0 33 66 ...\n");
  EXPECT_EQ(listed(store("s", x * 33 + y, load("A", y * 100 + x)), {{32, 8, 1}, 224, 32}),
            "read A 4: 700 701 702 ...\nwrite s 4: 7 40 73 ...\n");
}

TEST(WarpAccesses, ThreadsBeyondABlockDoNotExist) {
  EXPECT_EQ(listed(store("s", x, Expr(0.0f)), {{2, 1, 1}, 0, 32}), "write s 4: 0 1\n");
}

TEST(WarpAccesses, ConditionsChooseThreads) {
  EXPECT_EQ(listed(ir::IfThenElse::make(x >= 30, store("s", x, Expr(0.0f)), store("t", x + 1, Expr(0.0f)))),
            "write s 4: 30 31\nwrite t 4: 1 2 3 ...\n");
  EXPECT_EQ(listed(ir::IfThenElse::make(load("A", x) > 0.0f, store("s", x, Expr(0.0f)))),
            "read A 4: 0 1 2 ...\nwrite s 4: 0 1 2 ...\n");
}

TEST(WarpAccesses, TheFirstIterationsStandForAll) {
  auto body = store("s", variable("i") * 64 + x, Expr(0.0f));
  EXPECT_EQ(listed(ir::For::make("i", 2, 100, ir::ForType::Serial, Halide::DeviceAPI::None, body)),
            "write s 4: 128 129 130 ...\nwrite s 4: 192 193 194 ...\n");
}

TEST(WarpAccesses, IterationsOfAnUnrolledLoopThatLieSideBySideAreOnePiece) {
  auto loop = [](const Expr& place) {
    return ir::For::make("i", 0, 4, ir::ForType::Unrolled, Halide::DeviceAPI::None, store("s", place, Expr(0.0f)));
  };
  EXPECT_EQ(listed(loop(x * 4 + variable("i"))), "write s 16: 0 4 8 ...\n");
  EXPECT_EQ(listed(loop(x * 4 + variable("i") + 1)), "write s 4: 1 5 9 ...\nwrite s 4: 2 6 10 ...\n") << "not aligned";
  EXPECT_EQ(listed(loop(x * 4 + variable("i") * 2)), "write s 4: 0 4 8 ...\nwrite s 4: 2 6 10 ...\n");
}

TEST(WarpAccesses, VectorsMoveAtOnceWhereTheyLieTogether) {
  EXPECT_EQ(
      listed(store("s", ramp(x * 4), load("t", ramp(x * 4 + 1)))),
      "read t 4: 1 5 9 ...\nread t 4: 2 6 10 ...\nread t 4: 3 7 11 ...\nread t 4: 4 8 12 ...\nwrite s 16: 0 4 8 ...\n");
}

TEST(WarpAccesses, PlacesThatDependOnDataAreLeftOut) {
  Expr from_memory = ir::Cast::make(Halide::Int(32), load("I", x));
  EXPECT_EQ(listed(store("s", x, load("A", from_memory))), "read I 4: 0 1 2 ...\nwrite s 4: 0 1 2 ...\n");
}

TEST(WarpAccesses, RoundsAreTheWordsOfTheBusiestBank) {
  auto access = [](int bytes, int elements, auto place) {
    WarpAccess result{"s", false, bytes, elements, 1, {}};
    for (std::int64_t i = 0; i < 32; ++i) result.places.push_back(place(i));
    return result;
  };
  auto count = [&](const WarpAccess& a) {
    const auto [rounds, fewest] = BankCounter(32).count(a);
    return std::pair(rounds, fewest);
  };
  using Count = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(count(access(4, 1, [](auto i) { return i; })), Count(1, 1));
  EXPECT_EQ(count(access(4, 1, [](auto) { return 5; })), Count(1, 1)) << "one word for all";
  EXPECT_EQ(count(access(4, 1, [](auto i) { return 32 * i; })), Count(32, 1)) << "a column";
  EXPECT_EQ(count(access(4, 1, [](auto i) { return 33 * i; })), Count(1, 1));
  EXPECT_EQ(count(access(4, 1, [](auto i) { return 4 * i; })), Count(4, 1));
  EXPECT_EQ(count(access(4, 4, [](auto i) { return 4 * i; })), Count(4, 4)) << "eight threads of 16 bytes at once";
  EXPECT_EQ(count(access(4, 4, [](auto i) { return 32 * i; })), Count(32, 4));
  EXPECT_EQ(count(access(8, 1, [](auto i) { return 16 * i; })), Count(32, 2)) << "sixteen threads of 8 bytes at once";
  EXPECT_EQ(count(access(2, 1, [](auto i) { return i; })), Count(1, 1)) << "two elements a word";
}

}  // namespace
}  // namespace tc::cuda::warp_accesses_test
