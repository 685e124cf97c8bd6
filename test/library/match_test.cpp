#include <gtest/gtest.h>

#include "tc/library/match/pairing.h"
#include "tc/library/match/problem.h"
#include "tc/library/match/prove.h"
#include "tc/library/match/read_off.h"
#include "test/library/library_fixture.h"

/// What is a convolution, whoever computes it: a library of this test has its def and no code.
namespace tc::library {
namespace {

const Library& descriptions() {
  static const Library& library =
      *new Library{"descriptions",
                   0,
                   []() -> const Presence& {
                     static const Presence presence{"1", ""};
                     return presence;
                   },
                   {{"convolution",
                     "def convolution(float(N,G,C,I,J) X, float(G,K,C,R,S) F) -> (Y) { Y(n,g,k,h,w) +=!"
                     " (U*h + D*r - P >= 0 && U*h + D*r - P < I && V*w + E*s - Q >= 0 && V*w + E*s - Q < J)"
                     " ? X(n,g,c,U*h + D*r - P,V*w + E*s - Q) * F(g,k,c,r,s) : 0 where h in 0:A, w in 0:B }",
                     {{DType::Float32, DType::Float32, DType::Float32}}}}};
  return library;
}

std::optional<Call> find(const std::string& text, const std::vector<TensorSpec>& inputs, bool finite = false) {
  return call_of({text, inputs}, descriptions(), finite);
}

const std::vector<TensorSpec> tensors = {floats({2, 3, 8, 9}), floats({4, 3, 3, 3})};
const std::string head = "def f(float(N,C,H,W) X, float(K,C,R,S) F) -> (Y) { ";
const std::string guard = "(h + r - 1 >= 0 && h + r - 1 < H && w + s - 1 >= 0 && w + s - 1 < W)";
const std::string size = " where h in 0:H, w in 0:W }";

/// A convolution by 3 x 3 with padding 1, in other words. Each has the sizes of the plain one, but where it says so.
struct Words {
  std::string text;
  std::vector<TensorSpec> inputs = tensors;
  bool finite = false;  ///< do they say the same for finite values only?
};

const std::vector<Words> words = {
    {head + "Y(n,k,h,w) +=! " + guard + " ? X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" + size},
    {"def g(float(Bat,Ch,Up,Wi) Img, float(Out,Ch,Ky,Kx) Ker) -> (R) { R(b,o,y,x) +=! (y + ky >= 1 && x + kx >= 1 && "
     "y + ky <= Up && x + kx <= Wi) ? Img(b,ch,y + ky - 1,x + kx - 1) * Ker(o,ch,ky,kx) : 0 where y in 0:Up, x in 0:Wi "
     "}"},
    {head + "Y(w,k,n,h) +=! " + guard + " ? X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" + size},
    {head + "Y(n,k,h,w) +=! F(k,c,r,s) * (" + guard + " ? X(n,c,h + r - 1,w + s - 1) : 0)" + size, tensors, true},
    {head +
         "P(n,c,i,j) = (i >= 1 && i <= H && j >= 1 && j <= W) ? X(n,c,i - 1,j - 1) : 0 where i in 0:H+2, j in 0:W+2\n"
         "Y(n,k,h,w) +=! P(n,c,h + r,w + s) * F(k,c,r,s) }",
     tensors, true},
    {head + "Y(n,k,h,w) = 0" + size.substr(0, size.size() - 1) + " , n in 0:2, k in 0:4 Y(n,k,h,w) += " + guard +
     " ? X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" + size},
    {head +
     "Y(n,k,h,w) +=! (h + r > 0 && h + r < H + 1) ? ((w + s > 0 && w + s < W + 1) ? X(n,c,h + r - 1,w + s - 1) * "
     "F(k,c,r,s) : 0) : 0" +
     size},
    {"def f(float(N,C,U,H,W) X, float(K,C,R,S,U) F) -> (Y) { Y(n,k,u,h,w) +=! " + guard +
         " ? X(n,c,u,h + r - 1,w + s - 1) * F(k,c,r,s,u) : 0" + size,
     {floats({2, 3, 1, 8, 9}), floats({4, 3, 3, 3, 1})}},
    {"def f(float(N,H,W,C) X, float(K,R,S,C) F) -> (Y) { Y(n,h,w,k) +=! " + guard +
         " ? X(n,h + r - 1,w + s - 1,c) * F(k,r,s,c) : 0" + size,
     {floats({2, 8, 9, 3}), floats({4, 3, 3, 3})}},
    {"def f(float(N,C,H,W) X, float(K,C,M) F) -> (Y) { Y(n,k,h,w) +=! " + guard +
         " ? X(n,c,h + r - 1,w + s - 1) * F(k,c,3*r + s) : 0 where h in 0:H, w in 0:W, r in 0:3, s in 0:3 }",
     {floats({2, 3, 8, 9}), floats({4, 3, 9})}},
    {"def f(float(N,C,H,W) X, float(K,C,R,S) F) -> (Y) { G(a,k,b,c) = F(k,c,a,b)  T(n,k,h,w) +=! " + guard +
     " ? X(n,c,h + r - 1,w + s - 1) * G(r,k,s,c) : 0 where h in 0:H, w in 0:W  Y(n,k,h,w) = T(n,k,h,w) }"},
    {head +
     "Y(n,k,h,w) +=! (h + r - 1 >= 0 && h + r - 1 < H && w + s - 1 >= 0 && w + s - 1 < W && h >= 0 && r < 5) ? "
     "X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" +
     size},
    {"def f(float(A,B,C,H,W) X, float(K,C,R,S) F) -> (Y) { Y(a,b,k,h,w) +=! " + guard +
         " ? X(a,b,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" + size,
     {floats({2, 1, 3, 8, 9}), floats({4, 3, 3, 3})}},
};

class Unusual : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Unusual, WordsForAConvolutionAreFound) {
  const auto& own = words[GetParam()];
  EXPECT_EQ(find(own.text, own.inputs).has_value(), !own.finite) << "0 times an infinite weight is NaN: " << own.text;
  const auto call = find(own.text, own.inputs, true);
  ASSERT_TRUE(call) << own.text;
  const std::map<std::string, std::int64_t> wanted = {{"N", 2}, {"G", 1}, {"C", 3}, {"K", 4}, {"R", 3}, {"S", 3},
                                                      {"I", 8}, {"J", 9}, {"A", 8}, {"B", 9}, {"P", 1}, {"Q", 1},
                                                      {"U", 1}, {"V", 1}, {"D", 1}, {"E", 1}};
  auto numbers = call->numbers;
  if (numbers.at("I") == 9)
    for (const auto& [a, b] : {std::pair("I", "J"), std::pair("A", "B")}) std::swap(numbers.at(a), numbers.at(b));
  EXPECT_EQ(numbers, wanted) << own.text << "\n" << to_string(*call);
}

INSTANTIATE_TEST_SUITE_P(All, Unusual, ::testing::Range<std::size_t>(0, words.size()));

const std::vector<Words> near_misses = {
    {head +
     "Y(n,k,h,w) +=! (h + r - 1 >= 0 && h + r - 1 < H && w + s - 1 >= 0 && w + s - 1 < W) ? X(n,c,h + r - 1,w + s "
     "- 1) * F(k,c,s,r) * F(k,c,r,s) : 0" +
     size},
    {head +
     "Y(n,k,h,w) +=! (h + r - 1 >= 1 && h + r - 1 < H && w + s - 1 >= 0 && w + r - 1 >= 0 && w + s - 1 < W) ? "
     "X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" +
     size},
    {head + "Y(n,k,h,w) +=! " + guard + " ? X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 1" + size},
    {head + "Y(n,k,h,w) max=! " + guard + " ? X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" + size},
    {head + "Y(n,k,h,w) +=! " + guard + " ? X(n,c,h + r - 1,w + s - 1) + F(k,c,r,s) : 0" + size},
    {head + "Y(n,k,h,w) +=! " + guard + " ? X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) + X(n,c,h,w) : 0" + size},
    {head + "Y(n,k,h,w) = 1" + size.substr(0, size.size() - 1) + " , n in 0:2, k in 0:4 Y(n,k,h,w) += " + guard +
     " ? X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" + size},
    {head + "Y(n,k,h,w) +=! (h + r - 1 >= 0 && h + r - 1 < H && h - r + 1 < H && w + s - 1 >= 0 && w + s - 1 < W) ? "
            "X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0 where h in 0:12, w in 0:9 }"},
    {head +
     "Y(n,k,h,w) +=! (h + r - 1 >= 0 && h + r - 1 < H && w + s - 1 >= 0 && w + s - 1 < W && r + s < 4) ? X(n,c,h + "
     "r - 1,w + s - 1) * F(k,c,r,s) : 0" +
     size},
    {head + "Y(n,k,h,w) +=! " + guard + " ? X(n,c,h + r - 1,w + s - 1) * X(k,c,r,s) * F(k,c,r,s) : 0" + size,
     {floats({4, 3, 8, 9}), floats({4, 3, 3, 3})}},
    {head + "Y(n,k,h,w) +=! " + guard + " ? -X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" + size},
    {head + "Y(n,k,h,w) += " + guard + " ? X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" + size},
    {head +
     "Y(n,k,h,w) +=! (h - r + 1 >= 0 && h - r + 1 < H && w + s - 1 >= 0 && w + s - 1 < W) ? X(n,c,h - r + 1,w + s - "
     "1) * F(k,c,r,s) : 0" +
     size},
    {head +
     "Y(n,k,h,w) +=! (h + r - 1 >= 0 && h + r - 1 < H && w + s - 1 >= 0 && w + s - 1 < W) ? X(n,c,h + r - 1,w + s - "
     "1) * fabs(F(k,c,r,s)) : 0" +
     size},
};

class NearMiss : public ::testing::TestWithParam<std::size_t> {};

TEST_P(NearMiss, IsNoConvolution) {
  const auto& own = near_misses[GetParam()];
  const auto call = find(own.text, own.inputs);
  EXPECT_FALSE(call) << own.text << "\n" << to_string(*call);
}

INSTANTIATE_TEST_SUITE_P(All, NearMiss, ::testing::Range<std::size_t>(0, near_misses.size()));

TEST(Match, ReadsOffWhatIsNotPlain) {
  const auto strided = find(head + "Y(n,k,h,w) +=! X(n,c,2*h + 3*r,w + s) * F(k,c,r,s) }",
                            {floats({2, 3, 15, 9}), floats({4, 3, 3, 3})});
  ASSERT_TRUE(strided);
  EXPECT_EQ(strided->number("U"), 2);
  EXPECT_EQ(strided->number("D"), 3);
  EXPECT_EQ(strided->number("P"), 0);
  EXPECT_EQ(strided->number("I"), 15);
  const auto shifted = find(head +
                                "Y(n,k,h,w) +=! (h + r - 1 >= 1 && h + r - 1 < H && w + s - 1 >= 0 && w + s - 1 < W) ? "
                                "X(n,c,h + r - 1,w + s - 1) * F(k,c,r,s) : 0" +
                                size,
                            tensors);
  ASSERT_TRUE(shifted) << "a guard that leaves out a row is padding of another image";
  EXPECT_EQ(shifted->number("P"), 2);
  EXPECT_EQ(shifted->number("I"), 7);
  EXPECT_EQ(shifted->operands[0].offset, 9);
}

const std::string softmax = "M(n) max=! X(n,c)  E(n,c) = exp(X(n,c) - M(n))  S(n) +=! E(n,c)  Y(n,c) = E(n,c) / S(n) }";

const Library& softmaxes() {
  static const Library& library =
      *new Library{"softmaxes",
                   0,
                   descriptions().find,
                   {{"softmax", "def softmax(float(N,C) X) -> (Y) { " + softmax, {{DType::Float32, DType::Float32}}}}};
  return library;
}

TEST(Match, IteratorsThatRunThroughTemporariesHaveSizes) {
  const std::string deep =
      "def f(float(A,B,C) X) -> (Y) { M(a,b) max=! X(a,b,c)  E(a,b,c) = exp(X(a,b,c) - M(a,b))  S(a,b) +=! E(a,b,c)  "
      "Y(a,b,c) = E(a,b,c) / S(a,b) }";
  for (std::int64_t rows : {1, 3})
    for (std::int64_t columns : {1, 4}) {
      for (const auto& test :
           {TestCase{"def f(float(N,C) X) -> (Y) { " + softmax, {floats({rows, columns})}},
            TestCase{deep, {floats({1, rows, columns})}}, TestCase{deep, {floats({rows, 1, columns})}}}) {
        const auto call = call_of(test, softmaxes());
        ASSERT_TRUE(call) << rows << " x " << columns;
        EXPECT_EQ(call->number("N"), rows);
        EXPECT_EQ(call->number("C"), columns);
      }
      const auto call = call_of({deep, {floats({2, rows, columns})}}, softmaxes());
      ASSERT_TRUE(call);
      EXPECT_EQ(call->number("N"), 2 * rows);
    }
}

TEST(Prove, RefusesNumbersOfOtherExtents) {
  const auto routine = understand_routine(softmaxes().routines[0].def);
  const TestCase test{"def f(float(N,C) X) -> (Y) { " + softmax, {floats({3, 4})}};
  const auto function = function_of(test);
  const auto given = *understand({function->def, function->ranges}, arguments_of(test));
  int proved = 0;
  for (const auto& pairing : pair_up(given.value, routine.value)) {
    const auto problem = make_problem(given, pairing, {});
    for (const auto& assignment : assignments(problem, pairing, routine, false)) {
      auto call = read_off(problem, pairing, routine, assignment);
      if (!call || !prove(problem, {}, pairing, routine, assignment, *call)) continue;
      ++proved;
      for (const char* size : {"N", "C"}) {
        auto other = *call;
        --other.numbers.at(size);
        EXPECT_FALSE(prove(problem, {}, pairing, routine, assignment, other)) << size;
        other.numbers.erase(size);
        EXPECT_FALSE(prove(problem, {}, pairing, routine, assignment, other)) << "no " << size;
      }
    }
  }
  EXPECT_EQ(proved, 1);
}

}  // namespace
}  // namespace tc::library
