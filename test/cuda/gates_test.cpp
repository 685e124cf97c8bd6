// What default strategies make for sm_90, read from machine code.

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/cuda/cubin.h"
#include "tc/engine/graph/compile.h"
#include "test/cuda/compiled.h"

namespace tc::cuda {
namespace {

std::vector<KernelStats> kernels_of(const std::string& text, const std::vector<TensorSpec>& inputs,
                                    const std::string& mapping = "", const std::string& target = "cuda:sm_90") {
  engine::CompileOptions options;
  options.mapping = options::MappingOptions::parse(mapping);
  options.target = Target::parse(target);
  return read_cubin(engine::compile(engine::define(text, "<gate>").functions.back(), inputs, {}, options)
                        ->image()
                        .modules.at(0)
                        .cubin);
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
  for (const char* access : {"LDG", "STG", "LDS", "LDGSTS"}) EXPECT_TRUE(is_wide(stats, access)) << access;
  EXPECT_LE(stats.registers, 128) << to_string(stats);
  EXPECT_EQ(stats.main_loop.at("BAR"), 1) << "copies run ahead: " << to_string(stats);
}

TEST(Gate, TransposedMatrixProducts) {
  TC_NEEDS_NVRTC();
  auto square = contiguous(DType::Float32, {4096, 4096});
  for (const char* operands : {"A(m,k) * B(n,k)", "A(k,m) * B(k,n)", "A(k,m) * B(n,k)"}) {
    bool a = std::string(operands).find("A(k") != std::string::npos,
         b = std::string(operands).find("B(n") != std::string::npos;
    auto text = str("def mm(float(", a ? "K,M" : "M,K", ") A, float(", b ? "N,K" : "K,N", ") B) -> (C) { C(m,n) +=! ",
                    operands, " }");
    auto stats = kernels_of(text, {square, square}).at(0);
    EXPECT_EQ(stats.spill_store_bytes + stats.spill_load_bytes + stats.stack_bytes, 0) << operands << to_string(stats);
    EXPECT_GE(stats.main_loop_share("FFMA"), 0.7) << operands << to_string(stats);
    EXPECT_LE(stats.registers, 128) << operands << to_string(stats);
    EXPECT_EQ(stats.main_loop.at("BAR"), 1) << operands << to_string(stats);
    for (const char* access : {"LDS", "STG"}) EXPECT_TRUE(is_wide(stats, access)) << operands;
    for (const char* access : {"LDG", "LDGSTS"})
      EXPECT_TRUE(stats.count(access) == 0 || is_wide(stats, access)) << operands;
  }
}

/// Orders of the indices of two operands.
const char* const orders[] = {"A(m,k) * B(k,n)", "A(m,k) * B(n,k)", "A(k,m) * B(k,n)", "A(k,m) * B(n,k)"};

class GateOfUnits : public testing::TestWithParam<std::pair<const char*, const char*>> {};

/// A product of halves is computed by units for matrices: by those of groups of warps, which read shared memory, four times for a block of
/// 64 steps, or by those of warps, of which each loaded fragment feeds several. Where both operands are contiguous along the reduction,
/// the machine has fewer addresses to compute. Results of 16 bits leave in rows of 16 bytes.
TEST_P(GateOfUnits, MatrixProducts) {
  TC_NEEDS_NVRTC();
  const auto& [target, type] = GetParam();
  auto square = contiguous(*parse_dtype(type), {4096, 4096});
  for (const std::string operands : orders) {
    auto text = str("def mm(", type, "(N,N) A, ", type, "(N,N) B) -> (C) { C(m,n) +=! ", operands, " }");
    auto stats = kernels_of(text, {square, square}, "", target).at(0);
    SCOPED_TRACE(str(operands, "\n", to_string(stats)));
    if (target == std::string("cuda:sm_90")) {
      EXPECT_EQ(stats.main_loop["HGMMA"], 4);
    } else {
      const auto products = stats.main_loop["HMMA"], fragments = stats.main_loop["LDSM"];
      EXPECT_GT(fragments, 0);
      EXPECT_GE(10 * products, 39 * fragments);
      EXPECT_GE(stats.main_loop_share("HMMA"), operands == orders[1] ? 0.33 : 0.28);
    }
    EXPECT_TRUE(is_wide(stats, "STG"));
    EXPECT_EQ(stats.main_loop["BAR"], 1) << "copies run ahead";
    EXPECT_TRUE(is_wide(stats, "LDGSTS"));
    EXPECT_EQ(stats.spill_store_bytes + stats.spill_load_bytes + stats.stack_bytes, 0);
    EXPECT_LE(stats.registers, 232);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, GateOfUnits,
                         testing::Values(std::pair("cuda:sm_80", "float16"), std::pair("cuda:sm_90", "bfloat16")),
                         [](const auto& info) {
                           return str(std::string(info.param.first).substr(5), "_", info.param.second);
                         });

/// Tiles of 4 x 4: what a thread reads of a swizzled copy side by side is loaded at once, with few instructions for places.
TEST(Gate, ProductsOfSmallTiles) {
  TC_NEEDS_NVRTC();
  auto square = contiguous(DType::Float32, {1024, 1024});
  for (const char* operands : orders) {
    auto text = str("def mm(float(N,N) A, float(N,N) B) -> (C) { C(m,n) +=! ", operands, " }");
    auto stats = kernels_of(text, {square, square}, "register_tile=4x4").at(0);
    EXPECT_GE(stats.main_loop_share("FFMA"), 0.5) << operands << to_string(stats);
    EXPECT_LE(stats.registers, 96) << operands << to_string(stats);
    for (const char* access : {"LDS", "STG"}) EXPECT_TRUE(is_wide(stats, access)) << operands;
    auto chosen = kernels_of(text, {square, square}).at(0);
    EXPECT_EQ(chosen.spill_store_bytes + chosen.spill_load_bytes + chosen.stack_bytes, 0) << to_string(chosen);
    for (const char* access : {"LDS", "STG"}) EXPECT_TRUE(is_wide(chosen, access)) << operands;
  }
}

/// Blocks of rows found through an index tensor are copied as blocks of a matrix are: ahead, 16 bytes at once.
TEST(Gate, ProductOfGatheredRows) {
  TC_NEEDS_NVRTC();
  auto square = contiguous(DType::Float32, {4096, 4096});
  auto kernels = kernels_of("def mm(float(V,K) T, int32(M) I, float(K,N) B) -> (C) { C(m,n) +=! T(I(m),k) * B(k,n) }",
                            {square, contiguous(DType::Int32, {4096}), square});
  ASSERT_EQ(kernels.size(), 2u) << "the check of subscripts, and the product";
  const auto& stats = kernels[1];
  EXPECT_EQ(stats.spill_store_bytes + stats.spill_load_bytes, 0) << to_string(stats);
  EXPECT_GE(stats.main_loop_share("FFMA"), 0.7) << to_string(stats);
  for (const char* access : {"STG", "LDS", "LDGSTS"}) EXPECT_TRUE(is_wide(stats, access)) << access;
  EXPECT_GE(stats.accesses.at("LDG.128"), 1) << to_string(stats);
  EXPECT_LE(stats.registers, 128) << to_string(stats);
  EXPECT_EQ(stats.main_loop.at("BAR"), 1) << "copies run ahead: " << to_string(stats);
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

TEST(Gate, ElementwiseMovesSixteenBytesAtOnce) {
  TC_NEEDS_NVRTC();
  auto square = contiguous(DType::Float32, {4096, 4096});
  auto kernels =
      kernels_of("def add(float(N,M) A, float(N,M) B) -> (C) { C(i,j) = A(i,j) + B(i,j) }", {square, square});
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].accesses.at("LDG.128"), 2) << to_string(kernels[0]);
  EXPECT_EQ(kernels[0].accesses.at("STG.128"), 1) << to_string(kernels[0]);
  for (const char* access : {"LDG", "STG"}) EXPECT_TRUE(is_wide(kernels[0], access)) << access;
}

TEST(Gate, ElementwiseOfAnOddSizeHasVectorsAndARest) {
  TC_NEEDS_NVRTC();
  auto line = contiguous(DType::Float32, {1000003});
  auto kernels = kernels_of("def scale(float(N) A) -> (C) { C(i) = A(i) * 2 }", {line});
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].accesses.at("LDG.128"), 1) << to_string(kernels[0]);
  EXPECT_EQ(kernels[0].accesses.at("STG.128"), 1) << to_string(kernels[0]);
  EXPECT_GE(kernels[0].accesses.at("STG.32"), 1) << to_string(kernels[0]);
}

