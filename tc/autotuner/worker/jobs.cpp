#include "tc/autotuner/worker/jobs.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "tc/autotuner/worker/device.h"
#include "tc/autotuner/worker/results.h"
#include "tc/autotuner/worker/statistics.h"
#include "tc/base/str.h"
#include "tc/cache/sha256.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/describe/predict_time.h"
#include "tc/engine/machine/machine_kind.h"

namespace tc::autotuner {
namespace {

constexpr double sample_seconds = 1e-3, compare_sample_seconds = 2e-3;
constexpr double hopeless = 3;       ///< times the best
constexpr double short_call = 5e-3;  ///< seconds
constexpr int least_samples = 5, most_samples = 15, most_rounds = 101;
constexpr int least_long_rounds = 2;  ///< of long calls

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Message reply(Status status, Message rest) {
  rest.insert(rest.begin(), name(status));
  return rest;
}

engine::CompileOptions compile_options(const Target& target, const std::string& options) {
  engine::CompileOptions how;
  how.target = target;
  how.mapping = options::MappingOptions::parse(options);
  return how;
}

std::shared_ptr<const engine::Executable> compile(const JobContext& context, const std::string& options,
                                                  const engine::CompileOptions& how, const char* step = "compile") {
  auto result = engine::compile(context.function, context.problem.inputs, context.problem.outputs, how);
  if (context.hook) context.hook(step, options, {});
  return result;
}

/// The tensors of a call on the device that is measured on.
class Bench {
 public:
  Bench(const JobContext& context, int device)
      : context_(context),
        tensors_(
            context.arguments, context.layout, context.shared,
            engine::machine_kind_of(context.target).own_memory ? Tensors::Inputs::Copied : Tensors::Inputs::Shared),
        device_(make_device(context.target, device, tensors_)) {}

  /// Runs \p executable; what is wrong with the results, "" for nothing.
  std::string try_out(const engine::Executable& executable) {
    device_->run(executable);
    if (context_.hook) context_.hook("run", executable.image().options, tensors_.outputs());
    return tensors_.check(context_.tolerance);
  }
  Timing time(const engine::Executable& executable, int calls) { return device_->time(executable, calls); }
  /// Seconds of a call, the mean of \p calls of them.
  double seconds_of(const engine::Executable& executable, int calls) {
    return autotuner::seconds_of({time(executable, calls)}).front();
  }

