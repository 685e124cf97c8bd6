#include "tc/layout/rewrite/apply.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"
#include "test/layout/layout_fixture.h"
#include "test/support/expect_error.h"

namespace tc::test {
namespace {

using TextMap = std::map<std::string, std::string>;

const char* const conv =
    "def conv(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,h+r,w+s) * K(o,c,r,s) }";
const char* const avgpool =
    "def avgpool(float(N,C,H,W) I) -> (O) {"
    " O(n,c,h,w) +=! I(n,c,2*h+kh,2*w+kw) * 0.25 where kh in 0:2, kw in 0:2 }";

/// Empty if \p text computes the same in \p layouts.
std::string compare(const std::string& text, const lang::SizeMap& sizes, const TextMap& layouts) {
  return compare_layouts(sized_def(text, sizes), layouts_of(layouts), 3);
}

TEST(ApplyLayouts, LoopsFollowTheOutput) {
  EXPECT_EQ(laid_out_text("def f(float(N,C) X) -> (Y) { Y(n,c) = X(n,c) * 2 }", {{"N", 4}, {"C", 20}},
                          {{"X", "split(1,16)"}, {"Y", "split(1,16)"}}),
            "Y(n, co, ci) = X(n, co, ci) * 2 where n in 0:4, co in 0:2, ci in 0:16\n");
  EXPECT_EQ(laid_out_text(conv, {{"N", 1}, {"C", 32}, {"H", 58}, {"W", 58}, {"O", 64}, {"R", 3}, {"S", 3}},
                          {{"X", "NCHW16c"}, {"K", "OIhw16i16o"}, {"Y", "NCHW16c"}}),
            "Y(n, oo, h, w, oi) +=! X(n, co, h + r, w + s, ci) * K(oo, co, r, s, ci, oi) where n in 0:1, oo in 0:4, h "
            "in 0:56, "
            "w in 0:56, oi in 0:16, co in 0:2, ci in 0:16, r in 0:3, s in 0:3\n");
}

TEST(ApplyLayouts, DivisionsAreLeftWhereLayoutsDoNotFit) {
  EXPECT_EQ(laid_out_text("def f(float(N,C) X) -> (Y) { Y(n,c) = X(n,c) * 2 }", {{"N", 4}, {"C", 32}},
                          {{"X", "split(1,16)"}}),
            "Y(n, c) = X(n, c / 16, c % 16) * 2 where n in 0:4, c in 0:32\n");
  EXPECT_EQ(laid_out_text("def f(float(N,C) X) -> (Y) { Y(n,c) = X(n,c) * 2 }", {{"N", 4}, {"C", 32}},
                          {{"X", "split(1,16)"}, {"Y", "split(1,4)"}}),
            "Y(n, co, ci) = X(n, co / 4, 4 * (co % 4) + ci) * 2 where n in 0:4, co in 0:8, ci in 0:4\n");
}

TEST(ApplyLayouts, PartialBlocks) {
  const std::string text = "def f(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }";
  const lang::SizeMap sizes = {{"N", 3}, {"C", 20}, {"K", 20}};
  const TextMap open = {{"X", "split(1,16)"}, {"W", "split(0,16) split(2,16) reorder(0,2,3,1)"}, {"Y", "split(1,16)"}};
  EXPECT_EQ(laid_out_text(text, sizes, open),
            "Y(n, ko, ki) +=! 16 * ko + ki < 20 && 16 * co + ci < 20 ? X(n, co, ci) * W(ko, co, ci, ki) : 0 where "
            "n in 0:3, ko in 0:2, ki in 0:16, co in 0:2, ci in 0:16\n");
  EXPECT_EQ(compare(text, sizes, open), "");
  const TextMap zeros = {{"X", "split(1,16) fill(zero)"},
                         {"W", "split(0,16) split(2,16) reorder(0,2,3,1) fill(zero)"},
                         {"Y", "split(1,16)"}};
  EXPECT_EQ(laid_out_text(text, sizes, zeros),
            "Y(n, ko, ki) +=! X(n, co, ci) * W(ko, co, ci, ki) where n in 0:3, ko in 0:2, ki in 0:16, co in 0:2, ci in "
            "0:16\n");
  EXPECT_EQ(compare(text, sizes, zeros), "");
  EXPECT_EQ(compare(text, sizes, {{"X", "split(1,16) fill(zero)"}, {"W", "split(1,16)"}}), "");
  EXPECT_EQ(compare(text, sizes, {{"Y", "split(1,16) fill(zero)"}}), "");
}

/// The same source in four layouts of its argument and its result, with and without holes.
TEST(ApplyLayouts, PoolingInFourLayouts) {
  for (const std::int64_t channels : {64, 20, 3})
    for (const std::string from : {"NCHW", "NHWC", "nChw8c", "nChw16c"})
      for (const std::string to : {"NCHW", "NHWC", "nChw8c", "nChw16c"})
        EXPECT_EQ(compare(avgpool, {{"N", 1}, {"C", channels}, {"H", 6}, {"W", 8}}, {{"I", from}, {"O", to}}), "")
            << from << " " << to << " " << channels;
}

TEST(ApplyLayouts, OverlappedTiles) {
  const lang::SizeMap sizes = {{"N", 1}, {"C", 6}, {"H", 10}, {"W", 10}, {"O", 8}, {"R", 3}, {"S", 3}};
  const TextMap tiles = {{"X", "split(1,3) unfold(3,6,4) unfold(5,6,4) reorder(0,3,5,1,4,6,2)"},
                         {"K", "split(0,4) split(2,3) reorder(0,2,4,5,3,1)"},
                         {"Y", "split(1,4) split(3,4) split(5,4) reorder(0,3,5,1,4,6,2)"}};
  EXPECT_EQ(
      laid_out_text(conv, sizes, tiles),
      "Y(n, ho, wo, oo, hi, wi, oi) +=! X(n, ho, wo, co, hi + r, wi + s, ci) * K(oo, co, r, s, ci, oi) where n in 0:1, "
      "ho "
      "in 0:2, wo in 0:2, oo in 0:2, hi in 0:4, wi in 0:4, oi in 0:4, co in 0:2, ci in 0:3, r in 0:3, s in 0:3\n");
  EXPECT_EQ(compare(conv, sizes, tiles), "");
  EXPECT_EQ(compare(conv, sizes, {{"X", "unfold(2,6,4) unfold(4,6,4)"}}), "");
  EXPECT_EQ(compare(conv, sizes, {{"X", "unfold(2,3,2)"}}), "");
  const lang::SizeMap uneven = {{"N", 1}, {"C", 2}, {"H", 11}, {"W", 9}, {"O", 3}, {"R", 3}, {"S", 3}};
  EXPECT_EQ(compare(conv, uneven, {{"X", "unfold(2,6,4)"}, {"Y", "split(2,4)"}}), "");
}

/// The first layer of ResNet-18: tiles of 4 x 16 results read windows of 13 x 37 elements.
TEST(ApplyLayouts, TilesOfAStridedConvolution) {
  const std::string stem =
      "def stem(float(N,C,H,W) X, float(O,C,R,S) K) -> (Y) { Y(n,o,h,w) +=! X(n,c,2*h+r,2*w+s) * K(o,c,r,s) }";
  EXPECT_EQ(laid_out_text(stem, {{"N", 1}, {"C", 3}, {"H", 230}, {"W", 230}, {"O", 64}, {"R", 7}, {"S", 7}},
                          {{"X", "unfold(2,13,8) unfold(4,37,32) reorder(0,2,4,1,3,5)"},
                           {"Y", "split(1,16) split(3,4) split(5,16) reorder(0,3,5,1,4,6,2)"}}),
            "Y(n, ho, wo, oo, hi, wi, oi) +=! X(n, ho, wo, c, 2 * hi + r, 2 * wi + s) * K(16 * oo + oi, c, r, s) where "
            "n in 0:1, "
            "ho in 0:28, wo in 0:7, oo in 0:4, hi in 0:4, wi in 0:16, oi in 0:16, c in 0:3, r in 0:7, s in 0:7\n");
}

TEST(ApplyLayouts, AProducerWritesAllCopies) {
  const std::string text = "def f(float(N) X) -> (T, Y) { T(i) = X(i) + 1  Y(i) +=! T(i + k) where k in 0:3 }";
  EXPECT_EQ(laid_out_text(text, {{"N", 10}}, {{"T", "unfold(0,4,2)"}, {"Y", "split(0,2)"}}),
            "T(io, ii) = X(2 * io + ii) + 1 where io in 0:4, ii in 0:4\n"
            "Y(io, ii) +=! T(io, ii + k) where io in 0:4, ii in 0:2, k in 0:3\n");
  EXPECT_EQ(compare(text, {{"N", 10}}, {{"T", "unfold(0,4,2)"}, {"Y", "split(0,2)"}}), "");
  EXPECT_EQ(compare(text, {{"N", 11}}, {{"T", "unfold(0,4,3) fill(zero)"}, {"Y", "pad(0,1,2) fill(zero)"}}), "");
}

TEST(ApplyLayouts, GuardsOfTheTextStay) {
  const std::string padded =
      "def f(float(C,H) X, float(O,C,R) K) -> (Y) {"
      " Y(o,h) +=! (h + r >= 1 && h + r <= H ? X(c,h+r-1) : 0) * K(o,c,r) where h in 0:H }";
  const lang::SizeMap sizes = {{"C", 5}, {"H", 12}, {"O", 6}, {"R", 3}};
  for (const std::string x : {"reorder(1,0)", "split(0,4) reorder(0,2,1)", "split(1,4)", "pad(1,1,1)", "fuse(0,1)"})
    for (const std::string y : {"identity", "reorder(1,0)", "split(0,4)", "split(1,4) reorder(1,0,2)"})
      EXPECT_EQ(compare(padded, sizes, {{"X", x}, {"Y", y}}), "") << x << " " << y;
}

TEST(ApplyLayouts, StatementsThatAssignAgain) {
  const std::string parts =
      "def f(float(N) X) -> (Y) { Y(i) = X(i) * 2  Y(i) = X(i) + 1 where i in 3:7  Y(i) += X(i) where i in 1:9"
      "  Y(i) max= X(i) where i in 2:5  Y(i) *= X(i) where i in 0:4 }";
  for (const std::string y : {"split(0,4)", "split(0,4) fill(zero)", "pad(0,2,1)", "unfold(0,4,3)"})
    EXPECT_EQ(compare(parts, {{"N", 10}}, {{"Y", y}}), "") << y;
  const std::string begins = "def f(float(N) X) -> (Y) { T(i) = X(i - 2) where i in 2:8  Y(i) = T(i + 1) + T(i) }";
  EXPECT_EQ(compare(begins, {{"N", 10}}, {{"T", "split(0,4)"}, {"Y", "split(0,2)"}}), "");
  EXPECT_EQ(
      compare("def f(float(N) X) -> (Y) { Y(i) += X(i) }", {{"N", 10}}, {{"X", "split(0,4)"}, {"Y", "split(0,4)"}}),
      "");
}

TEST(ApplyLayouts, OtherReductionsAndTypes) {
  const std::string text =
      "def f(float(N,C) X, int32(N,C) Z, bool(N,C) B) -> (A, M, P, E, G) {"
      " A(n) max=! X(n,c)  M(n) min=! Z(n,c)  P(n) *=! Z(n,c)  E(n) &&=! B(n,c)  G(n) ||=! B(n,c) }";
  for (const std::string layout : {"split(1,4)", "split(1,4) split(0,2)", "fuse(0,1)", "split(1,2,2) reorder(1,0,2,3)"})
    EXPECT_EQ(compare(text, {{"N", 3}, {"C", 6}},
                      {{"X", layout},
                       {"Z", layout},
                       {"B", layout},
                       {"A", "split(0,2)"},
                       {"M", "split(0,2) fill(zero)"},
                       {"P", "split(0,2)"},
                       {"E", "split(0,2)"},
                       {"G", "split(0,2) fill(zero)"}}),
              "")
        << layout;
}

TEST(ApplyLayouts, HolesOfBools) {
  const std::string text = "def f(float(N) X) -> (Y, Z) { Y(i) = X(i) > 0  Z(i) = Y(i) && !(X(i) > 2) }";
  EXPECT_EQ(compare(text, {{"N", 7}}, {{"X", "split(0,4)"}, {"Y", "split(0,4) fill(zero)"}, {"Z", "split(0,2)"}}), "");
}

TEST(ApplyLayouts, IteratorsAsValuesAndGathers) {
  EXPECT_EQ(compare("def f(float(N) X) -> (Y) { Y(i) = X(i) * i + X.0 }", {{"N", 7}},
                    {{"X", "split(0,4)"}, {"Y", "split(0,2)"}}),
            "");
  const std::string clamped = "def f(float(V,D) T, int32(N) I) -> (Y) { Y(n,d) = T(min(max(I(n), 0), 6), d) }";
  EXPECT_EQ(compare(clamped, {{"V", 8}, {"D", 5}, {"N", 3}}, {{"T", "split(0,4)"}, {"Y", "split(1,4)"}}), "");
  const std::string gather = "def f(float(V,D) T, int32(N) I) -> (Y) { Y(n,d) = T(I(n), d) }";
  EXPECT_EQ(laid_out_text(gather, {{"V", 8}, {"D", 5}, {"N", 3}}, {{"T", "split(0,4)"}}),
            "Y(n, d) = T(I(n) / 4, I(n) % 4, d) where n in 0:3, d in 0:5\n");
  EXPECT_ERROR(compare(gather, {{"V", 7}, {"D", 5}, {"N", 3}}, {{"T", "split(0,4)"}}), OptionsError, "data decide");
}

/// A bias in a row of its own of the weights.
TEST(ApplyLayouts, StoreAt) {
  const SizedDef fc =
      sized_def("def fc(float(N,C) X, float(C,K) W, float(K) b) -> (Y) { Y(n,k) +=! X(n,c) * W(c,k)  Y(n,k) += b(k) }",
                {{"N", 2}, {"C", 12}, {"K", 6}});
  layout::Layouts layouts = layouts_of({{"W", "pad(0,0,1)"}, {"b", "store_at(0,12,13)"}});
  layouts.stored_in["b"] = "W";
  EXPECT_EQ(compare_layouts(fc, layouts, 1), "");
  const auto made = layout::apply_layouts(fc.function, fc.sizes, layouts);
  EXPECT_EQ(lang::print(made.def().statements[1]), "Y(n, k) += W(12, k) where n in 0:2, k in 0:6");
  EXPECT_EQ(made.def().params.size(), 2u);
  layouts.of["b"] = layout::parse_layout("store_at(0,12,14)");
  EXPECT_ERROR(layout::apply_layouts(fc.function, fc.sizes, layouts), OptionsError, "extents (14, 6) and (13, 6)");
}

/// Rows that are longer than their elements keep the def as it is: strides alone change.
TEST(ApplyLayouts, PaddedRows) {
  const lang::SizeMap sizes = {{"M", 4}, {"N", 512}};
  const std::string text = "def f(float(M,N) X) -> (Y) { Y(i,j) = X(i,j) + 1 }";
  EXPECT_EQ(laid_out_text(text, sizes, {{"X", "pad(1,0,8)"}}), laid_out_text(text, sizes, {}));
  EXPECT_EQ(layout::LayoutMap(layout::parse_layout("pad(1,0,8)"), {4, 512}).physical(), (layout::Extents{4, 520}));
  EXPECT_EQ(compare(text, sizes, {{"X", "pad(1,0,8)"}, {"Y", "pad(1,0,8)"}}), "");
}

/// What was stored in one tensor is two again: the inverses of the layouts of both say where.
TEST(ApplyLayouts, DecoupleAt) {
  const auto weights = layout::inverse(layout::parse_layout("pad(0,0,1)"), {12, 6});
  const auto bias = layout::inverse(layout::parse_layout("store_at(0,12,13)"), {6});
  EXPECT_EQ(to_string(weights), "unpad(0, 0, 1)");
  EXPECT_EQ(to_string(bias), "decouple_at(0, 12)");
  EXPECT_EQ(layout::LayoutMap(weights, {13, 6}).physical(), (layout::Extents{12, 6}));
  EXPECT_EQ(layout::LayoutMap(bias, {13, 6}).physical(), (layout::Extents{6}));
}

TEST(ApplyLayouts, WhatIsRefused) {
  const auto refuse = [](const std::string& text, const TextMap& layouts, const std::string& what) {
    EXPECT_ERROR(compare(text, {{"N", 9}}, layouts), OptionsError, what);
  };
  const std::string copy = "def f(float(N) X) -> (Y) { Y(i) = X(i) }";
  refuse(copy, {{"Z", "split(0,2)"}}, "has no tensor of this name");
  refuse(copy, {{"X", "split(1,2)"}}, "'X' of 'f': the layout step split(1, 2)");
  refuse(copy, {{"Y", "unpad(0,1,0)"}}, "some elements have no place");
  refuse(copy, {{"X", "unpad(0,1,0)"}}, "'X(i)' reads an element that has no place");
  refuse(copy, {{"X", "unfold(0,2,3)"}}, "'X(i)' reads an element that has no place");
  refuse("def f(float(3,4) X) -> (Y) { Y(i,j) = X(i,j) }", {{"Y", "fold(0,4,3,10)"}}, "elements share places");
  refuse("def f(float(N) X) -> (Y) { Y(i) = X(i)  Y(i) +=! X(i) where i in 2:5 }", {{"Y", "split(0,2)"}},
         "initialises a part of 'Y'");
  refuse("def f(float(N) X) -> (Y) { Y(i) max=! X(i) where r in 3:3 }", {{"Y", "split(0,2) fill(zero)"}},
         "reduces nothing");
}

/// What reduces nothing writes nothing: it is not cut in blocks, of which there would be some.
TEST(ApplyLayouts, ReductionsOfNothingStay) {
  const std::string text = "def f(float(N) X) -> (Y) { Y(i) = X(i)  Y(i) +=! X(r) where i in 0:9, r in 3:3 }";
  EXPECT_EQ(compare(text, {{"N", 9}}, {{"X", "split(0,2)"}}), "");
  EXPECT_EQ(compare(text, {{"N", 9}}, {{"X", "split(0,4)"}}), "");
}

/// Elements that are never read need no place.
TEST(ApplyLayouts, GapsThatNobodyReads) {
  EXPECT_EQ(compare("def f(float(9) X) -> (Y) { Y(i) = X(3 * i) where i in 0:3 }", {}, {{"X", "unfold(0,2,3)"}}), "");
}

TEST(Conversion, IsAStatementThatCoversWhatIsRead) {
  const layout::Extents extents{2, 20, 3, 5};
  const auto text = [&](const std::string& from, const std::string& to) {
    return lang::print(layout::conversion(DType::Float32, extents, layout::parse_layout(from), layout::parse_layout(to))
                           .def()
                           .statements[0]);
  };
  EXPECT_EQ(text("NCHW", "NHWC"), "Y(n, h, w, c) = X(n, c, h, w) where n in 0:2, h in 0:3, w in 0:5, c in 0:20");
  EXPECT_EQ(
      text("NHWC", "NCHW16c"),
      "Y(n, co, h, w, ci) = 16 * co + ci < 20 ? X(n, h, w, 16 * co + ci) : 0 where n in 0:2, co in 0:2, h in 0:3, w in "
      "0:5, ci in 0:16");
  EXPECT_EQ(text("NCHW16c", "NHWC"),
            "Y(n, h, w, c) = X(n, c / 16, h, w, c % 16) where n in 0:2, h in 0:3, w in 0:5, c in 0:20");
  EXPECT_EQ(
      text("NCHW16c", "NCHW4c"),
      "Y(n, co, h, w, ci) = X(n, co / 4, h, w, 4 * (co % 4) + ci) where n in 0:2, co in 0:5, h in 0:3, w in 0:5, ci in "
      "0:4");
}

/// The checker finds what is wrong in a text, whoever wrote it.
class Certificate : public testing::Test {
 protected:
  /// Whether `Y(i) +=! X(i, c)` over 10 x 6 elements, Y and X in blocks of 4, may be written as \p text.
  std::string certified(const std::string& text) {
    const layout::LayoutMap y(layout::parse_layout("split(0,4)"), {10});
    const layout::LayoutMap x(layout::parse_layout("split(1,4)"), {10, 6});
    const layout::PlacedTensors tensors = {{"X", {DType::Float32, {{0, 10}, {0, 6}}, &x, "X"}},
                                           {"Y", {DType::Float32, {{0, 10}}, &y, "Y"}}};
    const auto assignment = [](const std::string& statement, const std::string& y_type, const std::string& x_type) {
      const auto file = lang::parse("def f(" + x_type + " X) -> (" + y_type + " Y) { " + statement + " }");
      return std::get<lang::Assignment>(file.defs.front().statements.front().node);
    };
    layout::SizedStatement before{assignment("Y(i) +=! X(i, c)", "float(10)", "float(10,6)"),
                                  {{"i", {0, 10}}, {"c", {0, 6}}}};
    before.assignment.reduction_iterators = {"c"};
    const auto reindexing = layout::reindex(before, tensors, {"X", "Y"});
    const auto after =
        assignment(text + " where io in 0:3, ii in 0:4, co in 0:2, ci in 0:4", "float(3,4)", "float(10,2,4)");
    try {
      layout::certify({before, reindexing, after, tensors});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  void refuses(const std::string& text, const std::string& why) {
    EXPECT_NE(certified(text).find(why), std::string::npos) << text << ": " << certified(text);
  }
};

TEST_F(Certificate, AcceptsWhatIsRight) {
  EXPECT_EQ(certified("Y(io, ii) +=! 4 * io + ii < 10 ? (4 * co + ci < 6 ? X(4 * io + ii, co, ci) : 0) : 0"), "");
  EXPECT_EQ(certified("Y(io, ii) +=! 4 * io + ii < 10 && 4 * co + ci < 6 ? X(4 * io + ii, co, ci) : 0"), "");
}

TEST_F(Certificate, RefusesWhatIsWrong) {
  refuses("Y(io, ii) +=! 4 * io + ii < 10 ? X(4 * io + ii, co, ci) : 0", "other values reach an element");
  refuses("Y(io, ii) +=! 4 * io + ii < 9 && 4 * co + ci < 6 ? X(4 * io + ii, co, ci) : 0", "not those of the old");
  refuses("Y(io, ii) +=! 4 * io + ii < 10 && 4 * co + ci < 6 ? X(4 * io + ii, ci, co) : 0", "is not where");
  refuses("Y(io, ii) +=! 4 * io + ii < 10 && 4 * co + ci < 6 ? X(4 * io + ii, co, ci) : 1", "changes an element");
  refuses("Y(io, ii) +=! 4 * io + ii < 10 && 4 * co + ci < 6 ? X(4 * io + ii, co, ci) * 2 : 0", "the values differ");
  refuses("Y(io, ii) += 4 * io + ii < 10 && 4 * co + ci < 6 ? X(4 * io + ii, co, ci) : 0", "target or operator");
  refuses("Y(ii, io) +=! 4 * io + ii < 10 && 4 * co + ci < 6 ? X(4 * io + ii, co, ci) : 0", "subscripts on the left");
}

}  // namespace
}  // namespace tc::test
