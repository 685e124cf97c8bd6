#include "tc/halide_bridge/lower.h"

#include <gtest/gtest.h>

#include "tc/halide_bridge/infer_ranges.h"
#include "test/halide_bridge/checked_def.h"

namespace tc::halide_bridge {
namespace {

Program lowered(const std::string& text, const lang::SizeMap& sizes) {
  const auto def = checked_def(text);
  return lower(def, infer_ranges(def, text), sizes);
}

struct Case {
  const char* what;
  std::string text;
  lang::SizeMap sizes;
  std::string program;  ///< launches only
};

class Lower : public testing::TestWithParam<Case> {};

TEST_P(Lower, PrintsAs) {
  const auto& test = GetParam();
  const std::string text = print(lowered(test.text, test.sizes));
  const auto launches = text.find("launch");
  EXPECT_EQ(launches == std::string::npos ? "" : "\n" + text.substr(launches), test.program) << test.text;
}

const Case statements[] = {
    {"Elementwise", "def f(float(N) A) -> (O) { O(i) = A(i) + 1 }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = A(i) + 1.0
)"},
    {"Contraction",
     "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     {{"M", 2}, {"K", 3}, {"N", 4}},
     R"(
launch 0
  S0[m in 0:2, n in 0:4]: C(m, n) = identity(+)
  S1[m in 0:2, n in 0:4, k in 0:3]: C(m, n) += A(m, k)*B(k, n)
)"},
    {"AccumulateIntoCaller", "def f(float(M,K) A) -> (float(M) C) { C(m) += A(m,k) }", {{"M", 2}, {"K", 3}}, R"(
launch 0
  S0[m in 0:2, k in 0:3]: C(m) += A(m, k)
)"},
    {"AccumulateIntoEarlier",
     "def f(float(M,K) A) -> (C) { C(m) = 1.0 where m in 0:M C(m) max= A(m,k) }",
     {{"M", 2}, {"K", 3}},
     R"(
launch 0
  S0[m in 0:2]: C(m) = 1.0
  S1[m in 0:2, k in 0:3]: C(m) max= A(m, k)
)"},
    {"Scalars", "def f(float s, float(N) A) -> (o) { o +=! A(i) * s }", {{"N", 4}}, R"(
launch 0
  S0[]: o() = identity(+)
  S1[i in 0:4]: o() += A(i)*s()
)"},
    {"NonZeroMin", "def f(float(N) A) -> (O) { O(i) = A(i - 2) }", {{"N", 4}}, R"(
launch 0
  S0[i in 2:6]: O(i) = A(i - 2)
)"},
    {"EmptyReduction", "def f(float(M,K) A) -> (C) { C(m) +=! A(m,k) }", {{"M", 2}, {"K", 0}}, R"(
launch 0
  S0[m in 0:2]: C(m) = identity(+)
)"},
    {"EmptyStatement", "def f(float(M,K) A) -> (C) { C(m) +=! A(m,k) }", {{"M", 0}, {"K", 3}}, ""},
    {"SizesAreConstants", "def f(float(N) A) -> (O) { O(i) = A(N - 1 - i) * N + A.0 }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = (A(3 - i)*4.0) + 4.0
)"},
};

const Case conversions[] = {
    {"HalfComputesInFloat32", "def f(float16(N) A, bfloat16(N) B) -> (O) { O(i) = A(i) * A(i) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = A(i)*A(i)
)"},
    {"WrittenHalfCastRounds",
     "def f(float(N) A) -> (O) { O(i) = float(float16(A(i))) + float(bfloat16(A(i))) }",
     {{"N", 4}},
     R"(
launch 0
  S0[i in 0:4]: O(i) = float32(float16(A(i))) + float32(bfloat16(A(i)))
)"},
    {"DoubleToHalfRoundsOnce", "def f(double(N) A) -> (float16(N) O) { O(i) = A(i) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = float32(float16(A(i)))
)"},
    {"IntToHalf", "def f(int32(N) A, int8(N) B) -> (O) { O(i) = float16(A(i)) + float16(B(i)) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = float32(float16(float64(A(i)))) + float32(float16(float32(B(i))))
)"},
    {"HalfSum", "def f(float16(M,K) A) -> (C) { C(m) +=! A(m,k) * A(m,k) }", {{"M", 2}, {"K", 3}}, R"(
launch 0
  S0[m in 0:2]: C_acc'(m) = identity(+)
  S1[m in 0:2, k in 0:3]: C_acc'(m) += A(m, k)*A(m, k)
  S2[m in 0:2]: C(m) = C_acc'(m)
)"},
    {"HalfSumOfDoubles", "def f(double(M,K) A) -> (float16(M) C) { C(m) +=! A(m,k) }", {{"M", 2}, {"K", 3}}, R"(
launch 0
  S0[m in 0:2]: C_acc'(m) = identity(+)
  S1[m in 0:2, k in 0:3]: C_acc'(m) += float32(A(m, k))
  S2[m in 0:2]: C(m) = C_acc'(m)
)"},
    {"HalfSumIntoCaller", "def f(bfloat16(M,K) A) -> (bfloat16(M) C) { C(m) += A(m,k) }", {{"M", 2}, {"K", 3}}, R"(
launch 0
  S0[m in 0:2]: C_acc'(m) = C(m)
  S1[m in 0:2, k in 0:3]: C_acc'(m) += A(m, k)
  S2[m in 0:2]: C(m) = C_acc'(m)
)"},
    {"HalfMaxIsExact", "def f(float16(M,K) A) -> (C) { C(m) max=! A(m,k) }", {{"M", 2}, {"K", 3}}, R"(
launch 0
  S0[m in 0:2]: C(m) = identity(max)
  S1[m in 0:2, k in 0:3]: C(m) max= A(m, k)
)"},
    {"HalfAddOfOneElement", "def f(float16(M) A) -> (float16(M) C) { C(m) += A(m) }", {{"M", 2}}, R"(
launch 0
  S0[m in 0:2]: C(m) += A(m)
)"},
    {"BoolFromNumber", "def f(int32(N) A) -> (O) { O(i) = bool(A(i)) && !bool(A(i) + 1) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = (A(i) != 0) && !(reinterpret(uint32(A(i)) + uint32(1)) != 0)
)"},
    {"NumberFromBool", "def f(bool(N) A) -> (O) { O(i) = int32(A(i)) + float(A(i)) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = float32(int32(A(i))) + float32(A(i))
)"},
    {"FloatToInt", "def f(float(N) A) -> (O) { O(i) = int32(A(i)) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = let x.real = A(i) in select(x.real >= 2.14748e+09, 2147483647, select(x.real > -2.14748e+09, int32(x.real), select(x.real <= -2.14748e+09, -2147483648, 0)))
)"},
};

const Case arithmetic[] = {
    {"UnknownIntegersWrap", "def f(int32(N) A) -> (O) { O(i) = A(i) * A(i) - 1 }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = reinterpret(uint32(reinterpret(uint32(A(i))*uint32(A(i)))) - uint32(1))
)"},
    {"NarrowIntegersDoNotLeaveInt32",
     "def f(int8(N) A, uint8(N) B) -> (O) { O(i) = int32(A(i)) * int32(B(i)) + 1 }",
     {{"N", 4}},
     R"(
launch 0
  S0[i in 0:4]: O(i) = (int32(A(i))*int32(B(i))) + 1
)"},
    {"UnsignedWrapsItself", "def f(uint32(N) A) -> (O) { O(i) = A(i) * A(i) + 1 }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = (A(i)*A(i)) + 1u
)"},
    {"IteratorsDoNotOverflow", "def f(float(N) A) -> (O) { O(i) = A(i) * (3 * i + 1) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = A(i)*float32(((3*i) + 1))
)"},
    {"FloorDivByPositive", "def f(int32(N) A) -> (O) { O(i) = A(i) / 3 + A(i) % 3 }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = (A(i)/3) + (A(i) % 3)
)"},
    {"FloorDivByUnsigned", "def f(uint32(N) A, uint32(N) B) -> (O) { O(i) = A(i) / B(i) % B(i) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = (A(i)/B(i)) % B(i)
)"},
    {"FloorDivByAnything", "def f(int32(N) A, int32(N) B) -> (O) { O(i) = A(i) / B(i) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = select(B(i) == -1, reinterpret(uint32(0) - uint32(A(i))), (A(i)/B(i)) - select((B(i) < 0) && ((A(i) % B(i)) != 0), 1, 0))
)"},
    {"FloorModByAnything", "def f(int32(N) A, int32(N) B) -> (O) { O(i) = A(i) % B(i) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = (A(i) % B(i)) + select((B(i) < 0) && ((A(i) % B(i)) != 0), B(i), 0)
)"},
    {"FloatDivAndMod", "def f(float(N) A) -> (O) { O(i) = A(i) / 3.0 % 2.0 }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = tc_fmod_f32(A(i)/3.0, 2.0)
)"},
    {"MinusKeepsSignOfZero", "def f(float(N) A, int32(N) B) -> (O) { O(i) = -A(i) + float(-B(i)) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = (A(i)*-1.0) + float32(reinterpret(uint32(0) - uint32(B(i))))
)"},
    {"NothingFolds", "def f(float(N) A) -> (O) { O(i) = A(i) * 0.0 + 0.0 - (A(i) - A(i)) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = ((A(i)*0.0) + 0.0) - (A(i) - A(i))
)"},
    {"NotOfComparison", "def f(float(N) A) -> (O) { O(i) = !(A(i) < 0) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = bitwise_xor(A(i) < 0.0, true)
)"},
    {"NotOfIndexComparison", "def f(float(N) A) -> (O) { O(i) = !(i < 2) && A(i) > 0 }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = !(i < 2) && (A(i) > 0.0)
)"},
};

const Case functions[] = {
    {"FloatMinMax",
     "def f(float(N) A, double(N) B) -> (O, P) { O(i) = min(A(i), max(A(i), 0)) P(i) = fmin(B(i), fmax(B(i), 0)) }",
     {{"N", 4}},
     R"(
launch 0
  S0[i in 0:4]: O(i) = tc_min_f32(A(i), tc_max_f32(A(i), 0.0))
  S1[i in 0:4]: P(i) = tc_fmin_f64(B(i), tc_fmax_f64(B(i), 0.0))
)"},
    {"IntMinMax", "def f(int32(N) A) -> (O) { O(i) = min(A(i), 7) + relu(A(i)) + clamp(A(i), 0, 9) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = reinterpret(uint32(reinterpret(uint32(min(A(i), 7)) + uint32(max(A(i), 0)))) + uint32(min(max(A(i), 0), 9)))
)"},
    {"Native",
     "def f(float(N) A) -> (O) { O(i) = sqrt(A(i)) + floor(A(i)) + ceil(A(i)) + trunc(A(i)) + abs(A(i)) + fabs(A(i)) }",
     {{"N", 4}},
     R"(
launch 0
  S0[i in 0:4]: O(i) = ((((sqrt_f32(A(i)) + floor_f32(A(i))) + ceil_f32(A(i))) + trunc_f32(A(i))) + abs(A(i))) + abs(A(i))
)"},
    {"Own",
     "def f(float(N) A, double(N) B) -> (O, P) { O(i) = exp(A(i)) + pow(A(i), 2) + round(A(i)) P(i) = tanh(B(i)) }",
     {{"N", 4}},
     R"(
launch 0
  S0[i in 0:4]: O(i) = (tc_exp_f32(A(i)) + tc_pow_f32(A(i), 2.0)) + tc_round_f32(A(i))
  S1[i in 0:4]: P(i) = tc_tanh_f64(B(i))
)"},
    {"Rsqrt", "def f(float(N) A) -> (O) { O(i) = rsqrt(A(i)) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = 1.0/sqrt_f32(A(i))
)"},
    {"Predicates", "def f(float(N) A) -> (O) { O(i) = isnan(A(i)) || isinf(A(i)) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = tc_isnan_f32(A(i)) || tc_isinf_f32(A(i))
)"},
    {"Relu", "def f(float(N) A) -> (O) { O(i) = relu(A(i)) + clamp(A(i), 0.0, 6.0) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = tc_max_f32(A(i), 0.0) + tc_min_f32(tc_max_f32(A(i), 0.0), 6.0)
)"},
    {"IntAbs", "def f(int32(N) A) -> (O) { O(i) = abs(A(i)) + popcount(A(i)) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = reinterpret(uint32((let x.whole = A(i) in select(x.whole < 0, reinterpret(uint32(0) - uint32(x.whole)), x.whole))) + uint32(popcount(A(i))))
)"},
    {"Half", "def f(float16(N) A) -> (O) { O(i) = exp(A(i)) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = tc_exp_f32(A(i))
)"},
};

const Case guards[] = {
    {"InsideIsSelect", "def f(float(N) A, float(N) B) -> (O) { O(i) = B(i) > 0 ? A(i) : 0 }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = select(B(i) > 0.0, A(i), 0.0)
)"},
    {"OutsideIsGuarded",
     "def f(float(N) A) -> (O) { O(i) = (i >= 1 && i <= N) ? A(i - 1) : 0 where i in 0:N+2 }",
     {{"N", 4}},
     R"(
launch 0
  S0[i in 0:6]: O(i) = if_then_else((i >= 1) && (i <= 4), A(i - 1), 0.0)
)"},
    {"ClampIsInside",
     "def f(float(N) A) -> (O) { O(i) = i > 0 ? A(min(max(i - 1, 0), N - 1)) : 0 where i in 0:N+2 }",
     {{"N", 4}},
     R"(
launch 0
  S0[i in 0:6]: O(i) = select(i > 0, A(min(max(i - 1, 0), 3)), 0.0)
)"},
    {"AndIsLazy",
     "def f(float(N) A) -> (O) { O(i) = (i >= 1 && A(i - 1) > 0) ? 1.0 : 0.0 where i in 0:N }",
     {{"N", 4}},
     R"(
launch 0
  S0[i in 0:4]: O(i) = select(if_then_else(i >= 1, A(i - 1) > 0.0, false), 1.0, 0.0)
)"},
    {"OrIsLazy",
     "def f(float(N) A) -> (O) { O(i) = (i < 1 || A(i - 1) > 0) ? 1.0 : 0.0 where i in 0:N }",
     {{"N", 4}},
     R"(
launch 0
  S0[i in 0:4]: O(i) = select(if_then_else(i < 1, true, A(i - 1) > 0.0), 1.0, 0.0)
)"},
};

const Case self_reads[] = {
    {"OwnElementStays", "def f(float(N) A) -> (O) { O(i) = A(i) O(i) = O(i) * 2 }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = A(i)
  S1[i in 0:4]: O(i) = O(i)*2.0
)"},
    {"OtherElementIsCopied", "def f(float(N) A) -> (O) { O(i) = A(i) O(i) = O(N - 1 - i) + O(i) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = A(i)
  S1[d0 in 0:4]: O_old'(d0) = O(d0)
  S2[i in 0:4]: O(i) = O_old'(3 - i) + O(i)
)"},
    {"ReductionReadsCopy", "def f(float(N,N) A) -> (O) { O(i) = A(i,i) O(i) +=! A(i,k) * O(k) }", {{"N", 4}}, R"(
launch 0
  S0[i in 0:4]: O(i) = A(i, i)
  S1[d0 in 0:4]: O_old'(d0) = O(d0)
  S2[i in 0:4]: O(i) = identity(+)
  S3[i in 0:4, k in 0:4]: O(i) += A(i, k)*O_old'(k)
)"},
    {"CopiesHaveOwnNames",
     "def f(float(N) A) -> (O) { O(i) = A(i) O(i) = O(N - 1 - i) O(i) = O(N - 1 - i) }",
     {{"N", 4}},
     R"(
launch 0
  S0[i in 0:4]: O(i) = A(i)
  S1[d0 in 0:4]: O_old'(d0) = O(d0)
  S2[i in 0:4]: O(i) = O_old'(3 - i)
  S3[d0 in 0:4]: O_old1'(d0) = O(d0)
  S4[i in 0:4]: O(i) = O_old1'(3 - i)
)"},
};

const Case checks[] = {
    {"ParametersFirst",
     "def f(float(H,D) T, int32(N) X) -> (P, O) { P(i) = T(i,0) O(n,d) = T(X(n),d) }",
     {{"H", 10}, {"D", 2}, {"N", 4}},
     R"(
launch 0
  S0[]: check0'() = identity(||)
  S1[n in 0:4]: check0'() ||= uint64(int64(X(n))) >= 10u
  check check0' (before writes): subscript 0 of T, 'X(n)', must be in [0, 10): a value in X is not
launch 1
  S2[i in 0:10]: P(i) = T(i, 0)
  S3[n in 0:4, d in 0:2]: O(n, d) = T(int64(X(n)), d)
)"},
    {"NestedInLevels",
     "def f(float(H) T, int32(M) Y, int32(N) X) -> (O) { O(n) = T(Y(X(n))) }",
     {{"H", 10}, {"M", 5}, {"N", 4}},
     R"(
launch 0
  S0[]: check0'() = identity(||)
  S1[n in 0:4]: check0'() ||= uint64(int64(X(n))) >= 5u
  check check0' (before writes): subscript 0 of Y, 'X(n)', must be in [0, 5): a value in X is not
launch 1
  S2[]: check1'() = identity(||)
  S3[n in 0:4]: check1'() ||= uint64(int64(Y(int64(X(n))))) >= 10u
  check check1' (before writes): subscript 0 of T, 'Y(X(n))', must be in [0, 10): a value in X or Y is not
launch 2
  S4[n in 0:4]: O(n) = T(int64(Y(int64(X(n)))))
)"},
    {"UnderTheGuard",
     "def f(float(H) T, int32(N) X) -> (O) { O(n) = X(n) >= 0 ? T(X(n)) : 0 }",
     {{"H", 10}, {"N", 4}},
     R"(
launch 0
  S0[]: check0'() = identity(||)
  S1[n in 0:4]: check0'() ||= if_then_else(X(n) >= 0, uint64(int64(X(n))) >= 10u, false)
  check check0' (before writes): subscript 0 of T, 'X(n)', must be in [0, 10): a value in X is not
launch 1
  S2[n in 0:4]: O(n) = if_then_else(X(n) >= 0, T(int64(X(n))), 0.0)
)"},
    {"ElseArm", "def f(float(H) T, int32(N) X) -> (O) { O(n) = n < 2 ? 0 : T(X(n) + 1) }", {{"H", 10}, {"N", 4}}, R"(
launch 0
  S0[]: check0'() = identity(||)
  S1[n in 0:4]: check0'() ||= if_then_else(n < 2, false, uint64((int64(X(n)) + 1)) >= 10u)
  check check0' (before writes): subscript 0 of T, 'X(n) + 1', must be in [0, 10): a value in X is not
launch 1
  S2[n in 0:4]: O(n) = if_then_else(n < 2, 0.0, T(int64(X(n)) + 1))
)"},
    {"ComputedInPlace",
     "def f(float(H) T, int32(N) X) -> (O) { t(n) = X(n) / 2 O(n) = T(t(n)) }",
     {{"H", 10}, {"N", 4}},
     R"(
launch 0
  S0[n in 0:4]: t(n) = X(n)/2
  S1[]: check0'() = identity(||)
  S2[n in 0:4]: check0'() ||= uint64(int64(t(n))) >= 10u
  check check0' (before writes): subscript 0 of T, 't(n)', must be in [0, 10): a value in t is not
launch 1
  S3[n in 0:4]: O(n) = T(int64(t(n)))
)"},
    {"ComputedAfterWrites",
     "def f(float(H) T, int32(N) X) -> (P, O) { P(n) = X(n) / 2 O(n) = T(P(n)) }",
     {{"H", 10}, {"N", 4}},
     R"(
launch 0
  S0[n in 0:4]: P(n) = X(n)/2
  S1[]: check0'() = identity(||)
  S2[n in 0:4]: check0'() ||= uint64(int64(P(n))) >= 10u
  check check0': subscript 0 of T, 'P(n)', must be in [0, 10): a value in P is not; the outputs are unspecified
launch 1
  S3[n in 0:4]: O(n) = T(int64(P(n)))
)"},
    {"OnceForTwoReads",
     "def f(float(H) T, int32(N) X) -> (O, P) { O(n) = T(X(n)) + T(X(n)) P(n) = T(X(n)) }",
     {{"H", 10}, {"N", 4}},
     R"(
launch 0
  S0[]: check0'() = identity(||)
  S1[n in 0:4]: check0'() ||= uint64(int64(X(n))) >= 10u
  check check0' (before writes): subscript 0 of T, 'X(n)', must be in [0, 10): a value in X is not
launch 1
  S2[n in 0:4]: O(n) = T(int64(X(n))) + T(int64(X(n)))
  S3[n in 0:4]: P(n) = T(int64(X(n)))
)"},
    {"SmallTypesNeedNone", "def f(float(H) T, uint8(N) X) -> (O) { O(n) = T(X(n)) }", {{"H", 256}, {"N", 4}}, R"(
launch 0
  S0[n in 0:4]: O(n) = T(int64(X(n)))
)"},
    {"NoInstanceNoCheck",
     "def f(float(H,D) T, int32(N) X) -> (O) { O(n,d) = T(X(n),d) }",
     {{"H", 10}, {"D", 0}, {"N", 4}},
     ""},
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.what;
}

INSTANTIATE_TEST_SUITE_P(Statements, Lower, testing::ValuesIn(statements), name_of);
INSTANTIATE_TEST_SUITE_P(Conversions, Lower, testing::ValuesIn(conversions), name_of);
INSTANTIATE_TEST_SUITE_P(Arithmetic, Lower, testing::ValuesIn(arithmetic), name_of);
INSTANTIATE_TEST_SUITE_P(Functions, Lower, testing::ValuesIn(functions), name_of);
INSTANTIATE_TEST_SUITE_P(Guards, Lower, testing::ValuesIn(guards), name_of);
INSTANTIATE_TEST_SUITE_P(SelfReads, Lower, testing::ValuesIn(self_reads), name_of);
INSTANTIATE_TEST_SUITE_P(Checks, Lower, testing::ValuesIn(checks), name_of);

TEST(LowerTensors, InOrderWithRolesAndBoxes) {
  const auto program = lowered(
      "def f(float(N) A, half(N,N) B) -> (C, O) { t(i) = A(i + 1) O(i) +=! B(i,k) C(i) = t(i) C(i) = C(i) + O(i) }",
      {{"N", 4}});
  const std::string text = print(program);
  EXPECT_EQ(text.substr(0, text.find("launch")), R"(f
  input float32 A(0:4)
  input float16 B(0:4, 0:4)
  output float32 C(-1:3)
  output float16 O(0:4)
  temporary float32 t(-1:3)
  temporary float32 O_acc'(0:4)
)");
}

}  // namespace
}  // namespace tc::halide_bridge
