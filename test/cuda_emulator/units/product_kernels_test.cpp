// Products by matrix instructions, written by hand: right ones of every type, and one fault at a time in them.

#include "test/cuda_emulator/units/product_kernels.h"

#include <gtest/gtest.h>

#include "tc/cuda/nvrtc.h"

namespace tc::emulator {
namespace {

const UnitProduct products[] = {
    {DType::BFloat16, "tc_multiply_m16n8k16_bf16", true}, {DType::BFloat16, "tc_multiply_m16n8k16_bf16", false},
    {DType::Float16, "tc_multiply_m16n8k16_f16", true},   {DType::Float16, "tc_multiply_m16n8k16_f16", false},
    {DType::Float32, "tc_multiply_m16n8k8_tf32", true},   {DType::Int8, "tc_multiply_m16n8k32_s8", true},
    {DType::UInt8, "tc_multiply_m16n8k32_u8", true},
};

class UnitProducts : public testing::TestWithParam<UnitProduct> {};

TEST_P(UnitProducts, AreRight) {
  const auto sample = unit_product(GetParam());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto outcome = run_sample(sample, seed);
    EXPECT_EQ(outcome.result.text(), "") << "seed " << seed;
    EXPECT_EQ(outcome.wrong_value.value_or(""), "") << "seed " << seed;
  }
}

TEST_P(UnitProducts, AreTakenByTheCompilerOfDevices) {
  if (!cuda::nvrtc_version()) GTEST_SKIP() << "NVRTC is not installed";
  for (const char* architecture : {"sm_80", "sm_90"})
    EXPECT_EQ(cuda::compile_cubin(unit_product(GetParam()).kernel.text, architecture).log, "");
}

INSTANTIATE_TEST_SUITE_P(Table, UnitProducts, testing::ValuesIn(products), [](const auto& info) {
  return info.param.multiply.substr(12) + (info.param.transposed_b ? "_nt" : "_nn");
});

using Kind = Fault::Kind;

struct UnitFault {
  const char* name;
  const char *from, *to;
  std::optional<Kind> kind;  ///< none: only the values are wrong
  const char* text = "";     ///< part of the report
  bool transposed_b = true;
};

const UnitFault unit_faults[] = {
    {"TransposedFragment", "tc_load_matrix_4(a,", "tc_load_matrix_4_transposed(a,", std::nullopt},
    {"FragmentThatIsNotTransposed", "tc_load_matrix_4_transposed(b", "tc_load_matrix_4(b", std::nullopt, "", false},
    {"HalvesOfStepsSwapped", "32 * half + matrix / 2 * 16", "32 * half + (1 - matrix / 2) * 16", std::nullopt},
    {"HalvesOfRowsSwapped", "row + matrix % 2 * 8) + 32 * half", "row + (1 - matrix % 2) * 8) + 32 * half",
     std::nullopt},
    {"MatricesOfBInAnotherOrder", "row + matrix / 2 * 8) + 32 * half + matrix % 2 * 16",
     "row + matrix % 2 * 8) + 32 * half + matrix / 2 * 16", std::nullopt},
    {"OneRowForAll", "16 * thread_z + row + matrix", "16 * thread_z + matrix", std::nullopt},
    {"AccumulatorsSwapped", "acc[0][2 * n + 1], acc[1][2 * n],", "acc[1][2 * n], acc[0][2 * n + 1],", std::nullopt},
    {"FragmentsOfAnotherColumn", "a, b + 2 * n)", "a, b + 2 * (n ^ 1))", std::nullopt},
    {"FragmentThatNothingLoaded", "pair < 2", "pair < 1", std::nullopt},
    {"SwizzleOnOneSide", "tc_copy_async_16_part(slot + swizzle(64 * row + byte)",
     "tc_copy_async_16_part(slot + 64 * row + byte", std::nullopt},
    {"StepsLost", "half < 2", "half < 1", std::nullopt},
    {"GarbageInThePlaceOfZeros", "64 * block + byte, left);", "64 * block + byte, 16);", std::nullopt},
    {"RowBehindTheLast", "32 * block + row < K ? 16 : 0", "16", Kind::OutOfBounds, "behind the end of B", false},
    {"MissingLane", "MULTIPLY(acc", "if (thread % 32 != 9) MULTIPLY(acc", Kind::DivergentCollective,
     "wait at the matrix unit in line"},
    {"MissingWarpOfALoad", "tc_load_matrix_4(a,", "if (thread % 8 < 7) tc_load_matrix_4(a,", Kind::DivergentCollective,
     "wait at the matrix unit in line"},
    {"LaneThatHasReturned", "    copies(block + 2);\n",
     "    copies(block + 2);\n    if (block == blocks - 1 && thread == 40) return;\n", Kind::Shuffle,
     "without all of its lanes"},
    {"TwoFunctionsInOneLine", "MULTIPLY(acc[0][2 * n]",
     "if (thread % 32 < 16) tc_multiply_m16n8k16_f16(acc[0][0], acc[0][1], acc[1][0], acc[1][1], a, b); else "
     "MULTIPLY(acc[0][2 * n]",
     Kind::DivergentCollective, "calls another function of matrices"},
    {"MisalignedRow", "tc_load_matrix_4(a, slot + ", "tc_load_matrix_4(a, slot + 8 + ", Kind::Misaligned,
     "shared shared["},
    {"RowOutsideOfSharedMemory", "tc_load_matrix_4(a, slot + swizzle(", "tc_load_matrix_4(a, A + (", Kind::OutOfBounds,
     "a matrix from outside the shared memory"},
    {"RowBehindSharedMemory", "shared + block % 3 * 4096;\n    const int row",
     "shared + 12288 + block % 3 * 4096;\n    const int row", Kind::OutOfBounds, "behind the end of shared shared"},
    {"DroppedWait", "    tc_copy_wait<1>();\n", "", Kind::Race, "to which a copy is in flight"},
    {"WaitForOneGroupTooFew", "tc_copy_wait<1>", "tc_copy_wait<2>", Kind::Race, "to which a copy is in flight"},
    {"MissingBarrier", "    tc_barrier();\n", "", Kind::Race, "shared shared["},
    {"SlotOfAnotherBlock", "shared + block % 3 * 4096;\n    const int row",
     "shared + (block + 1) % 3 * 4096;\n    const int row", Kind::Race, "to which a copy is in flight"},
    {"TooFewSlots", "block % 3", "block % 2", Kind::Race, "shared shared["},
    {"BarrierOfTheWarpOnly", "    tc_barrier();\n", "    tc_warp_barrier();\n", Kind::Race,
     "and nothing orders the two"},
};

void PrintTo(const UnitFault& fault, std::ostream* out) { *out << "'" << fault.from << "' -> '" << fault.to << "'"; }

class UnitFaults : public testing::TestWithParam<UnitFault> {};

TEST_P(UnitFaults, AreReported) {
  const auto& fault = GetParam();
  const auto right = unit_product({DType::BFloat16, "tc_multiply_m16n8k16_bf16", fault.transposed_b});
  const auto sample = with_change(right, fault.from, fault.to);
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto outcome = run_sample(sample, seed);
    const auto& found = outcome.result.faults;
    if (!fault.kind) {
      EXPECT_EQ(outcome.result.text(), "");
      EXPECT_TRUE(outcome.wrong_value) << "seed " << seed << ": the values are right";
      continue;
    }
    ASSERT_FALSE(found.empty()) << "seed " << seed << ": nothing reported";
    EXPECT_EQ(name(found[0].kind), name(*fault.kind)) << outcome.result.text();
    EXPECT_NE(found[0].text.find(fault.text), std::string::npos) << found[0].text;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, UnitFaults, testing::ValuesIn(unit_faults),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace

void PrintTo(const UnitProduct& product, std::ostream* out) { *out << product.multiply; }

}  // namespace tc::emulator
