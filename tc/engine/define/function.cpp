#include "tc/engine/define/function.h"

#include <algorithm>
#include <map>
#include <set>

#include "tc/base/check_tensor.h"
#include "tc/base/str.h"
#include "tc/engine/define/generic.h"
#include "tc/engine/define/late_inlining.h"
#include "tc/engine/define/specialise.h"
#include "tc/engine/define/typed_errors.h"
#include "tc/engine/supervise/left_behind.h"
#include "tc/graph/bind.h"
#include "tc/halide_bridge/infer/infer_ranges.h"
#include "tc/lang/check/check.h"
#include "tc/lang/check/inline.h"
#include "tc/lang/check/short_forms.h"
#include "tc/lang/syntax/call_order.h"
#include "tc/lang/syntax/diagnostics.h"
#include "tc/lang/syntax/limits.h"
#include "tc/lang/syntax/parse.h"
#include "tc/lang/syntax/print.h"

namespace tc::engine {
namespace {

using halide_bridge::infer_ranges;

/// A def of more statements, with its calls written out, is left as it is written.
constexpr std::size_t most_inlined_statements = 16;

/// Thrown to leave a def that calls one with errors of its own: those are reported, once.
struct CalleeHasErrors {};

/// Throws \p errors, if there are any, as one, up to the def with the last of those that are shown.
void raise(const std::vector<SemanticError>& errors) {
  if (errors.empty()) return;
  std::vector<std::string> texts;
  std::vector<Diagnostic> diagnostics;
  for (const auto& error : errors) {
    if (diagnostics.size() >= lang::Diagnostics::max_errors) break;
    texts.push_back(error.what());
    diagnostics.insert(diagnostics.end(), error.diagnostics().begin(), error.diagnostics().end());
  }
  throw SemanticError(join(texts, "\n"), diagnostics);
}

/// Inlines the defs of a checked file, callees first, each once, and infers the ranges of those that are called.
/// A def that calls one with errors is left out: the errors of the callee are kept in the state.
class Inliner {
 public:
  explicit Inliner(DefineState& state) : state_(state), file_(*state.checked) {
    context_.callee = [this](const std::string& name) -> const lang::InlinedDef& { return callee(name); };
    context_.start_ranges = [this](const lang::Def& head) {
      return std::make_unique<halide_bridge::RangeInference>(head, file_.text, file_.name, state_.cancellation);
    };
    context_.cancellation = state_.cancellation;
  }

  void run() {
    std::vector<lang::CallCycle> cycles;
    for (const std::size_t i : lang::callees_first(file_.defs, cycles)) {
      const auto& def = file_.defs[i];
      const auto size = size_of(def);
      sizes_.emplace(def.name, size);
      if (size.has_calls && size.statements > most_inlined_statements)
        leave(def, size);
      else
        inline_def(def);
    }
    for (const auto& def : file_.defs)
      if (auto found = inlined_.find(def.name); found != inlined_.end())
        state_.inlined.push_back(std::move(found->second.def));
    for (auto& [name, known] : inlined_)
      if (inferred_.count(name)) state_.known_ranges.emplace(name, std::move(known.ranges));
  }

 private:
  /// What a def would hold with its calls written out.
  struct Size {
    std::size_t statements = 0, nodes = 0;
    bool has_calls = false;
  };

  Size size_of(const lang::Def& def) const {
    Size size;
    for (const auto& statement : def.statements) {
      const auto* call = std::get_if<lang::CallStatement>(&statement.node);
      const auto& callee = call ? sizes_.at(call->def) : Size();
      const auto nodes = call ? callee.nodes : 1 + lang::measure(std::get<lang::Assignment>(statement.node)).nodes;
      size.statements = std::min(size.statements + (call ? callee.statements : 1), lang::max_graph_nodes);
      size.nodes = std::min(size.nodes + nodes, lang::max_graph_nodes + 1);
      size.has_calls = size.has_calls || call;
    }
    return size;
  }

  /// Leaves \p def as it is written. The defs it calls are asked for their errors.
  void leave(const lang::Def& def, const Size& size) {
    try {
      if (size.nodes > lang::max_graph_nodes) refuse_size(def, lang::max_graph_nodes);
      for (const auto& statement : def.statements)
        if (const auto* call = std::get_if<lang::CallStatement>(&statement.node))
          if (!state_.late.count(call->def)) callee(call->def);
      if (!calls_late(def) && has_doubtful_statements(def, file_)) return inline_def(def);
      state_.late.insert(def.name);
      inlined_[def.name].def = lang::without_short_forms(def);
    } catch (const SemanticError& error) {
      keep(def.name, error);
    } catch (const CalleeHasErrors&) {
      state_.erroneous.insert(def.name);
    }
  }

