#include "tc/lang/check/scope.h"

#include <algorithm>

#include "tc/base/str.h"

namespace tc::lang {

bool Scope::is_size(const std::string& name) const {
  return std::find(sizes.begin(), sizes.end(), name) != sizes.end();
}

Surroundings Scope::surroundings() const {
  Surroundings result;
  for (const auto& [name, tensor] : tensors)
    if (tensor.rank) result.ranks[name] = *tensor.rank;
  if (!statement) return result;
  result.target = statement->target;
  for (const auto& subscript : statement->subscripts)
    if (const auto* name = std::get_if<Name>(&subscript->node)) result.subscripts.push_back(name->id);
  return result;
}

bool Scope::is_integer_parameter(const std::string& name) const {
  const auto found = tensors.find(name);
  return found != tensors.end() && found->second.kind == TensorState::Kind::Param && found->second.rank == 0 &&
         found->second.type && is_integer(*found->second.type);
}

bool Scope::reads_in_place(const std::string& tensor, const std::vector<ExprPtr>& subscripts) const {
  return !updated.empty() && tensor == updated && equal(subscripts, updated_at);
}

std::vector<std::string> Scope::readable_tensors() const {
  std::vector<std::string> names;
  for (const auto& [name, state] : tensors)
    if (state.assigned || state.kind == TensorState::Kind::Param) names.push_back(name);
  return names;
}

std::string taken_as(const Scope& scope, const std::string& name) {
  if (scope.defs.count(name)) return str("'", name, "' is a function of this program");
  if (scope.is_size(name)) return str("'", name, "' is a size");
  if (scope.tensors.count(name)) return str("'", name, "' is a tensor");
  return {};
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates) {
  const std::string near = closest(name, candidates);
  return near.empty() ? near : str("did you mean '", near, "'?");
}

std::string counted(std::size_t count, const std::string& noun) { return str(count, " ", noun, count == 1 ? "" : "s"); }

}  // namespace tc::lang
