#include "tc/lang/interpret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/check.h"
#include "tc/lang/parse.h"
#include "test/support/interpret_text.h"

namespace tc::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

using Values = std::vector<double>;

HostTensor vec(DType type, const Values& values) {
  return dense(type, {static_cast<std::int64_t>(values.size())}, values);
}
HostTensor f32(const Values& values) {
  return vec(DType::Float32, values);
}
HostTensor i32(const Values& values) {
  return vec(DType::Int32, values);
}
HostTensor matrix(std::int64_t rows, std::int64_t columns, const Values& values) {
  return dense(DType::Float32, {rows, columns}, values);
}

/// The text of result `O` of \p text.
std::string run(const std::string& text, const Tensors& arguments) {
  return text_of(interpret_text(text, arguments).at("O"));
}

template <typename E, typename F>
std::string message(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

TEST(Interpret, FloatOperators) {
  const Tensors arguments{{"A", f32({3, -3, 5.5, 0})}, {"B", f32({2, 2, -2, 0})}};
  const std::pair<const char*, const char*> rows[] = {
      {"A(i) + B(i)", "5 -1 3.5 0"},
      {"A(i) - B(i)", "1 -5 7.5 0"},
      {"A(i) * B(i)", "6 -6 -11 0"},
      {"A(i) / B(i)", "1.5 -1.5 -2.75 nan"},
      {"A(i) % B(i)", "1 -1 1.5 nan"},
      {"-A(i)", "-3 3 -5.5 -0"},
      {"A(i) > B(i) ? A(i) : 2 * B(i)", "3 4 5.5 0"},
      {"float32(A(i) < B(i))", "0 1 0 0"},
      {"float32(A(i) <= B(i))", "0 1 0 1"},
      {"float32(A(i) > B(i))", "1 0 1 0"},
      {"float32(A(i) >= B(i))", "1 0 1 1"},
      {"float32(A(i) == B(i))", "0 0 0 1"},
      {"float32(A(i) != B(i))", "1 1 1 0"},
      {"float32(A(i) > 0 && B(i) > 0)", "1 0 0 0"},
      {"float32(A(i) > 0 || B(i) > 0)", "1 1 1 0"},
      {"float32(!(A(i) > 0))", "0 1 0 1"},
      {"A(i) + i", "3 -2 7.5 3"},
      {"A(i) + N", "7 1 9.5 4"},
      {"A(i) + A.0", "7 1 9.5 4"},
  };
  for (const auto& [rhs, expected] : rows)
    EXPECT_EQ(
        run(str("def f(float(N) A, float(N) B) -> (O) { O(i) = ", rhs, " where i in 0:N, exists A(i) }"), arguments),
        expected)
        << rhs;
}

TEST(Interpret, IntegerDivisionFloorsAndNeverTraps) {
  const Tensors arguments{{"A", i32({7, -7, 7, -7, 5, -2147483648.0})}, {"B", i32({2, 2, -2, -2, 0, -1})}};
  const std::string head = "def f(int(N) A, int(N) B) -> (O) { O(i) = ";
  EXPECT_EQ(run(head + "A(i) / B(i) }", arguments), "3 -4 -4 3 0 -2147483648");
  EXPECT_EQ(run(head + "A(i) % B(i) }", arguments), "1 1 -1 -1 0 0");
}

TEST(Interpret, IntegersWrapToTheirType) {
  struct Row {
    DType type;
    Values a, b;
    const char *sum, *product, *negation;
  };
  const Row rows[] = {
      {DType::Int8, {127, -128, 100}, {1, -1, 3}, "-128 127 103", "127 -128 44", "-127 -128 -100"},
      {DType::Int16, {32767, -32768}, {1, 2}, "-32768 -32766", "32767 0", "-32767 -32768"},
      {DType::Int32, {2147483647}, {2}, "-2147483647", "-2", "-2147483647"},
      {DType::UInt8, {255, 3}, {1, 100}, "0 103", "255 44", "1 253"},
      {DType::UInt16, {65535}, {2}, "1", "65534", "1"},
      {DType::UInt32, {4294967295.0}, {2}, "1", "4294967294", "1"},
  };
  for (const auto& row : rows) {
    const Tensors arguments{{"A", vec(row.type, row.a)}, {"B", vec(row.type, row.b)}};
    const std::string head = str("def f(", row.type, "(N) A, ", row.type, "(N) B) -> (O) { O(i) = ");
    EXPECT_EQ(run(head + "A(i) + B(i) }", arguments), row.sum) << row.type;
    EXPECT_EQ(run(head + "A(i) * B(i) }", arguments), row.product) << row.type;
    EXPECT_EQ(run(head + "-A(i) where exists B(i) }", arguments), row.negation) << row.type;
  }
}

TEST(Interpret, SixtyFourBitIntegersAreExact) {
  HostTensor a = dense(DType::UInt64, {3}), b = a;
  const std::uint64_t as[] = {~0ull, 1ull << 63, 5}, bs[] = {2, 3, ~0ull};
  std::copy_n(as, 3, static_cast<std::uint64_t*>(a.view().data));
  std::copy_n(bs, 3, static_cast<std::uint64_t*>(b.view().data));
  const Tensors arguments{{"A", a}, {"B", b}};
  const std::string head = "def f(uint64(N) A, uint64(N) B) -> (O) { O(i) = ";
  EXPECT_EQ(run(head + "A(i) / B(i) }", arguments), "9223372036854775807 3074457345618258602 0");
  EXPECT_EQ(run(head + "A(i) % B(i) }", arguments), "1 2 5");
  EXPECT_EQ(run(head + "A(i) < B(i) ? A(i) : B(i) }", arguments), "2 3 5");
  EXPECT_EQ(run(head + "max(A(i), B(i)) }", arguments),
            "18446744073709551615 9223372036854775808 18446744073709551615");
  EXPECT_EQ(run(head + "float64(A(i)) where exists B(i) }", arguments),
            "1.8446744073709552e+19 9.2233720368547758e+18 5");
  EXPECT_EQ(run("def f(uint64(N) A, uint64(N) B) -> (O) { O max=! A(i) where exists B(i) }", arguments),
            "18446744073709551615");
  HostTensor c = dense(DType::Int64, {1});
  *static_cast<std::int64_t*>(c.view().data) = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(run("def f(int64(N) A) -> (O) { O(i) = A(i) - 1 }", {{"A", c}}), "9223372036854775806");
  EXPECT_EQ(run("def f(int64(N) A) -> (O) { O(i) = A(i) + 1 }", {{"A", c}}), "-9223372036854775808");
}

TEST(Interpret, EveryTypeIsReadAndWritten) {
  const std::pair<DType, const char*> rows[] = {
      {DType::Bool, "0 1 1"},      {DType::Int8, "0 1 100"},     {DType::Int16, "0 1 100"},
      {DType::Int32, "0 1 100"},   {DType::Int64, "0 1 100"},    {DType::UInt8, "0 1 100"},
      {DType::UInt16, "0 1 100"},  {DType::UInt32, "0 1 100"},   {DType::UInt64, "0 1 100"},
      {DType::Float16, "0 1 100"}, {DType::BFloat16, "0 1 100"}, {DType::Float32, "0 1 100"},
      {DType::Float64, "0 1 100"},
  };
  for (const auto& [type, expected] : rows) {
    Tensors result =
        interpret_text(str("def f(int(N) A) -> (O) { O(i) = ", type, "(A(i)) }"), {{"A", i32({0, 1, 100})}});
    EXPECT_EQ(result.at("O").spec().dtype, type);
    EXPECT_EQ(text_of(result.at("O")), expected) << type;
    const Tensors again{{"A", result.at("O")}};
    EXPECT_EQ(run(str("def f(", type, "(N) A) -> (O) { O(i) = int32(A(i)) }"), again), expected) << type;
  }
}

TEST(Interpret, Casts) {
  const std::pair<const char*, const char*> rows[] = {
      {"int32(A(i))", "1 -1 300 2147483647 0"},
      {"uint8(A(i))", "1 0 255 255 0"},
      {"int8(int32(A(i)))", "1 -1 44 -1 0"},
      {"int64(A(i))", "1 -1 300 9223372036854775807 0"},
      {"bool(A(i))", "1 1 1 1 1"},
      {"float32(int32(A(i)) == 1)", "1 0 0 0 0"},
  };
  for (const auto& [rhs, expected] : rows)
    EXPECT_EQ(run(str("def f(float(N) A) -> (O) { O(i) = ", rhs, " }"), {{"A", f32({1.9, -1.9, 300, 1e30, nan})}}),
              expected)
        << rhs;
}

TEST(Interpret, HalvesRoundOnceWhenStored) {
  const HostTensor a = vec(DType::Float16, {2048, 1, 1, 1});
  EXPECT_EQ(run("def f(float16(N) A) -> (O) { O +=! A(i) }", {{"A", a}}), "2052");
  EXPECT_EQ(run("def f(float16(N) A) -> (O) { O(i) = A(0) + A(i) - A(0) where i in 1:4 }", {{"A", a}}), "1 1 1");
  EXPECT_EQ(run("def f(float16(N) A) -> (O) { O(i) = float16(A(0) + A(i)) - A(0) where i in 1:4 }", {{"A", a}}),
            "0 0 0");
  EXPECT_EQ(run("def f(float16(N) A) -> (O) { O(i) = 65504 + 16 * A(i) where i in 1:3 }", {{"A", a}}), "inf inf");
  const HostTensor b = vec(DType::BFloat16, {256, 1, 2});
  EXPECT_EQ(run("def f(bfloat16(N) A) -> (O) { O(i) = A(0) + A(i) }", {{"A", b}}), "512 256 258");
  EXPECT_EQ(run("def f(bfloat16(N) A) -> (O) { T(i) = A(0) + A(i)  O(i) = T(i) - A(0) }", {{"A", b}}), "256 0 2");
}

TEST(Interpret, FloatsRoundWhenStoredAndAtWrittenCasts) {
  const Tensors arguments{{"A", f32({16777216, 1})}};
  EXPECT_EQ(run("def f(float(N) A) -> (O) { O(i) = A(i) + A(1) }", arguments), "16777216 2");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { T(i) = A(i) + A(1)  O(i) = T(i) - A(i) }", arguments), "0 1");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { O(i) = float32(A(i) + A(1)) - A(i) }", arguments), "0 1");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { O(i) = A(i) == 0.1 ? 1 : 0 }", {{"A", f32({0.1})}}), "1");
  EXPECT_EQ(run("def f(double(N) A) -> (O) { O(i) = A(i) == 0.1 ? 1 : 0 }", {{"A", vec(DType::Float64, {0.1})}}), "1");
  EXPECT_EQ(run("def f(float(N) A) -> (double O) { O(i) = A(i) / 3 }", {{"A", f32({1})}}), "0.33333333333333331");
}

