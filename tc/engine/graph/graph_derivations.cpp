#include "tc/engine/graph/graph_derivations.h"

#include <algorithm>
#include <map>

#include "tc/base/str.h"
#include "tc/engine/compile/bind_constants.h"
#include "tc/engine/parts/linear_groups.h"
#include "tc/graph/bind.h"
#include "tc/graph/constant_nodes.h"
#include "tc/graph/drop_copies.h"
#include "tc/graph/merge_nodes.h"
#include "tc/graph/new_defs.h"
#include "tc/graph/replace_nodes.h"

namespace tc::engine {
namespace {

/// The linear groups of \p graph, but for that of all nodes where \p has_stayed.
std::vector<std::vector<std::size_t>> groups_of(const graph::Graph& graph, const std::set<std::string>& constants,
                                                bool has_stayed) {
  auto groups = linear_groups(graph, constants);
  if (has_stayed) std::erase_if(groups, [&](const auto& group) { return group.size() == graph.nodes.size(); });
  return groups;
}

/// Does \p node copy a tensor, in another order of dimensions, in part, or as it is?
bool is_copy(const graph::Node& node) {
  if (node.def->def.statements.size() != 1) return false;
  const auto* assignment = std::get_if<lang::Assignment>(&node.def->def.statements[0].node);
  return assignment && !assignment->reduction && std::holds_alternative<lang::Access>(assignment->rhs->node);
}

/// The parts of \p graph that hold copies and more.
std::vector<std::vector<std::size_t>> parts_with_copies(const graph::Graph& graph,
                                                        const std::set<std::string>& constants) {
  std::vector<std::vector<std::size_t>> result;
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_copy)) return result;
  graph::PartitionLimits limits;
  limits.apart = graph::constant_nodes(graph, constants);
  for (const auto& part : graph::partition(graph, graph::Partition::Auto, limits))
    if (part.nodes.size() > 1 &&
        std::any_of(part.nodes.begin(), part.nodes.end(), [&](auto node) { return is_copy(graph.nodes[node]); }))
      result.push_back(part.nodes);
  return result;
}

/// Derives the nodes of a plan's graph.
class Deriving {
 public:
  Deriving(const graph::Graph& graph, const CompileOptions& options)
      : derivations_(options),
        constants_(names_of(options.constants)),
        rules_(options.derive > 0 ? derive::Rules::All : derive::Rules::Rolled),
        plan_{graph, {}} {}

  std::optional<DerivedPlan> run(bool has_stayed) {
    if (rules_ == derive::Rules::Rolled) {
      derive_one_by_one();
      return plan_.nodes.empty() ? std::nullopt : std::optional(std::move(plan_));
    }
    cancel_copies();
    derive_together(has_stayed);
    derive_one_by_one();
    return plan_.nodes.empty() ? std::nullopt : std::optional(std::move(plan_));
  }

  /// Parts without the copies that fusing takes out of them, where that is cheaper.
  const graph::Graph& cancel_copies() {
    std::vector<std::vector<std::size_t>> groups;
    std::vector<const DerivedPart*> programs;
    for (auto& nodes : parts_with_copies(plan_.graph, constants_)) {
      const auto* program = derivations_.of(plan_.graph, graph::make_part(plan_.graph, nodes), derive::Rules::Copies);
      if (!program) continue;
      groups.push_back(std::move(nodes));
      programs.push_back(program);
    }
    replace(groups, programs);
    return plan_.graph;
  }

 private:
  const DerivedPart* derived(std::size_t node) {
    if (rules_ == derive::Rules::Rolled && !may_roll(plan_.graph.nodes[node].def->def)) return nullptr;
    return derivations_.of(plan_.graph, graph::make_part(plan_.graph, {node}), rules_);
  }

  /// Groups whose program gains more than their nodes do one by one.
  void derive_together(bool has_stayed) {
    std::vector<std::vector<std::size_t>> groups;
    std::vector<const DerivedPart*> programs;
    for (auto& group : groups_of(plan_.graph, constants_, has_stayed)) {
      const auto* together = derivations_.of(plan_.graph, graph::make_part(plan_.graph, group), derive::Rules::Between);
      if (!together) continue;
      double one_by_one = 0;
      for (const auto node : group)
        if (const auto* alone = derived(node)) one_by_one += alone->gain_us();
      if (together->gain_us() <= one_by_one) continue;
      groups.push_back(std::move(group));
      programs.push_back(together);
    }
    replace(groups, programs);
  }

  /// Each of \p groups, computed by one of \p programs.
  void replace(const std::vector<std::vector<std::size_t>>& groups, const std::vector<const DerivedPart*>& programs) {
    if (groups.empty()) return;
    auto merged = graph::merge_nodes(plan_.graph, groups);
    plan_.graph = std::move(merged.graph);
    std::map<std::size_t, const DerivedPart*> by;
    for (std::size_t g = 0; g < groups.size(); ++g) by[merged.merged[g]] = programs[g];
    replace(by);
  }

