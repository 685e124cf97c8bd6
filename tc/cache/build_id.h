#pragma once

#include <string>

namespace tc::cache {

/// Equal for two processes whose compilers make the same code: the digest of the compiler's sources, taken when it was
/// built, and the build ids of the code generators it is linked with.
///   "<digest of sources>-<digest of libraries>"
const std::string& compiler_build_id();

/// Was \p build, a compiler_build_id(), built from the sources of this program? Programs that do not compile, and so
/// know no libraries, can tell this too.
bool is_of_these_sources(const std::string& build);

}  // namespace tc::cache
