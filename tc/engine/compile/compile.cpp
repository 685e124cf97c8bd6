#include "tc/engine/compile/compile.h"

#include <algorithm>
#include <chrono>

#include "tc/base/check_tensor.h"
#include "tc/base/str.h"
#include "tc/engine/compile/back_end.h"
#include "tc/engine/compile/bind_constants.h"
#include "tc/engine/compile/compile_graph.h"
#include "tc/engine/compile/graph_plan.h"
#include "tc/engine/compile/library_call.h"
#include "tc/engine/compile/make_image.h"
#include "tc/engine/compile/nearest_mapping.h"
#include "tc/engine/compile/pipeline.h"
#include "tc/engine/compile/symbolic_sizes.h"
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

/// \p function compiled in parts; null where it is one.
std::shared_ptr<const Executable> compile_as_graph(const std::shared_ptr<const Function>& function,
                                                   const std::vector<TensorSpec>& inputs,
                                                   const std::vector<TensorSpec>& outputs,
                                                   const CompileOptions& options) {
  if (options.interpret || !options.symbolic.empty()) return nullptr;
  auto limits = limits_of(options);
  CancellationScope scope(limits.cancellation);
  limits.cancellation.check("the compiler");
  const auto arguments = make_arguments(*function, inputs, outputs, options);
  auto how = options;
  how.stages.cancellation = limits.cancellation;
  how.time_limit = 0;
  const auto plan = plan_graph(function, arguments, how);
  if (!plan) return nullptr;
  auto parts = compile_parts(*plan, how, [](const PartProblem& problem, const CompileOptions& own) {
    return compile(problem.function, problem.inputs, problem.outputs, own);
  });
  return join_parts(*function, arguments, *plan, options, parts);
}

/// compile() of \p options without constants, or with those of a graph left to be bound.
std::shared_ptr<const Executable> compile_unbound(const std::shared_ptr<const Function>& function,
                                                  const std::vector<TensorSpec>& inputs,
                                                  const std::vector<TensorSpec>& outputs,
                                                  const CompileOptions& options) {
  if (auto made = compile_as_graph(function, inputs, outputs, options)) return made;
  auto result = std::make_shared<std::shared_ptr<const Executable>>();
  run_supervised(limits_of(options), "the compiler", [=](Supervision& supervision) {
    *result = run_compile(function, inputs, outputs, options, supervision);
  });
  return *result;
}

/// \p options for code whose sums have an order that their own lengths decide. Routines of libraries and derived programs promise no
/// order, and a layout, which the other sizes decide too, could change it. Throws OptionsError where they are asked for.
CompileOptions with_fixed_orders(CompileOptions options) {
  if (!asked_libraries(options.libraries).none())
    throw OptionsError(
        "mapping option 'batch_invariant=1' holds for the compiler's own code: leave out 'libraries', whose routines "
        "promise no order of sums");
  if (options.derive > 0 || !options.derivation.empty())
    throw OptionsError(
        "mapping option 'batch_invariant=1' keeps the sums that the text says: leave out 'derive', which changes them");
  options.layouts = graph::LayoutMode::Off;
  return options;
}

/// How to see a failure again.
auto reproduction_for(const Function& function, const std::vector<TensorSpec>& inputs, const CompileOptions& options) {
  return [&] {
    return reproduction_of(lang::print(function.def), inputs, to_string(options.target), options.mapping.to_text());
  };
}

}  // namespace

Limits limits_of(const CompileOptions& options) {
  Limits limits{options.stages.cancellation.child(), options.memory_limit};
  limits.cancellation.set_time_limit(options.time_limit);
  return limits;
}

std::vector<Argument> make_arguments(const Function& function, const std::vector<TensorSpec>& inputs,
                                     const std::vector<TensorSpec>& outputs) {
  auto infos = infer_output_tensor_info(function, inputs);
  if (!outputs.empty() && outputs.size() != infos.size())
    throw ArgumentError(str("'", function.name(), "' has ", infos.size(), " outputs, ", outputs.size(), " were given"));
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back({function.def.params[i].name, normalised(inputs[i]), false, false,
                         std::vector<std::int64_t>(inputs[i].shape.size(), 0)});
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const TensorSpec& spec = outputs.empty() ? infos[i] : outputs[i];
    check_tensor(spec, str("output '", infos[i].name, "' of '", function.name(), "'"));
    if (spec.dtype != infos[i].dtype || spec.shape != infos[i].shape)
      throw ArgumentError(str("output '", infos[i].name, "' of '", function.name(), "' is ",
                              contiguous(infos[i].dtype, infos[i].shape), ", ", contiguous(spec.dtype, spec.shape),
                              " was given"));
    check_apart(spec, infos[i].name);
    arguments.push_back({infos[i].name, normalised(spec), true, infos[i].read, infos[i].mins});
  }
  return arguments;
}

