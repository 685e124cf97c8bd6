#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tc/base/fork.h"
#include "tc/engine/define/function.h"

/// Defs of many calls, which stay as they are written until someone asks for them with their calls written out.
namespace tc::engine {

/// The function of such a def with its calls written out, and its program_key(), once they have been asked for.
struct LateInlining {
  ForkMutex mutex;
  std::shared_ptr<const Function> function;
  std::string key;
};

/// The canonical text of \p function, and of all that it calls, straight or not: made when it is first asked for, in time
/// linear in it. Function::key is that of its own statements.
std::string program_key(const Function& function);

/// The defs of \p file for graphs: \p inlined are those that have been understood, but for \p late ones, \p ranges theirs.
std::shared_ptr<const graph::Defs> graph_defs(const std::shared_ptr<const lang::File>& file,
                                              const std::vector<lang::Def>& inlined,
                                              const std::vector<lang::Ranges>& ranges,
                                              const std::set<std::string>& late);

/// Has a statement of \p def, between its calls, an error that shows whatever the sizes of what the calls give are, or an
/// iterator whose range may depend on what can be proved of them? Such a def of \p file is better understood with its
/// calls written out, which tells the error and the range.
bool has_doubtful_statements(const lang::Def& def, const lang::File& file);

}  // namespace tc::engine
