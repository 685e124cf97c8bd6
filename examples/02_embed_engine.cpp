// Embedding the engine in a C++ program: no Python, no framework. Tensors are views of your own memory.
//
//   build/bin/02_embed_engine

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tc/engine/engine.h"

namespace {

tc::TensorView view(std::vector<float>& data, std::vector<std::int64_t> shape) {
  tc::TensorView result;
  static_cast<tc::TensorSpec&>(result) = tc::contiguous(tc::DType::Float32, std::move(shape));
  result.data = data.data();
  return result;
}

}  // namespace

int main() {
  tc::engine::ExecutionEngine engine;
  engine.define(R"(
    def scaled_sum(float(M,N) A, float(M,N) B, float s) -> (C, total) {
      C(i,j) = A(i,j) + s * B(i,j)
      total(i) +=! C(i,j)
    })");

  std::vector<float> a(2 * 3, 1.0f), b{0, 1, 2, 3, 4, 5}, s{10.0f};
  std::vector<tc::TensorView> inputs = {view(a, {2, 3}), view(b, {2, 3}), view(s, {})};

  std::vector<tc::TensorSpec> specs(inputs.begin(), inputs.end());
  std::vector<std::vector<float>> buffers;
  std::vector<tc::TensorView> outputs;
  for (const auto& info : engine.infer_output_tensor_info("scaled_sum", specs)) {
    buffers.emplace_back(info.element_count());
    outputs.push_back(view(buffers.back(), info.shape));
  }

  auto handle = engine.compile("scaled_sum", specs);
  engine.run(handle, inputs, outputs);

  for (float value : buffers[0]) std::printf("%g ", value);
  std::printf("| %g %g\n", buffers[1][0], buffers[1][1]);
  bool right = buffers[1] == std::vector<float>{33.0f, 123.0f};
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