TEST(Interpret, Reductions) {
  const Tensors arguments{{"A", matrix(2, 3, {1, 2, 3, -4, 5, -6})}};
  const std::pair<const char*, const char*> rows[] = {
      {"O(i) +=! A(i,j)", "6 -5"},
      {"O(i) *=! A(i,j)", "6 120"},
      {"O(i) min=! A(i,j)", "1 -6"},
      {"O(i) max=! A(i,j)", "3 5"},
      {"O(i) &&=! A(i,j) > -5", "1 0"},
      {"O(i) ||=! A(i,j) > 4", "0 1"},
      {"O(j) +=! A(i,j)", "-3 7 -3"},
      {"O +=! A(i,j)", "1"},
      {"O(i,j) +=! A(i,j)", "1 2 3 -4 5 -6"},
      {"O(j,i) max=! A(i,j)", "1 -4 2 5 3 -6"},
  };
  for (const auto& [statement, expected] : rows)
    EXPECT_EQ(run(str("def f(float(N,M) A) -> (O) { ", statement, " }"), arguments), expected) << statement;
}

TEST(Interpret, EmptyRangesGiveTheIdentity) {
  const std::tuple<DType, const char*, const char*> rows[] = {
      {DType::Float32, "+=!", "0 0"},
      {DType::Float32, "*=!", "1 1"},
      {DType::Float32, "min=!", "inf inf"},
      {DType::Float16, "max=!", "-inf -inf"},
      {DType::Int8, "min=!", "127 127"},
      {DType::Int8, "max=!", "-128 -128"},
      {DType::Int32, "*=!", "1 1"},
      {DType::UInt16, "min=!", "65535 65535"},
      {DType::UInt16, "max=!", "0 0"},
      {DType::Int64, "min=!", "9223372036854775807 9223372036854775807"},
      {DType::UInt64, "min=!", "18446744073709551615 18446744073709551615"},
      {DType::Bool, "&&=!", "1 1"},
      {DType::Bool, "||=!", "0 0"},
  };
  for (const auto& [type, op, expected] : rows)
    EXPECT_EQ(run(str("def f(", type, "(N,K) A) -> (O) { O(i) ", op, " A(i,k) }"), {{"A", dense(type, {2, 0})}}),
              expected)
        << type << " " << op;
  EXPECT_EQ(run("def f(float(N,K) A) -> (O) { O(i) +=! A(i,k) }", {{"A", dense(DType::Float32, {0, 3})}}), "");
}

