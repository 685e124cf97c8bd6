#include <gtest/gtest.h>

#include <thread>

#include "tc/base/str.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

/// Executables that hold some of their inputs.
namespace tc::engine::constants_test {
namespace {

const std::string scaled =
    "def scale(float(K,C) W, float(K) g) -> (S) { S(k,c) = W(k,c) * g(k) }\n"
    "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
    "def main(float(N,C) X, float(K,C) W, float(K) g) -> (Y) { S = scale(W, g)  Y = fc(X, S) }\n";

/// The same without calls.
const std::string scaled_here =
    "def main(float(N,C) X, float(K,C) W, float(K) g) -> (Y) {\n"
    "  S(k,c) = W(k,c) * g(k)  Y(n,k) +=! X(n,c) * S(k,c) }\n";

std::vector<float> scaled_product(const Floats& x, const Floats& w, const Floats& g) {
  const auto n = x.shape[0], c = x.shape[1], k = w.shape[0];
  std::vector<float> y(static_cast<std::size_t>(n * k));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < k; ++j)
      for (std::int64_t l = 0; l < c; ++l) y[i * k + j] += x.values[i * c + l] * w.values[j * c + l] * g.values[j];
  return y;
}

/// A constant that borrows \p array.
template <typename T>
Constant constant(const std::string& name, Array<T>& array) {
  return {name, array, {array.data, [](void*) {}}, std::nullopt};
}

CompileOptions with(std::vector<Constant> constants) {
  auto options = checked();
  options.constants = std::move(constants);
  return options;
}

std::vector<float> run_one(const Executable& executable, const std::vector<TensorView>& inputs,
                           std::vector<std::int64_t> shape) {
  Floats result(std::move(shape), -77);
  executable.run(inputs, std::vector<TensorView>{result});
  return result.values;
}

class Constants : public ::testing::TestWithParam<std::string> {};

TEST_P(Constants, AreHeldAndFolded) {
  auto function = define(GetParam()).functions.back();
  auto x = count_up({3, 5}), w = count_up({4, 5}), g = count_up({4});
  auto options = with({constant("g", g), constant("W", w)});
  auto executable = compile(function, {x, w, g}, {}, options);
  const auto& image = executable->image();
  EXPECT_EQ(image.input_count(), 1);
  EXPECT_EQ(image.parts, 1u) << "the scaled weights are computed by the compile";
  ASSERT_EQ(image.constants.size(), 3u);
  EXPECT_EQ(image.constants[0].name, "S");
  EXPECT_EQ(image.constants[1].name, "W");
  EXPECT_EQ(image.constants[2].name, "g");
  EXPECT_EQ(run_one(*executable, {x}, {3, 4}), scaled_product(x, w, g));
  options.interpret = true;
  EXPECT_EQ(run_one(*compile(function, {x, w, g}, {}, options), {x}, {3, 4}), scaled_product(x, w, g));
}

TEST_P(Constants, AreSavedWithTheCode) {
  auto function = define(GetParam()).functions.back();
  auto x = count_up({3, 5}), w = count_up({4, 5}), g = count_up({4});
  const auto wanted = scaled_product(x, w, g);
  auto bytes = compile(function, {x, w, g}, {}, with({constant("W", w), constant("g", g)}))->image().serialise();
  w.values.assign(w.values.size(), -1);
  Executable loaded(Image::deserialise(bytes));
  EXPECT_EQ(run_one(loaded, {x}, {3, 4}), wanted);
  EXPECT_EQ(loaded.image().all_arguments().size(), 4u);
  EXPECT_EQ(loaded.image().all_arguments()[1].name, "W");
}

TEST_P(Constants, SomeAreBoundOthersTaken) {
  auto function = define(GetParam()).functions.back();
  auto x = count_up({3, 5}), w = count_up({4, 5}), g = count_up({4});
  auto bound_x = compile(function, {x, w, g}, {}, with({constant("X", x)}));
  EXPECT_EQ(run_one(*bound_x, {w, g}, {3, 4}), scaled_product(x, w, g));
  EXPECT_EQ(bound_x->image().constants.size(), 1u);
  auto all = compile(function, {x, w, g}, {}, with({constant("X", x), constant("g", g), constant("W", w)}));
  EXPECT_EQ(run_one(*all, {}, {3, 4}), scaled_product(x, w, g));
}

INSTANTIATE_TEST_SUITE_P(Texts, Constants, ::testing::Values(scaled, scaled_here));

TEST(ConstantTensors, MayHaveStridesAndAreSavedSo) {
  auto function = define(mm).functions.back();
  auto a = count_up({3, 5}), b = count_up({5, 4}), turned = count_up({4, 5});
  for (std::int64_t k = 0; k < 5; ++k)
    for (std::int64_t n = 0; n < 4; ++n) turned.values[n * 5 + k] = b.values[k * 4 + n];
  const TensorSpec spec{DType::Float32, {5, 4}, {1, 5}};
  auto executable = compile(function, {a, spec}, {}, with({{"B", spec, {turned.data, [](void*) {}}, std::nullopt}}));
  EXPECT_EQ(run_one(*executable, {a}, {3, 4}), product(a, b));
  Executable loaded(Image::deserialise(executable->image().serialise()));
  EXPECT_EQ(run_one(loaded, {a}, {3, 4}), product(a, b));
}

TEST(ConstantTensors, ThreadsShareThem) {
  auto function = define(scaled).functions.back();
  auto x = count_up({3, 5}), w = count_up({4, 5}), g = count_up({4});
  ExecutionEngine engine;
  engine.define(scaled);
  auto handle = engine.compile("main", {x, w, g}, {}, with({constant("W", w), constant("g", g)}));
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = run_one(*engine.executable(handle), {x}, {3, 4}); });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, scaled_product(x, w, g));
  EXPECT_FALSE(engine.stage_texts(handle).empty());
}

