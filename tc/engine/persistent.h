#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tc/cache/cache.h"
#include "tc/engine/compile/compile.h"
#include "tc/engine/compile/nearest_mapping.h"  // IWYU pragma: export

/// What compiles leave in the compilation cache and find there.
namespace tc::engine {

/// What its machine code is called, which depends on the tools that make it (MachineKind::code_tools).
cache::Key code_key(const Function& function, const std::vector<Argument>& arguments, const Target& target);

/// Where code for \p target runs on this machine: its processor and threads, or the GPU that is nearest to the target;
/// nowhere where it has none of that architecture.
cache::Circumstances circumstances_here(const Target& target);

/// \p options with the iterators of \p function named as in its canonical text, and the inverse. Names that are no
/// iterators stay.
///
///   canonical(vector_along=n)         of O(n) = X(n); P(n) = O(n)       vector_along=i3/i5
///   with_names_of(vector_along=i3/i5)                                   vector_along=n
options::MappingOptions canonical(const options::MappingOptions& options, const Function& function);
options::MappingOptions with_names_of(const Function& function, const options::MappingOptions& options);

/// \p options as the cache keeps them for that key, not measured; to be filled and put.
cache::OptionsEntry options_entry(const Function& function, const std::vector<Argument>& arguments,
                                  const Target& target, const options::MappingOptions& options);

/// The entry of \p cache whose options compiles for \p key and \p target take that run in \p here; nothing where there
/// is none.
std::optional<cache::OptionsEntry> entry_in_use(const cache::Cache& cache, const cache::Key& key, const Target& target,
                                                const cache::Circumstances& here);

/// The options of the cache for a compile whose options.mapping_from asks for them; of a GPU, where there are none for
/// its target, those for the nearest one of the architecture. None where there are none.
/// Throws OptionsError for MappingFrom::Tuned without any.
std::optional<options::MappingOptions> find_mapping(const Function& function, const std::vector<Argument>& arguments,
                                                    const CompileOptions& options);

/// The same for a def that is compiled in parts, which may have options of their own: none is no error.
std::optional<options::MappingOptions> find_whole_mapping(const Function& function,
                                                          const std::vector<Argument>& arguments,
                                                          const CompileOptions& options);

/// The machine code that options.cache has for options.mapping; null where it has none, or may not be asked.
/// Code whose laws were not asked is not taken where options.stages.verify asks them.
std::shared_ptr<const Executable> load_kept(const Function& function, const std::vector<Argument>& arguments,
                                            const CompileOptions& options);
/// Keeps \p executable, which a compile with \p options made, in options.cache, if that may be. One of several parts is
/// not kept: its parts are. A call of a library is not: it is found faster than read.
void keep_code(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options,
               const Executable& executable);

/// The machine code that options.cache has for options.mapping; else compiled, and kept there.
/// Code whose laws were not asked is not taken where options.stages.verify asks them.
std::shared_ptr<const Executable> load_or_compile(const std::shared_ptr<const Function>& function,
                                                  const std::vector<Argument>& arguments,
                                                  const CompileOptions& options);

}  // namespace tc::engine
