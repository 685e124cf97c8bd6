#include "benchmarks/conversions/network.h"

namespace tc::bench {

using Tensor = Network::Tensor;
using Window = Network::Window;

namespace {

Window square(std::int64_t size, std::int64_t stride = 1, Network::Padding padding = Network::Same) {
  return Network::square(size, stride, padding);
}

/// Convolutions of these channels, one behind another; all 1x1 but those after the first, which have `window`.
Tensor reduced(Network& net, Tensor x, const std::vector<std::int64_t>& channels, Window window = square(3)) {
  for (std::size_t i = 0; i < channels.size(); ++i) x = net.conv_bn_relu(x, channels[i], i == 0 ? square(1) : window);
  return x;
}

Tensor pooled(Network& net, Tensor x, std::int64_t channels) {
  return net.conv_bn_relu(net.pool(x, square(3)), channels, square(1));
}

}  // namespace

Network vgg19(std::int64_t batch) {
  Network net(batch);
  auto x = net.image(224);
  const std::vector<std::pair<int, std::int64_t>> stages = {{2, 64}, {2, 128}, {4, 256}, {4, 512}, {4, 512}};
  for (const auto& [count, channels] : stages) {
    for (int i = 0; i < count; ++i) x = net.conv(x, channels, square(3));  // with its bias and ReLU
    x = net.pool(x, square(2, 2));
  }
  net.classify(net.conv(net.conv(x, 4096, square(7, 1, Network::Valid)), 4096, square(1)));
  return net;
}

Network resnet(std::int64_t batch, const std::vector<int>& blocks) {
  Network net(batch);
  auto x = net.pool(net.conv_bn_relu(net.image(224), 64, square(7, 2)), square(3, 2));
  for (std::size_t stage = 0; stage < blocks.size(); ++stage)
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::int64_t width = 64 << stage, stride = block == 0 && stage > 0 ? 2 : 1;
      auto y = net.conv_bn_relu(x, width, square(1, stride));
      y = net.conv_bn_relu(y, width, square(3));
      y = net.batch_norm(net.conv(y, 4 * width, square(1)));
      const auto shortcut = block == 0 ? net.batch_norm(net.conv(x, 4 * width, square(1, stride))) : x;
      x = net.relu(net.add(y, shortcut));
    }
  net.classify(x);
  return net;
}

Network densenet169(std::int64_t batch) {
  Network net(batch);
  auto x = net.pool(net.conv_bn_relu(net.image(224), 64, square(7, 2)), square(3, 2));
  const std::vector<int> blocks = {6, 12, 32, 32};
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    for (int layer = 0; layer < blocks[stage]; ++layer) {
      const auto narrow = net.conv(net.relu(net.batch_norm(x)), 128, square(1));
      x = net.concat({x, net.conv(net.relu(net.batch_norm(narrow)), 32, square(3))});
    }
    x = net.relu(net.batch_norm(x));
    if (stage + 1 < blocks.size()) x = net.pool(net.conv(x, net.channels(x) / 2, square(1)), square(2, 2));
  }
  net.classify(x);
  return net;
}

Network mobilenet_v1(std::int64_t batch) {
  Network net(batch);
  auto x = net.conv_bn_relu(net.image(224), 32, square(3, 2));
  const std::vector<std::pair<std::int64_t, std::int64_t>> layers = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                                                                     {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                                                                     {512, 1}, {1024, 2}, {1024, 1}};
  for (const auto& [channels, stride] : layers) {
    x = net.relu(net.batch_norm(net.depthwise(x, square(3, stride))));
    x = net.conv_bn_relu(x, channels, square(1));
  }
  net.classify(x);
  return net;
}

