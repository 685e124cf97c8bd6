#include "tc/engine/graph/finalists.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "test/library/library_fixture.h"

/// Ways to compile that are measured in turns, among them libraries whose speed is known to this test.
namespace tc::library::finalists_test {
namespace {

using Clock = std::chrono::steady_clock;

/// The routine below, after a pause, with one sum for all elements.
class Paused : public Invocation {
 public:
  Paused(const Call& call, double milliseconds) : call_(call), pause_(milliseconds) {}
  void run(void* const* operands, int) const override {
    for (const auto end = Clock::now() + pause_; Clock::now() < end;) continue;
    const auto* x = static_cast<const float*>(operands[0]);
    const auto* w = static_cast<const float*>(operands[1]);
    auto* y = static_cast<float*>(operands[2]);
    float sum = 0;
    const auto of_x = call_.operands[0].strides[0], of_w = call_.operands[1].strides[0],
               of_y = call_.result().strides[0];
    const auto n = call_.number("N"), count = call_.number("A");
    for (std::int64_t a = 0; a < count; ++a) sum += w[a * of_w];
    for (std::int64_t i = 0; i < n; ++i) y[i * of_y] = x[i * of_x] * sum;
  }

 private:
  Call call_;
  std::chrono::duration<double, std::milli> pause_;
};

/// Own code adds A products for each element.
const std::string slow_def = "def f(float(N) x, float(A) w) -> (Y) { Y(i) +=! x(i) * w(a) }";

void add_paused(const std::string& name, double milliseconds) {
  Routine routine{"weigh",
                  "def weigh(float(N) x, float(A) w) -> (Y) { Y(i) +=! x(i) * w(a) }",
                  {{DType::Float32, DType::Float32, DType::Float32}}};
  routine.prepare = [=](const Call& call) { return std::make_unique<Paused>(call, milliseconds); };
  add_library({name,
               1,
               []() -> const Presence& {
                 static const Presence presence{"1.0", ""};
                 return presence;
               },
               {routine}});
}

std::shared_ptr<const engine::Function> slow_function() { return engine::define(slow_def).functions.back(); }

engine::CompileOptions measured(const std::string& folder) {
  engine::CompileOptions options;
  options.libraries = "measured";
  options.layouts = graph::LayoutMode::Measured;
  if (!folder.empty()) {
    std::filesystem::remove_all(folder);
    options.cache = std::make_shared<cache::Cache>(cache::CacheSettings{folder});
  }
  return options;
}

/// The library that pauses loses; the one that does not is found, and the choice is kept for the next compile and for "auto". Results are
/// those of own code.
TEST(Finalists, TheFastestIsKept) {
  const auto function = slow_function();
  const std::vector<TensorSpec> inputs{floats({8192}), floats({8192})};
  static const bool once = [] {
    add_paused("pausing", 5);
    return true;
  }();
  ASSERT_TRUE(once);
  const auto folder = testing::TempDir() + "tc_finalists";
  auto options = measured("");
  const auto own = engine::compile(function, inputs, {}, options);
  EXPECT_EQ(own->stats().finalists.back(), "chosen: libraries=none layouts=constants");
  EXPECT_TRUE(own->image().calls.empty());

  add_paused("instant", 0);
  options = measured(folder);
  const auto found = engine::compile(function, inputs, {}, options);
  ASSERT_EQ(found->stats().finalists.back(), "chosen: libraries=instant layouts=resolve")
      << join(found->stats().finalists, "\n");
  ASSERT_EQ(found->image().calls.size(), 1u);
  TestTensor x(floats({8192}), 1), w(floats({8192}), 2), y(floats({8192}), 3), wanted = y;
  found->run(std::vector<TensorView>{x.view(), w.view()}, std::vector<TensorView>{y.view()});
  own->run(std::vector<TensorView>{x.view(), w.view()}, std::vector<TensorView>{wanted.view()});
  EXPECT_TRUE(y == wanted);

  for (const auto* libraries : {"measured", "auto"}) {
    options.libraries = libraries;
    const auto again = engine::compile(function, inputs, {}, options);
    ASSERT_EQ(again->stats().finalists.size(), 1u) << libraries;
    EXPECT_EQ(again->stats().finalists[0], "libraries=instant layouts=resolve: chosen by an earlier measurement");
    EXPECT_EQ(again->image().calls.size(), 1u);
  }
  const auto other = engine::compile(function, {floats({8191}), floats({8192})}, {}, options);
  EXPECT_TRUE(other->image().calls.empty()) << "another size was not measured";
  options.libraries = "auto:finite";
  EXPECT_TRUE(engine::compile(function, inputs, {}, options)->image().calls.empty()) << "nor with finite values";
}

TEST(Finalists, OneThatTakesTooLongIsLeftOut) {
  const auto function = slow_function();
  const auto options = measured("");
  const std::vector<TensorSpec> inputs{floats({8}), floats({8})};
  const auto arguments = engine::make_arguments(*function, inputs, {}, options);
  auto plain = options;
  plain.libraries = "none";
  plain.layouts = graph::LayoutMode::Constants;
  const auto own = engine::compile(function, inputs, {}, plain);
  const auto make = [&](const engine::CompileOptions& how) {
    while (how.libraries != "none" || how.layouts != graph::LayoutMode::Constants)
      how.stages.cancellation.check("a compile without end");
    return own;
  };
  const auto found = engine::fastest_finalist(*function, arguments, options, make, 0.02);
  const auto lines = join(found->stats().finalists, "\n");
  EXPECT_NE(lines.find("chosen: libraries=none layouts=constants"), std::string::npos) << lines;
  EXPECT_NE(lines.find("libraries=none layouts=resolve: "), std::string::npos) << lines;
  EXPECT_NE(lines.find("time limit"), std::string::npos) << lines;
  EXPECT_NO_THROW(options.stages.cancellation.check("the compile of all"));
}

TEST(Finalists, AreOneWhereNothingCanBeMeasured) {
  auto options = measured("");
  EXPECT_GT(engine::finalists_of(options).size(), 2u);
  options.symbolic = {{"N", 1}};
  const auto finalists = engine::finalists_of(options);
  ASSERT_EQ(finalists.size(), 1u);
  EXPECT_EQ(finalists[0].libraries, "auto");
  EXPECT_EQ(finalists[0].layouts, graph::LayoutMode::Constants);
  options = measured("");
  options.target = Target::parse("cuda:sm_90");
  EXPECT_EQ(engine::finalists_of(options).size(), 1u);
  options = measured("");
  options.dynamic = {"N"};
  EXPECT_EQ(engine::compile(slow_function(), {floats({32}), floats({32})}, {}, options)->stats().finalists.size(), 0u);
}

/// Indices of a def that accepts none are outside of its tensor: nothing is measured, and own code stays.
TEST(Finalists, OwnCodeStaysWhereTensorsThatWereMadeUpDoNotFit) {
  const auto function =
      engine::define(
          "def weigh(float(N) x, float(A) w) -> (Y) { Y(i) +=! x(i) * w(a) }\n"
          "def take(float(N) T, int32(M) I) -> (Y) { Y(i) = T(I(i)) }\n"
          "def main(float(N) x, float(A) w, float(K) T, int32(M) I) -> (Y, V) { Y = weigh(x, w)  V = take(T, I) }")
          .functions.back();
  add_paused("another", 0);
  const std::vector<TensorSpec> inputs{floats({8}), floats({8}), floats({0}), contiguous(DType::Int32, {4})};
  const auto found = engine::compile(function, inputs, {}, measured(""));
  EXPECT_TRUE(found->image().calls.empty());
  EXPECT_NE(join(found->stats().finalists, "\n").find("not measured: "), std::string::npos);
}

}  // namespace
}  // namespace tc::library::finalists_test
