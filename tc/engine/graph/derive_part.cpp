#include "tc/engine/graph/derive_part.h"

#include <unistd.h>

#include <algorithm>

#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/derive/derivation_text.h"
#include "tc/derive/form/from_def.h"
#include "tc/derive/form/refusal.h"
#include "tc/derive/form/to_def.h"
#include "tc/derive/rules/roll.h"
#include "tc/engine/compile/bind_constants.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/compile/price_function.h"
#include "tc/engine/graph/graph_derivations.h"
#include "tc/engine/graph/graph_plan.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/graph/constant_nodes.h"
#include "tc/graph/merge_nodes.h"
#include "tc/graph/new_defs.h"
#include "tc/graph/replace_nodes.h"
#include "tc/lang/syntax/parse.h"

namespace tc::engine {
namespace {

/// \p part of \p graph as a graph of its own.
graph::Graph alone(const graph::Graph& graph, const graph::Part& part) {
  graph::Graph result = graph;
  for (auto& tensor : result.tensors) tensor.role = lang::Role::Temporary;
  for (const auto tensor : part.inputs) result.tensors[tensor].role = lang::Role::Input;
  for (const auto tensor : part.outputs) result.tensors[tensor].role = lang::Role::Output;
  result.inputs = part.inputs;
  result.outputs = part.outputs;
  result.nodes.clear();
  for (const auto node : part.nodes) result.nodes.push_back(graph.nodes[node]);
  return with_edges(std::move(result));
}

/// \p own, a graph of one part, as one node.
graph::Graph as_one_node(const graph::Graph& own) {
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < own.nodes.size(); ++n) all.push_back(n);
  return all.size() == 1 ? own : graph::merge_nodes(own, {all}).graph;
}

bool begins_at_zero(const graph::Graph& graph, const graph::Part& part) {
  return std::all_of(part.outputs.begin(), part.outputs.end(), [&](auto tensor) {
    const auto& mins = graph.tensors[tensor].mins;
    return std::all_of(mins.begin(), mins.end(), [](auto min) { return min == 0; });
  });
}

std::string name_of(const graph::Graph& graph, const graph::Part& part) {
  std::vector<std::string> names;
  for (const auto n : part.nodes) {
    const auto& node = graph.nodes[n];
    names.push_back(!node.callee.empty()     ? node.callee
                    : part.nodes.size() == 1 ? node.def->def.name
                                             : graph.tensors[node.outputs.front()].name);
  }
  return join(names, " + ");
}

lang::Def only_def(const std::string& text) { return lang::parse(text, "<derived>").defs.front(); }

/// Bytes of the tensors of \p graph that only its nodes see, or of all others.
double bytes_of(const graph::Graph& graph, bool temporaries) {
  double result = 0;
  for (const auto& tensor : graph.tensors) {
    const bool is_used = tensor.producer || !tensor.consumers.empty();
    if (!is_used || (tensor.role == lang::Role::Temporary) != temporaries) continue;
    double bytes = byte_size(tensor.spec.dtype);
    for (const auto extent : tensor.spec.shape) bytes *= static_cast<double>(extent);
    result += bytes;
  }
  return result;
}

/// The temporaries of a program that others propose take so many times the bytes of what it reads and writes: those of a window
/// of 7 × 7 elements, written out, take 49 times as many. More than a part of the memory there is they never take.
constexpr double most_growth = 64, most_of_memory = 0.5;

/// Iterations of a loop of rolled sums: columns of a tile of scores.
constexpr std::int64_t blocks_of_rolled_sums[] = {64, 32};
/// Of which blocks are multiples: steps of a product that units for matrices take at once, of 16 bits.
constexpr std::int64_t steps_of_units = 16;

/// Why a program for \p own, a graph of one node, is too large a one, \p made in its place; "" where it is not.
std::string why_too_large(const graph::Graph& own, const graph::Graph& made) {
  const auto memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  const auto most = std::min(most_growth * (bytes_of(own, false) + bytes_of(own, true)), most_of_memory * memory);
  const auto bytes = bytes_of(made, true);
  return bytes <= most ? "" : str("its temporaries take ", bytes, " bytes, more than ", most);
}

DerivedPart derived_part(const DerivablePart& part, const DerivableProgram& program, const char* source) {
  return {
      only_def(program.text),
      {part.name, program.rules, program.text, program.certificate, 1e6 * part.seconds, 1e6 * program.seconds, source}};
}

}  // namespace

