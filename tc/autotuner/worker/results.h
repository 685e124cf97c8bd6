#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tc/autotuner/worker/message.h"
#include "tc/engine/run/executable.h"
#include "tc/options/mapping_options.h"

namespace tc::autotuner {

/// The outcome of a candidate.
enum class Status : std::uint8_t {
  Ok,         ///< right, and timed
  Same,       ///< the same machine code, and therefore the same time, as an earlier one
  Slow,       ///< abandoned after a run that took much longer than the best
  Wrong,      ///< results differ from the reference
  Crashed,    ///< its process ended
  TimedOut,   ///< its process was ended
  Exhausted,  ///< memory, or a limit of the compiler
  Rejected,   ///< the compiler rejected it
};

/// "ok", "same", "slow", "wrong", "crash", "timeout", "resource", "rejected", and back; Crashed for other texts.
const char* name(Status status);
Status parse_status(const std::string& text);

/// Stands for a processor instead of the number of a GPU.
inline constexpr int no_gpu = -1;

/// Options that were tried.
struct Candidate {
  options::MappingOptions options;
  Status status = Status::Crashed;
  double seconds = 0;    ///< of a run, the least of some samples; for failures 0
  double spread = 0;     ///< seconds between the quartiles
  std::string code;      ///< identity of the machine code, "" without code
  std::string note;      ///< the reason of a failure
  int generation = 0;    ///< 0: the default options
  double at = 0;         ///< seconds since tuning began
  double predicted = 0;  ///< seconds of a run by the analytic model; 0: not predicted
  int device = no_gpu;   ///< the GPU that measured it
  /// derive::derivation_text of the program that replaces the def; "": the def in its source form.
  std::string derivation = {};

  /// The job that compiles it: jobs.h.
  Message compile_job() const { return {"compile", options.to_text(), derivation}; }
  /// Did it compile and run with right results?
  bool usable() const { return status == Status::Ok || status == Status::Same; }
};

/// Options measured in turns with others at the end.
struct Finalist {
  options::MappingOptions options;
  double seconds = 0, least = 0, spread = 0;  ///< median, least, between the quartiles
  int runs = 0;                 ///< rounds; 0: there was no time for any, and the times come from the search
  std::string derivation = {};  ///< as Candidate
};

/// The progress of a tuning.
struct Progress {
  int generation = 0;
  int tried = 0, usable = 0, same = 0, slow = 0, failed = 0;
  double default_seconds = 0, best_seconds = 0, median_seconds = 0;  ///< the last of the usable ones of this generation
  double elapsed = 0, budget = 0;                                    ///< seconds; budget 0: none
  int candidates = 0;                                                ///< the most to try; 0: no limit
};

enum class Stop : std::uint8_t { Budget, Candidates, Exhausted, Cancelled };
/// "budget", "candidates", "space", "interrupt".
const char* name(Stop stop);

struct TuneResult {
  /// The fastest options beyond noise, or else the options that calls used before: the best ones of the cache, or the
  /// default ones.
  Finalist best;
  Finalist standard;                                     ///< the default options
  std::vector<Finalist> finalists;                       ///< by time
  std::vector<Candidate> candidates;                     ///< in the order tried, the default options first
  std::shared_ptr<const engine::Executable> executable;  ///< of the best
  Stop stop = Stop::Budget;
  int generations = 0;
  double elapsed = 0;
  bool kept = false;  ///< in the cache
  /// The options that calls use from the cache afterwards. They are the best ones, unless injected options or a
  /// folder with precedence override them, or the cache did not accept them.
  options::MappingOptions used;

  /// Time of the standard options over that of the best ones; 1 without a measurement.
  double speedup() const { return best.seconds > 0 ? standard.seconds / best.seconds : 1; }
};

}  // namespace tc::autotuner
