#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/forward_grad.h>

#include <functional>
#include <thread>

#include "tc/aten/engine.h"
#include "tc/aten/operators.h"
#include "tc/aten/tensor.h"
#include "tc/base/error.h"
#include "test/support/expect_error.h"

namespace tc::aten {
namespace {

const char* const text = R"(
def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
def softmax(double(N,D) I) -> (O) {
  top(n) max=! I(n,d)
  total(n) +=! exp(I(n,d) - top(n))
  O(n,d) = exp(I(n,d) - top(n)) / total(n)
}
def cube(double(N) X) -> (Y) { Y(n) = X(n) * X(n) * X(n) }
def parts(double(N) X, double(N) W) -> (S, P, best) {
  S(n) = X(n) * W(n)
  P(n) = exp(X(n))
  best max=! int32(X(n))
}
def both(double(N) X) -> (E, H) {
  E(n) = exp(X(n))
  H(n) = tanh(X(n))
}
def mix(double(N) X, double(N,M) Z, double(N) W) -> (Y) {
  Y(n) +=! Z(n,m)
  Y(n) += X(n) * W(n)
}
def add(float(N) X, float s) -> (Y) { Y(n) += s * X(n) }
def weighted(T(...,N) X, T(N) w) -> (Y) { Y(...) +=! X(...,i) * X(...,i) * w(i) }
def table(float(E,D) T, int32(L) I) -> (O) { O(l,d) = T(I(l),d) }
)";

/// Float tensors that hold whole numbers, so that sums are exact.
at::Tensor whole(at::IntArrayRef sizes) { return at::randint(-4, 5, sizes, at::kFloat); }

at::Tensor variable(at::IntArrayRef sizes) { return at::randn(sizes, at::kDouble).set_requires_grad(true); }

/// Gradients of the sum of \p output times \p weight, recorded.
Tensors gradients(const at::Tensor& output, const at::Tensor& weight, const Tensors& inputs) {
  return torch::autograd::grad({output}, inputs, {weight}, true, true, true);
}

class Aten : public testing::Test {
 protected:
  Aten() {
    at::manual_seed(7);
    engine.define(text);
  }

