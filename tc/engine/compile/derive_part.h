#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/cache/derivation_prices.h"
#include "tc/derive/derive.h"
#include "tc/engine/compile/compile.h"
#include "tc/engine/compile/graph_layouts.h"
#include "tc/graph/partition.h"

namespace tc::engine {

/// The key of \p program where \p options compile it, for code that runs here.
cache::DerivationKey derivation_key(const std::string& program, const std::set<std::string>& constants,
                                    const CompileOptions& options);

/// Why the certificate of \p measured, which anyone may have written, does not prove that its program equals that of its key; ""
/// where it does, or where there is none.
std::string why_unproved(const cache::MeasuredDerivation& measured);

/// A program that rules derived from a part of a graph.
struct DerivableProgram {
  std::string text;                ///< a def whose sizes are numbers
  std::string certificate;         ///< derive::derivation_text
  std::vector<std::string> rules;  ///< in order
  double seconds = 0;              ///< by the model; 0 where there is none
};

/// A part of a graph, and what can be derived from it.
struct DerivablePart {
  std::string name;  ///< of the def that is called, or written
  std::shared_ptr<const lang::InlinedDef> def;
  std::vector<TensorSpec> inputs;
  cache::DerivationKey key;
  double seconds = 0;  ///< by the model; 0 where there is none
  std::vector<DerivableProgram> programs;
};

/// A program that takes the place of a part of a graph.
struct DerivedPart {
  lang::Def def;
  DerivedNode report;

  double gain_us() const { return report.before_us - report.after_us; }
};

/// Derives parts of graphs, equal ones once. Programs and parts are priced in the same way, by price_function() of what they
/// are partitioned to in the layouts that a compile gives them, statements that constants decide at nothing. Constants are
/// inputs of the graphs.
class PartDerivations {
 public:
  /// To depth options.derive, for targets, libraries and constants as \p options say.
  explicit PartDerivations(const CompileOptions& options);

  /// The cheapest program that takes the place of \p part of \p graph; null where it stays. Where the cache has prices that
  /// were measured of it, these say which; the proof is checked again. Else the cheapest of the programs that \p rules
  /// derive, where it is cheaper by least_derived_gain, or least_gain_of_fewer_copies.
  const DerivedPart* of(const graph::Graph& graph, const graph::Part& part, derive::Rules rules);

  /// All that \p rules derive from \p part, \p most programs at most, to be measured. Nothing where nothing is derived from it:
  /// it does not reduce, or the expression form has no words for it.
  std::optional<DerivablePart> programs_of(const graph::Graph& graph, const graph::Part& part, derive::Rules rules,
                                           std::size_t most) const;

  /// Seconds that \p part of \p graph takes by the model as it is written; nothing where no model prices it.
  std::optional<double> seconds_of(const graph::Graph& graph, const graph::Part& part) const;
  /// The same where \p program, a def whose sizes are numbers, computes it.
  std::optional<double> seconds_of(const graph::Graph& graph, const graph::Part& part,
                                   const std::string& program) const;

  /// What \p certificate derives from \p part; nothing where it is about another program. Throws OptionsError where it
  /// proves nothing.
  std::optional<DerivedPart> given(const graph::Graph& graph, const graph::Part& part,
                                   const std::string& certificate) const;

 private:
  struct Start;
  std::optional<Start> start(const graph::Graph& graph, const graph::Part& part, derive::Rules rules) const;
  std::optional<DerivedPart> choose(const graph::Graph& graph, const graph::Part& part, derive::Rules rules) const;
  std::string why_not(const graph::Graph& graph, const graph::Part& part,
                      const cache::MeasuredDerivation& prices) const;
  std::optional<DerivedPart> measured(const graph::Graph& graph, const graph::Part& part, const Start& start,
                                      const cache::MeasuredDerivation& prices) const;
  void search(const graph::Graph& graph, const graph::Part& part, Start& start, derive::Rules rules,
              std::size_t most) const;
  std::optional<LaidOutPlan> lay_out(const graph::Graph& graph, const std::set<std::string>& constants) const;
  std::optional<double> price(const graph::Graph& graph, const std::set<std::string>& constants) const;
  std::optional<double> price(const graph::Graph& graph, const graph::Part& part,
                              const std::set<std::size_t>& held) const;
  std::set<std::string> constants_of(const graph::Graph& graph, const graph::Part& part) const;

  CompileOptions options_;  ///< of parts, which have no layouts of their own
  graph::LayoutMode layouts_;
  std::set<std::string> constants_;
  std::map<std::string, std::optional<DerivedPart>> known_;
  std::vector<std::shared_ptr<const lang::InlinedDef>> alive_;  ///< the defs whose addresses `known_` speaks of
};

}  // namespace tc::engine
