#include "tc/cpu/stmt/scan_lanes.h"

#include <gtest/gtest.h>

#include <sstream>

#include "test/cpu/halide_statements.h"

namespace tc::cpu::scan_lanes_test {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;
using ir::Stmt;

/// for i in 1:extent: S[at] = S[before] + term
Stmt running(const Expr& at, const Expr& before, const Expr& term, const Expr& extent = 99) {
  const auto body = store("S", at, load("S", before) + term);
  return ir::For::make("i", 1, extent, ir::ForType::Serial, Halide::DeviceAPI::None, body);
}

/// The loops of \p stmt with their extents and the lanes that their stores have at most: "15 x 1, 5 x 16, 4 x 1".
class Loops : public ir::IRVisitor {
 public:
  explicit Loops(const Stmt& stmt) { stmt.accept(this); }
  std::string text() const { return text_; }

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::For* op) override {
    lanes_ = 0;
    ir::IRVisitor::visit(op);
    std::ostringstream extent;
    extent << op->extent;
    text_ += (text_.empty() ? "" : ", ") + extent.str() + " x " + std::to_string(lanes_);
  }
  void visit(const ir::Store* op) override { lanes_ = std::max(lanes_, op->value.type().lanes()); }
  std::string text_;
  int lanes_ = 0;
};

std::string scanned(const Stmt& stmt, const char* target = "cpu:avx512", const char* tensor = "S") {
  return Loops(scan_lanes(stmt, {tensor}, Target::parse(target))).text();
}

const Expr i = variable("i");

TEST(ScanLanes, VectorsBeginAtMultiplesOfTheirLanes) {
  const auto sum = running(i, i - 1, load("X", i));
  EXPECT_EQ(scanned(sum), "15 x 1, 5 x 16, 4 x 1");
  EXPECT_EQ(scanned(sum, "cpu:avx2"), "7 x 1, 11 x 8, 4 x 1");
  EXPECT_EQ(scanned(running(i + 100, i + 99, load("X", i * 2))), "15 x 1, 5 x 16, 4 x 1");
  EXPECT_EQ(scanned(running(200 - i, 201 - i, load("X", 200 - i))), "15 x 1, 5 x 16, 4 x 1");
}

TEST(ScanLanes, OtherLoopsStay) {
  const auto sum = running(i, i - 1, load("X", i));
  EXPECT_EQ(scanned(sum, "cpu:avx512", "T"), "99 x 1") << "it may not be reassociated";
  EXPECT_EQ(scanned(running(i, i - 1, load("X", i), 20)), "20 x 1") << "it is short";
  EXPECT_EQ(scanned(running(i, i - 2, load("X", i))), "99 x 1") << "two chains";
  EXPECT_EQ(scanned(running(i * 2, i * 2 - 2, load("X", i))), "99 x 1") << "results are apart";
  EXPECT_EQ(scanned(running(i, i - 1, load("S", i + 200))), "99 x 1") << "the term reads the tensor";
  EXPECT_EQ(scanned(running(i, i - 1, load("X", load_int("P", i)))), "99 x 1") << "the term reads through indices";
  const auto halved = ir::For::make("i", 1, 99, ir::ForType::Serial, Halide::DeviceAPI::None,
                                    store("S", i, load("S", i - 1) * 0.5f + load("X", i)));
  EXPECT_EQ(scanned(halved), "99 x 1") << "a recurrence";
}

TEST(ScanLanes, ExtentsThatARunTells) {
  const auto text = scanned(running(i, i - 1, load("X", i), variable("N")));
  EXPECT_NE(text.find("x 16"), std::string::npos) << text;
}

}  // namespace
}  // namespace tc::cpu::scan_lanes_test