  at::Tensor call(const std::string& name, const Tensors& inputs) const { return engine.call(name, inputs).front(); }
  /// What an ArgumentError of \p act says; empty without one.
  static std::string refusal(const std::function<void()>& act) {
    try {
      act();
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "";
  }

  ExecutionEngine engine;
};

TEST_F(Aten, CallsEqualTorch) {
  auto a = whole({5, 7}), b = whole({7, 6});
  EXPECT_TRUE(at::equal(call("mm", {a, b}), at::mm(a, b)));
  auto x = at::randn({9, 33}, at::kDouble);
  EXPECT_TRUE(at::allclose(call("softmax", {x}), at::softmax(x, 1), 1e-14, 0));
}

TEST_F(Aten, TensorsAreTakenWithTheirStrides) {
  auto a = whole({7, 5}).t(), b = whole({9, 6}).slice(0, 2), row = whole({1, 6}).expand({5, 6});
  EXPECT_TRUE(at::equal(call("mm", {a, b}), at::mm(a, b)));
  EXPECT_TRUE(at::equal(call("mm", {whole({4, 5}).fill_(1), row}), 5 * row.slice(0, 0, 4)));
  auto c = at::full({6, 5}, 9, at::kFloat);
  const Tensors inputs = {a, b}, outputs = {c.t()};
  engine.run(engine.compile("mm", inputs, outputs), inputs, outputs);
  EXPECT_TRUE(at::equal(c.t(), at::mm(a, b)));
}

TEST_F(Aten, EveryTypeOfTheLanguageIsOneOfTorch) {
  for (int i = 0; i <= static_cast<int>(DType::Float64); ++i) {
    const auto type = static_cast<DType>(i);
    const auto tensor = at::zeros({2}, scalar_type(type));
    EXPECT_EQ(spec_of(tensor, "A").dtype, type);
    EXPECT_EQ(tensor.element_size(), byte_size(type));
  }
}

TEST_F(Aten, InferTellsShapesOfTensorsWithoutMemory) {
  const Tensors inputs = {at::empty({5, 7}, at::kMeta), at::empty({7, 6}, at::kMeta)};
  auto infos = engine.infer_output_tensor_info("mm", inputs);
  ASSERT_EQ(infos.size(), 1u);
  EXPECT_EQ(infos[0].shape, (std::vector<std::int64_t>{5, 6}));
}

TEST_F(Aten, OneExecutableForEqualTensors) {
  const Tensors inputs = {whole({4, 4}), whole({4, 4})}, others = {whole({4, 4}).t(), whole({4, 4})};
  const auto first = engine.compile("mm", inputs);
  EXPECT_EQ(engine.compile("mm", inputs), first);
  EXPECT_NE(engine.compile("mm", others), first);
}

TEST_F(Aten, GradientsEqualTorch) {
  auto x = variable({6, 10}), seed = at::randn({6, 10}, at::kDouble);
  auto ours = gradients(call("softmax", {x}), seed, {x}), theirs = gradients(at::softmax(x, 1), seed, {x});
  EXPECT_TRUE(at::allclose(ours[0], theirs[0], 1e-12, 1e-14));
}

TEST_F(Aten, GenericDefsTakeTypesAndRanks) {
  for (auto type : {at::kFloat, at::kDouble})
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{7}, {3, 7}, {2, 3, 7}}) {
      auto x = whole(shape).to(type).set_requires_grad(true), w = whole({7}).to(type).set_requires_grad(true);
      auto ours = call("weighted", {x, w}), theirs = (x * x * w).sum(-1);
      EXPECT_TRUE(at::equal(ours, theirs)) << ours.scalar_type();
      auto seed = at::ones_like(theirs);
      auto got = gradients(ours, seed, {x, w}), want = gradients(theirs, seed, {x, w});
      EXPECT_TRUE(at::equal(got[0], want[0]) && at::equal(got[1], want[1]));
    }
  const auto mixed = [&] { call("weighted", {whole({3, 7}), whole({7}).to(at::kDouble)}); };
  EXPECT_NE(refusal(mixed).find("both have the type T"), std::string::npos) << refusal(mixed);
}

TEST_F(Aten, GradientsOfProductsOfStridedTensorsEqualTorch) {
  auto a = whole({7, 5}).set_requires_grad(true), b = whole({7, 6}).set_requires_grad(true);
  auto seed = whole({1, 6}).expand({5, 6});
  auto ours = gradients(call("mm", {a.t(), b}), seed, {a, b}), theirs = gradients(at::mm(a.t(), b), seed, {a, b});
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(at::equal(ours[i], theirs[i]));
}

TEST_F(Aten, SecondAndThirdDerivativesEqualTorch) {
  auto x = variable({5}), ones = at::ones({5}, at::kDouble);
  auto ours = call("cube", {x}), theirs = x * x * x;
  for (int order = 1; order <= 3; ++order) {
    ours = gradients(ours, ones, {x})[0];
    theirs = gradients(theirs, ones, {x})[0];
    EXPECT_TRUE(at::allclose(ours, theirs, 1e-12, 1e-14)) << order;
  }
}

TEST_F(Aten, OnlyWhatRequiresGradHasOne) {
  auto a = whole({3, 3}).set_requires_grad(true), b = whole({3, 3});
  auto c = call("mm", {a, b});
  c.backward(at::ones_like(c));
  EXPECT_TRUE(at::equal(a.grad(), at::mm(at::ones({3, 3}), b.t())));
  EXPECT_FALSE(b.grad().defined());
  const at::NoGradGuard guard;
  EXPECT_FALSE(call("mm", {a, b}).requires_grad());
}

TEST_F(Aten, SomeReturnsBringGradients) {
  for (int which = 1; which <= 3; ++which) {
    auto x = variable({6}), w = variable({6});
    auto outputs = engine.call("parts", {x, w});
    EXPECT_FALSE(outputs[2].requires_grad());
    EXPECT_EQ(outputs[2].item<int>(), x.to(at::kInt).max().item<int>());
    auto ours = at::zeros({}, at::kDouble), theirs = at::zeros({}, at::kDouble);
    if (which & 1) ours = ours + outputs[0].sum(), theirs = theirs + (x * w).sum();
    if (which & 2) ours = ours + outputs[1].sum(), theirs = theirs + x.exp().sum();
    auto one = at::ones({}, at::kDouble);
    auto got = gradients(ours, one, {x, w}), want = gradients(theirs, one, {x, w});
    for (int i = 0; i < 2; ++i)
      if (want[i].defined()) {
        EXPECT_TRUE(at::allclose(got[i], want[i], 1e-13, 0)) << which;
      }
  }
}

