#include "tc/engine/graph/compile_graph.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "tc/base/contains.h"
#include "tc/base/fork.h"
#include "tc/base/str.h"
#include "tc/cpu/thread_pool.h"
#include "tc/engine/define/function.h"
#include "tc/engine/graph/graph_stages.h"
#include "tc/engine/parts/written_in_place.h"
#include "tc/lang/syntax/print.h"
#include "tc/library/registry.h"

namespace tc::engine {
namespace {

using Executables = std::vector<std::shared_ptr<const Executable>>;

std::size_t bytes_of(const TensorSpec& spec) {
  return static_cast<std::size_t>(element_span(spec).high + 1) * static_cast<std::size_t>(byte_size(spec.dtype));
}

/// Does a kernel of \p image wait for all blocks at a word of the workspace, which stays 0 between its runs?
bool keeps_a_word(const Image& image) {
  for (const auto& code : image.modules)
    for (const auto& kernel : code.kernels)
      if (kernel.shape.cooperative) return true;
  return false;
}

/// The parts that each run runs, in order.
std::vector<std::size_t> run_parts(const GraphPlan& plan) {
  std::vector<std::size_t> result;
  for (std::size_t p = 0; p < plan.parts.size(); ++p)
    if (!plan.folded.count(p)) result.push_back(p);
  return result;
}

/// Where the tensors of a graph and the workspaces of its parts stand; \p folded are places among the constants.
class GraphMemory {
 public:
  GraphMemory(const GraphPlan& plan, const Executables& executables, std::map<std::size_t, std::size_t> folded,
              std::vector<std::size_t> constants)
      : plan_(plan), folded_(std::move(folded)), constants_(std::move(constants)) {
    const auto& graph = plan.graph;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) arguments_[graph.inputs[i]] = i;
    for (std::size_t o = 0; o < graph.outputs.size(); ++o) arguments_[graph.outputs[o]] = graph.inputs.size() + o;
    std::vector<Lifetime> lives;
    add_tensors(executables, lives);
    add_workspaces(executables, lives);
    workspace_ = plan_workspace(std::move(lives));
  }

  std::size_t bytes() const { return workspace_.bytes; }

  /// The place of what part \p part calls \p slot.
  Slot slot(std::size_t part, const Slot& slot) const {
    if (const auto* place = std::get_if<WorkspaceSlot>(&slot)) return WorkspaceSlot{own(part, place->offset)};
    if (const auto* constant = std::get_if<ConstantSlot>(&slot))
      return ConstantSlot{constants_[plan_.problem_of[part]] + constant->index};
    const auto& operands = plan_.parts[part];
    const auto index = std::get<ArgumentSlot>(slot).index;
    const auto tensor =
        index < operands.inputs.size() ? operands.inputs[index] : operands.outputs[index - operands.inputs.size()];
    if (auto found = arguments_.find(tensor); found != arguments_.end()) return ArgumentSlot{found->second};
    if (auto found = folded_.find(tensor); found != folded_.end()) return ConstantSlot{found->second};
    return WorkspaceSlot{workspace_.offsets.at(tensor_name(home(tensor)))};
  }
  /// Offset \p offset of the workspace of part \p part.
  std::size_t own(std::size_t part, std::size_t offset) const {
    return workspace_.offsets.at(workspace_name(part)) + offset;
  }

 private:
  static std::string tensor_name(std::size_t tensor) { return str("tensor ", tensor); }
  static std::string workspace_name(std::size_t part) { return str("workspace ", part); }

  /// The tensor whose memory \p tensor has: itself, or one that it is written in place of.
  std::size_t home(std::size_t tensor) const {
    const auto found = homes_.find(tensor);
    return found == homes_.end() ? tensor : found->second;
  }

  /// The input of part \p part that its result may replace, where it is the call of a library.
  std::optional<std::size_t> input_in_place(const Executables& executables, std::size_t part) const {
    const auto& image = executables[plan_.problem_of[part]]->image();
    const auto* call = image.launches.size() == 1 ? std::get_if<RoutineCall>(&image.launches[0].code) : nullptr;
    return call ? library::argument_in_place(image.calls[call->call]) : std::nullopt;
  }

