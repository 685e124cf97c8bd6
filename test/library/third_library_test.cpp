#include <gtest/gtest.h>

#include "test/library/library_fixture.h"
#include "test/support/expect_error.h"

/// A library that is known to this test alone: nothing else is told of it.
namespace tc::library {
namespace {

/// C(m,n) = a(m) - b(n), by strides.
class Difference : public Invocation {
 public:
  explicit Difference(const Call& call) : call_(call) {}
  void run(void* const* operands, int) const override {
    const auto* a = static_cast<const float*>(operands[0]);
    const auto* b = static_cast<const float*>(operands[1]);
    auto* c = static_cast<float*>(operands[2]);
    const auto &c_strides = call_.result().strides, &a_strides = call_.operands[0].strides;
    for (std::int64_t m = 0; m < call_.number("M"); ++m)
      for (std::int64_t n = 0; n < call_.number("N"); ++n)
        c[m * c_strides[0] + n * c_strides[1]] = a[m * a_strides[0]] - b[n * call_.operands[1].strides[0]];
  }

 private:
  Call call_;
};

const Library& toy() {
  static const Library& library = [&]() -> const Library& {
    Routine routine{"difference",
                    "def difference(float(M) a, float(N) b) -> (C) { C(m,n) = a(m) - b(n) }",
                    {{DType::Float32, DType::Float32, DType::Float32}}};
    routine.prepare = [](const Call& call) { return std::make_unique<Difference>(call); };
    add_library({"toy",
                 7,
                 []() -> const Presence& {
                   static const Presence presence{"1.0", ""};
                   return presence;
                 },
                 {routine}});
    return find_library("toy");
  }();
  return library;
}

TEST(ThirdLibrary, IsFoundByWhatItComputes) {
  TestCase test{"def table(float(P) x, float(Q) y) -> (D) { D(q,p) = x(p) - y(q) }", {floats({4}), floats({3})}};
  auto call = call_of(test, toy());
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number("M"), 4);
  EXPECT_EQ(call->result().strides, (std::vector<std::int64_t>{1, 4}));
  EXPECT_TRUE(computes_the_same(test, *call));
  test.text = "def table(float(P) x, float(Q) y) -> (D) { D(q,p) = y(q) - x(p) }";
  call = call_of(test, toy());
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number("M"), 3) << "operators that do not commute keep their order";
  EXPECT_TRUE(computes_the_same(test, *call));
  test.text = "def table(float(P) x, float(Q) y) -> (D) { D(q,p) = x(p) + y(q) }";
  EXPECT_FALSE(call_of(test, toy()));
}

TEST(ThirdLibrary, IsCalledByExecutables) {
  toy();
  TestCase test{"def table(float(P) x, float(Q) y) -> (D) { D(q,p) = x(p) - y(q) }", {floats({4}), floats({3})}};
  engine::CompileOptions options;
  options.libraries = "toy";
  const auto executable = engine::compile(function_of(test), test.inputs, {}, options);
  ASSERT_EQ(executable->image().calls.size(), 1u);
  EXPECT_EQ(executable->image().calls[0].library, "toy");
  EXPECT_TRUE(executable->image().functions.empty());
  TestTensor x(floats({4}), 1), y(floats({3}), 2), d(floats({3, 4}), 3);
  executable->run(std::vector<TensorView>{x.view(), y.view()}, std::vector<TensorView>{d.view()});
  const auto* values = static_cast<const float*>(d.view().data);
  EXPECT_EQ(values[5], static_cast<const float*>(x.view().data)[1] - static_cast<const float*>(y.view().data)[1]);
}