 private:
  const JobContext& context_;
  Tensors tensors_;
  std::unique_ptr<Device> device_;
};

/// Calls that make a sample of \p sample seconds.
int calls_for(double sample, double call) {
  return static_cast<int>(std::clamp(std::ceil(sample / std::max(call, 1e-9)), 1.0, 1e6));
}

Message reference(const JobContext& context, const Message& job) {
  auto how = compile_options(engine::machine_kind_of(context.target).own_memory ? Target::host() : context.target, "");
  how.interpret = job.at(1) == "interpreted";
  auto executable = compile(context, "", how);
  Tensors tensors(context.arguments, context.layout, context.shared, Tensors::Inputs::Shared);
  executable->run_unchecked(tensors.pointers());
  auto bytes = std::max<std::size_t>(context.layout.bytes, 1);
  void* shared = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, context.data, 0);
  if (shared == MAP_FAILED) return reply(Status::Exhausted, {"the shared memory cannot be mapped"});
  tensors.store(static_cast<char*>(shared));
  return reply(Status::Ok, {});
}

Message predict(const JobContext& context, const Message& job) {
  auto how = compile_options(context.target, job.at(1));
  auto report = engine::describe_work(context.function, context.arguments, how);
  return reply(Status::Ok, {exact_text(engine::predict_seconds(report, context.target, context.problem.threads))});
}

Message nests(const JobContext& context, const Message& job) {
  const auto how = compile_options(context.target, job.at(1));
  Message found;
  for (const auto& nest : engine::nest_candidates(context.function, context.arguments, how,
                                                  static_cast<std::size_t>(whole_number(job.at(2))))) {
    Message terms;
    for (auto term : nest.terms) terms.push_back(exact_text(term));
    found.push_back(encode({nest.options.to_text(), exact_text(nest.seconds), encode(terms)}));
  }
  return reply(Status::Ok, {encode(found)});
}

/// The constants of the problem, in the memory that is shared.
std::vector<engine::Constant> constants_of(const JobContext& context) {
  std::vector<engine::Constant> result;
  for (std::size_t i = 0; i < context.problem.inputs.size(); ++i) {
    const auto& argument = context.arguments[i];
    const auto& names = context.problem.constants;
    if (std::find(names.begin(), names.end(), argument.name) == names.end()) continue;
    const auto& part = context.layout.parts[i];
    auto* first = const_cast<char*>(context.shared) + part.offset + part.origin;  // read only
    result.push_back({argument.name, argument.spec, std::shared_ptr<void>(first, [](void*) {}), std::nullopt});
  }
  return result;
}

Message compile_candidate(const JobContext& context, const Message& job) {
  auto how = compile_options(context.target, job.at(1));
  how.libraries = context.problem.libraries;
  how.constants = constants_of(context);
  how.derivation = job.at(2);
  auto image = compile(context, job.at(1), how)->image();
  auto bytes = image.serialise();
  image.options.clear();
  return reply(Status::Ok, {bytes, cache::hex(cache::sha256(image.serialise()), 16)});
}

std::string bytes_of(const std::vector<StageRecord>& stages) {
  Message result;
  for (const auto& stage : stages) result.push_back(encode({stage.name, exact_text(stage.milliseconds), stage.text}));
  return encode(result);
}

Message finish(const JobContext& context, const Message& job) {
  auto how = compile_options(context.target, job.at(1));
  how.stages.verify = how.stages.keep_text = true;
  auto executable = compile(context, job.at(1), how, "finish");
  return reply(Status::Ok, {executable->image().serialise(), bytes_of(executable->stats().records)});
}

/// Samples of some calls each, until there are enough or \p limit seconds are over.
std::vector<double> sample(Bench& bench, const engine::Executable& executable, int calls, double limit) {
  std::vector<double> samples;
  auto start = Clock::now();
  while (samples.size() < least_samples || (samples.size() < most_samples && since(start) < limit)) {
    samples.push_back(bench.seconds_of(executable, calls));
    if (samples.size() >= 2 && since(start) > 4 * limit) break;
  }
  return samples;
}

bool is_hopeless(double seconds, double best) { return best > 0 && seconds > hopeless * best; }

/// Seconds of a call: of one, if that is not hopeless, else the least of two, or of five short ones, which anything
/// else on the machine delays.
double first_look(Bench& bench, const engine::Executable& executable, double best) {
  double least = bench.seconds_of(executable, 1);
  int again = least < short_call ? 4 : 1;
  for (int i = 0; i < again && is_hopeless(least, best); ++i) least = std::min(least, bench.seconds_of(executable, 1));
  return least;
}

Message measure(const JobContext& context, int device, const Message& job) {
  engine::Executable executable(engine::Image::deserialise(job.at(1)));
  double best = exact_number(job.at(2)), limit = exact_number(job.at(3));
  Bench bench(context, device);
  if (auto wrong = bench.try_out(executable); !wrong.empty()) return reply(Status::Wrong, {wrong});
  double once = first_look(bench, executable, best);
  if (is_hopeless(once, best)) return reply(Status::Slow, {exact_text(once)});
  double call = bench.seconds_of(executable, calls_for(sample_seconds / 4, once));
  int calls = calls_for(sample_seconds, call);
  auto samples = sample(bench, executable, calls, limit);
  return reply(Status::Ok,
               {exact_text(quantile(samples, 0)), exact_text(quantile(samples, 0.75) - quantile(samples, 0.25)),
                str(samples.size() * calls)});
}

/// An executable that is measured in turns with others.
struct Rival {
  std::unique_ptr<engine::Executable> executable;
  int calls = 1;         ///< that make a sample
  bool is_long = false;  ///< its calls need no other before them to be warm, nor others to be timed
};

Rival rival_of(Bench& bench, std::unique_ptr<engine::Executable> executable) {
  const double once = bench.seconds_of(*executable, 1);
  const bool is_long = once > short_call;
  const double call = is_long ? once : bench.seconds_of(*executable, calls_for(1e-4, once));
  return {std::move(executable), calls_for(compare_sample_seconds, call), is_long};
}

Message text_of(const Timings& timings) {
  Message result;
  for (const auto& each : timings)
    for (const double seconds : {each.wall, each.cpu, each.longest, each.own}) result.push_back(exact_text(seconds));
  return result;
}

Message compare(const JobContext& context, int device, const Message& job) {
  const double limit = exact_number(job.at(1));
  Bench bench(context, device);
  std::vector<Rival> rivals;
  for (std::size_t i = 3; i < job.size(); ++i) {
    auto executable = std::make_unique<engine::Executable>(engine::Image::deserialise(job[i]));
    if (auto wrong = bench.try_out(*executable); !wrong.empty()) return reply(Status::Wrong, {wrong});
    rivals.push_back(rival_of(bench, std::move(executable)));
  }
  const auto measure = [&](std::size_t i) {
    const auto& rival = rivals[i];
    if (!rival.is_long) bench.seconds_of(*rival.executable, 1);
    return bench.time(*rival.executable, rival.calls);
  };
  const bool any_long = std::any_of(rivals.begin(), rivals.end(), [](const auto& rival) { return rival.is_long; });
  const int least = any_long ? least_long_rounds : least_samples;
  const auto start = Clock::now();
  const auto ended = [&](int rounds) {
    return rounds >= most_rounds || (rounds >= least && since(start) > limit) ||
           (rounds >= least_long_rounds && since(start) > 2 * limit);
  };
  Message result;
  for (const auto& timings : measure_in_rounds(rivals.size(), measure, ended, std::stoull(job.at(2))))
    result.push_back(encode(text_of(timings)));
  return reply(Status::Ok, result);
}

Message dispatch(const JobContext& context, int device, const Message& job) {
  cpu::set_num_threads(context.problem.threads);
  if (job.at(0) == "reference") return reference(context, job);
  if (job.at(0) == "predict") return predict(context, job);
  if (job.at(0) == "nests") return nests(context, job);
  if (job.at(0) == "compile") return compile_candidate(context, job);
  if (job.at(0) == "finish") return finish(context, job);
  if (job.at(0) == "measure") return measure(context, device, job);
  if (job.at(0) == "compare") return compare(context, device, job);
  throw InternalError(str("there is no job '", job.at(0), "'"));
}

}  // namespace

