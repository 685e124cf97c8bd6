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
#include "tc/engine/define/typed_errors.h"
#include "tc/engine/run/executable.h"
#include "tc/engine/supervise/supervise.h"
#include "tc/graph/options/layout_mode.h"
#include "tc/graph/options/partition_kind.h"
#include "tc/options/mapping_options.h"

namespace tc::engine {

struct CompileState;

/// The source of the mapping options of a compile.
enum class MappingFrom : std::uint8_t {
  Given,   ///< CompileOptions::mapping
  Cached,  ///< the best that the cache has for the key, else CompileOptions::mapping
  Tuned,   ///< the best that the cache has for the key; OptionsError without one
};

/// Options of a compile. `target`, the mapping and `unaligned` determine the code, the rest the way it is made.
struct CompileOptions {
  Target target = Target::host();
  options::MappingOptions mapping;
  std::set<std::string> unaligned;  ///< arguments that may be unaligned (is_aligned); ignored by CPU targets
  MappingFrom mapping_from = MappingFrom::Given;        ///< obeyed by compile_cached()
  std::shared_ptr<cache::Cache> cache;                  ///< kept between processes; null: none
  double time_limit = 0;                                ///< seconds; 0: none
  std::size_t memory_limit = 0;                         ///< bytes the process may grow by; 0: none
  graph::Partition partition = graph::Partition::Auto;  ///< of defs with calls, or with many statements
  /// Inputs that the executable holds; values that depend on them alone are computed by the compile.
  std::vector<Constant> constants;
  bool fold_scales = false;        ///< folds constant scales of sums into constants: graph::distribute_constants
  std::set<std::string> held;      ///< inputs of a part that hold the same values in each run, known or not
  std::string libraries = "none";  ///< libraries whose routines may replace code: parsed by asked_libraries()
  graph::LayoutMode layouts = graph::LayoutMode::Constants;  ///< of the tensors of a graph: graph_layouts.h
  int derive = 0;  ///< rules applied to a node to find a cheaper program (graph_derivations.h); 0: maxima may be rolled
  std::string derivation;  ///< derive::derivation_text: its first def is computed by its last one
  /// Sizes for which one code serves ranges of values: compile_for_ranges(). Names that are not sizes of the def are
  /// ignored.
  std::set<std::string> dynamic;
  /// Sizes that are passed in each run, with their smallest values; the specs have the largest ones. For one def
  /// and dense tensors. The result is not run directly but passed to bind_sizes(). Throws OptionsError if a range
  /// is not affine in these sizes.
  std::map<std::string, std::int64_t> symbolic;
  bool interpret = false;  ///< run the def by the interpreter instead of machine code
  StageOptions<CompileState>
      stages;  ///< invariant checks, texts, dumps, replacements, faults planted by tests, cancellation
};

/// The limits of a compile with \p options that starts now.
Limits limits_of(const CompileOptions& options);

/// The arguments of \p function, normalised. Throws ArgumentError for tensors that do not fit.
std::vector<Argument> make_arguments(const Function& function, const std::vector<TensorSpec>& inputs,
                                     const std::vector<TensorSpec>& outputs);
/// The same; arguments in \p options.unaligned are not aligned, if the target distinguishes this. Throws
/// ArgumentError for a name that no argument has.
std::vector<Argument> make_arguments(const Function& function, const std::vector<TensorSpec>& inputs,
                                     const std::vector<TensorSpec>& outputs, const CompileOptions& options);

/// The names of the unaligned \p arguments.
std::set<std::string> unaligned_names(const std::vector<Argument>& arguments);
/// The names of the unaligned \p tensors (is_aligned), for CompileOptions::unaligned. The tensors are the inputs of
/// \p function and then its outputs, as far as they are given.
std::set<std::string> unaligned_names(const Function& function, const std::vector<TensorView>& tensors);

/// The specs of the inputs or the outputs among \p arguments.
std::vector<TensorSpec> specs(const std::vector<Argument>& arguments, bool output);

/// How to see a failure of a compile of \p function again; both arguments outlive the result.
Reproduction reproduction_for(const Function& function, const std::vector<TensorSpec>& inputs,
                              const CompileOptions& options);

/// Equal for two compiles that make the same code with the same messages, so it includes names of arguments.
std::string cache_key(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options);

}  // namespace tc::engine