  bool calls_late(const lang::Def& def) const {
    for (const auto& statement : def.statements)
      if (const auto* call = std::get_if<lang::CallStatement>(&statement.node); call && state_.late.count(call->def))
        return true;
    return false;
  }

  void inline_def(const lang::Def& def) {
    try {
      auto inlined = lang::inline_calls(def, file_, context_);
      for (const auto& statement : inlined.statements)
        nodes_ += 1 + lang::measure(std::get<lang::Assignment>(statement.node)).nodes;
      check_size(def);
      inlined_[def.name].def = std::move(inlined);
    } catch (const SemanticError& error) {
      keep(def.name, error);
    } catch (const CalleeHasErrors&) {
      state_.erroneous.insert(def.name);
    }
  }

  void check_size(const lang::Def& def) const {
    if (nodes_ > lang::max_inlined_nodes) refuse_size(def, lang::max_inlined_nodes);
  }

  [[noreturn]] void refuse_size(const lang::Def& def, std::size_t most) const {
    lang::Diagnostics diagnostics(file_.text, file_.name);
    diagnostics.add({.code = "TC124",
                     .range = def.name_range,
                     .message = str("the functions up to '", def.name, "' are too large with their calls written out"),
                     .note = str("together they may hold ", most, " operators, names and numbers"),
                     .help = "define them in several texts"});
    diagnostics.throw_if_errors<SemanticError>();
    throw InternalError("an error was not reported");
  }

  /// A def of the text that another one calls, with its ranges.
  const lang::InlinedDef& callee(const std::string& name) {
    auto found = inlined_.find(name);
    if (found == inlined_.end() || state_.erroneous.count(name)) throw CalleeHasErrors();
    if (inferred_.count(name)) return found->second;
    try {
      found->second.ranges =
          infer_ranges(found->second.def, file_.text, file_.name, &state_.warnings, state_.cancellation);
    } catch (const SemanticError& error) {
      keep(name, error);
      throw CalleeHasErrors();
    }
    inferred_.insert(name);
    return found->second;
  }

  void keep(const std::string& def, const SemanticError& error) {
    if (state_.erroneous.insert(def).second) state_.errors.push_back(error);
  }

