#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/lang/syntax/print.h"
#include "tc/layout/map/layout_map.h"
#include "tc/layout/map/names.h"
#include "tc/layout/rewrite/apply.h"
#include "tc/layout/rewrite/propagate.h"
#include "tc/library/description/argument_layout.h"
#include "test/library/library_fixture.h"

/// Routines of oneDNN for tensors in blocks, and what they ask for.
namespace tc::library::onednn_blocks_test {
namespace {

const Library& dnn() { return find_library("onednn"); }

class OneDnnBlocks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (dnn().find().version.empty()) GTEST_SKIP() << dnn().find().reason;
  }
};

/// \p test with its tensors in layouts of these names.
TestCase in_layouts(const TestCase& test, const std::map<std::string, std::string>& names) {
  const auto function = function_of(test);
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& input : test.inputs) shapes.push_back(input.shape);
  const auto sizes = lang::bind_sizes(function->def, shapes);
  layout::Layouts layouts;
  for (const auto& [tensor, name] : names) layouts.of[tensor] = layout::named_layout(name);
  const auto made = layout::apply_layouts({function->def, function->ranges}, sizes,
                                          layout::propagate({function->def, function->ranges}, sizes, layouts));
  TestCase result{lang::print(made.def()), test.inputs};
  for (std::size_t i = 0; i < test.inputs.size(); ++i)
    if (const auto name = names.find(function->def.params[i].name); name != names.end())
      result.inputs[i] = floats(layout::LayoutMap(layout::named_layout(name->second), test.inputs[i].shape).physical());
  return result;
}

/// A convolution of \p channels to 32 channels by windows of \p side x \p side that are padded to the size of the images.
TestCase convolution(std::int64_t batch, std::int64_t channels, std::int64_t side, const std::string& then = "") {
  const auto low = (side - 1) / 2;
  const auto h = str("h + r - ", low), w = str("w + s - ", low);
  const auto target = then.empty() ? "Y" : "A";
  return {str("def conv(float(N,C,H,W) X, float(K,C,R,S) F", then.empty() ? "" : ", float(K) b, float(N,K,H,W) Z",
              ") -> (Y) {\n  ", target, "(n,k,h,w) +=! (", h, " >= 0 && ", h, " < H && ", w, " >= 0 && ", w,
              " < W) ? X(n,c,", h, ",", w, ") * F(k,c,r,s) : 0 where h in 0:H, w in 0:W\n  ", then, " }"),
          then.empty() ? std::vector{floats({batch, channels, 6, 7}), floats({32, channels, side, side})}
                       : std::vector{floats({batch, channels, 6, 7}), floats({32, channels, side, side}), floats({32}),
                                     floats({batch, 32, 6, 7})}};
}

Call expect_one_call(const TestCase& test, std::size_t post_ops = 0, bool finite = false) {
  SCOPED_TRACE(test.text);
  const auto call = call_of(test, dnn(), finite);
  EXPECT_TRUE(call.has_value());
  if (!call) return {};
  EXPECT_EQ(call->times(), 1) << to_string(*call);
  EXPECT_EQ(call->post_ops.size(), post_ops) << to_string(*call);
  EXPECT_TRUE(computes_the_same(test, *call)) << to_string(*call);
  return *call;
}

TEST_F(OneDnnBlocks, AreDimensionsOfConvolutions) {
  for (std::int64_t batch : {1, 2})
    for (std::int64_t side : {1, 3})
      for (const int block : {4, 16}) {
        const auto image = str("NCHW", block, "c"), weights = str("OIhw", block, "i", block, "o");
        const auto test = convolution(batch, 32, side);
        const auto all = expect_one_call(in_layouts(test, {{"X", image}, {"F", weights}, {"Y", image}}));
        ASSERT_EQ(all.operands.size(), 3u);
        EXPECT_EQ(all.number("C"), 32) << to_string(all);
        EXPECT_EQ(all.operands[0].block(2), (Block{block, 6 * 7 * block}));
        EXPECT_EQ(all.operands[0].strides[2], 1);
        EXPECT_EQ(all.operands[1].block(1), (Block{block, 32 * side * side * block}));
        const auto channels = side == 1 ? Block() : Block{block, side * side * block * block};
        EXPECT_EQ(all.operands[1].block(2), channels)
            << "of one place, blocks of channels follow each other as channels do";
        expect_one_call(in_layouts(test, {{"X", image}}));
        expect_one_call(in_layouts(test, {{"Y", image}}));
        expect_one_call(in_layouts(test, {{"X", image}, {"Y", "NHWC"}}));
      }
}

TEST_F(OneDnnBlocks, AreThoseOfAllChannelsToo) {
  const auto call = expect_one_call(in_layouts(convolution(2, 16, 3), {{"X", "NCHW16c"}, {"Y", "NCHW16c"}}));
  EXPECT_EQ(call.number("C"), 16) << "one block";
}

TEST_F(OneDnnBlocks, AreTakenByDepthwiseConvolutions) {
  const TestCase test{"def f(float(N,C,H,W) X, float(C,R,S) F) -> (Y) { Y(n,c,h,w) +=! X(n,c,h + r,w + s) * F(c,r,s) }",
                      {floats({2, 32, 8, 9}), floats({32, 3, 3})}};
  const auto call = expect_one_call(in_layouts(test, {{"X", "NCHW16c"}, {"Y", "NCHW16c"}}));
  EXPECT_EQ(call.number("G"), 32);
}

