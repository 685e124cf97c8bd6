#include "tc/cpu/thread_pool.h"
#include "tc/engine/machine/machine_kind.h"

namespace tc::engine {
namespace {

std::string code_tools() { return ""; }

std::string name(int) { return cache::measurement_here().machine; }

cache::Circumstances circumstances(const Target&) { return {name(0), cpu::num_threads()}; }

cpu::MachineLimits limits(const Target& target, int threads, DType type) {
  return cpu::machine_limits(threads, type, target.l3_bytes);
}

}  // namespace

const MachineKind& cpu_machine() {
  static const auto& kind = *new MachineKind{.own_memory = false,
                                             .no_model = "",
                                             .shares_options = false,
                                             .code_tools = code_tools,
                                             .name = name,
                                             .circumstances = circumstances,
                                             .limits = limits};
  return kind;
}

}  // namespace tc::engine
