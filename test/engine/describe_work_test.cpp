#include "tc/engine/describe/describe_work.h"

#include <gtest/gtest.h>

#include "tc/engine/describe/predict_time.h"
#include "test/engine/engine_fixture.h"

namespace tc::engine {
namespace {

WorkReport report(const std::string& text, const std::vector<TensorSpec>& inputs, CompileOptions options = {}) {
  auto function = define(text).functions.back();
  return describe_work(function, make_arguments(*function, inputs, {}), options);
}
TensorSpec floats(std::vector<std::int64_t> shape) { return contiguous(DType::Float32, std::move(shape)); }
CompileOptions on(const char* target) {
  CompileOptions options;
  options.target = Target::parse(target);
  return options;
}

TEST(DescribeWork, CountsWhatThePlanComputesAndMoves) {
  auto found = report(mm, {floats({64, 48}), floats({48, 80})}, on("cpu:avx2,cores=1,l1=32k,l2=1m,l3=8m"));
  EXPECT_EQ(found.work.flops(), 2 * 64 * 48 * 80);
  ASSERT_TRUE(found.traffic);
  EXPECT_EQ(found.traffic->compulsory().read, (64 * 48 + 48 * 80) * 4);
  EXPECT_EQ(found.traffic->compulsory().written, 64 * 80 * 4);
  EXPECT_GE(found.traffic->total(3).read, found.traffic->compulsory().read);
  EXPECT_NEAR(found.intensity(), static_cast<double>(found.work.flops()) / found.traffic->total(3).total(), 1e-9);
  EXPECT_EQ(found.type, DType::Float32);
}

TEST(DescribeWork, SmallerCachesLetMoreThrough) {
  auto memory = [](const char* target) {
    return report(mm, {floats({300, 300}), floats({300, 300})}, on(target)).traffic->total(3).total();
  };
  EXPECT_GT(memory("cpu:avx2,cores=1,l1=4k,l2=16k,l3=64k"), 1.5 * memory("cpu:avx2,cores=1,l1=32k,l2=1m,l3=8m"));
}

TEST(DescribeWork, AddsUpLaunches) {
  const char* text =
      "def f(float(N) X, int32(N) at) -> (T, Y) { T(i) = X(i) + 1.0 where i in 0:N Y(i) = T(at(i)) where i in 0:N }";
  auto found = report(text, {floats({5000}), contiguous(DType::Int32, {5000})}, on("cpu:avx2,cores=1"));
  ASSERT_TRUE(found.traffic);
  EXPECT_EQ(found.work.flops(), 5000);
  EXPECT_EQ(found.traffic->compulsory().written, 2 * 5000 * 4);
}

TEST(DescribeWork, KnowsTheTypeAndThreads) {
  auto found = report("def f(double(N) X) -> (Y) { Y(i) = 2.0 * X(i) }", {contiguous(DType::Float64, {10000000})},
                      on("cpu:avx2,cores=2"));
  EXPECT_EQ(found.type, DType::Float64);
  EXPECT_TRUE(found.parallel);
  auto small = report("def f(float(N) X) -> (Y) { Y(i) = 2.0 * X(i) }", {floats({100})}, on("cpu:avx2,cores=2"));
  EXPECT_FALSE(small.parallel);
}

TEST(DescribeWork, SaysWhatItDoesNotPredict) {
  auto gpu = report(mm, {floats({64, 48}), floats({48, 80})}, on("cuda:sm_90"));
  EXPECT_FALSE(gpu.traffic);
  EXPECT_EQ(gpu.work.flops(), 2 * 64 * 48 * 80);
  EXPECT_NE(to_string(gpu).find("not predicted, the model is of a CPU's caches"), std::string::npos) << to_string(gpu);
  ASSERT_EQ(gpu.grid_prices.size(), 1u);
  EXPECT_GT(predict_seconds(gpu, Target::parse("cuda:sm_90"), 1), 3e-6);
  EXPECT_NE(to_string(gpu).find("kernel 0 predicted: "), std::string::npos) << to_string(gpu);
  CompileOptions interpreted;
  interpreted.interpret = true;
  EXPECT_NE(to_string(report(mm, {floats({6, 4}), floats({4, 8})}, interpreted)).find("interpreter"),
            std::string::npos);
}

TEST(DescribeWork, AnImageIsEnough) {
  auto function = define(mm).functions.back();
  auto options = on("cpu:avx2,cores=1");
  options.mapping = options::MappingOptions::parse("tile=16x16");
  const std::vector<TensorSpec> inputs = {floats({100, 100}), floats({100, 100})};
  auto image = Image::deserialise(compile(function, inputs, {}, options)->image().serialise());
  EXPECT_EQ(to_string(describe_work(image)), to_string(describe_work(function, image.arguments, options)));
}

TEST(DescribeWork, PricesEachCluster) {
  const auto* text = "def f(float(N,C) X) -> (S, T) { S(c) +=! X(n,c)  T(n) +=! X(n,c) * S(c) }";
  auto two = report(text, {floats({200, 300})}, on("cpu:avx2,cores=1"));
  EXPECT_EQ(two.prices.size(), 2u);
  for (const auto& price : two.prices) EXPECT_GT(price.core.operations, 0);
  EXPECT_TRUE(report(mm, {floats({64, 48}), floats({48, 80})}, on("cuda:sm_80")).prices.empty());
}

TEST(DescribeWork, ReadsAsATable) {
  auto text = to_string(report(mm, {floats({64, 48}), floats({48, 80})}, on("cpu:avx2,cores=1,l1=32k,l2=1m,l3=8m")));
  for (const char* part :
       {"FLOPs: 491520 (adds 245760, multiplies 245760)\n", "L1-L2", "arguments, each once       27.6 kB     20.5 kB\n",
        "  A                          12.3 kB     12.3 kB     12.3 kB     12.3 kB\n", "intensity: ", "\npredicted: "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

}  // namespace
}  // namespace tc::engine
