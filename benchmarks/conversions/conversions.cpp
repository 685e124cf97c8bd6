// Layout conversions of the networks of VTensor's evaluation, as its library asks for them and as they are left by hoisting,
// by the choice of element-wise layouts, and by both. Without --run nothing is computed: networks are evaluated as far as layouts go.
//
//   build/bin/conversions                    conversions, counted
//   build/bin/conversions --run              milliseconds of processor time of an inference with random weights, in turns
//
// --run takes --batch 1, --rounds 7, --only ResNet-50, and --libraries for plans in which nothing is forced: the layouts that oneDNN likes, and
// libraries and layouts chosen together by measured times.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <iostream>

#include "benchmarks/conversions/network.h"
#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/layouts/operator_runtime.h"
#include "tc/layout/map/names.h"
#include "tc/library/registry.h"

namespace tc::bench {
namespace {

using engine::LayoutChoice;
using graph::Hoisting, graph::LayoutObjective;
using layout::Layout;
using Wishes = std::vector<std::optional<Layout>>;

/// Blocks if there are some.
Layout of_channels(const engine::VirtualTensor& tensor) { return tensor.size('C') < 16 ? plain : blocked; }

/// The layout of weights beside an image in \p image and a result in \p result.
std::optional<Layout> of_weights(const engine::VirtualTensor& tensor, bool image_in_blocks) {
  if (tensor.dims == "CRS") return layout::parse_layout("split(0, 16) reorder(0, 2, 3, 1)");
  if (tensor.dims == "OIRS") return layout::named_layout(image_in_blocks ? "OIhw16i16o" : "Ohwi16o");
  if (tensor.dims == "OC") return layout::parse_layout("split(0, 16) reorder(0, 2, 1)");
  return std::nullopt;
}

/// A library of the kind of MKL-DNN for windows, and a framework that is conservative beside it: element by element, and for
/// matrices, it has channels last.
Wishes of_mkldnn(const engine::Invocation& call) {
  const auto& op = call.call().op;
  const bool windows = op == "conv" || op == "depthwise" || op == "max_pool" || op == "avg_pool";
  const bool whole = op == "concat" && std::all_of(call.inputs.begin(), call.inputs.end(),
                                                   [](const auto& part) { return fills_blocks(part.size('C')); });
  Wishes result;
  for (const auto* operand : call.operands()) {
    const auto& tensor = operand->tensor();
    if (tensor.constant) {
      result.push_back(of_weights(tensor, call.inputs[0].size('C') >= 16));
    } else if (tensor.dims == "NCHW") {
      result.push_back(windows || whole ? of_channels(tensor) : channels_last);
    } else {
      result.push_back(plain);
    }
  }
  return result;
}

struct Named {
  std::string name;
  std::function<Network(std::int64_t batch)> make;
};
const std::vector<Named> networks = {{"GoogleNet", googlenet},
                                     {"Inception-ResNet-v2", inception_resnet_v2},
                                     {"Inception-v2", inception_v2},
                                     {"Inception-v3", inception_v3},
                                     {"NasNet-Large", nasnet_large},
                                     {"ResNet-50", [](std::int64_t batch) { return resnet(batch, {3, 4, 6, 3}); }},
                                     {"ResNet-101", [](std::int64_t batch) { return resnet(batch, {3, 4, 23, 3}); }},
                                     {"ResNet-152", [](std::int64_t batch) { return resnet(batch, {3, 8, 36, 3}); }},
                                     {"VGG19", vgg19},
                                     {"DenseNet-169", densenet169},
                                     {"MobileNet-v1", mobilenet_v1},
                                     {"MobileNet-v2", mobilenet_v2}};

void count(const Named& named) {
  const auto network = named.make(1);
  engine::OperatorRuntime runtime({"own"});
  runtime.dispatcher().add({"own", 1, {}, of_mkldnn});
  engine::evaluate_partially(network.program(), runtime.dispatcher(), "cpu");  // texts are parsed once
  const auto begin = std::chrono::steady_clock::now();
  const auto graph = engine::evaluate_partially(network.program(), runtime.dispatcher(), "cpu").graph;
  const auto asked = resolve_layouts(graph);
  const auto hoisted = hoist_conversions(graph, asked, Hoisting::AllConsumers);
  const auto chosen = choose_layouts(graph, LayoutObjective::Edges);
  const auto both = hoist_conversions(graph, chosen, Hoisting::AllConsumers);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const auto shared = choose_layouts(graph, LayoutObjective::Shared);
  const auto without = asked.conversions.size(), left = both.conversions.size();
  std::cout << str("| ", named.name, " | ", graph.nodes.size(), " | ", without, " | ", hoisted.conversions.size(),
                   " | ", chosen.conversions.size(), " | ", left, " | ", shared.conversions.size(), " | ",
                   without == 0 ? 0 : 100 * (without - left) / without, " % | ", static_cast<int>(took.count() + 0.5),
                   " |\n");
}

struct Spread {
  double low, median, high;  ///< quartiles
};
Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) { return values[static_cast<std::size_t>(share * (values.size() - 1) + 0.5)]; };
  return {at(0.25), at(0.5), at(0.75)};
}