TEST(Interpret, NaNsPropagateThroughMinAndMax) {
  const Tensors arguments{{"A", matrix(3, 2, {nan, 1, 1, nan, 1, 2})}};
  const std::string head = "def f(float(N,M) A) -> (O) { ";
  EXPECT_EQ(run(head + "O(i) max=! A(i,j) }", arguments), "nan nan 2");
  EXPECT_EQ(run(head + "O(i) min=! A(i,j) }", arguments), "nan nan 1");
  EXPECT_EQ(run(head + "O(i) = max(A(i,0), A(i,1)) }", arguments), "nan nan 2");
  EXPECT_EQ(run(head + "O(i) = min(A(i,0), A(i,1)) }", arguments), "nan nan 1");
  EXPECT_EQ(run(head + "O(i) = fmax(A(i,0), A(i,1)) }", arguments), "1 1 2");
  EXPECT_EQ(run(head + "O(i) = fmin(A(i,0), A(i,1)) }", arguments), "1 1 1");
  EXPECT_EQ(run(head + "O(i) = A(i,0) < A(i,1) ? 1 : 0 }", arguments), "0 0 1");
  EXPECT_EQ(run(head + "O(i) = A(i,0) != A(i,0) ? 1 : 0 }", arguments), "1 0 0");
}

