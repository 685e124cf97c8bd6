#include "tc/engine/compile/compile_one.h"

#include <algorithm>
#include <chrono>

#include "tc/base/str.h"
#include "tc/engine/compile/back_end.h"
#include "tc/engine/compile/graph_interpreter.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/compile/make_image.h"
#include "tc/engine/compile/nearest_mapping.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/engine/compile/write_evidence.h"
#include "tc/engine/define/generic.h"
#include "tc/engine/define/late_inlining.h"
#include "tc/engine/define/typed_errors.h"
#include "tc/engine/run/overlap.h"
#include "tc/engine/run/run_values.h"
#include "tc/engine/supervise/supervise.h"
#include "tc/graph/bind.h"
#include "tc/halide_bridge/lower/program.h"
#include "tc/lang/interpret/interpret.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

using StageList = std::vector<Stage<CompileState>>;

/// The stages to replace of those in \p stages.
StageOptions<CompileState> options_for(const StageOptions<CompileState>& options, const StageList& stages) {
  auto result = options;
  std::erase_if(result.replace, [&](const auto& entry) {
    return std::none_of(stages.begin(), stages.end(), [&](const auto& stage) { return stage.name == entry.first; });
  });
  return result;
}

/// Throws OptionsError unless each replaced stage is one of \p stages.
void check_replacements(const StageOptions<CompileState>& options, const StageList& stages) {
  for (const auto& [name, text] : options.replace)
    if (std::none_of(stages.begin(), stages.end(), [&](const auto& stage) { return stage.name == name; })) {
      std::vector<std::string> names;
      for (const auto& stage : stages)
        if (stage.parse) names.push_back(stage.name);
      throw OptionsError(str("there is no stage '", name, "' to replace; these have a text form: ", join(names)));
    }
}

/// lower, then the stages of every launch, over \p state. Dumps go to a folder of the def's name.
std::vector<StageRecord> run_pipeline(CompileState& state, StageOptions<CompileState> options, Phase last) {
  if (!options.dump_directory.empty()) options.dump_directory += "/" + state.function->name();
  auto records = run_stages(lower_stages(), state, options_for(options, lower_stages()));
  StageList stages;
  auto append = [&](const StageList& more) { stages.insert(stages.end(), more.begin(), more.end()); };
  for (std::size_t i = 0; i < state.launches.size(); ++i) append(launch_stages(state, i, Phase::Schedule, last));
  if (last == Phase::Code) append(final_stages(state));
  check_replacements(options, stages);
  options.first_number = static_cast<int>(records.size());
  auto rest = run_stages(stages, state, options);
  records.insert(records.end(), rest.begin(), rest.end());
  return records;
}

/// Tells a supervision which context is at work, and at its end that none is.
class Watched {
 public:
  Watched(CompileState& state, Supervision& supervision) : state_(state), supervision_(supervision) {
    state.cancellation = supervision.cancellation();
    state.watch = [&](polyhedral::Context* context) { supervision.watch(context); };
  }
  ~Watched() {
    supervision_.watch(nullptr);
    state_.watch = nullptr;
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  CompileState& state_;
  Supervision& supervision_;
};

/// Runs the pipeline under \p supervision. What fails because it has to stop says so.
std::vector<StageRecord> run_watched(CompileState& state, const CompileOptions& options, Phase last,
                                     Supervision& supervision) {
  Watched watched(state, supervision);
  auto how = options.stages;
  how.cancellation = supervision.cancellation();
  try {
    return run_pipeline(state, how, last);
  } catch (...) {
    supervision.cancellation().check("the compiler");
    throw;
  }
}

/// The def run by the interpreter, on the pointers of all arguments.
Executable::Interpreter make_interpreter(const std::shared_ptr<const Function>& given,
                                         const std::vector<Argument>& arguments, const lang::SizeMap& sizes) {
  if (given->late)
    if (auto graph = graph::bind(given->defs, given->name(), specs(arguments, false)))
      return graph_interpreter(std::move(*graph), arguments);
  const auto function = inlined(given);
  return [=](void* const* pointers) {
    std::map<std::string, TensorView> tensors;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      TensorView view;
      static_cast<TensorSpec&>(view) = arguments[i].spec;
      view.data = pointers[i];
      tensors.emplace(arguments[i].name, std::move(view));
    }
    lang::interpret(function->def, function->ranges, sizes, tensors);
  };
}

