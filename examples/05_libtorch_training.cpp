// Training with LibTorch, a def inside: torch's autograd records the call, and the gradient of the def runs backwards.
//
//   build/bin/05_libtorch_training

#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "tc/aten/engine.h"

namespace {

using Layer = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias)>;

/// Two layers: \p hidden with a weight and a bias of its own, then torch's linear one.
struct NetworkImpl : torch::nn::Module {
  explicit NetworkImpl(Layer hidden)
      : hidden(std::move(hidden)),
        weight(register_parameter("weight", torch::randn({64, 8}) * 0.5)),
        bias(register_parameter("bias", torch::zeros({64}))),
        last(register_module("last", torch::nn::Linear(64, 1))) {}

  at::Tensor forward(const at::Tensor& x) { return last(hidden(x, weight, bias)); }

  Layer hidden;
  at::Tensor weight, bias;
  torch::nn::Linear last;
};
TORCH_MODULE(Network);

/// The losses of training on the same data from the same start, whatever \p hidden is made of.
std::vector<double> train(const Layer& hidden) {
  torch::manual_seed(1);
  const auto x = torch::randn({256, 8}), y = x.square().sum(1, true).sin();
  Network network(hidden);
  torch::optim::SGD optimizer(network->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  std::vector<double> losses;
  for (int step = 0; step < 100; ++step) {
    optimizer.zero_grad();
    const auto loss = torch::mse_loss(network(x), y);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

}  // namespace

int main() {
  tc::aten::ExecutionEngine engine;
  engine.define(R"(
    def layer(float(N,K) X, float(M,K) W, float(M) B) -> (O) {
      S(n,m) +=! X(n,k) * W(m,k)
      O(n,m) = (S(n,m) + B(m)) * sigmoid(S(n,m) + B(m))
    })");

  const auto ours = train([&](const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    return engine.call("layer", {x, weight, bias}).front();
  });
  const auto theirs = train([](const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    return torch::silu(torch::nn::functional::linear(x, weight, bias));
  });

  bool equal = ours.back() < 0.8 * ours.front();
  for (std::size_t step = 0; step < ours.size(); ++step) {
    equal = equal && std::abs(ours[step] - theirs[step]) <= 1e-3 * theirs[step];
    if (step % 20 == 19)
      std::printf("step %3zu  loss %.6f with the def, %.6f with torch\n", step + 1, ours[step], theirs[step]);
  }
  return equal ? EXIT_SUCCESS : EXIT_FAILURE;
}
