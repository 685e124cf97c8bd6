// The runtime on a driver that only writes its calls down.

#include "tc/cuda/device.h"

#include <gtest/gtest.h>

#include "tc/base/error.h"
#include "tc/cuda/retired_modules.h"
#include "test/cuda/fake_driver.h"
#include "test/support/expect_error.h"

namespace tc::cuda {
namespace {

const bool faked = [] {
  setenv("TC_CUDA_DRIVER", TC_FAKE_DRIVER, 1);
  return true;
}();

template <typename E, typename Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  return "no such error";
}

void* pointer(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

DeviceCode two_kernels() {
  DeviceCode code;
  code.architecture = "sm_90";
  code.cubin = "bytes";
  code.kernels = {{"first", {{4, 2, 1}, {32, 8, 1}, 0}, 1024, {}}, {"second", {{1, 1, 1}, {64, 1, 1}, 0}, 100000, {1}}};
  return code;
}

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    driver();
    FakeDriver::capture(false);
    FakeDriver::give_byte(-1);
    for (int device : {0, 1}) {
      InContext context(device);
      unload_retired(device);
    }
    FakeDriver::forget();
  }
};

TEST_F(DeviceTest, LoadsOnceAndLaunchesIntoTheStream) {
  LoadedKernels kernels(two_kernels());
  void* pointers[] = {pointer(0x10), pointer(0x20)};
  Place place{0, pointer(0x7)};
  kernels.launch(place, 0, pointers, 2);
  kernels.launch(place, 1, pointers, 1);
  EXPECT_EQ(FakeDriver::calls(),
            "cuModuleLoadData on 0x100\ncuModuleGetFunction first\ncuModuleGetFunction second\n"
            "cuFuncSetAttribute second 8 100000\n"
            "cuLaunchKernel first 4x2x1 32x8x1 1024 0x7 0x10,0x20\n"
            "cuLaunchKernel second 1x1x1 64x1x1 100000 0x7 0x10\n");
}

DeviceCode one_cooperative(std::int64_t blocks) {
  DeviceCode code;
  code.architecture = "sm_90";
  code.cubin = "bytes";
  code.kernels = {{"whole", {{blocks, 1, 1}, {512, 1, 1}, 0, true}, 2048, {}}};
  return code;
}

TEST_F(DeviceTest, CooperativeKernelsAreLaunchedWhereAllBlocksFit) {
  LoadedKernels kernels(one_cooperative(528));
  void* pointers[] = {pointer(0x10), pointer(0x20)};
  kernels.launch({0, pointer(0x7)}, 0, pointers, 2);
  EXPECT_EQ(FakeDriver::calls(),
            "cuModuleLoadData on 0x100\ncuModuleGetFunction whole\ncuOccupancyMaxActiveBlocksPerMultiprocessor whole "
            "512 2048\n"
            "cuLaunchCooperativeKernel whole 528x1x1 512x1x1 2048 0x7 0x10\n");
}

TEST_F(DeviceTest, CooperativeKernelsThatDoNotFitAreRefused) {
  LoadedKernels kernels(one_cooperative(529));
  auto message = message_of<ResourceError>([&] { kernels.prepare(0); });
  EXPECT_EQ(message,
            "kernel 'whole' has 529 blocks that wait for each other, device 0 has room for 528 at once: compile for "
            "this device, or "
            "without cooperative=1");
  EXPECT_NE(FakeDriver::calls().find("cuModuleUnload"), std::string::npos);
}

TEST_F(DeviceTest, PreparedKernelsAreOnlyLaunched) {
  LoadedKernels kernels(two_kernels());
  kernels.prepare(0);
  FakeDriver::forget();
  kernels.launch({0, nullptr}, 0, nullptr, 0);
  EXPECT_EQ(FakeDriver::calls(), "cuLaunchKernel first 4x2x1 32x8x1 1024 0 \n");
}

TEST_F(DeviceTest, EachDeviceHasItsOwnModule) {
  LoadedKernels kernels(two_kernels());
  kernels.prepare(0);
  kernels.prepare(1);
  kernels.prepare(1);
  auto calls = FakeDriver::calls();
  EXPECT_NE(calls.find("cuModuleLoadData on 0x100\n"), std::string::npos) << calls;
  EXPECT_NE(calls.find("cuModuleLoadData on 0x101\n"), std::string::npos) << calls;
  EXPECT_EQ(calls.find("cuModuleLoadData on 0x101\n", calls.find("0x101") + 1), std::string::npos) << calls;
}

