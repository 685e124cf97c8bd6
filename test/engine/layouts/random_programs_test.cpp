#include <gtest/gtest.h>

#include <random>

#include "tc/engine/layouts/operator_runtime.h"
#include "tc/layout/map/names.h"
#include "test/support/from_environment.h"

/// Random programs of operators, whose routines ask for random layouts: whatever is chosen, and wherever conversions stand, plans
/// compute what the interpreter does.
namespace tc::engine::random_programs_test {
namespace {

const layout::Extents extents{1, 16, 3, 4};
const Layout layouts[] = {Layout(), layout::named_layout("NHWC"), layout::named_layout("NCHW16c"),
                          layout::named_layout("NCHW4c")};

VirtualTensor drawn(std::mt19937& random, const std::string& dims, const layout::Extents& shape, int most) {
  auto result = allocate({dims, DType::Float32, dims, shape, dims != "NCHW"}, Layout());
  const auto count = result.spec_in({}).element_count();
  for (std::int64_t i = 0; i < count; ++i)
    static_cast<float*>(result.data())[i] = static_cast<float>(static_cast<int>(random() % (2 * most + 1)) - most);
  return result;
}

/// Calls on earlier results, also on one that several read, or one twice.
OperatorProgram drawn_program(std::mt19937& random) {
  OperatorProgram net;
  std::vector<std::size_t> images;
  for (int i = 0; i < 2; ++i) {
    images.push_back(net.add({"X", DType::Float32, "NCHW", extents}));
    net.tensors.back().produced = layouts[random() % 3];
  }
  const auto weights = net.add(drawn(random, "OIRS", {16, 16, 1, 1}, 1)), bias = net.add(drawn(random, "C", {16}, 3));
  const auto any = [&] { return images[random() % images.size()]; };
  for (int i = 0, count = 3 + static_cast<int>(random() % 8); i < count; ++i) {
    const auto which = random() % 6;
    images.push_back(which == 0   ? net.call("relu6", {net.call("conv", {any(), weights})})
                     : which == 1 ? net.call("add", {any(), any()})
                     : which == 2 ? net.call("bias_add", {any(), bias})
                     : which == 3 ? net.call("pad", {any()})
                     : which == 4 ? net.call("relu", {net.call("add", {any(), any()})})
                                  : net.call("max_pool", {any()}, {{"height", 1}, {"width", 1}}));
  }
  return net;
}

std::vector<std::vector<float>> values(OperatorRuntime& runtime, const std::vector<VirtualTensor>& tensors) {
  std::vector<std::vector<float>> result;
  for (const auto& tensor : tensors) {
    const auto plain = runtime.converted(tensor, Layout());
    const auto* first = static_cast<const float*>(plain.data());
    result.emplace_back(first, first + plain.spec_in({}).element_count());
  }
  return result;
}

/// TC_LAYOUT_PROGRAMS programs from TC_LAYOUT_FIRST on.
TEST(RandomPrograms, AllChoicesOfLayoutsComputeTheSame) {
  OperatorRuntime reference({"reference"}), own({"own"});
  std::map<LayoutChoice, std::size_t> conversions;
  const auto first = test::from_environment("TC_LAYOUT_FIRST", 1),
             count = test::from_environment("TC_LAYOUT_PROGRAMS", 25);
  for (auto seed = first; seed < first + count; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto net = drawn_program(random);
    std::map<std::string, Layout> wishes;
    for (const std::string op : {"conv", "relu6", "add", "bias_add", "pad", "relu", "max_pool"})
      wishes[op] = layouts[random() % 4];
    own.dispatcher().add({"own", 1, {}, [=](const Invocation& call) {
                            std::vector<std::optional<Layout>> result;
                            for (const auto* operand : call.operands())
                              result.push_back(operand->tensor().constant ? std::nullopt
                                                                          : std::optional(wishes.at(call.call().op)));
                            return result;
                          }});
    std::vector<VirtualTensor> plain, given;
    auto unlaid = net;
    for (auto& tensor : unlaid.tensors) {
      if (tensor.name != "X") continue;
      plain.push_back(drawn(random, "NCHW", extents, 3));
      given.push_back(own.converted(plain.back(), tensor.produced));
      tensor.produced = Layout();
    }
    const auto expected = values(own, reference.plan(unlaid, LayoutChoice::Asked)->run(plain));
    using enum LayoutChoice;
    for (const auto choice : {Asked, Hoisted, ElementWise, Both, Shared, Greedy}) {
      const auto plan = own.plan(net, choice);
      conversions[choice] += plan->conversions();
      ASSERT_EQ(values(own, plan->run(given)), expected) << to_string(choice) << ", seed " << seed << "\n"
                                                         << plan->to_string();
    }
  }
  using enum LayoutChoice;
  EXPECT_LT(conversions[Hoisted], conversions[Asked]);
  EXPECT_LT(conversions[ElementWise], conversions[Asked]);
  EXPECT_LE(conversions[Shared], conversions[Greedy]);
  EXPECT_LE(conversions[Shared], conversions[Both]);
}

}  // namespace
}  // namespace tc::engine::random_programs_test
