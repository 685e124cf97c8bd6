#include "tc/engine/define/generic.h"

#include <set>

#include "tc/base/str.h"
#include "tc/lang/generic/instantiate.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

/// The text of the defs of \p file that \p def calls, straight or not, as they are written.
std::string texts_of_called(const lang::Def& def, const lang::File& file, std::set<std::string>& named) {
  std::string text;
  for (const auto& statement : def.statements) {
    const auto* call = std::get_if<lang::CallStatement>(&statement.node);
    const auto* callee = call ? file.find(call->def) : nullptr;
    if (!callee || !named.insert(callee->name).second) continue;
    text += texts_of_called(*callee, file, named) + lang::print(*callee) + "\n";
  }
  return text;
}

std::shared_ptr<const Function> make(const Generic& generic, const lang::Instance& instance) {
  std::set<std::string> named{generic.name};
  const auto& def = generic.def();
  const auto text = texts_of_called(def, *generic.file, named) + lang::print(lang::instantiate(def, instance));
  try {
    return define(text, generic.file->name).function(generic.name);
  } catch (const SemanticError& error) {
    throw ArgumentError(str("'", generic.name, "' cannot have ", print(instance), ": ", error.what()));
  }
}

}  // namespace

std::shared_ptr<const Function> instance_for(const std::shared_ptr<const Function>& function,
                                             const std::vector<lang::Operand>& operands) {
  if (!function->generic) return function;
  auto& generic = *function->generic;
  const auto instance = lang::instance_for(generic.def(), operands);
  const std::lock_guard lock(generic.mutex);
  auto& made = generic.instances[instance];
  if (!made) made = make(generic, instance);
  return made;
}

std::shared_ptr<const Function> instance_for(const std::shared_ptr<const Function>& function,
                                             const std::vector<TensorSpec>& inputs) {
  if (!function->generic) return function;
  std::vector<lang::Operand> operands;
  for (const auto& input : inputs) operands.push_back({input.dtype, input.rank()});
  return instance_for(function, operands);
}

}  // namespace tc::engine
