#include <gflags/gflags.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tc/autotuner/tune_derivations.h"
#include "tc/autotuner/tuner.h"
#include "tc/autotuner/worker/sample.h"
#include "tc/autotuner/worker/worker.h"
#include "tc/base/error.h"
#include "tc/base/plain_text.h"
#include "tc/base/str.h"
#include "tc/cache/environment.h"
#include "tc/engine/compile/library_call.h"
#include "tools/flag_help.h"
#include "tools/json_text.h"

/// tc_autotune: fills the compilation cache offline. --help says all.

DEFINE_string(def, "", "the def to tune; without it the only one of the file");
DEFINE_string(
    sizes, "",
    "values of the def's sizes; several lists joined by ';' are tuned in turn; @<file> takes a list from each line");
DEFINE_string(target, "",
              "what to tune for, which must run here, for example avx2,cores=2 or cuda:sm_90; programs that compile "
              "for the same find the "
              "winner; without it this machine's processor");
DEFINE_string(devices, "", "GPUs to measure on, for example 0,1; without it all that the target is for");
DEFINE_double(budget, 60, "seconds for each list of sizes; 0: no limit");
DEFINE_int32(candidates, 0, "candidates to try for each list of sizes, if the budget allows; 0: no limit");
DEFINE_string(search, "genetic", "how to search: genetic, random, or price: nests that are predicted to be fast");
DEFINE_string(method, "", "the former name of --search");
DEFINE_string(ranking, "none", "which candidates are measured: none (all), model or learned");
DEFINE_int32(
    derive, 0,
    "instead of options, measures the programs that so many rules derive from the def, for compiles with derive");
DEFINE_string(constants, "", "with --derive: the parameters whose tensors never change, for example W,b");
DEFINE_string(libraries, "none", "with --derive: whose routines they may call");
DEFINE_uint64(seed, 0, "what is tried depends on it, and on measured times only");
DEFINE_int32(population, 24, "candidates of a generation");
DEFINE_int32(threads, 0, "threads that kernels run on; 0: as many as the machine has");
DEFINE_string(start, "", "options to try first, for example tile=32x32,unroll=4; several joined by ';'");
DEFINE_string(cache, "",
              "the cache's folder, made if it is not there; without it that of TC_CACHE_DIR, else "
              "~/.cache/tensor_comprehensions");
DEFINE_string(checkpoint, "",
              "a file that is written after each generation; the same command goes on from it. "
              "Of several lists of sizes, each has its own, with its number behind the name");
DEFINE_string(log, "", "a file to which lines of JSON are added, see below");
DEFINE_bool(quiet, false, "print results only");

namespace {

using namespace tc;
using namespace tc::autotuner;
using tools::quoted;

constexpr const char* help =
    R"(tc_autotune searches for the mapping options that make a def fastest on this machine and puts them into the cache.

usage: tc_autotune <file.tc> --sizes=<name=value,...> [flags]

The file holds tensor comprehensions, for example layers.tc:

  def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }

M, K and N are its sizes, which --sizes gives values. Tensors are dense. What they hold is made up: floats between -1 and 1, indices
inside what they index. Candidates run in processes of their own and count only if their results are right. The result is a line for
each list of sizes: the time of the winner, that of the default options, and the winner, which programs that use the same cache take
without further ado; where options of the cache go before it, these are told too. Ctrl-C ends the search with the best so far, and keeps it.

flags:
)";

constexpr const char* examples = R"(
examples:
  tc_autotune layers.tc --def=mm --sizes=M=1024,K=1024,N=1024 --budget=60
  tc_autotune layers.tc --def=mm --sizes="M=128,K=64,N=64;M=256,K=64,N=64" --target=avx2,cores=2 --cache=team_cache --log=mm.json
  tc_autotune layers.tc --def=mm --sizes=@shapes.txt --candidates=500 --budget=0 --seed=7 --quiet
  tc_autotune net.tc --derive=7 --constants=W --budget=60    programs equal to the def, for compiles with derive=N and constants=["W"]
  tc_cache ls --dir=team_cache                               what is in it now; tc_cache --help says more

