#include "tc/engine/run/grid_runner.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/engine/run/earlier_run_error.h"
#include "tc/engine/run/pointer_table.h"
#include "tc/library/registry.h"

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

std::vector<FlagTest> tests_of(const Image& image) {
  std::vector<FlagTest> result;
  for (const auto& launch : image.launches) result.insert(result.end(), launch.tests.begin(), launch.tests.end());
  return result;
}

/// The slots of \p launch whose pointers must be multiples of vector_alignment: for a routine of a library all that it takes.
std::vector<std::size_t> aligned_slots(const Launch& launch, const Image& image) {
  std::vector<std::size_t> result;
  if (const auto* routine = std::get_if<RoutineCall>(&launch.code)) {
    const auto& call = image.calls[routine->call];
    for (const auto& operand : call.operands) result.push_back(operand.argument);
    for (const auto& op : call.post_ops)
      if (op.operand) result.push_back(op.operand->argument);
    return result;
  }
  const auto& call = std::get<KernelCall>(launch.code);
  for (int pointer : image.modules[call.module].kernels[call.kernel].aligned)
    result.push_back(static_cast<std::size_t>(pointer));
  return result;
}

/// Those that there are. Never destroyed: executables may end while the statics of a process do.
struct Runners {
  ForkMutex mutex;
  std::set<GridRunner*> all;
};
Runners& runners() {
  static auto& only = *new Runners;
  return only;
}

}  // namespace

GridRunner::GridRunner(const Image& image, LoadedCode& loaded)
    : image_(image), tests_(tests_of(image)), flags_(tests_.size()) {
  for (std::size_t i = 0, tests = 0; i < image_.launches.size(); tests += image_.launches[i++].tests.size())
    first_test_.push_back(tests);
  if (loaded.modules.empty())
    for (const auto& code : image_.modules) loaded.modules.push_back(std::make_shared<cuda::LoadedKernels>(code));
  if (!loaded.memory) loaded.memory = std::make_shared<GridMemory>(image_.workspace_bytes);
  modules_ = loaded.modules;
  memory_ = loaded.memory;
  for (const auto& call : image_.calls) calls_.emplace_back(call, library::find_library(call.library));
  for (const auto& launch : image_.launches)
    for (const auto slot : aligned_slots(launch, image_))
      if (const auto* argument = std::get_if<ArgumentSlot>(&launch.slots[slot])) aligned_.push_back(argument->index);
  std::sort(aligned_.begin(), aligned_.end());
  aligned_.erase(std::unique(aligned_.begin(), aligned_.end()), aligned_.end());
  if (tests_.empty()) return;
  std::lock_guard lock(runners().mutex);
  runners().all.insert(this);
}

GridRunner::~GridRunner() {
  std::lock_guard lock(runners().mutex);
  runners().all.erase(this);
}

void GridRunner::prepare() {
  auto place = cuda::current_place();
  for (const auto& module : modules_) module->prepare(place.device);
  memory_->blocks.prepare(place);
  if (!calls_.empty()) memory_of_calls(place.device).prepare(place);
  if (!tests_.empty()) flags_.prepare(place.device);
}

cuda::StreamMemory& GridRunner::memory_of_calls(int device) {
  std::lock_guard lock(calls_mutex_);
  auto& memory = call_memory_[device];
  if (!memory) {
    cuda::InContext context(device);
    std::size_t bytes = 0;
    for (const auto& call : calls_) bytes = std::max(bytes, call.prepare(device));
    memory = std::make_unique<cuda::StreamMemory>(bytes);
  }
  return *memory;
}

void GridRunner::put(const cuda::Place& place, const Launch& launch, void* const* pointers,
                     std::byte* workspace_of_calls) {
  if (const auto* routine = std::get_if<RoutineCall>(&launch.code)) {
    cuda::InContext context(place.device);
    cuda::Relaxed loading;
    return calls_[routine->call].enqueue(pointers, {place.device, place.stream, workspace_of_calls});
  }
  const auto& call = std::get<KernelCall>(launch.code);
  modules_[call.module]->launch(place, call.kernel, pointers, launch.slots.size());
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
                            "call it outside of the capture, or do not wait for them: defer_checks()"));
  for (std::size_t first = 0, end; first < launch.tests.size(); first = end) {
    end = end_of_run(launch.tests, first);
    auto begin = launch.tests[first].offset;
    auto bytes = cuda::read_bytes(place, workspace + begin, launch.tests[end - 1].offset - begin + 1);
    for (auto i = first; i < end; ++i)
      if (bytes[launch.tests[i].offset - begin] != std::byte{0}) throw ArgumentError(launch.tests[i].message);
  }
}

void GridRunner::keep(const cuda::Place& place, std::size_t launch, const std::byte* workspace) {
  std::vector<const std::byte*> sources;
  for (const auto& test : image_.launches[launch].tests) sources.push_back(workspace + test.offset);
  if (!sources.empty()) flags_.raise(place, first_test_[launch], sources);
}

void GridRunner::check_earlier() {
  if (const auto failed = flags_.take())
    throw EarlierRunError(str("in an earlier run of '", image_.function, "', which did not wait for its tests, ",
                              tests_[*failed].message, ": that run read or wrote other elements in their place"));
}

void GridRunner::check_all() {
  std::lock_guard lock(runners().mutex);
  std::set<int> devices;
  for (const auto* runner : runners().all) devices.merge(runner->flags_.devices());
  for (const int device : devices) cuda::synchronise_device(device);
  for (auto* runner : runners().all) runner->check_earlier();
}

void GridRunner::run(void* const* arguments, std::chrono::nanoseconds* kernel_time, TestOutcome outcome) {
  check_alignment(arguments);
  auto place = cuda::current_place();
  auto* workspace = memory_->blocks.at(place);
  auto* workspace_of_calls = calls_.empty() ? nullptr : memory_of_calls(place.device).at(place);
  std::unique_lock lock(memory_->mutex, std::defer_lock);
  if (workspace || workspace_of_calls) lock.lock();
  std::optional<cuda::Timer> timer;
  if (kernel_time) timer.emplace(place);
  for (std::size_t l = 0; l < image_.launches.size(); ++l) {
    const auto& launch = image_.launches[l];
    PointerTable table(launch.slots.size());
    for (std::size_t i = 0; i < launch.slots.size(); ++i)
      table[i] = pointer_of(launch.slots[i], image_, arguments, reinterpret_cast<std::uint8_t*>(workspace));
    put(place, launch, table.data(), workspace_of_calls);
    if (outcome == TestOutcome::Awaited)
      test(place, launch, workspace);
    else
      keep(place, l, workspace);
  }
  if (timer) *kernel_time += std::chrono::nanoseconds(timer->stop());
}

}  // namespace tc::engine
