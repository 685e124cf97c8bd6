#include "tc/cpu/stmt/launder_buffers.h"

#include <gtest/gtest.h>

#include <sstream>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::launder_buffers_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using Halide::MemoryType;

/// A loop over i in [\p first, first + 8) that stores 0 at \p index of the buffer x.
ir::Stmt loop(const Expr& index, int first = 0, MemoryType memory = MemoryType::Stack) {
  ir::Stmt store = ir::Store::make("x", ir::make_zero(index.type()), index, ir::Parameter(),
                                   ir::const_true(index.type().lanes()), ir::ModulusRemainder());
  ir::Stmt loop = ir::For::make("i", first, 8, ir::ForType::Serial, Halide::DeviceAPI::None, store);
  return ir::Allocate::make("x", Halide::Int(32), memory, {64}, ir::const_true(), loop);
}

bool is_laundered(const ir::Stmt& body) {
  std::ostringstream text;
  text << launder_buffers(body);
  bool called = text.str().find("tc_launder(x)") != std::string::npos;
  EXPECT_EQ(called, text.str().find("x'laundered[") != std::string::npos) << text.str();
  EXPECT_EQ(called, text.str().find("\n x[") == std::string::npos) << text.str();
  return called;
}

TEST(LaunderBuffers, LeavesSumsOfPartsThatAreNotNegative) {
  Expr i = variable("i");
  EXPECT_FALSE(is_laundered(loop(7)));
  EXPECT_FALSE(is_laundered(loop(i * 4 + 16)));
  EXPECT_FALSE(is_laundered(loop(ir::Ramp::make(i * 4 + 16, 1, 4))));
  EXPECT_FALSE(is_laundered(loop(Halide::max(i - 3, 0) + 1)));
}

TEST(LaunderBuffers, HidesWhatPartOfASumMayFallBelow) {
  Expr i = variable("i");
  EXPECT_TRUE(is_laundered(loop(Halide::max(i - 3, -1) * 8 + 8)));
  EXPECT_TRUE(is_laundered(loop(ir::Ramp::make(Halide::max(i - 3, -1) * 8 + 8, 1, 4))));
  EXPECT_TRUE(is_laundered(loop(i * 4 + 16, -4)));
  EXPECT_TRUE(is_laundered(loop(ir::Add::make(i * 4, -4), 1)));
  EXPECT_TRUE(is_laundered(loop(variable("anything") + 4)));
}

TEST(LaunderBuffers, LeavesBuffersWhoseSizeIsNotKnown) {
  EXPECT_FALSE(is_laundered(loop(variable("i") * 4 + 16, -4, MemoryType::Heap)));
}

}  // namespace
}  // namespace tc::cpu::launder_buffers_test
