#include "tc/engine/engine.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "tc/base/dlpack.h"
#include "tc/base/str.h"
#include "tc/cuda/device.h"
#include "tc/engine/compile/back_end.h"
#include "tc/engine/compile/bind_constants.h"
#include "tc/engine/define/generic.h"
#include "tc/engine/graph/compile_graph.h"
#include "tc/engine/graph/finalists.h"
#include "tc/engine/graph/symbolic_sizes.h"
#include "tc/engine/persistent.h"

namespace tc::engine {
namespace {

const DLTensor& checked(const DLTensor* tensor) {
  if (!tensor) throw ArgumentError("a null pointer was given for a DLPack tensor");
  return *tensor;
}

std::vector<TensorView> views(const std::vector<const DLTensor*>& tensors) {
  std::vector<TensorView> result;
  for (const auto* tensor : tensors) result.push_back(view_on_device(checked(tensor)));
  return result;
}

/// Where \p image runs on \p tensors: on their device, in this thread's stream where that is the current one's. Throws
/// ArgumentError for tensors that are elsewhere.
cuda::Place place_of(const Image& image, const std::vector<const DLTensor*>& tensors) {
  int device = tensors.empty() || !image.is_for_gpu() ? on_cpu : device_of(checked(tensors.front()));
  for (const auto* tensor : tensors) {
    int own = device_of(checked(tensor));
    if (own != device || (own == on_cpu) == image.is_for_gpu())
      throw ArgumentError(str("'", image.function, "' was compiled for ", image.target, ", a tensor ",
                              own == on_cpu ? std::string("in the memory of the CPU") : str("on GPU ", own),
                              " was given"));
  }
  auto place = cuda::current_place();
  if (device == on_cpu || device == place.device) return place;
  return {device, nullptr};
}

std::vector<TensorSpec> specs(const std::vector<const DLTensor*>& tensors) {
  auto all = views(tensors);
  return {all.begin(), all.end()};
}

}  // namespace

bool ExecutableCache::Making::is_ready() const {
  return result.valid() && result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

bool ExecutableCache::Making::is_lost() const {
  return result.valid() && generation != fork_generation() && !is_ready();
}

bool ExecutableCache::Making::is_gone() const { return !result.valid() && made.expired(); }

ExecutableCache::Entry ExecutableCache::get(const std::string& key, const Cancellation& cancellation,
                                            const std::function<Entry()>& make) {
  for (;;) {
    std::promise<Entry> promise;
    std::shared_future<Entry> others;
    {
      std::lock_guard lock(mutex_);
      auto& entry = entries_[key];
      entry.asked = ++requests_;
      if (!entry.result.valid())
        if (auto held = entry.made.lock()) return held;
      if (entry.is_gone() || entry.is_lost())
        entry = {promise.get_future().share(), {}, fork_generation(), entry.asked};
      else
        others = entry.result;
    }
    if (!others.valid()) return make_entry(key, promise, make);
    while (others.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready)
      cancellation.check("waiting for another compile of the same");
    try {
      return others.get();
    } catch (const ResourceError&) {
      cancellation.check("waiting for another compile of the same");
    }
  }
}

ExecutableCache::Entry ExecutableCache::make_entry(const std::string& key, std::promise<Entry>& promise,
                                                   const std::function<Entry()>& make) {
  try {
    auto made = make();
    promise.set_value(made);
    std::vector<std::shared_future<Entry>> gone;  // destroyed without the lock
    std::lock_guard lock(mutex_);
    entries_[key].made = made;
    gone = let_go();
    return made;
  } catch (...) {
    {
      std::lock_guard lock(mutex_);
      entries_.erase(key);
    }
    promise.set_exception(std::current_exception());
    throw;
  }
}

/// Holds the most_ that were asked for last, and forgets those that nobody holds any more. What the cache held of the
/// others, for the caller to destroy.
std::vector<std::shared_future<ExecutableCache::Entry>> ExecutableCache::let_go() {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.is_gone(); });
  std::vector<Making*> held;
  for (auto& [key, entry] : entries_)
    if (entry.is_ready()) held.push_back(&entry);
  std::vector<std::shared_future<Entry>> result;
  if (held.size() <= most_) return result;
  std::sort(held.begin(), held.end(), [](const auto* a, const auto* b) { return a->asked > b->asked; });
  for (std::size_t i = most_; i < held.size(); ++i) result.push_back(std::exchange(held[i]->result, {}));
  return result;
}

std::size_t ExecutableCache::size() const {
  std::lock_guard lock(mutex_);
  return std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) { return !entry.second.is_gone(); });
}

void ExecutableCache::clear() {
  std::unordered_map<std::string, Making> gone;
  std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (!entry->second.result.valid() || entry->second.is_ready()) gone.insert(entries_.extract(entry));
    entry = next;
  }
}

