#include "tc/cuda/retired_modules.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "tc/base/fork.h"

namespace tc::cuda {
namespace {

/// Never destroyed: executables may end while the statics of a process do.
struct Retired {
  ForkMutex mutex;
  std::map<int, std::vector<Driver::Module>> modules;  ///< by device
};
Retired& retired() {
  static auto& only = *new Retired;
  return only;
}

}  // namespace

void retire(int device, Driver::Module module) {
  std::lock_guard lock(retired().mutex);
  retired().modules[device].push_back(module);
}

void unload_retired(int device) {
  std::vector<Driver::Module> modules;
  {
    std::lock_guard lock(retired().mutex);
    modules = std::exchange(retired().modules[device], {});
  }
  if (modules.empty()) return;
  if (driver().synchronize_context() == 0)
    for (auto module : modules) driver().unload_module(module);
  else
    for (auto module : modules) retire(device, module);
}

}  // namespace tc::cuda
