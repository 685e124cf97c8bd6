#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/engine/layouts/operators.h"

namespace tc::bench {

/// A network as calls of operators that know no layouts. Weights are constants without elements; fill_weights() draws them.
class Network {
 public:
  using Tensor = std::size_t;
  enum class Padding : std::uint8_t { Same, Valid };
  using enum Padding;
  struct Window {
    std::int64_t height = 1, width = 1, stride = 1;
    Padding padding = Same;
  };
  static Window square(std::int64_t size, std::int64_t stride = 1, Padding padding = Same) {
    return {size, size, stride, padding};
  }

  explicit Network(std::int64_t batch) : batch_(batch) {}
  /// Images, `size` x `size`, of three channels last.
  Tensor image(std::int64_t size);
  Tensor conv(Tensor x, std::int64_t channels, Window window);
  Tensor depthwise(Tensor x, Window window);
  Tensor pool(Tensor x, Window window, const std::string& op = "max_pool");
  Tensor batch_norm(Tensor x);
  Tensor relu(Tensor x) { return program_.call("relu", {x}); }
  Tensor add(Tensor a, Tensor b) { return program_.call("add", {a, b}); }
  Tensor concat(const std::vector<Tensor>& parts) { return program_.call("concat", parts); }
  /// Means of all channels, a product with a matrix, softmax.
  void classify(Tensor x);

  /// A convolution, its normalisation and a ReLU.
  Tensor conv_bn_relu(Tensor x, std::int64_t channels, Window window);

  std::int64_t channels(Tensor x) const { return program_.tensors[x].extents[1]; }
  std::int64_t height(Tensor x) const { return program_.tensors[x].extents[2]; }
  const engine::OperatorProgram& program() const { return program_; }
  /// Random numbers as weights, so that values neither vanish nor grow.
  void fill_weights();

 private:
  Tensor weights(const std::string& dims, std::vector<std::int64_t> extents);
  /// The attributes of a call that reads \p x through \p window.
  engine::Attributes attributes(Tensor x, const Window& window) const;

  std::int64_t batch_;
  engine::OperatorProgram program_;
};

/// The layouts that operators of `network` choose from, or are given by its library.
extern const layout::Layout plain, channels_last, blocked;
/// Are so many channels whole blocks?
bool fills_blocks(std::int64_t channels);

Network vgg19(std::int64_t batch);
/// `blocks`: of each of the four stages.
Network resnet(std::int64_t batch, const std::vector<int>& blocks);
Network densenet169(std::int64_t batch);
Network mobilenet_v1(std::int64_t batch);
Network mobilenet_v2(std::int64_t batch);
Network googlenet(std::int64_t batch);
Network inception_v2(std::int64_t batch);
Network inception_v3(std::int64_t batch);
Network inception_resnet_v2(std::int64_t batch);
Network nasnet_large(std::int64_t batch);

}  // namespace tc::bench
