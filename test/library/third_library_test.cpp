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

TEST(ThirdLibrary, HasANameOfItsOwn) {
  toy();
  EXPECT_ERROR(add_library({"toy", 1, nullptr, {}}), OptionsError, "there is a library 'toy' already");
  EXPECT_ERROR(find_library("toys"), OptionsError, "there is no library 'toys'; there are");
}

}  // namespace
}  // namespace tc::library
