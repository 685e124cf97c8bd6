#include "tc/engine/describe/nest_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tc/base/error.h"
#include "tc/engine/compile/price_function.h"
#include "tc/engine/describe/describe_work.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"
#include "test/support/oracle.h"

namespace tc::engine::nest_candidates_test {
namespace {

struct Program {
  const char* text;
  std::vector<std::vector<std::int64_t>> shapes;
};

const Program programs[] = {
    {mm, {{37, 65}, {65, 50}}},
    {"def f(float(B,N) X) -> (M, Y) { M(b) max=! X(b,n)  Y(b,n) = 2 * (X(b,n) - M(b)) }", {{33, 70}}},
    {"def f(float(A,B) X) -> (T) { T(b,a) = X(a,b) }", {{37, 45}}},
    {"def f(float(C,H) X, float(M,C,K) W) -> (O, S) { O(m,h) +=! X(c,h+k) * W(m,c,k)  S(m) +=! O(m,h) }",
     {{8, 35}, {9, 8, 3}}},
};

/// Small integers, so that results are equal however they are summed.
test::Arguments arguments_of(const Function& function, const std::vector<std::vector<std::int64_t>>& shapes) {
  test::Arguments result;
  for (const auto& shape : shapes) {
    auto& tensor = result.inputs.emplace_back(contiguous(DType::Float32, shape));
    for (std::int64_t i = 0; i < tensor.spec().element_count(); ++i) tensor.set(i, static_cast<double>(i % 7) - 3);
  }
  for (const auto& info : infer_output_tensor_info(function, result.input_specs()))
    result.outputs.emplace_back(contiguous(info.dtype, info.shape));
  return result;
}

std::vector<NestCandidate> candidates(const std::shared_ptr<const Function>& function, const test::Arguments& arguments,
                                      const CompileOptions& options) {
  return nest_candidates(function, make_arguments(*function, arguments.input_specs(), {}), options, 40);
}

/// The predicted seconds of what is compiled with \p options.
double price_of(const std::shared_ptr<const Function>& function, const test::Arguments& arguments,
                const CompileOptions& options) {
  return price_function(function, make_arguments(*function, arguments.input_specs(), {}), options).value();
}

TEST(NestCandidates, AreCheapestFirstEachAnotherAndRight) {
  for (const auto& program : programs) {
    const auto function = define(program.text).functions.back();
    const auto arguments = arguments_of(*function, program.shapes);
    for (const char* target : {"cpu:avx2,cores=2,l1=32k,l2=1m,l3=8m", "cpu:plain,cores=1"}) {
      if (target == std::string("cpu:plain,cores=1") && program.text != std::string(mm)) continue;
      CompileOptions options;
      options.target = Target::parse(target);
      const auto found = candidates(function, arguments, options);
      ASSERT_GT(found.size(), 5u) << program.text;
      std::set<std::string> lines;
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(lines.insert(found[i].options.values().nest).second);
        EXPECT_TRUE(i < 2 || found[i].seconds >= found[i - 1].seconds);
        EXPECT_EQ(found[i].terms.size(), found[0].terms.size());
        if (i > 2 && i % 20 != 0) continue;
        options.mapping = found[i].options;
        EXPECT_NEAR(price_of(function, arguments, options), found[i].seconds, 1e-9 * found[i].seconds);
        EXPECT_EQ(test::mismatch(function, arguments, options), std::nullopt) << program.text << "\n"
                                                                              << found[i].options.to_text();
      }
    }
  }
}

/// What options choose comes first, and is compiled to the same code.
TEST(NestCandidates, BeginWithWhatOptionsChoose) {
  const auto function = define(mm).functions.back();
  const auto arguments = arguments_of(*function, programs[0].shapes);
  CompileOptions options;
  options.target = Target::parse("cpu:avx2,cores=2");
  const auto compiled = [&](const CompileOptions& how) {
    const auto executable = compile(function, arguments.input_specs(), {}, how);
    std::vector<std::string> code;
    for (const auto& part : executable->image().functions) code.push_back(part.bytes);
    return code;
  };
  auto named = options;
  named.mapping = candidates(function, arguments, options).front().options;
  EXPECT_TRUE(compiled(named) == compiled(options));
}

TEST(NestCandidates, AreKernelsOnGpus) {
  const auto function = define(mm).functions.back();
  const auto arguments = arguments_of(*function, {{512, 512}, {512, 512}});
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  const auto found = candidates(function, arguments, options);
  ASSERT_GT(found.size(), 5u);
  EXPECT_NE(found[1].options.values().nest.find("blocks of"), std::string::npos);
  for (const auto& candidate : found) {
    options.mapping = candidate.options;
    EXPECT_NEAR(price_of(function, arguments, options), candidate.seconds, 1e-9 * candidate.seconds)
        << candidate.options.to_text();
  }
}

/// What is said of a compile is about the nests that its options name.
TEST(NestCandidates, AreWhatIsDescribed) {
  const auto function = define(mm).functions.back();
  const auto arguments = arguments_of(*function, programs[0].shapes);
  CompileOptions options;
  options.target = Target::parse("cpu:avx2,cores=1,l1=32k,l2=1m,l3=8m");
  const auto last = candidates(function, arguments, options).back();
  options.mapping = last.options;
  const auto report = describe_work(function, make_arguments(*function, arguments.input_specs(), {}), options);
  ASSERT_EQ(report.prices.size(), 1u);
  EXPECT_NEAR(report.prices[0].seconds, last.seconds, 1e-9 * last.seconds);
}

TEST(NestCandidates, AreRefusedWhereSumsHaveFixedOrders) {
  const auto function = define(mm).functions.back();
  const auto arguments = arguments_of(*function, programs[0].shapes);
  auto options = checked();
  options.mapping = candidates(function, arguments, options).back().options.with_batch_invariant();
  EXPECT_ERROR(compile(function, arguments.input_specs(), {}, options), OptionsError, "leave out one");
}

TEST(NestCandidates, OfOtherStatementsAreRefused) {
  const auto function = define(mm).functions.back();
  auto options = checked();
  options.mapping = options.mapping.with_nest("nest of S0; S7|S0:|S7:");
  EXPECT_ERROR(compile(function, {contiguous(DType::Float32, {8, 8}), contiguous(DType::Float32, {8, 8})}, {}, options),
               OptionsError, "no loops hold the statements S0, S7 together");
}

}  // namespace
}  // namespace tc::engine::nest_candidates_test
