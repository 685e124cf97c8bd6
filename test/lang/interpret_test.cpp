#include "tc/lang/interpret/interpret.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/lang/check/check.h"
#include "tc/lang/syntax/parse.h"
#include "test/lang/interpret_fixture.h"

namespace tc::test {
namespace {

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
    EXPECT_EQ(message<ArgumentError>([&] { run(text, {{"T", table}, {"I", i32({0, bad})}}); }),
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
