#pragma once

#include <optional>
#include <vector>

#include "tc/engine/compile/compile_options.h"

namespace tc::engine {

/// What \p function with \p arguments on \p target is called in the cache, by which options are found: for aligned
/// arguments and others the same.
cache::Key persistent_key(const Function& function, const std::vector<Argument>& arguments, const Target& target);

/// Does a construction by \p mapping search, and then begin at the nearest options of a cache too?
bool begins_at_nearest(const options::MappingOptions& mapping);

/// The options that options.cache has for these or the nearest shapes of \p function, from which a construction begins too: a shape
/// never seen starts where others of its family ended. Without the names of iterators, which are another program's. Nothing
/// where rules choose, there is no cache, or it has none.
std::optional<options::MappingOptions> nearest_mapping(const Function& function, const std::vector<Argument>& arguments,
                                                       const CompileOptions& options);

}  // namespace tc::engine
