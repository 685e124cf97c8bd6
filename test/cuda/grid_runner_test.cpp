// Executables for GPUs, on a driver that only writes its calls down.

#include "tc/engine/run/grid_runner.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/engine.h"
#include "tc/engine/graph/symbolic_sizes.h"
#include "tc/engine/run/earlier_run_error.h"
#include "test/cuda/compiled.h"
#include "test/cuda/fake_driver.h"
#include "test/support/expect_error.h"

namespace tc::engine {
namespace {

using cuda::FakeDriver;

std::shared_ptr<const Executable> compiled(const std::string& text, const std::vector<TensorSpec>& inputs,
                                           const std::string& options = "") {
  CompileOptions settings;
  settings.target = Target::parse("cuda:sm_90");
  settings.mapping = options::MappingOptions::parse(options);
  return compile(define(text, "<test>").functions.back(), inputs, {}, settings);
}

struct Buffer {
  alignas(64) float data[4096] = {};
};

class GridRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TC_CUDA_DRIVER", TC_FAKE_DRIVER, 1);
    cuda::driver();
    FakeDriver::capture(false);
    FakeDriver::give_byte(-1);
    FakeDriver::forget();
  }
  static int count(const std::string& word) {
    auto calls = FakeDriver::calls();
    int result = 0;
    for (auto at = calls.find(word); at != std::string::npos; at = calls.find(word, at + 1)) ++result;
    return result;
  }
  Buffer a_, b_, c_;
};

TEST_F(GridRunnerTest, LaunchesTheBlocksOfARun) {
  TC_NEEDS_NVRTC();
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  options.symbolic = {{"N", 1}};
  const auto function = define("def f(float(N,64) A) -> (B) { B(i,j) = A(i,j) + 1 }", "<test>").functions.back();
  const auto whole = compile(function, {contiguous(DType::Float32, {64, 64})}, {}, options);
  void* arguments[] = {a_.data, b_.data};
  for (const std::int64_t rows : {64, 17, 1}) {
    FakeDriver::forget();
    const auto bound = bind_sizes(whole, *function, {contiguous(DType::Float32, {rows, 64})});
    bound->run_unchecked(arguments);
    const auto launch = str("cuLaunchKernel f ", (rows + 15) / 16, "x1x1 ");
    std::ostringstream passed;
    passed << arguments[0] << "," << arguments[1] << "," << rows << "\n";
    EXPECT_EQ(count(launch), 1) << FakeDriver::calls();
    EXPECT_EQ(count(passed.str()), 1) << FakeDriver::calls();
    EXPECT_EQ(count("cuModuleLoadData"), rows == 64 ? 1 : 0) << "executables of one code share what is loaded";
    const Executable read(Image::deserialise(bound->image().serialise()));
    read.run_unchecked(arguments);
    EXPECT_EQ(count(launch), 2) << FakeDriver::calls();
  }
}

TEST_F(GridRunnerTest, LaunchesEachKernelWithItsArguments) {
  TC_NEEDS_NVRTC();
  auto executable = compiled("def f(float(N) A) -> (B) { B(i) = A(i) + 1 }", {contiguous(DType::Float32, {100})});
  void* arguments[] = {a_.data, b_.data};
  executable->run_unchecked(arguments);
  ASSERT_EQ(executable->image().launches.size(), 1u);
  std::ostringstream pointers;
  pointers << arguments[0] << "," << arguments[1] << "\n";
  EXPECT_EQ(count("cuLaunchKernel f "), 1) << FakeDriver::calls();
  EXPECT_EQ(count(pointers.str()), 1) << FakeDriver::calls();
  EXPECT_EQ(count("cuMemAlloc"), 0) << FakeDriver::calls();
}

TEST_F(GridRunnerTest, RunsInOneThreadOnRequest) {
  TC_NEEDS_NVRTC();
  auto executable =
      compiled("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
               {contiguous(DType::Float32, {20, 30}), contiguous(DType::Float32, {30, 40})}, "parallel=0");
  void* arguments[] = {a_.data, b_.data, c_.data};
  executable->run_unchecked(arguments);
  EXPECT_EQ(count("cuLaunchKernel f 1x1x1 1x1x1 "), 1) << FakeDriver::calls();
}

