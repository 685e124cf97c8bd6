#include <vector>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/cuda/driver.h"
#include "tc/cuda/nvrtc.h"
#include "tc/engine/machine/machine_kind.h"

namespace tc::engine {
namespace {

/// The versions of NVRTC and of the driver, as far as they are here.
std::string code_tools() {
  std::vector<std::string> tools;
  if (auto version = cuda::nvrtc_version()) tools.push_back(str("nvrtc ", *version));
  if (auto version = cuda::driver_version()) tools.push_back(str("driver ", *version));
  return join(tools);
}

/// The GPU that is nearest to \p target: of its architecture, with as many multiprocessors if there is one; nowhere where
/// there is none of that architecture.
cache::Circumstances circumstances(const Target& target) try {
  std::string name;
  for (int i = 0; i < cuda::device_count(); ++i) {
    if (cuda::device_architecture(i) != target.grid->architecture) continue;
    bool same = Target::parse(cuda::device_target(i)).grid->multiprocessors == target.grid->multiprocessors;
    if (name.empty() || same) name = cuda::device_name(i);
    if (same) break;
  }
  return {name, 0};
} catch (const Error&) {
  return {};
}

cpu::MachineLimits limits(const Target&, int, DType) { return {}; }

}  // namespace

const MachineKind& cuda_machine() {
  static const auto& kind = *new MachineKind{.own_memory = true,
                                             .no_model = "the model is of a CPU's caches, not of a GPU's",
                                             .shares_options = true,
                                             .code_tools = code_tools,
                                             .name = cuda::device_name,
                                             .circumstances = circumstances,
                                             .limits = limits};
  return kind;
}

}  // namespace tc::engine