/// C(m,p,i) = sum over k of A(m,k) * B(p,k,i): a product whose second factor lies in panels, by strides.
class PanelProduct : public Invocation {
 public:
  explicit PanelProduct(const Call& call) : call_(call) {}
  void run(void* const* operands, int) const override {
    const auto* a = static_cast<const float*>(operands[0]);
    const auto* b = static_cast<const float*>(operands[1]);
    auto* c = static_cast<float*>(operands[2]);
    const auto &of_a = call_.operands[0].strides, &of_b = call_.operands[1].strides, &of_c = call_.result().strides;
    for (std::int64_t m = 0; m < call_.number("M"); ++m)
      for (std::int64_t p = 0; p < call_.number("P"); ++p)
        for (std::int64_t i = 0; i < call_.number("L"); ++i) {
          float sum = 0;
          for (std::int64_t k = 0; k < call_.number("K"); ++k)
            sum += a[m * of_a[0] + k * of_a[1]] * b[p * of_b[0] + k * of_b[1] + i * of_b[2]];
          c[m * of_c[0] + p * of_c[1] + i * of_c[2]] = sum;
        }
  }

 private:
  Call call_;
};

/// A layout that nobody else has, of columns in panels of five, and a library whose one routine is written for it.
const layout::Layout panels = layout::Layout().split(1, {5}).reorder({1, 0, 2}), fives = layout::Layout().split(1, {5});

const Library& panel_library() {
  static const Library& library = [&]() -> const Library& {
    Routine routine{"panel_product",
                    "def panel_product(float(M,K) A, float(P,K,L) B) -> (C) { C(m,p,i) +=! A(m,k) * B(p,k,i) }",
                    {{DType::Float32, DType::Float32, DType::Float32}}};
    routine.accepts = [](const Call& call) {
      return call.number("L") == 5 && call.operands[1].strides[2] == 1 && call.operands[1].strides[1] == 5;
    };
    routine.prepare = [](const Call& call) { return std::make_unique<PanelProduct>(call); };
    add_library({"panels",
                 8,
                 []() -> const Presence& {
                   static const Presence presence{"1.0", ""};
                   return presence;
                 },
                 {routine},
                 {{"panels", panels}, {"fives", fives}}});
    return find_library("panels");
  }();
  return library;
}

/// Two products and what is between them: the library gets both in its own layout, weights are converted once by the compile, and
/// what others compute stays right.
TEST(ThirdLibrary, GetsItsOwnLayoutFromGraphs) {
  panel_library();
  const auto function = engine::define(
                            "def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n"
                            "def positive(float(M,N) X) -> (Y) { Y(m,n) = fmax(X(m,n), 0) }\n"
                            "def main(float(M,K) X, float(K,N) V, float(N,O) W) -> (Y) {\n"
                            "  A = product(X, V)  B = positive(A)  Y = product(B, W) }")
                            .functions.back();
  TestTensor x(floats({4, 6}), 1), v(floats({6, 10}), 2), w(floats({10, 15}), 3), y(floats({4, 15}), 4), own = y;
  const auto borrowed = [](const std::string& name, TestTensor& tensor) {
    return engine::Constant{name, tensor.view(), {tensor.view().data, [](void*) {}}, std::nullopt};
  };
  engine::CompileOptions options;
  options.constants = {borrowed("V", v), borrowed("W", w)};
  const std::vector<TensorSpec> inputs{x.view(), v.view(), w.view()};
  engine::compile(function, inputs, {}, options)
      ->run(std::vector<TensorView>{x.view()}, std::vector<TensorView>{own.view()});
  options.libraries = "panels";
  EXPECT_TRUE(engine::compile(function, inputs, {}, options)->image().calls.empty()) << "as it is, it has no routine";
  options.layouts = graph::LayoutMode::Resolve;
  const auto executable = engine::compile(function, inputs, {}, options);
  EXPECT_EQ(executable->image().calls.size(), 2u);
  const auto& layouts = executable->stats().layouts;
  EXPECT_EQ(std::count_if(layouts.begin(), layouts.end(),
                          [](const std::string& line) {
                            return line.find("split(1, 5) reorder(1, 0, 2), converted once") != std::string::npos;
                          }),
            2);
  executable->run(std::vector<TensorView>{x.view()}, std::vector<TensorView>{y.view()});
  EXPECT_TRUE(y == own);
}

TEST(ThirdLibrary, HasANameOfItsOwn) {
  toy();
  EXPECT_ERROR(add_library({"toy", 1, nullptr, {}}), OptionsError, "there is a library 'toy' already");
  EXPECT_ERROR(find_library("toys"), OptionsError, "there is no library 'toys'; there are");
}

}  // namespace
}  // namespace tc::library
