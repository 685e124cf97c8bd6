#include <gtest/gtest.h>

#include <algorithm>

#include "tc/base/str.h"
#include "test/lang/interpret_fixture.h"

namespace tc::test {
namespace {

TEST(InterpretValues, FloatOperators) {
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

TEST(InterpretValues, IntegerDivisionFloorsAndNeverTraps) {
  const Tensors arguments{{"A", i32({7, -7, 7, -7, 5, -2147483648.0})}, {"B", i32({2, 2, -2, -2, 0, -1})}};
  const std::string head = "def f(int(N) A, int(N) B) -> (O) { O(i) = ";
  EXPECT_EQ(run(head + "A(i) / B(i) }", arguments), "3 -4 -4 3 0 -2147483648");
  EXPECT_EQ(run(head + "A(i) % B(i) }", arguments), "1 1 -1 -1 0 0");
}

TEST(InterpretValues, IntegersWrapToTheirType) {
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

TEST(InterpretValues, SixtyFourBitIntegersAreExact) {
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

TEST(InterpretValues, EveryTypeIsReadAndWritten) {
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

TEST(InterpretValues, Casts) {
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

TEST(InterpretValues, HalvesRoundOnceWhenStored) {
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

TEST(InterpretValues, FloatsRoundWhenStoredAndAtWrittenCasts) {
  const Tensors arguments{{"A", f32({16777216, 1})}};
  EXPECT_EQ(run("def f(float(N) A) -> (O) { O(i) = A(i) + A(1) }", arguments), "16777216 2");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { T(i) = A(i) + A(1)  O(i) = T(i) - A(i) }", arguments), "0 1");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { O(i) = float32(A(i) + A(1)) - A(i) }", arguments), "0 1");
  EXPECT_EQ(run("def f(float(N) A) -> (O) { O(i) = A(i) == 0.1 ? 1 : 0 }", {{"A", f32({0.1})}}), "1");
  EXPECT_EQ(run("def f(double(N) A) -> (O) { O(i) = A(i) == 0.1 ? 1 : 0 }", {{"A", vec(DType::Float64, {0.1})}}), "1");
  EXPECT_EQ(run("def f(float(N) A) -> (double O) { O(i) = A(i) / 3 }", {{"A", f32({1})}}), "0.33333333333333331");
}

TEST(InterpretValues, Reductions) {
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

TEST(InterpretValues, EmptyRangesGiveTheIdentity) {
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

TEST(InterpretValues, NaNsPropagateThroughMinAndMax) {
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

TEST(InterpretValues, Builtins) {
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
      {"round(A(i))", "-2 0 3"},
      {"round(A(i) + 0.5)", "-2 1 4"},
      {"pow(A(i), 2)", "4 0.25 9"},
      {"A(i) ** 2", "4 0.25 9"},
      {"-A(i) ** 2", "-4 -0.25 -9"},
      {"min(inf, A(i))", "-2 0.5 3"},
      {"fmaxf(A(i), 0) + sqrtf(4)", "2 2.5 5"},
      {"cos(pi * A(i)) < -0.5 ? -inf : A(i) - A(i)", "0 0 -inf"},
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
  const std::pair<const char*, const char*> bit_rows[] = {
      {"A(i) & 7", "0 0 7"},
      {"A(i) & 5", "0 0 5"},
      {"A(i) | 9", "-119 9 15"},
      {"A(i) ^ 1", "-127 1 6"},
      {"~A(i)", "127 -1 -8"},
      {"A(i) << 3", "-1024 0 56"},
      {"A(i) >> 2", "-32 0 1"},
      {"A(i) >> 31", "-1 0 0"},
      {"A(i) << 31", "0 0 -2147483648"},
      {"1 << A(i)", "0 1 128"},
      {"A(i) >> 40 * i", "-128 0 0"},
      {"A(i) << 40 * i", "-128 0 0"},
      {"A(i) << A(i)", "0 0 896"},
      {"A(i) >> -i", "-128 0 0"},
      {"-A(i) >> A(i)", "0 0 -1"},
      {"A(i) ** 2", "16384 0 49"},
      {"-A(i) ** 3", "2097152 0 -343"},
      {"2 ** 5 - A(i)", "160 32 25"},
      {"A(i) & ~1", "-128 0 6"},
      {"int32(uint32(A(i)) >> 28)", "15 0 0"},
  };
  for (const auto& [rhs, expected] : bit_rows)
    EXPECT_EQ(run(str("def f(int(N) A) -> (O) { O(i) = ", rhs, " }"), {{"A", i32({-128, 0, 7})}}), expected) << rhs;
  EXPECT_EQ(run("def f(int8(N) A) -> (O) { O(i) = popcount(A(i)) + abs(A(i)) }", {{"A", vec(DType::Int8, {-128, -1})}}),
            "-127 9");
}

}  // namespace
}  // namespace tc::test