  DefineState& state_;
  const lang::File& file_;
  lang::InlineContext context_;
  std::map<std::string, Size> sizes_;
  std::map<std::string, lang::InlinedDef> inlined_;
  std::set<std::string> inferred_;  ///< those of them whose ranges are known
  std::size_t nodes_ = 0;
};

void infer_all(DefineState& state) {
  for (const auto& def : state.inlined) {
    if (state.erroneous.count(def.name)) continue;
    if (state.late.count(def.name)) {
      state.ranges.emplace_back();
      continue;
    }
    if (auto known = state.known_ranges.find(def.name); known != state.known_ranges.end()) {
      state.ranges.push_back(std::move(known->second));
      continue;
    }
    try {
      state.ranges.push_back(infer_ranges(def, state.checked->text, state.name, &state.warnings, state.cancellation));
    } catch (const SemanticError& error) {
      state.errors.push_back(error);
    }
  }
  raise(state.errors);
}

std::string print_defs(const std::vector<lang::Def>& defs) {
  std::vector<std::string> texts;
  for (const auto& def : defs) texts.push_back(lang::print(def));
  return join(texts, "\n");
}

std::string print_range(const lang::Range& range) {
  return str("min ", lang::print(range.min), ", extent ", lang::print(range.extent));
}

std::string print_ranges(const DefineState& state) {
  TextStream out;
  for (std::size_t i = 0; i < state.ranges.size(); ++i) {
    if (state.late.count(state.inlined[i].name)) continue;
    out << state.inlined[i].name << "\n";
    const auto& ranges = state.ranges[i];
    for (std::size_t s = 0; s < ranges.statements.size(); ++s)
      for (const auto& [iterator, range] : ranges.statements[s])
        out << "  S" << s << " " << iterator << ": " << print_range(range) << "\n";
    for (const auto& [tensor, box] : ranges.tensors)
      for (std::size_t d = 0; d < box.size(); ++d)
        out << "  " << tensor << "." << d << ": " << print_range(box[d]) << "\n";
    for (const auto& condition : ranges.preconditions)
      out << "  needs " << lang::print(condition.condition) << ": " << condition.reason << "\n";
  }
  return out.str();
}

/// The text takes the place of the inlined defs: it is parsed and checked as a file of its own.
void read_inlined(DefineState& state, const std::string& text) {
  state.text = text;
  state.checked = std::make_shared<lang::File>(lang::check(lang::parse(text, state.name)));
  state.inlined = state.checked->defs;
  state.known_ranges.clear();
  state.late.clear();
}

std::vector<Stage<DefineState>> make_stages() {
  Stage<DefineState> parse, check, inlining, infer;
  parse.name = "parse";
  parse.run = [](DefineState& state) {
    state.parsed = lang::parse(state.text, state.name, state.cancellation, &state.warnings);
  };
  parse.print = [](const DefineState& state) { return lang::print(state.parsed); };
  parse.parse = [](DefineState& state, const std::string& text) { state.parsed = lang::parse(text, state.name); };
  check.name = "check";
  check.run = [](DefineState& state) {
    state.checked = std::make_shared<lang::File>(lang::check(state.parsed, &state.warnings, state.cancellation));
  };
  check.print = [](const DefineState& state) { return lang::print(*state.checked); };
  inlining.name = "inline";
  inlining.run = [](DefineState& state) { Inliner(state).run(); };
  inlining.print = [](const DefineState& state) { return print_defs(state.inlined); };
  inlining.parse = read_inlined;
  infer.name = "infer";
  infer.run = infer_all;
  infer.print = print_ranges;
  return {parse, check, inlining, infer};
}

}  // namespace

const std::vector<Stage<DefineState>>& define_stages() {
  static const auto& stages = *new std::vector<Stage<DefineState>>(make_stages());
  return stages;
}

const std::shared_ptr<const Function>& Module::function(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& function : functions) {
    if (function->name() == name) return function;
    names.push_back(function->name());
  }
  throw ArgumentError(str("there is no def '", name, "' in this text; it defines: ", join(names)));
}

