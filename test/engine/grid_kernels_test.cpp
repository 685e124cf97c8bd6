#include "tc/engine/compile/grid_kernels.h"
#include "test/engine/engine_fixture.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"

namespace tc::engine {
namespace {

/// Sums of rows, then of columns: kernels with blocks of two sizes.
CompileState mapped(bool cooperative) {
  auto function = define("def f(float(N,M) A) -> (S, B) { S(i) +=! A(i,j)\n B(j,i) = A(i,j) - S(i) }").functions.at(0);
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  options.mapping = options::MappingOptions::parse("fusion=min").with_cooperative(cooperative);
  return map_launches(function, make_arguments(*function, {contiguous(DType::Float32, {5000, 300})}, {}), options);
}

using Extents = std::array<std::int64_t, 3>;

/// The grid and the block of each kernel.
std::vector<std::pair<Extents, Extents>> shapes(const LaunchState& launch) {
  std::vector<std::pair<Extents, Extents>> result;
  for (const auto& kernel : kernels_of(launch)) result.emplace_back(kernel.grid, kernel.block);
  return result;
}

std::int64_t volume(const Extents& extents) { return extents[0] * extents[1] * extents[2]; }

TEST(JoinPhases, GivesAllKernelsAsManyThreads) {
  auto several = mapped(false), joined = mapped(true);
  const auto& launch = joined.launches.at(0).grid();
  ASSERT_TRUE(launch.phases);
  bool wider = false;
  for (std::size_t i = 0; i < launch.kernels.size(); ++i) {
    EXPECT_GE(volume(launch.kernels[i].kernel->block), launch.phases->threads);
    wider = wider || launch.kernels[i].kernel->block != several.launches.at(0).grid().kernels[i].kernel->block;
  }
  EXPECT_TRUE(wider) << "there was nothing to do";
}

/// The rest of a compile sees kernels as they were mapped, not halfway to phases.
TEST(JoinPhases, LeavesKernelsAsTheyAreWhereTheQuotaRunsOut) {
  auto state = mapped(false);
  auto& launch = state.launches.at(0);
  auto before = shapes(launch);
  const auto nests = launch.grid().nests;
  state.mapping.quota = 100;
  for (auto& each : launch.grid().nests) each.plain = each.nest;
  join_phases(state, launch);
  EXPECT_FALSE(launch.grid().phases);
  ASSERT_FALSE(state.fallbacks.empty());
  EXPECT_EQ(state.fallbacks.back(), "map ran out of its quota of 100 isl operations: there are several kernels");
  EXPECT_EQ(shapes(launch), before);
  for (std::size_t i = 0; i < nests.size(); ++i) EXPECT_EQ(launch.grid().nests.at(i).nest, nests[i].nest);
}

/// Lanes of a vector that belong to one thread's accumulator are one sum, whatever expression finds that.
TEST(ReduceInBlock, FewThreadsKeepTheLaws) {
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  options.stages.verify = true;
  for (const std::string op : {"+=!", "min=!"})
    for (const char* block : {"block=6", "block=8"}) {
      const auto function = define("def f(float(N) X) -> (m) { m " + op + " X(i) }").functions.at(0);
      options.mapping = options::MappingOptions::parse(block);
      try {
        compile(function, {contiguous(DType::Float32, {200})}, {}, options);
      } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
      } catch (const Error& error) {
        ADD_FAILURE() << op << " " << block << ": " << error.what();
      }
    }
}

}  // namespace
}  // namespace tc::engine
