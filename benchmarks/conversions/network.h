#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tc/graph/resolve/operators.h"

namespace tc::bench {

/// A network as calls of operators that know no layouts. Weights are constants, which are in the layout their operator
/// asks for, and no tensors of it.
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

  /// The image, `size` x `size`, of three channels last.
  Tensor image(std::int64_t size);
  Tensor conv(Tensor x, std::int64_t channels, Window window);
  Tensor depthwise(Tensor x, Window window);
  Tensor pool(Tensor x, Window window);
  Tensor batch_norm(Tensor x) { return element_wise("batch_norm", {x}); }
  Tensor relu(Tensor x) { return element_wise("relu", {x}); }
  Tensor add(Tensor a, Tensor b) { return element_wise("add", {a, b}); }
  Tensor concat(const std::vector<Tensor>& parts);
  /// Means of all channels, a product with a matrix, softmax.
  void classify(Tensor x);

  /// A convolution, its normalisation and a ReLU.
  Tensor conv_bn_relu(Tensor x, std::int64_t channels, Window window);

  std::int64_t channels(Tensor x) const { return program_.tensors[x].extents[1]; }
  std::int64_t height(Tensor x) const { return program_.tensors[x].extents[2]; }
  const graph::OperatorProgram& program() const { return program_; }

 private:
  Tensor make(const std::string& op, const std::vector<Tensor>& inputs, std::vector<std::int64_t> extents,
              std::vector<layout::Layout> candidates = {});
  Tensor windowed(const std::string& op, Tensor x, std::int64_t channels, const Window& window);
  Tensor element_wise(const std::string& op, const std::vector<Tensor>& inputs);

  graph::OperatorProgram program_;
};

/// The layouts that operators of `network` choose from, or are given by its library.
extern const layout::Layout plain, channels_last, blocked;
/// Are so many channels whole blocks?
bool fills_blocks(std::int64_t channels);

Network vgg19();
/// `blocks`: of each of the four stages.
Network resnet(const std::vector<int>& blocks);
Network densenet169();
Network mobilenet_v1();
Network mobilenet_v2();
Network googlenet();
Network inception_v2();
Network inception_v3();
Network inception_resnet_v2();
Network nasnet_large();

}  // namespace tc::bench
