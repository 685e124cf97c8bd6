// What the cache has for GPUs: options of one machine for another, code of one driver for another, on a driver that only
// writes its calls down.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tc/cache/maintain.h"
#include "tc/cuda/nvrtc.h"
#include "tc/engine/engine.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/engine/persistent.h"
#include "tc/engine/recheck.h"
#include "test/cache/cache_fixture.h"
#include "test/cuda/compiled.h"

namespace tc::engine {
namespace {

/// A cache of options and code in a folder of its own, and compiles with it for GPUs.
class GpuCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TC_CUDA_DRIVER", TC_FAKE_DRIVER, 1);
    cache::CacheSettings settings;
    settings.folder = folder_ / "cache";
    cache_ = std::make_shared<cache::Cache>(settings);
  }
  void put(const char* target, const char* options, double nanoseconds, const char* machine) {
    auto entry = options_entry(*function_, make_arguments(*function_, inputs_, {}), Target::parse(target),
                               options::MappingOptions::parse(options));
    entry.measured = cache::measurement_here();
    entry.measured->machine = machine;
    entry.measured->median_ns = nanoseconds;
    ASSERT_TRUE(cache_->put(entry));
  }
  std::shared_ptr<const Executable> executable(const char* target, const std::set<std::string>& unaligned = {}) {
    CompileOptions options;
    options.target = Target::parse(target);
    options.mapping_from = MappingFrom::Cached;
    options.cache = cache_;
    options.unaligned = unaligned;
    ExecutableCache of_this_process;
    return compile_cached(of_this_process, function_, inputs_, {}, options);
  }
  std::string used(const char* target) { return executable(target)->image().options; }

  cache::TemporaryFolder folder_;
  std::shared_ptr<cache::Cache> cache_;
  std::shared_ptr<const Function> function_ =
      define("def f(float(N) A) -> (B) { B(i) = A(i) + 1 }", "<test>").functions.back();
  std::vector<TensorSpec> inputs_{contiguous(DType::Float32, {4096})};
};

TEST_F(GpuCacheTest, OptionsAreThoseOfTheNearestMachineOfTheArchitecture) {
  TC_NEEDS_NVRTC();
  put("cuda:sm_80", "block=32", 1, "A");
  EXPECT_EQ(used("cuda:sm_90,multiprocessors=114"), "");
  put("cuda:sm_90", "block=64", 100, "B");
  EXPECT_EQ(used("cuda:sm_90,multiprocessors=114"), "block=64");
  put("cuda:sm_90,multiprocessors=60", "block=128", 1, "C");
  EXPECT_EQ(used("cuda:sm_90,multiprocessors=114"), "block=64");
  EXPECT_EQ(used("cuda:sm_90,multiprocessors=64"), "block=128");
  put("cuda:sm_90,multiprocessors=114", "block=256", 1000, "D");
  EXPECT_EQ(used("cuda:sm_90,multiprocessors=114"), "block=256");
}

TEST_F(GpuCacheTest, OptionsMeasuredOnThisGpuGoBeforeThoseOfAnotherWithAsManyProcessors) {
  TC_NEEDS_NVRTC();
  EXPECT_EQ(circumstances_here(Target::parse("cuda:sm_90")), (cache::Circumstances{"Fake 132", 0}));
  EXPECT_EQ(circumstances_here(Target::parse("cuda:sm_90,multiprocessors=114")), (cache::Circumstances{"Fake 114", 0}));
  EXPECT_EQ(circumstances_here(Target::parse("cuda:sm_80")), cache::Circumstances());
  put("cuda:sm_90", "block=64", 1, "Another 132");
  EXPECT_EQ(used("cuda:sm_90"), "block=64");
  put("cuda:sm_90", "block=128", 100, "Fake 132");
  EXPECT_EQ(used("cuda:sm_90"), "block=128");
}

TEST_F(GpuCacheTest, CodeIsOfItsToolsAndOfItsAlignment) {
  TC_NEEDS_NVRTC();
  auto target = Target::parse("cuda:sm_90");
  EXPECT_EQ(machine_kind_of(target).code_tools(), "nvrtc " + *cuda::nvrtc_version() + ", driver 13.0");
  EXPECT_EQ(machine_kind_of(Target::parse("cpu")).code_tools(), "");
  EXPECT_FALSE(executable("cuda:sm_90")->stats().from_cache);
  EXPECT_TRUE(executable("cuda:sm_90")->stats().from_cache);
  EXPECT_FALSE(executable("cuda:sm_90", {"A"})->stats().from_cache);
  EXPECT_TRUE(executable("cuda:sm_90", {"A"})->stats().from_cache);
  auto entries = cache::list_code(folder_ / "cache");
  ASSERT_EQ(entries.size(), 2u);
  for (auto& stored : entries) {
    EXPECT_EQ(stored.entry.key.tools, machine_kind_of(target).code_tools());
    EXPECT_EQ(recheck(stored.entry), "");
    stored.entry.key.tools = "nvrtc 1.0";
    EXPECT_NE(recheck(stored.entry).find("made with nvrtc 1.0"), std::string::npos) << recheck(stored.entry);
    EXPECT_FALSE(cache_->find_code(stored.entry.key, stored.entry.options, stored.entry.source));
  }
}

}  // namespace
}  // namespace tc::engine
