#include "tc/cpu/openmp_runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <time.h>

#include <array>
#include <atomic>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace tc::cpu {
namespace {

/// Names that files of OpenMP runtimes begin with: GCC's, Intel's, LLVM's.
constexpr std::array<std::string_view, 3> runtime_files = {"libgomp", "libiomp5", "libomp"};
constexpr std::string_view torch_file = "libtorch_cpu";

/// How long the list of loaded libraries is not read again, in seconds.
constexpr long fresh = 1;

struct Search {
  std::string_view name;
  std::string path;  ///< of the first loaded library whose file begins with name; empty where there is none
};

int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const std::string_view path = info->dlpi_name;
  if (!path.substr(path.rfind('/') + 1).starts_with(search.name)) return 0;
  search.path = path;
  return 1;
}

/// The runtime that a loaded library whose file begins with \p name is, or was linked with.
std::optional<OpenMpRuntime> runtime_of(std::string_view name) {
  Search search{name, {}};
  ::dl_iterate_phdr(visit, &search);
  void* library = search.path.empty() ? nullptr : ::dlopen(search.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return std::nullopt;
  OpenMpRuntime found{};
  auto bind = [&](const char* function, auto*& pointer) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(::dlsym(library, function));
    return pointer != nullptr;
  };
  if (bind("GOMP_parallel", found.parallel) && bind("omp_get_max_threads", found.max_threads) &&
      bind("omp_in_parallel", found.in_parallel) && bind("omp_get_thread_num", found.thread_num))
    return found;
  ::dlclose(library);
  return std::nullopt;
}

/// Seconds since some moment, from a clock that costs no system call.
long coarse_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec;
}

/// What was found, and when it was last looked for. Never destroyed: kernels may run until the process ends.
class Finder {
 public:
  template <typename Look>
  const OpenMpRuntime* find(Look look) {
    if (const auto* runtime = found_.load(std::memory_order_acquire)) return runtime;
    long now = coarse_seconds(), last = looked_.load(std::memory_order_relaxed);
    if (now < last + fresh || !looked_.compare_exchange_strong(last, now)) return nullptr;
    if (auto runtime = look()) found_.store(new OpenMpRuntime(*runtime), std::memory_order_release);
    return found_;
  }

 private:
  std::atomic<const OpenMpRuntime*> found_{nullptr};
  std::atomic<long> looked_{-fresh};
};

std::optional<OpenMpRuntime> look_for_any() {
  for (auto name : runtime_files)
    if (auto runtime = runtime_of(name)) return runtime;
  return std::nullopt;
}

}  // namespace

const OpenMpRuntime* openmp_of_torch() {
  static auto& finder = *new Finder;
  return finder.find([] { return runtime_of(torch_file); });
}

const OpenMpRuntime* any_openmp() {
  if (const auto* runtime = openmp_of_torch()) return runtime;
  static auto& finder = *new Finder;
  return finder.find(look_for_any);
}

}  // namespace tc::cpu
