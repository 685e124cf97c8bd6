#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tc/base/stage.h"
#include "tc/base/target.h"
#include "tc/cache/cache.h"
#include "tc/engine/define/function.h"
#include "tc/engine/run/executable.h"
#include "tc/engine/supervise/supervise.h"
#include "tc/graph/layout_mode.h"
#include "tc/graph/partition_kind.h"
#include "tc/options/mapping_options.h"

namespace tc::engine {

struct CompileState;

/// Where the mapping options of a compile come from.
enum class MappingFrom : std::uint8_t {
  Given,   ///< CompileOptions::mapping
  Cached,  ///< the best that the cache has for the key, else CompileOptions::mapping
  Tuned,   ///< the best that the cache has for the key; OptionsError without one
};

/// How a function is compiled. `target`, the mapping and `unaligned` decide the code, the rest how the work is done.
struct CompileOptions {
  Target target = Target::host();
  options::MappingOptions mapping;
  std::set<std::string> unaligned;  ///< arguments that may begin anywhere (is_aligned); targets of CPUs do not ask
  MappingFrom mapping_from = MappingFrom::Given;        ///< obeyed by compile_cached()
  std::shared_ptr<cache::Cache> cache;                  ///< kept between processes; null: none
  double time_limit = 0;                                ///< seconds; 0: none
  std::size_t memory_limit = 0;                         ///< bytes the process may grow by; 0: none
  graph::Partition partition = graph::Partition::Auto;  ///< of defs that hold calls, or many statements
  /// Inputs that the executable holds and does not take; what depends on them alone is computed by the compile.
  std::vector<Constant> constants;
  bool fold_scales = false;        ///< moves what constants scale sums by into them: graph::distribute_constants
  std::set<std::string> held;      ///< inputs of a part that hold the same values in each run, known or not
  std::string libraries = "none";  ///< whose routines may take the place of code: asked_libraries() reads it
  graph::LayoutMode layouts = graph::LayoutMode::Constants;  ///< of the tensors of a graph: graph_layouts.h
  int derive = 0;          ///< rules applied to a node to find a cheaper program: graph_derivations.h
  std::string derivation;  ///< derive::derivation_text: the def it begins with is computed by that it ends with
  /// Sizes for ranges of whose values one code is made: compile_for_ranges(). Names of no size of the def mean nothing.
  std::set<std::string> dynamic;
  /// Sizes that the code is told in each run, and the least that they may be: the specs have the largest. For one def on a CPU and
  /// dense tensors. The result is not run but goes to bind_sizes(). Throws OptionsError where a range is not affine in
  /// these sizes.
  std::map<std::string, std::int64_t> symbolic;
  bool interpret = false;             ///< run the def by the interpreter instead of machine code
  StageOptions<CompileState> stages;  ///< laws, texts, dumps, replacements, faults planted by tests, cancellation
};

/// What a compile with \p options may take from now.
Limits limits_of(const CompileOptions& options);

/// The machine code of \p function for tensors like \p inputs and \p outputs; empty \p outputs: dense ones.
///
/// A def that holds calls, and one of many statements, is cut into parts (graph::partition) as options.partition says;
/// equal ones are compiled once, different ones at the same time. One with constants is cut where they end, too.
/// Throws ArgumentError for tensors that do not fit, OptionsError for options and replacements that mean nothing,
/// ResourceError past a limit, CancelledError after a request, InternalError for a broken law.
/// isl running out of its quota is no error: a simpler schedule is used and stats().fallbacks says so.
std::shared_ptr<const Executable> compile(const std::shared_ptr<const Function>& function,
                                          const std::vector<TensorSpec>& inputs,
                                          const std::vector<TensorSpec>& outputs = {},
                                          const CompileOptions& options = {});

/// The arguments of \p function, normalised. Throws ArgumentError for tensors that do not fit.
std::vector<Argument> make_arguments(const Function& function, const std::vector<TensorSpec>& inputs,
                                     const std::vector<TensorSpec>& outputs);
/// The same; those in \p options.unaligned are not aligned, where its target asks. Throws ArgumentError for a name that
/// no argument has.
std::vector<Argument> make_arguments(const Function& function, const std::vector<TensorSpec>& inputs,
                                     const std::vector<TensorSpec>& outputs, const CompileOptions& options);

/// The names of those of \p arguments that are not aligned.
std::set<std::string> unaligned_names(const std::vector<Argument>& arguments);
/// The names of those of \p tensors, inputs of \p function and then its outputs as far as they are given, that are not
/// aligned (is_aligned), for CompileOptions::unaligned.
std::set<std::string> unaligned_names(const Function& function, const std::vector<TensorView>& tensors);

/// The specs of the inputs or the outputs among \p arguments.
std::vector<TensorSpec> specs(const std::vector<Argument>& arguments, bool output);

/// Equal for two compiles that make the same code with the same messages: names of arguments are part of it.
std::string cache_key(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options);

}  // namespace tc::engine
