#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tc/engine/compile/compile_options.h"
#include "tc/library/prices.h"

namespace tc::engine {

/// The choice of a library for a def: a call, or the reasons why there is none.
struct LibraryChoice {
  std::optional<library::Call> call;
  double speed = 1;                    ///< of the call relative to own code, if prices were measured
  std::optional<double> seconds = {};  ///< of the call, predicted, if it was chosen by predicted times
  std::vector<std::string> notes;
};

/// The meaning of options.libraries: "none", "auto", "measured" (finalists.h; "auto" where nothing can be measured) or the name of a
/// library. The suffix ":finite" asserts that every
/// computed value is finite: "onednn:finite".
struct AskedLibraries {
  std::string name = "none";
  bool finite = false;

  bool none() const { return name == "none"; }
  bool any() const { return name == "auto" || measured(); }
  bool measured() const { return name == "measured"; }
};
/// Parses \p text. Throws OptionsError that lists the valid values.
AskedLibraries asked_libraries(const std::string& text);
/// \p text, if it is valid for options.libraries, whether or not the library is on this machine. Throws OptionsError
/// as asked_libraries().
std::string checked_libraries(std::string text);

/// The file of \p cache that holds the prices of libraries, measured by a command and never by a compile.
std::string library_prices_file(const cache::Cache& cache);
/// The prices for this machine in options.cache; nothing without any.
std::optional<library::PriceTable> library_prices(const CompileOptions& options);

/// The call of a library that computes \p function, which contains no calls, for \p arguments, according to
/// options.libraries:
///
///   "none"     none
///   a name     the library's best routine for it, if it has one; OptionsError where the machine lacks the library
///   "auto"     the cheapest of all libraries and the compiler's own code: by measured prices on a processor, by predicted
///              times on a GPU; its own code without prices
///
/// A routine that differs from the language for infinite values or NaN is used only if values are asserted to be
/// finite. A library runs on processors or on GPUs, and one of GPUs takes only tensors that begin at a multiple of
/// vector_alignment. Throws OptionsError for other values.
LibraryChoice choose_library_call(const Function& function, const std::vector<Argument>& arguments,
                                  const CompileOptions& options);

/// All calls that choose_library_call() chooses from for a library that options.libraries names, the best first; for "auto" the one
/// that it chooses, if any.
std::vector<library::Call> library_calls(const Function& function, const std::vector<Argument>& arguments,
                                         const CompileOptions& options);

/// \p function for \p arguments as one launch: \p call.
std::shared_ptr<const Executable> call_executable(const Function& function, std::vector<Argument> arguments,
                                                  const CompileOptions& options, library::Call call);

}  // namespace tc::engine