TEST(ConstantTensors, AnOutputMayNotBeOne) {
  auto function = define("def f(float(N) X, float(N) W) -> (Y) { Y(n) = X(n) + W(n) }").functions.back();
  auto x = count_up({5}), w = count_up({5});
  auto executable = compile(function, {x, w}, {}, with({constant("W", w)}));
  EXPECT_NE(message<ArgumentError>([&] {
              executable->run(std::vector<TensorView>{x}, std::vector<TensorView>{w});
            }).find("output 'Y' shares memory with 'W', which is constant"),
            std::string::npos);
  executable->run(std::vector<TensorView>{x}, std::vector<TensorView>{x});
  auto twice = count_up({5});
  for (auto& value : twice.values) value *= 2;
  EXPECT_EQ(x.values, twice.values) << "in place of the input that is left";
}

TEST(ConstantTensors, AnIndexThatLeavesItsTensorIsTold) {
  auto function = define("def f(float(N) X, int32(M) I) -> (Y) { Y(m) = X(I(m)) }").functions.back();
  auto x = count_up({5});
  Array<std::int32_t> index({3}, 4);
  index.values[1] = 7;
  auto executable = compile(function, {x, index}, {}, with({constant("I", index)}));
  EXPECT_NE(message<ArgumentError>([&] { run_one(*executable, {x}, {3}); }).find("I(1) is 7"), std::string::npos);
}

TEST(ConstantTensors, AreCheckedBeforeTheCompile) {
  auto function = define(mm).functions.back();
  auto a = count_up({3, 5}), b = count_up({5, 4}), other = count_up({5, 3});
  auto told = [&](std::vector<Constant> constants) {
    return message<ArgumentError>([&] { compile(function, {a, b}, {}, with(std::move(constants))); });
  };
  EXPECT_EQ(told({constant("D", b)}), "'mm' has no parameter 'D' to bind a constant to");
  EXPECT_EQ(told({constant("B", b), constant("B", b)}), "two constants are given for the parameter 'B'");
  EXPECT_EQ(told({constant("B", other)}),
            "the constant 'B' is float32(5, 3), and the input is compiled for float32(5, 4)");
  auto options = with({constant("B", b)});
  options.target = Target::parse("cuda:sm_90");
  EXPECT_EQ(message<OptionsError>([&] { compile(function, {a, b}, {}, options); }).substr(0, 45),
            "constants are bound on targets of CPUs only, ");
}

TEST(ConstantTensors, DamagedBytesAreRefused) {
  auto function = define(mm).functions.back();
  auto a = count_up({3, 5}), b = count_up({5, 4});
  auto image = compile(function, {a, b}, {}, with({constant("B", b)}))->image();
  image.constants[0].parameter = 3;
  EXPECT_ERROR(Image::deserialise(image.serialise()), ArgumentError, "the bytes of an executable are damaged");
  image.constants.clear();
  EXPECT_ERROR(Image::deserialise(image.serialise()), ArgumentError, "the bytes of an executable are damaged");
}

}  // namespace
}  // namespace tc::engine::constants_test
