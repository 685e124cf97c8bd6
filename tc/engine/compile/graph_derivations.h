#pragma once

#include <optional>
#include <vector>

#include "tc/engine/compile/compile.h"
#include "tc/engine/compile/derive_part.h"
#include "tc/graph/graph.h"

namespace tc::engine {

/// \p depth, if options.derive may be that. Throws OptionsError for a negative one.
int checked_derive(int depth);

/// A derived program is taken where it is so many times as cheap as the part by the model, which is no better than that in telling
/// different programs apart: benchmarks/derivation.py. Measured prices decide by themselves.
constexpr double least_derived_gain = 1.5;

/// The same of programs that are the part without its copies: they do less, and are dearer where they should then read by large strides.
constexpr double least_gain_of_fewer_copies = 0.8;

/// \p graph with nodes computed by equal programs, and what became of which.
struct DerivedPlan {
  graph::Graph graph;
  std::vector<DerivedNode> nodes;  ///< equal nodes once
};

/// Is \p function a def of a text, without calls?
bool is_call_free(const Function& function);
/// Is it, and of one statement, so that the whole is its one node?
bool is_one_statement(const Function& function);

/// \p graph with nodes computed by the cheapest programs that rules derive from them to depth options.derive (PartDerivations),
/// each of which has been proved. First the parts that hold copies are derived as one program each, by fusing alone: copies
/// that reorder a tensor and put it back cancel. Then nodes that stand together between what is not linear (linear_groups) are one program,
/// by rules between scopes, where that gains more than they do one by one; then each node that reduces is derived by
/// itself. \p has_stayed: all nodes as one program have been looked at, and are no group any more. Nothing where
/// options.derive is 0, or no node is worth it.
std::optional<DerivedPlan> derive_nodes(const graph::Graph& graph, const CompileOptions& options,
                                        bool has_stayed = false);

/// \p graph, of one node, computed by the program that options.derivation derives from it; nothing where that is empty or about
/// another program. Throws OptionsError where it is not proved.
std::optional<DerivedPlan> derive_as_given(const graph::Graph& graph, const CompileOptions& options);

/// The parts of \p function that a compile for \p arguments derives, different ones once, each with \p most programs at most, the
/// cheapest by the model first: what tuning measures. None for a def that is no graph.
/// Throws as compile().
std::vector<DerivablePart> derivable_parts(const std::shared_ptr<const Function>& function,
                                           const std::vector<Argument>& arguments, const CompileOptions& options,
                                           std::size_t most);

}  // namespace tc::engine
