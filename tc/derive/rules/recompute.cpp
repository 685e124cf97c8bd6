#include "tc/derive/rules/recompute.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/base/contains.h"
#include "tc/base/str.h"

namespace tc::derive {

namespace {

std::int64_t elements(const lang::Box& box) {
  std::int64_t result = 1;
  for (const auto& range : box) result *= range.extent;
  return result;
}

/// The names by which a group reads tensors that have copies of their definition.
using Names = std::map<std::string, std::string>;

Scope renamed(Scope scope, const Names& names) {
  if (const auto own = names.find(scope.tensor); own != names.end()) scope.tensor = own->second;
  for (auto& part : scope.cases)
    for (auto& read : part.reads)
      if (const auto found = names.find(read.tensor); found != names.end()) read.tensor = found->second;
  return scope;
}

class Recomputer {
 public:
  Recomputer(const Program& program, const std::vector<std::vector<std::string>>& groups)
      : program_(program), wide_(wide_temporaries(program)), groups_(groups) {}

  std::vector<Step> run() {
    Step step{"recompute", "", program_, {}};
    std::vector<std::string> others;
    for (const auto& scope : program_.scopes)
      if (!contains(wide_, scope->tensor) && std::none_of(groups_.begin(), groups_.end(), [&](const auto& group) {
            return contains(group, scope->tensor);
          }))
        others.push_back(scope->tensor);
    std::set<std::string> taken = needed(others);
    for (const auto& group : groups_) {
      Names names;
      const auto own = needed(group);
      for (const auto& scope : program_.scopes)
        if (own.count(scope->tensor)) add(scope->tensor, taken.count(scope->tensor) > 0, names, step);
      for (const auto& sum : group) replace(sum, names, step.after);
      taken.insert(own.begin(), own.end());
    }
    if (step.certificate.duplicates.empty()) return {};
    std::set<std::string> originals;
    for (const auto& [copy, original] : step.certificate.duplicates) originals.insert(original);
    step.what = join(originals);
    return {step};
  }

 private:
  /// The wide temporaries that \p readers are made of.
  std::set<std::string> needed(const std::vector<std::string>& readers) const {
    std::set<std::string> result;
    for (auto place = program_.scopes.rbegin(); place != program_.scopes.rend(); ++place)
      if (contains(readers, (*place)->tensor) || result.count((*place)->tensor))
        for (const auto& part : (*place)->cases)
          for (const auto& read : part.reads)
            if (contains(wide_, read.tensor)) result.insert(read.tensor);
    return result;
  }

  /// The definition of \p tensor with the reads that \p names has; one more, behind it, if it \p is_shared.
  void add(const std::string& tensor, bool is_shared, Names& names, Step& step) const {
    if (!is_shared) return replace(tensor, names, step.after);
    names[tensor] = fresh_tensor(step.after, tensor);
    step.certificate.duplicates[names[tensor]] = tensor;
    const auto place = std::find_if(step.after.scopes.begin(), step.after.scopes.end(),
                                    [&](const ScopePtr& scope) { return scope->tensor == tensor; });
    step.after.scopes.insert(place + 1, std::make_shared<const Scope>(renamed(*program_.find(tensor), names)));
  }

  void replace(const std::string& tensor, const Names& names, Program& program) const {
    for (auto& scope : program.scopes)
      if (scope->tensor == tensor) scope = std::make_shared<const Scope>(renamed(*scope, names));
  }

  const Program& program_;
  std::vector<std::string> wide_;
  const std::vector<std::vector<std::string>>& groups_;
};

}  // namespace

std::vector<std::string> wide_temporaries(const Program& program) {
  std::int64_t most = 0;
  for (const auto& output : program.outputs) most = std::max(most, elements(program.box(output)));
  std::vector<std::string> result;
  for (const auto& scope : program.scopes)
    if (!program.is_output(scope->tensor) && elements(scope->box) > most) result.push_back(scope->tensor);
  return result;
}

std::vector<Step> recomputed(const Program& program, const std::vector<std::vector<std::string>>& groups) {
  return Recomputer(program, groups).run();
}

}  // namespace tc::derive