TEST_F(Aten, OneOfSeveralSavedReturnsIsEnough) {
  auto x = variable({6}), one = at::ones({}, at::kDouble);
  auto ours = gradients(engine.call("both", {x})[1].sum(), one, {x})[0];
  EXPECT_TRUE(at::allclose(ours, gradients(x.tanh().sum(), one, {x})[0], 1e-12, 1e-14));
}

TEST_F(Aten, OnlySizesAreKeptOfWhatIsNotRead) {
  auto x = variable({4}), z = variable({4, 3}), w = variable({4}), seed = at::randn({4}, at::kDouble);
  auto ours = call("mix", {x, z, w});
  z.detach().add_(1);
  auto got = gradients(ours, seed, {x, z, w}), want = gradients(x * w + z.sum(1), seed, {x, z, w});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(at::allclose(got[i], want[i], 1e-13, 0)) << i;
}

TEST_F(Aten, WhatIsAddedToIsTakenAndReturned) {
  auto x = whole({8}), sum = whole({8}), before = sum.clone();
  auto y = call("add", {x, at::full({}, 3, at::kFloat), sum});
  EXPECT_TRUE(at::equal(y, before + 3 * x));
  EXPECT_TRUE(at::equal(sum, before));
  auto own = x.clone().set_requires_grad(true);
  auto seed = at::randn({8}, at::kFloat);
  auto ours = gradients(call("add", {own, at::full({}, 3, at::kFloat), sum}), seed, {own});
  EXPECT_TRUE(at::allclose(ours[0], 3 * seed));
  auto old = sum.clone().set_requires_grad(true);
  auto both = gradients(call("add", {own, at::full({}, 3, at::kFloat), old}), seed, {own, old});
  EXPECT_TRUE(at::allclose(both[0], 3 * seed));
  EXPECT_TRUE(at::allclose(both[1], seed));
  EXPECT_NE(refusal([&] { call("add", {x, at::full({}, 3, at::kFloat), whole({4})}); }), "");
}

TEST_F(Aten, RunCountsAsAChange) {
  auto a = whole({3, 3}), out = at::zeros({3, 3});
  auto w = whole({3, 3}).set_requires_grad(true);
  auto loss = (w * out).sum();
  const auto version = out._version();
  const Tensors inputs = {a, a}, outputs = {out};
  engine.run(engine.compile("mm", inputs, outputs), inputs, outputs);
  EXPECT_GT(out._version(), version);
  EXPECT_ERROR(loss.backward(), c10::Error, "modified by an inplace operation");
}

TEST_F(Aten, RunRefusesToLoseGradients) {
  auto a = whole({3, 3}).set_requires_grad(true), out = at::full({3, 3}, 9, at::kFloat);
  const Tensors inputs = {a, a}, outputs = {out};
  const auto handle = engine.compile("mm", inputs, outputs);
  EXPECT_NE(refusal([&] { engine.run(handle, inputs, outputs); }).find("requires grad"), std::string::npos);
  EXPECT_TRUE(at::equal(out, at::full({3, 3}, 9, at::kFloat)));
  const at::NoGradGuard guard;
  engine.run(handle, inputs, outputs);
  EXPECT_TRUE(at::equal(out, at::mm(a, a)));
}

