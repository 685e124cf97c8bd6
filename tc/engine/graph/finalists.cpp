#include "tc/engine/graph/finalists.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tc/base/cancellation.h"
#include "tc/base/str.h"
#include "tc/cache/sha256.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/run/filled_tensors.h"
#include "tc/library/registry.h"

namespace tc::engine {
namespace {

using Made = std::shared_ptr<const Executable>;

/// All finalists run in a round. Rounds end after these seconds, when there were enough of them.
constexpr double most_seconds = 3;
constexpr std::size_t least_rounds = 7, most_rounds = 50;

bool measures(const CompileOptions& options) {
  return asked_libraries(options.libraries).measured() || options.layouts == graph::LayoutMode::Measured;
}

bool can_measure(const CompileOptions& options) {
  return !options.target.grid && options.symbolic.empty() && options.dynamic.empty() && !options.interpret;
}

/// The names that options.libraries has in the finalists, own code first.
std::vector<std::string> libraries_of(const CompileOptions& options) {
  const auto asked = asked_libraries(options.libraries);
  if (!asked.measured()) return {options.libraries};
  const std::string suffix = asked.finite ? ":finite" : "";
  if (!can_measure(options)) return {"auto" + suffix};
  std::vector<std::string> result{"none"};
  for (const auto* library : library::libraries())
    if (library->machine == library::Machine::Cpu && !library->find().version.empty())
      result.push_back(library->name + suffix);
  if (library_prices(options)) result.push_back("auto" + suffix);
  return result;
}

std::vector<graph::LayoutMode> layouts_of(const CompileOptions& options, const std::string& libraries) {
  using graph::LayoutMode;
  if (options.layouts != LayoutMode::Measured) return {options.layouts};
  if (!can_measure(options)) return {LayoutMode::Constants};
  const auto asked = asked_libraries(libraries);
  if (!asked.none() && !asked.any()) return {LayoutMode::Resolve};
  return {LayoutMode::Constants, LayoutMode::Resolve};
}

/// A line that tells finalists apart.
std::string name_of(const CompileOptions& options) {
  return str("libraries=", options.libraries, " layouts=", to_string(options.layouts));
}

// Choices that were measured, a line each in a file of the cache's folder: a digest of what was compiled, then name_of() the winner.

std::string choices_file(const CompileOptions& options) {
  return options.cache->settings().folder + "/measured_choices.txt";
}

/// What a choice depends on.
std::string key_of(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options) {
  auto same = options;
  const bool finite = asked_libraries(options.libraries).finite;
  same.libraries = finite ? "auto:finite" : "auto";
  same.layouts = graph::LayoutMode::Constants;
  TextStream key;
  key << cache_key(function, arguments, same) << "\nthreads " << cpu::num_threads() << "\n"
      << cache::measurement_here().machine;
  for (const auto& constant : options.constants) key << "\nconstant " << constant.name;
  for (const auto* library : library::libraries()) key << "\n" << library->name << " " << library->find().version;
  return cache::hex(cache::sha256(key.str()), 16);
}

std::optional<std::string> kept_choice(const std::string& key, const CompileOptions& options) {
  if (!options.cache) return std::nullopt;
  std::ifstream in(choices_file(options));
  std::optional<std::string> result;
  for (std::string line; std::getline(in, line);)
    if (line.rfind(key + " ", 0) == 0) result = line.substr(key.size() + 1);
  return result;
}

void keep_choice(const std::string& key, const std::string& choice, const CompileOptions& options) {
  if (!options.cache || !options.cache->settings().writable) return;
  std::error_code ignored;
  std::filesystem::create_directories(options.cache->settings().folder, ignored);
  std::ofstream(choices_file(options), std::ios::app) << str(key, " ", choice, "\n");
}

/// The finalist of \p options that \p choice names; nothing where it is none of them.
std::optional<CompileOptions> chosen_before(const std::string& choice, const CompileOptions& options) {
  auto all = options;
  const bool finite = asked_libraries(options.libraries).finite;
  if (asked_libraries(options.libraries).any()) {
    all.libraries = finite ? "measured:finite" : "measured";
    if (all.layouts == graph::LayoutMode::Constants) all.layouts = graph::LayoutMode::Measured;
  }
  for (auto& finalist : finalists_of(all))
    if (name_of(finalist) == choice) return finalist;
  return std::nullopt;
}

struct Finalist {
  std::string name;
  Made made;
  std::vector<double> seconds = {};

