#include "chaos.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "tc/base/error.h"
#include "test/support/expect_error.h"
#include "test/support/from_environment.h"
#include "tuner_fixture.h"

namespace tc::autotuner {
namespace {

constexpr const char* kinds[] = {"segv",     "abort",    "hang",  "memory", "exit",
                                 "run_segv", "run_hang", "wrong", "nan",    "unwritten"};

std::set<std::string> wanted_status(const std::string& fault) {
  if (fault.empty()) return {"ok"};
  if (fault == "hang" || fault == "run_hang") return {"timeout"};
  if (fault == "memory") return {"resource", "crash", "timeout"};
  if (fault == "wrong" || fault == "nan" || fault == "unwritten") return {"wrong"};
  return {"crash"};
}

/// What may become of the candidates of each machine code where some meet \p kind: it is measured once, for one of them.
std::map<std::string, std::set<std::string>> wanted_by_code(const std::vector<Candidate>& candidates,
                                                            const std::string& kind) {
  std::map<std::string, std::set<std::string>> result;
  for (const auto& candidate : candidates)
    if (!candidate.code.empty())
      result[candidate.code].merge(wanted_status(fault_of(candidate.options.to_text(), kind)));
  return result;
}

/// Does a tuning with faults of \p kind wait for its limits?
bool may_hang(const std::string& kind) { return wanted_status(kind).count("timeout") > 0; }

/// Seconds after which a process is taken to hang: many times as long as a candidate takes while the machine is as busy
/// as now. A tuning of one candidate runs some eight processes, most of them one after another.
double patience(const std::shared_ptr<const engine::Function>& function, const std::vector<TensorView>& inputs) {
  constexpr double least = 1.5, tunings = 5;
  auto start = std::chrono::steady_clock::now();
  tune(function, inputs, {}, quick(1));
  return std::max(least, tunings * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

/// Tunes with \p seed where some candidates meet \p kind, and checks what became of them. Returns how many met it alone.
int tune_with_faults(const std::string& kind, std::uint64_t seed) {
  SCOPED_TRACE(kind + " " + std::to_string(seed));
  auto function = function_of(product_text);
  Inputs inputs({matrix(12, 10), matrix(10, 16)});
  auto settings = quick(may_hang(kind) ? 8 : 12, seed, kind);
  settings.compile_limit = settings.run_limit = may_hang(kind) ? patience(function, inputs.views()) : 60;
  settings.memory_limit = std::size_t(256) << 20;
  settings.final_seconds = 0.005;
  auto result = tune(function, inputs.views(), {}, settings);
  EXPECT_EQ(fault_of(result.best.options.to_text(), kind), "");
  EXPECT_GT(result.best.runs, 0);
  EXPECT_EQ(result.stop, Stop::Candidates);
  auto wanted = wanted_by_code(result.candidates, kind);
  int faulty = 0;
  for (const auto& candidate : result.candidates) {
    if (fault_of(candidate.options.to_text(), kind).empty()) continue;
    const auto& statuses = candidate.code.empty() ? wanted_status(kind) : wanted[candidate.code];
    if (statuses.count("ok")) continue;
    ++faulty;
    EXPECT_TRUE(statuses.count(name(candidate.status))) << name(candidate.status) << " " << candidate.note;
  }
  return faulty;
}

/// Which candidates a tuning tries depends on times it measured: a kind that none of them met is tried again.
TEST(Chaos, TuningsEndWellAndNeverPickAFaultyCandidate) {
  constexpr std::uint64_t retries = 5;
  const auto seeds = test::from_environment("TC_CHAOS_SEEDS", 1);
  for (const std::string kind : kinds) {
    int faulty = 0;
    for (std::uint64_t seed = 0; seed < seeds || (faulty == 0 && seed < seeds + retries); ++seed)
      faulty += tune_with_faults(kind, seed);
    EXPECT_GT(faulty, 0) << kind;
  }
}

TEST(Chaos, DefaultOptionsThatFailAreAnError) {
  Inputs inputs({matrix(8, 8), matrix(8, 8)});
  auto function = function_of(product_text);
  EXPECT_ERROR(tune(function, inputs.views(), {}, quick(2, 1, "default wrong")), InternalError,
               "'mm' with the default options differs from its reference: 'C': element 63 is 21 instead of 20");
  EXPECT_ERROR(tune(function, inputs.views(), {}, quick(2, 1, "default run_segv")), ResourceError,
               "'mm' cannot be tuned: the default options fail (crash): ended by signal 11 (Segmentation fault)");
  EXPECT_ERROR(tune(function, inputs.views(), {}, quick(2, 1, "default abort")), ResourceError,
               "'mm' cannot be tuned: it does not run with the default options: ended by signal 6 (Aborted)");
}

}  // namespace
}  // namespace tc::autotuner