TEST(Interpret, Builtins) {
  const HostTensor a = f32({-2, 0.5, 3});
  const std::pair<const char*, const char*> rows[] = {
      {"abs(A(i))", "2 0.5 3"},
      {"relu(A(i))", "0 0.5 3"},
      {"clamp(A(i), -1, 1)", "-1 0.5 1"},
      {"select(A(i) > 0, A(i), 0.0)", "0 0.5 3"},
      {"float32(isnan(A(i) / (A(i) + 2) * 0))", "1 0 0"},
      {"float32(isinf(A(i) / (A(i) + 2)))", "1 0 0"},
      {"floor(A(i))", "-2 0 3"},
      {"ceil(A(i))", "-2 1 3"},
      {"round(A(i))", "-2 1 3"},
      {"pow(A(i), 2)", "4 0.25 9"},
      {"fma(A(i), 2, 1)", "-3 2 7"},
      {"norm4d(A(i), 0, 0, 0)", "2 0.5 3"},
      {"exp2(A(i))", "0.25 1.4142135381698608 8"},
      {"sqrt(fabs(A(i)) * 2)", "2 1 2.4494898319244385"},
      {"nextafter(A(i), 0) < A(i) ? 1 : 0", "0 1 1"},
      {"nextafter(1.0, A(i)) - 1", "-5.9604644775390625e-08 -5.9604644775390625e-08 1.1920928955078125e-07"},
  };
  for (const auto& [rhs, expected] : rows)
    EXPECT_EQ(run(str("def f(float(N) A) -> (O) { O(i) = ", rhs, " where exists A(i) }"), {{"A", a}}), expected) << rhs;
  const std::pair<const char*, const char*> integer_rows[] = {
      {"abs(A(i))", "128 0 7"},     {"relu(A(i))", "0 0 7"},   {"clamp(A(i), -3, 3)", "-3 0 3"},
      {"min(A(i), 3)", "-128 0 3"}, {"max(A(i), 3)", "3 3 7"}, {"popcount(A(i))", "25 0 3"},
  };
  for (const auto& [rhs, expected] : integer_rows)
    EXPECT_EQ(run(str("def f(int(N) A) -> (O) { O(i) = ", rhs, " }"), {{"A", i32({-128, 0, 7})}}), expected) << rhs;
  EXPECT_EQ(run("def f(int8(N) A) -> (O) { O(i) = popcount(A(i)) + abs(A(i)) }", {{"A", vec(DType::Int8, {-128, -1})}}),
            "-127 9");
}

