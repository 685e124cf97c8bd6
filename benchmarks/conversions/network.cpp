#include "benchmarks/conversions/network.h"

#include "tc/layout/map/names.h"

namespace tc::bench {

using layout::Layout;

const Layout plain, channels_last = layout::named_layout("NHWC"), blocked = layout::named_layout("NCHW16c");

bool fills_blocks(std::int64_t channels) { return channels % 16 == 0; }

Network::Tensor Network::make(const std::string& op, const std::vector<Tensor>& inputs,
                              std::vector<std::int64_t> extents, std::vector<Layout> candidates) {
  const Tensor made = program_.tensors.size();
  program_.tensors.push_back({op, DType::Float32, "NCHW", std::move(extents)});
  if (!op.empty()) program_.calls.push_back({op, inputs, {made}, {}, std::move(candidates)});
  return made;
}

Network::Tensor Network::image(std::int64_t size) {
  const auto made = make("", {}, {1, 3, size, size});
  program_.entry[made] = channels_last;
  return made;
}

Network::Tensor Network::windowed(const std::string& op, Tensor x, std::int64_t channels, const Window& window) {
  auto outputs = [&](std::int64_t size, std::int64_t reach) {
    return window.padding == Same ? (size + window.stride - 1) / window.stride : (size - reach) / window.stride + 1;
  };
  const auto& extents = program_.tensors[x].extents;
  return make(op, {x}, {1, channels, outputs(extents[2], window.height), outputs(extents[3], window.width)});
}

Network::Tensor Network::conv(Tensor x, std::int64_t channels, Window window) {
  return windowed("conv", x, channels, window);
}

Network::Tensor Network::depthwise(Tensor x, Window window) { return windowed("depthwise", x, channels(x), window); }

Network::Tensor Network::pool(Tensor x, Window window) { return windowed("pool", x, channels(x), window); }

Network::Tensor Network::element_wise(const std::string& op, const std::vector<Tensor>& inputs) {
  std::vector<Layout> candidates = {channels_last, plain};
  if (fills_blocks(channels(inputs.front()))) candidates.push_back(blocked);
  return make(op, inputs, program_.tensors[inputs.front()].extents, std::move(candidates));
}

Network::Tensor Network::concat(const std::vector<Tensor>& parts) {
  auto extents = program_.tensors[parts.front()].extents;
  extents[1] = 0;
  for (const auto part : parts) extents[1] += channels(part);
  return make("concat", parts, std::move(extents));
}

void Network::classify(Tensor x) {
  const auto means = make("mean", {x}, {1, channels(x), 1, 1});
  const auto classes = make("dense", {means}, {1, 1000, 1, 1});
  make("softmax", {classes}, {1, 1000, 1, 1});
}

Network::Tensor Network::conv_bn_relu(Tensor x, std::int64_t channels, Window window) {
  return relu(batch_norm(conv(x, channels, window)));
}

}  // namespace tc::bench
