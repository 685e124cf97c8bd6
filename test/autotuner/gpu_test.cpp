// Tuning for GPUs, on a driver whose kernels copy their first tensor to their last one and are the faster the more
// threads a block has (test/cuda/fake_driver.cpp).

#include <set>

#include "tc/autotuner/worker/device.h"
#include "tc/base/error.h"
#include "tc/cache/maintain.h"
#include "test/cuda/compiled.h"
#include "test/support/expect_error.h"
#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

constexpr const char* copy_text = "def copy(float(N) A) -> (B) { B(i) = A(i) }";

TuneSettings on_gpus(int candidates) {
  auto settings = quick(candidates);
  settings.target = Target::parse("cuda:sm_90");
  settings.starts = {options::MappingOptions::parse("block=1024"), options::MappingOptions::parse("block=8")};
  return settings;
}

TuneResult tuned(const TuneSettings& settings) {
  Inputs inputs({contiguous(DType::Float32, {4096})});
  return tune(function_of(copy_text), inputs.views(), {}, settings);
}

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TC_CUDA_DRIVER", TC_FAKE_DRIVER, 1);
    ::setenv("TC_FAKE_COPIES", "1", 1);
    ::unsetenv("TC_FAKE_FAULTY_DEVICE");
  }
};

// The first of this program: a driver that was found stays.
TEST(GpuMissing, IsAnErrorThatSaysSo) {
  ::setenv("TC_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
  try {
    tuned(on_gpus(4));
    ADD_FAILURE() << "there is no device";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("no CUDA driver was found"), std::string::npos) << error.what();
  }
}

TEST_F(Gpu, AreFoundByArchitecture) {
  EXPECT_EQ(find_gpus(Target::parse("cuda:sm_90"), {}), (std::vector{0, 1}));
  EXPECT_EQ(find_gpus(Target::parse("cuda:sm_90"), {1}), std::vector{1});
  EXPECT_ERROR(find_gpus(Target::parse("cuda:sm_90"), {7}), OptionsError,
               "device 7 is no sm_90 of this machine; there are 0, 1");
  EXPECT_ERROR(find_gpus(Target::parse("cuda:sm_90"), {1, 0, 1}), OptionsError,
               "device 1 is given twice: a GPU measures one candidate at a time");
  EXPECT_ERROR(
      find_gpus(Target::parse("cuda:sm_80"), {}), DeviceError,
      "tuning for cuda:sm_80,multiprocessors=108 needs a GPU of that architecture; this machine has sm_90, sm_90");
}

TEST_F(Gpu, MeasureAtOnceAndTheFastestBlockWins) {
  TC_NEEDS_NVRTC();
  auto result = tuned(on_gpus(12));
  EXPECT_EQ(result.stop, Stop::Candidates);
  EXPECT_EQ(result.best.options.values().block[0], 1024) << result.best.options.to_text();
  EXPECT_GT(result.speedup(), 1.5);
  EXPECT_TRUE(result.executable->image().is_for_gpu());
  std::set<int> devices;
  for (const auto& candidate : result.candidates) {
    EXPECT_TRUE(candidate.usable() || candidate.status == Status::Slow)
        << candidate.options.to_text() << ": " << name(candidate.status) << " " << candidate.note;
    devices.insert(candidate.device);
  }
  EXPECT_EQ(devices, (std::set{0, 1}));
}

TEST_F(Gpu, ThatFaultsCostsItsCandidatesOnly) {
  TC_NEEDS_NVRTC();
  ::setenv("TC_FAKE_FAULTY_DEVICE", "1", 1);
  auto result = tuned(on_gpus(12));
  EXPECT_EQ(result.stop, Stop::Candidates);
  EXPECT_GE(result.speedup(), 1);
  int faulted = 0;
  for (const auto& candidate : result.candidates) {
    if (candidate.device == 1 && candidate.status != Status::Same) {
      EXPECT_EQ(candidate.status, Status::Crashed) << candidate.note;
    }
    faulted += candidate.status == Status::Crashed && candidate.note.find("ILLEGAL_ADDRESS") != std::string::npos;
  }
  EXPECT_GT(faulted, 0);
}