TEST_F(GridRunnerTest, DoesNothingButLaunchAfterPrepare) {
  TC_NEEDS_NVRTC();
  auto executable = compiled("def f(float(N,M) A) -> (S, B) { S(i) +=! A(i,j)\n B(i,j) = A(i,j) / S(i) }",
                             {contiguous(DType::Float32, {32, 40})});
  executable->prepare();
  FakeDriver::forget();
  FakeDriver::capture(true);
  void* arguments[] = {a_.data, b_.data, c_.data};
  executable->run_unchecked(arguments);
  auto calls = FakeDriver::calls();
  for (const char* word : {"cuMemAlloc", "cuModuleLoad", "cuStreamSynchronize", "cuMemcpy"})
    EXPECT_EQ(count(word), 0) << calls;
  EXPECT_EQ(count("cuLaunchKernel"), static_cast<int>(executable->image().launches.size())) << calls;
}

TEST_F(GridRunnerTest, CooperativeKernelsAreOneLaunchWithAWordToWaitAt) {
  TC_NEEDS_NVRTC();
  constexpr const char* text = "def f(float(N,M) A) -> (S, B) { S(i) +=! A(i,j)\n B(j) +=! A(i,j) / S(i) }";
  auto several = compiled(text, {contiguous(DType::Float32, {32, 40})}, "fusion=min");
  auto executable = compiled(text, {contiguous(DType::Float32, {32, 40})}, "fusion=min,cooperative=1");
  EXPECT_GT(several->image().launches.size(), 1u);
  const auto& image = executable->image();
  ASSERT_EQ(image.launches.size(), 1u);
  EXPECT_TRUE(image.modules.at(0).kernels.at(0).shape.cooperative);
  EXPECT_GE(image.workspace_bytes, std::get<WorkspaceSlot>(image.launches[0].slots.back()).offset + 4);
  void* arguments[] = {a_.data, b_.data, c_.data};
  executable->run_unchecked(arguments);
  EXPECT_EQ(count("cuLaunchCooperativeKernel f "), 1) << FakeDriver::calls();
  EXPECT_EQ(count("cuLaunchKernel"), 0) << FakeDriver::calls();
  auto copy = Image::deserialise(image.serialise());
  EXPECT_TRUE(copy.modules.at(0).kernels.at(0).shape.cooperative);
}

TEST_F(GridRunnerTest, CooperativeKernelsHaveNoMoreBlocksThanFitAtOnce) {
  TC_NEEDS_NVRTC();
  auto executable = compiled("def f(float(N,M) A) -> (S, B) { S(i) +=! A(i,j)\n B(j) +=! A(i,j) / S(i) }",
                             {contiguous(DType::Float32, {5000, 4000})}, "fusion=min,cooperative=1");
  const auto& shape = executable->image().modules.at(0).kernels.at(0).shape;
  EXPECT_LE(shape.blocks(), 132 * shape.blocks_per_multiprocessor);
  EXPECT_GT(shape.blocks(), 132);
}

constexpr const char* gather = "def f(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) }";

TEST_F(GridRunnerTest, TestsIndexTensorsBeforeTheirUse) {
  TC_NEEDS_NVRTC();
  auto executable = compiled(gather, {contiguous(DType::Float32, {100}), contiguous(DType::Int32, {30})});
  void* arguments[] = {a_.data, b_.data, c_.data};
  executable->run_unchecked(arguments);
  int all = count("cuLaunchKernel");
  FakeDriver::forget();
  FakeDriver::give_byte(1);
  EXPECT_ERROR(executable->run_unchecked(arguments), ArgumentError,
               "subscript 0 of A, 'I(i)', must be in [0, 100): a value in I is not");
  EXPECT_LT(count("cuLaunchKernel"), all) << FakeDriver::calls();
}

TEST_F(GridRunnerTest, WaitsOnceForTheTestsOfALaunch) {
  TC_NEEDS_NVRTC();
  auto executable =
      compiled("def f(float(N) A, int32(M) I, int32(M) J) -> (B) { B(i) = A(I(i)) + A(J(i)) }",
               {contiguous(DType::Float32, {100}), contiguous(DType::Int32, {30}), contiguous(DType::Int32, {30})});
  void* arguments[] = {a_.data, b_.data, b_.data, c_.data};
  executable->run_unchecked(arguments);
  EXPECT_EQ(count("cuMemcpyDtoHAsync 65"), 1) << FakeDriver::calls();
  EXPECT_EQ(count("cuMemcpyDtoHAsync"), 1) << FakeDriver::calls();
  EXPECT_EQ(count("cuStreamSynchronize"), 1) << FakeDriver::calls();
}

