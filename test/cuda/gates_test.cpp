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

}  // namespace
}  // namespace tc::cuda