  double quartile() const {
    auto sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 4];
  }
};

/// Seconds of a clock that other work on the machine disturbs least: of the processor's time, if this thread does all work.
double seconds_now() {
  timespec now{};
  clock_gettime(cpu::num_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Runs all \p finalists in turns, each twice, so that the run that counts finds in the caches what a run behind its own would.
void run_in_turns(std::vector<Finalist>& finalists) {
  FilledTensors tensors(finalists.front().made->image().arguments);
  const double begin = seconds_now();
  for (std::size_t round = 0; round < most_rounds && (round < least_rounds || seconds_now() < begin + most_seconds);
       ++round)
    for (auto& finalist : finalists) {
      check_cancelled("a measurement of finalists");
      finalist.made->run_unchecked(tensors.pointers());
      const double start = seconds_now();
      finalist.made->run_unchecked(tensors.pointers());
      finalist.seconds.push_back(seconds_now() - start);
    }
}

/// Did all \p finalists run? Where one does not accept the tensors that were made up, a line of \p lines says so.
bool measure(std::vector<Finalist>& finalists, std::vector<std::string>& lines) {
  try {
    run_in_turns(finalists);
    return true;
  } catch (const Error& error) {
    check_cancelled("a measurement of finalists");
    lines.push_back(str("not measured: ", error.what()));
    return false;
  }
}

std::string line_of(const Finalist& finalist) {
  const double us = finalist.quartile() * 1e6;
  return str(finalist.name, ": ",
             us < 1000 ? str(std::round(us * 10) / 10, " us") : str(std::round(us / 10) / 100, " ms"));
}

Made with_lines(const Made& made, std::vector<std::string> lines) {
  auto stats = made->stats();
  stats.finalists = std::move(lines);
  return std::make_shared<Executable>(made->image(), std::move(stats), made->loaded());
}

/// Do both run the same code?
bool is_same_code(const Image& a, const Image& b) {
  const auto same_function = [](const auto& f, const auto& g) { return f.bytes == g.bytes; };
  const auto same_call = [](const auto& f, const auto& g) { return to_string(f) == to_string(g); };
  return a.launches.size() == b.launches.size() && a.workspace_bytes == b.workspace_bytes &&
         std::equal(a.functions.begin(), a.functions.end(), b.functions.begin(), b.functions.end(), same_function) &&
         std::equal(a.calls.begin(), a.calls.end(), b.calls.begin(), b.calls.end(), same_call);
}

/// The finalists of \p options that can be compiled in time, each code once. Throws what the last one throws where none can.
std::vector<Finalist> compiled(const CompileOptions& options, const std::function<Made(const CompileOptions&)>& make,
                               double least_limit, std::vector<std::string>& lines) {
  using Clock = std::chrono::steady_clock;
  std::vector<Finalist> result;
  auto all = finalists_of(options);
  double longest = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    try {
      auto& limit = all[i].stages.cancellation;
      limit = limit.child();
      if (!result.empty()) limit.set_time_limit(std::max(least_limit, most_finalist_times * longest));
      const auto begin = Clock::now();
      auto made = make(all[i]);
      longest = std::max(longest, std::chrono::duration<double>(Clock::now() - begin).count());
      const auto is_known = [&](const Finalist& other) { return is_same_code(other.made->image(), made->image()); };
      if (std::none_of(result.begin(), result.end(), is_known)) result.push_back({name_of(all[i]), std::move(made)});
    } catch (const Error& error) {
      check_cancelled("a measurement of finalists");
      if (i + 1 == all.size() && result.empty()) throw;
      lines.push_back(str(name_of(all[i]), ": ", error.what()));
    }
  }
  return result;
}

}  // namespace

bool has_finalists(const CompileOptions& options) {
  if (measures(options)) return true;
  const bool is_part = options.partition == graph::Partition::One;  // its graph has chosen
  return !is_part && asked_libraries(options.libraries).any();
}

std::vector<CompileOptions> finalists_of(const CompileOptions& options) {
  std::vector<CompileOptions> result;
  for (const auto& libraries : libraries_of(options))
    for (const auto layouts : layouts_of(options, libraries)) {
      auto& finalist = result.emplace_back(options);
      finalist.libraries = libraries;
      finalist.layouts = layouts;
    }
  return result;
}

Made fastest_finalist(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options,
                      const std::function<Made(const CompileOptions&)>& make, double least_limit) {
  if (!can_measure(options)) return make(finalists_of(options).front());
  const auto key = key_of(function, arguments, options);
  if (const auto choice = kept_choice(key, options))
    if (const auto known = chosen_before(*choice, options))
      return with_lines(make(*known), {str(*choice, ": chosen by an earlier measurement")});
  if (!measures(options)) return make(options);
  std::vector<std::string> lines;
  auto finalists = compiled(options, make, least_limit, lines);
  const bool measured = finalists.size() > 1 && measure(finalists, lines);
  const auto faster = [](const Finalist& a, const Finalist& b) { return a.quartile() < b.quartile(); };
  auto best = finalists.begin();
  if (measured) {
    best = std::min_element(finalists.begin(), finalists.end(), faster);
    if (best->quartile() * least_finalist_gain > finalists.front().quartile()) best = finalists.begin();
    for (const auto& finalist : finalists) lines.push_back(line_of(finalist));
  }
  if (measured || lines.empty()) keep_choice(key, best->name, options);
  lines.push_back(str("chosen: ", best->name));
  return with_lines(best->made, std::move(lines));
}

}  // namespace tc::engine
