#include "tc/graph/bind.h"

#include <algorithm>

#include "tc/base/cancellation.h"
#include "tc/base/check_tensor.h"
#include "tc/base/contains.h"
#include "tc/base/error.h"
#include "tc/base/str.h"
#include "tc/graph/flatten.h"
#include "tc/graph/make_def.h"
#include "tc/graph/rewrite_statement.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/print.h"
#include "tc/lang/syntax/substitute.h"

namespace tc::graph {
namespace {

using lang::Assignment;
using lang::CallStatement;
using lang::ExprPtr;

/// Steps [first, end).
struct Group {
  std::size_t first = 0, end = 0;
};

/// The steps of \p flat in groups: those that write one tensor, and what stands between them, are one.
std::vector<Group> group_steps(const FlatDef& flat) {
  std::vector<std::size_t> last(flat.tensors.size(), 0);
  for (std::size_t s = 0; s < flat.steps.size(); ++s)
    for (auto tensor : flat.steps[s].writes) last[tensor] = s;
  std::vector<Group> groups;
  for (std::size_t s = 0; s < flat.steps.size();) {
    Group group{s, s + 1};
    for (; s < group.end; ++s)
      for (auto tensor : flat.steps[s].writes) group.end = std::max(group.end, last[tensor] + 1);
    groups.push_back(group);
  }
  return groups;
}

/// Fixes the sizes of \p flat for some inputs, in order.
class Binder {
 public:
  Binder(const std::shared_ptr<const Defs>& defs, FlatDef flat, const std::string& name)
      : defs_(*defs), flat_(std::move(flat)) {
    graph_.name = name;
    graph_.defs = defs;
    graph_.inputs = flat_.inputs;
    graph_.outputs = flat_.outputs;
    for (const auto& tensor : flat_.tensors) {
      graph_.tensors.push_back({tensor.name, contiguous(tensor.type, {}), {}, tensor.role, std::nullopt, {}});
      tensor_names_.insert(tensor.name);
    }
    sizes_.resize(flat_.frames.size());
    known_.resize(flat_.tensors.size());
    find_last_readers();
  }

  /// Nothing where steps of several frames write one tensor that begins elsewhere than at index 0 for one of them.
  std::optional<Graph> run(const std::vector<TensorSpec>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) set(graph_.inputs[i], inputs[i], {});
    for (const auto& group : group_steps(flat_)) {
      check_cancelled("the graph");
      if (!begin_frames(group.end)) return std::nullopt;
      if (!add_node(group)) return std::nullopt;
      end_frames(group.end);
    }
    return std::move(graph_);
  }

 private:
  void find_last_readers() {
    last_reader_.resize(flat_.tensors.size(), 0);
    for (std::size_t s = 0; s < flat_.steps.size(); ++s)
      for (auto tensor : flat_.steps[s].reads) last_reader_[tensor] = s + 1;
  }

  void set(std::size_t tensor, const TensorSpec& spec, std::vector<std::int64_t> mins) {
    graph_.tensors[tensor].spec = spec;
    mins.resize(spec.shape.size(), 0);
    graph_.tensors[tensor].mins = std::move(mins);
    known_[tensor] = true;
  }

  std::vector<std::vector<std::int64_t>> shapes(const std::vector<std::size_t>& tensors) const {
    std::vector<std::vector<std::int64_t>> result;
    for (auto tensor : tensors) result.push_back(graph_.tensors[tensor].spec.shape);
    return result;
  }

  /// Gives the frames that begin before step \p end their sizes; false where one takes a tensor that the same node
  /// writes, whose sizes are not known yet.
  bool begin_frames(std::size_t end) {
    for (; next_frame_ < flat_.frames.size() && flat_.frames[next_frame_].first_step < end; ++next_frame_) {
      const auto& frame = flat_.frames[next_frame_];
      if (!std::all_of(frame.params.begin(), frame.params.end(), [&](auto t) { return known_[t]; })) return false;
      sizes_[next_frame_] = lang::bind_sizes(*frame.def, shapes(frame.params));
      open_.push_back(next_frame_);
    }
    return true;
  }