TEST_F(DeviceTest, ModulesAreUnloadedWhenTheNextOneOfTheirDeviceIsLoaded) {
  LoadedKernels(two_kernels()).prepare(1);
  FakeDriver::forget();
  LoadedKernels(two_kernels()).prepare(1);
  auto unloads = [] {
    auto calls = FakeDriver::calls();
    auto at = calls.find("cuCtxSynchronize\ncuModuleUnload\n");
    return at != std::string::npos && calls.find("cuModuleLoadData") < at;
  };
  EXPECT_TRUE(unloads()) << FakeDriver::calls();
  FakeDriver::forget();
  LoadedKernels others(two_kernels());
  others.prepare(0);
  LoadedKernels(two_kernels()).prepare(1);
  EXPECT_TRUE(unloads()) << FakeDriver::calls();
}

/// A garbage collector may end anything at any moment.
TEST_F(DeviceTest, ExecutablesThatEndDuringACaptureDoNotSpoilIt) {
  {
    LoadedKernels kernels(two_kernels());
    StreamMemory memory(256);
    kernels.prepare(0);
    memory.prepare({0, nullptr});
    FakeDriver::capture(true);
    FakeDriver::forget();
  }
  EXPECT_EQ(FakeDriver::calls(), "cuMemFree\ncuMemFree\n");
  EXPECT_EQ(FakeDriver::blocks(), 0) << "freed in relaxed mode";
  FakeDriver::capture(false);
  FakeDriver::forget();
  LoadedKernels(two_kernels()).prepare(0);
  EXPECT_NE(FakeDriver::calls().find("cuCtxSynchronize\ncuModuleUnload\n"), std::string::npos) << FakeDriver::calls();
}

TEST_F(DeviceTest, MemoryIsOneBlockForEachStream) {
  {
    StreamMemory memory(256);
    auto* block = memory.at({0, nullptr});
    EXPECT_NE(block, nullptr);
    EXPECT_EQ(memory.at({0, nullptr}), block);
    EXPECT_NE(memory.at({0, pointer(0x7)}), block);
    EXPECT_EQ(FakeDriver::calls(), "cuMemAlloc 256\ncuMemsetD8Async 256\ncuMemAlloc 256\ncuMemsetD8Async 256\n");
    EXPECT_EQ(block[0], std::byte{0});
    EXPECT_EQ(block[255], std::byte{0});
    FakeDriver::forget();
  }
  EXPECT_EQ(FakeDriver::calls(), "cuMemFree\ncuMemFree\n");
  EXPECT_EQ(StreamMemory(0).at({0, nullptr}), nullptr);
}

TEST_F(DeviceTest, AStreamThatRecordsAGraphTakesTheSpareBlock) {
  StreamMemory memory(256);
  memory.prepare({0, nullptr});
  auto* block = memory.at({0, nullptr});
  FakeDriver::capture(true);
  FakeDriver::forget();
  auto* spare = memory.at({0, pointer(0x7)});
  EXPECT_NE(spare, block);
  EXPECT_EQ(memory.at({0, pointer(0x7)}), spare);
  EXPECT_EQ(FakeDriver::calls(), "");
  EXPECT_NE(message_of<DeviceError>([&] { memory.at({0, pointer(0x8)}); }).find("call prepare() on the executable"),
            std::string::npos);
  FakeDriver::capture(false);
  EXPECT_NE(memory.at({0, pointer(0x8)}), spare);
}

TEST_F(DeviceTest, TheSpareBlockIsForCapturesOnly) {
  StreamMemory memory(256);
  memory.prepare({0, nullptr});
  FakeDriver::forget();
  memory.at({0, pointer(0x7)});
  EXPECT_EQ(FakeDriver::calls(), "cuMemAlloc 256\ncuMemsetD8Async 256\n");
}

