#include "tc/library/registry.h"

#include <algorithm>
#include <list>
#include <mutex>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/library/cublaslt/cublaslt.h"
#include "tc/library/match/match.h"
#include "tc/library/onednn/onednn.h"
#include "tc/library/openblas/openblas.h"

namespace tc::library {
namespace {

/// The descriptions of this folder.
std::list<Library> own_libraries() { return {onednn(), openblas(), cublaslt()}; }

struct Registry {
  ForkMutex mutex;
  std::list<Library> libraries = own_libraries();
};

Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

}  // namespace

std::vector<const Library*> libraries() {
  auto& all = registry();
  std::lock_guard lock(all.mutex);
  std::vector<const Library*> result;
  for (const auto& library : all.libraries) result.push_back(&library);
  std::stable_sort(result.begin(), result.end(), [](auto a, auto b) { return a->priority > b->priority; });
  return result;
}

const Library& find_library(const std::string& name) {
  std::vector<std::string> names;
  for (const auto* library : libraries()) {
    if (library->name == name) return *library;
    names.push_back(str("'", library->name, "'"));
  }
  throw OptionsError(str("there is no library '", name, "'; there are ", join(names)));
}

std::vector<Operand> liked_operands(const Call& call) {
  const auto* routine = find_library(call.library).routine(call.routine);
  return routine && routine->guideline ? routine->guideline(call) : call.operands;
}

void add_library(Library library) {
  auto& all = registry();
  std::lock_guard lock(all.mutex);
  for (const auto& known : all.libraries)
    if (known.name == library.name) throw OptionsError(str("there is a library '", library.name, "' already"));
  all.libraries.push_back(std::move(library));
}

std::vector<Call> matches(const Computation& given, const Library& library) {
  if (library.find().version.empty()) return {};
  std::vector<Call> result;
  for (const auto& routine : library.routines)
    if (auto call = match(given, library, routine)) result.push_back(std::move(*call));
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.times() < b.times(); });
  return result;
}

}  // namespace tc::library
