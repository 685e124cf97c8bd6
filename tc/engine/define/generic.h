#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tc/base/fork.h"
#include "tc/engine/define/function.h"
#include "tc/lang/generic/instance.h"

/// Functions of generic defs: of one text for many element types and ranks.
namespace tc::engine {

/// What makes the instances of a function, and those that have been asked for.
struct Generic {
  std::shared_ptr<const lang::File> file;  ///< as parsed
  std::string name;
  ForkMutex mutex;
  std::map<lang::Instance, std::shared_ptr<const Function>> instances;

  const lang::Def& def() const { return *file->find(name); }
};

/// The function of \p function's def for \p operands, one for each parameter: \p function itself where it is not generic.
/// Made when it is first asked for, from a text of its own. Throws ArgumentError where no instance takes them, or the
/// instance has errors.
std::shared_ptr<const Function> instance_for(const std::shared_ptr<const Function>& function,
                                             const std::vector<lang::Operand>& operands);
/// The same for the types and ranks of \p inputs.
std::shared_ptr<const Function> instance_for(const std::shared_ptr<const Function>& function,
                                             const std::vector<TensorSpec>& inputs);

}  // namespace tc::engine
