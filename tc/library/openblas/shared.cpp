#include "tc/library/openblas/shared.h"

#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <sstream>

#include "tc/base/fork.h"

namespace tc::library {
namespace {

std::vector<std::string> files() {
  if (const char* file = std::getenv("TC_OPENBLAS")) return {file};
  return {"libopenblas.so.0"};
}

/// The second word of "OpenBLAS 0.3.21 DYNAMIC_ARCH ...".
std::string version_in(const char* config) {
  std::istringstream words(config);
  std::string name, version;
  words >> name >> version;
  return version.empty() ? "unknown" : version;
}

OpenBlas load() {
  OpenBlas result{SharedObject(files()), {}};
  if (!result.object) {
    result.presence.reason = result.object.reason();
    return result;
  }
  char* (*config)() = nullptr;
  const auto& object = result.object;
  if (object.bind("openblas_get_config", config) && object.bind("cblas_sgemm", result.sgemm) &&
      object.bind("cblas_dgemm", result.dgemm) && object.bind("cblas_sgemv", result.sgemv) &&
      object.bind("cblas_dgemv", result.dgemv) && object.bind("openblas_get_num_threads", result.get_num_threads) &&
      object.bind("openblas_set_num_threads", result.set_num_threads))
    result.presence.version = version_in(config());
  else
    result.presence.reason = "it lacks functions of OpenBLAS";
  return result;
}

}  // namespace

void OpenBlas::with_threads(int threads, const std::function<void()>& work) const {
  static auto& mutex = *new ForkSharedMutex;
  {
    std::shared_lock shared(mutex);
    if (get_num_threads() == threads) return work();
  }
  std::unique_lock alone(mutex);
  const int before = get_num_threads();
  set_num_threads(threads);
  work();
  set_num_threads(before);
}

const OpenBlas& shared_openblas() {
  const NoFork loading;
  static const auto& instance = *new OpenBlas(load());
  return instance;
}

}  // namespace tc::library
