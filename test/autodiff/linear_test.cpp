#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tc/base/str.h"
#include "test/autodiff/gradient_fixture.h"

namespace tc::test {
namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace
}  // namespace tc::test

/// Work is counted in allocations, which do not depend on the machine and on what else runs on it.
void* operator new(std::size_t bytes) {
  ++tc::test::allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tc::test {
namespace {

/// `what` of k, for each k, joined by `between`.
template <typename F>
std::string joined(int count, const std::string& between, F&& what) {
  std::string text;
  for (int k = 1; k <= count; ++k) text += str(k > 1 ? between : "", what(k));
  return text;
}

/// Sums of halves, so that no text is deep.
std::string balanced(int first, int count) {
  if (count == 1) return str("tanh(A", first, "(i))");
  return str("(", balanced(first, count / 2), " + ", balanced(first + count / 2, count - count / 2), ")");
}

/// A chain of \p count statements, each \p what of the one before, A, and of its own number.
template <typename F>
std::string chain(int count, F&& what) {
  return str("def f(double(N) A0, double(N) W) -> (A", count, ") {\n",
             joined(count, "\n", [&](int k) { return str("A", k, "(i) = ", what(str("A", k - 1, "(i)"), k)); }), "\n}");
}

std::string sharing(int count) {
  return chain(count, [](const std::string& a, int) { return str("tanh(", a, ") * W(i)"); });
}
std::string adding(int count) {
  return chain(count, [](const std::string& a, int) { return str(a, " + W(i)"); });
}
std::string squaring(int count) {
  return chain(count, [](const std::string& a, int) { return str(a, " * ", a); });
}
std::string with_guards(int count) {
  return chain(count, [](const std::string& a, int k) { return str(a, " > ", k, " ? W(i) : ", a); });
}
std::string fanning(int count) {
  return str("def f(double(N) W) -> (O) {\n",
             joined(count, "\n", [](int k) { return str("A", k, "(i) = W(i) * ", k); }),
             "\nO(i) = ", balanced(1, count), "\n}");
}

struct Growing {
  const char* name;
  std::string (*text)(int count);
};

class LinearGradients : public testing::TestWithParam<Growing> {};

/// Twice as many statements take twice the work, whatever the sums in which a gradient adds up grow to.
TEST_P(LinearGradients, TakeWorkThatIsLinearInTheStatements) {
  const auto work = [&](int count) {
    const auto def = understand_def(GetParam().text(count));
    const std::uint64_t before = allocations;
    autodiff::differentiate(def.function, def.file.text);
    return static_cast<double>(allocations - before);
  };
  const double once = work(125), twice = work(250);
  EXPECT_LT(twice, 2.2 * once);
}

INSTANTIATE_TEST_SUITE_P(Defs, LinearGradients,
                         testing::Values(Growing{"Sharing", sharing}, Growing{"Adding", adding},
                                         Growing{"Squaring", squaring}, Growing{"WithGuards", with_guards},
                                         Growing{"Fanning", fanning}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(LongSums, AreAddedUpInSeveralStatements) {
  for (const auto& text : {sharing(150), with_guards(100), fanning(100)}) EXPECT_EQ(gradcheck(text, {{"N", 2}}), "");
}

TEST(LongSums, OfLikeTermsAreOneStatement) {
  EXPECT_EQ(gradient_text(adding(200), {.wrt = {"W"}}), "d_W(i) = 200 * d_A200(i)\n");
}

/// What is added to a tensor by other iterators stays a statement of its own.
TEST(LongSums, AreOfTheSameIterators) {
  EXPECT_EQ(gradient_text("def f(double(N) A) -> (T, O) { T(i,j) = cos(A(j)) where i in 0:N   O(i) = A(i) * A(i) }",
                          {.save_outputs = false}),
            "s_A(j) +=! d_T(i, j)\nd_A(j) = -s_A(j) * sin(A(j))\nd_A(i) += 2 * d_O(i) * A(i)\n");
}

/// One statement may add up more than a text may be deep.
TEST(LongSums, OfOneStatementAreNotDeep) {
  const std::string text = str("def f(double(N) A) -> (O) {\nO(i) = ", balanced(1, 500), "\n}");
  std::string one = text;
  for (int k = 500; k > 0; --k)
    for (std::size_t at; (at = one.find(str("A", k, "(i)"))) != std::string::npos;)
      one.replace(at, str("A", k, "(i)").size(), str("(A(i) * ", k, ")"));
  EXPECT_EQ(gradcheck(one, {{"N", 2}}), "");
}

TEST(NestedFunctions, HaveOneFactorEach) {
  EXPECT_EQ(gradient_text("def f(double(N) X) -> (O) { O(i) = tanh(tanh(X(i))) }"),
            "d_X(i) = d_O(i) * (1 - O(i) * O(i)) * (1 - tanh(X(i)) * tanh(X(i)))\n");
  std::string value = "X(i)";
  for (int k = 0; k < 24; ++k) value = str("tanh(", value, ")");
  EXPECT_EQ(gradcheck(str("def f(double(N) X) -> (O) { O(i) = ", value, " }"), {{"N", 3}}), "");
}

}  // namespace
}  // namespace tc::test
