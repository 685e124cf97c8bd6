#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/engine/compile/compile.h"
#include "tc/library/prices.h"

namespace tc::engine {

/// What libraries do about a def: a call, or why there is none.
struct LibraryChoice {
  std::optional<library::Call> call;
  double speed = 1;  ///< of the call: how many times as fast as own code, where measured prices tell
  std::vector<std::string> notes;
};

/// What options.libraries says: "none", "auto" or the name of a library, and behind a colon "finite", which takes every
/// value that is computed to be finite: "onednn:finite".
struct AskedLibraries {
  std::string name = "none";
  bool finite = false;

  bool none() const { return name == "none"; }
  bool any() const { return name == "auto"; }
};
/// \p text read. Throws OptionsError that lists what it may be.
AskedLibraries asked_libraries(const std::string& text);
/// \p text, if options.libraries may be that, libraries on this machine or not. Throws OptionsError as asked_libraries().
std::string checked_libraries(std::string text);

/// The file of \p cache that holds the prices of libraries, measured by a command and never by a compile.
std::string library_prices_file(const cache::Cache& cache);
/// What it holds for this machine, in options.cache; nothing where there is none.
std::optional<library::PriceTable> library_prices(const CompileOptions& options);

/// The call of a library that computes \p function, which holds no calls, for \p arguments, as options.libraries says:
///
///   "none"     none
///   a name     the library's best routine for it, if it has one; OptionsError where the machine lacks the library
///   "auto"     the cheapest of all libraries and the compiler's own code; its own where nothing tells prices
///
/// A routine that differs from the language for infinite values or NaN is one for it only where these are taken not to
/// be. Libraries run on processors: there is none for another target. Throws OptionsError for another word.
LibraryChoice choose_library_call(const Function& function, const std::vector<Argument>& arguments,
                                  const CompileOptions& options);

/// \p function for \p arguments as one launch: \p call.
std::shared_ptr<const Executable> call_executable(const Function& function, std::vector<Argument> arguments,
                                                  const CompileOptions& options, library::Call call);

}  // namespace tc::engine
