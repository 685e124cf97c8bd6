#include "tc/autotuner/jobs.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "tc/autotuner/results.h"
#include "tc/base/str.h"
#include "tc/cache/sha256.h"
#include "tc/cpu/thread_pool.h"

namespace tc::autotuner {
namespace {

constexpr double sample_seconds = 1e-3, compare_sample_seconds = 2e-3;
constexpr double hopeless = 3;  ///< times the best
constexpr int least_samples = 5, most_samples = 15, most_rounds = 101;

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Message reply(Status status, Message rest) {
  rest.insert(rest.begin(), name(status));
  return rest;
}

std::shared_ptr<const engine::Executable> compile(const JobContext& context, const std::string& options,
                                                  bool interpret) {
  engine::CompileOptions how;
  how.target = Target::parse(context.problem.target);
  how.mapping = options::MappingOptions::parse(options);
  how.interpret = interpret;
  auto result = engine::compile(context.function, context.problem.inputs, context.problem.outputs, how);
  if (context.hook) context.hook("compile", options, {});
  return result;
}

/// A run on poisoned outputs.
void run(const JobContext& context, const engine::Executable& executable, Tensors& tensors) {
  tensors.poison();
  executable.run_unchecked(tensors.pointers());
  if (context.hook) context.hook("run", executable.image().options, tensors.outputs());
}

double seconds_of(const engine::Executable& executable, const Tensors& tensors, int calls) {
  auto start = Clock::now();
  for (int i = 0; i < calls; ++i) executable.run_unchecked(tensors.pointers());
  return since(start) / calls;
}

/// Calls that make a sample of \p sample seconds.
int calls_for(double sample, double call) {
  return static_cast<int>(std::clamp(std::ceil(sample / std::max(call, 1e-9)), 1.0, 1e6));
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(part * static_cast<double>(values.size() - 1)))];
}

Message reference(const JobContext& context, const Message& job) {
  auto executable = compile(context, job.at(1), job.at(2) == "1");
  Tensors tensors(context.arguments, context.layout, context.shared);
  executable->run_unchecked(tensors.pointers());
  auto bytes = std::max<std::size_t>(context.layout.bytes, 1);
  void* shared = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, context.data, 0);
  if (shared == MAP_FAILED) return reply(Status::Exhausted, {"the shared memory cannot be mapped"});
  tensors.store(static_cast<char*>(shared));
  return reply(Status::Ok, {});
}

Message compile_candidate(const JobContext& context, const Message& job) {
  auto image = compile(context, job.at(1), false)->image();
  auto bytes = image.serialise();
  image.options.clear();
  return reply(Status::Ok, {bytes, cache::hex(cache::sha256(image.serialise()), 16)});
}

Message measure(const JobContext& context, const Message& job) {
  engine::Executable executable(engine::Image::deserialise(job.at(1)));
  double best = exact_number(job.at(2)), limit = exact_number(job.at(3));
  Tensors tensors(context.arguments, context.layout, context.shared);
  run(context, executable, tensors);
  if (auto wrong = tensors.check(context.tolerance); !wrong.empty()) return reply(Status::Wrong, {wrong});
  double first = seconds_of(executable, tensors, 1);
  if (best > 0 && first > hopeless * best) first = std::min(first, seconds_of(executable, tensors, 1));
  if (best > 0 && first > hopeless * best) return reply(Status::Slow, {exact_text(first)});
  first = seconds_of(executable, tensors, calls_for(sample_seconds / 4, first));
  int calls = calls_for(sample_seconds, first);
  std::vector<double> samples;
  auto start = Clock::now();
  while (samples.size() < least_samples || (samples.size() < most_samples && since(start) < limit)) {
    samples.push_back(seconds_of(executable, tensors, calls));
    if (samples.size() >= 2 && since(start) > 4 * limit) break;
  }
  return reply(Status::Ok,
               {exact_text(quantile(samples, 0)), exact_text(quantile(samples, 0.75) - quantile(samples, 0.25)),
                str(samples.size() * calls)});
}

Message compare(const JobContext& context, const Message& job) {
  double limit = exact_number(job.at(1));
  Tensors tensors(context.arguments, context.layout, context.shared);
  std::vector<std::unique_ptr<engine::Executable>> executables;
  std::vector<int> calls;
  for (std::size_t i = 2; i < job.size(); ++i) {
    executables.push_back(std::make_unique<engine::Executable>(engine::Image::deserialise(job[i])));
    run(context, *executables.back(), tensors);
    if (auto wrong = tensors.check(context.tolerance); !wrong.empty()) return reply(Status::Wrong, {wrong});
    double once = seconds_of(*executables.back(), tensors, 1);
    calls.push_back(calls_for(compare_sample_seconds, seconds_of(*executables.back(), tensors, calls_for(1e-4, once))));
  }
  std::vector<Message> samples(executables.size());
  auto start = Clock::now();
  for (int round = 0; round < least_samples || (round < most_rounds && since(start) < limit); ++round) {
    for (std::size_t k = 0; k < executables.size(); ++k) {
      auto i = (k + static_cast<std::size_t>(round)) % executables.size();
      seconds_of(*executables[i], tensors, 1);
      samples[i].push_back(exact_text(seconds_of(*executables[i], tensors, calls[i])));
    }
    if (round >= 2 && since(start) > 4 * limit) break;
  }
  Message result;
  for (const auto& each : samples) result.push_back(encode(each));
  return reply(Status::Ok, result);
}

Message dispatch(const JobContext& context, const Message& job) {
  cpu::set_num_threads(context.problem.threads);
  if (job.at(0) == "reference") return reference(context, job);
  if (job.at(0) == "compile") return compile_candidate(context, job);
  if (job.at(0) == "measure") return measure(context, job);
  if (job.at(0) == "compare") return compare(context, job);
  throw InternalError(str("there is no job '", job.at(0), "'"));
}

}  // namespace

Message run_job(const JobContext& context, const Message& job) {
  try {
    return dispatch(context, job);
  } catch (const ResourceError& error) {
    return reply(Status::Exhausted, {error.what()});
  } catch (const std::bad_alloc&) {
    return reply(Status::Exhausted, {"out of memory"});
  } catch (const std::exception& error) {
    return reply(Status::Rejected, {error.what()});
  }
}

}  // namespace tc::autotuner
