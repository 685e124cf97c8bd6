#include "test/cuda_emulator/emulator.h"

#include <mutex>

#include "test/cuda_emulator/machine.h"

namespace tc::emulator {

std::string_view name(Fault::Kind kind) {
  static constexpr std::string_view names[] = {"out of bounds",
                                               "misaligned access",
                                               "write to an input",
                                               "race",
                                               "deadlock",
                                               "divergent barrier",
                                               "divergent collective",
                                               "shuffle",
                                               "launch",
                                               "runaway",
                                               "unit"};
  return names[static_cast<std::size_t>(kind)];
}

std::string Result::text() const {
  std::string text;
  for (const auto& fault : faults) text += std::string(name(fault.kind)) + ": " + fault.text + "\n";
  return text;
}

Result run(const KernelText& kernel, const LaunchShape& shape, const std::vector<Argument>& arguments,
           const RunOptions& options) {
  static std::mutex one_at_a_time;
  std::lock_guard lock(one_at_a_time);
  Machine machine(Module::load(kernel.text), kernel, shape, arguments, options);
  return machine.run();
}

void poison(const TensorView& view) {
  std::vector<std::int64_t> index(view.shape.size(), 0);
  const auto size = static_cast<std::size_t>(byte_size(view.dtype));
  for (std::int64_t i = 0, n = view.element_count(); i < n; ++i) {
    std::int64_t rest = i, offset = 0;
    for (std::size_t d = view.shape.size(); d-- > 0; rest /= view.shape[d])
      offset += rest % view.shape[d] * view.strides[d];
    std::memset(static_cast<char*>(view.data) + offset * static_cast<std::int64_t>(size), 0xff, size);
  }
}

}  // namespace tc::emulator
