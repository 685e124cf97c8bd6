#include "tc/layout/rewrite/propagate.h"

#include <gtest/gtest.h>

#include "tc/lang/syntax/print.h"
#include "test/layout/layout_fixture.h"

namespace tc::test {
namespace {

using layout::Propagation;

const char* const layer =
    "def layer(float(N,C,H,W) X, float(O,C,R,S) K, float(O) b) -> (Y) {"
    " P(n,c,h,w) = h >= 1 && h <= H && w >= 1 && w <= W ? X(n,c,h-1,w-1) : 0 where h in 0:H+2, w in 0:W+2"
    " Z(n,o,h,w) +=! P(n,c,h+r,w+s) * K(o,c,r,s)  B(n,o,h,w) = Z(n,o,h,w) + b(o)  Y(n,o,h,w) = fmax(B(n,o,h,w), 0) }";
const lang::SizeMap sizes = {{"N", 1}, {"C", 4}, {"H", 6}, {"W", 6}, {"O", 8}, {"R", 3}, {"S", 3}};

std::map<std::string, std::string> propagated(const std::string& text, const lang::SizeMap& sizes,
                                              const std::map<std::string, std::string>& layouts, Propagation how) {
  const SizedDef def = sized_def(text, sizes);
  const auto all = layout::propagate(def.function, sizes, layouts_of(layouts), how);
  EXPECT_EQ(compare_layouts(def, all, 5), "");
  std::map<std::string, std::string> texts;
  for (const auto& [name, one] : all.of) texts[name] = to_string(one);
  return texts;
}

/// Convolution, bias and ReLU run over the same loops: no division is left, and no conversion is needed. The padding of the image,
/// which the convolution reads in windows, keeps its layout.
TEST(Propagate, AlongElementWiseStatements) {
  const std::string blocked = "split(1, 4) reorder(0, 1, 3, 4, 2)";
  const std::map<std::string, std::string> want = {{"Y", blocked}, {"B", blocked}, {"Z", blocked}};
  EXPECT_EQ(propagated(layer, sizes, {{"Y", blocked}}, Propagation::ElementWise), want);
  EXPECT_EQ(propagated(layer, sizes, {{"Z", blocked}, {"Y", blocked}}, Propagation::ElementWise), want);
  const SizedDef def = sized_def(layer, sizes);
  const auto made =
      layout::apply_layouts(def.function, sizes, layout::propagate(def.function, sizes, layouts_of({{"Y", blocked}})));
  const std::string loops = " where n in 0:1, oo in 0:2, h in 0:6, w in 0:6, oi in 0:4";
  EXPECT_EQ(lang::print(made.def().statements[3]), "Y(n, oo, h, w, oi) = fmax(B(n, oo, h, w, oi), 0)" + loops);
  EXPECT_EQ(lang::print(made.def().statements[2]), "B(n, oo, h, w, oi) = Z(n, oo, h, w, oi) + b(4 * oo + oi)" + loops);
}

/// Elements that are stored several times, or apart, are not stored so everywhere.
TEST(Propagate, NotOfUnfoldedTensors) {
  EXPECT_EQ(propagated(layer, sizes, {{"P", "unfold(2,4,2)"}}, Propagation::ElementWise).size(), 1u);
  EXPECT_EQ(propagated(layer, sizes, {{"Z", "pad(3,0,2)"}}, Propagation::ElementWise).size(), 1u);
}

/// Two convolutions in a row, each with a layout of its result: what is between them follows the first, up to the second's padding.
TEST(Propagate, EachConvolutionHasItsOwnPart) {
  const std::string two =
      "def f(float(N,C,H,W) X, float(C,C,R,S) K, float(C,C,R,S) L) -> (Y) {"
      " Z(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s)  A(n,o,h,w) = fmax(Z(n,o,h,w), 0)"
      " U(n,o,h,w) +=! A(n,c,h+r,w+s) * L(o,c,r,s)  B(n,o,h,w) = U(n,o,h,w) + 1  Y(n,o,h,w) = B(n,o,h,w) }";
  const lang::SizeMap small = {{"N", 1}, {"C", 4}, {"H", 8}, {"W", 8}, {"R", 3}, {"S", 3}};
  const std::string blocked = "split(1, 2) reorder(0, 1, 3, 4, 2)", last = "reorder(0, 2, 3, 1)";
  const std::map<std::string, std::string> want = {{"Z", blocked}, {"A", blocked}, {"U", last}, {"B", last}};
  EXPECT_EQ(propagated(two, small, {{"Z", blocked}, {"U", last}}, Propagation::ElementWise), want);
  EXPECT_EQ(propagated(two, small, {{"A", blocked}, {"B", last}}, Propagation::ElementWise), want);
}

/// The caller's tensors, and other layouts, are left alone.
TEST(Propagate, NotToParametersAndReturns) {
  const std::string text =
      "def f(float(M,N) X, float(M,N) Z) -> (Y) { A(i,j) = X(i,j) + Z(i,j)  B(i,j) = A(i,j) * 2  Y(i,j) = B(i,j) }";
  const auto all =
      propagated(text, {{"M", 3}, {"N", 5}}, {{"A", "split(1, 2)"}, {"B", "reorder(1, 0)"}}, Propagation::ElementWise);
  EXPECT_EQ(all.size(), 2u);
  const auto two =
      propagated(text, {{"M", 3}, {"N", 5}}, {{"X", "split(1, 2)"}, {"Z", "split(0, 2)"}}, Propagation::ElementWise);
  EXPECT_EQ(two.at("A"), "split(1, 2)");
  EXPECT_EQ(two.at("B"), "split(1, 2)");
  EXPECT_EQ(two.count("Y"), 0u);
}

/// The loops of each statement of \p text in \p layouts.
std::vector<std::string> loops_of(const std::string& text, const lang::SizeMap& sizes, const layout::Layouts& layouts) {
  const SizedDef def = sized_def(text, sizes);
  EXPECT_EQ(compare_layouts(def, layouts, 6), "");
  std::vector<std::string> result;
  const auto made = layout::apply_layouts(def.function, sizes, layouts);
  for (const auto& statement : made.def().statements) {
    const auto printed = lang::print(statement);
    result.push_back(printed.substr(0, printed.find(')') + 1));
  }
  return result;
}

/// The variants of ALT's ablation: with propagation the convolution, bias and ReLU run over the same loops; without it, the layout
/// of the convolution's result alone (ALT-WP) needs no conversion either, but the statements behind it run over others; a layout
/// that nobody else may see needs a conversion.
TEST(Propagate, AlignsLoopsWhichReadingInPlaceDoesNot) {
  const std::string tiled = "split(2, 4) reorder(0, 2, 4, 1, 3)";
  const SizedDef def = sized_def(layer, sizes);
  const auto aligned =
      loops_of(layer, sizes, layout::propagate(def.function, sizes, layouts_of({{"Z", tiled}, {"Y", tiled}})));
  EXPECT_EQ(aligned, (std::vector<std::string>{"P(n, c, h, w)", "Z(n, ho, w, o, hi)", "B(n, ho, w, o, hi)",
                                               "Y(n, ho, w, o, hi)"}));
  const auto apart = loops_of(layer, sizes, layouts_of({{"Z", tiled}}));
  EXPECT_EQ(apart, (std::vector<std::string>{"P(n, c, h, w)", "Z(n, ho, w, o, hi)", "B(n, o, h, w)", "Y(n, o, h, w)"}));
  const auto converted = layout::conversion(DType::Float32, {1, 8, 6, 6}, layout::parse_layout(tiled), {});
  EXPECT_EQ(converted.def().statements.size(), 1u);
}

/// Of F(P, Q) both operands get what the result has; where both operands have one, the result takes the first's.
TEST(Propagate, OfTwoOperands) {
  const std::string text =
      "def f(float(M,N) X) -> (Y) { P(i,j) = X(i,j) + 1  Q(i,j) = X(i,j) * 2  A(i,j) = P(i,j) - Q(i,j)  Y(i,j) = "
      "A(i,j) }";
  const lang::SizeMap sizes = {{"M", 3}, {"N", 5}};
  const auto from_result = propagated(text, sizes, {{"A", "split(1, 2)"}}, Propagation::ElementWise);
  EXPECT_EQ(from_result.at("P"), "split(1, 2)");
  EXPECT_EQ(from_result.at("Q"), "split(1, 2)");
  const auto from_operands =
      propagated(text, sizes, {{"P", "split(1, 2)"}, {"Q", "reorder(1, 0)"}}, Propagation::ElementWise);
  EXPECT_EQ(from_operands.at("A"), "split(1, 2)");
  EXPECT_EQ(from_operands.at("Q"), "reorder(1, 0)");
}

TEST(Propagate, ThroughATransposition) {
  const std::string text = "def f(float(M,N) X) -> (Y) { A(i,j) = X(i,j) + 1  T(j,i) = A(i,j) * 2  Y(j,i) = T(j,i) }";
  const lang::SizeMap sizes = {{"M", 3}, {"N", 5}};
  const auto plain = propagated(text, sizes, {{"X", "split(1, 2)"}}, Propagation::ElementWise);
  EXPECT_EQ(plain.count("T"), 0u);
  const auto permuted = propagated(text, sizes, {{"X", "split(1, 2)"}}, Propagation::Permuted);
  EXPECT_EQ(permuted.at("T"), "reorder(1, 0) split(1, 2)");
}

}  // namespace
}  // namespace tc::test