  /// Compares the results of the frames that end before step \p end with what their defs declare.
  void end_frames(std::size_t end) {
    std::erase_if(open_, [&](std::size_t f) {
      const auto& frame = flat_.frames[f];
      if (frame.end_step > end) return false;
      for (std::size_t r = 0; r < frame.returns.size(); ++r) check_declared(frame, r, sizes_[f]);
      return true;
    });
  }

  void check_declared(const Frame& frame, std::size_t r, const lang::SizeMap& sizes) const {
    const auto& decl = frame.def->returns[r];
    const auto& tensor = graph_.tensors[frame.returns[r]];
    for (std::size_t d = 0; decl.dims && d < decl.dims->size(); ++d) {
      const auto declared = lang::evaluate_size((*decl.dims)[d], sizes);
      if (declared != tensor.spec.shape[d])
        throw ArgumentError(str("dimension ", d, " of the return '", decl.name, "' of '", frame.def->name, "' is ",
                                tensor.spec.shape[d], ", but it is declared as ", lang::print((*decl.dims)[d]), ", ",
                                declared));
    }
  }

  bool add_node(const Group& group) {
    Node node;
    const auto& first = flat_.steps[group.first];
    const auto* call = std::get_if<CallStatement>(&first.statement->node);
    const bool indirect = call && !defs_.call_free.at(call->def)->ranges.data_dependent.empty();
    if (call && group.end == group.first + 1 && !indirect)
      node = call_node(first, *call);
    else if (auto own = own_node(group, indirect))
      node = std::move(*own);
    else
      return false;
    const auto index = graph_.nodes.size();
    for (auto tensor : node.inputs)
      if (auto& consumers = graph_.tensors[tensor].consumers; consumers.empty() || consumers.back() != index)
        consumers.push_back(index);
    for (auto tensor : node.outputs) graph_.tensors[tensor].producer = index;
    graph_.nodes.push_back(std::move(node));
    return true;
  }

  /// A call of a def without calls.
  Node call_node(const Step& step, const CallStatement& call) {
    Node node;
    node.callee = call.def;
    node.def = defs_.call_free.at(call.def);
    node.inputs.assign(step.reads.begin(), step.reads.begin() + static_cast<std::ptrdiff_t>(call.arguments.size()));
    node.outputs = step.writes;
    node.statements.push_back(renamed(step));
    try {
      set_outputs(node, lang::bind_sizes(node.def->def, shapes(node.inputs)));
    } catch (const ArgumentError& error) {
      throw ArgumentError(str(error.what(), ", in the call '", lang::print(*step.statement), "' of '",
                              flat_.frames[step.frame].def->name, "'"));
    }
    return node;
  }

  void set_outputs(const Node& node, const lang::SizeMap& sizes) {
    lang::check_preconditions(node.def->ranges, sizes);
    for (std::size_t r = 0; r < node.outputs.size(); ++r) {
      const auto& name = node.def->def.returns[r].name;
      const auto& info = node.def->def.tensors.at(name);
      TensorSpec spec{info.type, {}, {}};
      std::vector<std::int64_t> mins;
      for (const auto& interval : lang::evaluate_box(node.def->ranges.tensors.at(name), sizes)) {
        spec.shape.push_back(interval.extent);
        mins.push_back(interval.min);
      }
      check_shape(spec.shape, str("tensor '", graph_.tensors[node.outputs[r]].name, "'"));
      spec.strides = row_major_strides(spec.shape);
      if (!node.callee.empty()) mins.clear();
      set(node.outputs[r], spec, std::move(mins));
    }
  }

  /// Is \p tensor, written in \p group, wanted behind it?
  bool is_seen(std::size_t tensor, const Group& group) const {
    return last_reader_[tensor] > group.end || flat_.tensors[tensor].role != lang::Role::Temporary;
  }