TEST_F(GridRunnerTest, KeepsWhatTestsFindForTheNextCall) {
  TC_NEEDS_NVRTC();
  auto executable = compiled(gather, {contiguous(DType::Float32, {100}), contiguous(DType::Int32, {30})});
  void* arguments[] = {a_.data, b_.data, c_.data};
  executable->prepare();
  FakeDriver::forget();
  FakeDriver::give_byte(1);
  executable->run_unchecked(arguments, TestOutcome::Kept);
  FakeDriver::give_byte(0);
  executable->run_unchecked(arguments, TestOutcome::Kept);
  EXPECT_EQ(count("cuStreamSynchronize") + count("cuCtxSynchronize") + count("cuMem"), 0) << FakeDriver::calls();
  EXPECT_EQ(count("cuLaunchKernel tc_raise"), 2) << FakeDriver::calls();
  EXPECT_ERROR(
      executable->check_earlier_runs(), EarlierRunError,
      "in an earlier run of 'f', which did not wait for its tests, subscript 0 of A, 'I(i)', must be in [0, 100)");
  EXPECT_NO_THROW(executable->check_earlier_runs());
}

TEST_F(GridRunnerTest, EachTestHasAFlagOfItsOwn) {
  TC_NEEDS_NVRTC();
  std::string text = "def f(float(N) A", sum = "0";
  for (int i = 0; i < 10; ++i) {
    text += str(", int32(M) I", i);
    sum += str(" + A(I", i, "(i))");
  }
  std::vector<TensorSpec> inputs(11, contiguous(DType::Int32, {30}));
  inputs[0] = contiguous(DType::Float32, {100});
  auto executable = compiled(text + ") -> (B) { B(i) = " + sum + " }", inputs);
  std::vector<void*> arguments(12, b_.data);
  arguments[0] = a_.data, arguments[11] = c_.data;
  executable->run_unchecked(arguments.data(), TestOutcome::Kept);
  EXPECT_EQ(count("cuLaunchKernel tc_raise"), 2) << FakeDriver::calls();
  EXPECT_NE(FakeDriver::calls().find("cuMemHostAlloc 10 3"), std::string::npos) << FakeDriver::calls();
}

TEST_F(GridRunnerTest, AllExecutablesAreCheckedBehindAllRuns) {
  TC_NEEDS_NVRTC();
  auto first = compiled(gather, {contiguous(DType::Float32, {100}), contiguous(DType::Int32, {30})});
  auto second = compiled(gather, {contiguous(DType::Float32, {101}), contiguous(DType::Int32, {30})});
  void* arguments[] = {a_.data, b_.data, c_.data};
  FakeDriver::give_byte(0);
  first->run_unchecked(arguments, TestOutcome::Kept);
  EXPECT_NO_THROW(check_all_earlier_runs());
  FakeDriver::give_byte(1);
  second->run_unchecked(arguments, TestOutcome::Kept);
  FakeDriver::forget();
  EXPECT_ERROR(check_all_earlier_runs(), EarlierRunError, "must be in [0, 101)");
  EXPECT_GE(count("cuCtxSynchronize"), 1) << FakeDriver::calls();
  EXPECT_NO_THROW(check_all_earlier_runs());
}

TEST_F(GridRunnerTest, TestsWithoutWaitingAreRecordedInACapture) {
  TC_NEEDS_NVRTC();
  auto executable = compiled(gather, {contiguous(DType::Float32, {100}), contiguous(DType::Int32, {30})});
  executable->prepare();
  FakeDriver::forget();
  FakeDriver::capture(true);
  void* arguments[] = {a_.data, b_.data, c_.data};
  EXPECT_NO_THROW(executable->run_unchecked(arguments, TestOutcome::Kept));
  EXPECT_EQ(count("cuLaunchKernel"), count("cu")) << FakeDriver::calls();
  FakeDriver::capture(false);
}

