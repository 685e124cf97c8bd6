#include "tc/engine/parts/spread_rows.h"

#include <gtest/gtest.h>

#include "test/engine/engine_fixture.h"

namespace tc::engine {
namespace {

Target with_ways(std::int64_t ways) {
  Target target;
  target.l1_bytes = ways * 4096;
  return target;
}

std::vector<std::int64_t> strides_of(std::vector<std::int64_t> shape, DType type = DType::Float32) {
  return spread_rows(contiguous(type, std::move(shape)), with_ways(12)).strides;
}

TEST(SpreadRows, PutsALineBetweenWhatBeginsInTheSameSets) {
  using Strides = std::vector<std::int64_t>;
  EXPECT_EQ(strides_of({1, 64, 128, 128}), (Strides{64 * 16400, 16400, 128, 1}));
  EXPECT_EQ(strides_of({20, 1024}), (Strides{1040, 1}));
  EXPECT_EQ(strides_of({20, 512}, DType::Float64), (Strides{520, 1}));
  EXPECT_EQ(strides_of({16, 256, 1024}), (Strides{256 * 1040 + 16, 1040, 1})) << "blocks of rows as well";
}

TEST(SpreadRows, LeavesWhatSetsHaveRoomFor) {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{64, 56, 56}, {12, 1024}, {4096}, {}, {0, 1024}})
    EXPECT_EQ(strides_of(shape), row_major_strides(shape));
}

/// What another part reads across its planes lies apart, and what nothing sums stays dense.
TEST(SpreadRows, ComputesWhatDenseTensorsDo) {
  const auto function = define(R"(
def mix(float(C,H,W) X, float(K,C) F) -> (Y) { Y(k,h,w) +=! X(c,h,w) * F(k,c) }
def main(float(C,H,W) X, float(K,C) F, float(K,K) G) -> (Y) { A = mix(X, F)  Y = mix(A, G) })")
                            .functions.back();
  const auto x = count_up({3, 32, 32}), f = count_up({20, 3}), g = count_up({20, 20});
  auto options = checked();
  const auto executable = compile(function, {x, f, g}, {}, options);
  options.interpret = true;
  Floats found({20, 32, 32}, -77), wanted({20, 32, 32}, -77);
  const std::vector<TensorView> inputs{x, f, g};
  executable->run(inputs, std::vector<TensorView>{found});
  compile(function, {x, f, g}, {}, options)->run(inputs, std::vector<TensorView>{wanted});
  EXPECT_EQ(found.values, wanted.values);
  EXPECT_EQ(executable->stats().tensors.at("A").strides, (std::vector<std::int64_t>{1040, 32, 1}));
  EXPECT_GE(executable->image().workspace_bytes, (19 * 1040 + 1024) * sizeof(float));
}

TEST(SpreadRows, LeavesTensorsOfLibraryCalls) {
  const auto function = define(R"(
def fc(float(M,K) X, float(N,K) W) -> (Y) { Y(m,n) +=! X(m,k) * W(n,k) }
def main(float(M,K) X, float(N,K) W, float(K,N) V) -> (Y) { A = fc(X, W)  Y = fc(A, V) })")
                            .functions.back();
  const std::vector<TensorSpec> inputs{contiguous(DType::Float32, {32, 8}), contiguous(DType::Float32, {1024, 8}),
                                       contiguous(DType::Float32, {8, 1024})};
  CompileOptions options;
  EXPECT_EQ(compile(function, inputs, {}, options)->stats().tensors.at("A").strides,
            (std::vector<std::int64_t>{1040, 1}));
  options.libraries = "openblas";
  try {
    const auto executable = compile(function, inputs, {}, options);
    ASSERT_FALSE(executable->image().calls.empty());
    EXPECT_EQ(executable->stats().tensors.at("A").strides, (std::vector<std::int64_t>{1024, 1}));
  } catch (const OptionsError& error) {
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace tc::engine
