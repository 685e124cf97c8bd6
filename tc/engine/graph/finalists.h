#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tc/engine/compile/compile_options.h"

namespace tc::engine {

/// Do \p options ask for executables that are compared by measuring them: libraries "measured", layouts Measured? Otherwise, do they leave
/// the libraries to a choice that was measured before ("auto")?
bool has_finalists(const CompileOptions& options);

/// The ways to compile that \p options leave to a measurement, own code without layouts of run-time tensors first:
///
///   libraries "measured"    "none", each library of this machine, "auto" if prices of libraries are known
///   layouts Measured        Constants and Resolve; for a library by name Resolve alone
///
/// One way, with "auto" and Constants in place of these, for code that cannot be measured here: for a GPU, for ranges of sizes, and the
/// interpreter.
std::vector<CompileOptions> finalists_of(const CompileOptions& options);

/// The executable of \p make that runs fastest: each of finalists_of(\p options) is made, and they run in turns, on tensors made up. Own
/// code stays unless another one is faster by least_finalist_gain. The choice is kept in the folder of options.cache for \p function,
/// \p arguments, constants, threads and machine: the next compile, also one with libraries "auto", makes the winner only; not kept is one that stood because others failed. Its
/// CompileStats::finalists says what was measured. A finalist that cannot be compiled is left out, unless all are, and so is one that takes
/// more than \p least_limit seconds and most_finalist_times times as long as the slowest one before.
std::shared_ptr<const Executable> fastest_finalist(
    const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options,
    const std::function<std::shared_ptr<const Executable>(const CompileOptions&)>& make, double least_limit = 10);

/// Less is noise of the measuring.
constexpr double least_finalist_gain = 1.01;
/// The networks of benchmarks/libraries.py have compiles up to five times as long with layouts as without. LLVM takes more than eleven
/// minutes for one part of GoogLeNet, and 13 s for the others.
constexpr double most_finalist_times = 8;

}  // namespace tc::engine
