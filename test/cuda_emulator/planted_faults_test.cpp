// Each row changes a right kernel by one fault that a compiler could make, and says how it must be reported.

#include <gtest/gtest.h>

#include "test/cuda_emulator/sample_kernels.h"

namespace tc::emulator {
namespace {

using Kind = Fault::Kind;

struct Planted {
  const char* name;
  Sample (*sample)();
  const char *from, *to;
  std::optional<Kind> kind;  ///< none: only the values are wrong
  const char* text;          ///< part of the report
};

const Planted faults[] = {
    {"MissingBarrier", sgemm, "    __syncthreads();\n    for (int k = 0", "    for (int k = 0", Kind::Race,
     "and nothing orders the two"},
    {"MissingBarrierAtTheEndOfALoop", sgemm, "    }\n    __syncthreads();\n", "    }\n", Kind::Race, "in line 1"},
    {"UnprotectedScratchReuse", softmax, "  __syncthreads();\n  return value;", "  return value;", Kind::Race,
     "shared scratch + "},
    {"WrongPad", transpose, "tile[32][33];", "tile[32][31];", Kind::Race, "shared tile + "},
    {"OffByOneCopy", sgemm, "k0 + tx < K ? A", "k0 + tx <= K ? A", std::nullopt, ""},
    {"CopyOneRowLess", transpose, "r < 32; r += 8)\n    if (y0", "r < 31; r += 8)\n    if (y0", std::nullopt, ""},
    {"WrongShuffleMask", softmax, "__shfl_xor_sync(0xffffffff, value, step));",
     "__shfl_xor_sync(0x0fffffff, value, step));", Kind::Shuffle, "0xfffffff, in which its own lane"},
    {"ShuffleFromALaneThatDoesNotCall", softmax, "value += __shfl_xor_sync(0xffffffff, value, step);",
     "if (threadIdx.x % 32 < 24) value += __shfl_xor_sync(0x00ffffff, value, step);", Kind::Shuffle,
     "does not take part"},
    {"DivergentShuffle", softmax, "value += __shfl_xor_sync(0xffffffff, value, step);",
     "if (threadIdx.x < 40) value += __shfl_xor_sync(0xffffffff, value, step);", Kind::DivergentCollective,
     "wait at the shuffle in line 1"},
    {"MissingGuardOnAPartialTile", sgemm, "if (row < M)\n", "", Kind::OutOfBounds, "behind the end of C"},
    {"MissingGuardOnARead", transpose, "if (y0 + r < 70 && x0 + threadIdx.x < 45) ", "", Kind::OutOfBounds,
     "bytes behind the end of X"},
    {"Overflow", far_rows, "(long long)row * 1000000000", "row * 1000000000", Kind::OutOfBounds,
     "before the begin of X"},
    {"SwappedThreadDimensions", transpose, "const int x0",
     "const uint3 threadIdx = {tc_emulator_thread.y, tc_emulator_thread.x, 0};\n  const int x0", std::nullopt, ""},
    {"SwappedThreadDimensionsInATile", sgemm, "tx = threadIdx.x, ty = threadIdx.y",
     "tx = threadIdx.x / 2, ty = threadIdx.y", Kind::Race, ""},
    {"WrongGridStride", two_stage_sum, "i += gridDim.x * blockDim.x", "i += blockDim.x", std::nullopt, ""},
    {"WrongBlockStride", transpose, "(x0 + r) * 70 + y0", "(x0 + r) * 70 + y0 / 2", Kind::Race, "Y("},
    {"StaleRegister", carried, "    last = next;\n", "", std::nullopt, ""},
    {"WaitForOneGroupTooFew", pipeline, "tc_copy_wait<1>", "tc_copy_wait<2>", Kind::Race,
     "to which a copy is in flight"},
    {"DroppedWait", pipeline, "    tc_copy_wait<1>();\n", "", Kind::Race, "to which a copy is in flight"},
    {"MissingBarrierInAPipeline", pipeline, "    tc_barrier();\n", "", Kind::Race, "and nothing orders the two"},
    {"TooFewStages", pipeline, "step % 3", "step % 2", Kind::Race, "shared stage["},
    {"DivergentBarrier", softmax, "  largest = block_max(", "  if (threadIdx.x < 36) largest = block_max(",
     Kind::DivergentCollective, "lanes"},
    {"BarrierInOneBranch", two_stage_sum,
     "    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];\n    __syncthreads();",
     "    if (threadIdx.x < half) { scratch[threadIdx.x] += scratch[threadIdx.x + half]; __syncthreads(); }",
     Kind::DivergentBarrier, "is at the barrier in line 10"},
    {"ReturnBeforeABarrier", transpose, "  __syncthreads();", "  if (threadIdx.x == 31) return;\n  __syncthreads();",
     Kind::Deadlock, "have returned"},
    {"BarriersOfTwoBranches", two_stage_sum, "  scratch[threadIdx.x] = sum;\n  __syncthreads();",
     "  scratch[threadIdx.x] = sum;\n  if (threadIdx.x < 32) __syncthreads();\n  else\n    __syncthreads();",
     Kind::DivergentBarrier, "is at the barrier in line"},
    {"MissingFence", two_stage_sum, "    partial[blockIdx.x] = scratch[0];\n    __threadfence();\n",
     "    partial[blockIdx.x] = scratch[0];\n", Kind::Race, "partial("},
    {"NoTicket", two_stage_sum, "last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;", "last = true;", Kind::Race,
     "partial("},
    {"MissingGridBarrier", neighbours,
     "    own[63 - t] += left[before * 64 + 63 - t] + left[after * 64 + 63 - t];\n    tc_grid_barrier(word);",
     "    own[63 - t] += left[before * 64 + 63 - t] + left[after * 64 + 63 - t];\n    tc_barrier();", Kind::Race,
     "of block ("},
    {"GridBarrierOfSomeThreads", neighbours, "  for (int round", "  if (t >= 40) return;\n  for (int round",
     Kind::Deadlock, "threads 0-39 wait at the barrier of the grid"},
    {"BlockThatReturnsBeforeAGridBarrier", neighbours, "  for (int round", "  if (b == 2) return;\n  for (int round",
     Kind::Deadlock, "the others have returned"},
    {"GridBarrierOnAWordInUse", neighbours, "  own[t] = X", "  if (t == 0) atomicAdd(word, 1);\n  own[t] = X",
     Kind::Launch, "at its first use"},
    {"BlocksThatOverlap", softmax, "Y[100 * blockIdx.x + j]", "Y[99 * blockIdx.x + j]", Kind::Race, "of block ("},
    {"Misaligned", sgemm, "&b[k][4 * tx]", "&b[k][3 * tx]", Kind::Misaligned, "shared b + "},
    {"WrittenInput", carried, "const float* __restrict__ X", "float* __restrict__ X", std::nullopt, nullptr},
    {"WriteToAnInput", carried, "    last = next;\n", "    last = next;\n    const_cast<float*>(X)[t * 10] = 0;\n",
     Kind::ReadOnly, "X("},
    {"TooMuchDynamicSharedMemory", pipeline, "(0, 768)", "(128, 768)", Kind::Launch, "up to byte 3200"},
    {"LaunchBounds", softmax, "__launch_bounds__(64)", "__launch_bounds__(32)", Kind::Launch, "__launch_bounds__(32)"},
    {"BeyondASharedArray", pipeline, "(0, 768)", "(0, 767)", Kind::OutOfBounds,
     "across the end of shared stage, from shared stage[764]"},
    {"BeyondSharedMemory", pipeline, "64 * row + t]", "64 * row + t + 768]", Kind::OutOfBounds,
     "behind the end of shared stage"},
};

void PrintTo(const Planted& planted, std::ostream* out) {
  *out << "'" << planted.from << "' -> '" << planted.to << "'";
}

class PlantedFaults : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFaults, AreReported) {
  const auto& planted = GetParam();
  auto sample = with_change(planted.sample(), planted.from, planted.to);
  const bool harmless = planted.text == nullptr;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto outcome = run_sample(sample, seed);
    const auto& faults = outcome.result.faults;
    if (harmless) {
      EXPECT_EQ(outcome.result.text(), "");
      EXPECT_FALSE(outcome.wrong_value) << *outcome.wrong_value;
    } else if (planted.kind) {
      ASSERT_FALSE(faults.empty()) << "seed " << seed << ": nothing reported";
      EXPECT_EQ(name(faults[0].kind), name(*planted.kind)) << outcome.result.text();
      EXPECT_NE(faults[0].text.find(planted.text), std::string::npos) << faults[0].text;
    } else {
      EXPECT_TRUE(outcome.wrong_value) << "seed " << seed << ": the values are right";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, PlantedFaults, testing::ValuesIn(faults),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tc::emulator
