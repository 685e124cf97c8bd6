#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "test/library/library_fixture.h"
#include "test/support/expect_error.h"

namespace tc::library {
namespace {

const Library& dnn() { return find_library("onednn"); }

class OneDnn : public ::testing::Test {
 protected:
  void SetUp() override {
    if (dnn().find().version.empty()) GTEST_SKIP() << dnn().find().reason;
  }
};

/// Checks that \p test is a call of \p routine with \p post_ops post-ops, which computes what the interpreter does: of
/// whole numbers, and, unless it is one for \p finite values only, where any input holds infinite values and NaN.
std::optional<Call> expect_call(const TestCase& test, const std::string& routine, std::size_t post_ops = 0,
                                bool finite = false) {
  SCOPED_TRACE(test.text);
  const auto call = call_of(test, dnn(), finite);
  EXPECT_TRUE(call.has_value()) << "no call";
  if (!call) return std::nullopt;
  EXPECT_EQ(call->routine, routine) << to_string(*call);
  EXPECT_EQ(call->post_ops.size(), post_ops) << to_string(*call);
  EXPECT_TRUE(computes_the_same(test, *call)) << to_string(*call);
  for (std::size_t i = 0; i < test.inputs.size() && !finite; ++i)
    EXPECT_TRUE(computes_the_same(test, *call, 2, i)) << "input " << i << " is special: " << to_string(*call);
  const auto careful = call_of(test, dnn());
  EXPECT_EQ(careful == call, !finite) << "it differs for infinite values or NaN";
  return call;
}

/// A convolution of images of 9 x 10 by windows of 3 x 2, of stride \p stride, dilation \p dilation, padding \p padding.
TestCase convolution(std::int64_t stride, std::int64_t dilation, std::int64_t padding, bool channels_last = false) {
  const auto h = str(stride, "*h + ", dilation, "*r - ", padding), w = str(stride, "*w + ", dilation, "*s - ", padding);
  const auto height = (9 + 2 * padding - dilation * 2 - 1) / stride + 1;
  const auto width = (10 + 2 * padding - dilation - 1) / stride + 1;
  const auto read = channels_last ? str("X(n,", h, ",", w, ",c)") : str("X(n,c,", h, ",", w, ")");
  const auto guard =
      padding == 0 ? std::string() : str("(", h, " >= 0 && ", h, " < H && ", w, " >= 0 && ", w, " < W) ? ");
  return {
      str("def conv(float(", channels_last ? "N,H,W,C" : "N,C,H,W", ") X, float(K,C,R,S) F) -> (Y) { Y(n,k,h,w) +=! ",
          guard, read, " * F(k,c,r,s)", padding == 0 ? "" : " : 0", " where h in 0:", height, ", w in 0:", width, " }"),
      {channels_last ? floats({2, 9, 10, 5}) : floats({2, 5, 9, 10}), floats({6, 5, 3, 2})}};
}

TEST_F(OneDnn, TakesStridesDilationsAndPadding) {
  for (std::int64_t stride : {1, 2, 3})
    for (std::int64_t dilation : {1, 2})
      for (std::int64_t padding : {0, 1, 2}) {
        const auto call = expect_call(convolution(stride, dilation, padding), "convolution2d");
        ASSERT_TRUE(call);
        EXPECT_EQ(call->number("S0"), stride);
        EXPECT_EQ(call->number("D1"), dilation);
        EXPECT_EQ(call->number("P0"), padding);
      }
}

/// Of images of \p side x \p side, each second row and column: which windows of 1 x 1 see.
TEST_F(OneDnn, SeesWholeRowsOfStridedWindows) {
  for (std::int64_t side : {7, 8, 9}) {
    const auto call =
        expect_call({"def f(float(N,C,H,W) X, float(K,C) F) -> (Y) { Y(n,k,h,w) +=! X(n,c,2*h,2*w) * F(k,c)"
                     " where h in 0:4, w in 0:4 }",
                     {floats({2, 16, side, side}), floats({16, 16})}},
                    "convolution2d");
    ASSERT_TRUE(call);
    EXPECT_EQ(call->number("S0"), 2);
    EXPECT_EQ(call->number("I1"), side == 9 ? 7 : side) << "where one more window fits, it is not the tensor's end";
  }
}

/// Windows of stride 1 that leave out the last row and column: a window more would fit, so that these are not the image's.
TEST_F(OneDnn, LeavesOutWhatNoWindowReaches) {
  for (int dilation : {1, 2}) {
    const auto call = expect_call({str("def f(float(N,C,H,W) X, float(K,C,R,S) F) -> (Y) { Y(n,k,h,w) +=! X(n,c,h + ",
                                       dilation, "*r,w + ", dilation, "*s) * F(k,c,r,s) where h in 0:3, w in 0:3 }"),
                                   {floats({2, 16, 4 + 2 * dilation, 4 + 2 * dilation}), floats({16, 16, 3, 3})}},
                                  "convolution2d");
    ASSERT_TRUE(call);
    EXPECT_EQ(call->number("I0"), 3 + 2 * dilation);
  }
}

/// A sum that the library begins in the result's memory may have its summand there; one that it adds while it writes may not.
TEST_F(OneDnn, SumsInPlaceOrNotAtAll) {
  const TestCase convolved{
      "def f(float(N,C,H,W) X, float(K,C) F, float(N,K,P,Q) Z) -> (Y) {\n"
      "  A(n,k,h,w) +=! X(n,c,2*h,2*w) * F(k,c) where h in 0:8, w in 0:8\n"
      "  Y(n,k,h,w) = A(n,k,h,w) + Z(n,k,h,w) }",
      {floats({1, 16, 16, 16}), floats({16, 16}), floats({1, 16, 8, 8})}};
  const TestCase multiplied{
      "def f(float(M,K) A, float(K,N) B, float(M,N) Z) -> (Y) {\n"
      "  P(m,n) +=! A(m,k) * B(k,n)  Y(m,n) = P(m,n) + Z(m,n) }",
      {floats({16, 32}), floats({32, 16}), floats({16, 16})}};
  for (const auto* test : {&convolved, &multiplied}) {
    const auto call = expect_call(*test, test == &convolved ? "convolution2d" : "matmul", 1);
    ASSERT_TRUE(call);
    std::vector<TestTensor> tensors;
    for (const auto& spec : arguments_of(*test)) tensors.emplace_back(spec, static_cast<int>(tensors.size()));
    const PreparedCall prepared(*call, dnn());
    std::vector<void*> apart, in_place;
    for (auto& tensor : tensors) apart.push_back(tensor.view().data);
    prepared.run(apart.data(), 1);
    in_place = apart;
    in_place[3] = in_place[2];
    if (test == &multiplied) {
      EXPECT_ERROR(prepared.run(in_place.data(), 1), DeviceError, "does not compute this sum in place");
      continue;
    }
    prepared.run(in_place.data(), 1);
    EXPECT_TRUE(std::equal(static_cast<float*>(apart[3]), static_cast<float*>(apart[3]) + 16 * 8 * 8,
                           static_cast<float*>(in_place[2])));
  }
}

TEST_F(OneDnn, TakesOtherOrdersOfDimensions) {
  for (std::int64_t stride : {1, 2}) {
    expect_call(convolution(stride, 1, 1, true), "convolution2d");
    auto strided = convolution(stride, 1, 1);
    strided.inputs[0].strides = {5 * 9 * 12 + 3, 9 * 12, 12, 1};
    strided.inputs[1].strides = {30, 1, 10, 5};
    expect_call(strided, "convolution2d");
  }
}

TEST_F(OneDnn, TakesOneAndThreeDimensions) {
  expect_call({"def c1(float(N,C,L) X, float(K,C,R) F) -> (Y) { Y(n,k,l) +=! X(n,c,2*l + r) * F(k,c,r) }",
               {floats({2, 5, 17}), floats({6, 5, 4})}},
              "convolution1d");
  expect_call({"def c3(float(N,C,D,H,W) X, float(K,C,Q,R,S) F) -> (Y) {\n"
               "  Y(n,k,d,h,w) +=! X(n,c,d + q,2*h + r,w + 2*s) * F(k,c,q,r,s) }",
               {floats({1, 3, 5, 7, 8}), floats({4, 3, 2, 3, 2})}},
              "convolution3d");
}

TEST_F(OneDnn, TakesGroups) {
  const auto call =
      expect_call({"def grouped(float(N,C,H,W) X, float(G,K,D,R,S) F) -> (Y) {\n"
                   "  Y(n,g,k,h,w) +=! X(n,4*g + c,h + r,w + s) * F(g,k,c,r,s) where g in 0:3, c in 0:4 }",
                   {floats({2, 12, 6, 7}), floats({3, 5, 4, 3, 3})}},
                  "convolution2d");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number("G"), 3);
  expect_call(
      {"def depthwise(float(N,C,H,W) X, float(C,R,S) F) -> (Y) { Y(n,c,h,w) +=! X(n,c,h + r,w + s) * F(c,r,s) }",
       {floats({2, 16, 6, 7}), floats({16, 3, 3})}},
      "convolution2d");
}

TEST_F(OneDnn, TakesWhatFollowsAConvolution) {
  const std::string head =
      "def f(float(N,C,H,W) X, float(K,C,R,S) F, float(K) b, float(N,K,P,Q) Z) -> (Y) {\n"
      "  A(n,k,h,w) +=! X(n,c,h + r,w + s) * F(k,c,r,s)  ";
  const std::vector<TensorSpec> inputs = {floats({2, 5, 6, 7}), floats({16, 5, 3, 3}), floats({16}),
                                          floats({2, 16, 4, 5})};
  expect_call({head + "B(n,k,h,w) = A(n,k,h,w) + b(k)  Y(n,k,h,w) = fmax(B(n,k,h,w) + Z(n,k,h,w), 0) }", inputs},
              "convolution2d", 3, true);
  expect_call({head + "B(n,k,h,w) = b(k) + A(n,k,h,w)  Y(n,k,h,w) = relu(B(n,k,h,w)) + Z(n,k,h,w) }", inputs},
              "convolution2d", 3, true);
  expect_call({head + "Y(n,k,h,w) = max(0, A(n,k,h,w) + Z(n,k,h,w)) + Z(n,k,h,w) }", inputs}, "convolution2d", 3, true);
  expect_call({head + "B(n,k,h,w) = A(n,k,h,w) + b(k)  Y(n,k,h,w) = min(max(B(n,k,h,w), 0), 6) }", inputs},
              "convolution2d", 3, true);
  expect_call({head + "Y(n,k,h,w) = fmin(A(n,k,h,w), -2.5) + Z(n,k,h,w) }", inputs}, "convolution2d", 2, true);
  auto channels_last = inputs;
  channels_last[3].strides = {4 * 5 * 16, 1, 5 * 16, 16};
  expect_call({head + "Y(n,k,h,w) = A(n,k,h,w) + Z(n,k,h,w) }", channels_last}, "convolution2d", 1);
}

TEST_F(OneDnn, MultipliesMatrices) {
  expect_call(
      {"def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {floats({5, 7}), floats({7, 6})}},
      "matmul");
  expect_call({"def bmm(float(B,M,K) X, float(B,N,K) Y) -> (Z) { Z(b,m,n) +=! X(b,m,k) * Y(b,n,k) }",
               {floats({3, 5, 7}), floats({3, 6, 7})}},
              "matmul");
  expect_call({"def fc(float(M,K) A, float(N,K) B, float(N) b) -> (float(M,N) D) { C(m,n) = b(n) where m in 0:M  "
               "C(m,n) += A(m,k) * B(n,k)\n"
               "  D(m,n) = (C(m,n) > 0) ? C(m,n) : 0 }",
               {floats({5, 7}), floats({6, 7}), floats({6})}},
              "matmul", 2, true);
}

TEST_F(OneDnn, RoundsABiasedSumOfHalvesOnce) {
  const TestCase test{
      "def fc(bfloat16(M,K) A, bfloat16(N,K) B, float(N) b) -> (bfloat16(M,N) Y) {\n"
      "  C(m,n) +=! float(A(m,k)) * float(B(n,k))  Y(m,n) = bfloat16(C(m,n) + b(n)) }",
      {contiguous(DType::BFloat16, {5, 70}), contiguous(DType::BFloat16, {6, 70}), floats({6})}};
  if (!call_of({"def mm(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                {contiguous(DType::BFloat16, {5, 70}), contiguous(DType::BFloat16, {70, 6})}},
               dnn()))
    GTEST_SKIP() << "this processor has no instructions for bfloat16";
  expect_call(test, "matmul", 1);
}

/// Whole numbers for each argument of \p test.
std::vector<TestTensor> tensors_of(const TestCase& test) {
  std::vector<TestTensor> result;
  for (const auto& spec : arguments_of(test)) result.emplace_back(spec, static_cast<int>(result.size()));
  return result;
}

/// Checks that what oneDNN keeps of the constant argument 1 of \p test gives what a call without constants does, also
/// when the constant's memory is something else: it reads its own copy then.
void expect_held(const TestCase& test) {
  SCOPED_TRACE(test.text);
  const auto call = call_of(test, dnn());
  ASSERT_TRUE(call.has_value());
  auto tensors = tensors_of(test), wanted = tensors;
  auto pointers = [](std::vector<TestTensor>& of) {
    std::vector<void*> result;
    for (auto& tensor : of) result.push_back(tensor.view().data);
    return result;
  };
  const PreparedCall plain(*call, dnn());
  plain.run(pointers(wanted).data(), 2);
  const PreparedCall marked(call->with_constants([](std::size_t argument) { return argument == 1; }), dnn());
  EXPECT_FALSE(marked.hold(std::vector<void*>(tensors.size(), nullptr))) << "nothing is constant";
  std::vector<void*> constants(tensors.size(), nullptr);
  constants[1] = tensors[1].view().data;
  EXPECT_FALSE(plain.hold(constants)) << "the call does not say so";
  const auto held = marked.hold(constants);
  ASSERT_TRUE(held);
  for (int threads : {1, 2}) {
    tensors.back() = TestTensor(arguments_of(test).back(), 3);
    held->run(pointers(tensors).data(), threads);
    EXPECT_TRUE(tensors.back() == wanted.back()) << threads << " threads";
  }
}

TEST_F(OneDnn, HoldsWeights) {
  for (std::int64_t stride : {1, 2})
    for (bool channels_last : {false, true}) expect_held(convolution(stride, 1, 1, channels_last));
  expect_held({"def fc(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
               {floats({5, 40}), floats({33, 40})}});
  expect_held(
      {"def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {floats({5, 7}), floats({7, 6})}});
  expect_held(
      {"def depthwise(float(N,C,H,W) X, float(C,R,S) F) -> (Y) {\n"
       "  Y(n,c,h,w) +=! X(n,c,h + r,w + s) * F(c,r,s) }",
       {floats({2, 16, 6, 7}), floats({16, 3, 3})}});
}

TEST_F(OneDnn, PoolsMaxima) {
  for (int stride : {1, 2}) {
    expect_call({str("def pool(float(N,C,H,W) X) -> (Y) {\n  Y(n,c,h,w) max=! X(n,c,", stride, "*h + r,", stride,
                     "*w + s) where r in 0:3, s in 0:2 }"),
                 {floats({2, 16, 9, 8})}},
                "max_pooling2d", 0, true);
  }
}

TEST_F(OneDnn, DividesExponentialsByTheirSum) {
  expect_call({"def f(float(N,C) X) -> (Y) { M(n) max=! X(n,c)  E(n,c) = exp(X(n,c) - M(n))  S(n) +=! E(n,c)\n"
               "  Y(n,c) = E(n,c) / S(n) }",
               {floats({3, 1})}},
              "softmax", 0, true);
}

/// Maxima of windows of 3 x 3 of images of 9 x 8, of stride 2, dilation \p dilation and padding \p padding.
TestCase padded_maxima(int dilation, int padding, const std::string& otherwise) {
  const auto h = str("2*h + ", dilation, "*r - ", padding), w = str("2*w + ", dilation, "*s - ", padding);
  const auto height = (9 + 2 * padding - 2 * dilation - 1) / 2 + 1,
             width = (8 + 2 * padding - 2 * dilation - 1) / 2 + 1;
  return {str("def pool(float(N,C,H,W) X) -> (Y) {\n  Y(n,c,h,w) max=! (", h, " >= 0 && ", h, " < H && ", w,
              " >= 0 && ", w, " < W) ? X(n,c,", h, ",", w, ") : ", otherwise, " where h in 0:", height,
              ", w in 0:", width, ", r in 0:3, s in 0:3 }"),
          {floats({2, 16, 9, 8})}};
}

TEST_F(OneDnn, PoolsMaximaOfPaddedImages) {
  for (const auto* infinity : {"-float32(1E39)", "-1E39"}) {
    const auto call = expect_call(padded_maxima(1, 1, infinity), "max_pooling2d", 0, true);
    ASSERT_TRUE(call);
    EXPECT_EQ(call->number("P0"), 1);
  }
  EXPECT_FALSE(call_of(padded_maxima(1, 1, "0"), dnn(), true)) << "a number in the padding";
  EXPECT_FALSE(call_of(padded_maxima(1, 1, "-1E38"), dnn(), true)) << "one that is not the least";
  EXPECT_FALSE(call_of(padded_maxima(1, 4, "-1E39"), dnn(), true)) << "windows of padding alone";
  EXPECT_FALSE(call_of(padded_maxima(2, 2, "-1E39"), dnn(), true)) << "windows whose elements lie on both sides";
}

TEST_F(OneDnn, TakesBfloat16) {
  const auto halves = [](std::vector<std::int64_t> shape) { return contiguous(DType::BFloat16, std::move(shape)); };
  const TestCase product{"def mm(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                         {halves({5, 32}), halves({32, 48})}};
  if (!call_of(product, dnn())) GTEST_SKIP() << "oneDNN has no code for bfloat16 on this processor";
  expect_call(product, "matmul");
  expect_call({"def fc(bfloat16(M,K) A, bfloat16(N,K) B, float(N) b) -> (D) {\n"
               "  C(m,n) +=! float(A(m,k)) * float(B(n,k))  D(m,n) = relu(C(m,n) + b(n)) }",
               {halves({5, 32}), halves({48, 32}), floats({48})}},
              "matmul", 2, true);
  expect_call({"def conv(bfloat16(N,C,H,W) X, bfloat16(K,C,R,S) F) -> (Y) {\n"
               "  Y(n,k,h,w) +=! float(X(n,c,h + r,w + s)) * float(F(k,c,r,s)) }",
               {halves({2, 16, 6, 7}), halves({32, 16, 3, 3})}},
              "convolution2d");
  EXPECT_FALSE(call_of({"def fc(bfloat16(M,K) A, bfloat16(N,K) B) -> (D) {\n"
                        "  C(m,n) +=! A(m,k) * B(n,k)  D(m,n) = relu(C(m,n)) }",
                        {halves({5, 32}), halves({48, 32})}},
                       dnn(), true))
      << "a sum that is rounded before relu";
}

}  // namespace
}  // namespace tc::library
