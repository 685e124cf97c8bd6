#include "tc/library/cublaslt/shared.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"

namespace tc::library {
namespace {

constexpr int success = 0, allocation_failed = 3;

/// The names come first, so that a library which the process has loaded already, as torch does, is taken.
std::vector<std::string> files() {
  if (const char* file = std::getenv("TC_CUBLASLT")) return {file};
  const std::vector<std::string> names{"libcublasLt.so.13", "libcublasLt.so.12"};
  auto result = names;
  for (const auto& folder : cuda::toolkit_folders())
    for (const auto& name : names) result.push_back(folder + "/" + name);
  return result;
}

/// Are all functions there?
bool bind_all(CublasLt& lt) {
  bool good = true;
  auto bind = [&]<typename Function>(const char* name, Function*& pointer) {
    pointer = reinterpret_cast<Function*>(lt.library.find(name));
    good = good && pointer;
  };
  bind("cublasLtGetVersion", lt.version);
  bind("cublasLtGetStatusName", lt.status_name);
  bind("cublasLtCreate", lt.create);
  bind("cublasLtMatmulDescCreate", lt.operation_create);
  bind("cublasLtMatmulDescDestroy", lt.operation_destroy);
  bind("cublasLtMatmulDescSetAttribute", lt.operation_set);
  bind("cublasLtMatrixLayoutCreate", lt.matrix_create);
  bind("cublasLtMatrixLayoutDestroy", lt.matrix_destroy);
  bind("cublasLtMatrixLayoutSetAttribute", lt.matrix_set);
  bind("cublasLtMatmulPreferenceCreate", lt.preference_create);
  bind("cublasLtMatmulPreferenceDestroy", lt.preference_destroy);
  bind("cublasLtMatmulPreferenceSetAttribute", lt.preference_set);
  bind("cublasLtMatmulAlgoGetHeuristic", lt.propose);
  bind("cublasLtMatmul", lt.multiply);
  return good;
}

CublasLt load() {
  CublasLt result;
  result.library = cuda::Library::open(files());
  if (!result.library) {
    result.presence.reason =
        str("set TC_CUBLASLT to the path of libcublasLt.so, or `pip install nvidia-cublas`; tried:",
            result.library.tried());
    return result;
  }
  if (!bind_all(result)) {
    result.presence.reason = str(result.library.file(), " lacks functions of cuBLASLt 12");
    return result;
  }
  const auto version = result.version();
  result.presence.version = str(version / 10000, ".", version / 100 % 100, ".", version % 100);
  return result;
}

}  // namespace

void CublasLt::check(int status, const char* what) const {
  if (status == success) return;
  const auto text = str("cuBLASLt ", presence.version, " failed to ", what, ": ", status_name(status));
  if (status == allocation_failed) throw ResourceError(text);
  throw DeviceError(text);
}

CublasLt::Handle CublasLt::handle(int device) const {
  static auto& mutex = *new ForkMutex;
  static auto& handles = *new std::map<int, Handle>;
  std::lock_guard lock(mutex);
  auto& made = handles[device];
  if (!made) check(create(&made), "make a handle");
  return made;
}

const CublasLt& shared_cublaslt() {
  const NoFork loading;
  static const auto& instance = *new CublasLt(load());
  return instance;
}

}  // namespace tc::library
