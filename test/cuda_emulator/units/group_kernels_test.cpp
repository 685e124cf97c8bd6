// Products of groups of warps, written by hand: right ones in every order of operands, and one fault at a time in them.

#include "test/cuda_emulator/units/group_kernels.h"

#include <gtest/gtest.h>

#include "tc/base/str.h"
#include "tc/cuda/cubin.h"
#include "tc/cuda/nvrtc.h"

namespace tc::emulator {
namespace {

const GroupProductKernel group_kernels[] = {
    {DType::BFloat16, 64, false, false}, {DType::BFloat16, 128, false, true}, {DType::BFloat16, 64, true, false},
    {DType::BFloat16, 192, true, true},  {DType::Float16, 256, false, false}, {DType::Float16, 64, true, true},
};

std::string name_of(const GroupProductKernel& product) {
  return str(product.operand == DType::BFloat16 ? "bf16_" : "f16_", product.columns, product.transposed_a ? "_t" : "_n",
             product.transposed_b ? "n" : "t");
}

class GroupProductKernels : public testing::TestWithParam<GroupProductKernel> {};

TEST_P(GroupProductKernels, AreRight) {
  const auto sample = group_product(GetParam());
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto outcome = run_sample(sample, seed);
    EXPECT_EQ(outcome.result.text(), "") << "seed " << seed;
    EXPECT_EQ(outcome.wrong_value.value_or(""), "") << "seed " << seed;
  }
}

/// The compiler of devices would say where products wait for each other (C7510).
TEST_P(GroupProductKernels, AreTakenByTheCompilerOfDevices) {
  if (!cuda::nvrtc_version()) GTEST_SKIP() << "NVRTC is not installed";
  const auto cubin = cuda::compile_cubin(group_product(GetParam()).kernel.text, "sm_90a");
  EXPECT_EQ(cubin.log, "");
  const auto kernels = cuda::read_cubin(cubin.bytes);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_GE(kernels[0].count("HGMMA"), 4) << to_string(kernels[0]);
  EXPECT_EQ(kernels[0].spill_store_bytes + kernels[0].stack_bytes, 0) << to_string(kernels[0]);
}

INSTANTIATE_TEST_SUITE_P(Table, GroupProductKernels, testing::ValuesIn(group_kernels),
                         [](const auto& info) { return name_of(info.param); });

using Kind = Fault::Kind;

struct GroupFault {
  const char* name;
  const char *from, *to;
  std::optional<Kind> kind;  ///< none: only the values are wrong
  const char* text = "";     ///< part of the report
  bool transposed = false;
};

const GroupFault group_faults[] = {
    {"LostWaitForProducts", "  tc_unit_wait<0>();\n", "", Kind::Unit, "while products of it are under way"},
    {"WaitForOneGroupTooFew", "tc_unit_wait<0>", "tc_unit_wait<1>", Kind::Unit, "while products of it are under way"},
    {"SlotIsWrittenWhileItIsRead", "tc_unit_wait<1>", "tc_unit_wait<3>", Kind::Race, "to which a copy is in flight"},
    {"TooFewSlots", "block % SLOTS", "block % 2", Kind::Race, "shared array"},
    {"LostFenceForUnits", "    tc_proxy_fence();\n", "", Kind::Race, "without a fence for units behind it"},
    {"FenceBeforeTheCopiesAreThere", "    tc_copy_wait<1>();\n    tc_proxy_fence();\n",
     "    tc_proxy_fence();\n    tc_copy_wait<1>();\n", Kind::Race, "without a fence for units behind it"},
    {"FenceBehindTheBarrier", "    tc_proxy_fence();\n    tc_barrier();\n",
     "    tc_barrier();\n    tc_proxy_fence();\n", Kind::Race, "without a fence for units behind it"},
    {"LostWaitForCopies", "    tc_copy_wait<1>();\n", "", Kind::Race, "to which a copy is in flight"},
    {"LostBarrier", "    tc_barrier();\n", "", Kind::Race, "shared array"},
    {"LostBegin", "    tc_unit_begin();\n", "", Kind::Unit, "without tc_unit_begin"},
    {"LostCommit", "    tc_unit_commit();\n", "", Kind::Unit, "while products of it are under way"},
    {"SumsAreReadWhileTheyChange", "  tc_unit_wait<0>();\n",
     "  const float early = acc[0];\n  tc_unit_wait<0>();\n  acc[0] = early;\n", std::nullopt},
    {"SumsAreWrittenWhileTheyChange", "    tc_unit_wait<1>();\n", "    acc[3] = 0;\n    tc_unit_wait<1>();\n",
     Kind::Unit, "to which a product under way adds"},
    {"GroupOfThreeWarps", "      MULTIPLY<", "      if (thread / 32 != 2) MULTIPLY<", Kind::DivergentCollective,
     "for other products than"},
    {"MissingLane", "      MULTIPLY<", "      if (thread % 32 != 9) MULTIPLY<", Kind::DivergentCollective, ""},
    {"GroupsOfOtherRows", "tc_uniform(thread_y / 32)", "thread_y / 8", Kind::Race, "shared array"},
    {"RowsOfTheOtherGroup", "tc_uniform(thread_y / 32)", "1 - tc_uniform(thread_y / 32)", std::nullopt},
    {"SwizzleOnOneSide", "block_B + swizzle(", "block_B + (", std::nullopt},
    {"AnotherStride", "tc_matrix(block_A, 0, 1024)", "tc_matrix(block_A, 0, 2048)", Kind::Race, "shared array"},
    {"AnotherLeadingStride", "TRANSPOSED_B * SLOTS * 8192", "TRANSPOSED_B * 8192", Kind::Race, "shared array", true},
    {"OperandThatIsNotTransposed", "TRANSPOSED_A, TRANSPOSED_B>", "TRANSPOSED_A, 0>", Kind::Race, "shared array", true},
    {"StepsInAnotherOrder", "k * (TRANSPOSED_A ? 128 : 2)", "(3 - k) * (TRANSPOSED_A ? 128 : 2)", std::nullopt},
    {"MatrixBehindSharedMemory", "tc_matrix(block_B,", "tc_matrix(block_B + SLOTS * COLUMNS * 64,", Kind::OutOfBounds,
     "outside the dynamic shared memory"},
    {"MatrixThatIsNotAligned", "tc_matrix(block_B,", "tc_matrix(block_B + 4,", Kind::Misaligned, "aligned to 16 bytes"},
    {"MatrixInMemory", "tc_matrix(block_B,", "tc_matrix(B,", Kind::OutOfBounds, "outside the dynamic shared memory"},
};

void PrintTo(const GroupFault& fault, std::ostream* out) { *out << "'" << fault.from << "' -> '" << fault.to << "'"; }

class GroupFaults : public testing::TestWithParam<GroupFault> {};

TEST_P(GroupFaults, AreReported) {
  const auto& fault = GetParam();
  const auto right = group_product({DType::BFloat16, fault.transposed ? 128 : 64, fault.transposed, fault.transposed});
  const auto outcome = run_sample(with_change(right, fault.from, fault.to), 1);
  const auto& found = outcome.result.faults;
  if (!fault.kind) {
    EXPECT_EQ(outcome.result.text(), "");
    EXPECT_TRUE(outcome.wrong_value) << "the values are right";
    return;
  }
  ASSERT_FALSE(found.empty()) << "nothing reported";
  EXPECT_EQ(name(found[0].kind), name(*fault.kind)) << outcome.result.text();
  EXPECT_NE(found[0].text.find(fault.text), std::string::npos) << found[0].text;
}

INSTANTIATE_TEST_SUITE_P(Table, GroupFaults, testing::ValuesIn(group_faults),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace

void PrintTo(const GroupProductKernel& product, std::ostream* out) { *out << name_of(product); }

}  // namespace tc::emulator
