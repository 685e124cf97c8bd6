#include "tc/autotuner/worker/check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

TEST(Difference, OfFloats) {
  struct Row {
    float got, want;
    bool same;
  };
  const float nan = std::nanf(""), inf = INFINITY;
  const Row rows[] = {{1, 1, true},    {1.000002f, 1, true}, {1.001f, 1, false}, {nan, nan, true}, {nan, 1, false},
                      {1, nan, false}, {inf, inf, true},     {inf, -inf, false}, {inf, 1, false},  {0, -0.0f, true}};
  auto spec = contiguous(DType::Float32, {2});
  for (const auto& row : rows) {
    float got[2] = {1, row.got}, want[2] = {1, row.want};
    auto text = difference(spec, reinterpret_cast<char*>(got), reinterpret_cast<char*>(want), {1});
    EXPECT_EQ(text.empty(), row.same) << row.got << " " << row.want << ": " << text;
  }
}

TEST(Difference, LongReductionsMayBeFurtherOff) {
  auto spec = contiguous(DType::Float32, {1});
  float got = 1.0002f, want = 1;
  auto compare = [&](double summands) {
    return difference(spec, reinterpret_cast<char*>(&got), reinterpret_cast<char*>(&want), {summands}).empty();
  };
  EXPECT_FALSE(compare(1));
  EXPECT_TRUE(compare(1e4));
}

TEST(Difference, OfIntegersIsExactAndFollowsStrides) {
  TensorSpec spec{DType::Int32, {2, 2}, {1, 2}};
  std::int32_t got[4] = {1, 2, 3, 4}, want[4] = {1, 2, 3, 4};
  auto text = [&] { return difference(spec, reinterpret_cast<char*>(got), reinterpret_cast<char*>(want), {1}); };
  EXPECT_EQ(text(), "");
  got[1] = 7;
  EXPECT_EQ(text(), "element 2 differs");
}

TEST(Tolerance, CountsTheSummandsOfAllReductions) {
  auto function =
      function_of("def f(float(M,K) A) -> (B, C, D) { B(m) +=! A(m,k)\n C +=! A(m,k)\n D(m,k) = A(m,k) - B(m) }");
  EXPECT_EQ(tolerance_of(*function, {matrix(3, 5)}).summands, 1 + 5 + 15);
}

/// The arguments of `sums`, whose reference says that every result is 2.
struct Case {
  std::shared_ptr<const engine::Function> function = function_of(sums_text);
  std::vector<engine::Argument> arguments = engine::make_arguments(*function, {matrix(2, 3)}, {});
  Layout layout = layout_of(arguments);
  std::vector<char> shared = std::vector<char>(layout.bytes, 0);

  Case() {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      auto* values = reinterpret_cast<float*>(shared.data() + layout.parts[i].offset);
      for (std::size_t k = 0; k < layout.parts[i].bytes / sizeof(float); ++k) values[k] = 2;
    }
  }
};

TEST(Tensors, ChecksFindEveryFault) {
  Case test;
  Tensors tensors(test.arguments, test.layout, test.shared.data(), Tensors::Inputs::Copied);
  auto element = [&](int argument, int index) -> float& {
    return static_cast<float*>(tensors.pointers()[argument])[index];
  };
  auto finish = [&] {
    tensors.poison();
    for (int i = 0; i < 6; ++i) element(0, i) = element(2, i) = 2;
    for (int i = 0; i < 2; ++i) element(1, i) = 2;
  };
  auto check = [&] { return tensors.check({1}); };
  EXPECT_NE(check(), "") << "outputs are poisoned";
  finish();
  EXPECT_EQ(check(), "");
  element(2, 5) = 3;
  EXPECT_EQ(check(), "'B': element 5 is 3 instead of 2");
  finish();
  element(0, 3) = 9;
  EXPECT_EQ(check(), "input 'A' was changed");
  finish();
  element(1, 2) = 2;
  EXPECT_EQ(check(), "'S': memory beside it was written");
}

TEST(Tensors, InputsMayBeWhereTheyAreShared) {
  Case test;
  Tensors tensors(test.arguments, test.layout, test.shared.data(), Tensors::Inputs::Shared);
  EXPECT_EQ(tensors.pointers()[0], test.shared.data() + test.layout.parts[0].offset);
  for (int argument : {1, 2})
    EXPECT_NE(tensors.pointers()[argument], test.shared.data() + test.layout.parts[argument].offset);
  EXPECT_NE(tensors.check({1}), "") << "outputs are poisoned";
  for (int argument : {1, 2})
    std::fill_n(static_cast<float*>(tensors.pointers()[argument]), argument == 1 ? 2 : 6, 2.0f);
  EXPECT_EQ(tensors.check({1}), "");
}

TEST(Tensors, OutputsThatAreReadHoldOnes) {
  auto function = function_of("def f(float(N) A) -> (S) { S += A(i) }");
  auto arguments = engine::make_arguments(*function, {contiguous(DType::Float32, {4})}, {});
  auto layout = layout_of(arguments);
  std::vector<char> shared(layout.bytes);
  Tensors tensors(arguments, layout, shared.data(), Tensors::Inputs::Copied);
  EXPECT_EQ(*static_cast<float*>(tensors.pointers()[1]), 1);
}

}  // namespace
}  // namespace tc::autotuner
