#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tc/cache/cache.h"
#include "tc/engine/compile.h"

/// What compiles leave in the compilation cache and find there.
namespace tc::engine {

/// What \p function compiled for \p arguments and \p target is called in the cache.
cache::Key persistent_key(const Function& function, const std::vector<Argument>& arguments, const Target& target);

/// Where a compile for \p target by this process runs. Times on GPUs depend on the target, not on the processor.
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

/// The options of the cache for a compile whose options.mapping_from asks for them; none where there are none.
/// Throws OptionsError for MappingFrom::Tuned without any.
std::optional<options::MappingOptions> find_mapping(const Function& function, const std::vector<Argument>& arguments,
                                                    const CompileOptions& options);

/// The machine code that options.cache has for options.mapping; else compiled, and kept there.
/// Code whose laws were not asked is not taken where options.stages.verify asks them.
std::shared_ptr<const Executable> load_or_compile(const std::shared_ptr<const Function>& function,
                                                  const std::vector<Argument>& arguments,
                                                  const CompileOptions& options);

}  // namespace tc::engine