TEST(Interpret, GuardedAccessesAreNotEvaluated) {
  const Tensors arguments{{"A", f32({1, 2, 3})}};
  const std::string head = "def f(float(N) A) -> (O) { ";
  EXPECT_EQ(run(head + "O(i) = (i >= 1 && i <= N) ? A(i-1) : 0 where i in 0:N+2 }", arguments), "0 1 2 3 0");
  EXPECT_EQ(run(head + "O(i) = (i < 1 || i > N) ? -1 : A(i-1) where i in 0:N+2 }", arguments), "-1 1 2 3 -1");
  EXPECT_EQ(run(head + "O(i) = i + 1 < N && A(i+1) > 2 where i in 0:N }", arguments), "0 1 0");
  EXPECT_EQ(run(head + "O(i) = i + 1 >= N || A(i+1) > 2 where i in 0:N }", arguments), "0 1 1");
  EXPECT_EQ(run(head + "O(i) +=! (i + k >= 2) ? A(i+k-2) : 0 where i in 0:N, k in 0:3 }", arguments), "1 3 6");
  EXPECT_EQ(run(head + "O(i) = A(min(max(i-2,0),N-1)) where i in 0:7 }", arguments), "1 1 1 2 3 3 3");
}

TEST(Interpret, ProgramOrderAndReusedTemporaries) {
  const Tensors arguments{{"A", f32({1, 2, 4})}};
  EXPECT_EQ(run("def f(float(N) A) -> (O) { t max=! A(i)  X(i) = A(i) - t  t +=! X(i)  O(i) = X(i) / t }", arguments),
            "0.60000002384185791 0.40000000596046448 -0");
  Tensors results = interpret_text(
      "def f(float(N) A) -> (P, O) { T(i) = A(i)  P(i) = T(i) + 1  T(i) = A(i) * 10  O(i) = T(i) + P(i) }", arguments);
  EXPECT_EQ(text_of(results.at("P")), "2 3 5");
  EXPECT_EQ(text_of(results.at("O")), "12 23 45");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { O(i) = A(i)  O(i) += A(i)  O(i) *= A(i) }", arguments), "2 8 32");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { O(i) = A(i)  O(i) = 0 where i in 1:2 }", arguments), "1 0 4");
}

TEST(Interpret, InPlaceStatementsReadBeforeTheyWrite) {
  const Tensors arguments{{"A", f32({1, 2, 4, 8})}};
  const std::string head = "def f(float(N) A) -> (O) { O(i) = A(i)  ";
  EXPECT_EQ(run(head + "O(i) = O(i) + 1 }", arguments), "2 3 5 9");
  EXPECT_EQ(run(head + "O(i) = O(i-1) where i in 1:4 }", arguments), "1 1 2 4");
  EXPECT_EQ(run(head + "O(i) = O(N-1-i) where i in 0:4 }", arguments), "8 4 2 1");
  EXPECT_EQ(run(head + "O(i) += O(k) where i in 0:4 }", arguments), "16 17 19 23");
  EXPECT_EQ(run(head + "O(i) +=! O(k) where i in 0:4 }", arguments), "15 15 15 15");
  EXPECT_EQ(run(head + "O(i) += O(i) where k in 0:3 }", arguments), "4 8 16 32");
}

