// What default strategies make for sm_90, read from machine code.

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/cuda/cubin.h"
#include "tc/engine/compile.h"
#include "test/cuda/compiled.h"

namespace tc::cuda {
namespace {

std::vector<KernelStats> kernels_of(const std::string& text, const std::vector<TensorSpec>& inputs) {
  engine::CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  return read_cubin(
      engine::compile(engine::define(text, "<gate>").functions.back(), inputs, {}, options)->image().device.cubin);
}

/// Are all accesses \p access ("LDG") 128 bits wide, and is there one?
testing::AssertionResult is_wide(const KernelStats& stats, const std::string& access) {
  auto wide = stats.accesses.find(access + ".128");
  if (wide != stats.accesses.end() && wide->second == stats.count(access)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << to_string(stats);
}

TEST(Gate, MatrixProduct) {
  TC_NEEDS_NVRTC();
  auto square = contiguous(DType::Float32, {4096, 4096});
  auto kernels =
      kernels_of("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {square, square});
  ASSERT_EQ(kernels.size(), 1u);
  const auto& stats = kernels[0];
  EXPECT_EQ(stats.spill_store_bytes + stats.spill_load_bytes, 0) << to_string(stats);
  EXPECT_GE(stats.main_loop_share("FFMA"), 0.7) << to_string(stats);
  for (const char* access : {"LDG", "STG", "LDS"}) EXPECT_TRUE(is_wide(stats, access)) << access;
  EXPECT_LE(stats.registers, 128) << to_string(stats);
}

/// Rows of 4096 floats in blocks of 256 threads: 4 vectors of 4 each.
constexpr int vectors_of_a_row = 4;

TEST(Gate, SoftmaxReadsAndWritesItsDataOnce) {
  TC_NEEDS_NVRTC();
  auto kernels = kernels_of(R"(
def softmax(float(N,D) I) -> (O) {
  maxVal(n) max=! I(n,d)
  expDistance(n,d) = exp(I(n,d) - maxVal(n))
  expSum(n) +=! expDistance(n,d)
  O(n,d) = expDistance(n,d) / expSum(n)
})",
                            {contiguous(DType::Float32, {4096, 4096})});
  ASSERT_EQ(kernels.size(), 1u);
  const auto& stats = kernels[0];
  EXPECT_EQ(stats.accesses.at("LDG.128"), vectors_of_a_row) << to_string(stats);
  EXPECT_EQ(stats.accesses.at("STG.128"), vectors_of_a_row) << to_string(stats);
  for (const char* access : {"LDG", "STG"}) EXPECT_TRUE(is_wide(stats, access)) << access;
  EXPECT_EQ(stats.spill_store_bytes + stats.spill_load_bytes + stats.stack_bytes, 0) << to_string(stats);
}

TEST(Gate, LayerNormReadsAndWritesItsDataOnce) {
  TC_NEEDS_NVRTC();
  auto row = contiguous(DType::Float32, {4096});
  auto kernels = kernels_of(R"(
def layernorm(float(N,D) I, float(D) W, float(D) B) -> (O) {
  sum(n) +=! I(n,d)
  centred(n,d) = I(n,d) - sum(n) / D
  squares(n) +=! centred(n,d) * centred(n,d)
  O(n,d) = centred(n,d) / sqrt(squares(n) / D + 1e-5) * W(d) + B(d)
})",
                            {contiguous(DType::Float32, {4096, 4096}), row, row});
  ASSERT_EQ(kernels.size(), 1u);
  const auto& stats = kernels[0];
  EXPECT_EQ(stats.accesses.at("LDG.128"), 3 * vectors_of_a_row) << "the data, weights and biases: " << to_string(stats);
  EXPECT_EQ(stats.accesses.at("STG.128"), vectors_of_a_row) << to_string(stats);
  for (const char* access : {"LDG", "STG"}) EXPECT_TRUE(is_wide(stats, access)) << access;
  EXPECT_EQ(stats.spill_store_bytes + stats.spill_load_bytes + stats.stack_bytes, 0) << to_string(stats);
}

}  // namespace
}  // namespace tc::cuda
