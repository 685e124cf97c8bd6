#include <gtest/gtest.h>

#include "tc/engine/define/late_inlining.h"
#include "tc/engine/graph/compile.h"
#include "tc/engine/graph/symbolic_sizes.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"
#include "test/support/oracle.h"

namespace tc::engine {
namespace {

using Sizes = std::map<std::string, std::int64_t>;

test::Arguments arguments_for(const Function& function, const Sizes& sizes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  test::Arguments result;
  for (const auto& spec : inputs_for(function, sizes))
    result.inputs.push_back(test::random_integers(spec, -4, 5, random));
  for (const auto& info : infer_output_tensor_info(function, result.input_specs()))
    result.outputs.push_back(test::random_integers(info, -4, 5, random));
  return result;
}

/// The code of the def \p text for sizes up to \p largest, of which \p least are symbolic.
std::shared_ptr<const Executable> compiled(const std::string& text, const Sizes& largest, const Sizes& least,
                                           CompileOptions options = checked()) {
  auto function = define(text).functions.back();
  options.symbolic = least;
  auto made = compile(function, inputs_for(*function, largest), {}, options);
  EXPECT_TRUE(made->stats().fallbacks.empty()) << join(made->stats().fallbacks);
  return made;
}

/// Runs \p executable, of \p text, for \p sizes and compares with the interpreter.
void expect_right(const std::shared_ptr<const Executable>& executable, const std::string& text, const Sizes& sizes) {
  auto function = inlined(define(text).functions.back());
  auto arguments = arguments_for(*function, sizes, 7);
  const auto want = test::interpreted(*function, arguments);
  auto inputs = arguments.input_views(), outputs = arguments.output_views();
  bind_sizes(executable, *function, arguments.input_specs())->run(inputs, outputs);
  const auto wrong = test::first_difference(*function, arguments.outputs, want, {});
  EXPECT_FALSE(wrong) << *wrong;
  for (const auto& output : arguments.outputs) EXPECT_TRUE(output.guards_intact());
}

TEST(Symbolic, ElementsOfOneDimension) {
  const std::string text = "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }";
  auto executable = compiled(text, {{"N", 70}}, {{"N", 1}});
  for (std::int64_t n = 1; n <= 70; ++n) expect_right(executable, text, {{"N", n}});
}

TEST(Symbolic, RowsOfAProduct) {
  auto executable = compiled(mm, {{"M", 33}, {"K", 20}, {"N", 40}}, {{"M", 1}});
  for (std::int64_t m = 1; m <= 33; ++m) expect_right(executable, mm, {{"M", m}, {"K", 20}, {"N", 40}});
}

TEST(Symbolic, AllSizesOfAProduct) {
  auto executable = compiled(mm, {{"M", 20}, {"K", 24}, {"N", 40}}, {{"M", 1}, {"K", 1}, {"N", 1}});
  for (std::int64_t n : {1, 3, 8, 15, 16, 17, 31, 32, 33, 40})
    for (std::int64_t m : {1, 2, 5, 6, 7, 19, 20})
      for (std::int64_t k : {1, 4, 23, 24}) expect_right(executable, mm, {{"M", m}, {"K", k}, {"N", n}});
}

TEST(Symbolic, FewCodesForManySizes) {
  ExecutionEngine engine;
  engine.define(mm);
  auto options = checked();
  options.dynamic = {"M"};
  std::set<const void*> codes;
  for (std::int64_t m = 1; m <= 50; ++m) {
    auto a = count_up({m, 7}), b = count_up({7, 9});
    Floats c({m, 9}, 100);
    auto handle = engine.compile("mm", ExecutionEngine::Specs{a, b}, {}, options);
    engine.run(handle, {a, b}, {c});
    EXPECT_EQ(c.values, product(a, b));
    EXPECT_EQ(engine.compile("mm", ExecutionEngine::Specs{a, b}, {}, options), handle);
    codes.insert(reinterpret_cast<const void*>(engine.executable(handle)->functions().front().function));
  }
  EXPECT_EQ(codes.size(), 4u);
}

constexpr const char* growing = R"(
def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }
def positive(float(N,K) X) -> (Y) { Y(n,k) = fmax(X(n,k), 0) }
def join(float(T,K) A, float(1,K) B) -> (float(T+1,K) Y) { Y(t,k) = t < T ? A(t,k) : B(t - T,k) where t in 0:T+1 }
def cached(float(T,K) X, float(1,K) Z, float(K,K) W) -> (S, Y) {
  S = join(X, Z)  A = fc(S, W)  B(t,k) = A(t,k) + 1  C = positive(B)  Y = fc(Z, C)
})";