TEST(Interpret, InOutTensorsStartFromTheCallersValues) {
  const Tensors arguments{{"A", matrix(2, 2, {1, 2, 3, 4})}, {"O", f32({10, 20})}};
  EXPECT_EQ(run("def f(float(N,M) A) -> (O) { O(i) += A(i,j) }", arguments), "13 27");
  EXPECT_EQ(run("def f(float(N,M) A) -> (O) { O(i) max= 5 * A(i,j) }", arguments), "10 20");
}

TEST(Interpret, Scalars) {
  const Tensors arguments{{"A", f32({1, 2})}, {"s", dense(DType::Float32, {}, {3})}};
  EXPECT_EQ(run("def f(float(N) A, float s) -> (O) { O(i) = s * A(i) }", arguments), "3 6");
  EXPECT_EQ(run("def f(float(N) A, float s) -> (O) { t = s + s()  O = t * A(1) }", arguments), "12");
  EXPECT_EQ(run("def f(float(N) A, float s) -> (O) { O +=! A(i) * s }", arguments), "9");
  EXPECT_EQ(
      run("def f(float(N) A, float s) -> (O) { t = s  t = t + 1  O(i) = t where i in 0:3, exists A(0) }", arguments),
      "4 4 4");
}

TEST(Interpret, MinsThatAreNotZero) {
  const Tensors arguments{{"A", f32({1, 2, 3, 4, 5})}};
  EXPECT_EQ(run("def f(float(N) A) -> (O) { O(i) = A(i) where i in 3:N }", arguments), "4 5");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { T(i) = A(i-2) where i in 2:7  O(i) = T(i+3) where i in -1:2 }", arguments),
            "1 2 3");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { T(i) = A(i+5) where i in -5:0  O(i) = T(-i-1) where i in 0:5 }", arguments),
            "5 4 3 2 1");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { O(i) = i where i in -2:2 }", arguments), "-2 -1 0 1");
}

TEST(Interpret, SubscriptArithmetic) {
  const Tensors arguments{{"A", f32({0, 1, 2, 3, 4, 5})}};
  const std::string head = "def f(float(N) A) -> (O) { O(i) = ";
  EXPECT_EQ(run(head + "A(2*i+1) where i in 0:3 }", arguments), "1 3 5");
  EXPECT_EQ(run(head + "A(N-1-i) where i in 0:6 }", arguments), "5 4 3 2 1 0");
  EXPECT_EQ(run(head + "A(i/2) where i in 0:6 }", arguments), "0 0 1 1 2 2");
  EXPECT_EQ(run(head + "A((i-3) % N) where i in 0:6 }", arguments), "3 4 5 0 1 2");
  EXPECT_EQ(run(head + "A((i-5)/2 + 3) where i in 0:6 }", arguments), "0 1 1 2 2 3");
  EXPECT_EQ(run(head + "A(i*i) where i in 0:3 }", arguments), "0 1 4");
}

TEST(Interpret, StridedAndReversedViews) {
  HostTensor reversed = strided(DType::Float32, {3}, {-2});
  for (int i = 0; i < 3; ++i) reversed.set(i, i + 1);
  HostTensor expanded = strided(DType::Float32, {2, 3}, {0, 1});
  for (int j = 0; j < 3; ++j) expanded.set(j, 10 * j);
  EXPECT_EQ(
      run("def f(float(M) A, float(N,M) B) -> (O) { O(i,j) = A(j) + B(i,j) }", {{"A", reversed}, {"B", expanded}}),
      "1 12 23 1 12 23");
  HostTensor out = strided(DType::Float32, {3, 2}, {-1, 5});
  Tensors results = interpret_text("def f(float(M) A) -> (float(M,2) O) { O(i,j) += A(i) + j where j in 0:2 }",
                                   {{"A", reversed}, {"O", out}});
  EXPECT_EQ(text_of(results.at("O")), "1 2 2 3 3 4");
}

