#include "tc/cpu/stmt/configure_tiles.h"

#include <gtest/gtest.h>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::configure_tiles_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;
using ir::Stmt;

Stmt configure(const Expr& rows) { return configure_call({rows, 0, 0, 0, 0, 0, 0, 0}, std::vector<Expr>(8, Expr(64))); }
Stmt work(const char* buffer) { return store(buffer, 0, load("x", variable("i"))); }
Stmt parallel(const Stmt& body) {
  return ir::For::make("p", 0, 4, ir::ForType::Parallel, Halide::DeviceAPI::None, body);
}

/// What is left of a statement when only loops, configurations (by their first number), releases and stores count.
std::string outline(const Stmt& body) {
  std::ostringstream printed;
  printed << configure_tiles_once(body);
  std::istringstream lines(printed.str());
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, std::regex(R"(tc_tile_configure\(\(uint64\)(\d+))")))
      result += "configure " + match[1].str() + "; ";
    else if (line.find("tc_tile_configure") != std::string::npos)
      result += "configure ?; ";
    else if (line.find("tc_tile_release") != std::string::npos)
      result += "release; ";
    else if (std::regex_search(line, match, std::regex(R"((for|parallel) \((\w))")))
      result += match[2].str() + ": ";
    else if (std::regex_search(line, match, std::regex(R"((\w)\[)")))
      result += match[1].str() + "; ";
  }
  return result;
}

TEST(ConfigureTiles, MovesTheOnlyConfigurationOutOfAllLoops) {
  auto body = loop("i", 8, ir::Block::make(work("a"), loop("j", 4, ir::Block::make(configure(16), work("b")))));
  EXPECT_EQ(outline(body), "configure 16; i: a; j: b; release; ");
}

TEST(ConfigureTiles, EqualConfigurationsAreOne) {
  auto tile = [](const char* buffer) { return ir::Block::make(configure(8), work(buffer)); };
  EXPECT_EQ(outline(loop("i", 8, ir::Block::make(tile("a"), tile("b")))), "configure 8; i: a; b; release; ");
}

TEST(ConfigureTiles, DifferentOnesStayBeforeWhatUsesThem) {
  auto body = loop("i", 8, ir::Block::make({configure(8), work("a"), work("b"), configure(4), work("c")}));
  EXPECT_EQ(outline(body), "i: configure 8; a; b; release; configure 4; c; release; ");
}

TEST(ConfigureTiles, StaysWithinAThread) {
  EXPECT_EQ(outline(parallel(loop("i", 8, ir::Block::make(configure(16), work("a"))))),
            "p: configure 16; i: a; release; ");
}

TEST(ConfigureTiles, OneThatDependsOnALoopStaysInIt) {
  auto rows = Halide::min(variable("i"), 16);
  EXPECT_EQ(outline(loop("i", 8, ir::Block::make(configure(rows), work("a")))), "i: configure ?; a; release; ");
}

TEST(ConfigureTiles, LeavesStatementsWithoutTiles) {
  auto body = loop("i", 8, work("a"));
  EXPECT_TRUE(configure_tiles_once(body).same_as(body));
}

TEST(ConfigureTiles, PacksRowsInBytesAndBytesInPairs) {
  std::vector<Expr> rows = {1, 2, 3, 4, 5, 6, 7, 8}, bytes = {64, 60, 56, 52, 48, 44, 40, 36};
  Stmt made = configure_call(rows, bytes);
  const auto* call = made.as<ir::Evaluate>()->value.as<ir::Call>();
  ASSERT_EQ(call->args.size(), 3u);
  EXPECT_EQ(*ir::as_const_uint(call->args[0]), 0x0807060504030201u);
  EXPECT_EQ(*ir::as_const_uint(call->args[1]), 0x00340038003c0040u);
  EXPECT_EQ(*ir::as_const_uint(call->args[2]), 0x00240028002c0030u);
}

}  // namespace
}  // namespace tc::cpu::configure_tiles_test