  void derive_one_by_one() {
    std::map<std::size_t, const DerivedPart*> by;
    for (std::size_t n = 0; n < plan_.graph.nodes.size(); ++n)
      if (const auto* program = derived(n)) by[n] = program;
    replace(by);
  }

  void replace(const std::map<std::size_t, const DerivedPart*>& by) {
    if (by.empty()) return;
    std::map<std::size_t, lang::Def> defs;
    for (const auto& [node, program] : by) {
      defs[node] = program->def;
      if (told_.insert(program).second) plan_.nodes.push_back(program->report);
    }
    plan_.graph = graph::replace_nodes(plan_.graph, defs);
  }

  PartDerivations derivations_;
  std::set<std::string> constants_;
  derive::Rules rules_;  ///< for single nodes
  DerivedPlan plan_;
  std::set<const DerivedPart*> told_;
};

/// By the model; what it does not price goes last.
bool is_cheaper(const DerivableProgram& a, const DerivableProgram& b) {
  return b.seconds <= 0 ? a.seconds > 0 : a.seconds > 0 && a.seconds < b.seconds;
}

/// The parts that Deriving asks for in \p given once its copies are less, added to \p result where their keys are new.
void add_parts(const graph::Graph& given, const CompileOptions& options, std::size_t most, bool has_whole,
               std::vector<DerivablePart>& result) {
  const PartDerivations derivations(options);
  Deriving deriving(given, options);
  const auto& graph = deriving.cancel_copies();
  const auto add = [&](const std::vector<std::size_t>& nodes, derive::Rules rules) {
    auto part = derivations.programs_of(graph, graph::make_part(graph, nodes), rules, most);
    const auto is_known = [&](const DerivablePart& known) { return part && known.key == part->key; };
    if (part) std::stable_sort(part->programs.begin(), part->programs.end(), is_cheaper);
    if (part && !part->programs.empty() && std::none_of(result.begin(), result.end(), is_known))
      result.push_back(std::move(*part));
  };
  for (const auto& group : groups_of(graph, names_of(options.constants), has_whole)) add(group, derive::Rules::Between);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) add({n}, derive::Rules::All);
}

}  // namespace

int checked_derive(int depth) {
  if (depth < 0) throw OptionsError(str("derive is a number of rules, 0 for none, not ", depth));
  return depth;
}

bool rolls_maxima(const CompileOptions& options) {
  return options.target.grid && options.mapping.construct() != options::Construction::Rules &&
         !options.mapping.values().batch_invariant;
}

bool may_roll(const lang::Def& def) {
  bool has_maximum = false, has_exponential = false;
  int sums = 0;
  for (const auto& statement : def.statements) {
    const auto* assignment = std::get_if<lang::Assignment>(&statement.node);
    if (!assignment) return false;
    sums += assignment->reduction == ReductionOp::Sum ? 1 : 0;
    has_maximum = has_maximum || assignment->reduction == ReductionOp::Max || assignment->reduction == ReductionOp::Min;
    lang::for_each_expr(assignment->rhs, [&](const lang::ExprPtr& expr) {
      const auto* call = std::get_if<lang::Call>(&expr->node);
      has_exponential = has_exponential || (call && call->function == "exp");
    });
  }
  return has_exponential && (has_maximum || sums >= 3);
}

bool is_call_free(const Function& function) {
  return function.defs && function.defs->call_free.count(function.name()) > 0;
}

bool is_one_statement(const Function& function) {
  return is_call_free(function) && function.def.statements.size() == 1;
}

std::optional<DerivedPlan> derive_nodes(const graph::Graph& graph, const CompileOptions& options, bool has_stayed) {
  if (options.derive == 0 && !rolls_maxima(options)) return std::nullopt;
  return Deriving(graph, options).run(has_stayed);
}

std::optional<DerivedPlan> derive_as_given(const graph::Graph& graph, const CompileOptions& options) {
  if (options.derivation.empty()) return std::nullopt;
  const PartDerivations derivations(options);
  const auto derived = derivations.given(graph, graph::make_part(graph, {0}), options.derivation);
  if (!derived) return std::nullopt;
  return DerivedPlan{graph::replace_nodes(graph, {{0, derived->def}}), {derived->report}};
}

std::vector<DerivablePart> derivable_parts(const std::shared_ptr<const Function>& function,
                                           const std::vector<Argument>& arguments, const CompileOptions& options,
                                           std::size_t most) {
  std::vector<DerivablePart> result;
  if (!function->defs) return result;
  const auto inputs = specs(arguments, false);
  if (is_call_free(*function))
    add_parts(graph::graph_of_call(function->defs, function->name(), inputs), options, most, false, result);
  if (is_one_statement(*function)) return result;
  if (const auto graph = graph::bind(function->defs, function->name(), inputs))
    add_parts(graph::drop_copies(*graph), options, most, is_call_free(*function), result);
  return result;
}

}  // namespace tc::engine