TEST(Gate, TranspositionMovesSixteenBytesAtOnce) {
  TC_NEEDS_NVRTC();
  auto kernels =
      kernels_of("def transpose(float(N,M) A) -> (B) { B(j,i) = A(i,j) }", {contiguous(DType::Float32, {4096, 4096})});
  ASSERT_EQ(kernels.size(), 1u);
  for (const char* access : {"LDG", "STG"}) EXPECT_TRUE(is_wide(kernels[0], access)) << access;
  EXPECT_EQ(kernels[0].spill_store_bytes + kernels[0].spill_load_bytes + kernels[0].stack_bytes, 0)
      << to_string(kernels[0]);
}

TEST(Gate, AnAccumulatorStaysInARegister) {
  TC_NEEDS_NVRTC();
  auto kernels = kernels_of(
      "def depthwise(float(N,C,H,W) I, float(C,KH,KW) F) -> (O) { O(n,c,h,w) +=! I(n,c,h+kh,w+kw) * F(c,kh,kw) }",
      {contiguous(DType::Float32, {8, 64, 58, 58}), contiguous(DType::Float32, {64, 3, 3})});
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].count("STG"), 1) << to_string(kernels[0]);
}

TEST(Gate, FullTilesHaveAMainLoopOfTheirOwn) {
  TC_NEEDS_NVRTC();
  auto a = contiguous(DType::Float32, {1000, 1024}), b = contiguous(DType::Float32, {1024, 1000});
  auto kernels = kernels_of("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {a, b});
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_GE(kernels[0].main_loop_share("FFMA"), 0.6) << to_string(kernels[0]);
  EXPECT_EQ(kernels[0].spill_store_bytes + kernels[0].spill_load_bytes, 0) << to_string(kernels[0]);
}

}  // namespace
}  // namespace tc::cuda
