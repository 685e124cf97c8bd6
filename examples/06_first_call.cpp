// The program of lesson 10: a softmax called from C++.

#include <cstdio>
#include <vector>

#include "tc/engine/engine.h"

/// A view of \p data as a dense tensor of \p shape.
static tc::TensorView view(std::vector<float>& data, std::vector<std::int64_t> shape) {
  tc::TensorView result;
  static_cast<tc::TensorSpec&>(result) = tc::contiguous(tc::DType::Float32, std::move(shape));
  result.data = data.data();
  return result;
}

int main() {
  tc::engine::ExecutionEngine engine;
  engine.define(R"(
    def softmax(float(N,D) X) -> (Y) {
      top(n)   max=! X(n,d)
      e(n,d)       = exp(X(n,d) - top(n))
      total(n) +=! e(n,d)
      Y(n,d)       = e(n,d) / total(n)
    })");

  std::vector<float> x{0, 0, 1, 1, 1, 1};
  const auto input = view(x, {2, 3});
  const auto info = engine.infer_output_tensor_info("softmax", {input}).front();
  std::vector<float> y(info.element_count());

  const auto handle = engine.compile("softmax", {input});
  engine.run(handle, {input}, {view(y, info.shape)});

  for (float value : y) std::printf("%.3f ", value);
  std::printf("\n");
  return y[3] > 0.333f && y[3] < 0.334f ? 0 : 1;
}