  /// The statements of \p group as a def of their own; \p indirect: one that it calls has indirect subscripts.
  std::optional<Node> own_node(const Group& group, bool indirect) {
    Node node;
    DefSketch sketch{graph_.name, {}, {}, {}};
    std::set<std::size_t> written, seen;
    for (auto s = group.first; s < group.end; ++s)
      written.insert(flat_.steps[s].writes.begin(), flat_.steps[s].writes.end());
    for (auto s = group.first; s < group.end; ++s) {
      const auto& step = flat_.steps[s];
      node.statements.push_back(renamed(step, written));
      for (auto tensor : step.reads)
        if (!written.count(tensor) && reads(node.statements.back(), graph_.tensors[tensor].name) &&
            seen.insert(tensor).second)
          node.inputs.push_back(tensor);
      for (auto tensor : step.writes)
        if (is_seen(tensor, group) && seen.insert(tensor).second) {
          node.outputs.push_back(tensor);
          sketch.returns.push_back(return_operand(tensor, step));
        }
    }
    for (auto tensor : node.inputs) {
      const auto& known = graph_.tensors[tensor];
      sketch.params.push_back({known.name, known.spec.dtype, known.spec.shape, known.mins});
    }
    if (node.outputs.empty()) {
      const auto& step = flat_.steps[group.end - 1];
      node.outputs.push_back(step.writes.back());
      sketch.returns.push_back(return_operand(step.writes.back(), step));
    }
    sketch.statements = node.statements;
    const auto shared = written_in_several_frames(group);
    const bool keeps_names = indirect || !shared.empty() || has_indirect_subscript(node.statements);
    node.def = understood_once(make_def(keeps_names ? sketch : with_plain_names(sketch)), keeps_names);
    for (auto tensor : shared)
      for (const auto& interval : lang::evaluate_box(node.def->ranges.tensors.at(graph_.tensors[tensor].name), {}))
        if (interval.min != 0) return std::nullopt;
    set_outputs(node, {});
    return node;
  }

  /// The tensors that assignments of several frames touch, of those that \p group writes. A call passes on a tensor as
  /// one that begins at index 0, so that its indices are other ones on both sides unless it does.
  std::set<std::size_t> written_in_several_frames(const Group& group) {
    std::map<std::size_t, std::set<std::size_t>> frames;
    for (auto s = group.first; s < group.end; ++s) {
      const auto& step = flat_.steps[s];
      if (!std::holds_alternative<Assignment>(step.statement->node)) continue;
      for (const auto* list : {&step.reads, &step.writes})
        for (auto tensor : *list) frames[tensor].insert(step.frame);
      writer_frame_[step.writes.front()] = step.frame;
    }
    std::set<std::size_t> result;
    for (const auto& [tensor, those] : frames)
      if (those.size() > 1 && !known_[tensor]) result.insert(tensor);
    return result;
  }

  /// Where the tensors that \p step reads begin, of those that another frame has written and that do not at index 0.
  std::map<std::string, std::vector<std::int64_t>> mins_of_others(const Step& step) const {
    std::map<std::string, std::vector<std::int64_t>> result;
    for (auto tensor : step.reads) {
      const auto& mins = graph_.tensors[tensor].mins;
      const auto writer = writer_frame_.find(tensor);
      if (writer == writer_frame_.end() || writer->second == step.frame || !known_[tensor]) continue;
      if (std::any_of(mins.begin(), mins.end(), [](auto min) { return min != 0; }))
        result.emplace(graph_.tensors[tensor].name, mins);
    }
    return result;
  }

  /// Equal statements are understood once; those whose names a message may tell, only under the same names.
  std::shared_ptr<const lang::InlinedDef> understood_once(const lang::Def& def, bool by_name) {
    auto& known = own_defs_[by_name ? lang::print(def) : lang::canonical_text(def)];
    try {
      if (!known) known = understood(def, defs_);
    } catch (const SemanticError& error) {
      throw ArgumentError(str("a statement of '", graph_.name, "' does not fit the sizes of these tensors:\n",
                              error.what(), "\nwith sizes as numbers:\n", lang::print(def)));
    }
    return known;
  }

  /// A return of a node: with the type it has in the text, and where that declares sizes, those.
  Operand return_operand(std::size_t tensor, const Step& step) const {
    return {graph_.tensors[tensor].name,
            flat_.tensors[tensor].type,
            {},
            {},
            std::holds_alternative<Assignment>(step.statement->node)};
  }

