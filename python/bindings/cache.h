#pragma once

#include <memory>

#include "tc/cache/cache.h"
#include "tc/engine/define/function.h"

namespace tc::python {

/// What a def compiled for given tensors is called in the cache, and the def, whose names options use.
struct CacheKey {
  std::shared_ptr<const engine::Function> function;
  cache::Key key;
};

/// Gives the warnings of \p cache to Python's `warnings`. Throws where they are errors there.
void give_warnings(cache::Cache& cache);

}  // namespace tc::python
