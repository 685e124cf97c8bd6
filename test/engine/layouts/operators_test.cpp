#include "tc/engine/layouts/operators.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/layout/map/names.h"
#include "test/support/expect_error.h"

namespace tc::engine::operators_test {
namespace {

using graph::choose_layouts, graph::LayoutObjective, graph::resolve_layouts;
using layout::named_layout;

const Layout nchw, nhwc = named_layout("NHWC"), blocked = named_layout("NCHW16c");

/// A library that likes channels last, or blocks where there are many channels, and a plain one behind it.
class TwoLibraries : public testing::Test {
 protected:
  void SetUp() override {
    dispatcher.add({"fast", 2, {{"nhwc", nhwc}, {"nChw16c", blocked}}, [this](const Invocation& call) {
                      ++asked;
                      const auto likes = call.inputs[0].size('C') >= 64 ? blocked : nhwc;
                      return std::vector<std::optional<Layout>>(call.operands().size(), likes);
                    }});
    dispatcher.add({"plain", 1, {}, {}});
    for (const std::string library : {"plain", "fast"}) {
      dispatcher.add({"cpu", "conv", library, accepts_conv(library), conv()});
      dispatcher.add({"cpu", "relu", library, {}, any()});
      dispatcher.add({"cpu", "add", library, {}, any()});
    }
  }

  static std::function<bool(const Invocation&)> accepts_conv(const std::string& library) {
    return
        [library](const Invocation& call) { return library == "plain" || call.call().attribute("dilation", 1) == 1; };
  }
  using Invoke = std::function<Kernel(Invocation&, const OperatorLibrary&)>;
  Invoke conv() {
    return [this](Invocation& call, const OperatorLibrary& library) {
      library.require(call);
      if (!library.guideline)
        for (auto* tensor : call.operands()) tensor->require(nchw);
      call.tag();
      ++kernels;
      return Kernel();
    };
  }
  Invoke any() {
    return [this](Invocation& call, const OperatorLibrary&) {
      for (auto& tensor : call.inputs) tensor.require(Layout::any);
      call.tag();
      ++kernels;
      return Kernel();
    };
  }

  std::size_t tensor(const std::string& name, std::int64_t channels) {
    program.tensors.push_back({name, DType::Float32, "NCHW", {1, channels, 8, 8}});
    return program.tensors.size() - 1;
  }

