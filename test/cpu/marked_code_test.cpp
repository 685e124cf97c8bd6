#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_fixture.h"
#include "tc/cpu/kernel.h"
#include "tc/cpu/marked/marked_nest.h"
#include "tc/cpu/marked_assembly.h"

namespace tc::cpu::marked_code_test {
namespace {

namespace ir = Halide::Internal;

Halide::Expr element(const std::string& buffer) {
  return ir::Load::make(Halide::Float(32), buffer, Halide::Expr(ir::Variable::make(Halide::Int(32), "i")),
                        Halide::Buffer<>(), ir::Parameter(), ir::const_true(), ir::ModulusRemainder());
}

ir::Stmt store(const std::string& buffer, const Halide::Expr& value) {
  return ir::Store::make(buffer, value, ir::Variable::make(Halide::Int(32), "i"), ir::Parameter(), ir::const_true(),
                         ir::ModulusRemainder());
}

/// S0: C[i] = A[i] + 1; S1: D[i] = B[i] * 2, in a loop.
ir::Stmt two_statements() {
  return ir::For::make("i", 0, 1000, ir::ForType::Serial, Halide::DeviceAPI::None,
                       ir::Block::make(store("C", element("A") + 1.0f), store("D", element("B") * 2.0f)));
}

const std::vector<BufferUse> uses = {{{"S0"}, "C", {"A"}}, {{"S1"}, "D", {"B"}}};

TEST(MarkedNest, LinesHaveTheirStatements) {
  const auto lines = marked_nest(two_statements(), uses);
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0].statements, (std::set<std::string>{"S0", "S1"})) << lines[0].text;
  EXPECT_EQ(lines[1].statements, std::set<std::string>{"S0"}) << lines[1].text;
  EXPECT_EQ(lines[2].statements, std::set<std::string>{"S1"}) << lines[2].text;
}

TEST(MarkedAssembly, IsTheCodeThatRunsWithStatements) {
  const std::vector<std::string> buffers = {"A", "B", "C", "D"};
  const auto target = Target::parse("cpu:avx2");
  const auto lines = marked_assembly("f", two_statements(), buffers, target, uses);
  std::string text;
  for (const auto& line : lines) text += line.text + "\n";
  EXPECT_EQ(text, disassemble(emit_prepared("f", two_statements(), buffers, target)));
  const auto one = [&](const std::string& mnemonic, const std::string& statement) {
    return std::any_of(lines.begin(), lines.end(), [&](const auto& line) {
      return line.text.find(mnemonic) != std::string::npos && line.statements == std::set<std::string>{statement};
    });
  };
  EXPECT_TRUE(one("vaddss", "S0")) << text;
  EXPECT_TRUE(one("vmovss", "S1")) << text;
}

}  // namespace
}  // namespace tc::cpu::marked_code_test
