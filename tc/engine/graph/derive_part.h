#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tc/cache/derivation_prices.h"
#include "tc/derive/derive.h"
#include "tc/engine/compile/compile_options.h"
#include "tc/engine/graph/graph_layouts.h"
#include "tc/graph/partition.h"

namespace tc::engine {

/// The key of \p program compiled with \p options, for code that runs here.
cache::DerivationKey derivation_key(const std::string& program, const std::set<std::string>& constants,
                                    const CompileOptions& options);

/// The reason why the certificate of \p measured, which is not trusted, does not prove that its program is equivalent
/// to the program of its key; "" if it does, or without a certificate.
std::string why_unproved(const cache::MeasuredDerivation& measured);

/// The rates of a search for \p options: convolutions are as fast as products of matrices where routines of libraries may compute them.
derive::Rates search_rates(const CompileOptions& options);

/// A program that rules derived from a part of a graph.
struct DerivableProgram {
  std::string text;                ///< a def whose sizes are numbers
  std::string certificate;         ///< derive::derivation_text
  std::vector<std::string> rules;  ///< in order
  double seconds = 0;              ///< by the model; 0 where there is none
};

/// A part of a graph, and the programs derived from it.
struct DerivablePart {
  std::string name;  ///< of the called def, or of the written tensor
  std::shared_ptr<const lang::InlinedDef> def;
  std::vector<TensorSpec> inputs;
  cache::DerivationKey key;
  double seconds = 0;  ///< by the model; 0 where there is none
  std::vector<DerivableProgram> programs;
};

/// A program that replaces a part of a graph.
struct DerivedPart {
  lang::Def def;
  DerivedNode report;

  double gain_us() const { return report.before_us - report.after_us; }
};

/// Derives parts of graphs, equal parts once. Programs and parts are priced in the same way, by price_function() of
/// their own parts in the layouts that a compile chooses; statements that depend on constants alone cost nothing.
/// Constants are inputs of the graphs.
class PartDerivations {
 public:
  /// To depth options.derive, for the target, libraries and constants of \p options.
  explicit PartDerivations(const CompileOptions& options);

  /// The cheapest program that replaces \p part of \p graph; null if the part stays. If the cache has measured prices
  /// of the part, they decide, and the proof is checked again. Otherwise it is the cheapest program that \p rules
  /// derive, if it is cheaper by least_derived_gain, least_gain_of_fewer_copies, or least_rolled_gain.
  const DerivedPart* of(const graph::Graph& graph, const graph::Part& part, derive::Rules rules);

  /// At most \p most programs that \p rules derive from \p part, to be measured. Nothing if the part has no
  /// reduction, or if the expression form cannot represent it.
  std::optional<DerivablePart> programs_of(const graph::Graph& graph, const graph::Part& part, derive::Rules rules,
                                           std::size_t most) const;

  /// The predicted seconds of \p part of \p graph in its source form; nothing without a model.
  std::optional<double> seconds_of(const graph::Graph& graph, const graph::Part& part) const;
  /// The same if \p program, a def with numbers as sizes, computes it.
  std::optional<double> seconds_of(const graph::Graph& graph, const graph::Part& part,
                                   const std::string& program) const;

  /// The program that \p certificate derives from \p part; nothing if it is about another program. Throws
  /// OptionsError if it is not a proof.
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
  void search(const graph::Graph& graph, const graph::Part& part, Start& start, derive::Rules rules, std::size_t most,
              std::optional<double> limit = std::nullopt) const;
  void roll(const graph::Graph& graph, const graph::Part& part, Start& start, std::optional<double> limit) const;
  void add(const std::vector<derive::Step>& steps, double seconds, Start& start) const;
  std::optional<LaidOutPlan> lay_out(const graph::Graph& graph, const std::set<std::string>& constants) const;
  std::optional<double> price(const graph::Graph& graph, const std::set<std::string>& constants) const;
  std::optional<double> price(const graph::Graph& graph, const graph::Part& part,
                              const std::set<std::size_t>& held) const;
  std::set<std::string> constants_of(const graph::Graph& graph, const graph::Part& part) const;

  CompileOptions options_;  ///< of parts, which have no layouts of their own
  graph::LayoutMode layouts_;
  std::set<std::string> constants_;
  std::map<std::string, std::optional<DerivedPart>> known_;
  std::vector<std::shared_ptr<const lang::InlinedDef>> alive_;  ///< the defs whose addresses are in `known_`
};

}  // namespace tc::engine