TEST_F(GridRunnerTest, RefusesToTestIndexTensorsInACapture) {
  TC_NEEDS_NVRTC();
  auto executable = compiled(gather, {contiguous(DType::Float32, {100}), contiguous(DType::Int32, {30})});
  executable->prepare();
  FakeDriver::capture(true);
  void* arguments[] = {a_.data, b_.data, c_.data};
  EXPECT_ERROR(executable->run_unchecked(arguments), ArgumentError,
               "'f' tests the values of its index tensors on each call, which a graph cannot: call it outside of the "
               "capture, or do not wait for them: defer_checks()");
}

TEST_F(GridRunnerTest, ProfilesByEvents) {
  TC_NEEDS_NVRTC();
  auto executable = compiled("def f(float(N) A) -> (B) { B(i) = A(i) + 1 }", {contiguous(DType::Float32, {100})});
  TensorView a{contiguous(DType::Float32, {100}), a_.data}, b{contiguous(DType::Float32, {100}), b_.data};
  EXPECT_EQ(executable->profile(std::vector{a}, std::vector{b}).kernels.count(), 250000);
}

TEST_F(GridRunnerTest, AStoredExecutableRunsTheSameKernels) {
  TC_NEEDS_NVRTC();
  auto executable = compiled(gather, {contiguous(DType::Float32, {100}), contiguous(DType::Int32, {30})});
  void* arguments[] = {a_.data, b_.data, c_.data};
  executable->run_unchecked(arguments);
  auto launches = count("cuLaunchKernel");
  Executable copy(Image::deserialise(executable->image().serialise()));
  FakeDriver::forget();
  copy.run_unchecked(arguments);
  EXPECT_EQ(count("cuLaunchKernel"), launches);
  EXPECT_EQ(copy.image().modules.at(0).text, executable->image().modules.at(0).text);
}

TEST_F(GridRunnerTest, RunsTheKernelsOfAllPartsInOrder) {
  TC_NEEDS_NVRTC();
  auto executable = compiled(
      "def fc(float(N,C) X, float(K,C) W) -> (Y) { Y(n,k) +=! X(n,c) * W(k,c) }\n"
      "def act(float(N,K) X) -> (Y) { Y(n,k) = fmax(X(n,k), 0) }\n"
      "def main(float(N,C) X, float(C,C) W) -> (Y) {\n"
      "  A = fc(X, W)  B = act(A)  D = fc(B, W)  E = act(D)  Y = fc(E, W) }",
      {contiguous(DType::Float32, {16, 16}), contiguous(DType::Float32, {16, 16})});
  const auto& image = executable->image();
  ASSERT_EQ(image.parts, 3u);
  EXPECT_EQ(image.modules.size(), 2u) << "fc with act twice, and fc";
  void* arguments[] = {a_.data, b_.data, c_.data};
  executable->run_unchecked(arguments);
  EXPECT_EQ(count("cuLaunchKernel"), static_cast<int>(image.launches.size())) << FakeDriver::calls();
  EXPECT_EQ(count("cuModuleLoad"), 2) << FakeDriver::calls();
  EXPECT_EQ(std::get<KernelCall>(image.launches.front().code).module, 0u);
  EXPECT_EQ(std::get<KernelCall>(image.launches.back().code).module, 1u);
  Executable copy(Image::deserialise(image.serialise()));
  FakeDriver::forget();
  copy.run_unchecked(arguments);
  EXPECT_EQ(count("cuLaunchKernel"), static_cast<int>(image.launches.size())) << FakeDriver::calls();
}

TEST_F(GridRunnerTest, WantsAlignedTensorsWhereKernelsMoveVectors) {
  Image image;
  image.function = "f";
  image.arguments = {{"A", contiguous(DType::Float32, {64}), false, false, {0}},
                     {"B", contiguous(DType::Float32, {64}), true, false, {0}}};
  image.modules = {{"sm_90", "", "bytes", "", {{"f", {}, 0, {1}}}}};
  image.launches = {{KernelCall{0, 0}, {ArgumentSlot{0}, ArgumentSlot{1}}, {}}};
  Executable executable(image);
  void* odd_input[] = {a_.data + 1, b_.data};
  executable.run_unchecked(odd_input);
  void* odd_output[] = {a_.data, b_.data + 1};
  EXPECT_ERROR(executable.run_unchecked(odd_output), ArgumentError,
               "'B' does not begin at a multiple of 16 bytes, as 'f' was compiled for: compile for this tensor, or "
               "pass a copy, B.clone()");
}

