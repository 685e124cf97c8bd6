#include "tc/autotuner/worker/sample.h"

#include <set>

#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

TEST(SampleTensors, IndicesStayInsideWhatTheyIndex) {
  auto function =
      function_of("def f(float(E,D) T, int32(N) I, int32(N) J) -> (O) { O(n,d) = T(I(n),d) + float(J(n)) }");
  std::vector<TensorSpec> inputs = {matrix(50, 4), contiguous(DType::Int32, {300}), contiguous(DType::Int32, {300})};
  SampleTensors sample(*function, inputs, 1);
  std::set<std::int32_t> indices, others;
  for (int i = 0; i < 300; ++i) {
    indices.insert(static_cast<std::int32_t*>(sample.views()[1].data)[i]);
    others.insert(static_cast<std::int32_t*>(sample.views()[2].data)[i]);
  }
  EXPECT_EQ(*indices.begin(), 0);
  EXPECT_EQ(*indices.rbegin(), 49);
  EXPECT_EQ(*others.rbegin(), 7);
  std::set<float> values;
  for (int i = 0; i < 200; ++i) values.insert(static_cast<float*>(sample.views()[0].data)[i]);
  EXPECT_GT(values.size(), 190u);
  EXPECT_GE(*values.begin(), -1);
  EXPECT_LT(*values.rbegin(), 1);
}

TEST(SampleTensors, FollowStridesAndTheSeed) {
  auto function = function_of("def f(float(M,N) A) -> (B) { B(i,j) = A(i,j) }");
  TensorSpec reversed{DType::Float32, {3, 4}, {-4, 1}};
  SampleTensors a(*function, {reversed}, 1), b(*function, {reversed}, 1), c(*function, {reversed}, 2);
  auto last = [](const SampleTensors& sample) { return *(static_cast<float*>(sample.views()[0].data) - 8); };
  EXPECT_EQ(last(a), last(b));
  EXPECT_NE(last(a), last(c));
}

}  // namespace
}  // namespace tc::autotuner
