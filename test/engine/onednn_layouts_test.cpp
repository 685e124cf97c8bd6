#include <gtest/gtest.h>

#include <algorithm>
#include <dnnl.hpp>
#include <optional>

#include "tc/graph/resolve/resolve_layouts.h"
#include "tc/lang/syntax/print.h"
#include "tc/layout/map/layout_map.h"
#include "tc/layout/map/names.h"
#include "tc/layout/rewrite/apply.h"
#include "test/engine/engine_fixture.h"

/// A convolution and a transposed one by oneDNN, each in the layouts that it likes best, and a ReLU of ours between them, which
/// takes any: layouts are resolved, and the program runs with the conversions that are left.
namespace tc::engine::onednn_layouts_test {
namespace {

using dnnl::memory;
using layout::Layout;

constexpr std::int64_t channels = 32, side = 8;
const memory::dims image{1, channels, side, side}, doubled{1, channels, 2 * side, 2 * side};

const char* const network =
    "def net(float(N,C,H,W) X, float(C,C,3,3) K, float(C,C,4,4) L) -> (Y) {"
    " Z(n,o,h,w) +=! h + r >= 1 && h + r <= H && w + s >= 1 && w + s <= W ? X(n,c,h + r - 1,w + s - 1) * K(o,c,r,s) : 0"
    " where h in 0:H, w in 0:W"
    " R(n,o,h,w) = fmax(Z(n,o,h,w), 0)"
    " Y(n,o,h,w) +=! (h + 1 - r) % 2 == 0 && h + 1 >= r && h + 1 - r < 2 * H && (w + 1 - s) % 2 == 0 && w + 1 >= s &&"
    " w + 1 - s < 2 * W ? R(n,c,(h + 1 - r) / 2,(w + 1 - s) / 2) * L(c,o,r,s) : 0 where h in 0:2 * H, w in 0:2 * W }";

dnnl::engine& processor() {
  static dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}

memory::desc any(const memory::dims& dims) { return {dims, memory::data_type::f32, memory::format_tag::any}; }

/// Our name of a layout of oneDNN; nothing for others.
std::optional<Layout> layout_of(const memory::desc& desc) {
  using Tag = memory::format_tag;
  const std::pair<Tag, const char*> known[] = {{Tag::nchw, "NCHW"},
                                               {Tag::nhwc, "NHWC"},
                                               {Tag::nChw4c, "NCHW4c"},
                                               {Tag::nChw8c, "NCHW8c"},
                                               {Tag::nChw16c, "NCHW16c"}};
  for (const auto& [tag, name] : known)
    if (desc == memory::desc(desc.dims(), memory::data_type::f32, tag)) return layout::named_layout(name);
  return std::nullopt;
}

/// A routine with all it asks for: oneDNN's guideline for tensors in any layout.
struct Routine {
  dnnl::primitive primitive;
  memory::desc source, weights, target;

  template <typename Primitive, typename Description>
  static Routine of(const Description& description) {
    const typename Primitive::primitive_desc chosen(description, processor());
    return {Primitive(chosen), chosen.src_desc(), chosen.weights_desc(), chosen.dst_desc()};
  }
  static Routine convolution() {
    using dnnl::convolution_forward;
    return of<convolution_forward>(
        convolution_forward::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any(image),
                                  any({channels, channels, 3, 3}), any(image), {1, 1}, {1, 1}, {1, 1}));
  }
  static Routine transposed() {
    using dnnl::deconvolution_forward;
    return of<deconvolution_forward>(
        deconvolution_forward::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct,
                                    any(image), any({channels, channels, 4, 4}), any(doubled), {2, 2}, {1, 1}, {1, 1}));
  }

  /// Takes and gives tensors in its own layouts; weights as \p order says.
  void run(Floats& from, Floats& weights_of_caller, memory::format_tag order, Floats& to) const {
    dnnl::stream stream(processor());
    memory theirs({weights.dims(), memory::data_type::f32, order}, processor(), weights_of_caller.data),
        ours(weights, processor());
    dnnl::reorder(theirs, ours).execute(stream, theirs, ours);
    memory read(source, processor(), from.data), written(target, processor(), to.data);
    primitive.execute(stream, {{DNNL_ARG_SRC, read}, {DNNL_ARG_WEIGHTS, ours}, {DNNL_ARG_DST, written}});
    stream.wait();
  }
};

