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