TEST_F(Aten, TensorsThatDoNotFitAreRefused) {
  auto a = whole({3, 3});
  const std::map<std::string, Tensors> refused = {
      {"undefined", {a, at::Tensor()}},      {"not strided", {a, a.to_sparse()}},
      {"takes 2 tensors, 1 was given", {a}}, {"no type of the language", {a, a.to(at::kComplexFloat)}},
      {"float64", {a, a.to(at::kDouble)}},   {"no memory", {a, at::empty({3, 3}, at::kMeta)}},
      {"negated", {a, at::_neg_view(a)}},    {"'B'", {a, whole({4, 3})}},
  };
  for (const auto& [reason, tensors] : refused)
    EXPECT_NE(refusal([&] { call("mm", tensors); }).find(reason), std::string::npos) << reason;
  EXPECT_NE(refusal([&] { call("nn", {a, a}); }).find("softmax"), std::string::npos);
  EXPECT_NE(refusal([&] { engine.executable(99); }), "");
  auto index = at::tensor({0, 7}, at::kInt);
  EXPECT_NE(refusal([&] { call("table", {a, index}); }), "");
}

TEST_F(Aten, ThreadsShareAFunction) {
  const auto function = engine.function("mm");
  std::vector<std::thread> threads;
  std::atomic<int> equal = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto a = whole({t + 2, 8}).set_requires_grad(true), b = whole({8, 4});
      auto c = function->call({a, b}).front();
      c.sum().backward();
      equal += at::equal(c, at::mm(a, b)) && at::equal(a.grad(), b.sum(1).expand({t + 2, 8}));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(equal, 4);
}

TEST_F(Aten, OperatorsHaveKernelsShapesAndGradients) {
  define_operators("tc_aten_test", text);
  const auto find = [](const char* name) { return c10::Dispatcher::singleton().findSchemaOrThrow(name, ""); };
  const auto invoke = [](const c10::OperatorHandle& handle, const Tensors& inputs) {
    torch::jit::Stack stack(inputs.begin(), inputs.end());
    handle.callBoxed(stack);
    return stack;
  };
  const auto mm = find("tc_aten_test::mm");
  auto a = whole({5, 7}).set_requires_grad(true), b = whole({7, 6});
  auto c = invoke(mm, {a, b})[0].toTensor();
  EXPECT_TRUE(at::equal(c, at::mm(a, b)));
  auto da = gradients(c, at::ones_like(c), {a})[0];
  EXPECT_TRUE(at::equal(da, at::mm(at::ones({5, 6}), b.t())));
  EXPECT_TRUE(c10::Dispatcher::singleton().findSchema({"tc_aten_test::mm__grad_0_of_0", ""}).has_value());
  auto shape = invoke(mm, {at::empty({5, 7}, at::kMeta), at::empty({7, 6}, at::kMeta)})[0].toTensor();
  EXPECT_TRUE(shape.is_meta());
  EXPECT_EQ(shape.sizes(), c.sizes());
  auto x = variable({6}), w = variable({6});
  EXPECT_EQ(invoke(find("tc_aten_test::parts"), {x, w}).size(), 3u);
  EXPECT_ERROR(define_operators("tc_aten_test", "def mm(float(N) A) -> (B) { B(n) = A(n) }"), c10::Error,
               "with the same name and overload name multiple times");
}

/// A level of forward mode of torch.
struct ForwardLevel {
  std::uint64_t level = torch::autograd::ForwardADLevel::get_next_idx();
  ForwardLevel() = default;
  ForwardLevel(const ForwardLevel&) = delete;
  ForwardLevel& operator=(const ForwardLevel&) = delete;
  ~ForwardLevel() { torch::autograd::ForwardADLevel::release_idx(level); }
};

TEST_F(Aten, TangentsEqualTorch) {
  const ForwardLevel forward;
  const auto a = whole({5, 7}), b = whole({7, 6}), ta = whole({7, 5}).t(), tb = whole({7, 6});
  const auto tangent_of = [](const at::Tensor& tensor) { return std::get<1>(at::_unpack_dual(tensor, 0)); };
  const auto dual = [](const at::Tensor& value, const at::Tensor& tangent) {
    return at::_make_dual(value, tangent, 0);
  };
  const auto both = call("mm", {dual(a, ta), dual(b, tb)});
  EXPECT_TRUE(at::equal(std::get<0>(at::_unpack_dual(both, 0)), at::mm(a, b)));
  EXPECT_TRUE(at::equal(tangent_of(both), at::mm(ta, b) + at::mm(a, tb)));
  EXPECT_TRUE(at::equal(tangent_of(call("mm", {a, dual(b, tb)})), at::mm(a, tb)));

  auto x = variable({5}), direction = at::randn({5}, at::kDouble);
  const auto slope = tangent_of(call("cube", {dual(x, direction)}));
  EXPECT_TRUE(at::allclose(slope, 3 * x * x * direction, 1e-12, 1e-14));
  EXPECT_TRUE(at::allclose(gradients(slope, at::ones_like(slope), {x})[0], 6 * x * direction, 1e-12, 1e-14));

  const auto sum = at::zeros({5}, at::kFloat), s = at::ones({}, at::kFloat);
  EXPECT_NE(refusal([&] { call("add", {at::ones_like(sum), s, dual(sum, sum)}); }).find("carries a tangent"),
            std::string::npos);
}

