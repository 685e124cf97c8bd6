// The runtime on a GPU. Everything is skipped on machines without one; what loses the GPU's state runs in processes of
// its own.

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <thread>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/device.h"
#include "tc/engine/graph/compile.h"
#include "test/support/expect_error.h"

namespace tc::cuda {
namespace {

bool has_gpu() {
  try {
    driver();
    return true;
  } catch (const DeviceError&) {
    return false;
  }
}

/// Does the driver only write calls down? Then nothing is computed.
bool is_faked() { return driver().library.find("fake_calls") != nullptr; }

/// Floats on the device.
class Floats {
 public:
  explicit Floats(const std::vector<float>& values) : count_(values.size()) {
    driver().check(driver().allocate(&address_, count_ * sizeof(float)), "allocate");
    driver().check(driver().copy_to_device(address_, values.data(), count_ * sizeof(float), nullptr),
                   "copy to the device");
    synchronise({});
  }
  ~Floats() { driver().release(address_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;

  void* pointer() const { return reinterpret_cast<void*>(address_); }
  std::vector<float> values(const Place& place = {}) const {
    std::vector<float> result(count_);
    driver().check(driver().copy_to_host(result.data(), address_, count_ * sizeof(float), place.stream),
                   "copy to the host");
    synchronise(place);
    return result;
  }

 private:
  Driver::Pointer address_ = 0;
  std::size_t count_;
};

/// A kernel `f(const float* in, float* out)` of \p body.
DeviceCode code_of(const std::string& body, const KernelShape& shape, std::int64_t shared_bytes = 0) {
  KernelText kernel;
  kernel.name = "f";
  kernel.text =
      str("extern \"C\" __global__ void f(const float* __restrict__ in, float* __restrict__ out) {\n", body, "}\n");
  kernel.shape = shape;
  kernel.shared_bytes = shared_bytes;
  return build_device_code({kernel}, device_architecture(0));
}

void launch(const DeviceCode& code, const Floats& in, const Floats& out) {
  LoadedKernels kernels(code);
  void* const pointers[] = {in.pointer(), out.pointer()};
  kernels.launch({}, 0, pointers, 2);
  synchronise({});
}

std::shared_ptr<const engine::Executable> compiled(const std::string& text, const std::vector<TensorSpec>& inputs) {
  engine::CompileOptions options;
  options.target = Target::parse(device_target(0));
  return engine::compile(engine::define(text, "<test>").functions.back(), inputs, {}, options);
}

class RuntimeOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "there is no GPU";
    context_.emplace(0);
  }
  void TearDown() override { context_.reset(); }

  static std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
  }
  static void expect_equal(const std::vector<float>& got, const std::vector<float>& want) {
    if (!is_faked()) {
      EXPECT_EQ(got, want);
    }
  }
  std::optional<InContext> context_;
};

TEST_F(RuntimeOnGpu, NamesTheArchitecture) {
  EXPECT_EQ(device_architecture(0).rfind("sm_", 0), 0u);
  EXPECT_NO_THROW(Target::parse("cuda:" + device_architecture(0))) << device_architecture(0);
  EXPECT_THROW(device_architecture(1000), Error);
}

TEST_F(RuntimeOnGpu, LaunchesAGridWithItsArguments) {
  Floats in(ramp(96)), out(std::vector<float>(96, -1));
  launch(
      code_of("const int i = (blockIdx.y * 3 + blockIdx.x) * 16 + threadIdx.y * 8 + threadIdx.x; out[i] = in[95 - i];",
              {{3, 2, 1}, {8, 2, 1}}),
      in, out);
  auto want = ramp(96);
  std::reverse(want.begin(), want.end());
  expect_equal(out.values(), want);
}

TEST_F(RuntimeOnGpu, GivesSharedMemoryAbove48KiB) {
  for (std::int64_t kib : {16, 47, 48, 64, 96}) {
    Floats in(ramp(32)), out(std::vector<float>(32, -1));
    auto body = str("float* s = tc_shared_memory<float>(0, 32); float* last = tc_shared_memory<float>(",
                    kib * 1024 - 128, ", 32);\n", "__shared__ float fixed[8]; fixed[threadIdx.x % 8] = 0;\n",
                    "s[threadIdx.x] = in[threadIdx.x]; last[threadIdx.x] = in[threadIdx.x]; tc_barrier();\n",
                    "out[threadIdx.x] = s[31 - threadIdx.x] + 100 * last[threadIdx.x ^ 1] + fixed[0];");
    launch(code_of(body, {{1, 1, 1}, {32, 1, 1}}, kib << 10), in, out);
    std::vector<float> want;
    for (int t = 0; t < 32; ++t) want.push_back(static_cast<float>(31 - t + 100 * (t ^ 1)));
    expect_equal(out.values(), want);
  }
}

TEST_F(RuntimeOnGpu, RefusesMoreSharedMemoryThanABlockHas) {
  Floats in(ramp(32)), out(ramp(32));
  EXPECT_ERROR(launch(code_of("out[threadIdx.x] = in[threadIdx.x];", {{1, 1, 1}, {32, 1, 1}}, 1 << 20), in, out),
               ResourceError, "cannot give a block");
  launch(code_of("out[threadIdx.x] = in[threadIdx.x] + 1;", {{1, 1, 1}, {32, 1, 1}}), in, out);
  EXPECT_TRUE(is_faked() || out.values()[5] == 6) << "the GPU does not work after a refusal";
}

TEST_F(RuntimeOnGpu, RefusesTooManyThreads) {
  Floats in(ramp(32)), out(ramp(32));
  auto code = code_of("out[0] = in[0];", {{1, 1, 1}, {32, 1, 1}});
  code.kernels[0].shape.block[0] = 2048;
  EXPECT_THROW(launch(code, in, out), Error);
}

TEST_F(RuntimeOnGpu, RefusesCodeOfAnotherArchitecture) {
  if (is_faked()) GTEST_SKIP() << "the driver takes everything";
  auto code = code_of("out[0] = in[0];", {});
  code.cubin = build_device_code({{"f", "extern \"C\" __global__ void f(float* a) { a[0] = 1; }", {"a"}, {}, 0, {}}},
                                 device_architecture(0) == "sm_75" ? "sm_90" : "sm_75")
                   .cubin;
  Floats in(ramp(1)), out(ramp(1));
  try {
    launch(code, in, out);
    ADD_FAILURE() << "the GPU takes code of another architecture";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("architecture"), std::string::npos) << error.what();
  }
  code.cubin = "no machine code";
  EXPECT_ERROR(launch(code, in, out), DeviceError, "load kernels of ");
}