lines of the log:
  of a candidate     def, sizes, options, status (ok, same code as an earlier one, slow, wrong, crash, timeout, resource, rejected), seconds
                     and spread of a call, generation (0: the default options), at (seconds since the start), predicted (seconds), note
  of a result        def, sizes, best (options, "" for the default ones), seconds, default_seconds, candidates, generations, elapsed,
                     stop (budget, candidates, space or interrupt), kept (in the cache), used (options that calls take afterwards)

exit codes: 0 done, 2 it could not be done or was not understood
)";

struct UsageError : Error {
  using Error::Error;
};

/// Tells what went wrong. Files that others wrote are quoted in it: nothing in them commands the terminal.
void complain(const std::string& text) { std::cerr << "tc_autotune: " << plain_text(text) << "\n"; }

Cancellation& cancellation() {
  static auto& result = *new Cancellation;
  return result;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);)
    if (!part.empty()) result.push_back(part);
  return result;
}

lang::SizeMap parse_sizes(const std::string& text) {
  lang::SizeMap sizes;
  for (const auto& part : split(text, ',')) {
    auto equals = part.find('=');
    char* end = nullptr;
    auto value = equals == std::string::npos ? -1 : std::strtoll(part.c_str() + equals + 1, &end, 10);
    if (value < 0 || !end || *end) throw UsageError(str("--sizes: '", part, "' must be a name, '=' and a number"));
    sizes[part.substr(0, equals)] = value;
  }
  return sizes;
}

/// The lists of sizes that --sizes gives: one of no sizes where it gives none.
std::vector<std::string> lists_of_sizes() {
  auto text = FLAGS_sizes;
  if (text.starts_with("@")) {
    std::ifstream in(text.substr(1));
    if (!in) throw UsageError(str("--sizes: '", text.substr(1), "' cannot be read"));
    text.assign(std::istreambuf_iterator<char>(in), {});
    std::replace(text.begin(), text.end(), '\n', ';');
  }
  auto lists = split(text, ';');
  if (lists.empty()) lists.emplace_back();
  return lists;
}

int parse_device(const std::string& text) {
  char* end = nullptr;
  auto value = std::strtol(text.c_str(), &end, 10);
  if (*end || value < 0) throw UsageError(str("--devices: '", text, "' is no number of a GPU"));
  return static_cast<int>(value);
}

/// The inputs of \p function for \p sizes, dense ones.
std::vector<TensorSpec> inputs_of(const engine::Function& function, const lang::SizeMap& sizes) {
  for (const auto& name : function.def.sizes)
    if (!sizes.count(name))
      throw UsageError(str("--sizes gives no value for '", name, "'; '", function.name(), "' has the sizes ",
                           join(function.def.sizes)));
  for (const auto& [name, value] : sizes)
    if (std::find(function.def.sizes.begin(), function.def.sizes.end(), name) == function.def.sizes.end())
      throw UsageError(str("--sizes gives a value for '", name, "'; '", function.name(), "' has the sizes ",
                           join(function.def.sizes)));
  return engine::inputs_for(function, sizes);
}

std::shared_ptr<const engine::Function> load(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UsageError(str("'", file, "' cannot be read"));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  auto module = engine::define(text, file);
  if (!FLAGS_def.empty()) return module.function(FLAGS_def);
  if (module.functions.size() == 1) return module.functions.front();
  std::vector<std::string> names;
  for (const auto& function : module.functions) names.push_back(function->name());
  throw UsageError(str("--def must say which def is tuned; there are ", join(names)));
}

std::shared_ptr<cache::Cache> open_cache() {
  if (FLAGS_cache.empty()) return cache::from_environment();
  cache::CacheSettings settings;
  settings.folder = FLAGS_cache;
  return std::make_shared<cache::Cache>(settings);
}

