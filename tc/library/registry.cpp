#include "tc/library/registry.h"

#include <algorithm>
#include <list>
#include <mutex>

#include "tc/base/error.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/library/cublaslt/cublaslt.h"
#include "tc/library/description/argument_layout.h"
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

std::optional<std::size_t> argument_in_place(const Call& call) {
  const auto* routine = find_library(call.library).routine(call.routine);
  if (!routine || !routine->in_place || call.times() > 1) return std::nullopt;
  const auto op = routine->in_place(call);
  if (!op) return std::nullopt;
  const auto argument = call.post_ops[*op].operand->argument;
  std::ptrdiff_t uses = 0;
  for (const auto& operand : call.operands) uses += operand.argument == argument;
  for (const auto& other : call.post_ops) uses += other.operand && other.operand->argument == argument;
  return uses == 1 ? std::optional(argument) : std::nullopt;
}

void add_library(Library library) {
  auto& all = registry();
  std::lock_guard lock(all.mutex);
  for (const auto& known : all.libraries)
    if (known.name == library.name) throw OptionsError(str("there is a library '", library.name, "' already"));
  all.libraries.push_back(std::move(library));
}

namespace {

/// The operands that \p call of \p arguments copies in each run, whatever layouts these have.
std::ptrdiff_t copies(const Call& call, const std::vector<TensorSpec>& arguments) {
  const auto liked = liked_operands(call);
  std::ptrdiff_t result = 0;
  for (std::size_t i = 0; i < liked.size(); ++i)
    if (const auto& own = call.operands[i]; !(liked[i] == own))
      result += !layout_of_argument(arguments[own.argument], own, liked[i]);
  return result;
}

}  // namespace

std::vector<Call> matches(const Computation& given, const Library& library) {
  if (library.find().version.empty()) return {};
  using Cost = std::pair<std::int64_t, std::ptrdiff_t>;  // how often it is called, and its copies
  std::vector<std::pair<Cost, Call>> found;
  for (const auto& routine : library.routines)
    if (auto call = match(given, library, routine)) found.push_back({{call->times(), 0}, std::move(*call)});
  if (found.size() > 1)
    for (auto& [cost, call] : found) cost.second = copies(call, given.arguments);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Call> result;
  for (auto& [cost, call] : found) result.push_back(std::move(call));
  return result;
}

}  // namespace tc::library
