#include "tc/halide_bridge/stmt/flatten.h"

#include <gtest/gtest.h>

#include "tc/halide_bridge/stmt/function_call.h"
#include "tc/halide_bridge/stmt/value_name.h"

namespace tc::halide_bridge {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

Stmt store(int value) {
  return ir::Store::make("x", value, 0, ir::Parameter(), ir::const_true(), ir::ModulusRemainder());
}
Stmt loop(const Stmt& body) { return ir::For::make("i", 0, 4, ir::ForType::Serial, Halide::DeviceAPI::None, body); }

TEST(Flatten, GivesThePartsOfNestedBlocksInOrder) {
  Stmt a = store(1), b = store(2), c = store(3), inner = loop(ir::Block::make(store(4), store(5)));
  std::vector<Stmt> parts = {store(0)};
  flatten(ir::Block::make(ir::Block::make(a, b), ir::Block::make(c, inner)), parts);
  ASSERT_EQ(parts.size(), 5u);
  EXPECT_TRUE(parts[1].same_as(a) && parts[2].same_as(b) && parts[3].same_as(c));
  EXPECT_TRUE(parts[4].same_as(inner)) << "what is in a loop stays there";
}

TEST(Flatten, AStatementThatIsNoBlockIsOnePart) {
  Stmt only = loop(store(1));
  std::vector<Stmt> parts;
  flatten(only, parts);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_TRUE(parts[0].same_as(only));
}

TEST(FunctionCall, IsMadeForItsEffect) {
  auto stmt = function_call("tc_tile_release", {Expr(1)});
  const auto* evaluate = stmt.as<ir::Evaluate>();
  ASSERT_TRUE(evaluate);
  const auto* call = evaluate->value.as<ir::Call>();
  ASSERT_TRUE(call);
  EXPECT_EQ(call->name, "tc_tile_release");
  EXPECT_EQ(call->args.size(), 1u);
  EXPECT_FALSE(call->is_pure());
}

TEST(ValueName, IsNewAndNoNameOfATensor) {
  std::string first = value_name("row"), second = value_name("row"), of_value = value_name(first);
  EXPECT_NE(first, second);
  EXPECT_NE(of_value, first);
  for (const auto& name : {first, second, of_value}) EXPECT_NE(name.find('.'), std::string::npos) << name;
  EXPECT_EQ(of_value.find(".value", of_value.find(".value") + 1), std::string::npos) << of_value;
}

}  // namespace
}  // namespace tc::halide_bridge
