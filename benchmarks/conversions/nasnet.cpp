#include <set>

#include "benchmarks/conversions/network.h"

namespace tc::bench {
namespace {

using Tensor = Network::Tensor;

/// What a cell does to one of its states.
enum class Step : std::uint8_t { None, Separable3, Separable5, Separable7, Average, Maximum };

/// Two steps, whose results are added.
struct Pair {
  Step first, second;
  int from_first, from_second;  ///< states: 0 is the cell's input, 1 the input of the cell before, then sums of pairs
};

using enum Step;
const std::vector<Pair> normal = {{Separable5, Separable3, 0, 1},
                                  {Separable5, Separable3, 1, 1},
                                  {Average, None, 0, 1},
                                  {Average, Average, 1, 1},
                                  {Separable3, None, 0, 0}};
const std::vector<Pair> reduction = {{Separable5, Separable7, 0, 1},
                                     {Maximum, Separable7, 0, 1},
                                     {Average, Separable5, 0, 1},
                                     {None, Average, 3, 2},
                                     {Separable3, Maximum, 2, 0}};

class Cells {
 public:
  explicit Cells(Network& net) : net_(net) {}

  Tensor cell(Tensor x, Tensor before, std::int64_t channels, const std::vector<Pair>& pairs) {
    const std::int64_t stride = &pairs == &reduction ? 2 : 1;
    std::vector<Tensor> states = {net_.batch_norm(net_.conv(net_.relu(x), channels, Network::square(1))),
                                  fitted(before, x, channels)};
    std::set<std::size_t> unused = {};
    for (const auto& pair : pairs) {
      auto value = [&](Step step, int from) {
        unused.erase(static_cast<std::size_t>(from));
        return apply(step, states[static_cast<std::size_t>(from)], channels, from < 2 ? stride : 1);
      };
      const auto first = value(pair.first, pair.from_first), second = value(pair.second, pair.from_second);
      unused.insert(states.size());
      states.push_back(net_.add(first, second));
    }
    std::vector<Tensor> parts;
    if (stride == 1) parts.push_back(states[1]);
    for (const auto state : unused) parts.push_back(states[state]);
    return net_.concat(parts);
  }

 private:
  Tensor apply(Step step, Tensor x, std::int64_t channels, std::int64_t stride) {
    if (step == None) return x;
    if (step == Average) return net_.pool(x, Network::square(3, stride), "avg_pool");
    if (step == Maximum) return net_.pool(x, Network::square(3, stride));
    const std::int64_t size = step == Separable3 ? 3 : step == Separable5 ? 5 : 7;
    for (const auto by : {stride, std::int64_t{1}}) {
      x = net_.depthwise(net_.relu(x), Network::square(size, by));
      x = net_.batch_norm(net_.conv(x, channels, Network::square(1)));
    }
    return x;
  }

  /// `before` with the height of `x` and so many channels.
  Tensor fitted(Tensor before, Tensor x, std::int64_t channels) {
    if (net_.height(before) != net_.height(x)) {
      const auto y = net_.relu(before);
      auto half = [&] { return net_.conv(net_.pool(y, Network::square(1, 2)), channels / 2, Network::square(1)); };
      const auto left = half(), right = half();
      return net_.batch_norm(net_.concat({left, right}));
    }
    if (net_.channels(before) == channels) return before;
    return net_.batch_norm(net_.conv(net_.relu(before), channels, Network::square(1)));
  }

  Network& net_;
};

}  // namespace

Network nasnet_large(std::int64_t batch) {
  Network net(batch);
  Cells cells(net);
  auto before = net.batch_norm(net.conv(net.image(331), 96, Network::square(3, 2, Network::Valid)));
  auto x = before;
  auto follow = [&](std::int64_t channels, const std::vector<Pair>& pairs) {
    const auto made = cells.cell(x, before, channels, pairs);
    before = x;
    x = made;
  };
  follow(42, reduction);
  follow(84, reduction);
  for (const std::int64_t channels : {168, 336, 672}) {
    if (channels > 168) follow(channels, reduction);
    for (int cell = 0; cell < 6; ++cell) follow(channels, normal);
  }
  net.classify(net.relu(x));
  return net;
}

}  // namespace tc::bench
