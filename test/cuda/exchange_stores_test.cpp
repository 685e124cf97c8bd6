#include "tc/cuda/exchange_stores.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"

namespace tc::cuda {
namespace {

using Halide::Expr;
using Halide::Int;
using Halide::Type;
using Halide::UInt;
namespace ir = Halide::Internal;
using ir::Stmt;

const KernelShape warps{{1, 1, 1}, {4, 16, 1}};

Expr variable(const char* name) { return ir::Variable::make(Int(32), name); }

/// C[32 * block_x * thread_y + 8 * n + 2 * thread_x + first, 2 elements of type] = acc[2 * n, ...] for \p count values of n.
Stmt pairs(int count = 8, int first = 0, Type type = UInt(16), int along_x = 2) {
  Expr n = variable("n");
  Expr at =
      ir::simplify(variable("block_x") * 32 * variable("thread_y") + n * 8 + variable("thread_x") * along_x + first);
  Expr value = ir::Load::make(type.with_lanes(2), "acc", ir::Ramp::make(n * 2, 1, 2), Halide::Buffer<>(),
                              ir::Parameter(), ir::const_true(2), ir::ModulusRemainder());
  Stmt store =
      ir::Store::make("C", value, ir::Ramp::make(at, 1, 2), ir::Parameter(), ir::const_true(2), ir::ModulusRemainder());
  return ir::For::make("n", 0, count, ir::ForType::Unrolled, Halide::DeviceAPI::None, store);
}

bool exchanges(const Stmt& body, const KernelShape& shape = warps, const std::set<std::string>& aligned = {"C"}) {
  return str(exchange_stores(body, shape, aligned)).find("tc_store_exchanged") != std::string::npos;
}

TEST(ExchangeStores, PairsOfFourThreadsBecomeRows) {
  const auto text = str(exchange_stores(pairs(), warps, {"C"}));
  EXPECT_NE(text.find("unrolled (n, 0, 2)"), std::string::npos) << text;
  EXPECT_NE(text.find("unrolled (n_part, 0, 4)"), std::string::npos) << text;
  EXPECT_NE(text.find("tc_store_exchanged((uint16)C["), std::string::npos) << text;
  EXPECT_TRUE(exchanges(ir::IfThenElse::make(variable("block_x") < 3, pairs()))) << "all threads of a block agree";
}

TEST(ExchangeStores, OthersStayAsTheyAre) {
  EXPECT_FALSE(exchanges(pairs(6))) << "a row would not be whole";
  EXPECT_FALSE(exchanges(pairs(8, 2))) << "rows do not begin at multiples of 16 bytes";
  EXPECT_FALSE(exchanges(pairs(8, 0, UInt(32)))) << "sectors are whole";
  EXPECT_FALSE(exchanges(pairs(8, 0, UInt(16), 4))) << "threads are not neighbours";
  EXPECT_FALSE(exchanges(pairs(), {{1, 1, 1}, {8, 8, 1}})) << "a row has other threads";
  EXPECT_FALSE(exchanges(pairs(), {{1, 1, 1}, {4, 4, 1}})) << "a warp is not whole";
  EXPECT_FALSE(exchanges(pairs(), warps, {})) << "the tensor may begin anywhere";
  EXPECT_FALSE(exchanges(ir::Block::make(pairs(), pairs())))
      << "another thread would overwrite the element, without a barrier";
  Expr element = ir::Load::make(UInt(16), "C", variable("thread_x"), Halide::Buffer<>(), ir::Parameter(),
                                ir::const_true(), ir::ModulusRemainder());
  Stmt copy =
      ir::Store::make("D", element, variable("thread_x"), ir::Parameter(), ir::const_true(), ir::ModulusRemainder());
  EXPECT_FALSE(exchanges(ir::Block::make(pairs(), copy))) << "a thread reads its own elements, without a barrier";
  EXPECT_FALSE(exchanges(ir::IfThenElse::make(variable("thread_y") < 3, pairs()))) << "some threads of a warp";
  Stmt own = ir::LetStmt::make("own", variable("thread_x") + 1, ir::IfThenElse::make(variable("own") < 3, pairs()));
  EXPECT_FALSE(exchanges(own)) << "some threads of a warp, by a let";
}

}  // namespace
}  // namespace tc::cuda