  /// The tensors between parts live from the part that writes them to the last that reads them.
  void add_tensors(const Executables& executables, std::vector<Lifetime>& lives) {
    std::map<std::size_t, Lifetime> found;
    for (std::size_t p : run_parts(plan_))
      for (const auto* list : {&plan_.parts[p].outputs, &plan_.parts[p].inputs})
        for (auto tensor : *list) {
          if (arguments_.count(tensor) || folded_.count(tensor)) continue;
          const auto at = static_cast<int>(p);
          auto& life = found.try_emplace(tensor, Lifetime{tensor_name(tensor), 0, at, at}).first->second;
          life.bytes = bytes_of(plan_.spec(tensor));
          life.last = at;
        }
    auto memory = written_in_place(
        plan_.parts, run_parts(plan_), [&](std::size_t p) { return input_in_place(executables, p); }, std::move(found));
    homes_ = std::move(memory.homes);
    for (auto& [tensor, life] : memory.lives) lives.push_back(std::move(life));
  }

  void add_workspaces(const Executables& executables, std::vector<Lifetime>& lives) const {
    const auto last = static_cast<int>(plan_.parts.size()) - 1;
    for (std::size_t p : run_parts(plan_)) {
      const auto& image = executables[plan_.problem_of[p]]->image();
      if (image.workspace_bytes == 0) continue;
      const bool whole = keeps_a_word(image);
      lives.push_back({workspace_name(p), image.workspace_bytes, whole ? 0 : static_cast<int>(p),
                       whole ? last : static_cast<int>(p)});
    }
  }