TEST_F(DeviceTest, NothingIsLoadedIntoACapture) {
  LoadedKernels kernels(two_kernels());
  FakeDriver::capture(true);
  EXPECT_NE(message_of<DeviceError>([&] {
              kernels.launch({0, nullptr}, 0, nullptr, 0);
            }).find("while a stream records a graph"),
            std::string::npos);
}

TEST_F(DeviceTest, PlacesNest) {
  EXPECT_EQ(current_place(), Place{});
  {
    AtPlace outer({1, pointer(0x7)});
    {
      AtPlace inner({0, nullptr});
    }
    EXPECT_EQ(current_place(), (Place{1, pointer(0x7)}));
  }
  EXPECT_EQ(current_place(), Place{});
}

TEST_F(DeviceTest, TimesByEvents) {
  Timer timer({0, pointer(0x7)});
  EXPECT_EQ(timer.stop(), 250000);
  EXPECT_EQ(
      FakeDriver::calls(),
      "cuEventCreate\ncuEventCreate\ncuEventRecord 0x7\ncuEventRecord 0x7\ncuEventSynchronize\ncuEventElapsedTime\n");
}

TEST_F(DeviceTest, NamesTheArchitecture) {
  EXPECT_EQ(device_architecture(1), "sm_90");
  EXPECT_EQ(device_target(0), "cuda:sm_90");
  EXPECT_EQ(device_target(1), "cuda:sm_90,multiprocessors=114");
}

struct FailureCase {
  const char* function;
  int code;
  const char* text;
};

TEST_F(DeviceTest, ErrorsHaveTypes) {
  auto launch = [] {
    LoadedKernels kernels(two_kernels());
    StreamMemory memory(64);
    memory.at({0, nullptr});
    kernels.launch({0, nullptr}, 1, nullptr, 0);
    synchronise({0, nullptr});
  };
  FakeDriver::fail("cuMemAlloc", 2);
  EXPECT_NE(message_of<ResourceError>(launch).find(
                "no memory left to allocate 64 bytes for temporaries (CUDA_ERROR_OUT_OF_MEMORY"),
            std::string::npos);
  FakeDriver::fail("cuLaunchKernel", 701);
  EXPECT_NE(message_of<ResourceError>(launch).find(
                "kernel 'second' with a grid of 1x1x1 blocks of 64x1x1 threads and 100000 bytes"),
            std::string::npos);
  FakeDriver::fail("cuFuncSetAttribute", 1);
  EXPECT_NE(message_of<ResourceError>(launch).find("cannot give a block 100000 bytes of shared memory"),
            std::string::npos);
  FakeDriver::fail("cuModuleLoadData", 209);
  EXPECT_NE(message_of<DeviceError>(launch).find("load kernels of sm_90 into device 0, which is sm_90"),
            std::string::npos);
  FakeDriver::fail("cuModuleLoadData", 200);
  EXPECT_NE(message_of<DeviceError>(launch).find("compiled for another architecture"), std::string::npos);
  FakeDriver::fail("cuStreamSynchronize", 700);
  EXPECT_NE(message_of<DeviceError>(launch).find("a kernel faulted"), std::string::npos);
  FakeDriver::fail("cuLaunchKernel", 1);
  EXPECT_NE(message_of<InternalError>(launch).find("refuses"), std::string::npos);
  EXPECT_EQ(message_of<Error>(launch), "no such error");
}

TEST_F(DeviceTest, SaysThatThereIsNoSuchDevice) {
  EXPECT_NE(message_of<DeviceError>([] { InContext(5); }).find("find device 5"), std::string::npos);
}

TEST(DeviceCode, IsStoredAndReadBack) {
  auto code = two_kernels();
  code.text = "text";
  auto bytes = code.serialise();
  auto copy = DeviceCode::deserialise(bytes);
  EXPECT_EQ(copy.serialise(), bytes);
  EXPECT_EQ(copy.kernels[1].aligned, (std::vector<int>{1}));
  EXPECT_EQ(copy.kernels[0].shape.block[1], 8);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_ERROR(DeviceCode::deserialise(bytes.substr(0, size)), ArgumentError,
                 "these bytes are not stored code of kernels")
        << size;
  EXPECT_ERROR(DeviceCode::deserialise(bytes + "x"), ArgumentError, "these bytes are not stored code of kernels");
}

}  // namespace
}  // namespace tc::cuda
