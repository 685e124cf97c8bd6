#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tc/autotuner/search/genetic_search.h"
#include "tc/autotuner/search/policy_search.h"
#include "tc/autotuner/search/price_search.h"
#include "tc/autotuner/worker/results.h"
#include "tc/base/cancellation.h"
#include "tc/base/tensor.h"
#include "tc/cache/cache.h"

namespace tc::autotuner {

/// Options for rules by genes, drawn ones, nests by their prices (price_search.h), or what a policy of the caller proposes
/// (policy_search.h).
enum class SearchKind : std::uint8_t { Genetic, Random, Price, Policy };
/// Throws OptionsError that lists the searches by name, all but those of policies.
SearchKind parse_search(std::string_view text);

/// The proposed candidates that are measured: all, the best by the compiler's model, or the best by that model
/// corrected by measured times (cost_model.h).
enum class Ranking : std::uint8_t { None, Model, Learned };
Ranking parse_ranking(std::string_view text);

/// The number of candidates that are proposed and ranked for each measured one.
inline constexpr int ranked_for_each = 3;

struct TuneSettings {
  std::vector<std::string> worker;  ///< command of a program that runs worker_main(); needed

  double budget = 60;  ///< seconds for the whole tuning; 0: none
  int candidates = 0;  ///< the most to try; 0: no limit. At least one of both is required
  SearchKind search = SearchKind::Genetic;
  std::uint64_t seed = 0;
  GeneticSettings genetic;
  NamedPolicy policy;           ///< of SearchKind::Policy
  PriceSearch::Correct prices;  ///< corrects the prices of SearchKind::Price; null: corrected_by_ridge()
  Ranking ranking = Ranking::None;
  std::vector<options::MappingOptions> starts;  ///< tried first, with the default options and the options of the cache

  Target target = Target::host();
  std::vector<int> devices;  ///< the GPUs that measure, one candidate at a time on each; empty: all suitable GPUs
  int threads = 0;           ///< number of threads of kernels; 0: as in this process
  int compilers = 0;         ///< processes that compile at once; 0: one for each core
  double compile_limit = 30, run_limit = 20;  ///< seconds for compiling a candidate, and for checking and measuring it
  std::size_t memory_limit = std::size_t(8) << 30;  ///< bytes that a candidate may use in addition to its tensors
  double measure_seconds = 0.1;                     ///< for timing a candidate
  double interpret_limit = 1;  ///< seconds after which the interpreter is abandoned as the reference
  int finalists = 3;           ///< besides the default options
  double final_seconds = 3;    ///< seconds for measuring them in turns

  std::shared_ptr<cache::Cache> cache;  ///< stores the winner and provides starts; null: none
  std::string checkpoint;               ///< a file to resume from, written after each generation; "": none
  Cancellation cancellation;            ///< ends tuning with the best so far
  std::function<void(const Candidate&)> on_candidate;
  std::function<void(const Progress&)> on_progress;  ///< after each candidate
};

/// Searches for the mapping options that make \p function fastest for \p inputs and outputs like \p outputs (empty:
/// dense ones), by measuring on this machine.
///
///   ask the search -> the promising -> compile, in processes -> code not seen before -> run, check and time, one at a
///   time on each device -> tell the search
///
/// The reference results come from the interpreter if it is fast enough, or else from the default options on a
/// processor. At the end, the best few, the default options and the incumbent (the options that calls use so far) are
/// measured in turns; options that are not faster beyond noise lose to the incumbent. The winner is compiled with all
/// invariant checks and stored in the cache, where calls find it.
///
/// The program is compiled and run in workers only. With a budget, tuning ends before 1.5 times the budget, or some two
/// seconds after the default options have been compiled, checked and measured, whichever is later.
///
/// Tensors are in the memory of the host, also for a GPU.
///
/// Throws OptionsError for invalid settings, DeviceError for the target of a missing GPU, ArgumentError for tensors
/// that do not fit, ResourceError if processes do not start or the default options do not run, and InternalError if
/// their results are wrong. Failures of candidates throw nothing.
TuneResult tune(const std::shared_ptr<const engine::Function>& function, const std::vector<TensorView>& inputs,
                const std::vector<TensorSpec>& outputs, const TuneSettings& settings);

}  // namespace tc::autotuner
