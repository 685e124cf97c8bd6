#include "test/cuda_emulator/emulator.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "test/cuda_emulator/kernel_text.h"
#include "test/cuda_emulator/sample_kernels.h"
#include "test/support/expect_error.h"

namespace tc::emulator {
namespace {

struct RightCase {
  const char* name;
  Sample (*sample)();
};

void PrintTo(const RightCase& row, std::ostream* out) { *out << row.name; }

class RightKernels : public testing::TestWithParam<RightCase> {};

TEST_P(RightKernels, GiveTheRightValuesWithoutFaults) {
  auto sample = GetParam().sample();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    auto outcome = run_sample(sample, seed);
    EXPECT_EQ(outcome.result.text(), "") << "seed " << seed;
    EXPECT_EQ(outcome.wrong_value.value_or(""), "") << "seed " << seed;
    EXPECT_GT(outcome.result.accesses, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, RightKernels,
                         testing::Values(RightCase{"softmax", softmax}, RightCase{"sgemm", sgemm},
                                         RightCase{"transpose", transpose}, RightCase{"two_stage_sum", two_stage_sum},
                                         RightCase{"neighbours", neighbours}, RightCase{"pipeline", pipeline},
                                         RightCase{"far_rows", far_rows}, RightCase{"carried", carried}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(KernelText, FindsKernelsAndTheirBounds) {
  auto kernels = find_kernels(R"(
    // __global__ void in_a_comment()
    extern "C" __global__ void __launch_bounds__(128, 2) first(const float* __restrict__ A) {}
    __global__ __launch_bounds__(64) void second(int n) { first(n); }
    extern "C" __global__ void third() {})");
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].name, "first");
  EXPECT_EQ(kernels[0].launch_bounds, "128, 2");
  EXPECT_EQ(kernels[1].name, "second");
  EXPECT_EQ(kernels[1].launch_bounds, "64");
  EXPECT_EQ(kernels[2].name, "third");
  EXPECT_EQ(kernels[2].launch_bounds, "");
}

TEST(KernelText, DynamicSharedArraysBecomePointers) {
  for (const char* attributes : {"", "__align__(16) ", "alignas(128) "}) {
    auto text = to_host_text(std::string("  extern __shared__ ") + attributes + "unsigned char sm[];\n");
    EXPECT_EQ(text, "  unsigned char* sm = (unsigned char*)tc_emulator_dynamic_shared();\n\n");
  }
}

TEST(Emulator, ATextThatDoesNotCompileIsAnError) {
  KernelText kernel{"extern \"C\" __global__ void k(float* A) { A[0] = undefined_name; }", "k"};
  try {
    run(kernel, {}, {});
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("kernel:1:49: error: 'undefined_name' was not declared"),
              std::string::npos)
        << error.what();
  }
}

TEST(Emulator, AnUnknownKernelIsAnError) {
  EXPECT_ERROR(run({"extern \"C\" __global__ void k() {}", "other"}, {}, {}), ArgumentError,
               "the text has no kernel 'other'");
}

TEST(Emulator, SharedMemoryBeginsPoisonedInEachBlock) {
  KernelText kernel{R"(
extern "C" __global__ void k(float* A) {
  __shared__ float s[1];
  A[blockIdx.x] = s[0];
  s[0] = 1;
})",
                    "k"};
  std::vector<float> values(3, 0.0f);
  TensorView view{contiguous(DType::Float32, {3}), values.data()};
  EXPECT_TRUE(run(kernel, {{3, 1, 1}, {1, 1, 1}}, {Buffer{"A", view}}).ok());
  for (float value : values) EXPECT_TRUE(value != value);
}

TEST(Emulator, OnlyCooperativeLaunchesWaitForTheGrid) {
  auto sample = neighbours();
  sample.shape.cooperative = false;
  EXPECT_NE(run_sample(sample, 1).result.text().find("the launch is not cooperative"), std::string::npos);
}

TEST(Emulator, CooperativeLaunchesHaveALimit) {
  auto sample = neighbours();
  sample.shape.grid.x = 1000;
  EXPECT_NE(run_sample(sample, 1).result.text().find("a cooperative launch of 64000 threads"), std::string::npos);
}

/// The order in which blocks add their number to a list tells interleavings apart.
TEST(Emulator, SeedsGiveDifferentOrders) {
  KernelText kernel{R"(
extern "C" __global__ void k(int* next, int* order) {
  if (threadIdx.x == 0) order[atomicAdd(next, 1)] = blockIdx.x;
})",
                    "k"};
  auto order_of = [&](std::uint64_t seed) {
    std::vector<int> next(1, 0), order(10, 0);
    RunOptions options;
    options.seed = seed;
    auto result = run(kernel, {{10, 1, 1}, {4, 1, 1}},
                      {Buffer{"next", {contiguous(DType::Int32, {1}), next.data()}},
                       Buffer{"order", {contiguous(DType::Int32, {10}), order.data()}}},
                      options);
    EXPECT_EQ(result.text(), "");
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
}

TEST(Emulator, CountsTransactions) {
  KernelText kernel{R"(
extern "C" __global__ void k(const float* X, float* Y) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = X[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  Y[threadIdx.x * 32 + threadIdx.y] = tile[threadIdx.x][threadIdx.y];
})",
                    "k"};
  alignas(128) static float x[1024], y[1024];
  RunOptions options;
  options.count_accesses = true;
  auto result = run(kernel, {{1, 1, 1}, {32, 4, 1}},
                    {Buffer{"X", {contiguous(DType::Float32, {32, 32}), x}, false},
                     Buffer{"Y", {contiguous(DType::Float32, {32, 32}), y}}},
                    options);
  EXPECT_EQ(result.text(), "");
  ASSERT_EQ(result.sites.size(), 4u);
  struct {
    int line;
    bool shared, write;
    std::int64_t transactions, ideal;
  } want[] = {{4, false, false, 16, 16}, {4, true, true, 4, 4}, {6, true, false, 128, 4}, {6, false, true, 128, 16}};
  for (const auto& w : want) {
    bool found = false;
    for (const auto& site : result.sites) {
      if (site.line != w.line || site.shared != w.shared || site.write != w.write) continue;
      found = true;
      EXPECT_EQ(site.warp_accesses, 4);
      EXPECT_EQ(site.transactions, w.transactions);
      EXPECT_EQ(site.ideal, w.ideal);
    }
    EXPECT_TRUE(found) << w.line;
  }
}

}  // namespace
}  // namespace tc::emulator
