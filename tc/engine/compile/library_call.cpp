#include "tc/engine/compile/library_call.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/compile/price_function.h"
#include "tc/engine/machine/machine_kind.h"
#include "tc/lang/syntax/print.h"
#include "tc/library/registry.h"

namespace tc::engine {
namespace {

std::vector<TensorSpec> all_specs(const std::vector<Argument>& arguments) {
  std::vector<TensorSpec> result;
  for (const auto& argument : arguments) result.push_back(argument.spec);
  return result;
}

/// The library of that name. Throws OptionsError where the machine lacks it.
const library::Library& present_library(const std::string& name) {
  const auto& library = library::find_library(name);
  if (library.find().version.empty())
    throw OptionsError(str("the library '", name, "' is not on this machine (", library.find().reason,
                           "): install it, or compile with libraries=none"));
  return library;
}

library::Machine machine_of(const Target& target) {
  return machine_kind_of(target).own_memory ? library::Machine::Cuda : library::Machine::Cpu;
}

LibraryChoice own_code(const std::string& why) {
  LibraryChoice result;
  result.notes.push_back(str(why, ": own code"));
  return result;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// \p call of \p arguments, of which those that \p options say never change are constant.
library::Call with_constants(const library::Call& call, const std::vector<Argument>& arguments,
                             const CompileOptions& options) {
  return call.with_constants([&](std::size_t argument) { return options.held.count(arguments[argument].name) > 0; });
}

/// The call that is fastest by the prices of this machine, if it is faster than own code.
LibraryChoice cheapest_call(const std::optional<library::Computation>& computation,
                            const std::vector<Argument>& arguments, const CompileOptions& options) {
  const auto table = library_prices(options);
  if (!table) return own_code("libraries=auto, and no prices of libraries have been measured (tc_libraries --measure)");
  LibraryChoice result;
  double best = library::least_gain;
  for (const auto* library : library::libraries()) {
    if (!computation || library->machine != machine_of(options.target)) continue;
    for (const auto& match : library::matches(*computation, *library)) {
      auto call = with_constants(match, arguments, options);
      const auto speed = library::speed_of(call, *table, cpu::num_threads());
      if (!speed || *speed < best) continue;
      best = result.speed = *speed;
      result.call = std::move(call);
    }
  }
  return result.call ? result : own_code("no library is faster by the prices of this machine");
}

/// The call that is predicted to be fastest on a GPU, if it is faster than own code by its predicted time.
LibraryChoice predicted_call(const Function& function, const std::optional<library::Computation>& computation,
                             const std::vector<Argument>& arguments, const CompileOptions& options) {
  LibraryChoice result;
  for (const auto* library : library::libraries()) {
    if (!computation || library->machine != machine_of(options.target)) continue;
    for (auto& call : library::matches(*computation, *library)) {
      const auto& seconds = library->routine(call.routine)->seconds;
      const auto own = seconds ? std::optional(seconds(call, *options.target.grid)) : std::nullopt;
      if (!own || (result.seconds && *result.seconds <= *own)) continue;
      result.seconds = own;
      result.call = std::move(call);
    }
  }
  if (!result.call) return own_code("no library has a routine for it");
  auto how = options;
  how.libraries = "none";
  const auto own = price_function(std::make_shared<const Function>(function), arguments, how);
  if (!own || *own < library::least_gain * *result.seconds) return own_code("no library is predicted to be faster");
  return result;
}

/// Why no library takes \p arguments; "" where they may.
std::string why_unaligned(const std::vector<Argument>& arguments) {
  for (const auto& argument : arguments)
    if (!argument.aligned)
      return str("'", argument.name, "' may begin anywhere, and not at a multiple of ", vector_alignment, " bytes");
  return "";
}

/// Calls of the library that is asked for by name, the best first, or why there are none.
struct NamedCalls {
  std::vector<library::Call> calls;
  std::string why_none;
};
NamedCalls named_calls(const Function& function, const std::vector<Argument>& arguments,
                       const CompileOptions& options) {
  const auto asked = asked_libraries(options.libraries);
  const auto& named = present_library(asked.name);
  const auto machine = machine_of(options.target);
  if (named.machine != machine)
    return {{}, str(named.name, machine == library::Machine::Cuda ? " runs on processors" : " runs on GPUs")};
  if (auto why = why_unaligned(arguments); !why.empty()) return {{}, std::move(why)};
  const auto computation = library::understand({function.def, function.ranges}, all_specs(arguments), asked.finite);
  NamedCalls result{{}, str(named.name, " has no routine for it")};
  if (computation)
    for (const auto& call : library::matches(*computation, named))
      result.calls.push_back(with_constants(call, arguments, options));
  return result;
}

}  // namespace

std::string library_prices_file(const cache::Cache& cache) { return cache.settings().folder + "/library_prices.txt"; }

std::optional<library::PriceTable> library_prices(const CompileOptions& options) {
  if (!options.cache) return std::nullopt;
  auto table = library::parse_prices(read_file(library_prices_file(*options.cache)));
  if (table && table->machine != cache::measurement_here().machine) return std::nullopt;
  return table;
}

AskedLibraries asked_libraries(const std::string& text) {
  if (text == "none") return {};
  const auto colon = text.find(':');
  const AskedLibraries result{text.substr(0, colon), colon != std::string::npos};
  std::vector<std::string> names{"auto", "measured"};
  for (const auto* library : library::libraries()) names.push_back(library->name);
  const bool known = std::find(names.begin(), names.end(), result.name) != names.end();
  if (known && (!result.finite || text.substr(colon) == ":finite")) return result;
  std::vector<std::string> may_be{"'none'"};
  for (const auto& name : names) may_be.push_back(str("'", name, "'"));
  throw OptionsError(str("libraries is one of ", join(may_be),
                         ", all but 'none' with ':finite' behind it where they may ",
                         "take all values to be finite, not '", text, "'"));
}

std::string checked_libraries(std::string text) {
  asked_libraries(text);
  return text;
}

std::vector<library::Call> library_calls(const Function& function, const std::vector<Argument>& arguments,
                                         const CompileOptions& options) {
  const auto asked = asked_libraries(options.libraries);
  if (!asked.none() && !asked.any() && !options.interpret) return named_calls(function, arguments, options).calls;
  auto choice = choose_library_call(function, arguments, options);
  return choice.call ? std::vector{std::move(*choice.call)} : std::vector<library::Call>();
}

LibraryChoice choose_library_call(const Function& function, const std::vector<Argument>& arguments,
                                  const CompileOptions& options) {
  const auto asked = asked_libraries(options.libraries);
  if (asked.none() || options.interpret) return {};
  if (!asked.any()) {
    auto named = named_calls(function, arguments, options);
    if (named.calls.empty()) return own_code(named.why_none);
    const auto table = library_prices(options);
    const auto speed = table ? library::speed_of(named.calls.front(), *table, cpu::num_threads()) : std::nullopt;
    return {std::move(named.calls.front()), speed.value_or(1), {}};
  }
  if (auto why = why_unaligned(arguments); !why.empty()) return own_code(why);
  const auto computation = library::understand({function.def, function.ranges}, all_specs(arguments), asked.finite);
  return options.target.grid ? predicted_call(function, computation, arguments, options)
                             : cheapest_call(computation, arguments, options);
}

std::shared_ptr<const Executable> call_executable(const Function& function, std::vector<Argument> arguments,
                                                  const CompileOptions& options, library::Call call) {
  const auto start = std::chrono::steady_clock::now();
  Image image;
  image.function = function.name();
  image.source = lang::print(function.def);
  image.target = to_string(options.target);
  image.options = options.mapping.to_text();
  image.arguments = std::move(arguments);
  image.calls.push_back(std::move(call));
  Launch launch{RoutineCall{0}, {}, {}, function.name()};
  for (std::size_t i = 0; i < image.arguments.size(); ++i) launch.slots.push_back(ArgumentSlot{i});
  image.launches.push_back(std::move(launch));
  CompileStats stats;
  stats.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return std::make_shared<Executable>(std::move(image), std::move(stats));
}

}  // namespace tc::engine
