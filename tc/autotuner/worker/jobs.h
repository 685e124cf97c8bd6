#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tc/autotuner/worker/check.h"
#include "tc/autotuner/worker/message.h"
#include "tc/autotuner/worker/problem.h"
#include "tc/autotuner/worker/timing.h"
#include "tc/base/stage.h"
#include "tc/base/target.h"
#include "tc/engine/describe/nest_candidates.h"

namespace tc::autotuner {

/// Called by tests in the process of a candidate: after "compile" and "finish", and after each "run" with its
/// outputs.
using Hook =
    std::function<void(const std::string& step, const std::string& options, const std::vector<TensorView>& outputs)>;

/// The data that all jobs of a problem share.
struct JobContext {
  Problem problem;
  std::shared_ptr<const engine::Function> function;
  std::vector<engine::Argument> arguments;
  Layout layout;
  Tolerance tolerance;
  Target target;
  int data = -1;                 ///< the file of the shared memory
  const char* shared = nullptr;  ///< its bytes, not to be written
  Hook hook;
};

/// Jobs, each run in a process of its own. A reply begins with the name of a status; the reply of a failure ends with
/// a note.
///
///   reference interpreted|compiled         ok                       results into the shared memory
///   predict <options>                      ok <seconds>
///   nests <options> <count>                ok <nests>
///   compile <options> <derivation>         ok <image> <identity of the code>
///   finish <options>                       ok <image> <stages>      compiled with all laws
///   measure <image> <best> <seconds>       ok <least> <quartiles> <runs> | slow <seconds>
///   compare <seconds> <seed> <image>...    ok <timings of image 1>...
///
/// The reference is computed on a processor, with the default options, for any target. `measure` and `compare` run on
/// \p device, which is a GPU if the target is one, and check results first. `best` is the time so far, in seconds, 0
/// for none; `seconds` are for measuring. `compare` measures in rounds, in orders drawn from `seed`; timings_of()
/// reads its reply for each image. `compile` binds the constants of the problem, and `derivation` is
/// CompileOptions::derivation. `predict` returns engine::predict_seconds(), `nests` engine::nest_candidates() for nests_of(). stages_of() reads the stages, with their
/// texts, in the reply to `finish`.
Message run_job(const JobContext& context, int device, const Message& job);

/// The nests from \p bytes of the reply to `nests`.
std::vector<engine::NestCandidate> nests_of(const std::string& bytes);
/// The timings of an image, one for each round, from \p bytes of the reply to `compare`.
Timings timings_of(const std::string& bytes);
/// The stages from \p bytes of the reply to `finish`.
std::vector<StageRecord> stages_of(const std::string& bytes);

}  // namespace tc::autotuner