/// The executable of \p text for tensors of the sizes \p inputs of which those called \p unaligned begin anywhere.
std::shared_ptr<const Executable> compiled_for(const std::set<std::string>& unaligned, const std::string& text,
                                               const std::vector<TensorSpec>& inputs) {
  CompileOptions settings;
  settings.target = Target::parse("cuda:sm_90");
  settings.unaligned = unaligned;
  return compile(define(text, "<test>").functions.back(), inputs, {}, settings);
}

TEST_F(GridRunnerTest, RunsTensorsThatBeginAnywhereWhereCompiledForThem) {
  TC_NEEDS_NVRTC();
  const char* add = "def f(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }";
  const std::vector<TensorSpec> inputs(2, contiguous(DType::Float32, {1024}));
  void* odd[] = {a_.data + 1, b_.data, c_.data};
  auto aligned = compiled_for({}, add, inputs), unaligned = compiled_for({"A"}, add, inputs);
  EXPECT_ERROR(aligned->run_unchecked(odd), ArgumentError,
               "'A' does not begin at a multiple of 16 bytes, as 'f' was compiled for: compile for this tensor, or "
               "pass a copy, A.clone()");
  EXPECT_NE(aligned->image().modules.at(0).text.find("tc_load<4>(A"), std::string::npos)
      << aligned->image().modules.at(0).text;
  EXPECT_EQ(count("cuLaunchKernel"), 0);
  unaligned->run_unchecked(odd);
  EXPECT_EQ(unaligned->image().modules.at(0).text.find("tc_load<4>(A"), std::string::npos)
      << unaligned->image().modules.at(0).text;
  EXPECT_EQ(count("cuLaunchKernel"), 1);
  void* others_odd[] = {a_.data + 1, b_.data, c_.data + 1};
  EXPECT_NO_THROW(compiled_for({"A", "B", "C"}, add, inputs)->run_unchecked(others_odd));
  Executable copy(Image::deserialise(unaligned->image().serialise()));
  EXPECT_FALSE(copy.image().arguments[0].aligned);
  EXPECT_TRUE(copy.image().arguments[1].aligned);
  EXPECT_ERROR(compiled_for({"D"}, add, inputs), ArgumentError, "'f' has no tensor 'D' that may begin anywhere");
}

DLTensor on_gpu(float* data, std::int64_t* shape) {
  return {data, {DLDeviceType::kDLCUDA, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0};
}

TEST_F(GridRunnerTest, TheEngineCompilesForTensorsAsTheyBegin) {
  TC_NEEDS_NVRTC();
  ExecutionEngine engine;
  engine.define("def f(float(N) A) -> (C) { C(i) = A(i) + 1 }");
  std::int64_t shape[] = {1024};
  auto a = on_gpu(a_.data, shape), odd = on_gpu(a_.data + 1, shape), c = on_gpu(c_.data, shape);
  CompileOptions options;
  options.target = Target::parse("cuda:sm_90");
  auto even_handle = engine.compile("f", std::vector<const DLTensor*>{&a}, {&c}, options);
  auto odd_handle = engine.compile("f", std::vector<const DLTensor*>{&odd}, {&c}, options);
  EXPECT_NE(even_handle, odd_handle);
  EXPECT_EQ(engine.compile("f", std::vector<const DLTensor*>{&odd}, {&c}, options), odd_handle);
  EXPECT_ERROR(engine.run(even_handle, std::vector<const DLTensor*>{&odd}, {&c}), ArgumentError,
               "'A' does not begin at a multiple of 16 bytes, as 'f' was compiled for: compile for this tensor, or "
               "pass a copy, A.clone()");
  engine.run(odd_handle, std::vector<const DLTensor*>{&odd}, {&c});
  engine.run(odd_handle, std::vector<const DLTensor*>{&a}, {&c});
  EXPECT_EQ(count("cuLaunchKernel"), 2) << FakeDriver::calls();
}

}  // namespace
}  // namespace tc::engine