Floats in_layout(const Layout& layout, const memory::dims& extents) {
  return Floats(layout::LayoutMap(layout, extents).physical());
}

/// Runs a def of one tensor, all sizes of which are numbers.
void run_def(const lang::Def& def, const Floats& from, Floats& to) {
  ExecutionEngine engine;
  engine.define(lang::print(def));
  engine.run(engine.compile(def.name, {from}, {to}, checked()), {from}, {to});
}

void convert(const Floats& from, const Layout& is, const memory::dims& extents, const Layout& wanted, Floats& to) {
  run_def(layout::conversion(DType::Float32, extents, is, wanted).def(), from, to);
}

void rectify(const Layout& layout, Floats& tensor) {
  const auto relu =
      define("def rectified(float(N,C,H,W) X) -> (Y) { Y(n,c,h,w) = fmax(X(n,c,h,w), 0) }").functions.front();
  const lang::SizeMap sizes{{"N", 1}, {"C", channels}, {"H", side}, {"W", side}};
  const auto laid_out = layout::apply_layouts({relu->def, relu->ranges}, sizes, {{{"X", layout}, {"Y", layout}}, {}});
  auto result = tensor;
  result.data = result.values.data();
  run_def(laid_out.def(), tensor, result);
  tensor.values = result.values;
  tensor.data = tensor.values.data();
}

/// The graph as its routines ask for it: conv, relu, deconv.
graph::LayoutGraph asked_for(const Routine& convolution, const Routine& transposed) {
  const auto layouts = [](const Routine& routine) {
    return std::vector<std::optional<Layout>>{layout_of(routine.source), layout_of(routine.target)};
  };
  graph::LayoutGraph result;
  result.tensors = {{"X", 1, {}, *layout_of(convolution.source)}, {"Z", 1, 0}, {"R", 1, 1}, {"Y", 1, 2}};
  result.nodes = {{"conv", {0}, {1}, layouts(convolution)},
                  {"relu", {1}, {2}, {std::nullopt, std::nullopt}},
                  {"deconv", {2}, {3}, layouts(transposed)}};
  return result;
}

TEST(OnednnLayouts, OneConversionBetweenAConvolutionAndATransposedOne) {
  const auto convolution = Routine::convolution(), transposed = Routine::transposed();
  for (const auto* desc : {&convolution.source, &convolution.target, &transposed.source, &transposed.target})
    if (!layout_of(*desc)) GTEST_SKIP() << "oneDNN asks for a layout without a name here";
  const auto graph = asked_for(convolution, transposed);
  const auto resolution = graph::resolve_layouts(graph);
  const auto made = *layout_of(convolution.target), wanted = *layout_of(transposed.source);
  EXPECT_EQ(resolution.produced[2], made) << "ReLU takes what it is given";
  EXPECT_EQ(resolution.conversions.size(), made == wanted ? 0u : 1u);
  auto chosen = graph;
  chosen.nodes[1].candidates = {made, layout::named_layout("NHWC"), Layout()};
  EXPECT_EQ(graph::choose_layouts(chosen, graph::LayoutObjective::Edges).conversions.size(),
            resolution.conversions.size())
      << "it stands before ReLU or behind it";

  auto x = count_up(image), k = count_up({channels, channels, 3, 3}), l = count_up({channels, channels, 4, 4});
  auto read = in_layout(*layout_of(convolution.source), image), between = in_layout(made, image),
       before = in_layout(wanted, image), result = in_layout(*layout_of(transposed.target), doubled);
  convert(x, Layout(), image, *layout_of(convolution.source), read);
  convolution.run(read, k, memory::format_tag::oihw, between);
  rectify(made, between);
  convert(between, made, image, wanted, before);
  transposed.run(before, l, memory::format_tag::iohw, result);
  Floats y(doubled), reference(doubled);
  convert(result, *layout_of(transposed.target), doubled, Layout(), y);

  ExecutionEngine engine;
  engine.define(network);
  CompileOptions interpreted;
  interpreted.interpret = true;
  engine.run(engine.compile("net", {x, k, l}, {reference}, interpreted), {x, k, l}, {reference});
  EXPECT_EQ(y.values, reference.values);
  EXPECT_GT(*std::max_element(y.values.begin(), y.values.end()), 0);
}

}  // namespace
}  // namespace tc::engine::onednn_layouts_test