namespace {

Module run_define_stages(const std::string& text, const std::string& name, const StageOptions<DefineState>& options) {
  DefineState state;
  state.text = text;
  state.name = name;
  state.cancellation = options.cancellation;
  Module module;
  module.records = run_stages(define_stages(), state, options);
  module.file = state.checked;
  module.warnings = std::move(state.warnings);
  const auto parsed = std::make_shared<const lang::File>(std::move(state.parsed));
  const auto defs = graph_defs(state.checked, state.inlined, state.ranges, state.late);
  for (std::size_t i = 0; i < state.inlined.size(); ++i) {
    auto function = std::make_shared<Function>();
    function->file = state.checked;
    function->def = state.inlined[i];
    function->ranges = std::move(state.ranges[i]);
    function->key = lang::canonical_text(function->def);
    function->defs = defs;
    if (state.late.count(function->name())) function->late = std::make_shared<LateInlining>();
    const auto* written = parsed->find(function->name());
    if (!written) continue;
    if (lang::is_generic(*written)) function->generic = std::make_shared<Generic>(parsed, function->name());
    module.functions.push_back(std::move(function));
  }
  return module;
}

std::vector<std::int64_t> shape_of(const lang::Box& box) {
  std::vector<std::int64_t> shape;
  for (const auto& interval : box) shape.push_back(interval.extent);
  return shape;
}

/// Throws ArgumentError for returns and temporaries with more elements than addresses reach.
void check_extents(const Function& function, const lang::SizeMap& sizes) {
  for (const auto& [name, box] : function.ranges.tensors)
    if (function.def.tensors.at(name).role != lang::Role::Input)
      check_shape(shape_of(lang::evaluate_box(box, sizes)), str("tensor '", name, "'"));
}

/// How to see a failure of \p function for \p inputs again.
auto reproduction_for(const Function& function, const std::vector<TensorSpec>& inputs) {
  return [&] { return reproduction_of(lang::print(function.def), inputs); };
}

lang::SizeMap bind(const Function& function, const std::vector<TensorSpec>& inputs) {
  if (function.generic) return bind(*instance_for(std::make_shared<Function>(function), inputs), inputs);
  const auto& params = function.def.params;
  if (inputs.size() != params.size()) {
    std::vector<std::string> names;
    for (const auto& param : params) names.push_back(param.name);
    throw ArgumentError(str("'", function.name(), "' takes ", params.size(),
                            params.size() == 1 ? " tensor (" : " tensors (", join(names), "), ", inputs.size(),
                            inputs.size() == 1 ? " was given" : " were given"));
  }
  if (const auto valued = valued_parameters(function.def); !valued.empty())
    throw ArgumentError(str("'", function.name(), "' needs the value of '", valued[0], "', of which ranges are made, ",
                            "not a tensor alone: make the function for that value by specialised()"));
  std::vector<std::vector<std::int64_t>> shapes;
  for (std::size_t i = 0; i < params.size(); ++i) {
    check_tensor(inputs[i], str("tensor '", params[i].name, "'"));
    auto expected = function.def.tensors.at(params[i].name).type;
    if (inputs[i].dtype != expected)
      throw ArgumentError(str("parameter '", params[i].name, "' of '", function.name(), "' is a ", expected,
                              " tensor, one of ", inputs[i].dtype, " was given: convert it first"));
    shapes.push_back(inputs[i].shape);
  }
  auto sizes = lang::bind_sizes(function.def, shapes);
  if (function.late) return sizes;
  lang::check_preconditions(function.ranges, sizes);
  check_extents(function, sizes);
  return sizes;
}

/// The returns of \p function, a graph.
std::vector<TensorInfo> graph_outputs(const Function& function, const graph::Graph& graph) {
  std::vector<TensorInfo> result;
  for (std::size_t r = 0; r < graph.outputs.size(); ++r) {
    const auto& tensor = graph.tensors[graph.outputs[r]];
    TensorInfo info;
    static_cast<TensorSpec&>(info) = tensor.spec;
    info.name = function.def.returns[r].name;
    info.mins = tensor.mins;
    info.read = tensor.role == lang::Role::InOut;
    result.push_back(std::move(info));
  }
  return result;
}

std::vector<TensorInfo> infer_outputs(const Function& function, const std::vector<TensorSpec>& inputs) {
  if (function.generic) return infer_outputs(*instance_for(std::make_shared<Function>(function), inputs), inputs);
  auto sizes = bind(function, inputs);
  if (function.late) {
    if (auto graph = graph::bind(function.defs, function.name(), inputs)) return graph_outputs(function, *graph);
    return infer_outputs(*inlined(std::make_shared<Function>(function)), inputs);
  }
  std::vector<TensorInfo> result;
  for (const auto& decl : function.def.returns) {
    const auto& tensor = function.def.tensors.at(decl.name);
    TensorInfo info;
    info.name = decl.name;
    info.dtype = tensor.type;
    info.read = tensor.role == lang::Role::InOut;
    for (const auto& interval : lang::evaluate_box(function.ranges.tensors.at(decl.name), sizes)) {
      info.mins.push_back(interval.min);
      info.shape.push_back(interval.extent);
    }
    info.strides = row_major_strides(info.shape);
    result.push_back(std::move(info));
  }
  return result;
}

}  // namespace

Module define(const std::string& text, const std::string& name, const StageOptions<DefineState>& options) {
  // Ranges are inferred by libHalide, whose statics end with the process.
  const AtWork at_work(options.cancellation);
  return with_typed_errors(
      "define", [&] { return reproduction_of(text); }, [&] { return run_define_stages(text, name, options); });
}

std::vector<TensorSpec> inputs_for(const Function& function, const lang::SizeMap& sizes) {
  std::vector<TensorSpec> result;
  for (const auto& param : function.def.params) {
    std::vector<std::int64_t> shape;
    if (param.dims)
      for (const auto& dim : *param.dims) shape.push_back(lang::evaluate_size(dim, sizes));
    result.push_back(contiguous(function.def.tensors.at(param.name).type, shape));
  }
  return result;
}

lang::SizeMap bind_inputs(const Function& function, const std::vector<TensorSpec>& inputs) {
  return with_typed_errors("the inference of sizes", reproduction_for(function, inputs),
                           [&] { return bind(function, inputs); });
}

std::vector<TensorInfo> infer_output_tensor_info(const Function& function, const std::vector<TensorSpec>& inputs) {
  return with_typed_errors("the inference of outputs", reproduction_for(function, inputs),
                           [&] { return infer_outputs(function, inputs); });
}

}  // namespace tc::engine