/// A part in the expression form.
struct PartDerivations::Start {
  DerivablePart part;
  derive::Program program;
};

cache::DerivationKey derivation_key(const std::string& program, const std::set<std::string>& constants,
                                    const CompileOptions& options) {
  return {program, constants, to_string(options.target), options.libraries,
          machine_kind_of(options.target).circumstances(options.target)};
}

derive::Rates search_rates(const CompileOptions& options) {
  derive::Rates rates;
  if (!asked_libraries(options.libraries).none()) rates.windows = rates.products;
  return rates;
}

std::string why_unproved(const cache::MeasuredDerivation& measured) try {
  if (measured.certificate.empty()) return "";
  if (derive::outline(measured.certificate).first != measured.key.program) return "it is about another program";
  return derive::check_derivation(measured.certificate).why;
} catch (const derive::Refusal& refusal) {
  return refusal.why;
}

PartDerivations::PartDerivations(const CompileOptions& options)
    : options_(options), layouts_(options.layouts), constants_(names_of(options.constants)) {
  options_.partition = graph::Partition::One;
  options_.layouts = graph::LayoutMode::Off;
  options_.unaligned.clear();
  options_.constants.clear();
  options_.held.clear();
  options_.derivation.clear();
}

const DerivedPart* PartDerivations::of(const graph::Graph& graph, const graph::Part& part, derive::Rules rules) {
  TextStream key;
  key << graph::key_of(graph, part) << static_cast<int>(rules);
  for (const auto& name : constants_of(graph, part)) key << " " << name;
  const auto [known, is_new] = known_.emplace(key.str(), std::nullopt);
  if (is_new) {
    for (const auto node : part.nodes) alive_.push_back(graph.nodes[node].def);
    known->second = choose(graph, part, rules);
  }
  return known->second ? &*known->second : nullptr;
}

std::optional<DerivablePart> PartDerivations::programs_of(const graph::Graph& graph, const graph::Part& part,
                                                          derive::Rules rules, std::size_t most) const {
  auto found = start(graph, part, rules);
  if (!found) return std::nullopt;
  found->part.seconds = seconds_of(graph, part).value_or(0);
  search(graph, part, *found, rules, most);
  return std::move(found->part);
}

std::optional<DerivedPart> PartDerivations::given(const graph::Graph& graph, const graph::Part& part,
                                                  const std::string& certificate) const {
  const auto found = start(graph, part, derive::Rules::All);
  if (!found) return std::nullopt;
  const auto outline = derive::outline(certificate);
  if (outline.first != found->part.key.program) return std::nullopt;
  if (const auto verdict = derive::check_derivation(certificate); !verdict.equal)
    throw OptionsError(str("the derivation of '", found->part.name, "' is not proved: ", verdict.why));
  return derived_part(found->part, {outline.last, certificate, outline.rules, 0}, "given");
}

/// The parameters of the def of \p part whose tensors never change.
std::set<std::string> PartDerivations::constants_of(const graph::Graph& graph, const graph::Part& part) const {
  const auto held = graph::held_tensors(graph, constants_, graph::constant_nodes(graph, constants_));
  std::set<std::string> result;
  for (const auto tensor : part.inputs)
    if (held.count(tensor)) result.insert(graph.tensors[tensor].name);
  return result;
}

