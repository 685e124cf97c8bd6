#include <gtest/gtest.h>

#include <random>

#include "tc/engine/define/gradient.h"
#include "test/engine/engine_fixture.h"
#include "test/support/from_environment.h"
#include "test/support/fuzz_settings.h"
#include "test/support/oracle.h"

/// A gradient takes what the def returns: it is right whatever either of them is compiled for, as two kernels give sums two
/// sequences of roundings.
namespace tc::engine {
namespace {

using test::HostTensor;

/// A def of X, Y and W whose gradient for W shares what each row gives among the W that the row takes.
struct SharingDef {
  const char* name;
  const char* text;
  double each;  ///< what a row gives
};

constexpr std::int64_t rows = 64, columns = 50, depth = 33;

const SharingDef sharing_defs[] = {
    {"OfASum",
     "def f(float(N,D) X, float(M,D) Y, float(M) W) -> (Z) {\n"
     "  Q(n,m) +=! (X(n,d) - Y(m,d)) * (X(n,d) - Y(m,d)) + W(m)   Z(n) min=! Q(n,m) }",
     depth},
    {"OfAnExpression",
     "def f(float(N,D) X, float(M,D) Y, float(M) W) -> (Z) {\n"
     "  Q(n,m) +=! X(n,d) * Y(m,d)   Z(n) max=! Q(n,m) * 0.5 + W(m) }",
     1},
    {"OfBoth",
     "def f(float(N,D) X, float(M,D) Y, float(M) W) -> (Q, Z) {\n"
     "  Q(n,m) +=! (X(n,d) - Y(m,d)) * (X(n,d) - Y(m,d)) + W(m)   Z(n) min=! Q(n,m) }",
     depth},
    {"ByComparison",
     "def f(float(N,D) X, float(M,D) Y, float(M) W) -> (Z, O) {\n"
     "  Q(n,m) +=! X(n,d) * Y(m,d)   Z(n) max=! Q(n,m)   O(n) +=! Q(n,m) >= Z(n) ? W(m) : 0 }",
     1},
    {"ByDifference",
     "def f(float(N,D) X, float(M,D) Y, float(M) W) -> (Z, O) {\n"
     "  Q(n,m) +=! X(n,d) * Y(m,d)   Z(n) max=! Q(n,m)   G(n,m) = Z(n) - Q(n,m)\n"
     "  O(n) +=! G(n,m) == 0 ? W(m) : 0 }",
     1},
    {"OfHalves",
     "def f(bfloat16(N,D) X, bfloat16(M,D) Y, bfloat16(M) W) -> (Z) {\n"
     "  Q(n,m) +=! X(n,d) * Y(m,d)   Z(n) max=! Q(n,m) + W(m) }",
     1},
};

HostTensor random_values(DType type, const std::vector<std::int64_t>& shape, std::mt19937_64& random) {
  HostTensor result(contiguous(type, shape));
  std::uniform_real_distribution<double> values(-1, 1);
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  for (std::int64_t i = 0; i < count; ++i) result.set(i, values(random));
  return result;
}

/// The outputs of \p function for \p inputs, compiled as \p setting says.
std::vector<HostTensor> results(const std::shared_ptr<const Function>& function, std::vector<HostTensor> inputs,
                                const test::FuzzSetting& setting) {
  CompileOptions options;
  options.mapping = options::MappingOptions::parse(setting.options);
  options.target = Target::parse(setting.target);
  test::Arguments arguments{std::move(inputs), {}};
  for (const auto& info : infer_output_tensor_info(*function, arguments.input_specs()))
    arguments.outputs.emplace_back(contiguous(info.dtype, info.shape));
  const auto executable = compile(function, arguments.input_specs(), {}, options);
  executable->run(arguments.input_views(), arguments.output_views());
  return arguments.outputs;
}

/// What the gradient of \p def gives W in all, compiled as \p backward says, where the def is compiled as \p forward says.
double shared(const SharingDef& def, const test::FuzzSetting& forward, const test::FuzzSetting& backward,
              std::mt19937_64& random) {
  const auto function = define(def.text).functions.front();
  const auto gradient = engine::gradient(function, {.wrt = {"W"}, .of = {function->def.returns.back().name}});
  const DType type = function->def.tensors.at("W").type;
  std::vector<HostTensor> inputs;
  for (const auto& shape : {std::vector{rows, depth}, std::vector{columns, depth}, std::vector{columns}})
    inputs.push_back(random_values(type, shape, random));
  const auto outputs = results(function, inputs, forward);
  for (const auto& name : gradient.saved)
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (function->def.returns[o].name == name) inputs.push_back(outputs[o]);
  inputs.emplace_back(contiguous(type, {rows}));
  for (std::int64_t n = 0; n < rows; ++n) inputs.back().set(n, 1);
  const auto shares = results(gradient.function, inputs, backward);
  double all = 0;
  for (std::int64_t m = 0; m < columns; ++m) all += shares.front().at(m);
  return all;
}

class GradientPairs : public testing::TestWithParam<SharingDef> {};

/// TC_GRADIENT_PAIRS pairs of options from TC_GRADIENT_PAIRS_FIRST on.
TEST_P(GradientPairs, ShareAllThatRowsGive) {
  const auto first = test::from_environment("TC_GRADIENT_PAIRS_FIRST", 1);
  const auto count = test::from_environment("TC_GRADIENT_PAIRS", 1);
  for (auto seed = first; seed < first + count; ++seed) {
    std::mt19937_64 random(seed);
    test::RandomProgram of_forward, of_backward;
    of_forward.seed = 2 * seed;
    of_backward.seed = 2 * seed + 1;
    const auto forward = test::cpu_setting_of(of_forward), backward = test::cpu_setting_of(of_backward);
    const double all = shared(GetParam(), forward, backward, random);
    EXPECT_NEAR(all, GetParam().each * rows, 0.01 * GetParam().each * rows)
        << "seed " << seed << ", " << forward.options << " " << forward.target << " and " << backward.options << " "
        << backward.target;
  }
}

/// Options that once gave a row to none.
TEST_P(GradientPairs, ShareWhatBlocksSumInAnotherOrder) {
  for (const char* options : {"fusion=max", "reduction_block=7"}) {
    std::mt19937_64 random(1);
    const double all = shared(GetParam(), {options, "cpu", false}, {"", "cpu", false}, random);
    EXPECT_NEAR(all, GetParam().each * rows, 0.01 * GetParam().each * rows) << options;
  }
}

INSTANTIATE_TEST_SUITE_P(Defs, GradientPairs, testing::ValuesIn(sharing_defs),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tc::engine