std::shared_ptr<const Executable> run_compile(const std::shared_ptr<const Function>& given,
                                              const std::vector<TensorSpec>& inputs,
                                              const std::vector<TensorSpec>& outputs, const CompileOptions& options,
                                              Supervision& supervision) {
  auto start = std::chrono::steady_clock::now();
  const auto function = options.interpret ? given : inlined(given);
  auto state = start_compile(*function, inputs, outputs, options);
  LibraryChoice choice;
  if (options.symbolic.empty()) choice = choose_library_call(*function, state.arguments, options);
  if (choice.call) return call_executable(*function, std::move(state.arguments), options, std::move(*choice.call));
  CompileStats stats;
  stats.notes = std::move(choice.notes);
  Image image;
  Executable::Interpreter interpreter;
  if (options.interpret) {
    interpreter = make_interpreter(function, state.arguments, state.sizes);
  } else {
    stats.records = run_watched(state, options, Phase::Code, supervision);
    image = make_image(state);
    if (auto evidence = write_evidence(state); !evidence.empty()) image.evidence.push_back(std::move(evidence));
  }
  image.function = function->name();
  image.source = lang::print(function->def);
  image.target = to_string(options.target);
  image.options = options.mapping.to_text();
  image.symbolic = state.symbolic;
  if (back_end_of(options.target).runs_in_place) image.in_place = in_place(*function, state.arguments);
  image.arguments = std::move(state.arguments);
  stats.fallbacks = std::move(state.fallbacks);
  stats.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return std::make_shared<Executable>(std::move(image), std::move(stats), std::move(interpreter));
}

/// Throws OptionsError for symbolic sizes that cannot be.
void check_symbolic_sizes(const CompileState& state, const CompileOptions& options) {
  const auto& name = state.function->name();
  for (const auto& [size, least] : options.symbolic) {
    const auto found = state.sizes.find(size);
    if (found == state.sizes.end()) throw OptionsError(str("'", name, "' has no size '", size, "' to be symbolic"));
    if (least < 1 || least > found->second)
      throw OptionsError(str("the symbolic size '", size, "' of '", name, "' begins at ", least,
                             ": it must be at least 1 and at most ", found->second));
  }
  for (const auto& argument : state.arguments)
    if (argument.spec != normalised(contiguous(argument.spec.dtype, argument.spec.shape)))
      throw OptionsError(str("'", argument.name, "' of '", name, "', which has symbolic sizes, is not dense"));
}

/// Makes the sizes that \p options names symbolic, and adds the argument that tells them.
void set_symbolic_sizes(CompileState& state, const CompileOptions& options) {
  if (options.symbolic.empty()) return;
  check_symbolic_sizes(state, options);
  for (const auto& [size, least] : options.symbolic) state.symbolic[size] = {least, state.sizes.at(size)};
  state.run_values = run_value_names(state.symbolic, state.arguments);
  state.arguments.push_back(run_values_argument(state.run_values));
}

}  // namespace

CompileState start_compile(const Function& function, const std::vector<TensorSpec>& inputs,
                           const std::vector<TensorSpec>& outputs, const CompileOptions& options) {
  CompileState state;
  state.function = &function;
  state.arguments = make_arguments(function, inputs, outputs, options);
  state.sizes = bind_inputs(function, inputs);
  state.target = options.target;
  state.back_end = &back_end_of(options.target);
  state.mapping = options.mapping.values();
  state.construct = options.mapping.construct();
  set_symbolic_sizes(state, options);
  if (options.symbolic.empty())
    if (const auto nearest = nearest_mapping(function, state.arguments, options)) state.nearest = nearest->values();
  return state;
}

CompileState map_launches(const std::shared_ptr<const Function>& function, const std::vector<Argument>& arguments,
                          const CompileOptions& options, const std::function<void(CompileState&)>& then, Phase last) {
  auto result = std::make_shared<std::optional<CompileState>>();
  auto inputs = specs(arguments, false);
  auto how = options;
  how.unaligned = unaligned_names(arguments);
  with_typed_errors("map", reproduction_for(*function, inputs, options), [&] {
    run_supervised(limits_of(options), "the compiler", [=](Supervision& supervision) {
      const auto whole = inlined(function);
      auto state = start_compile(*whole, inputs, specs(arguments, true), how);
      run_watched(state, how, last, supervision);
      if (then) then(state);
      result->emplace(std::move(state));
    });
  });
  return std::move(**result);
}

std::shared_ptr<const Executable> compile_one(const std::shared_ptr<const Function>& function,
                                              const std::vector<TensorSpec>& inputs,
                                              const std::vector<TensorSpec>& outputs, const CompileOptions& options) {
  auto result = std::make_shared<std::shared_ptr<const Executable>>();
  run_supervised(limits_of(options), "the compiler", [=](Supervision& supervision) {
    *result = run_compile(function, inputs, outputs, options, supervision);
  });
  return *result;
}

}  // namespace tc::engine
