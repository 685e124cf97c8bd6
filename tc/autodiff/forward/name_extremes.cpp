#include "tc/autodiff/forward/name_extremes.h"

#include "tc/autodiff/forward/activity.h"
#include "tc/base/str.h"

namespace tc::autodiff {

using namespace lang;

namespace {

/// The statement that names the value of \p extreme, which reads the name then.
ForwardStatement name_value(ForwardStatement& extreme, const std::string& name, DType type) {
  ForwardStatement made;
  made.target = name;
  made.left = extreme.left;
  made.left.insert(made.left.end(), extreme.reduction.begin(), extreme.reduction.end());
  made.value = extreme.value;
  made.loops = extreme.loops;
  made.place = extreme.place;
  std::vector<std::string> iterators;
  for (const auto& range : made.left) iterators.push_back(range.name);
  extreme.value = access_at(name, iterators, type);
  return made;
}

}  // namespace

NamedExtremes name_extremes(const Forward& forward, const std::set<std::string>& active,
                            const std::vector<std::string>& outputs, FreshNames& names) {
  NamedExtremes result;
  result.forward.versions = forward.versions;
  result.forward.sizes = forward.sizes;
  result.forward.given = forward.given;
  for (std::size_t i = 0; i < forward.statements.size(); ++i) {
    ForwardStatement statement = forward.statements[i];
    const bool extreme = statement.op == ReductionOp::Max || statement.op == ReductionOp::Min;
    if (extreme && active.count(statement.target) && is_stabiliser(forward, i, outputs)) {
      result.stabilisers.insert(statement.target);
    } else if (extreme && active.count(statement.target) && !std::holds_alternative<Access>(statement.value->node)) {
      const DType type = forward.versions.at(statement.target).type;
      const std::string name = names.take(str(statement.target, "_of"));
      const ForwardStatement named = name_value(statement, name, type);
      result.forward.versions[name] = {name, type, named.left, forward.versions.at(statement.target).loops};
      result.forward.statements.push_back(named);
    }
    result.forward.statements.push_back(std::move(statement));
  }
  return result;
}

}  // namespace tc::autodiff
