#include "tc/engine/compile/body_operations.h"

#include <gtest/gtest.h>

#include "tc/engine/compile/pipeline.h"

namespace tc::engine {
namespace {

/// What the last statement of \p text computes, for one input of \p shape.
strategy::BodyOperations last_body(const std::string& text, std::vector<std::int64_t> shape) {
  auto function = define(text).functions.front();
  CompileOptions options;
  auto arguments = make_arguments(*function, {contiguous(DType::Float32, std::move(shape))}, {}, options);
  strategy::OperationsOfBodies bodies;
  map_launches(function, arguments, options, [&](CompileState& state) { bodies = body_operations(*state.program); });
  return bodies.rbegin()->second;
}

TEST(BodyOperations, CountsWhatAnInstanceComputes) {
  auto product = last_body("def f(float(M,K) A) -> (O) { O(i,j) +=! A(i,k) * A(j,k) }", {8, 8});
  EXPECT_EQ(product.simple, 1) << "a multiply-add";
  EXPECT_EQ(product.divisions + product.functions, 0);
  auto quotient = last_body("def f(float(M,K) A) -> (O) { O(i,k) = exp(A(i,k)) / A(i,k) }", {8, 8});
  EXPECT_EQ(quotient.divisions, 1);
  EXPECT_EQ(quotient.functions, 1);
  EXPECT_GT(last_body("def f(float(M,K) A) -> (O) { O(i,k) = tanh(A(i,k)) }", {8, 8}).functions, 1);
}

TEST(BodyOperations, CountsFunctionsAndExtremesByWhatTheyAreMadeOf) {
  EXPECT_EQ(last_body("def f(float(M,K) A) -> (O) { O(i) max=! A(i,k) }", {8, 8}).simple, 2) << "a NaN stays";
  EXPECT_EQ(last_body("def f(float(M,K) A) -> (O) { O(i,k) = tanh(A(i,k)) }", {8, 8}).functions, 2);
  EXPECT_GT(last_body("def f(float(M,K) A) -> (O) { O(i,k) = erf(A(i,k)) }", {8, 8}).functions, 2);
}

TEST(BodyOperations, CountsWhatStaysTheSameOnce) {
  auto scaled = last_body("def f(float(M,K) A) -> (O) { O(i,k) = A(i,k) * sqrt(A(i,0)) }", {8, 16});
  EXPECT_EQ(scaled.divisions, 1.0 / 16);
}

TEST(BodyOperations, CountsConditionsOnIndicesByTheirValues) {
  const auto padded = last_body(
      "def f(float(M,K) A) -> (O) { O(i,j) +=! i + k >= 1 && i + k < 9 ? A(i+k-1,k) * A(j,k) : 0 where i in 0:8, j in "
      "0:8, k in 0:2 }",
      {8, 8});
  EXPECT_GE(padded.simple, 1) << "a multiply-add";
  EXPECT_LE(padded.simple, 1.5) << "and what is the same for all j";
  const auto transposed = last_body(
      "def g(float(C,W) X) -> (O) { O(f,w) +=! (w + 1 - r) % 2 == 0 && w + 1 - r >= 0 && w + 1 - r < 2 * W ? X(c, (w + "
      "1 - r) / 2) * "
      "X(f, r) : 0 where w in 0:128, r in 0:4, f in 0:64 }",
      {64, 64});
  EXPECT_LE(transposed.simple, 1.1) << "a conjunction is computed once for all channels, too";
  const auto chosen = last_body("def f(float(M,K) A) -> (O) { O(i,k) = A(i,k) > 0 ? A(i,k) * 2 : 0 }", {8, 8});
  EXPECT_GE(chosen.simple, 3);
}

}  // namespace
}  // namespace tc::engine