std::string rounded(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// Processor time of this thread, which runs the plans alone: other processes do not count.
double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// A plan, and what its runs took.
struct Measured {
  std::string name;
  std::shared_ptr<const engine::LayoutPlan> plan;
  std::vector<double> ms = {}, converting_ms = {};
  std::vector<float> result = {};

  void run(const engine::VirtualTensor& image) {
    std::vector<double> seconds;
    const double begin = processor_ms();
    const auto made = plan->run({image}, &seconds).front();
    ms.push_back(processor_ms() - begin);
    double converting = 0;
    for (std::size_t s = 0; s < seconds.size(); ++s)
      if (plan->steps()[s].conversion) converting += seconds[s] * 1e3;
    converting_ms.push_back(converting);
    const auto* values = static_cast<const float*>(made.data());
    result.assign(values, values + made.spec_in(made.produced).element_count());
  }
};

void run(const Named& named, std::int64_t batch, int rounds, bool libraries_too) {
  auto network = named.make(batch);
  network.fill_weights();
  std::vector<std::string> libraries{"own"};
  if (!library::find_library("onednn").find().version.empty()) libraries.insert(libraries.begin(), "onednn");
  engine::OperatorRuntime runtime({"own"}), free(libraries);
  runtime.dispatcher().add({"own", 1, {}, of_mkldnn});
  std::vector<Measured> plans;
  for (const auto choice : {LayoutChoice::Asked, LayoutChoice::Hoisted, LayoutChoice::ElementWise, LayoutChoice::Both})
    plans.push_back({to_string(choice), runtime.plan(network.program(), choice)});
  if (libraries_too) {
    plans.push_back({"liked", free.plan(network.program(), LayoutChoice::Shared)});
    plans.push_back({"measured", free.plan(network.program(), LayoutChoice::Measured)});
  }
  auto image = engine::allocate(network.program().tensors.front(), channels_last);
  auto* pixels = static_cast<float*>(image.data());
  for (std::int64_t i = 0; i < image.spec_in(plain).element_count(); ++i)
    pixels[i] = static_cast<float>(i * 37 % 255) / 128 - 1;
  for (int round = -1; round < rounds; ++round)
    for (auto& plan : plans) {
      plan.run(image);
      if (round < 0) plan.ms.clear(), plan.converting_ms.clear();
    }
  for (const auto& plan : plans) {
    const auto& first = plans.front().result;
    float difference = 0, largest = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      difference = std::max(difference, std::abs(plan.result[i] - first[i]));
      largest = std::max(largest, std::abs(first[i]));
    }
    std::vector<double> gains;  // in the same round
    for (std::size_t r = 0; r < plan.ms.size(); ++r) gains.push_back(plans.front().ms[r] / plan.ms[r]);
    const auto ms = spread(plan.ms), converting = spread(plan.converting_ms), gain = spread(gains);
    const auto& steps = plan.plan->steps();
    const auto routines = std::count_if(steps.begin(), steps.end(), [](const auto& step) {
      return !step.conversion && step.kernel.runs != "own code";
    });
    std::cout << str("| ", named.name, " | ", batch, " | ", plan.name, " | ", plan.plan->conversions(), " | ",
                     rounded(converting.median, 2), " | ", rounded(ms.median, 1), " (", rounded(ms.low, 1), " to ",
                     rounded(ms.high, 1), ") | ", rounded(gain.median, 2), " (", rounded(gain.low, 2), " to ",
                     rounded(gain.high, 2), ") | ", routines, " | ", rounded(plan.plan->choosing_ms, 0), " | ",
                     rounded(plan.plan->making_ms / 1e3, 1), " | ",
                     rounded(static_cast<double>(plan.plan->workspace_bytes()) / (1 << 20), 1), " | ",
                     difference / largest, " |\n")
              << std::flush;
  }
}

}  // namespace
}  // namespace tc::bench

int main(int count, char** arguments) {
  using namespace tc::bench;
  bool runs = false, libraries = false;
  std::int64_t batch = 1;
  int rounds = 7;
  std::string only;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i], value = i + 1 < count ? arguments[i + 1] : "";
    if (argument == "--run") runs = true;
    if (argument == "--libraries") libraries = true;
    if (argument == "--batch") batch = std::stoll(value);
    if (argument == "--rounds") rounds = std::stoi(value);
    if (argument == "--only") only = value;
  }
  tc::cpu::set_num_threads(1);
  if (runs)
    std::cout << "| network | batch | layouts | conversions | of which ms | ms (quartiles) | times as fast as asked | "
                 "routines | choosing ms | making s | workspace MiB | difference |\n"
                 "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  else
    std::cout << "| network | calls | asked for | hoisted | chosen | both | shared | removed by both | ms |\n"
                 "|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& named : networks) {
    if (!only.empty() && only != named.name) continue;
    runs ? run(named, batch, rounds, libraries) : tc::bench::count(named);
  }
}
