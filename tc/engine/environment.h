#pragma once

#include "tc/engine/compile/compile_options.h"

namespace tc::engine {

/// The options that the environment asks for, for programs that let their user decide; read anew at each call.
///
///   TC_INTERPRET=1   run by the interpreter          TC_VERIFY=1    check the laws after each stage
///   TC_DUMP=<dir>    write each stage's text there   TC_OPTIONS=... mapping options, see options::MappingOptions
///
/// Without TC_OPTIONS mapping options come from the cache, where it has some; see tc/cache/environment.h for the
/// variables TC_CACHE_... TC_TARGET is read by Target::host(), TC_THREADS by cpu::thread_choice(). Throws OptionsError
/// where one of them, or TC_THREADS, cannot be read.
CompileOptions options_from_environment();

}  // namespace tc::engine