std::optional<PartDerivations::Start> PartDerivations::start(const graph::Graph& graph, const graph::Part& part,
                                                             derive::Rules rules) const try {
  if (!begins_at_zero(graph, part)) return std::nullopt;
  Start result{{name_of(graph, part), graph::def_of(graph, part), {}, {}, 0, {}}, {}};
  if (rules != derive::Rules::Copies && !graph::reduces(*result.part.def)) return std::nullopt;
  const auto held = constants_of(graph, part);
  std::set<std::string> constants;
  for (std::size_t i = 0; i < part.inputs.size(); ++i) {
    const auto& tensor = graph.tensors[part.inputs[i]];
    result.part.inputs.push_back(tensor.spec);
    if (held.count(tensor.name)) constants.insert(result.part.def->def.params[i].name);
  }
  if (constants.size() == part.inputs.size()) return std::nullopt;
  result.program = derive::from_def(*result.part.def, result.part.inputs, std::make_shared<polyhedral::Context>());
  result.part.key = derivation_key(derive::to_text(result.program), constants, options_);
  return result;
} catch (const derive::Refusal&) {
  return std::nullopt;
}

std::optional<DerivedPart> PartDerivations::choose(const graph::Graph& graph, const graph::Part& part,
                                                   derive::Rules rules) const {
  auto found = start(graph, part, rules);
  if (!found) return std::nullopt;
  if (options_.cache)
    if (const auto prices = cache::find_derivation(*options_.cache, found->part.key))
      return measured(graph, part, *found, *prices);
  const auto before = seconds_of(graph, part);
  if (!before) return std::nullopt;
  found->part.seconds = *before;
  const double least_gain = rules == derive::Rules::Copies   ? least_gain_of_fewer_copies
                            : rules == derive::Rules::Rolled ? least_rolled_gain
                                                             : least_derived_gain;
  search(graph, part, *found, rules, derive::Options().candidates, *before / least_gain);
  const DerivableProgram* best = nullptr;
  for (const auto& program : found->part.programs) {
    const bool is_cheap = program.seconds > 0 && program.seconds < *before / least_gain;
    if (is_cheap && (!best || program.seconds < best->seconds)) best = &program;
  }
  return best ? std::optional(derived_part(found->part, *best, "model")) : std::nullopt;
}

/// Why what \p prices choose for \p part of \p graph is not taken: its certificate proves nothing, or the program cannot be
/// compiled or needs too much memory. "" where it is.
std::string PartDerivations::why_not(const graph::Graph& graph, const graph::Part& part,
                                     const cache::MeasuredDerivation& prices) const {
  if (const auto why = why_unproved(prices); !why.empty()) return str("proves nothing: ", why);
  try {
    const auto own = as_one_node(alone(graph, part));
    const auto why =
        why_too_large(own, graph::replace_nodes(own, {{0, only_def(derive::outline(prices.certificate).last)}}));
    return why.empty() ? "" : str("is too large: ", why);
  } catch (const ResourceError&) {
    throw;
  } catch (const Error& error) {
    return str("is no program for its part: ", error.what());
  }
}

/// What \p prices choose for \p part of \p graph. Where that cannot be taken there is a warning, and the part stays.
std::optional<DerivedPart> PartDerivations::measured(const graph::Graph& graph, const graph::Part& part,
                                                     const Start& start,
                                                     const cache::MeasuredDerivation& prices) const {
  if (prices.certificate.empty()) return std::nullopt;
  if (const auto why = why_not(graph, part, prices); !why.empty()) {
    options_.cache->warn(str("a derivation of the cache is not taken: it ", why));
    return std::nullopt;
  }
  const auto outline = derive::outline(prices.certificate);
  auto derivable = start.part;
  derivable.seconds = prices.seconds;
  DerivableProgram program{outline.last, prices.certificate, outline.rules, 0};
  for (const auto& other : prices.others)
    if (other.text == program.text) program.seconds = other.seconds;
  return derived_part(derivable, program, "measured");
}

/// Fills the programs of \p start, which is \p part of \p graph. With a \p limit, rolled ones that take more seconds are left out.
void PartDerivations::search(const graph::Graph& graph, const graph::Part& part, Start& start, derive::Rules rules,
                             std::size_t most, std::optional<double> limit) const {
  if (options_.target.grid && (rules == derive::Rules::All || rules == derive::Rules::Rolled))
    roll(graph, part, start, limit);
  if (rules == derive::Rules::Rolled) return;
  derive::Options how;
  how.depth = options_.derive;
  how.rules = rules;
  how.rates = search_rates(options_);
  how.candidates = most;
  how.constants = start.part.key.constants;
  how.cancellation = options_.stages.cancellation;
  for (const auto& candidate : derive::derive(start.program, how).candidates) {
    if (candidate.steps.empty()) continue;
    const auto seconds = seconds_of(graph, part, derive::to_text(candidate.steps.back().after));
    add(candidate.steps, seconds.value_or(0), start);
  }
}