TEST(Interpret, TensorsOfAnyAlignment) {
  lang::File file = lang::check(lang::parse("def f(float(N) A, int64(N) I) -> (O) { O(i) = A(i) + I(i) }"));
  const lang::Def& def = file.defs.at(0);
  std::vector<char> bytes(3 * 32);
  std::map<std::string, TensorView> tensors;
  const std::pair<const char*, DType> names[] = {{"A", DType::Float32}, {"I", DType::Int64}, {"O", DType::Float32}};
  for (const auto& [id, type] : names) {
    TensorView view;
    static_cast<TensorSpec&>(view) = contiguous(type, {2});
    view.data = bytes.data() + 1 + 32 * tensors.size();
    tensors[id] = view;
  }
  const float a[] = {1.5f, -2};
  const std::int64_t indices[] = {10, 20};
  std::memcpy(tensors["A"].data, a, sizeof a);
  std::memcpy(tensors["I"].data, indices, sizeof indices);
  lang::interpret(def, plain_ranges(def, {{"N", 2}}), {{"N", 2}}, tensors);
  float out[2];
  std::memcpy(out, tensors["O"].data, sizeof out);
  EXPECT_EQ(out[0], 11.5f);
  EXPECT_EQ(out[1], 18.0f);
}

TEST(Interpret, GathersCheckTheirIndices) {
  const std::string text = "def f(float(V,D) T, int(N) I) -> (O) { O(i,d) = T(I(i),d) }";
  const HostTensor table = matrix(3, 2, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run(text, {{"T", table}, {"I", i32({2, 0})}}), "5 6 1 2");
  for (double bad : {-1, 3}) {
    EXPECT_EQ(message<ArgumentError>([&] {
                run(text, {{"T", table}, {"I", i32({0, bad})}});
              }),
              str("subscript 0 of T, 'I(i)', is ", bad, ": it must be in [0, 3); the outputs are unspecified"));
  }
  const std::string guarded = "def f(float(V) T, int(N) I) -> (O) { O(i) = (I(i) >= 0 && I(i) < V) ? T(I(i)) : -1 }";
  EXPECT_EQ(run(guarded, {{"T", f32({7, 8})}, {"I", i32({1, -5, 2, 0})}}), "8 -1 -1 7");
}

TEST(Interpret, RefusesTensorsThatDoNotFit) {
  lang::File file = lang::check(lang::parse("def f(float(N) A) -> (O) { O(i) = A(i) }"));
  const lang::Def& def = file.defs.at(0);
  lang::Ranges ranges = plain_ranges(def, {{"N", 3}});
  HostTensor a = f32({1, 2, 3}), short_out = f32({0, 0}), int_out = i32({0, 0, 0});
  auto interpret_with = [&](std::map<std::string, TensorView> tensors) {
    return message<ArgumentError>([&] { lang::interpret(def, ranges, {{"N", 3}}, tensors); });
  };
  EXPECT_EQ(interpret_with({{"A", a.view()}}), "tensor 'O' of f is missing");
  EXPECT_EQ(interpret_with({{"A", a.view()}, {"O", short_out.view()}}),
            "'O' must be float32(3), the tensor given is float32(2)");
  EXPECT_EQ(interpret_with({{"A", a.view()}, {"O", int_out.view()}}),
            "'O' must be float32(3), the tensor given is int32(3)");
}

TEST(Interpret, AWrongRangeIsAnInternalError) {
  lang::File file = lang::check(lang::parse("def f(float(N) A) -> (O) { O(i) = A(i+1) where i in 0:N }"));
  const lang::Def& def = file.defs.at(0);
  HostTensor a = f32({1, 2}), out = f32({0, 0});
  EXPECT_EQ(message<InternalError>([&] {
              lang::interpret(def, plain_ranges(def, {{"N", 2}}), {{"N", 2}}, {{"A", a.view()}, {"O", out.view()}});
            }),
            "subscript 0 of A, 'i + 1', is 2: it must be in [0, 2), which range inference did not ensure");
}

}  // namespace
}  // namespace tc::test
