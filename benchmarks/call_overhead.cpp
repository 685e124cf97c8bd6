// Cost of one call from C++ on 8-element tensors, beside the bare kernel, as JSON in microseconds.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "tc/engine/engine.h"

namespace {

template <typename F>
double microseconds_per_call(F&& call) {
  constexpr int calls = 20000;
  std::vector<double> samples;
  for (int sample = 0; sample < 9; ++sample) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    samples.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() /
                      calls);
  }
  std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
  return samples[4];
}

}  // namespace

int main() {
  tc::engine::ExecutionEngine engine;
  engine.define("def f(float(N) X) -> (Y) { Y(i) = X(i) + 1 }");
  alignas(64) float x[8] = {}, y[8] = {};
  tc::TensorView input, output;
  static_cast<tc::TensorSpec&>(input) = tc::contiguous(tc::DType::Float32, {8});
  output = input;
  input.data = x;
  output.data = y;
  auto handle = engine.compile("f", std::vector<tc::TensorSpec>{input});
  std::vector<tc::TensorView> inputs{input}, outputs{output};
  void* pointers[] = {x, y};
  double checked = microseconds_per_call([&] { engine.run(handle, inputs, outputs); });
  double unchecked = microseconds_per_call([&] { engine.run_unchecked(handle, pointers); });
  std::printf("{\"run_us\": %.3f, \"run_unchecked_us\": %.3f}\n", checked, unchecked);
}
