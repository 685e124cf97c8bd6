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

namespace tc::autotuner {

/// Called in the process of a candidate, by tests: after "compile" and "finish", and after each "run" with what it
/// computed.
using Hook =
    std::function<void(const std::string& step, const std::string& options, const std::vector<TensorView>& outputs)>;

/// What all jobs of a problem share.
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

/// Jobs, each run in a process of its own. A reply begins with the name of a status; those of failures end with a note.
///
///   reference interpreted|compiled         ok                       results into the shared memory
///   predict <options>                      ok <seconds>
///   compile <options> <derivation>         ok <image> <identity of the code>
///   finish <options>                       ok <image> <stages>      compiled with all laws
///   measure <image> <best> <seconds>       ok <least> <quartiles> <runs> | slow <seconds>
///   compare <seconds> <seed> <image>...    ok <timings of image 1>...
///
/// The reference is computed on a processor, with the default options, whatever the target is. `measure` and `compare`
/// run on \p device, a GPU where the target is one, and check results first. `best` is the time so far, in seconds, 0
/// for none; `seconds` are for measuring. `compare` measures in rounds, in orders drawn from `seed`; timings_of() reads
/// what it says of each image. The constants of the problem are bound in what `compile` gives, and
/// `derivation` is CompileOptions::derivation. What `predict` gives is engine::predict_seconds().
/// What `finish` says of the stages of its compile, each with its text, is for stages_of().
Message run_job(const JobContext& context, int device, const Message& job);

/// The timings of an image that the reply to `compare` tells by \p bytes, one a round.
Timings timings_of(const std::string& bytes);
/// The stages that the reply to `finish` tells of by \p bytes.
std::vector<StageRecord> stages_of(const std::string& bytes);

}  // namespace tc::autotuner