  /// Gives iterators of \p statement that nothing else bounds the range that the text declares for its target.
  void bound_iterators(Assignment& statement, const Step& step) const {
    const auto& frame = flat_.frames[step.frame];
    const auto& target = std::get<Assignment>(step.statement->node).target;
    for (const auto& decl : frame.def->returns) {
      if (decl.name != target || !decl.dims) continue;
      for (std::size_t d = 0; d < statement.subscripts.size(); ++d) {
        const auto& iterator = std::get<lang::Name>(statement.subscripts[d]->node).id;
        if (bounds(statement, iterator)) continue;
        const auto size = lang::evaluate_size((*decl.dims)[d], sizes_[step.frame]);
        statement.clauses.push_back({lang::RangeClause{iterator, literal(0), literal(size)}, step.statement->range});
      }
    }
  }

  /// The call of \p step over the names of tensors.
  lang::Statement renamed(const Step& step) const {
    auto statement = *step.statement;
    auto& call = std::get<CallStatement>(statement.node);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) call.arguments[i] = graph_.tensors[step.reads[i]].name;
    for (std::size_t r = 0; r < call.results.size(); ++r) call.results[r] = graph_.tensors[step.writes[r]].name;
    return statement;
  }

  /// The statement of \p step over the names of tensors, sizes as numbers; those of the tensors of \p written are left.
  lang::Statement renamed(const Step& step, const std::set<std::size_t>& written) {
    const auto* assignment = std::get_if<Assignment>(&step.statement->node);
    if (!assignment) return renamed(step);
    lang::Substitution substitution;
    for (const auto& [name, tensor] : step.tensors) substitution.tensors[name] = graph_.tensors[tensor].name;
    for (const auto& [name, value] : sizes_[step.frame]) substitution.values[name] = size_value(value);
    rename_iterators(*assignment, substitution);
    substitution.size_of = [&](const std::string& name, int d) -> ExprPtr {
      const auto tensor = step.tensors.at(name);
      if (written.count(tensor)) return nullptr;
      return size_value(graph_.tensors[tensor].spec.shape.at(static_cast<std::size_t>(d)));
    };
    auto statement = *step.statement;
    auto result = lang::substitute(*assignment, substitution);
    if (const auto mins = mins_of_others(step); !mins.empty()) {
      result.rhs = with_moved_reads(result.rhs, mins);
      for (auto& clause : result.clauses)
        if (auto* exists = std::get_if<lang::ExistsClause>(&clause.node))
          exists->value = with_moved_reads(exists->value, mins);
    }
    for (auto& clause : result.clauses)
      if (auto* range = std::get_if<lang::RangeClause>(&clause.node))
        for (auto* bound : {&range->low, &range->high}) *bound = plain_sizes(*bound);
    bound_iterators(result, step);
    statement.node = std::move(result);
    return statement;
  }

  /// Iterators that are called as a tensor of the graph get another name.
  void rename_iterators(const Assignment& statement, lang::Substitution& substitution) const {
    auto iterators = lang::left_iterators(statement);
    iterators.insert(iterators.end(), statement.reduction_iterators.begin(), statement.reduction_iterators.end());
    for (const auto& iterator : iterators) {
      auto name = iterator;
      for (int k = 0; tensor_names_.count(name) || (k > 0 && contains(iterators, name)); ++k)
        name = str(iterator, "_i", k);
      if (name != iterator) substitution.values[iterator] = lang::make_expr(lang::Name{name});
    }
  }

  const Defs& defs_;
  FlatDef flat_;
  Graph graph_;
  std::set<std::string> tensor_names_;
  std::vector<lang::SizeMap> sizes_;  ///< of each frame
  std::vector<char> known_;
  std::map<std::size_t, std::size_t> writer_frame_;  ///< of the tensors that assignments write
  std::vector<std::size_t> last_reader_;             ///< behind it, no step reads the tensor
  std::size_t next_frame_ = 0;
  std::vector<std::size_t> open_;
  std::map<std::string, std::shared_ptr<const lang::InlinedDef>> own_defs_;
};

}  // namespace

std::optional<Graph> bind(const std::shared_ptr<const Defs>& defs, const std::string& name,
                          const std::vector<TensorSpec>& inputs) {
  auto flat = flatten(*defs, name);
  if (!flat) return std::nullopt;
  return Binder(defs, std::move(*flat), name).run(inputs);
}

}  // namespace tc::graph