std::string time_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f %s", seconds * (seconds < 1e-3 ? 1e6 : 1e3), seconds < 1e-3 ? "us" : "ms");
  return text;
}

std::string gain_text(double gain) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", gain);
  return text;
}

std::string options_text(const options::MappingOptions& options) {
  auto text = options.to_text();
  return text.empty() ? "(default options)" : text;
}

/// Lines of JSON, where --log asks for them.
class Log {
 public:
  Log() {
    if (FLAGS_log.empty()) return;
    out_.open(FLAGS_log, std::ios::app);
    if (!out_) throw UsageError(str("--log: '", FLAGS_log, "' cannot be written"));
  }
  void write(const std::string& def, const std::string& sizes, const Candidate& candidate) {
    if (!out_.is_open()) return;
    out_ << "{\"def\": " << quoted(def) << ", \"sizes\": " << quoted(sizes)
         << ", \"options\": " << quoted(candidate.options.to_text())
         << ", \"status\": " << quoted(name(candidate.status)) << ", \"seconds\": " << candidate.seconds
         << ", \"spread\": " << candidate.spread << ", \"generation\": " << candidate.generation
         << ", \"at\": " << candidate.at << ", \"predicted\": " << candidate.predicted
         << ", \"note\": " << quoted(candidate.note) << "}";
    end_line();
  }
  void write(const std::string& def, const std::string& sizes, const TuneResult& result) {
    if (!out_.is_open()) return;
    out_ << "{\"def\": " << quoted(def) << ", \"sizes\": " << quoted(sizes)
         << ", \"best\": " << quoted(result.best.options.to_text()) << ", \"seconds\": " << result.best.seconds
         << ", \"default_seconds\": " << result.standard.seconds << ", \"candidates\": " << result.candidates.size()
         << ", \"generations\": " << result.generations << ", \"elapsed\": " << result.elapsed
         << ", \"stop\": " << quoted(name(result.stop)) << ", \"kept\": " << (result.kept ? "true" : "false")
         << ", \"used\": " << quoted(result.used.to_text()) << "}";
    end_line();
  }

 private:
  /// A log that cannot be written any more, on a full disk, is told of once and costs no tuning.
  void end_line() {
    out_ << std::endl;
    if (out_) return;
    complain(str("--log: '", FLAGS_log, "' cannot be written any more"));
    out_.close();
  }

  std::ofstream out_;
};

void show(const Progress& progress) {
  static double shown = -10;
  if (FLAGS_quiet || (progress.elapsed >= shown && progress.elapsed - shown < 5)) return;
  shown = progress.elapsed;
  std::cerr << "generation " << progress.generation << ", " << progress.tried << " tried: best "
            << time_text(progress.best_seconds) << ", default " << time_text(progress.default_seconds) << "; "
            << progress.same << " same, " << progress.slow << " slow, " << progress.failed << " failed; "
            << static_cast<int>(progress.elapsed) << " s\n";
}

TuneSettings settings_from_flags() {
  TuneSettings settings;
  settings.worker = {"/proc/self/exe", "--worker"};
  settings.budget = FLAGS_budget;
  settings.candidates = FLAGS_candidates;
  settings.search = parse_search(FLAGS_method.empty() ? FLAGS_search : FLAGS_method);
  settings.ranking = parse_ranking(FLAGS_ranking);
  settings.seed = FLAGS_seed;
  settings.genetic.population = FLAGS_population;
  settings.threads = FLAGS_threads;
  for (const auto& start : split(FLAGS_start, ';')) settings.starts.push_back(options::MappingOptions::parse(start));
  if (!FLAGS_target.empty()) settings.target = Target::parse(FLAGS_target);
  for (const auto& device : split(FLAGS_devices, ',')) settings.devices.push_back(parse_device(device));
  settings.checkpoint = FLAGS_checkpoint;
  settings.cancellation = cancellation();
  settings.on_progress = show;
  settings.cache = open_cache();
  return settings;
}

