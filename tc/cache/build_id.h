#pragma once

#include <string>

namespace tc::cache {

/// Equal for two processes whose compilers make the same code: the digest of the compiler's sources, taken when it was
/// built, and the build ids of the code generators it is linked with.
const std::string& compiler_build_id();

}  // namespace tc::cache
