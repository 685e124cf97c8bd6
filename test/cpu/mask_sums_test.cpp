#include "tc/cpu/stmt/mask_sums.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tc/halide_bridge/stmt/strict.h"

namespace tc::cpu {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using halide_bridge::strict;

const Halide::Type floats = Halide::Float(32, 4);
const Expr lanes = ir::Ramp::make(0, 1, 4);

Expr load(const std::string& name, const Expr& index = lanes) {
  return ir::Load::make(floats, name, index, Halide::Buffer<>(), ir::Parameter(), ir::const_true(4),
                        ir::ModulusRemainder());
}
Expr zeros() { return ir::Broadcast::make(ir::FloatImm::make(Halide::Float(32), 0), 4); }

/// The pass behind `acc[lanes] = value`.
std::string masked(const Expr& value) {
  std::ostringstream text;
  text << mask_sums(
      ir::Store::make("acc", strict(value), lanes, ir::Parameter(), ir::const_true(4), ir::ModulusRemainder()));
  return text.str();
}

const Expr mask = ir::LT::make(lanes, ir::Broadcast::make(3, 4));

TEST(MaskSums, LanesThatAddNothingKeepTheirSums) {
  EXPECT_EQ(masked(load("acc") + ir::Select::make(mask, load("x") * load("y"), zeros())),
            masked(ir::Select::make(mask, load("acc") + load("x") * load("y"), load("acc"))));
}

TEST(MaskSums, NamesOfConditionsStayAroundThem) {
  const Expr name = ir::Variable::make(mask.type(), "m");
  EXPECT_EQ(masked(load("acc") + ir::Let::make("m", mask, ir::Select::make(name, load("x"), zeros()))),
            masked(ir::Let::make("m", mask, ir::Select::make(name, load("acc") + load("x"), load("acc")))));
}

TEST(MaskSums, LeavesOthersAlone) {
  const Expr one = ir::Broadcast::make(ir::FloatImm::make(Halide::Float(32), 1), 4);
  for (const Expr& value :
       {load("acc") + ir::Select::make(mask, load("x"), one), load("x") + ir::Select::make(mask, load("y"), zeros()),
        load("acc", lanes + ir::Broadcast::make(4, 4)) + ir::Select::make(mask, load("x"), zeros()),
        load("acc") * ir::Select::make(mask, load("x"), zeros())}) {
    std::ostringstream before;
    before << Expr(strict(value));
    EXPECT_NE(masked(value).find(before.str()), std::string::npos) << masked(value);
  }
}

}  // namespace
}  // namespace tc::cpu
