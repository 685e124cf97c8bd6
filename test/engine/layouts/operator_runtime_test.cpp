#include "tc/engine/layouts/operator_runtime.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tc/engine/layouts/measured_alternatives.h"
#include "tc/engine/layouts/operator_texts.h"
#include "tc/layout/map/names.h"
#include "tc/library/registry.h"
#include "test/support/expect_error.h"

namespace tc::engine::operator_runtime_test {
namespace {

using layout::named_layout;

const Layout nchw, nhwc = named_layout("NHWC"), blocked = named_layout("NCHW16c");

VirtualTensor tensor(const std::string& name, const std::string& dims, const layout::Extents& extents, int first = 0) {
  auto result = allocate({name, DType::Float32, dims, extents}, Layout());
  auto* values = static_cast<float*>(result.data());
  for (std::int64_t i = 0; i < result.spec_in({}).element_count(); ++i)
    values[i] = static_cast<float>((i * 5 + first) % 7 - 3);
  return result;
}

VirtualTensor constant(const std::string& name, const std::string& dims, const layout::Extents& extents,
                       int first = 1) {
  auto result = tensor(name, dims, extents, first);
  result.constant = true;
  return result;
}

/// Means, variances and the like: positive.
VirtualTensor positive(const std::string& name, std::int64_t channels) {
  auto result = constant(name, "C", {channels});
  for (std::int64_t i = 0; i < channels; ++i) static_cast<float*>(result.data())[i] += 4;
  return result;
}

std::vector<float> values(OperatorRuntime& runtime, const VirtualTensor& given) {
  const auto plain = runtime.converted(given, nchw);
  const auto* first = static_cast<const float*>(plain.data());
  return {first, first + plain.spec_in(nchw).element_count()};
}

bool has_onednn() { return !library::find_library("onednn").find().version.empty(); }

/// A call of each operator.
struct Example {
  std::string op;
  std::vector<VirtualTensor> inputs;
  Attributes attributes = {};
  bool whole = true;  ///< whole numbers stay whole
};

std::vector<Example> examples() {
  const layout::Extents image{2, 32, 7, 7};
  const auto x = tensor("X", "NCHW", image), z = tensor("Z", "NCHW", image, 3);
  const auto b = constant("b", "C", {32});
  const Attributes window{{"stride", 2}, {"top", 1}, {"left", 1}, {"bottom", 1}, {"right", 1}};
  auto pooled = window;
  pooled["height"] = pooled["width"] = 3;
  return {
      {"add", {x, z}},
      {"avg_pool", {x}, pooled, false},
      {"batch_norm", {x, b, positive("v", 32), b, b}, {}, false},
      {"bias_add", {x, b}},
      {"concat", {x, z, tensor("U", "NCHW", {2, 16, 7, 7})}},
      {"conv", {x, constant("K", "OIRS", {48, 32, 3, 3})}, window},
      {"conv", {x, constant("K", "OIRS", {48, 32, 1, 1})}},
      {"conv", {x, constant("K", "OIRS", {20, 32, 1, 3})}, {{"left", 2}, {"right", 2}, {"dilation", 2}}},
      {"depthwise", {x, constant("K", "CRS", {32, 3, 3})}, window},
      {"lrn", {x}, {}, false},
      {"matmul", {tensor("A", "NC", {3, 40}), constant("K", "OC", {30, 40})}},
      {"max_pool", {x}, pooled},
      {"mean", {x}, {}, false},
      {"mul", {x, z}},
      {"pad", {x}, {{"top", 1}, {"right", 2}}},
      {"relu", {x}},
      {"relu6", {x}},
      {"softmax", {tensor("A", "NC", {3, 40})}, {}, false},
  };
}

/// The layouts of images that an example is tried in: two of own code, one of those of a library.
std::vector<Layout> layouts_of(bool own, std::size_t number) {
  return own ? std::vector{nhwc, blocked} : std::vector{std::vector{nchw, nhwc, blocked}[number % 3]};
}

/// Each operator computes the same by each library, whatever layout its image comes in, as the interpreter does.
TEST(OperatorRuntime, AllOperatorsInAllLayoutsByAllLibraries) {
  OperatorRuntime reference({"reference"}), own({"own"});
  std::vector<OperatorRuntime*> libraries{&own};
  std::unique_ptr<OperatorRuntime> onednn;
  if (has_onednn())
    libraries.push_back((onednn = std::make_unique<OperatorRuntime>(std::vector<std::string>{"onednn", "own"})).get());
  std::set<std::string> tried;
  for (const auto& example : examples()) {
    tried.insert(example.op);
    const auto expected = values(reference, reference.call(example.op, example.inputs, example.attributes));
    for (auto* runtime : libraries)
      for (const auto& layout : layouts_of(runtime == &own, tried.size())) {
        auto inputs = example.inputs;
        const bool is_image = inputs[0].dims == "NCHW";
        if (is_image) inputs[0] = runtime->converted(inputs[0], layout);
        const auto made = runtime->call(example.op, inputs, example.attributes);
        const auto found = values(*runtime, made);
        ASSERT_EQ(found.size(), expected.size()) << example.op;
        for (std::size_t i = 0; i < found.size(); ++i)
          if (example.whole) {
            ASSERT_EQ(found[i], expected[i]) << example.op << " in " << to_string(layout);
          } else {
            ASSERT_NEAR(found[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << example.op;
          }
      }
  }
  EXPECT_EQ(tried.size(), 16u);
  EXPECT_EQ(operators().size(), 16u);
}

/// conv, batch norm without a change, relu, pooling, two branches, their sum, a dense layer.
OperatorProgram small_network(std::size_t& x) {
  OperatorProgram net;
  x = net.add(tensor("X", "NCHW", {1, 16, 8, 8}));
  net.tensors[x].memory = nullptr;
  auto weights = [&](const layout::Extents& extents) { return net.add(constant("K", "OIRS", extents)); };
  const Attributes padded{{"top", 1}, {"left", 1}, {"bottom", 1}, {"right", 1}};
  auto y = net.call("conv", {x, weights({32, 16, 3, 3})}, padded);
  y = net.call("relu", {net.call("bias_add", {y, net.add(constant("b", "C", {32}))})});
  const auto left = net.call("conv", {y, weights({32, 32, 1, 1})}),
             right = net.call("conv", {y, weights({32, 32, 3, 3})}, padded);
  y = net.call("relu6", {net.call("add", {left, right})});
  y = net.call("max_pool", {net.call("concat", {y, right})}, {{"height", 2}, {"width", 2}, {"stride", 2}});
  net.call("matmul", {net.call("mean", {y}), net.add(constant("W", "OC", {10, 64}))});
  return net;
}

/// Convolutions are forced to blocks, what stands between them to channels last.
void force(OperatorRuntime& runtime) {
  runtime.dispatcher().add({"own", 1, {}, [](const Invocation& call) {
                              const bool windows = call.call().op == "conv" || call.call().op == "max_pool";
                              std::vector<std::optional<Layout>> result;
                              for (const auto* operand : call.operands()) {
                                const bool image = operand->tensor().dims == "NCHW" && !operand->tensor().constant;
                                result.push_back(image ? std::optional(windows ? blocked : nhwc) : std::nullopt);
                              }
                              return result;
                            }});
}

TEST(OperatorRuntime, PlansComputeWhatCallsDo) {
  std::size_t x = 0;
  const auto net = small_network(x);
  const auto input = tensor("X", "NCHW", {1, 16, 8, 8});
  OperatorRuntime reference({"reference"}), own({"own"});
  const auto expected = values(reference, reference.plan(net, LayoutChoice::Asked)->run({input}).at(0));
  force(own);
  std::map<LayoutChoice, std::size_t> conversions;
  for (const auto choice : {LayoutChoice::Asked, LayoutChoice::Hoisted, LayoutChoice::ElementWise, LayoutChoice::Both,
                            LayoutChoice::Shared, LayoutChoice::Greedy, LayoutChoice::Measured}) {
    const auto plan = own.plan(net, choice);
    conversions[choice] = plan->conversions();
    EXPECT_EQ(values(own, plan->run({input}).at(0)), expected) << to_string(choice) << "\n" << plan->to_string();
    EXPECT_EQ(values(own, plan->run({input}).at(0)), expected) << "again";
    EXPECT_EQ(parse_layout_choice(to_string(choice)), choice);
  }
  using enum LayoutChoice;
  EXPECT_LE(conversions[Measured], 9u);
  conversions.erase(Measured);
  EXPECT_EQ(conversions, (std::map<LayoutChoice, std::size_t>{
                             {Asked, 9}, {Hoisted, 7}, {ElementWise, 5}, {Both, 5}, {Shared, 5}, {Greedy, 5}}));
  EXPECT_ERROR(parse_layout_choice("best"), OptionsError, "'asked', 'hoisted'");
}

/// Tensors take turns in the workspace; a run does not convert constants; who computes is said.
TEST(OperatorRuntime, StepsAndBuffersOfAPlan) {
  std::size_t x = 0;
  const auto net = small_network(x);
  OperatorRuntime runtime(has_onednn() ? std::vector<std::string>{"onednn", "own"} : std::vector<std::string>{"own"});
  const auto plan = runtime.plan(net, LayoutChoice::Both);
  std::size_t bytes = 0;
  for (const auto& buffer : plan->buffers())
    if (buffer.place == PlanBuffer::Place::Workspace)
      bytes += buffer.tensor.spec_in(buffer.tensor.produced).element_count() * sizeof(float);
  EXPECT_LT(plan->workspace_bytes(), bytes * 2 / 3);
  for (const auto& step : plan->steps()) {
    const bool library = has_onednn() && (step.name == "conv" || step.name == "matmul" || step.name == "max_pool");
    EXPECT_EQ(step.kernel.runs.find("own code") == std::string::npos, library) << step.name << ": " << step.kernel.runs;
    EXPECT_EQ(step.library, step.conversion ? "" : library ? "onednn" : "own") << step.name;
    EXPECT_FALSE(step.conversion && plan->buffers()[step.buffers[0]].tensor.constant);
  }
  std::vector<double> seconds;
  const auto input = tensor("X", "NCHW", {1, 16, 8, 8});
  plan->run({input}, &seconds);
  EXPECT_EQ(seconds.size(), plan->steps().size());
  EXPECT_ERROR(plan->run({}), ArgumentError, "has 1 inputs, 0 were given");
  EXPECT_ERROR(plan->run({tensor("X", "NCHW", {1, 16, 8, 9})}), ArgumentError, "another tensor was given");
  EXPECT_ERROR(plan->run({runtime.converted(input, nhwc)}), ArgumentError, "in the layout identity");
}

/// Equal calls share a kernel, and a library keeps the constants of each.
TEST(OperatorRuntime, EqualCallsHaveConstantsOfTheirOwn) {
  OperatorProgram net;
  const auto x = net.add(tensor("X", "NCHW", {1, 32, 6, 6}));
  const auto k = net.add(constant("K", "OIRS", {32, 32, 1, 1})), l = net.add(constant("L", "OIRS", {32, 32, 1, 1}, 2));
  net.call("conv", {net.call("conv", {x, k}), l});
  OperatorRuntime reference({"reference"});
  const auto input = tensor("X", "NCHW", {1, 32, 6, 6}, 4);
  const auto expected = values(reference, reference.plan(net, LayoutChoice::Asked)->run({input}).at(0));
  for (const std::string library : {"onednn", "own"}) {
    if (library == "onednn" && !has_onednn()) continue;
    OperatorRuntime runtime({library, "own"});
    EXPECT_EQ(values(runtime, runtime.plan(net, LayoutChoice::Shared)->run({input}).at(0)), expected) << library;
    const auto once = runtime.call("conv", {input, net.tensors[k]});
    EXPECT_EQ(values(runtime, runtime.call("conv", {once, net.tensors[l]})), expected) << library;
  }
}

/// Own code is measured in each layout that the channels fill; a library where it has a routine. Plans share what a library keeps.
TEST(OperatorRuntime, AlternativesAreMeasured) {
  for (const std::int64_t channels : {32, 20}) {
    OperatorProgram net;
    const auto x = net.add(tensor("X", "NCHW", {1, channels, 6, 6}));
    const auto k = net.add(constant("K", "OIRS", {32, channels, 3, 3}));
    net.call("relu", {net.call("conv", {x, k})});
    OperatorRuntime own({"own", "reference"});
    const auto found = measured_alternatives(net, net.calls[0], own.dispatcher(), *own.kernels());
    ASSERT_EQ(found.size(), channels == 32 ? 3u : 2u);
    for (const auto& one : found) {
      EXPECT_EQ(one.library, "own");
      EXPECT_GT(one.seconds, 0);
      EXPECT_EQ(one.operands.size(), 3u);
      EXPECT_EQ(one.operands[0], one.operands[2]);
    }
    EXPECT_EQ(found[1].operands[0], nhwc);
    const auto evaluated = evaluate_by_measuring(net, own.dispatcher(), *own.kernels());
    EXPECT_EQ(evaluated.graph.nodes[0].alternatives.size(), found.size());
    EXPECT_TRUE(evaluated.alternatives[1].empty()) << "element-wise calls choose freely";
    EXPECT_GT(evaluated.graph.tensors[x].weight, 0);
    if (!has_onednn() || channels != 32) continue;
    OperatorRuntime both({"onednn", "own"});
    const auto one = both.plan(net, LayoutChoice::Shared), other = both.plan(net, LayoutChoice::Both);
    const auto& conv = one->steps()[one->steps()[0].conversion].kernel;
    EXPECT_EQ(conv.runs, "convolution2d of onednn");
    ASSERT_TRUE(conv.held);
    EXPECT_EQ(conv.held, other->steps()[other->steps()[0].conversion].kernel.held);
  }
}

/// In normal mode only what a routine asks for is converted, and who is not here or not known is said.
TEST(OperatorRuntime, CallsConvertWhatIsAskedFor) {
  OperatorRuntime own({"own"});
  force(own);
  const auto x = tensor("X", "NCHW", {1, 16, 8, 8});
  const auto y = own.call("conv", {x, constant("K", "OIRS", {32, 16, 3, 3})});
  EXPECT_EQ(own.conversions(), 1u) << "of the image: the weights are as the caller gives them";
  EXPECT_EQ(y.produced, blocked);
  EXPECT_EQ(own.call("relu", {y}).produced, nhwc);
  EXPECT_EQ(own.conversions(), 2u);
  EXPECT_ERROR(own.call("convolve", {x}), OptionsError, "there is no operator 'convolve'");
  EXPECT_ERROR(own.call("relu", {x, x}), ArgumentError, "relu takes 1 tensors, 2 were given");
  EXPECT_ERROR(own.call("relu", {x}, {{"stride", 1}}), ArgumentError, "no attribute 'stride'");
  EXPECT_ERROR(own.call("conv", {x, tensor("K", "OIRS", {32, 17, 3, 3})}), ArgumentError, "C");
  EXPECT_ERROR(OperatorRuntime({"onemkl"}), OptionsError, "onemkl");
}

}  // namespace
}  // namespace tc::engine::operator_runtime_test
