#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

class LowerValues : public LowerTest {};

TEST_P(LowerValues, PrintsAs) { check(); }

const LowerCase conversions[] = {
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

const LowerCase arithmetic[] = {
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

const LowerCase functions[] = {
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

INSTANTIATE_TEST_SUITE_P(Conversions, LowerValues, testing::ValuesIn(conversions), name_of);
INSTANTIATE_TEST_SUITE_P(Arithmetic, LowerValues, testing::ValuesIn(arithmetic), name_of);
INSTANTIATE_TEST_SUITE_P(Functions, LowerValues, testing::ValuesIn(functions), name_of);

}  // namespace
}  // namespace tc::halide_bridge