TEST_F(Gpu, ThatComputesNothingIsNoticed) {
  TC_NEEDS_NVRTC();
  ::unsetenv("TC_FAKE_COPIES");
  EXPECT_ERROR(tuned(on_gpus(2)), InternalError,
               "'copy' with the default options differs from its reference: 'B': element 0 is -nan instead of -6");
}

TEST_F(Gpu, WinnersAreKept) {
  TC_NEEDS_NVRTC();
  Folder folder;
  auto settings = on_gpus(6);
  settings.devices = {1};
  settings.cache = cache_in(folder.path() + "/cache");
  auto result = tuned(settings);
  EXPECT_TRUE(result.kept);
  for (const auto& candidate : result.candidates) EXPECT_NE(candidate.device, 0);
  auto kept = cache::list_options(settings.cache->settings().folder);
  ASSERT_EQ(kept.size(), 1u);
  ASSERT_TRUE(kept[0].entry.measured);
  EXPECT_EQ(kept[0].entry.measured->machine, "Fake 114");
}

/// Can \p option be chosen for \p text on a GPU?
bool has_gene(const std::string& option, const char* text, const std::vector<TensorSpec>& inputs) {
  auto function = function_of(text);
  SearchSpace space(*function, engine::make_arguments(*function, inputs, {}), Target::parse("cuda:sm_90"));
  const auto& genes = space.genes();
  return std::any_of(genes.begin(), genes.end(), [&](const Gene& gene) { return gene.option == option; });
}

TEST(GpuSpace, HasCooperativeKernelsWhereThereMayBeSeveral) {
  EXPECT_TRUE(has_gene("cooperative", sums_text, {matrix(64, 96)}));
  EXPECT_TRUE(has_gene("cooperative", "def f(float(M,N) A) -> (S) { S(m) +=! A(m,n) }", {matrix(4, 100000)}));
  EXPECT_FALSE(has_gene("cooperative", copy_text, {contiguous(DType::Float32, {4096})}));
}

TEST(GpuSpace, HasCopiesThroughIndexTensorsWhereThereAreSome) {
  auto rows = "def f(float(E,D) T, int32(M) I, float(D,N) W) -> (C) { C(m,n) +=! T(I(m),d) * W(d,n) }";
  EXPECT_TRUE(has_gene("gather_reuse", rows, {matrix(64, 96), contiguous(DType::Int32, {32}), matrix(96, 32)}));
  EXPECT_FALSE(has_gene("gather_reuse", sums_text, {matrix(64, 96)}));
}

TEST(GpuSpace, HasBlocksThatTheTargetCanRun) {
  auto function = function_of(product_text);
  auto target = Target::parse("cuda:sm_90");
  SearchSpace space(*function, engine::make_arguments(*function, {matrix(64, 96), matrix(96, 32)}, {}), target);
  std::set<std::string> genes;
  for (const auto& gene : space.genes()) genes.insert(gene.option);
  for (const char* option :
       {"block", "grid", "shared", "registers", "register_tile", "reduce_in_block", "unroll_limit"})
    EXPECT_TRUE(genes.count(option)) << option;
  for (const char* option : {"parallel_along", "vector_bytes", "pack", "prefetch"})
    EXPECT_FALSE(genes.count(option)) << option;
  RandomSource random(1);
  int with_blocks = 0;
  for (int i = 0; i < 2000; ++i) {
    auto options = space.options(space.mutated(space.random(random), 0.3, random));
    std::int64_t threads = 1;
    for (auto extent : options.values().block) threads *= extent;
    with_blocks += threads > 1;
    EXPECT_LE(threads, target.grid->block_threads) << options.to_text();
    EXPECT_EQ(space.options(space.choice(options)), options);
  }
  EXPECT_GT(with_blocks, 100);
}

}  // namespace
}  // namespace tc::autotuner
