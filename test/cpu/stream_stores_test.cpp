#include "tc/cpu/stmt/stream_stores.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tc/cpu/kernel.h"
#include "test/cpu/halide_statements.h"

namespace tc::cpu::stream_stores_test {
namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

/// for i { y = x, 16 lanes from 16 i + 16 on }
ir::Stmt copy() {
  const Expr at = vector(variable("i") * 16 + 16);
  return loop("i", 4, store("y", at, load("x", at)));
}

std::string streamed(const ir::Stmt& body) {
  std::ostringstream text;
  text << stream_stores(body, {"y"});
  return text.str();
}

bool is_changed(const ir::Stmt& body) { return streamed(body).find("y'streamed[") != std::string::npos; }

TEST(StreamStores, NamesWholeLinesOfTheTensors) {
  EXPECT_EQ(streamed(loop("i", 4, store("y", vector(variable("i")), load("x", vector(0))))),
            "let y'streamed = (void *)y\n"
            "for (i, 0, 4) {\n"
            " y'streamed[ramp(i, 1, 16)] = (float32x16)x[ramp(0, 1, 16)]\n"
            "}\n");
}

TEST(StreamStores, LeavesPartsOfLinesAndOtherTensors) {
  EXPECT_TRUE(is_changed(copy()));
  EXPECT_FALSE(is_changed(store("y", vector(0, 8), load("x", vector(0, 8)))));
  EXPECT_FALSE(is_changed(store("y", 0, load("x", 0))));
  EXPECT_FALSE(is_changed(store("z", vector(0), load("x", vector(0)))));
  EXPECT_FALSE(is_changed(store("y", ir::Ramp::make(0, 2, 16), load("x", vector(0)))));
  EXPECT_FALSE(is_changed(ir::Store::make("y", load("x", vector(0)), vector(0), ir::Parameter(),
                                          vector(variable("n")) < 7, ir::ModulusRemainder())));
}

/// Rows whose last vector is not whole: of three others each they stay in the caches, of sixty they pass by.
TEST(StreamStores, LeavesTensorsOfShortRows) {
  const auto rows = [](int vectors) {
    const Expr at = variable("r") * 1000 + variable("i") * 16;
    auto end = ir::Store::make("y", load("x", vector(0)), vector(variable("r") * 1000 + 16 * vectors), ir::Parameter(),
                               vector(0) < 7, ir::ModulusRemainder());
    return loop("r", 20, ir::Block::make(loop("i", vectors, store("y", vector(at), load("x", vector(at)))), end));
  };
  EXPECT_FALSE(is_changed(rows(3)));
  EXPECT_TRUE(is_changed(rows(60)));
}

TEST(StreamStores, GoPastTheCachesAndAreOrderedBeforeTheReturn) {
  const auto code = [](const ir::Stmt& body) {
    return disassemble(emit_prepared("f", body, {"x", "y"}, Target::parse("cpu:avx512,cores=1")));
  };
  const std::string text = code(stream_stores(copy(), {"y"}));
  EXPECT_NE(text.find("vmovntps"), std::string::npos) << text;
  EXPECT_NE(text.find("mfence"), std::string::npos) << text;
  EXPECT_EQ(code(copy()).find("vmovntps"), std::string::npos);
}

TEST(StreamStores, ReachTheirPlaceWhereverTheTensorBegins) {
  const Kernel kernel = load_kernel(emit_prepared("f", stream_stores(copy(), {"y"}), {"x", "y"}, Target::host()));
  alignas(64) float x[96], y[96];
  for (int i = 0; i < 96; ++i) x[i] = static_cast<float>(i);
  for (int shift : {0, 1, 15}) {
    std::fill(std::begin(y), std::end(y), -1.0F);
    void* buffers[] = {x, y + shift};
    ASSERT_EQ(kernel.function(buffers), 0);
    for (int i = 0; i < 80; ++i) EXPECT_EQ(y[i + shift], i < 16 ? -1 : x[i]) << shift << " " << i;
  }
}

}  // namespace
}  // namespace tc::cpu::stream_stores_test
