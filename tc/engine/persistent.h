#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tc/cache/cache.h"
#include "tc/engine/compile/nearest_mapping.h"  // IWYU pragma: export
#include "tc/engine/graph/compile.h"

/// The use of the compilation cache by compiles.
namespace tc::engine {

/// The key of its machine code for options.target and ranges of the sizes options.symbolic, which depends on the tools that generate it
/// (MachineKind::code_tools).
cache::Key code_key(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options);

/// The circumstances of code for \p target on this machine: its processor and threads, or the GPU nearest to the
/// target; empty without a GPU of that architecture.
cache::Circumstances circumstances_here(const Target& target);

/// \p options with the iterators of \p function named as in its canonical text, and the inverse. Names that are not
/// iterators stay.
///
///   canonical(vector_along=n)         of O(n) = X(n); P(n) = O(n)       vector_along=i3/i5
///   with_names_of(vector_along=i3/i5)                                   vector_along=n
options::MappingOptions canonical(const options::MappingOptions& options, const Function& function);
options::MappingOptions with_names_of(const Function& function, const options::MappingOptions& options);

/// An entry of the cache with \p options for that key, without a measurement; to be filled and stored.
cache::OptionsEntry options_entry(const Function& function, const std::vector<Argument>& arguments,
                                  const Target& target, const options::MappingOptions& options);

/// The entry of \p cache whose options are used by compiles for \p key and \p target that run in \p here; nothing if
/// there is none.
std::optional<cache::OptionsEntry> entry_in_use(const cache::Cache& cache, const cache::Key& key, const Target& target,
                                                const cache::Circumstances& here);

/// The options of the cache for a compile whose options.mapping_from requests them. If there are none for a GPU's
/// target, the options for the nearest target of its architecture are used. Nothing if there are none.
/// Throws OptionsError for MappingFrom::Tuned without any.
std::optional<options::MappingOptions> find_mapping(const Function& function, const std::vector<Argument>& arguments,
                                                    const CompileOptions& options);

/// The same for a def that is compiled in parts. Because parts may have their own options, a missing entry is not an
/// error.
std::optional<options::MappingOptions> find_whole_mapping(const Function& function,
                                                          const std::vector<Argument>& arguments,
                                                          const CompileOptions& options);

/// The machine code that options.cache has for options.mapping; null if it has none, or if it must not be used. If
/// options.stages.verify is set, code that was compiled without invariant checks is not used.
std::shared_ptr<const Executable> load_kept(const Function& function, const std::vector<Argument>& arguments,
                                            const CompileOptions& options);
/// Stores \p executable, made by a compile with \p options, in options.cache, if allowed. For an executable of
/// several parts, only the parts are stored. A call of a library is not stored, because finding it is faster than
/// reading it.
void keep_code(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options,
               const Executable& executable);

/// The machine code that options.cache has for options.mapping; otherwise it is compiled and stored there. If
/// options.stages.verify is set, code that was compiled without invariant checks is not used.
std::shared_ptr<const Executable> load_or_compile(const std::shared_ptr<const Function>& function,
                                                  const std::vector<Argument>& arguments,
                                                  const CompileOptions& options);

}  // namespace tc::engine
