#include "tc/engine/describe/layout_guideline.h"

#include <gtest/gtest.h>

#include "tc/engine/compile/price_function.h"
#include "test/engine/engine_fixture.h"
#include "test/support/expect_error.h"

namespace tc::engine {
namespace {

TEST(LayoutGuideline, OfAProductIsPricedAsItsDefInThoseLayouts) {
  const auto function =
      define("def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }").functions.back();
  const auto floats = [](std::vector<std::int64_t> shape) { return contiguous(DType::Float32, std::move(shape)); };
  const std::vector<TensorSpec> inputs{floats({32, 1024}), floats({1024, 1024})};
  const auto found = layout_guideline(function, inputs, {});
  ASSERT_GT(found.size(), 3u);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LE(found[i - 1].microseconds, found[i].microseconds);
  const auto plain = std::find_if(found.begin(), found.end(), [](const auto& l) { return l.layouts.of.empty(); });
  ASSERT_NE(plain, found.end());
  const auto price = price_function(function, make_arguments(*function, inputs, {}), {});
  EXPECT_NEAR(plain->microseconds, 1e6 * price.value(), 0.02 * plain->microseconds);
  const auto& best = found.front().layouts.of;
  const auto sizes = bind_inputs(*function, inputs);
  EXPECT_NEAR(1e6 * price_in_layouts({function->def, function->ranges}, sizes, {best, {}}, {}).value(),
              found.front().microseconds, 1e-6);
}

/// On a GPU, threads beside each other read channels that lie beside each other, and a thread moves four of them at once: a depthwise
/// convolution is cheaper with channels last, and in blocks, than plain; a product is as cheap with its operands by rows or by columns.
TEST(LayoutGuideline, OnAGridFollowsThePricesOfKernels) {
  const auto floats = [](std::vector<std::int64_t> shape) { return contiguous(DType::Float32, std::move(shape)); };
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  const auto each =
      define("def f(float(N,C,H,W) X, float(C,R,S) K) -> (Y) { Y(n,c,h,w) +=! X(n,c,h+r,w+s) * K(c,r,s) }")
          .functions.back();
  const auto found = layout_guideline(each, {floats({8, 128, 58, 58}), floats({128, 3, 3})}, options);
  ASSERT_GT(found.size(), 8u);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LE(found[i - 1].microseconds, found[i].microseconds);
  const auto price = [&](const char* layout) {
    for (const auto& entry : found)
      if (entry.layouts.of.empty() ? !*layout
                                   : entry.layouts.of.count("X") && entry.layouts.of.count("Y") &&
                                         to_string(entry.layouts.of.at("X")) == layout)
        return entry.microseconds;
    return 0.0;
  };
  const double plain = price(""), last = price("reorder(0, 2, 3, 1)"),
               blocks = price("split(1, 4) reorder(0, 1, 3, 4, 2)");
  EXPECT_LT(last, plain);
  EXPECT_GT(last, plain / 4);
  EXPECT_LT(blocks, plain);
  const auto product =
      define("def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }").functions.back();
  const auto of_product = layout_guideline(product, {floats({512, 512}), floats({512, 512})}, options);
  ASSERT_GT(of_product.size(), 4u);
  EXPECT_NEAR(of_product[3].microseconds, of_product[0].microseconds, 0.05 * of_product[0].microseconds);
}

TEST(LayoutTemplate, StaysWithinLimits) {
  const auto function = define("def f(float(M,K) A) -> (C) { C(m) +=! A(m,k) }").functions.back();
  const std::vector<TensorSpec> inputs{contiguous(DType::Float32, {32, 64})};
  EXPECT_FALSE(layout_template(function, inputs).tunables.empty());
  Limits limits;
  limits.cancellation.cancel();
  EXPECT_ERROR(layout_template(function, inputs, limits), CancelledError, "cancelled in a template of layouts");
}

}  // namespace
}  // namespace tc::engine
