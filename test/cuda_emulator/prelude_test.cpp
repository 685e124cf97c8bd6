// The host's prelude: it has every function of the table, and each does what the table says.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tc/cuda/nvrtc.h"
#include "tc/cuda/prelude.h"
#include "test/cuda_emulator/emulator.h"
#include "test/cuda_emulator/prelude_cases.h"
#include "test/support/from_environment.h"

namespace tc::emulator {
namespace {

class HostPrelude : public testing::TestWithParam<PreludeCase> {};

TEST_P(HostPrelude, GivesTheValuesOfItsTable) {
  const auto& one = GetParam();
  alignas(128) static double in[512], out[16384];
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::copy(one.in.begin(), one.in.end(), in);
    std::fill(out, out + one.want.size(), 0);
    RunOptions options;
    options.seed = seed;
    const auto in_count = static_cast<std::int64_t>(one.in.size()),
               out_count = static_cast<std::int64_t>(one.want.size());
    auto result = run({one.text, "check"}, {{one.blocks, 1, 1}, {one.threads, 1, 1}, one.shared_bytes, one.cooperative},
                      {Buffer{"in", {contiguous(DType::Float64, {in_count}), in}, false},
                       Buffer{"out", {contiguous(DType::Float64, {out_count}), out}}},
                      options);
    ASSERT_EQ(result.text(), "") << one.text;
    for (std::size_t i = 0; i < one.want.size(); ++i)
      EXPECT_LE(std::fabs(out[i] - one.want[i]), one.tolerance * (1 + std::fabs(one.want[i])))
          << "out[" << i << "]: " << out[i] << " for " << one.want[i] << "\n"
          << one.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, HostPrelude, testing::ValuesIn(prelude_cases()),
                         [](const auto& info) { return info.param.name; });

/// What runs here is what NVRTC takes, for the oldest or the newest architecture in turn; for both where TC_ALL_RUNS=1.
TEST_P(HostPrelude, IsTheSameTextForTheDevice) {
  if (!cuda::nvrtc_version()) GTEST_SKIP() << "NVRTC is not installed";
  const auto& only = GetParam().architecture;
  const std::string oldest = GetParam().uses_units ? "sm_80" : "sm_75";
  std::vector<std::string> architectures{oldest, "sm_90"};
  if (!only.empty())
    architectures = {only};
  else if (test::from_environment("TC_ALL_RUNS", 0) == 0)
    architectures = {architectures[GetParam().name.size() % 2]};
  for (const auto& architecture : architectures) EXPECT_EQ(cuda::compile_cubin(GetParam().text, architecture).log, "");
}

TEST(HostPrelude, HasACaseForEveryFunction) {
  std::set<std::string, std::less<>> covered;
  for (const auto& one : prelude_cases())
    for (const auto& function : one.functions) {
      EXPECT_NE(one.text.find(function), std::string::npos) << function;
      covered.insert(function);
    }
  for (const auto& function : cuda::prelude_functions()) EXPECT_TRUE(covered.contains(function.name)) << function.name;
  for (const auto& function : cuda::native_functions()) EXPECT_TRUE(covered.contains(function)) << function;
}

}  // namespace

void PrintTo(const PreludeCase& one, std::ostream* out) { *out << one.name; }

}  // namespace tc::emulator