Network mobilenet_v2(std::int64_t batch) {
  struct Stage {
    std::int64_t widening, channels;
    int count;
    std::int64_t stride;
  };
  Network net(batch);
  auto x = net.conv_bn_relu(net.image(224), 32, square(3, 2));
  for (const auto& stage : {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2}, Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
                            Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}})
    for (int block = 0; block < stage.count; ++block) {
      const auto stride = block == 0 ? stage.stride : 1;
      auto y = stage.widening == 1 ? x : net.conv_bn_relu(x, stage.widening * net.channels(x), square(1));
      y = net.relu(net.batch_norm(net.depthwise(y, square(3, stride))));
      y = net.batch_norm(net.conv(y, stage.channels, square(1)));
      x = block == 0 ? y : net.add(x, y);
    }
  net.classify(net.conv_bn_relu(x, 1280, square(1)));
  return net;
}

Network googlenet(std::int64_t batch) {
  Network net(batch);
  auto x = net.pool(net.conv_bn_relu(net.image(224), 64, square(7, 2)), square(3, 2));
  x = net.pool(net.conv_bn_relu(net.conv_bn_relu(x, 64, square(1)), 192, square(3)), square(3, 2));
  using Numbers = std::vector<std::int64_t>;
  const std::vector<Numbers> modules = {
      {64, 96, 128, 16, 32, 32},     {128, 128, 192, 32, 96, 64},   {},
      {192, 96, 208, 16, 48, 64},    {160, 112, 224, 24, 64, 64},   {128, 128, 256, 24, 64, 64},
      {112, 144, 288, 32, 64, 64},   {256, 160, 320, 32, 128, 128}, {},
      {256, 160, 320, 32, 128, 128}, {384, 192, 384, 48, 128, 128}};
  for (const auto& m : modules)
    x = m.empty() ? net.pool(x, square(3, 2))
                  : net.concat({reduced(net, x, {m[0]}), reduced(net, x, {m[1], m[2]}), reduced(net, x, {m[3], m[4]}),
                                pooled(net, x, m[5])});
  net.classify(x);
  return net;
}

Network inception_v2(std::int64_t batch) {
  Network net(batch);
  auto x = net.conv_bn_relu(net.depthwise(net.image(224), square(7, 2)), 64, square(1));
  x = net.conv_bn_relu(net.conv_bn_relu(net.pool(x, square(3, 2)), 64, square(1)), 192, square(3));
  x = net.pool(x, square(3, 2));
  auto module = [&](std::int64_t direct, std::vector<std::int64_t> one, std::vector<std::int64_t> two,
                    std::int64_t projected) {
    x = net.concat({reduced(net, x, {direct}), reduced(net, x, one), reduced(net, x, two), pooled(net, x, projected)});
  };
  auto shrink = [&](std::vector<std::int64_t> one, std::vector<std::int64_t> two) {
    const auto last = two.back();
    two.pop_back();
    x = net.concat({net.conv_bn_relu(reduced(net, x, {one[0]}), one[1], square(3, 2)),
                    net.conv_bn_relu(reduced(net, x, two), last, square(3, 2)), net.pool(x, square(3, 2))});
  };
  module(64, {64, 64}, {64, 96, 96}, 32);
  module(64, {64, 96}, {64, 96, 96}, 64);
  shrink({128, 160}, {64, 96, 96});
  module(224, {64, 96}, {96, 128, 128}, 128);
  module(192, {96, 128}, {96, 128, 128}, 128);
  module(160, {128, 160}, {128, 160, 160}, 96);
  module(96, {128, 192}, {160, 192, 192}, 96);
  shrink({128, 192}, {192, 256, 256});
  module(352, {192, 320}, {160, 224, 224}, 128);
  module(352, {192, 320}, {192, 224, 224}, 128);
  net.classify(x);
  return net;
}

namespace {

/// The first layers of the later Inceptions: 299 x 299 to 35 x 35, 192 channels.
Tensor inception_stem(Network& net) {
  auto x = net.conv_bn_relu(net.image(299), 32, square(3, 2, Network::Valid));
  x = net.conv_bn_relu(x, 32, square(3, 1, Network::Valid));
  x = net.pool(net.conv_bn_relu(x, 64, square(3)), square(3, 2, Network::Valid));
  x = net.conv_bn_relu(net.conv_bn_relu(x, 80, square(1)), 192, square(3, 1, Network::Valid));
  return net.pool(x, square(3, 2, Network::Valid));
}

const Window wide{1, 7}, high{7, 1}, halving{3, 3, 2, Network::Valid};

}  // namespace

