// Layout conversions of the networks of VTensor's evaluation, as its library asks for them and as they are left by hoisting,
// by the choice of element-wise layouts, and by both. Nothing is computed: networks are evaluated as far as layouts go.
//
//   build/bin/conversions

#include <chrono>
#include <iostream>

#include "benchmarks/conversions/network.h"
#include "tc/base/str.h"
#include "tc/graph/resolve/operators.h"

namespace tc::bench {
namespace {

using namespace graph;

int kernels = 0;

void invoke(Invocation& call, const Layout& inputs, const Layout& output) {
  for (auto& tensor : call.inputs) tensor.require(inputs);
  call.outputs.front().require(output);
  call.tag();
  ++kernels;
}

/// Blocks where there are some.
Layout of_channels(const PhysicalTensor& tensor) { return tensor.size('C') < 16 ? plain : blocked; }

/// A library of the kind of MKL-DNN for windows, and a framework that is conservative beside it: element by element, and for
/// matrices, it has channels last.
Dispatcher libraries() {
  Dispatcher result;
  result.add({"windows", 2, {}, of_channels});
  result.add({"framework", 1, {}, {}});
  for (const std::string op : {"conv", "depthwise", "pool"})
    result.add({"cpu", op, "windows", {}, [](Invocation& call, const LibraryDescription& library) {
                  const auto inputs = library.guideline(call.inputs.front());
                  invoke(call, inputs, library.guideline(call.outputs.front()));
                }});
  result.add({"cpu", "concat", "windows",
              [](const Invocation& call) {
                bool whole = true;
                for (const auto& part : call.inputs) whole = whole && fills_blocks(part.size('C'));
                return whole;
              },
              [](Invocation& call, const LibraryDescription&) { invoke(call, blocked, blocked); }});
  for (const std::string op : {"concat", "batch_norm", "relu", "add", "mean", "dense", "softmax"})
    result.add({"cpu", op, "framework", {}, [](Invocation& call, const LibraryDescription&) {
                  invoke(call, channels_last, channels_last);
                }});
  return result;
}

void print(const std::string& name, const Network& network) {
  const auto begin = std::chrono::steady_clock::now();
  const auto graph = evaluate_partially(network.program(), libraries(), "cpu").graph;
  const auto asked = resolve_layouts(graph);
  const auto hoisted = hoist_conversions(graph, asked, Hoisting::AllConsumers);
  const auto chosen = choose_layouts(graph, LayoutObjective::Edges);
  const auto both = hoist_conversions(graph, chosen, Hoisting::AllConsumers);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const auto shared = choose_layouts(graph, LayoutObjective::Shared);
  const auto without = asked.conversions.size(), left = both.conversions.size();
  std::cout << str("| ", name, " | ", graph.nodes.size(), " | ", without, " | ", hoisted.conversions.size(), " | ",
                   chosen.conversions.size(), " | ", left, " | ", shared.conversions.size(), " | ",
                   without == 0 ? 0 : 100 * (without - left) / without, " % | ", static_cast<int>(took.count() + 0.5),
                   " |\n");
}

}  // namespace
}  // namespace tc::bench

int main() {
  using namespace tc::bench;
  std::cout << "| network | calls | asked for | hoisted | chosen | both | shared | removed by both | ms |\n"
               "|---|---|---|---|---|---|---|---|---|\n";
  print("GoogleNet", googlenet());
  print("Inception-ResNet-v2", inception_resnet_v2());
  print("Inception-v2", inception_v2());
  print("Inception-v3", inception_v3());
  print("NasNet-Large", nasnet_large());
  print("ResNet-50", resnet({3, 4, 6, 3}));
  print("ResNet-101", resnet({3, 4, 23, 3}));
  print("ResNet-152", resnet({3, 8, 36, 3}));
  print("VGG19", vgg19());
  print("DenseNet-169", densenet169());
  print("MobileNet-v1", mobilenet_v1());
  print("MobileNet-v2", mobilenet_v2());
  std::cout << kernels << " kernels ran\n";
}
