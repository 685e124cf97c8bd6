#include "tc/engine/run/grid_runner.h"

#include <algorithm>
#include <optional>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/run/pointer_table.h"

namespace tc::engine {
namespace {

/// Bytes that are read at once although the flags are fewer.
constexpr std::size_t near_bytes = 4096;

/// Behind the last of \p tests from \p first on whose flags follow one another closely in memory.
std::size_t end_of_run(const std::vector<FlagTest>& tests, std::size_t first) {
  auto end = first + 1;
  while (end < tests.size() && tests[end].offset > tests[end - 1].offset &&
         tests[end].offset - tests[first].offset < near_bytes)
    ++end;
  return end;
}

}  // namespace

GridRunner::GridRunner(const Image& image) : image_(image), memory_(image.workspace_bytes) {
  for (const auto& code : image_.modules) modules_.push_back(std::make_unique<cuda::LoadedKernels>(code));
  for (const auto& launch : image_.launches) {
    const auto& call = std::get<KernelCall>(launch.code);
    for (int pointer : image_.modules[call.module].kernels[call.kernel].aligned)
      if (const auto* argument = std::get_if<ArgumentSlot>(&launch.slots[static_cast<std::size_t>(pointer)]))
        aligned_.push_back(argument->index);
  }
  std::sort(aligned_.begin(), aligned_.end());
  aligned_.erase(std::unique(aligned_.begin(), aligned_.end()), aligned_.end());
}

void GridRunner::prepare() {
  auto place = cuda::current_place();
  for (const auto& module : modules_) module->prepare(place.device);
  memory_.prepare(place);
}

void GridRunner::check_alignment(void* const* arguments) const {
  for (auto argument : aligned_)
    if (const auto& taken = image_.arguments[argument]; !is_aligned(taken.spec, arguments[argument]))
      throw ArgumentError(str("'", taken.name, "' does not begin at a multiple of ", vector_alignment, " bytes, as '",
                              image_.function, "' was compiled for: compile for this tensor, or pass a copy, ",
                              taken.name, ".clone()"));
}

void GridRunner::test(const cuda::Place& place, const Launch& launch, const std::byte* workspace) const {
  if (launch.tests.empty()) return;
  if (cuda::is_capturing(place))
    throw ArgumentError(str("'", image_.function,
                            "' tests the values of its index tensors on each call, which a graph cannot: ",
                            "call it outside of the capture"));
  for (std::size_t first = 0, end; first < launch.tests.size(); first = end) {
    end = end_of_run(launch.tests, first);
    auto begin = launch.tests[first].offset;
    auto bytes = cuda::read_bytes(place, workspace + begin, launch.tests[end - 1].offset - begin + 1);
    for (auto i = first; i < end; ++i)
      if (bytes[launch.tests[i].offset - begin] != std::byte{0}) throw ArgumentError(launch.tests[i].message);
  }
}

void GridRunner::run(void* const* arguments, std::chrono::nanoseconds* kernel_time) {
  check_alignment(arguments);
  auto place = cuda::current_place();
  auto* workspace = memory_.at(place);
  std::unique_lock lock(mutex_, std::defer_lock);
  if (workspace) lock.lock();
  std::optional<cuda::Timer> timer;
  if (kernel_time) timer.emplace(place);
  for (const auto& launch : image_.launches) {
    PointerTable table(launch.slots.size());
    for (std::size_t i = 0; i < launch.slots.size(); ++i)
      table[i] = pointer_of(launch.slots[i], image_, arguments, reinterpret_cast<std::uint8_t*>(workspace));
    const auto& call = std::get<KernelCall>(launch.code);
    modules_[call.module]->launch(place, call.kernel, table.data(), launch.slots.size());
    test(place, launch, workspace);
  }
  if (timer) *kernel_time += std::chrono::nanoseconds(timer->stop());
}

}  // namespace tc::engine