Network inception_v3(std::int64_t batch) {
  Network net(batch);
  auto x = inception_stem(net);
  for (const std::int64_t projected : {32, 64, 64})
    x = net.concat({reduced(net, x, {64}), reduced(net, x, {48, 64}, square(5)), reduced(net, x, {64, 96, 96}),
                    pooled(net, x, projected)});
  x = net.concat({net.conv_bn_relu(x, 384, halving), net.conv_bn_relu(reduced(net, x, {64, 96}), 96, halving),
                  net.pool(x, halving)});
  for (const std::int64_t width : {128, 160, 160, 192}) {
    const auto one = net.conv_bn_relu(net.conv_bn_relu(reduced(net, x, {width}), width, wide), 192, high);
    auto two = net.conv_bn_relu(net.conv_bn_relu(reduced(net, x, {width}), width, high), width, wide);
    two = net.conv_bn_relu(net.conv_bn_relu(two, width, high), 192, wide);
    x = net.concat({reduced(net, x, {192}), one, two, pooled(net, x, 192)});
  }
  const auto seven = net.conv_bn_relu(net.conv_bn_relu(reduced(net, x, {192}), 192, wide), 192, high);
  x = net.concat({net.conv_bn_relu(reduced(net, x, {192}), 320, halving), net.conv_bn_relu(seven, 192, halving),
                  net.pool(x, halving)});
  for (int block = 0; block < 2; ++block) {
    const auto one = reduced(net, x, {384}), two = reduced(net, x, {448, 384});
    auto both = [&](Tensor y) {
      return net.concat({net.conv_bn_relu(y, 384, {1, 3}), net.conv_bn_relu(y, 384, {3, 1})});
    };
    x = net.concat({reduced(net, x, {320}), both(one), both(two), pooled(net, x, 192)});
  }
  net.classify(x);
  return net;
}

Network inception_resnet_v2(std::int64_t batch) {
  Network net(batch);
  auto x = inception_stem(net);
  auto residual = [&](const std::vector<Tensor>& parts, bool positive = true) {
    const auto y = net.add(x, net.conv(net.concat(parts), net.channels(x), square(1)));
    x = positive ? net.relu(y) : y;
  };
  x = net.concat(
      {reduced(net, x, {96}), reduced(net, x, {48, 64}, square(5)), reduced(net, x, {64, 96, 96}), pooled(net, x, 64)});
  for (int block = 0; block < 10; ++block)
    residual({reduced(net, x, {32}), reduced(net, x, {32, 32}), reduced(net, x, {32, 48, 64})});
  x = net.concat({net.conv_bn_relu(x, 384, halving), net.conv_bn_relu(reduced(net, x, {256, 256}), 384, halving),
                  net.pool(x, halving)});
  for (int block = 0; block < 20; ++block)
    residual(
        {reduced(net, x, {192}), net.conv_bn_relu(net.conv_bn_relu(reduced(net, x, {128}), 160, wide), 192, high)});
  x = net.concat({net.conv_bn_relu(reduced(net, x, {256}), 384, halving),
                  net.conv_bn_relu(reduced(net, x, {256}), 288, halving),
                  net.conv_bn_relu(reduced(net, x, {256, 288}), 320, halving), net.pool(x, halving)});
  for (int block = 0; block < 10; ++block)
    residual(
        {reduced(net, x, {192}), net.conv_bn_relu(net.conv_bn_relu(reduced(net, x, {192}), 224, {1, 3}), 256, {3, 1})},
        block + 1 < 10);
  net.classify(net.conv_bn_relu(x, 1536, square(1)));
  return net;
}

}  // namespace tc::bench
