#pragma once

#include <optional>
#include <vector>

#include "tc/engine/compile/compile_options.h"
#include "tc/engine/graph/derive_part.h"
#include "tc/graph/graph.h"

namespace tc::engine {

/// \p depth, if it is valid for options.derive. Throws OptionsError for a negative one.
int checked_derive(int depth);

/// A derived program is used if the model predicts at least this gain, because the model distinguishes different
/// programs no better than that: benchmarks/derivation.py. Measured prices need no minimum gain.
constexpr double least_derived_gain = 1.5;

/// The same for programs that are the part without its copies: they do less work, and are slower only if they then
/// read with large strides.
constexpr double least_gain_of_fewer_copies = 0.8;

/// The same for rolled maxima, whose kernel writes no tensor of all iterations.
constexpr double least_rolled_gain = 1.1;

/// \p graph with nodes computed by equivalent programs, and the list of these nodes.
struct DerivedPlan {
  graph::Graph graph;
  std::vector<DerivedNode> nodes;  ///< equal nodes once
};

/// Are maxima rolled with their sums where this is predicted to be faster, whatever options.derive says? On a GPU, unless \p options fix
/// the order of sums, or leave choices to rules.
bool rolls_maxima(const CompileOptions& options);
/// Has \p def an exponential, and a maximum or minimum or three sums, as the gradient of attention has whose maxima are given?
bool may_roll(const lang::Def& def);

/// Is \p function a def of a text, without calls?
bool is_call_free(const Function& function);
/// Is it call-free with one statement, so that the whole def is one node?
bool is_one_statement(const Function& function);

/// \p graph with nodes computed by the cheapest programs that rules derive from them to depth options.derive (PartDerivations),
/// each of which has been proved. First, each part with copies is derived as one program, by fusing alone, so that
/// copies that reorder a tensor and restore it cancel. Then the nodes between nonlinear nodes (linear_groups) are
/// derived as one program, by rules between scopes, if that gains more than deriving them one by one. Then each node
/// with a reduction is derived alone. \p has_stayed: all nodes as one program have been tried already. If
/// options.derive is 0, maxima are rolled, if rolls_maxima(), and nothing else. Nothing if no derivation is a gain.
std::optional<DerivedPlan> derive_nodes(const graph::Graph& graph, const CompileOptions& options,
                                        bool has_stayed = false);

/// \p graph, of one node, computed by the program that options.derivation derives from it; nothing if that is empty
/// or about another program. Throws OptionsError if it is not proved.
std::optional<DerivedPlan> derive_as_given(const graph::Graph& graph, const CompileOptions& options);

/// The parts of \p function that a compile for \p arguments derives, equal parts once, each with at most \p most
/// programs, cheapest by the model first. Tuning measures them. None for a def that is not a graph.
/// Throws as compile().
std::vector<DerivablePart> derivable_parts(const std::shared_ptr<const Function>& function,
                                           const std::vector<Argument>& arguments, const CompileOptions& options,
                                           std::size_t most);

}  // namespace tc::engine