TEST_F(RuntimeOnGpu, SaysThatMemoryRanOut) {
  if (is_faked()) GTEST_SKIP() << "the driver's memory is the host's";
  StreamMemory memory(std::size_t{1} << 50);
  EXPECT_ERROR(memory.at({}), ResourceError, "no memory left to");
  StreamMemory small(256);
  EXPECT_NE(small.at({}), nullptr);
}

TEST_F(RuntimeOnGpu, TemporariesBeginAsZeros) {
  StreamMemory memory(1 << 16);
  auto* block = memory.at({});
  for (std::size_t i : {std::size_t{0}, std::size_t{4097}, (std::size_t{1} << 16) - 1})
    EXPECT_EQ(read_bytes({}, block + i, 1), std::vector{std::byte{0}});
}

TEST_F(RuntimeOnGpu, MeasuresTime) {
  Floats in(ramp(32)), out(ramp(32));
  LoadedKernels kernels(
      code_of("float x = in[threadIdx.x]; for (int i = 0; i < 1000000; ++i) x = x * 0.5f + 1; out[threadIdx.x] = x;",
              {{1, 1, 1}, {32, 1, 1}}));
  kernels.prepare(0);
  void* const pointers[] = {in.pointer(), out.pointer()};
  Timer timer({});
  kernels.launch({}, 0, pointers, 2);
  auto nanoseconds = timer.stop();
  EXPECT_GT(nanoseconds, 100000);
  EXPECT_LT(nanoseconds, 1000000000);
}

TEST_F(RuntimeOnGpu, RunsExecutablesFromSeveralThreads) {
  auto executable = compiled("def f(float(N,M) A) -> (B) { s(i) +=! A(i,j)\n B(j,i) = A(i,j) + s(i) }",
                             {contiguous(DType::Float32, {64, 96})});
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      InContext context(0);
      Floats in(std::vector<float>(64 * 96, 1)), out(std::vector<float>(64 * 96, -1));
      for (int i = 0; i < 20; ++i) {
        void* pointers[] = {in.pointer(), out.pointer()};
        executable->run_unchecked(pointers);
        for (float value : out.values()) wrong[t] += value != 97;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(is_faked() || std::accumulate(wrong.begin(), wrong.end(), 0) == 0);
}

TEST_F(RuntimeOnGpu, RefusesIndicesOutsideATensor) {
  if (is_faked()) GTEST_SKIP() << "nothing is computed";
  auto executable = compiled("def f(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) }",
                             {contiguous(DType::Float32, {100}), contiguous(DType::Int32, {30})});
  Floats a(ramp(100)), out(ramp(30));
  for (int value : {99, 100, -1, 2000000000}) {
    float bits;
    std::memcpy(&bits, &value, sizeof bits);
    Floats index(std::vector<float>(30, bits));
    void* pointers[] = {a.pointer(), index.pointer(), out.pointer()};
    if (value == 99)
      EXPECT_NO_THROW(executable->run_unchecked(pointers));
    else
      EXPECT_ERROR(executable->run_unchecked(pointers), ArgumentError, "must be in [") << value;
  }
  EXPECT_EQ(out.values()[7], 99);
}

/// Ends a process of its own with 0 where a write to no memory is reported as a DeviceError, again and again.
[[noreturn]] void fault() {
  try {
    InContext context(0);
    Floats in(std::vector<float>(32, 0)), out(std::vector<float>(32, 0));
    try {
      launch(code_of("reinterpret_cast<float*>(16)[threadIdx.x] = in[0];", {{1, 1, 1}, {32, 1, 1}}), in, out);
    } catch (const DeviceError& error) {
      if (std::string(error.what()).find("a kernel faulted") == std::string::npos) _exit(2);
    }
    try {
      launch(code_of("out[0] = in[0];", {}), in, out);
    } catch (const DeviceError&) {
      _exit(0);
    }
    _exit(3);
  } catch (const Error&) {
    _exit(4);
  }
}

TEST(FaultOnGpu, IsReportedAndTheProcessLives) {
  if (!has_gpu()) GTEST_SKIP() << "there is no GPU";
  if (is_faked()) GTEST_SKIP() << "nothing is computed";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fault(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tc::cuda