TEST_F(Aten, OperatorsHaveTangents) {
  define_operators("tc_aten_tangent", text);
  const ForwardLevel forward;
  const auto a = whole({5, 7}), b = whole({7, 6}), ta = whole({5, 7});
  torch::jit::Stack stack{at::_make_dual(a, ta, 0), b};
  c10::Dispatcher::singleton().findSchemaOrThrow("tc_aten_tangent::mm", "").callBoxed(stack);
  const auto [value, tangent] = at::_unpack_dual(stack[0].toTensor(), 0);
  EXPECT_TRUE(at::equal(value, at::mm(a, b)));
  EXPECT_TRUE(at::equal(tangent, at::mm(ta, b)));
  EXPECT_TRUE(c10::Dispatcher::singleton().findSchema({"tc_aten_tangent::mm__jvp_0", ""}).has_value());
}

/// vmap of \p name over the first dimension of \p batched, \p other shared.
at::Tensor for_each(const char* name, const at::Tensor& batched, const at::Tensor& other, bool second = false) {
  using namespace at::functorch;
  torch::jit::Stack stack{makeBatched(batched, 0, 1), other};
  if (second) std::swap(stack[0], stack[1]);
  c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(stack);
  const auto* result = maybeGetBatchedImpl(stack[0].toTensor());
  EXPECT_TRUE(result && result->level() == 1 && result->bdim() == 0);
  return result ? result->value() : at::Tensor();
}

TEST_F(Aten, OperatorsHaveARuleForBatches) {
  define_operators("tc_aten_batch", text);
  const auto a = whole({3, 5, 7}).set_requires_grad(true), b = whole({7, 6});
  const auto c = for_each("tc_aten_batch::mm", a, b);
  EXPECT_TRUE(at::equal(c, at::matmul(a, b)));
  EXPECT_TRUE(at::equal(gradients(c, at::ones_like(c), {a})[0], at::ones({3, 5, 6}).matmul(b.t())));
  const auto x = whole({2, 3, 5, 7}), y = whole({2, 7, 6});
  torch::jit::Stack nested{at::functorch::makeBatched(at::functorch::makeBatched(x, 0, 1), 0, 2),
                           at::functorch::makeBatched(y, 0, 1)};
  c10::Dispatcher::singleton().findSchemaOrThrow("tc_aten_batch::mm", "").callBoxed(nested);
  const auto* inner = at::functorch::maybeGetBatchedImpl(nested[0].toTensor());
  ASSERT_TRUE(inner && inner->level() == 2);
  const auto* outer = at::functorch::maybeGetBatchedImpl(inner->value());
  ASSERT_TRUE(outer && outer->level() == 1);
  EXPECT_TRUE(at::equal(outer->value(), at::matmul(x, y.unsqueeze(1))));
  const auto d = for_each("tc_aten_batch::mm", whole({4, 7, 6}), whole({5, 7}), true);
  EXPECT_EQ(d.sizes(), at::IntArrayRef({4, 5, 6}));
  EXPECT_TRUE(c10::Dispatcher::singleton().findSchema({"tc_aten_batch::mm__batch_0_none", ""}).has_value());
  EXPECT_TRUE(c10::Dispatcher::singleton().findSchema({"tc_aten_batch::mm__batch_none_0", ""}).has_value());
}

}  // namespace
}  // namespace tc::aten