/// Adds the program that \p steps derive from \p start, which takes \p seconds by the model.
void PartDerivations::add(const std::vector<derive::Step>& steps, double seconds, Start& start) const {
  DerivableProgram program{
      derive::to_text(steps.back().after), derive::derivation_text(start.program, steps), {}, seconds};
  for (const auto& step : steps) program.rules.push_back(str(step.rule, ": ", step.what));
  start.part.programs.push_back(std::move(program));
}

/// Adds programs in which a maximum and its sums are rolled, in blocks of several sizes, if they are. With a \p limit, in seconds, those
/// that take longer, or longer than with other blocks, are not proved, because proofs take longer than prices.
void PartDerivations::roll(const graph::Graph& graph, const graph::Part& part, Start& start,
                           std::optional<double> limit) const try {
  std::set<std::string> known;
  for (const auto most : blocks_of_rolled_sums) {
    const auto steps = derive::roll(start.program, {.most = most, .multiple = steps_of_units, .padded = true});
    const auto text = derive::to_text(steps.back().after);
    if (!known.insert(text).second) continue;
    const auto seconds = seconds_of(graph, part, text).value_or(0);
    if (limit && !(seconds > 0 && seconds < *limit)) continue;
    if (!derive::broken_step(start.program, steps).empty()) continue;
    if (limit) limit = seconds;
    add(steps, seconds, start);
  }
} catch (const derive::Refusal&) {
  return;
}

std::optional<double> PartDerivations::seconds_of(const graph::Graph& graph, const graph::Part& part) const {
  return price(alone(graph, part), constants_of(graph, part));
}

std::optional<double> PartDerivations::seconds_of(const graph::Graph& graph, const graph::Part& part,
                                                  const std::string& program) const {
  const auto node = as_one_node(alone(graph, part));
  return price(graph::replace_nodes(node, {{0, only_def(program)}}), constants_of(graph, part));
}

std::optional<LaidOutPlan> PartDerivations::lay_out(const graph::Graph& graph,
                                                    const std::set<std::string>& constants) const {
  auto how = options_;
  how.layouts = layouts_;
  for (const auto& name : constants) how.constants.push_back({name, {}});
  return choose_layouts(graph, how);
}

/// Seconds of the parts of \p graph that run each time, in the layouts that a compile gives it; nothing where no model prices
/// one.
std::optional<double> PartDerivations::price(const graph::Graph& graph, const std::set<std::string>& constants) const {
  const auto laid_out = lay_out(graph, constants);
  const auto& own = laid_out ? laid_out->graph : graph;
  graph::PartitionLimits limits;
  if (laid_out) limits.alone = laid_out->conversions;
  limits.apart = folded_nodes(own, limits.alone, constants);
  const auto held = graph::held_tensors(own, constants, limits.apart);
  double seconds = 0;
  for (const auto& part : graph::partition(own, graph::Partition::Auto, limits)) {
    if (limits.apart.count(part.nodes.front())) continue;
    const auto price_of_part = price(own, part, held);
    if (!price_of_part) return std::nullopt;
    seconds += *price_of_part;
  }
  return seconds;
}

std::optional<double> PartDerivations::price(const graph::Graph& graph, const graph::Part& part,
                                             const std::set<std::size_t>& held) const {
  const auto def = graph::def_of(graph, part);
  auto function = std::make_shared<Function>();
  function->file = graph.defs->file;
  function->def = def->def;
  function->ranges = def->ranges;
  std::vector<TensorSpec> inputs;
  auto how = options_;
  for (std::size_t i = 0; i < part.inputs.size(); ++i) {
    inputs.push_back(graph.tensors[part.inputs[i]].spec);
    if (held.count(part.inputs[i])) how.held.insert(def->def.params[i].name);
  }
  how.derive = 0;
  return price_function(function, make_arguments(*function, inputs, {}), how);
}

}  // namespace tc::engine
