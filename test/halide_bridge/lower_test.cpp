#include "test/halide_bridge/lower_fixture.h"

namespace tc::halide_bridge {
namespace {

class Lower : public LowerTest {};

TEST_P(Lower, PrintsAs) { check(); }

const LowerCase statements[] = {
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

const LowerCase guards[] = {
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

const LowerCase self_reads[] = {
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

const LowerCase checks[] = {
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
    {"RangesBeforeWhatRunsOverThem",
     "def f(float(H) T, int32(N) X, int32(R) P, float(N) W) -> (O) { O(r) +=! j >= P(r) && j < P(r+1) ? W(j) * T(X(j)) "
     ": 0 where exists j in P(r):P(r+1) }",
     {{"H", 10}, {"N", 4}, {"R", 3}},
     R"(
launch 0
  S0[]: check0'() = identity(||)
  S1[r in 0:2]: check0'() ||= ((int64(P(r)) < 0) || (int64(P(r + 1)) > 4)) || (int64(P(r)) > int64(P(r + 1)))
  check check0' (before writes): the range of j, 'P(r):P(r + 1)', must ascend in [0, 4]: a value in P does not
launch 1
  S2[]: check1'() = identity(||)
  S3[r in 0:2, j in 0:4]: check1'() ||= if_then_else((j >= int64(P(r))) && (j < int64(P(r + 1))), uint64(int64(X(j))) >= 10u, false)
  check check1' (before writes): subscript 0 of T, 'X(j)', must be in [0, 10): a value in P or X is not
launch 2
  S4[r in 0:2]: O(r) = identity(+)
  S5[r in 0:2, j in 0:4]: O(r) += if_then_else((j >= int64(P(r))) && (j < int64(P(r + 1))), W(j)*T(int64(X(j))), 0.0)
)"},
    {"BoundsThatAreElementsAlone",
     "def f(int32(N) P, float(N) W) -> (O) { O(r) +=! j >= r && j < P(r) ? W(j) : 0 where exists j in r:P(r) }",
     {{"N", 4}},
     R"(
launch 0
  S0[]: check0'() = identity(||)
  S1[r in 0:4]: check0'() ||= (int64(P(r)) < 0) || (int64(P(r)) > 4)
  check check0' (before writes): the range of j, 'r:P(r)', must ascend in [0, 4]: a value in P does not
launch 1
  S2[r in 0:4]: O(r) = identity(+)
  S3[r in 0:4, j in 0:4]: O(r) += select((j >= r) && (j < int64(P(r))), W(j), 0.0)
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

INSTANTIATE_TEST_SUITE_P(Statements, Lower, testing::ValuesIn(statements), name_of);
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
