#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "tc/polyhedral/core/cluster_view.h"
#include "tc/polyhedral/core/scop.h"
#include "tc/polyhedral/nest/nest.h"
#include "tc/polyhedral/nest/nest_names.h"

namespace tc::polyhedral {

/// A place in a nest that breaks a law: its launch configuration, a step of the trunk, or a branch.
struct NestPart {
  enum class Where { Launch, Step, Branch } where = Where::Launch;
  std::size_t number = 0;
};

/// Throws: \p part breaks \p law because of \p why.
using NestRefusal = std::function<void(const NestPart& part, const std::string& law, const std::string& why)>;

/// Checks the rules of a nest of \p cluster. Throws OptionsError that shows the line and names the violated rule.
///
///   branches   there is one for each statement, in program order
///   digits     on the way to a statement the digits of each of its indices follow one another: the first has no mod, each
///              other has the step of the one above as its mod, and the last one has step 1
///   cores      they run the outermost loop of the trunk, and no other
///   lanes      a branch has one loop in lanes, its innermost; the trunk has none, nor unrolled loops or units
///   sums       iterators of one statement stand in the trunk only with private sums, and only there
///   machine    loops and steps are those of a kernel if the nest has a launch configuration, otherwise of a processor;
///              laws of these: check_grid_nest.h
void check_nest(const Scop& scop, const ClusterView& cluster, const NestNames& names, const Nest& nest);

/// The error of \p law at \p line, whose text is \p text.
[[noreturn]] void fail_nest(int line, const std::string& text, const std::string& law, const std::string& why);

/// Throws that error of a part of \p nest.
NestRefusal refusal_in(const NestNames& names, const Nest& nest);

}  // namespace tc::polyhedral