  const GraphPlan& plan_;
  std::map<std::size_t, std::size_t> arguments_;  ///< tensors that the caller gives, as places among the arguments
  std::map<std::size_t, std::size_t> folded_;     ///< tensors that folded parts made
  std::vector<std::size_t> constants_;            ///< where those of each problem begin
  std::map<std::size_t, std::size_t> homes_;      ///< of tensors that are written in place of others
  WorkspacePlan workspace_;
};

/// Where the code of each problem begins in an image that holds that of all.
struct CodeBegin {
  std::size_t functions = 0, modules = 0, calls = 0;
};

std::vector<CodeBegin> add_code(const Executables& executables, Image& image) {
  std::vector<CodeBegin> begins;
  for (const auto& executable : executables) {
    const auto& own = executable->image();
    begins.push_back({image.functions.size(), image.modules.size(), image.calls.size()});
    image.functions.insert(image.functions.end(), own.functions.begin(), own.functions.end());
    image.evidence.insert(image.evidence.end(), own.evidence.begin(), own.evidence.end());
    image.modules.insert(image.modules.end(), own.modules.begin(), own.modules.end());
    image.calls.insert(image.calls.end(), own.calls.begin(), own.calls.end());
  }
  return begins;
}

/// The constants of all problems behind those of \p image; where those of each begin.
std::vector<std::size_t> add_constants(const Executables& executables, Image& image) {
  std::vector<std::size_t> begins;
  for (const auto& executable : executables) {
    const auto& own = executable->image().constants;
    begins.push_back(image.constants.size());
    image.constants.insert(image.constants.end(), own.begin(), own.end());
  }
  return begins;
}

LaunchCode moved(const LaunchCode& code, const CodeBegin& begin) {
  if (const auto* call = std::get_if<FunctionCall>(&code)) return FunctionCall{begin.functions + call->function};
  if (const auto* call = std::get_if<RoutineCall>(&code)) return RoutineCall{begin.calls + call->call};
  const auto& call = std::get<KernelCall>(code);
  return KernelCall{begin.modules + call.module, call.kernel};
}

constexpr const char* unspecified = "; the outputs are unspecified";

/// \p message of a check behind which outputs of the graph, if \p written, may have been written.
std::string message_of(const std::string& message, bool written) {
  return written && message.find(unspecified) == std::string::npos ? message + unspecified : message;
}

/// What folded parts compute of constants, by the tensors of the graph.
using Folded = std::map<std::size_t, Constant>;

/// Runs the parts of \p plan that \p constants alone decide. What only these read is dropped with them.
Folded fold(const GraphPlan& plan, const Executables& executables, const std::vector<Constant>& constants) {
  Folded known, kept;
  for (const auto& constant : constants)
    for (auto tensor : plan.graph.inputs)
      if (plan.graph.tensors[tensor].name == constant.name) known[tensor] = constant;
  for (auto p : plan.folded) {
    const auto& part = plan.parts[p];
    std::vector<TensorView> inputs, outputs;
    for (auto tensor : part.inputs) inputs.push_back(known.at(tensor).view());
    for (auto tensor : part.outputs) {
      known[tensor] = allocate_constant(plan.graph.tensors[tensor].name, plan.graph.tensors[tensor].spec);
      outputs.push_back(known[tensor].view());
    }
    executables[plan.problem_of[p]]->run(inputs, outputs);
  }
  for (auto p : run_parts(plan))
    for (auto tensor : plan.parts[p].inputs)
      if (const auto& made = plan.graph.tensors[tensor].producer; made && known.count(tensor))
        kept[tensor] = known.at(tensor);
  return kept;
}

void add_launches(const GraphPlan& plan, const Executables& executables, const Folded& folded, Image& image) {
  std::map<std::size_t, std::size_t> places;
  for (const auto& [tensor, constant] : folded) {
    places[tensor] = image.constants.size();
    image.constants.push_back(constant);
  }
  const GraphMemory memory(plan, executables, std::move(places), add_constants(executables, image));
  const auto begins = add_code(executables, image);
  bool written = false;
  for (auto p : run_parts(plan)) {
    const auto problem = plan.problem_of[p];
    for (const auto& launch : executables[problem]->image().launches) {
      Launch made{moved(launch.code, begins[problem]), {}, {}, launch.part};
      for (const auto& slot : launch.slots) made.slots.push_back(memory.slot(p, slot));
      for (const auto& test : launch.tests)
        made.tests.push_back({memory.own(p, test.offset), message_of(test.message, written)});
      image.launches.push_back(std::move(made));
    }
    for (auto tensor : plan.parts[p].outputs)
      written = written || plan.graph.tensors[tensor].role != lang::Role::Temporary;
  }
  image.workspace_bytes = memory.bytes();
}

/// Pairs of an input that one part alone reads, and an output of that part, that may be one tensor for it.
std::vector<InPlace> in_place(const GraphPlan& plan, const Executables& executables) {
  std::vector<InPlace> result;
  const auto& graph = plan.graph;
  std::map<std::size_t, int> readers;
  for (auto p : run_parts(plan))
    for (auto tensor : plan.parts[p].inputs) ++readers[tensor];
  auto position = [](const std::vector<std::size_t>& list, std::size_t tensor) {
    return static_cast<int>(std::find(list.begin(), list.end(), tensor) - list.begin());
  };
  for (auto p : run_parts(plan))
    for (const auto& pair : executables[plan.problem_of[p]]->image().in_place) {
      const auto input = plan.parts[p].inputs[static_cast<std::size_t>(pair.input)];
      const auto output = plan.parts[p].outputs[static_cast<std::size_t>(pair.output) - plan.parts[p].inputs.size()];
      if (readers[input] != 1 || !contains(graph.inputs, input) || !contains(graph.outputs, output)) continue;
      result.push_back(
          {position(graph.inputs, input), static_cast<int>(graph.inputs.size()) + position(graph.outputs, output)});
    }
  return result;
}

CompileStats stats_of(const Executables& executables) {
  CompileStats stats;
  stats.from_cache = true;
  for (std::size_t i = 0; i < executables.size(); ++i) {
    const auto& own = executables[i]->stats();
    stats.from_cache = stats.from_cache && own.from_cache;
    for (const auto& record : own.records)
      stats.records.push_back({str(record.name, ".part_", i), record.milliseconds, record.text});
    for (const auto& note : own.notes)
      stats.notes.push_back(str(note, ", in the part '", executables[i]->image().function, "'"));
    for (const auto& fallback : own.fallbacks)
      stats.fallbacks.push_back(str(fallback, ", in the part '", executables[i]->image().function, "'"));
  }
  return stats;
}

/// The def of \p function as it is written, behind those that it calls.
std::string text_of(const Function& function) {
  if (function.defs->call_free.count(function.name())) return lang::print(function.def);
  std::vector<std::string> texts;
  for (const auto& def : function.file->defs)
    if (def.name == function.name()) {
      for (const auto* callee : called_defs(def, *function.file)) texts.push_back(lang::print(*callee));
      texts.push_back(lang::print(def));
    }
  return join(texts, "\n");
}

/// Runs jobs 0 ... count - 1, several at a time, until one throws.
class Jobs {
 public:
  Jobs(std::size_t count, const Cancellation& cancellation, std::function<void(std::size_t)> job)
      : count_(count), cancellation_(cancellation), job_(std::move(job)) {}