TEST_F(OneDnnBlocks, AreTakenByWhatFollows) {
  const auto test = convolution(2, 16, 3, "Y(n,k,h,w) = fmax(A(n,k,h,w) + b(k) + Z(n,k,h,w), 0)");
  const std::map<std::string, std::string> blocked{{"X", "NCHW8c"}, {"Z", "NCHW8c"}, {"Y", "NCHW8c"}};
  expect_one_call(in_layouts(test, blocked), 3, true);
}

TEST_F(OneDnnBlocks, AreProved) {
  const auto test = in_layouts(convolution(1, 32, 3), {{"X", "NCHW16c"}, {"Y", "NCHW16c"}});
  const auto function = function_of(test);
  const auto given = *understand({function->def, function->ranges}, arguments_of(test));
  const auto routine = understand_routine(dnn().routine("convolution2d")->def);
  int proved = 0;
  for (const auto& pairing : pair_up(given.value, routine.value)) {
    const auto problem = make_problem(given, pairing, {});
    for (const auto& joined : joined_problems(problem))
      for (const auto& assignment : assignments(joined, pairing, routine, false)) {
        const auto call = read_off(joined, pairing, routine, assignment);
        if (!call || !prove(problem, joined.joins, pairing, routine, assignment, *call)) continue;
        ++proved;
        auto other = *call;
        other.operands[0].blocks.at(2).stride += 16;
        EXPECT_FALSE(prove(problem, joined.joins, pairing, routine, assignment, other)) << "blocks elsewhere";
        other = *call;
        other.operands[0].blocks.at(2).size = 8;
        EXPECT_FALSE(prove(problem, joined.joins, pairing, routine, assignment, other)) << "blocks of another size";
        other = *call;
        other.operands[2].blocks.clear();
        EXPECT_FALSE(prove(problem, joined.joins, pairing, routine, assignment, other)) << "no blocks";
        EXPECT_FALSE(prove(problem, {}, pairing, routine, assignment, *call)) << "no join";
      }
  }
  EXPECT_GT(proved, 0);
}

/// The layouts of a call's arguments that it is fastest with.
std::vector<layout::Layout> liked_layouts(const TestCase& test) {
  const auto call = call_of(test, dnn()).value();
  const auto specs = arguments_of(test);
  std::vector<layout::Layout> result(specs.size());
  const auto liked = liked_operands(call);
  for (std::size_t i = 0; i < liked.size(); ++i)
    if (const auto argument = call.operands[i].argument; !(liked[i] == call.operands[i]))
      result[argument] = layout_of_argument(specs[argument], call.operands[i], liked[i]).value();
  return result;
}

/// The images of \p test in what oneDNN likes: another layout than the plain one, in which nothing is left to wish for.
TEST_F(OneDnnBlocks, AreAskedFor) {
  const TestCase depthwise{
      "def f(float(N,C,H,W) X, float(C,R,S) F) -> (Y) { Y(n,c,h,w) +=! X(n,c,h + r,w + s) * F(c,r,s) }",
      {floats({1, 64, 30, 30}), floats({64, 3, 3})}};
  for (const auto& test : {convolution(1, 64, 3), convolution(2, 64, 3), convolution(2, 64, 1), depthwise}) {
    SCOPED_TRACE(test.text);
    const auto layouts = liked_layouts(test);
    EXPECT_FALSE(layouts[0].is_identity()) << to_string(call_of(test, dnn()).value());
    EXPECT_TRUE(layouts[1].is_identity()) << "weights are not asked for";
    const auto function = function_of(test);
    std::vector<std::vector<std::int64_t>> shapes;
    for (const auto& input : test.inputs) shapes.push_back(input.shape);
    const auto made = layout::apply_layouts({function->def, function->ranges}, lang::bind_sizes(function->def, shapes),
                                            {{{"X", layouts[0]}, {"Y", layouts.back()}}, {}});
    auto inputs = test.inputs;
    inputs[0] = floats(layout::LayoutMap(layouts[0], inputs[0].shape).physical());
    const auto call = expect_one_call({lang::print(made.def()), inputs});
    EXPECT_EQ(liked_operands(call), call.operands);
  }
}

TEST(ArgumentLayout, FollowsDimensionsThatTheRoutineSeesAsOne) {
  const Operand given{0, DType::Float32, 0, {0, 0, 3136, 1, 0}, {}};
  Operand wanted{0, DType::Float32, 0, {0, 0, 1, 16, 0}, {}};
  wanted.blocks = {{}, {}, {16, 50176}, {}, {}};
  EXPECT_EQ(layout_of_argument(floats({1, 64, 56, 56}), given, wanted), layout::named_layout("NCHW16c"));
  wanted.blocks.clear();
  wanted.strides = {0, 0, 1, 64, 0};
  EXPECT_EQ(layout_of_argument(floats({1, 64, 56, 56}), given, wanted), layout::named_layout("NHWC"));
  wanted.blocks = {{}, {}, {}, {32, 2048}, {}};
  EXPECT_EQ(layout_of_argument(floats({1, 64, 56, 56}), given, wanted), std::nullopt) << "blocks of 32 cut rows";
  const Operand rows{0, DType::Float32, 0, {112, 0, 3136, 1, 0}, {}};
  EXPECT_EQ(layout_of_argument(floats({1, 64, 56, 56}), rows, rows), std::nullopt) << "every other row";
}

}  // namespace
}  // namespace tc::library::onednn_blocks_test
