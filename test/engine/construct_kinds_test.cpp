// Kinds of operators of the paper on Gensor, constructed: at shapes with borders, and whole for a grid.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "test/engine/engine_fixture.h"
#include "test/support/from_environment.h"

namespace tc::engine {
namespace {

struct Kind {
  const char* name;
  const char* text;
  std::vector<std::vector<std::int64_t>> shapes, whole;
};

const char* const gemm =
    "def f(float(M,K) A, float(K,N) B, float(M,N) D) -> (C) { C(m,n) +=! A(m,k) * B(k,n)  C(m,n) = 2 * C(m,n) + 3 * "
    "D(m,n) }";
const char* const gemv =
    "def f(float(M,N) A, float(N) x, float(M) z) -> (y) { y(m) +=! A(m,n) * x(n)  y(m) = 2 * y(m) + 3 * z(m) }";

const Kind kinds[] = {
    {"ConvolutionOfStride2",
     "def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,2*h+kh,2*w+kw) * K(m,c,kh,kw) }",
     {{1, 13, 31, 29}, {17, 13, 3, 3}},
     {{128, 256, 30, 30}, {256, 256, 3, 3}}},
    {"Convolution",
     "def f(float(N,C,H,W) I, float(M,C,KH,KW) K) -> (O) { O(n,m,h,w) +=! I(n,c,h+kh,w+kw) * K(m,c,kh,kw) }",
     {{3, 11, 19, 23}, {13, 11, 3, 3}},
     {{128, 128, 28, 28}, {128, 128, 3, 3}}},
    {"ProductOfPrimes", gemm, {{509, 127}, {127, 509}, {509, 509}}, {{8192, 8192}, {8192, 8192}, {8192, 8192}}},
    {"ProductOfOneRow", gemm, {{1, 509}, {509, 61}, {1, 61}}, {{65536, 1024}, {1024, 4096}, {65536, 4096}}},
    {"ProductWithAShortSum", gemm, {{4099, 4}, {4, 67}, {4099, 67}}, {{65536, 4}, {4, 1024}, {65536, 1024}}},
    {"MatrixVector", gemv, {{1021, 62}, {62}, {1021}}, {{16384, 1000}, {1000}, {16384}}},
    {"PoolingOf3",
     "def f(float(N,C,H,W) I) -> (O) { O(n,c,h,w) +=! I(n,c,2*h+kh,2*w+kw) where kh in 0:3, kw in 0:3 }",
     {{1, 617, 21, 21}},
     {{128, 617, 21, 21}}},
    {"Depthwise",
     "def f(float(N,C,H,W) I, float(C,KH,KW) K) -> (O) { O(n,c,h,w) +=! I(n,c,h+kh,w+kw) * K(c,kh,kw) }",
     {{1, 19, 21, 37}, {19, 3, 3}},
     {{128, 168, 83, 83}, {168, 3, 3}}},
    {"Transposition", "def f(float(A,B,C) X) -> (Y) { Y(c,b,a) = X(a,b,c) }", {{37, 5, 61}}, {{128, 168, 256}}},
    {"ThreeStatements",
     "def f(float(B,M) I, float(N,M) W, float(N) C) -> (O) { O(b,n) +=! I(b,m) * W(n,m)  O(b,n) = O(b,n) + C(n)  "
     "O(b,n) = fmax(O(b,n), 0) }",
     {{7, 131}, {53, 131}, {53}},
     {{128, 4096}, {4096, 4096}, {4096}}},
};

class EachKind : public testing::TestWithParam<Kind> {
 protected:
  static std::vector<float> run(const std::string& options) {
    const auto& kind = GetParam();
    auto function = define(kind.text).functions.back();
    std::vector<Floats> inputs;
    std::vector<TensorSpec> specs;
    for (const auto& shape : kind.shapes) inputs.push_back(count_up(shape));
    for (const auto& input : inputs) specs.push_back(input);
    CompileOptions how;
    how.mapping = options::MappingOptions::parse(options);
    auto outputs = infer_output_tensor_info(*function, specs);
    Floats output(outputs.front().shape, NAN);
    std::vector<TensorView> views(inputs.begin(), inputs.end());
    const TensorView written = output;
    compile(function, specs, {}, how)->run(views, {&written, 1});
    return output.values;
  }
};

/// The first policy, and one of the others, of the next kind another one; all where TC_ALL_RUNS=1, as in `make test-long`.
TEST_P(EachKind, IsRightAtItsBordersHoweverItIsConstructed) {
  static const char* const policies[] = {"construct", "construct:roller", "construct:gensor",
                                         "construct:gensor_printed"};
  const auto number = static_cast<std::size_t>(
      std::find_if(std::begin(kinds), std::end(kinds), [](auto& kind) { return kind.name == GetParam().name; }) -
      std::begin(kinds));
  const auto expected = run("");
  for (std::size_t i = 0; i < std::size(policies); ++i)
    if (i == 0 || i == 1 + number % 3 || test::from_environment("TC_ALL_RUNS", 0) != 0) {
      EXPECT_EQ(run(policies[i]), expected) << policies[i];
    }
}

TEST_P(EachKind, IsConstructedWholeForAGridThatIsNotHere) {
  const auto& kind = GetParam();
  auto function = define(kind.text).functions.back();
  std::vector<TensorSpec> specs;
  for (const auto& shape : kind.whole) specs.push_back(contiguous(DType::Float32, shape));
  CompileOptions how;
  how.target = Target::parse("cuda:sm_90");
  EXPECT_NO_THROW(compile(function, specs, {}, how));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachKind, testing::ValuesIn(kinds),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tc::engine