namespace {

/// compile_cached() for a def that is compiled in parts: each of them by itself.
ExecutableCache::Entry compile_graph_cached(ExecutableCache& cache, const Function& function,
                                            const std::vector<Argument>& arguments, const GraphPlan& plan,
                                            const CompileOptions& options) {
  auto how = options;
  if (auto whole = find_whole_mapping(function, arguments, options)) {
    how.mapping = *whole;
    how.mapping_from = MappingFrom::Given;
  }
  auto parts = compile_parts(plan, how, [&](const PartProblem& problem, const CompileOptions& own) {
    return compile_cached(cache, problem.function, problem.inputs, problem.outputs, own);
  });
  if (!how.constants.empty()) return join_parts(function, arguments, plan, how, parts);
  TextStream key;
  key << cache_key(function, arguments, how) << "\ncache " << (how.cache ? how.cache->settings().folder : "");
  for (const auto& part : parts) key << "\npart " << part->image().options;
  return cache.get(key.str(), how.stages.cancellation,
                   [&] { return join_parts(function, arguments, plan, how, parts); });
}

/// compile_cached() of \p options without constants, or with those of a graph left to be bound.
ExecutableCache::Entry compile_unbound_cached(ExecutableCache& cache, const std::shared_ptr<const Function>& function,
                                              const std::vector<TensorSpec>& inputs,
                                              const std::vector<TensorSpec>& outputs, const CompileOptions& options) {
  auto given = options;
  given.stages.cancellation = options.stages.cancellation.child();
  given.stages.cancellation.set_time_limit(options.time_limit);
  given.time_limit = 0;
  CancellationScope scope(given.stages.cancellation);
  auto arguments = make_arguments(*function, inputs, outputs, options);
  if (!options.interpret)
    if (const auto plan = plan_graph(function, arguments, given))
      return compile_graph_cached(cache, *function, arguments, *plan, given);
  given.constants.clear();
  auto folder = options.cache ? options.cache->settings().folder : std::string();
  auto get = [&](const CompileOptions& how) {
    auto key = str(cache_key(*function, arguments, how), "\ncache ", folder);
    return cache.get(key, how.stages.cancellation, [&] { return load_or_compile(function, arguments, how); });
  };
  auto found = find_mapping(*function, arguments, options);
  if (!found) return get(given);
  auto how = given;
  how.mapping = *found;
  try {
    return get(how);
  } catch (const OptionsError& error) {
    if (options.mapping_from == MappingFrom::Tuned) throw;
    options.cache->warn(str("options '", found->to_text(), "' of the cache cannot be used: ", error.what()));
    return get(given);
  }
}

/// compile_cached() where options.dynamic names sizes.
ExecutableCache::Entry compile_dynamic(ExecutableCache& cache, const std::shared_ptr<const Function>& function,
                                       const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                                       const CompileOptions& options) {
  const auto make = [&] {
    return compile_for_ranges(
        function, inputs, outputs, options,
        [&](const auto& which, const auto& ins, const auto& outs, const CompileOptions& how) {
          return compile_cached(cache, which, ins, outs, how);
        },
        true);
  };
  if (!options.constants.empty()) return make();
  const auto arguments = make_arguments(*function, inputs, outputs, options);
  const auto folder = options.cache ? options.cache->settings().folder : std::string();
  return cache.get(str(cache_key(*function, arguments, options), "\ncache ", folder), options.stages.cancellation,
                   make);
}

/// compile_cached() of \p options without finalists: with its constants bound.
ExecutableCache::Entry compile_bound_cached(ExecutableCache& cache, const std::shared_ptr<const Function>& function,
                                            const std::vector<TensorSpec>& inputs,
                                            const std::vector<TensorSpec>& outputs, const CompileOptions& options) {
  if (options.constants.empty()) return compile_unbound_cached(cache, function, inputs, outputs, options);
  auto how = options;
  how.constants = check_constants(*function, inputs, options);
  for (const auto& constant : how.constants) how.held.insert(constant.name);
  return bind_constants(compile_unbound_cached(cache, function, inputs, outputs, how), how.constants);
}

/// compile_cached() where finalists are measured, or were.
ExecutableCache::Entry compile_finalist_cached(ExecutableCache& cache, const std::shared_ptr<const Function>& function,
                                               const std::vector<TensorSpec>& inputs,
                                               const std::vector<TensorSpec>& outputs, const CompileOptions& options) {
  const auto arguments = make_arguments(*function, inputs, outputs, options);
  const auto measure = [&] {
    return fastest_finalist(*function, arguments, options, [&](const CompileOptions& how) {
      return compile_bound_cached(cache, function, inputs, outputs, how);
    });
  };
  if (!options.constants.empty()) return measure();
  const auto folder = options.cache ? options.cache->settings().folder : std::string();
  return cache.get(str(cache_key(*function, arguments, options), "\nfinalists, cache ", folder),
                   options.stages.cancellation, measure);
}

}  // namespace