std::vector<Argument> make_arguments(const Function& function, const std::vector<TensorSpec>& inputs,
                                     const std::vector<TensorSpec>& outputs, const CompileOptions& options) {
  auto arguments = make_arguments(function, inputs, outputs);
  for (const auto& name : options.unaligned) {
    auto same = std::find_if(arguments.begin(), arguments.end(), [&](const auto& a) { return a.name == name; });
    if (same == arguments.end())
      throw ArgumentError(str("'", function.name(), "' has no tensor '", name, "' that may begin anywhere"));
    same->aligned = back_end_of(options.target).aligned_anywhere || same->spec.shape.empty();
  }
  return arguments;
}

std::set<std::string> unaligned_names(const std::vector<Argument>& arguments) {
  std::set<std::string> names;
  for (const auto& argument : arguments)
    if (!argument.aligned) names.insert(argument.name);
  return names;
}

std::set<std::string> unaligned_names(const Function& function, const std::vector<TensorView>& tensors) {
  std::vector<std::string> all;
  for (const auto& param : function.def.params) all.push_back(param.name);
  for (const auto& ret : function.def.returns) all.push_back(ret.name);
  std::set<std::string> names;
  for (std::size_t i = 0; i < std::min(all.size(), tensors.size()); ++i)
    if (!is_aligned(tensors[i], tensors[i].data)) names.insert(all[i]);
  return names;
}

std::vector<TensorSpec> specs(const std::vector<Argument>& arguments, bool output) {
  std::vector<TensorSpec> result;
  for (const auto& argument : arguments)
    if (argument.output == output) result.push_back(argument.spec);
  return result;
}

std::string cache_key(const Function& function, const std::vector<Argument>& arguments, const CompileOptions& options) {
  TextStream key;
  key << function.name() << " " << program_key(function) << "\n";
  for (const auto& argument : arguments)
    key << argument.name << " " << argument.spec << (argument.aligned ? "; " : " unaligned; ");
  if (options.partition != graph::Partition::Auto) key << "\npartition " << to_string(options.partition);
  if (options.libraries != "none") {
    key << "\nlibraries " << options.libraries;
    for (const auto& name : options.held) key << ", constant " << name;
  }
  if (options.layouts > graph::LayoutMode::Constants) key << "\nlayouts " << to_string(options.layouts);
  for (const auto& name : options.dynamic) key << "\ndynamic " << name;
  for (const auto& [name, least] : options.symbolic) key << "\nsymbolic " << name << " from " << least;
  if (options.fold_scales) key << "\nfold scales";
  if (options.derive > 0) key << "\nderive " << options.derive;
  if (!options.derivation.empty()) key << "\nderivation " << options.derivation;
  key << "\n" << options.target << "\n" << options.mapping.to_text() << (options.interpret ? "\ninterpret" : "");
  for (const auto& [stage, text] : options.stages.replace) key << "\n" << stage << ": " << text;
  return key.str();
}

namespace {

/// Throws OptionsError for symbolic sizes that cannot be.
void check_symbolic_sizes(const CompileState& state, const CompileOptions& options) {
  const auto& name = state.function->name();
  if (options.target.is_cuda())
    throw OptionsError(str("'", name, "': kernels of a GPU are compiled for sizes that are numbers"));
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

std::shared_ptr<const Executable> compile(const std::shared_ptr<const Function>& function,
                                          const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs,
                                          const CompileOptions& options) {
  if (function->generic) return compile(instance_for(function, inputs), inputs, outputs, options);
  if (!options.dynamic.empty() && !options.interpret)
    return compile_for_ranges(
        function, inputs, outputs, options,
        [](const auto& which, const auto& ins, const auto& outs, const CompileOptions& how) {
          return compile(which, ins, outs, how);
        },
        false);
  return with_typed_errors("compile", reproduction_for(*function, inputs, options), [&] {
    auto how = options.mapping.values().batch_invariant ? with_fixed_orders(options) : options;
    how.constants = check_constants(*function, inputs, options);
    for (const auto& constant : how.constants) how.held.insert(constant.name);
    auto made = compile_unbound(function, inputs, outputs, how);
    return how.constants.empty() ? made : bind_constants(made, how.constants);
  });
}

}  // namespace tc::engine
