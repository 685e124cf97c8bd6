#include <gtest/gtest.h>

#include <algorithm>

#include "tc/base/str.h"
#include "tc/derive/derive.h"
#include "tc/derive/form/to_def.h"
#include "tc/derive/search/canonical.h"
#include "tc/derive/search/product_view.h"
#include "tc/derive/search/window_view.h"
#include "test/derive/derive_fixture.h"

namespace tc::test {
namespace {

using derive::Candidate;
using derive::Derivation;
using derive::Options;

std::string trace(const Candidate& candidate) {
  std::string result;
  for (const auto& step : candidate.steps) result += str("  ", step.rule, ": ", step.what, "\n");
  return result;
}

/// Is there a scope of \p candidate that is a product of matrices as it lies in memory, and nothing else that multiplies?
bool is_product_and_sum(const Candidate& candidate) {
  int products = 0, others = 0;
  for (const auto& scope : candidate.program.scopes) {
    const auto view = derive::view_product(candidate.program, *scope);
    const bool product = view && view->distance() == 0;
    products += product;
    if (!product)
      for (const auto& part : scope->cases) others += derive::reads_in(part.body).size() > 1;
  }
  return products == 1 && others == 0;
}

/// Does a tensor of \p candidate copy more elements of an input than there are, as im2col does?
bool spreads_an_input(const Candidate& candidate) {
  for (const auto& scope : candidate.program.scopes) {
    std::int64_t elements = 1;
    for (const auto& range : scope->box) elements *= range.extent;
    for (const auto& part : scope->cases) {
      if (!derive::read_number(part.body) || candidate.program.find(part.reads[0].tensor)) continue;
      std::int64_t own = 1;
      for (const auto& range : candidate.program.box(part.reads[0].tensor)) own *= range.extent;
      if (elements > 2 * own) return true;
    }
  }
  return false;
}

/// All candidates proved again from their texts, and equal on integers.
void expect_equal(const std::string& text, const derive::Program& program, const Derivation& derivation) {
  EXPECT_EQ(derivation.statistics.refused, 0u);
  for (const auto& candidate : derivation.candidates) {
    EXPECT_EQ(derive::broken_step(program, candidate.steps), "");
    const auto made = derive::to_text(candidate.program);
    const auto difference = integer_difference(text, made);
    EXPECT_FALSE(difference) << *difference << "\n" << trace(candidate) << made;
  }
}

const Candidate* find(const Derivation& derivation, const std::function<bool(const Candidate&)>& wanted) {
  const auto found = std::find_if(derivation.candidates.begin(), derivation.candidates.end(), wanted);
  return found == derivation.candidates.end() ? nullptr : &*found;
}

/// A small program is derived to a product and a sum of offsets, without a copy of windows.
void expect_product_and_sum(const std::string& text, Options options = {}) {
  options.candidates = 24;
  options.rates = {.products = 1e5, .loops = 10, .bytes = 1e3, .start = 0};  // only products of matrices are fast
  options.width = 16;
  options.depth = 6;
  const auto program = program_of(text);
  const auto derivation = derive::derive(program, options);
  const auto* found =
      find(derivation, [](const Candidate& c) { return is_product_and_sum(c) && !spreads_an_input(c); });
  ASSERT_TRUE(found) << text << "\n" << trace(derivation.candidates[0]) << to_text(derivation.candidates[0].program);
  expect_equal(text, program, derivation);
}

const char* const conv3x3 =
    "def conv(float(1,512,7,7) X, float(512,512,3,3) W) -> (O) {\n"
    "  P(n,c,h,w) = h >= 1 && h <= 7 && w >= 1 && w <= 7 ? X(n,c,h-1,w-1) : 0 where h in 0:9, w in 0:9\n"
    "  O(n,f,h,w) +=! P(n,c,h+kh,w+kw) * W(f,c,kh,kw) where h in 0:7, w in 0:7 }";

TEST(Derive, AConvolutionIsAProductAndASumOfOffsets) {
  const auto program = program_of(conv3x3);
  const auto derivation = derive::derive(program, {.width = 32});
  EXPECT_TRUE(is_product_and_sum(derivation.candidates.front()));
  for (const bool spread : {false, true}) {
    const auto* found =
        find(derivation, [&](const Candidate& c) { return is_product_and_sum(c) && spreads_an_input(c) == spread; });
    ASSERT_TRUE(found) << spread;
    EXPECT_EQ(derive::broken_step(program, found->steps), "");
  }
}

TEST(Derive, Windows) {
  for (const char* text : {
           "def dilated(float(4,19) X, float(5,4,3) W) -> (O) { O(f,h) +=! h + 2*r >= 2 && h + 2*r < 21 ? "
           "X(c,h+2*r-2) * W(f,c,r) : 0 where h in 0:19 }",
           "def conv1d(float(4,20) X, float(5,4,7) W) -> (O) { O(f,h) +=! X(c,h+r) * W(f,c,r) }",
           "def tropical(float(4,20) X, float(5,4,3) W) -> (O) { O(f,h) max=! X(c,h+r) + W(f,c,r) }",
           "def grouped(float(2,4,12) X, float(2,5,4,3) W) -> (O) { O(g,f,h) +=! X(g,c,h+r) * W(g,f,c,r) }",
           "def transposed(float(4,6) X, float(4,4,5) W) -> (O) { O(f,h) +=! (h + 1 - r) % 2 == 0 && h + 1 - r >= 0 && "
           "h "
           "+ 1 - r < 12 ? X(c,(h + 1 - r)/2) * W(c,r,f) : 0 where h in 0:12 }",
       })
    expect_product_and_sum(text);
}

TEST(Derive, WindowsThatAreNotSquare) {
  expect_product_and_sum(
      "def flat(float(4,9,9) X, float(5,4,3,5) W) -> (O) { O(f,h,w) +=! X(c,h+r,w+s) * W(f,c,r,s) }");
}

TEST(Derive, WindowsInThreeDimensionsAndOfSteps) {
  expect_product_and_sum(
      "def conv3d(float(3,6,6,6) X, float(4,3,2,2,2) W) -> (O) { O(f,d,h,w) +=! X(c,d+q,h+r,w+s) * W(f,c,q,r,s) }");
  expect_product_and_sum(
      "def strided(float(4,15) X, float(5,4,3) W) -> (O) { O(f,h) +=! X(c,2*h+r) * W(f,c,r) where h in 0:7 }");
  expect_product_and_sum(
      "def row(float(4,5,12) X, float(6,4,7) W) -> (O) { O(f,h,w) +=! w + s >= 3 && w + s < 15 ? X(c,h,w+s-3) * "
      "W(f,c,s) : 0 "
      "where w in 0:12 }");
}

/// Is there a scope of \p candidate with \p outputs values of an iterator of the left that is none of the output's, which sums
/// over a window of \p window?
bool is_window_of(const Candidate& candidate, std::int64_t window, std::int64_t outputs) {
  for (const auto& scope : candidate.program.scopes) {
    if (!scope->op || candidate.program.is_output(scope->tensor)) continue;
    const auto ranges = derive::iterator_box(*scope);
    const auto has = [&](const std::vector<int>& dimensions, std::int64_t extent) {
      return std::any_of(dimensions.begin(), dimensions.end(),
                         [&](int d) { return ranges[static_cast<std::size_t>(d)].extent == extent; });
    };
    if (has(derive::left_dimensions(*scope), outputs) && has(derive::summed_dimensions(*scope), window)) return true;
  }
  return false;
}

TEST(Derive, AWindowOfFiveIsOneOfThreeWithTwoOutputs) {
  const std::string text = "def f(float(7,20) X, float(7,5) W) -> (O) { O(h) +=! X(c,h+r) * W(c,r) }";
  const auto program = program_of(text);
  const auto derivation = derive::derive(program, {.depth = 5, .width = 16, .candidates = 60});
  const auto* found = find(derivation, [](const Candidate& c) {
    return is_window_of(c, 3, 2) && trace(c).find("substitute variables") != std::string::npos;
  });
  ASSERT_TRUE(found);
  expect_equal(text, program, derivation);
}

/// The convolution of \p candidate that a routine could take, of \p outputs filters of windows of \p window elements each way, as it lies
/// in memory: null where there is none.
derive::ScopePtr convolution_of(const Candidate& candidate, std::int64_t window, std::int64_t outputs) {
  for (const auto& scope : candidate.program.scopes) {
    const auto view = derive::view_windows(candidate.program, *scope);
    if (!view || view->distance() > 0 || view->windows.size() != 2) continue;
    const auto ranges = derive::iterator_box(*scope);
    std::int64_t filters = 1;
    bool fits = true;
    for (int d : view->windows) fits = fits && ranges[static_cast<std::size_t>(d)].extent == window;
    for (int d : view->filters) filters *= ranges[static_cast<std::size_t>(d)].extent;
    if (fits && filters == outputs) return scope;
  }
  return nullptr;
}

/// Figure 6 of the paper: the filter is extended by zeros to 6 x 6, which are four filters of 3 x 3, with no guard but the padding.
TEST(Derive, APaddedConvolutionOfFiveIsOneOfThreeWithFourTimesTheFilters) {
  for (const int filters : {1, 2}) {
    const auto text = str("def conv(float(2,3,8,7) X, float(", filters,
                          ",3,5,5) W) -> (O) { O(n,f,h,w) +=! h + r >= 2 && h + r < 10 && w + s >= 2 && w + s < 9 ? "
                          "X(n,c,h+r-2,w+s-2) * W(f,c,r,s) : 0 where h in 0:8, w in 0:7 }");
    const auto program = program_of(text);
    Options options{.depth = 7, .width = 24, .candidates = 12};
    options.rates = {
        .products = 1e3, .loops = 100, .windows = 1e5, .bytes = 1e5, .start = 0};  // only convolutions are fast
    const auto derivation = derive::derive(program, options);
    const auto* found = find(derivation, [&](const Candidate& c) {
      const auto scope = convolution_of(c, 3, 4 * filters);
      return scope && derive::to_text(c.program, *scope).find("t_h + r0 >= 0 && t_h + r0 < 8 &&") != std::string::npos;
    });
    ASSERT_TRUE(found) << derivation.candidates.size();
    const auto made = derive::to_text(found->program, *convolution_of(*found, 3, 4 * filters));
    EXPECT_EQ(made.find("3 *"), std::string::npos) << made;
    EXPECT_NE(derive::to_text(found->program).find("3 * r1 + r0 < 5 && 3 * s1 + s0 < 5 ? W("), std::string::npos);
    expect_equal(text, program, derivation);
  }
}

TEST(Derive, AWindowOfNineIsOneOfThreeWithThreeOutputs) {
  const std::string text = "def f(float(3,30) X, float(2,3,9) W) -> (O) { O(m,h) +=! X(c,h+r) * W(m,c,r) }";
  const auto program = program_of(text);
  const auto derivation = derive::derive(program, {.depth = 5, .width = 16, .candidates = 60});
  ASSERT_TRUE(find(derivation, [](const Candidate& c) { return is_window_of(c, 3, 3); }));
  expect_equal(text, program, derivation);
}

TEST(Derive, AConvolutionOfOneElementIsAProductAsItIs) {
  const auto program = program_of(
      "def g(float(1,512,7,7) X, float(512,512,1,1) W) -> (O) { O(n,f,h,w) +=! X(n,c,h+r,w+s) * W(f,c,r,s) }");
  const auto view = derive::view_product(program, *program.find("O"));
  ASSERT_TRUE(view);
  EXPECT_EQ(view->distance(), 0);
  EXPECT_TRUE(derive::derive(program, {.depth = 2}).candidates.front().steps.empty());
}

TEST(Derive, ACopyOfAllWindowsIsACandidate) {
  const std::string text = "def conv(float(4,20) X, float(5,4,3) W) -> (O) { O(f,h) +=! X(c,h+r) * W(f,c,r) }";
  const auto program = program_of(text);
  Options options{.depth = 3, .width = 16, .candidates = 24};
  options.rates = {.products = 1e5, .loops = 10, .bytes = 1e6, .start = 0};  // copies are cheap
  const auto derivation = derive::derive(program, options);
  ASSERT_TRUE(find(derivation, [](const Candidate& c) { return is_product_and_sum(c) && spreads_an_input(c); }));
  expect_equal(text, program, derivation);
}

TEST(Derive, ACopyOfAllWindowsIsACandidateInAnyLayoutWithPaddingAndWithout) {
  for (const std::string guard : {"", "h + r >= 1 && h + r < 6 && w + s >= 1 && w + s < 7 ? "})
    for (const bool last : {false, true}) {
      const bool padded = !guard.empty();
      const std::string y = padded ? "h+r-1" : "h+r", x = padded ? "w+s-1" : "w+s";
      const auto product =
          last ? str("X(n,", y, ",", x, ",c) * W(f,r,s,c)") : str("X(n,c,", y, ",", x, ") * W(f,c,r,s)");
      const auto text = str("def conv(float(", last ? "1,5,6,4" : "1,4,5,6", ") X, float(",
                            last ? "5,3,3,4" : "5,4,3,3", ") W) -> (O) { O(", last ? "n,h,w,f" : "n,f,h,w", ") +=! ",
                            guard, product, padded ? " : 0 where h in 0:5, w in 0:6 }" : " }");
      const auto program = program_of(text);
      Options options{.depth = 2, .width = 16, .candidates = 8};
      options.rates = {.products = 1e5, .loops = 10, .bytes = 1e6, .start = 0};  // copies are cheap
      const auto derivation = derive::derive(program, options);
      ASSERT_TRUE(find(derivation, [](const Candidate& c) { return is_product_and_sum(c) && spreads_an_input(c); }))
          << text;
      expect_equal(text, program, derivation);
    }
}

TEST(Derive, WhatIsMostlyCopiesIsNoCheaper) {
  const auto program =
      program_of("def conv(float(2,64,64) X, float(2,2,3,3) W) -> (O) { O(f,h,w) +=! X(c,h+r,w+s) * W(f,c,r,s) }");
  const auto derivation = derive::derive(program, {.depth = 6, .width = 16});
  EXPECT_FALSE(is_product_and_sum(derivation.candidates.front()))
      << trace(derivation.candidates.front()) << to_text(derivation.candidates.front().program);
}

TEST(Derive, AStencilWithCoefficientsIsASumOfOffsets) {
  const std::string text =
      "def f(float(12,12) X, float(3,3) c) -> (O) { O(i,j) +=! i + r >= 1 && i + r < 13 && j + s >= 1 && j + s < 13 ? "
      "X(i+r-1,j+s-1) * c(r,s) : 0 where i in 0:12, j in 0:12 }";
  const auto program = program_of(text);
  const auto derivation = derive::derive(program, {.depth = 6, .width = 16, .candidates = 60});
  EXPECT_TRUE(
      find(derivation, [](const Candidate& c) { return trace(c).find("substitute variables") != std::string::npos; }));
  expect_equal(text, program, derivation);
}

/// What the parts of the search bring, on one convolution.
TEST(Derive, WithoutItsPartsTheSearchFindsLess) {
  const auto program =
      program_of("def conv(float(64,20) X, float(64,64,3) W) -> (O) { O(f,h) +=! X(c,h+r) * W(f,c,r) }");
  const auto run = [&](int depth, bool converge, bool fingerprints) {
    Options options{.depth = depth, .width = 16};
    options.converge = converge;
    options.fingerprints = fingerprints;
    options.rates = {.products = 1e5, .loops = 10, .bytes = 1e3, .start = 0};
    return derive::derive(program, options);
  };
  const auto price = [](const Derivation& found) { return found.candidates.front().microseconds; };
  const auto whole = run(6, true, true);
  EXPECT_TRUE(is_product_and_sum(whole.candidates.front()));
  EXPECT_LT(2 * price(whole), price(run(6, false, true))) << "no layouts";
  EXPECT_LT(2 * price(whole), price(run(0, true, true))) << "no rules";
  EXPECT_LT(run(3, true, true).statistics.states, run(3, true, false).statistics.states);
}

TEST(Derive, AStepWithoutItsCertificateIsBroken) {
  const auto program = program_of("def f(float(4,20) X, float(5,4,3) W) -> (O) { O(f2,h) +=! X(c,h+r) * W(f2,c,r) }");
  const auto derivation = derive::derive(program, {.depth = 3, .width = 8});
  const auto* found = find(derivation, [](const Candidate& c) { return c.steps.size() > 2; });
  ASSERT_TRUE(found);
  EXPECT_EQ(derive::broken_step(program, found->steps), "");
  for (std::size_t s = 0; s < found->steps.size(); ++s) {
    auto steps = found->steps;
    steps[s].certificate.maps.clear();
    EXPECT_NE(derive::broken_step(program, steps), "") << steps[s].rule;
  }
}

TEST(Derive, TheOriginalIsACandidate) {
  const auto program = program_of("def f(float(3,4) A, float(4,5) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }");
  const auto derivation = derive::derive(program);
  EXPECT_TRUE(find(derivation, [](const Candidate& c) { return c.steps.empty(); }));
  EXPECT_TRUE(derivation.candidates.front().steps.empty());
}

TEST(Derive, TheOrderOfRulesIsNoMatter) {
  const auto text = [](unsigned shuffle) {
    Options options;
    options.shuffle = shuffle;
    options.depth = 4;
    options.width = 16;
    std::string result;
    for (const auto& candidate :
         derive::derive(
             program_of("def conv1d(float(4,20) X, float(5,4,7) W) -> (O) { O(f,h) +=! X(c,h+r) * W(f,c,r) }"), options)
             .candidates)
      result += to_text(candidate.program);
    return result;
  };
  const auto first = text(0);
  EXPECT_EQ(text(1), first);
  EXPECT_EQ(text(2), first);
}

TEST(Derive, NamesAndLayoutsAreNoMatterToThePrice) {
  const auto price = [](const char* text) {
    return derive::derive(program_of(text), {.depth = 5, .width = 16}).candidates.front().microseconds;
  };
  const auto first = price("def g(float(4,20) X, float(5,4,7) W) -> (O) { O(f,h) +=! X(c,h+r) * W(f,c,r) }");
  EXPECT_EQ(price("def g(float(4,20) X, float(5,4,7) W) -> (O) { O(b,a) +=! X(z,a+y) * W(b,z,y) }"), first);
  EXPECT_EQ(price("def g(float(4,20) X, float(5,4,7) W) -> (O) { O(f,h) +=! W(f,c,r) * X(c,r+h) }"), first);
}

TEST(Derive, AChainOfProductsIsTakenInTheCheaperOrder) {
  const auto program = program_of(
      "def f(float(100,200) A, float(200,100) B, float(100,2) C) -> (O) { T(m,l) +=! A(m,k) * B(k,l)  O(m,n) +=! "
      "T(m,l) * C(l,n) }");
  const auto derivation = derive::derive(program);
  const auto text = to_text(derivation.candidates.front().program);
  EXPECT_NE(text.find("B(k, l) * C(l, n)"), std::string::npos) << text;
  EXPECT_LT(derivation.candidates.front().microseconds,
            0.5 * find(derivation, [](const Candidate& c) { return c.steps.empty(); })->microseconds);
}

TEST(Derive, ProductsThatShareAnOperandAreOneProductOfASum) {
  const std::string text =
      "def f(float(16,64) X, float(64,64) A, float(64,64) B, float(64,64) C, float(64) b) -> (O) {\n"
      "  P(m,n) +=! X(m,k) * A(k,n)  Q(m,n) +=! X(m,k) * B(k,n)  R(m,n) +=! X(m,k) * C(k,n)\n"
      "  O(m,n) = P(m,n) + Q(m,n) + b(n) - R(m,n) }";
  const auto program = program_of(text);
  const auto derivation = derive::derive(program, {.depth = 4, .width = 16, .rules = derive::Rules::Between});
  const auto* found = find(derivation, [](const Candidate& c) {
    int products = 0;
    for (const auto& scope : c.program.scopes) products += scope->op.has_value();
    return products == 1;
  });
  ASSERT_TRUE(found) << trace(derivation.candidates[0]) << to_text(derivation.candidates[0].program);
  expect_equal(text, program, derivation);
}

/// A cell of a recurrent network: the weights are joined by the compile, and one product is left.
TEST(Derive, ProductsOfOtherOperandsThatAreAddedAreOneProduct) {
  const std::string text =
      "def cell(float(16,64) X, float(64,64) A, float(16,32) H, float(32,64) B, float(64) b) -> (O) {\n"
      "  P(m,n) +=! X(m,k) * A(k,n)  Q(m,n) +=! H(m,k) * B(k,n)  O(m,n) = P(m,n) + Q(m,n) + b(n) }";
  const auto program = program_of(text);
  const auto derivation = derive::derive(
      program, {.depth = 2, .width = 16, .candidates = 24, .rules = derive::Rules::Between, .constants = {"A", "B"}});
  const auto* found = find(derivation, [](const Candidate& c) {
    return std::count_if(c.program.scopes.begin(), c.program.scopes.end(),
                         [](const auto& scope) { return scope->op; }) == 1;
  });
  ASSERT_TRUE(found);
  expect_equal(text, program, derivation);
}

/// Average pooling as it is often written, a tensor twice.
TEST(Derive, ATensorThatIsWrittenTwiceIsDerived) {
  const std::string text =
      "def pooled(float(2,3,6,6) X, float(5,3) W) -> (O) { P(n,c) +=! X(n,c,h,w)  P(n,c) = P(n,c) * 4  O(n,f) +=! "
      "P(n,c) "
      "* W(f,c) }";
  const auto program = program_of(text);
  const auto derivation = derive::derive(program, {.depth = 3, .width = 16, .candidates = 24});
  EXPECT_GT(derivation.candidates.size(), 1u);
  expect_equal(text, program, derivation);
}

TEST(Canonical, WordsAreNoMatterAndTransposedAreOthers) {
  const auto context = std::make_shared<polyhedral::Context>();
  const auto of = [&](const char* text) { return derive::canonical(program_of(text, context)); };
  const auto first =
      of("def f(float(4,4) A, float(4,4) B) -> (O) { T(i,j) +=! A(i,k) * B(k,j) * A(l,l)  O(i,j) = T(i,j) * 2 }");
  EXPECT_TRUE(is_same(
      first,
      of("def f(float(4,4) A, float(4,4) B) -> (O) { U(x,y) +=! A(y0,y0) * (B(z,y) * A(x,z))  O(x,y) = 2 * U(x,y) }")));
  EXPECT_FALSE(is_same(
      first,
      of("def f(float(4,4) A, float(4,4) B) -> (O) { U(x,y) +=! A(y0,y0) * (B(z,y) * A(z,x))  O(x,y) = 2 * U(x,y) }")));
  EXPECT_FALSE(is_same(
      first,
      of("def f(float(4,4) A, float(4,4) B) -> (O) { U(x,y) +=! A(y0,y0) * (B(z,x) * A(y,z))  O(x,y) = 2 * U(y,x) }")));
}

TEST(Canonical, AFunctionThatDividesHasSeveralForms) {
  const auto context = std::make_shared<polyhedral::Context>();
  const auto of = [&](const char* text) { return derive::canonical(program_of(text, context)); };
  EXPECT_TRUE(is_same(
      of("def f(float(8) A) -> (O) { O(h) +=! (h - r + 4) % 2 == 0 ? A((h - r + 4)/2) : 0 where h in 0:4, r in 0:4 }"),
      of("def f(float(8) A) -> (O) { O(h) +=! (h + r) % 2 == 0 ? A((h + r)/2 - r + 2) : 0 where h in 0:4, r in 0:4 "
         "}")));
  EXPECT_FALSE(is_same(
      of("def f(float(8) A) -> (O) { O(h) +=! (h - r + 4) % 2 == 0 ? A((h - r + 4)/2) : 0 where h in 0:4, r in 0:4 }"),
      of("def f(float(8) A) -> (O) { O(h) +=! (h + r) % 2 == 0 ? A((h + r)/2 - r + 3) : 0 where h in 0:4, r in 0:4 "
         "}")));
}

TEST(Canonical, EqualFingerprintsAreConfirmed) {
  const auto context = std::make_shared<polyhedral::Context>();
  const auto of = [&](const char* text) { return derive::canonical(program_of(text, context)); };
  const auto first = of("def f(float(9) A) -> (O) { O(i) +=! A(i + k) where i in 0:4, k in 0:4 }");
  const auto other = of("def f(float(9) A) -> (O) { O(i) +=! A(i + k + 1) where i in 0:4, k in 0:4 }");
  EXPECT_EQ(first.fingerprint, other.fingerprint);
  EXPECT_FALSE(is_same(first, other));
}

}  // namespace
}  // namespace tc::test
