#include "tc/cpu/prefetch/prefetch_panels.h"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>

namespace tc::cpu::prefetch_panels_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Halide::MemoryType;
using ir::Stmt;

Expr k() { return ir::Variable::make(Halide::Int(32), "k"); }
Expr load(const char* buffer, const Expr& base, int lanes) {
  Expr index = ir::Ramp::make(base, 1, lanes);
  return ir::Load::make(Halide::Float(32, lanes), buffer, index, Halide::Buffer<>(), ir::Parameter(),
                        ir::const_true(lanes), ir::ModulusRemainder());
}
Stmt add(const char* sum, int place, const Expr& value) {
  int lanes = value.type().lanes();
  return ir::Store::make(sum, load(sum, place, lanes) + value, ir::Ramp::make(place, 1, lanes), ir::Parameter(),
                         ir::const_true(lanes), ir::ModulusRemainder());
}
Stmt allocate(const char* name, int size, MemoryType where, const Stmt& body) {
  return ir::Allocate::make(name, Halide::Float(32), where, {size}, ir::const_true(), body);
}

struct Nest {
  int trips = 512, size = 1 << 15, lanes = 16, step = 32;
  MemoryType panel = MemoryType::Heap, sums = MemoryType::Stack;
  bool bound_inside = false;            ///< the address of the panel is bound in each iteration
  int outer_trips = 0, outer_step = 0;  ///< of a loop around it
};

/// What is asked for in: for k { sum[0 ...] += panel[k*step ...]  sum[lanes ...] += panel[k*step + lanes ...] }
std::string requests(const Nest& nest, const PrefetchOptions& options = {}) {
  Expr place = ir::Variable::make(Halide::Int(32), "place");
  Expr outer = nest.outer_trips > 0 ? ir::Variable::make(Halide::Int(32), "j") * nest.outer_step : Expr(0);
  Expr row = (nest.bound_inside ? place : outer) + k() * nest.step;
  Stmt body = ir::Block::make(add("sum", 0, load("panel", row, nest.lanes)),
                              add("sum", nest.lanes, load("panel", row + nest.lanes, nest.lanes)));
  if (nest.bound_inside) body = ir::LetStmt::make("place", k() * 2, body);
  Stmt loop = ir::For::make("k", 0, nest.trips, ir::ForType::Serial, Halide::DeviceAPI::None, body);
  if (nest.outer_trips > 0)
    loop = ir::For::make("j", 0, nest.outer_trips, ir::ForType::Serial, Halide::DeviceAPI::None, loop);
  std::ostringstream text;
  text << prefetch_panels(allocate("panel", nest.size, nest.panel, allocate("sum", 32, nest.sums, loop)),
                          Target::parse("cpu:avx512,cores=1,l1=48k,l2=1m"), options);
  std::string all = text.str(), result;
  const std::regex call("tc_prefetch\\(panel, (.*)\\)\n");
  for (std::sregex_iterator it(all.begin(), all.end(), call), end; it != end; ++it) result += (*it)[1].str() + "; ";
  return result;
}

TEST(PrefetchPanels, AsksForEachLineOfALaterIteration) {
  EXPECT_EQ(requests({}), "int64(((k*32) + 256))*(int64)4; int64(((k*32) + 272))*(int64)4; ");
  EXPECT_EQ(requests({}, {2}), "int64(((k*32) + 64))*(int64)4; int64(((k*32) + 80))*(int64)4; ");
}

TEST(PrefetchPanels, AsksOnceForALineWithTwoVectors) {
  EXPECT_EQ(requests({.lanes = 8, .step = 16}), "int64(((k*16) + 128))*(int64)4; ");
}

TEST(PrefetchPanels, LeavesShortLoopsSmallBuffersAndVectorsThatStayInALine) {
  EXPECT_EQ(requests({.trips = 63}), "");
  EXPECT_EQ(requests({.size = 6 << 10}), "");
  EXPECT_NE(requests({.size = (6 << 10) + 1}), "");
  EXPECT_EQ(requests({.lanes = 4, .step = 8}), "");
}

TEST(PrefetchPanels, ShortLoopsAreLongWhereTheLoopAroundGoesOn) {
  EXPECT_NE(requests({.trips = 24, .outer_trips = 24, .outer_step = 24 * 32}), "");
  EXPECT_EQ(requests({.trips = 24, .outer_trips = 2, .outer_step = 24 * 32}), "");
  EXPECT_EQ(requests({.trips = 24, .outer_trips = 24, .outer_step = 32}), "");
}

TEST(PrefetchPanels, LeavesAddressesBoundInAnIteration) { EXPECT_EQ(requests({.bound_inside = true}), ""); }

TEST(PrefetchPanels, LeavesLoopsThatWriteMemoryAndReadRegisters) {
  EXPECT_EQ(requests({.sums = MemoryType::Heap}), "");
  EXPECT_EQ(requests({.panel = MemoryType::Stack}), "");
}

}  // namespace
}  // namespace tc::cpu::prefetch_panels_test