void tune_for(const std::shared_ptr<const engine::Function>& function, const std::string& sizes, TuneSettings settings,
              Log& log) {
  SampleTensors sample(*function, inputs_of(*function, parse_sizes(sizes)), FLAGS_seed);
  settings.on_candidate = [&](const Candidate& candidate) { log.write(function->name(), sizes, candidate); };
  auto result = tune(function, sample.views(), {}, settings);
  log.write(function->name(), sizes, result);
  std::cout << plain_text(str(function->name(), " ", sizes, ": ", time_text(result.best.seconds), ", default ",
                              time_text(result.standard.seconds), " (", gain_text(result.speedup()),
                              "): ", options_text(result.best.options), result.kept ? "" : " (not kept in a cache)",
                              result.used == result.best.options ? "" : "; calls take " + options_text(result.used)))
            << "\n";
}

/// Measures what is derived from \p function, a line for each part of its graph.
void tune_derived_for(const std::shared_ptr<const engine::Function>& function, const std::string& sizes,
                      const TuneSettings& settings) {
  engine::CompileOptions how;
  how.derive = FLAGS_derive;
  how.libraries = engine::checked_libraries(FLAGS_libraries);
  for (const auto& name : split(FLAGS_constants, ',')) how.constants.push_back({name, {}, nullptr, std::nullopt});
  for (const auto& part : tune_derivations(function, inputs_of(*function, parse_sizes(sizes)), settings, how).parts) {
    const auto &written = part.programs.front(), &best = part.programs[part.best];
    const auto rules = best.program.rules.empty() ? "as it is written" : join(best.program.rules, "; ");
    std::cout << plain_text(str(function->name(), " ", sizes, ", ", part.name, ": ", time_text(best.seconds),
                                ", as it is written ", time_text(written.seconds), " (",
                                gain_text(written.seconds / best.seconds), "), ", part.programs.size(),
                                " programs: ", rules, part.kept ? "" : " (not kept in a cache)"))
              << "\n";
  }
}

/// A list of sizes that cannot be tuned is told of, and leaves the others.
bool try_to_tune(const std::shared_ptr<const engine::Function>& function, const std::string& sizes,
                 const TuneSettings& settings, Log& log) {
  try {
    if (FLAGS_derive > 0)
      tune_derived_for(function, sizes, settings);
    else
      tune_for(function, sizes, settings, log);
    return true;
  } catch (const std::exception& error) {
    complain(str(function->name(), " ", sizes, ": ", error.what()));
    return false;
  }
}

void print_help() { std::cout << help << tools::flags_of(__FILE__) << examples; }

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::strcmp(words[1], "--worker") == 0) return worker_main();
  for (int i = 1; i < count; ++i)
    if (std::strcmp(words[i], "--help") == 0 || std::strcmp(words[i], "-h") == 0) return print_help(), 0;
  gflags::ParseCommandLineFlags(&count, &words, true);
  try {
    if (count != 2) throw UsageError("one file of TC text is needed");
    cancellation();
    std::signal(SIGXFSZ, SIG_IGN);  // a log that may not grow is told of
    std::signal(SIGINT, [](int) { cancellation().cancel(); });
    auto function = load(words[1]);
    auto settings = settings_from_flags();
    auto lists = lists_of_sizes();
    Log log;
    bool all = true;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (cancellation().requested()) break;
      if (lists.size() > 1 && !FLAGS_checkpoint.empty()) settings.checkpoint = str(FLAGS_checkpoint, ".", i + 1);
      all = try_to_tune(function, lists[i], settings, log) && all;
    }
    return all ? 0 : 2;
  } catch (const UsageError& error) {
    complain(str(error.what(), "; tc_autotune --help says what there is"));
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return 2;
}