  void run(std::size_t threads) {
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < std::min(threads, count_); ++i) others.emplace_back([this] { work(); });
    work();
    for (auto& thread : others) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work() {
    CancellationScope scope(cancellation_);
    for (std::size_t i = next_++; i < count_; i = next_++) {
      try {
        job_(i);
      } catch (...) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        next_ = count_;
        cancellation_.cancel();
      }
    }
  }

  std::size_t count_;
  const Cancellation& cancellation_;
  std::function<void(std::size_t)> job_;
  std::atomic<std::size_t> next_{0};
  ForkMutex mutex_;
  std::exception_ptr error_;
};

/// The nodes of \p plan and their tensors, for people.
void describe_nodes(const GraphPlan& plan, const Executables& executables, CompileStats& stats) {
  const auto& graph = plan.graph;
  auto names = [&](const std::vector<std::size_t>& tensors) {
    std::vector<std::string> result;
    for (const auto tensor : tensors) result.push_back(graph.tensors[tensor].name);
    return result;
  };
  stats.nodes.resize(graph.nodes.size());
  for (std::size_t p = 0; p < plan.parts.size(); ++p) {
    const auto& calls = executables[plan.problem_of[p]]->image().calls;
    const std::string runs = plan.folded.count(p) ? "folded" : calls.empty() ? "own code" : to_string(calls.front());
    for (const auto n : plan.parts[p].nodes) {
      const auto& node = graph.nodes[n];
      const auto outputs = names(node.outputs);
      stats.nodes[n] = {node.callee.empty() ? outputs.front() : node.callee, names(node.inputs), outputs, p, runs};
    }
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) stats.tensors.emplace(graph.tensors[t].name, plan.spec(t));
}

}  // namespace

Executables compile_parts(const GraphPlan& plan, const CompileOptions& options, const CompilePart& compile_part) {
  auto how = options;
  how.partition = graph::Partition::One;
  how.constants.clear();
  how.fold_scales = false;
  how.layouts = graph::LayoutMode::Off;
  how.derive = 0;
  how.derivation.clear();
  std::erase_if(how.stages.replace, [](const auto& entry) { return is_graph_stage(entry.first); });
  how.stages.cancellation = options.stages.cancellation.child();
  how.stages.cancellation.set_time_limit(options.time_limit);
  how.time_limit = 0;
  Executables executables(plan.problems.size());
  Jobs jobs(plan.problems.size(), how.stages.cancellation, [&](std::size_t i) {
    auto own = how;
    own.unaligned = plan.problems[i].unaligned;
    own.held = plan.problems[i].held;
    own.symbolic = plan.problems[i].symbolic;
    if (!own.stages.dump_directory.empty()) own.stages.dump_directory += str("/", plan.graph.name, "/part_", i);
    executables[i] = compile_part(plan.problems[i], own);
  });
  jobs.run(static_cast<std::size_t>(std::max(cpu::num_threads(), 1)));
  return executables;
}

std::shared_ptr<const Executable> join_parts(const Function& function, const std::vector<Argument>& arguments,
                                             const GraphPlan& plan, const CompileOptions& options,
                                             const Executables& executables) {
  Image image;
  image.function = function.name();
  image.source = text_of(function);
  image.target = to_string(options.target);
  image.options = options.mapping.to_text();
  image.arguments = arguments;
  image.parts = plan.parts.size() - plan.folded.size();
  add_launches(plan, executables, fold(plan, executables, options.constants), image);
  image.in_place = in_place(plan, executables);
  auto stats = stats_of(executables);
  stats.records.insert(stats.records.begin(), plan.records.begin(), plan.records.end());
  stats.layouts = plan.layouts;
  stats.derived = plan.derived;
  stats.folded_scales = plan.folded_scales;
  if (!plan.layouts.empty() || !plan.derived.empty() || plan.folded_scales > 0)
    stats.graph = graph::to_text(plan.graph);
  describe_nodes(plan, executables, stats);
  stats.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - plan.begin).count();
  LoadedCode loaded;
  for (const auto& executable : executables) {
    const auto& own = executable->loaded();
    loaded.functions.insert(loaded.functions.end(), own.functions.begin(), own.functions.end());
    loaded.modules.insert(loaded.modules.end(), own.modules.begin(), own.modules.end());
  }
  return std::make_shared<Executable>(std::move(image), std::move(stats), std::move(loaded));
}

}  // namespace tc::engine
