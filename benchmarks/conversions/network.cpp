#include "benchmarks/conversions/network.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "tc/layout/map/names.h"

namespace tc::bench {

using layout::Layout;

const Layout plain, channels_last = layout::named_layout("NHWC"), blocked = layout::named_layout("NCHW16c");

bool fills_blocks(std::int64_t channels) { return channels % 16 == 0; }

Network::Tensor Network::image(std::int64_t size) {
  return program_.add({"image", DType::Float32, "NCHW", {batch_, 3, size, size}, false, channels_last});
}

Network::Tensor Network::weights(const std::string& dims, std::vector<std::int64_t> extents) {
  return program_.add({"weights", DType::Float32, dims, std::move(extents), true});
}

engine::Attributes Network::attributes(Tensor x, const Window& window) const {
  engine::Attributes result{{"stride", window.stride}};
  if (window.padding == Valid) return result;
  auto pad = [&](char dim, std::int64_t reach, const std::string& before, const std::string& behind) {
    const auto size = program_.tensors[x].size(dim), outputs = (size + window.stride - 1) / window.stride;
    const auto total = std::max<std::int64_t>((outputs - 1) * window.stride + reach - size, 0);
    result[before] = total / 2;
    result[behind] = total - total / 2;
  };
  pad('H', window.height, "top", "bottom");
  pad('W', window.width, "left", "right");
  return result;
}

Network::Tensor Network::conv(Tensor x, std::int64_t channels, Window window) {
  const auto k = weights("OIRS", {channels, this->channels(x), window.height, window.width});
  return program_.call("conv", {x, k}, attributes(x, window));
}

Network::Tensor Network::depthwise(Tensor x, Window window) {
  return program_.call("depthwise", {x, weights("CRS", {channels(x), window.height, window.width})},
                       attributes(x, window));
}

Network::Tensor Network::pool(Tensor x, Window window, const std::string& op) {
  auto said = attributes(x, window);
  said["height"] = window.height;
  said["width"] = window.width;
  return program_.call(op, {x}, said);
}

Network::Tensor Network::batch_norm(Tensor x) {
  std::vector<Tensor> inputs{x};
  for (int i = 0; i < 4; ++i) inputs.push_back(weights("C", {channels(x)}));
  return program_.call("batch_norm", inputs);
}

void Network::classify(Tensor x) {
  const auto means = program_.call("mean", {x});
  program_.call("softmax", {program_.call("matmul", {means, weights("OC", {1000, channels(x)})})});
}

Network::Tensor Network::conv_bn_relu(Tensor x, std::int64_t channels, Window window) {
  return relu(batch_norm(conv(x, channels, window)));
}

void Network::fill_weights() {
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> numbers(-1, 1);
  for (auto& tensor : program_.tensors) {
    if (!tensor.constant) continue;
    tensor = engine::allocate(tensor, plain);
    const auto elements = tensor.spec_in(plain).element_count();
    const auto terms = elements / tensor.extents[0];
    auto* values = static_cast<float*>(tensor.data());
    for (std::int64_t i = 0; i < elements; ++i)
      values[i] = tensor.dims == "C" ? 0.3F + numbers(random) / 10
                                     : numbers(random) * std::sqrt(3.0F / static_cast<float>(terms));
  }
}

}  // namespace tc::bench