ExecutableCache::Entry compile_cached(ExecutableCache& cache, const std::shared_ptr<const Function>& function,
                                      const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                                      const CompileOptions& options) {
  if (function->generic) return compile_cached(cache, instance_for(function, inputs), inputs, outputs, options);
  if (options.stages.mutate) return compile(function, inputs, outputs, options);
  if (!options.dynamic.empty() && !options.interpret) return compile_dynamic(cache, function, inputs, outputs, options);
  if (has_finalists(options)) return compile_finalist_cached(cache, function, inputs, outputs, options);
  return compile_bound_cached(cache, function, inputs, outputs, options);
}

std::vector<StageRecord> stage_texts(const std::shared_ptr<const Function>& function,
                                     const std::vector<Argument>& arguments, CompileOptions options) {
  StageOptions<DefineState> front;
  front.keep_text = true;
  auto records = define(function->file->text, function->file->name, front).records;
  options.stages.keep_text = true;
  options.interpret = false;
  options.unaligned = unaligned_names(arguments);
  auto executable = compile(function, specs(arguments, false), specs(arguments, true), options);
  records.insert(records.end(), executable->stats().records.begin(), executable->stats().records.end());
  return records;
}

void ExecutionEngine::define(const std::string& text, const std::string& name) {
  auto module = engine::define(text, name);
  std::unique_lock lock(mutex_);
  for (const auto& function : module.functions) {
    auto same = [&](const auto& other) { return other->name() == function->name(); };
    std::erase_if(functions_, same);
    functions_.push_back(function);
  }
}

std::vector<std::string> ExecutionEngine::functions() const {
  std::shared_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& function : functions_) names.push_back(function->name());
  return names;
}

std::shared_ptr<const Function> ExecutionEngine::function(const std::string& name) const {
  std::shared_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& function : functions_) {
    if (function->name() == name) return function;
    names.push_back(function->name());
  }
  throw ArgumentError(str("no def '", name, "' has been defined; there are: ", join(names)));
}

std::vector<TensorInfo> ExecutionEngine::infer_output_tensor_info(const std::string& name, const Specs& inputs) const {
  return engine::infer_output_tensor_info(*function(name), inputs);
}

ExecutionEngine::Handle ExecutionEngine::compile(const std::string& name, const Specs& inputs, const Specs& outputs,
                                                 const CompileOptions& options) {
  auto which = instance_for(function(name), inputs);
  auto executable = compile_cached(cache_, which, inputs, outputs, options);
  std::unique_lock lock(mutex_);
  for (std::size_t i = 0; i < compiled_.size(); ++i)
    if (compiled_[i]->executable == executable) return i;
  auto how = options;
  how.mapping = options::MappingOptions::parse(executable->image().options);
  compiled_.push_back(std::make_unique<const Compiled>(Compiled{executable, which, how}));
  return compiled_.size() - 1;
}

const ExecutionEngine::Compiled& ExecutionEngine::compiled(Handle handle) const {
  std::shared_lock lock(mutex_);
  if (handle >= compiled_.size()) throw ArgumentError(str("there is no executable with the handle ", handle));
  return *compiled_[handle];
}

void ExecutionEngine::run(Handle handle, const Views& inputs, const Views& outputs) const {
  compiled(handle).executable->run(inputs, outputs);
}

void ExecutionEngine::run_unchecked(Handle handle, void* const* arguments) const {
  compiled(handle).executable->run_unchecked(arguments);
}

RunProfile ExecutionEngine::profile(Handle handle, const Views& inputs, const Views& outputs) const {
  return compiled(handle).executable->profile(inputs, outputs);
}

std::shared_ptr<const Executable> ExecutionEngine::executable(Handle handle) const {
  return compiled(handle).executable;
}

std::vector<StageRecord> ExecutionEngine::stage_texts(Handle handle) const {
  const auto& entry = compiled(handle);
  auto options = entry.options;
  options.stages.cancellation = Cancellation();
  return engine::stage_texts(entry.function, entry.executable->image().all_arguments(), options);
}

std::vector<TensorInfo> ExecutionEngine::infer_output_tensor_info(const std::string& name,
                                                                  const std::vector<const DLTensor*>& inputs) const {
  return infer_output_tensor_info(name, specs(inputs));
}

ExecutionEngine::Handle ExecutionEngine::compile(const std::string& name, const std::vector<const DLTensor*>& inputs,
                                                 const std::vector<const DLTensor*>& outputs,
                                                 const CompileOptions& options) {
  auto how = options;
  auto tensors = views(inputs), results = views(outputs);
  tensors.insert(tensors.end(), results.begin(), results.end());
  if (!back_end_of(how.target).aligned_anywhere) how.unaligned.merge(unaligned_names(*function(name), tensors));
  return compile(name, specs(inputs), specs(outputs), how);
}

void ExecutionEngine::run(Handle handle, const std::vector<const DLTensor*>& inputs,
                          const std::vector<const DLTensor*>& outputs) const {
  auto tensors = inputs;
  tensors.insert(tensors.end(), outputs.begin(), outputs.end());
  cuda::AtPlace place(place_of(compiled(handle).executable->image(), tensors));
  run(handle, views(inputs), views(outputs));
}

}  // namespace tc::engine
