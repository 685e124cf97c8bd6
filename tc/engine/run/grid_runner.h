#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "tc/base/fork.h"
#include "tc/cuda/device.h"
#include "tc/cuda/host_flags.h"
#include "tc/engine/run/executable.h"
#include "tc/library/description/prepare.h"

namespace tc::engine {

/// Memory of the temporaries of an image, which runs on a stream share one after another.
struct GridMemory {
  explicit GridMemory(std::size_t bytes) : blocks(bytes) {}
  cuda::StreamMemory blocks;
  ForkMutex mutex;  ///< held while what works in them is put into a stream
};

/// Runs the kernels of an image, and its calls of libraries, on the current place. Thread-safe.
class GridRunner {
 public:
  /// Runs \p loaded as far as that is loaded, and adds what it loads. \p image must outlive it. Throws OptionsError for a library that
  /// this machine does not have, or in another version.
  GridRunner(const Image& image, LoadedCode& loaded);
  ~GridRunner();
  GridRunner(const GridRunner&) = delete;
  GridRunner& operator=(const GridRunner&) = delete;

  void prepare();
  /// Puts the kernels into the current stream; \p arguments are pointers of the device. Waits only where index tensors
  /// are tested, and for \p kernel_time, which gets the time the device took. Throws ArgumentError for an address that
  /// is not aligned as the kernels need it, for values of index tensors outside the tensors they index, and where such
  /// a test is wanted while the stream is captured. With TestOutcome::Kept the outcomes of tests are kept for
  /// check_earlier() instead; kernels then read and write elements inside of tensors in the place of others.
  void run(void* const* arguments, std::chrono::nanoseconds* kernel_time, TestOutcome outcome);
  /// Throws EarlierRunError where a run by now has kept that a test failed, and forgets it.
  void check_earlier();
  /// check_earlier() of all that there are, behind all runs.
  static void check_all();

 private:
  /// Puts the code of \p launch into the stream of \p place; a routine of a library may work in \p workspace_of_calls.
  void put(const cuda::Place& place, const Launch& launch, void* const* pointers, std::byte* workspace_of_calls);
  /// Makes the calls of libraries ready for \p device, once: what they work in, one after another.
  cuda::StreamMemory& memory_of_calls(int device);
  void check_alignment(void* const* arguments) const;
  void test(const cuda::Place& place, const Launch& launch, const std::byte* workspace) const;
  void keep(const cuda::Place& place, std::size_t launch, const std::byte* workspace);

  const Image& image_;
  std::vector<std::shared_ptr<cuda::LoadedKernels>> modules_;  ///< those of the image
  std::shared_ptr<GridMemory> memory_;
  std::vector<library::PreparedCall> calls_;                        ///< of the image
  ForkMutex calls_mutex_;                                           ///< of call_memory_
  std::map<int, std::unique_ptr<cuda::StreamMemory>> call_memory_;  ///< by device
  std::vector<std::size_t> first_test_;                             ///< of each launch, among those of all
  std::vector<FlagTest> tests_;                                     ///< of all launches, in order
  cuda::HostFlags flags_;             ///< for each of these whether it failed in a run that did not wait
  std::vector<std::size_t> aligned_;  ///< arguments that must be multiples of vector_alignment
};

}  // namespace tc::engine