  Dispatcher dispatcher;
  OperatorProgram program;
  int asked = 0, kernels = 0;
};

TEST_F(TwoLibraries, GuidelinesAreAskedAndNoKernelRuns) {
  const auto x = tensor("X", 3), y = tensor("Y", 64), r = tensor("R", 64), z = tensor("Z", 64);
  program.calls = {{"conv", {x}, {y}}, {"relu", {y}, {r}}, {"conv", {r}, {z}}};
  const auto evaluated = evaluate_partially(program, dispatcher, "cpu");
  EXPECT_EQ(kernels, 0);
  EXPECT_EQ(asked, 2);
  const auto resolution = resolve_layouts(evaluated.graph);
  EXPECT_EQ(resolution.produced[y], nhwc);
  EXPECT_EQ(resolution.produced[r], nhwc);
  EXPECT_EQ(resolution.produced[z], blocked);
  EXPECT_EQ(resolution.conversions.size(), 2u);
}

/// A routine that rejects a call leaves it to the next library; priorities decide which is first.
TEST_F(TwoLibraries, TheDispatcherTriesByPriority) {
  const auto x = tensor("X", 64), y = tensor("Y", 64), z = tensor("Z", 64);
  program.calls = {{"conv", {x}, {y}}, {"conv", {y}, {z}, {{"dilation", 2}}}};
  EXPECT_EQ(evaluate_partially(program, dispatcher, "cpu").libraries, (std::vector<std::string>{"fast", "plain"}));
  dispatcher.add({"plain", 3, {}, {}});
  EXPECT_EQ(evaluate_partially(program, dispatcher, "cpu").libraries, (std::vector<std::string>{"plain", "plain"}));
  EXPECT_ERROR(evaluate_partially(program, dispatcher, "tpu"), OptionsError, "no routine computes conv on tpu");
  EXPECT_ERROR(dispatcher.add({"cpu", "conv", "none", {}, {}}), OptionsError, "not there");
}

TEST_F(TwoLibraries, ElementWiseCallsChoose) {
  const auto x = tensor("X", 64), a = tensor("A", 64), b = tensor("B", 64), s = tensor("S", 64), r = tensor("R", 64),
             c = tensor("C", 64);
  program.calls = {{"conv", {x}, {a}},
                   {"conv", {x}, {b}},
                   {"add", {a, b}, {s}, {}, {nhwc, blocked, nchw}},
                   {"relu", {s}, {r}, {}, {nhwc, blocked, nchw}},
                   {"conv", {r}, {c}}};
  const auto evaluated = evaluate_partially(program, dispatcher, "cpu", true);
  const auto chosen = choose_layouts(evaluated.graph, LayoutObjective::Shared);
  ASSERT_EQ(chosen.conversions.size(), 1u);
  EXPECT_EQ(chosen.conversions[0].tensor, x);
  EXPECT_EQ(chosen.cost(evaluated.graph), 64 * 64 * 4);
}

/// A bias is broadcast into what a convolution gives in blocks: it can be so where its channels fill them.
TEST_F(TwoLibraries, BroadcastOperandsDecideCandidates) {
  for (const std::int64_t channels : {32, 20}) {
    const auto x = tensor("X", channels);
    program.tensors.push_back({"b", DType::Float32, "C", {channels}, true});
    const auto b = program.tensors.size() - 1, y = tensor("Y", channels);
    OperatorCall add{"add", {x, b}, {y}};
    std::vector<std::vector<Layout>> produced(program.tensors.size(), {nchw});
    produced[x] = {blocked};
    const auto found = candidates_of(program, add, produced);
    EXPECT_EQ(found, channels == 32 ? (std::vector<Layout>{blocked, nhwc, nchw}) : (std::vector<Layout>{nhwc, nchw}));
    std::swap(add.inputs[0], add.inputs[1]);
    EXPECT_EQ(candidates_of(program, add, produced), found) << "in whichever order they are given";
  }
  const auto x = tensor("X", 20), z = tensor("Z", 20), y = tensor("Y", 20);
  std::vector<std::vector<Layout>> produced(program.tensors.size(), {nchw});
  produced[x] = {blocked};
  EXPECT_EQ(candidates_of(program, {"add", {x, z}, {y}}, produced), (std::vector<Layout>{blocked, nchw, nhwc}))
      << "nothing is broadcast";
}

/// Constants are in whatever layout a call needs before a run, and take no part in the choice.
TEST_F(TwoLibraries, ConstantsAreConvertedForNothing) {
  dispatcher.add({"cpu", "bias", "plain", {}, any()});
  const auto x = tensor("X", 64), y = tensor("Y", 64);
  program.tensors.push_back({"b", DType::Float32, "C", {64}, true});
  const auto b = program.tensors.size() - 1, r = tensor("R", 64), z = tensor("Z", 64);
  program.calls = {{"conv", {x}, {y}}, {"bias", {y, b}, {r}}, {"conv", {r}, {z}}};
  program.calls[1].element_wise = true;
  program.tensors[x].produced = blocked;
  const auto evaluated = evaluate_partially(program, dispatcher, "cpu");
  EXPECT_EQ(evaluated.graph.nodes[1].candidates, (std::vector<Layout>{blocked, nhwc, nchw}));
  const auto chosen = choose_layouts(evaluated.graph, LayoutObjective::Shared);
  EXPECT_EQ(chosen.cost(evaluated.graph), 0);
  EXPECT_EQ(evaluated.graph.nodes[1].inputs, (std::vector<std::size_t>{y}));
  EXPECT_EQ(kernels, 0);
}

/// A library with a layout of its own, and its routine, are added without a change to anything else.
TEST_F(TwoLibraries, ALibraryWithALayoutOfItsOwn) {
  const Layout strided = layout::parse_layout("reorder(2,3,1,0) pad(3,0,7)");
  dispatcher.add({"toy", 9, {{"hwcn8", strided}}, {}});
  dispatcher.add({"cpu", "conv", "toy", {}, [](Invocation& call, const OperatorLibrary& library) {
                    call.inputs[0].require(library.layouts.at("hwcn8"));
                    call.outputs[0].require(library.layouts.at("hwcn8"));
                    call.tag();
                    return Kernel();
                  }});
  const auto x = tensor("X", 64), y = tensor("Y", 64);
  program.calls = {{"conv", {x}, {y}}};
  const auto resolution = resolve_layouts(evaluate_partially(program, dispatcher, "cpu").graph);
  EXPECT_EQ(resolution.produced[y], strided);
  EXPECT_EQ(resolution.conversions.size(), 1u);
}

TEST_F(TwoLibraries, WhatRoutinesMustNotDo) {
  const auto x = tensor("X", 64), y = tensor("Y", 64);
  EXPECT_ERROR(program.tensors[x].size('D'), ArgumentError, "not D");
  PhysicalTensor physical(program.tensors[x]);
  physical.require(nhwc);
  EXPECT_ERROR(physical.require(Layout::any), InternalError, "twice");
  EXPECT_ERROR(physical.layout(), InternalError, "before its tag");
  dispatcher.add({"cpu", "pool", "plain", {}, [](Invocation&, const OperatorLibrary&) { return Kernel(); }});
  program.calls = {{"pool", {x}, {y}}};
  EXPECT_ERROR(evaluate_partially(program, dispatcher, "cpu"), InternalError, "does not tag");
}

}  // namespace
}  // namespace tc::engine::operators_test
