#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tc/cache/cache.h"

namespace tc::cache {

/// The cache that the environment asks for, the same object while the variables stay as they are; null for none.
///
///   TC_CACHE_MODE=rw|ro|off   read and write (the default), only read, or neither
///   TC_CACHE_DIR=<folder>     else $XDG_CACHE_HOME/tensor_comprehensions, else ~/.cache/tensor_comprehensions
///   TC_CACHE_OVERRIDE=<folder>      whose options go before all others
///   TC_CACHE_PATH=<folder>:...     whose options are read after the cache's own
///   TC_CACHE_MAX_SIZE=<size>  of the folder, for example 500m or 2g (the default: 1g)
///   TC_CACHE_KEY=<file>       of the key that signs machine code; see secret.h
///
/// Throws OptionsError for a mode or a size that means nothing.
std::shared_ptr<Cache> from_environment();

/// The folder that TC_CACHE_DIR and the others say; "" where neither they nor a home are known.
std::string default_folder();

/// Whether a cache of a mode, "rw" or "ro", is writable, and a size in bytes. Throw OptionsError.
bool parse_mode(std::string_view text);
std::uint64_t parse_size(std::string_view text);

}  // namespace tc::cache