std::vector<engine::NestCandidate> nests_of(const std::string& bytes) {
  std::vector<engine::NestCandidate> result;
  const auto parts = decode(bytes).value_or(Message());
  for (const auto& part : parts) {
    const auto nest = decode(part).value_or(Message());
    const auto terms = decode(nest.at(2)).value_or(Message());
    engine::NestCandidate found{options::MappingOptions::parse(nest.at(0)), exact_number(nest.at(1)), {}};
    for (const auto& term : terms) found.terms.push_back(exact_number(term));
    result.push_back(std::move(found));
  }
  return result;
}

Timings timings_of(const std::string& bytes) {
  const auto fields = decode(bytes).value_or(Message());
  Timings result;
  for (std::size_t i = 0; i + 3 < fields.size(); i += 4)
    result.push_back({exact_number(fields[i]), exact_number(fields[i + 1]), exact_number(fields[i + 2]),
                      exact_number(fields[i + 3])});
  return result;
}

std::vector<StageRecord> stages_of(const std::string& bytes) {
  std::vector<StageRecord> result;
  for (const auto& each : decode(bytes).value_or(Message()))
    if (auto fields = decode(each); fields && fields->size() == 3)
      result.push_back({(*fields)[0], exact_number((*fields)[1]), (*fields)[2]});
  return result;
}

Message run_job(const JobContext& context, int device, const Message& job) {
  try {
    return dispatch(context, device, job);
  } catch (const ResourceError& error) {
    return reply(Status::Exhausted, {error.what()});
  } catch (const std::bad_alloc&) {
    return reply(Status::Exhausted, {"out of memory"});
  } catch (const DeviceError& error) {
    return reply(Status::Crashed, {error.what()});
  } catch (const std::exception& error) {
    return reply(Status::Rejected, {error.what()});
  }
}

}  // namespace tc::autotuner