/// Compiles `cached` with a symbolic T for \p lengths and compares with the interpreter; the codes of the first part that are used.
std::set<const void*> run_cached(graph::Partition partition, const std::vector<std::int64_t>& lengths) {
  ExecutionEngine engine;
  engine.define(growing);
  const auto function = define(growing).functions.back();
  auto options = checked();
  options.dynamic = {"T"};
  options.partition = partition;
  std::set<const void*> codes;
  for (const auto length : lengths) {
    auto arguments = arguments_for(*function, {{"T", length}, {"K", 9}}, 11);
    const auto want = test::interpreted(*inlined(function), arguments);
    const auto handle = engine.compile("cached", arguments.input_specs(), {}, options);
    const auto executable = engine.executable(handle);
    EXPECT_GT(executable->image().parts, 1u);
    EXPECT_EQ(executable->stats().sizes,
              str("T from ", range_around(length, 1).min, " to ", range_around(length, 1).max));
    auto inputs = arguments.input_views(), outputs = arguments.output_views();
    executable->run(inputs, outputs);
    const auto wrong = test::first_difference(*inlined(function), arguments.outputs, want, {});
    EXPECT_FALSE(wrong) << *wrong;
    codes.insert(reinterpret_cast<const void*>(executable->functions().front().function));
  }
  return codes;
}

TEST(Symbolic, PartsOfAGraph) {
  EXPECT_EQ(run_cached(graph::Partition::Auto, {2, 3, 5, 8, 9, 17, 64}).size(), 3u);
  EXPECT_EQ(run_cached(graph::Partition::Each, {5, 6, 16}).size(), 1u);
}

TEST(Symbolic, RangesGrow) {
  EXPECT_EQ(range_around(1, 1), (lang::SizeRange{1, 1}));
  EXPECT_EQ(range_around(2, 1), (lang::SizeRange{2, 4}));
  EXPECT_EQ(range_around(4, 1), (lang::SizeRange{2, 4}));
  EXPECT_EQ(range_around(5, 1), (lang::SizeRange{5, 16}));
  EXPECT_EQ(range_around(64, 1), (lang::SizeRange{17, 64}));
  EXPECT_EQ(range_around(65, 1), (lang::SizeRange{65, 512}));
  EXPECT_EQ(range_around(65, 2), (lang::SizeRange{65, 256}));
  EXPECT_EQ(range_around(5, 2), (lang::SizeRange{5, 16}));
  EXPECT_EQ(range_around(5, 7), (lang::SizeRange{5, 8}));
}

TEST(Symbolic, SaysWhatItCannotDo) {
  EXPECT_ERROR(compiled(mm, {{"M", 4}, {"K", 4}, {"N", 4}}, {{"Q", 1}}), OptionsError,
               "'mm' has no size 'Q' to be symbolic");
  EXPECT_ERROR(compiled(mm, {{"M", 4}, {"K", 4}, {"N", 4}}, {{"M", 5}}), OptionsError,
               "the symbolic size 'M' of 'mm' begins at 5: it must be at least 1 and at most 4");
  const std::string flat = "def flat(float(A,B) X) -> (Y) { Y(i) = X(i / B, i % B) where i in 0:A*B }";
  EXPECT_ERROR(compiled(flat, {{"A", 4}, {"B", 4}}, {{"A", 1}, {"B", 1}}), OptionsError,
               "is not affine in the symbolic sizes A, B: give one of them a value");
  auto executable = compiled(mm, {{"M", 8}, {"K", 4}, {"N", 4}}, {{"M", 2}});
  auto function = define(mm).functions.back();
  EXPECT_ERROR(bind_sizes(executable, *function, inputs_for(*function, {{"M", 9}, {"K", 4}, {"N", 4}})), ArgumentError,
               "this code of 'mm' is for M from 2 to 8, not for 9");
}

}  // namespace
}  // namespace tc::engine
