#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "test/library/library_fixture.h"

namespace tc::library::openblas_test {
namespace {

const Library& blas() { return find_library("openblas"); }

class OpenBlas : public ::testing::Test {
 protected:
  void SetUp() override {
    if (blas().find().version.empty()) GTEST_SKIP() << blas().find().reason;
  }
};

/// Checks that \p test is a call of \p routine, which computes what the interpreter does, of whole numbers and where an
/// input holds infinite values and NaN; its loops.
std::vector<std::int64_t> expect_call(const TestCase& test, const std::string& routine) {
  SCOPED_TRACE(test.text);
  const auto call = call_of(test, blas());
  EXPECT_TRUE(call.has_value()) << "no call";
  if (!call) return {};
  EXPECT_EQ(call->routine, routine) << to_string(*call);
  EXPECT_TRUE(computes_the_same(test, *call)) << to_string(*call);
  for (std::size_t i = 0; i < test.inputs.size(); ++i)
    EXPECT_TRUE(computes_the_same(test, *call, 2, i)) << "input " << i << " is special: " << to_string(*call);
  return call->loops;
}

/// A product of matrices with both factors and the result by rows or by columns, with \p pad elements behind each row.
TestCase product_case(DType type, bool a_by_columns, bool b_by_columns, bool c_by_columns, std::int64_t pad) {
  const std::string word(name(type));
  auto spec = [&](std::int64_t rows, std::int64_t columns, bool by_columns) -> TensorSpec {
    if (by_columns) return {type, {rows, columns}, {1, rows + pad}};
    return {type, {rows, columns}, {columns + pad, 1}};
  };
  return {"def mm(" + word + "(M,K) A, " + word + "(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
          {spec(5, 7, a_by_columns), spec(7, 3, b_by_columns)},
          {spec(5, 3, c_by_columns)}};
}

TEST_F(OpenBlas, MultipliesMatricesOfAllOrdersAndLeadingDimensions) {
  for (auto type : {DType::Float32, DType::Float64})
    for (int orders = 0; orders < 8; ++orders)
      for (std::int64_t pad : {0, 2}) {
        SCOPED_TRACE(str(type, " ", orders, " ", pad));
        const auto test = product_case(type, (orders & 1) != 0, (orders & 2) != 0, (orders & 4) != 0, pad);
        EXPECT_TRUE(expect_call(test, "gemm").empty());
      }
}

TEST_F(OpenBlas, TakesSubscriptsInAnyOrder) {
  for (const char* a : {"A(m,k)", "A(k,m)"})
    for (const char* b : {"B(k,n)", "B(n,k)"})
      for (const char* c : {"C(m,n)", "C(n,m)"}) {
        const bool a_t = a == std::string("A(k,m)"), b_t = b == std::string("B(n,k)");
        TestCase test{str("def mm(float(P,Q) A, float(R,S) B) -> (C) { ", c, " +=! ", a, " * ", b, " }"),
                      {floats(a_t ? std::vector<std::int64_t>{7, 5} : std::vector<std::int64_t>{5, 7}),
                       floats(b_t ? std::vector<std::int64_t>{3, 7} : std::vector<std::int64_t>{7, 3})}};
        EXPECT_TRUE(expect_call(test, "gemm").empty());
      }
}

TEST_F(OpenBlas, AccumulatesIntoAResult) {
  TestCase test{"def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }",
                {floats({4, 6}), floats({6, 5})}};
  expect_call(test, "gemm_into");
  test = {"def mv(float(M,K) A, float(K) x) -> (y) { y(m) += A(m,k) * x(k) }", {floats({4, 6}), floats({6})}};
  expect_call(test, "gemv_into");
}

TEST_F(OpenBlas, MultipliesMatricesAndVectors) {
  for (auto type : {DType::Float32, DType::Float64}) {
    const std::string word(name(type));
    const std::string text = "def mv(" + word + "(M,K) A, " + word + "(K) x) -> (y) { y(m) +=! x(k) * A(m,k) }";
    expect_call({text, {contiguous(type, {6, 9}), contiguous(type, {9})}}, "gemv");
    expect_call({text, {{type, {6, 9}, {1, 8}}, {type, {9}, {3}}}, {{type, {6}, {2}}}}, "gemv");
  }
  expect_call({"def dot(float(K) a, float(K) b) -> (y) { y +=! a(k) * b(k) }", {floats({9}), floats({9})}}, "gemv");
}

TEST_F(OpenBlas, LoopsAroundABatch) {
  const std::string text = "def bmm(float(B,M,K) X, float(B,K,N) Y) -> (Z) { Z(b,m,n) +=! X(b,m,k) * Y(b,k,n) }";
  EXPECT_EQ(expect_call({text, {floats({3, 5, 4}), floats({3, 4, 6})}}, "gemm"), (std::vector<std::int64_t>{3}));
  const std::string heads =
      "def scores(float(B,S,H,D) Q, float(B,T,H,D) K) -> (Z) { Z(b,h,s,t) +=! Q(b,s,h,d) * K(b,t,h,d) }";
  EXPECT_EQ(expect_call({heads, {floats({2, 5, 3, 4}), floats({2, 6, 3, 4})}}, "gemm"),
            (std::vector<std::int64_t>{2, 3}));
}

TEST_F(OpenBlas, MergesIndicesThatRunThroughMemoryAsOne) {
  const std::string text = "def dense(float(B,S,C) X, float(K,C) W) -> (Y) { Y(b,s,k) +=! X(b,s,c) * W(k,c) }";
  EXPECT_TRUE(expect_call({text, {floats({2, 5, 4}), floats({6, 4})}}, "gemm").empty());
  const std::string split =
      "def split(float(M,K) A, float(P,Q,N) B) -> (C) { C(m,n) +=! A(m, 4*p + q) * B(p,q,n) where q in 0:4, p in 0:3 }";
  EXPECT_TRUE(expect_call({split, {floats({5, 12}), floats({3, 4, 6})}}, "gemm").empty());
  const std::string pointwise =
      "def conv1(float(N,C,H,W) X, float(K,C) F) -> (Y) { Y(n,k,h,w) +=! X(n,c,h,w) * F(k,c) }";
  EXPECT_EQ(expect_call({pointwise, {floats({2, 3, 4, 5}), floats({6, 3})}}, "gemm"), (std::vector<std::int64_t>{2}));
}

TEST_F(OpenBlas, TakesExtentsOfOne) {
  for (std::int64_t m : {1, 3})
    for (std::int64_t n : {1, 3})
      for (std::int64_t k : {1, 3}) {
        TestCase test{"def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                      {floats({m, k}), floats({k, n})}};
        const auto call = call_of(test, blas());
        ASSERT_TRUE(call) << m << " " << n << " " << k;
        EXPECT_TRUE(computes_the_same(test, *call)) << to_string(*call);
      }
}

TEST_F(OpenBlas, LeavesWhatItHasNoRoutineFor) {
  const std::vector<TestCase> cases = {
      {"def f(int32(M,K) A, int32(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       {contiguous(DType::Int32, {4, 5}), contiguous(DType::Int32, {5, 3})}},
      {"def f(float(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {floats({4, 5}), doubles({5, 3})}},
      {"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) max=! A(m,k) * B(k,n) }", {floats({4, 5}), floats({5, 3})}},
      {"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) + B(k,n) }", {floats({4, 5}), floats({5, 3})}},
      {"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) * 2 }", {floats({4, 5}), floats({5, 3})}},
      {"def f(float(M,K) A, float(K,N) B) -> (float(M,N) C) { C(m,n) = 1 C(m,n) += A(m,k) * B(k,n) }",
       {floats({4, 5}), floats({5, 3})}},
      {"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! (k >= m) ? A(m,k) * B(k,n) : 0 }",
       {floats({4, 5}), floats({5, 3})}},
      {"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! (k >= m) ? A(m,k) * B(k,n) : 1 }",
       {floats({4, 5}), floats({5, 3})}},
      {"def f(float(L,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k+m,m) * B(k,n) }", {floats({5, 3}), floats({3, 2})}},
      {"def f(float(M,K) A, float(K,N) B) -> (C, D) { C(m,n) +=! A(m,k) * B(k,n)  D(m,n) = C(m,n) }",
       {floats({4, 5}), floats({5, 3})}},
  };
  for (const auto& test : cases) EXPECT_FALSE(call_of(test, blas())) << test.text;
  auto strided = product_case(DType::Float32, false, false, false, 0);
  strided.inputs[0].strides = {14, 2};
  EXPECT_FALSE(call_of(strided, blas())) << "no unit stride";
  strided.inputs[0].strides = {3, 1};
  EXPECT_FALSE(call_of(strided, blas())) << "rows overlap";
}

TEST_F(OpenBlas, WorksInManyThreads) {
  const auto test = product_case(DType::Float32, false, true, false, 2);
  const auto call = call_of(test, blas());
  ASSERT_TRUE(call);
  for (int threads : {1, 2, 3}) EXPECT_TRUE(computes_the_same(test, *call, threads));
}

}  // namespace
}  // namespace tc::library::openblas_test
