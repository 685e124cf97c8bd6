#include "tc/graph/partition.h"

#include <algorithm>
#include <numeric>

#include "tc/base/cancellation.h"
#include "tc/base/contains.h"
#include "tc/base/str.h"
#include "tc/graph/make_def.h"
#include "tc/lang/interpret/ranges.h"
#include "tc/lang/syntax/print.h"

namespace tc::graph {
namespace {

/// What decides which nodes join a part.
struct Facts {
  std::size_t statements = 0;
  int products = 0;          ///< reductions that read elements several times: products, convolutions
  bool reduces = false;      ///< holds other reductions
  bool is_indirect = false;  ///< reads elements by index
  bool has_loops = false;    ///< runs iterations in order

  Facts operator+(const Facts& other) const {
    return {statements + other.statements, products + other.products, reduces || other.reduces,
            is_indirect || other.is_indirect, has_loops || other.has_loops};
  }
};

double volume(const lang::Box& box) {
  double result = 1;
  for (const auto& interval : box) result *= static_cast<double>(std::max<std::int64_t>(interval.extent, 0));
  return result;
}

/// Does the reduction \p statement read or write elements several times over, on average?
bool is_product(const lang::Assignment& statement, const std::map<std::string, lang::Range>& iterators,
                const lang::Ranges& ranges, const lang::SizeMap& sizes) {
  double instances = 1, elements = volume(lang::evaluate_box(ranges.tensors.at(statement.target), sizes));
  for (const auto& [name, range] : iterators) instances *= volume(lang::evaluate_box({range}, sizes));
  lang::for_each_expr(statement.rhs, [&](const lang::ExprPtr& expr) {
    const auto* access = std::get_if<lang::Access>(&expr->node);
    if (access) elements = std::max(elements, volume(lang::evaluate_box(ranges.tensors.at(access->tensor), sizes)));
  });
  return instances > 2 * elements;
}

Facts facts_of(const Graph& graph, const Node& node) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (auto tensor : node.inputs) shapes.push_back(graph.tensors[tensor].spec.shape);
  const auto& def = *node.def;
  const auto sizes = lang::bind_sizes(def.def, shapes);
  Facts facts{def.def.statements.size(), 0, false, !def.ranges.data_dependent.empty(), lang::has_loops(def.def)};
  for (std::size_t s = 0; s < def.def.statements.size(); ++s) {
    const auto& statement = std::get<lang::Assignment>(def.def.statements[s].node);
    if (statement.reduction_iterators.empty()) continue;
    if (is_product(statement, def.ranges.statements[s], def.ranges, sizes))
      ++facts.products;
    else
      facts.reduces = true;
  }
  return facts;
}

/// Merges parts along tensors.
class Merger {
 public:
  Merger(const Graph& graph, const PartitionLimits& limits) : graph_(graph), limits_(limits) {
    const auto count = graph.nodes.size();
    part_of_.resize(count);
    std::iota(part_of_.begin(), part_of_.end(), std::size_t{0});
    members_.resize(count);
    for (std::size_t n = 0; n < count; ++n) {
      members_[n] = {n};
      facts_.push_back(facts_of(graph, graph.nodes[n]));
    }
  }

  std::vector<std::vector<std::size_t>> run() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      check_cancelled("the graph");
      for (auto tensor : by_bytes(graph_.nodes[n].inputs))
        if (const auto& producer = graph_.tensors[tensor].producer) try_merge(part_of_[*producer], part_of_[n], tensor);
    }
    return in_order();
  }

 private:
  std::int64_t bytes(std::size_t tensor) const {
    const auto& spec = graph_.tensors[tensor].spec;
    return spec.element_count() * byte_size(spec.dtype);
  }
  /// \p tensors, the largest first.
  std::vector<std::size_t> by_bytes(std::vector<std::size_t> tensors) const {
    std::stable_sort(tensors.begin(), tensors.end(), [&](auto a, auto b) { return bytes(a) > bytes(b); });
    return tensors;
  }

  void try_merge(std::size_t writer, std::size_t reader, std::size_t tensor) {
    if (writer == reader || is_apart(writer) != is_apart(reader) || is_alone(writer) || is_alone(reader)) return;
    if (!may_merge(facts_[writer], facts_[reader], tensor) || !stays_in_order(writer, reader) ||
        !pays(writer, reader, tensor))
      return;
    for (auto n : members_[reader]) part_of_[n] = writer;
    auto& all = members_[writer];
    all.insert(all.end(), members_[reader].begin(), members_[reader].end());
    std::sort(all.begin(), all.end());
    facts_[writer] = facts_[writer] + facts_[reader];
    members_[reader].clear();
  }

  bool is_apart(std::size_t part) const { return limits_.apart.count(members_[part].front()) > 0; }
  bool is_alone(std::size_t part) const { return limits_.alone.count(members_[part].front()) > 0; }

  bool may_merge(const Facts& writer, const Facts& reader, std::size_t tensor) const {
    if (writer.is_indirect || reader.is_indirect || writer.has_loops || reader.has_loops) return false;
    if (reader.products > 0 && (!limits_.seconds || !is_large(tensor))) return false;
    return writer.statements + reader.statements <= limits_.statements;
  }

  bool is_large(std::size_t tensor) const { return static_cast<double>(bytes(tensor)) > limits_.large; }

  bool pays(std::size_t writer, std::size_t reader, std::size_t tensor) {
    if (!facts_[reader].reduces && facts_[reader].products == 0) return true;
    auto all = members_[writer];
    all.insert(all.end(), members_[reader].begin(), members_[reader].end());
    std::sort(all.begin(), all.end());
    const auto first = seconds(members_[writer]), second = seconds(members_[reader]);
    const auto together = first && second ? seconds(std::move(all)) : std::nullopt;
    if (!together) return facts_[writer].products + facts_[reader].products == 0;
    return *together <= (is_large(tensor) ? limits_.tie : 1) * (*first + *second);
  }

  std::optional<double> seconds(std::vector<std::size_t> nodes) {
    if (!limits_.seconds) return std::nullopt;
    const auto part = make_part(graph_, std::move(nodes));
    const auto [known, is_new] = prices_.emplace(key_of(graph_, part), std::nullopt);
    if (is_new) known->second = limits_.seconds(part);
    return known->second;
  }

  /// The parts whose results \p part reads.
  std::set<std::size_t> sources(std::size_t part) const {
    std::set<std::size_t> result;
    for (auto n : members_[part])
      for (auto tensor : graph_.nodes[n].inputs)
        if (const auto& producer = graph_.tensors[tensor].producer; producer && part_of_[*producer] != part)
          result.insert(part_of_[*producer]);
    return result;
  }

  /// Does no way lead from \p writer to \p reader through another part?
  bool stays_in_order(std::size_t writer, std::size_t reader) const {
    std::vector<std::size_t> stack;
    std::set<std::size_t> seen{writer, reader};
    auto push = [&](std::size_t part) {
      if (members_[part].back() > members_[writer].front() && seen.insert(part).second) stack.push_back(part);
    };
    for (auto source : sources(reader)) push(source);
    while (!stack.empty()) {
      const auto part = stack.back();
      stack.pop_back();
      for (auto source : sources(part)) {
        if (source == writer) return false;
        push(source);
      }
    }
    return true;
  }

  /// The parts, each behind its sources, else in the order of their first nodes.
  std::vector<std::vector<std::size_t>> in_order() const {
    std::vector<std::vector<std::size_t>> result;
    std::set<std::size_t> done;
    std::vector<std::size_t> stack;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      stack.push_back(part_of_[n]);
      while (!stack.empty()) {
        const auto part = stack.back();
        const auto before = stack.size();
        if (done.count(part)) {
          stack.pop_back();
          continue;
        }
        for (auto source : sources(part))
          if (!done.count(source)) stack.push_back(source);
        if (stack.size() > before) continue;
        stack.pop_back();
        done.insert(part);
        result.push_back(members_[part]);
      }
    }
    return result;
  }

  const Graph& graph_;
  const PartitionLimits& limits_;
  std::vector<std::size_t> part_of_;
  std::vector<std::vector<std::size_t>> members_;  ///< in order
  std::vector<Facts> facts_;
  std::map<std::string, std::optional<double>> prices_;
};

/// The tensors that \p part reads from others, and those of its own that others, or the caller, see.
void find_operands(const Graph& graph, Part& part) {
  const std::set<std::size_t> inside(part.nodes.begin(), part.nodes.end());
  auto is_seen = [&](std::size_t t) {
    const auto& tensor = graph.tensors[t];
    return tensor.role != lang::Role::Temporary ||
           std::any_of(tensor.consumers.begin(), tensor.consumers.end(), [&](auto n) { return !inside.count(n); });
  };
  for (auto n : part.nodes) {
    for (auto tensor : graph.nodes[n].inputs)
      if (const auto& producer = graph.tensors[tensor].producer; !producer || !inside.count(*producer))
        if (!contains(part.inputs, tensor)) part.inputs.push_back(tensor);
    for (auto tensor : graph.nodes[n].outputs)
      if (is_seen(tensor)) part.outputs.push_back(tensor);
  }
  if (part.outputs.empty()) part.outputs = graph.nodes[part.nodes.back()].outputs;
}

constexpr std::size_t most_name = 40;

/// A name for \p part: of what it calls.
std::string name_of(const Graph& graph, const Part& part) {
  std::string name;
  for (auto n : part.nodes)
    if (const auto& callee = graph.nodes[n].callee; !callee.empty() && name.size() + callee.size() < most_name)
      name += str(name.empty() ? "" : "_", callee);
  if (name.empty()) name = graph.name;
  return graph.defs->file->find(name) ? name + "_part" : name;
}

/// \p part, of several nodes, as a def of calls and statements.
DefSketch sketch_of(const Graph& graph, const Part& part) {
  DefSketch sketch{name_of(graph, part), {}, {}, {}};
  for (auto t : part.inputs) {
    const auto& tensor = graph.tensors[t];
    sketch.params.push_back({tensor.name, tensor.spec.dtype, tensor.spec.shape, tensor.mins, true, tensor.dims});
  }
  for (auto t : part.outputs) {
    const auto& tensor = graph.tensors[t];
    Operand operand{tensor.name, tensor.spec.dtype, {}, {}};
    operand.declare_type = graph.nodes[*tensor.producer].callee.empty();
    sketch.returns.push_back(operand);
  }
  for (auto n : part.nodes)
    sketch.statements.insert(sketch.statements.end(), graph.nodes[n].statements.begin(),
                             graph.nodes[n].statements.end());
  return with_plain_names(sketch);
}

std::string shapes_text(const Graph& graph, const Part& part) {
  TextStream out;
  for (const auto* list : {&part.inputs, &part.outputs})
    for (auto tensor : *list) out << graph.tensors[tensor].spec << " " << to_text(graph.tensors[tensor].dims) << "; ";
  return out.str();
}

std::vector<std::vector<std::size_t>> each_alone(const Graph& graph) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) groups.push_back({n});
  return groups;
}

/// The nodes \p apart, which read nothing of the others, then these.
std::vector<std::vector<std::size_t>> all_together(const Graph& graph, const std::set<std::size_t>& apart) {
  std::vector<std::vector<std::size_t>> groups{{apart.begin(), apart.end()}, {}};
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (!apart.count(n)) groups[1].push_back(n);
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

}  // namespace

Part make_part(const Graph& graph, std::vector<std::size_t> nodes) {
  Part part{std::move(nodes), {}, {}};
  if (part.nodes.size() > 1) {
    find_operands(graph, part);
  } else {
    part.inputs = graph.nodes[part.nodes[0]].inputs;
    part.outputs = graph.nodes[part.nodes[0]].outputs;
  }
  return part;
}

std::vector<Part> partition(const Graph& graph, Partition kind, const PartitionLimits& limits) {
  std::vector<std::vector<std::size_t>> groups;
  if (kind == Partition::Auto) groups = Merger(graph, limits).run();
  if (kind == Partition::Each) groups = each_alone(graph);
  if (kind == Partition::One) groups = all_together(graph, limits.apart);
  std::vector<Part> parts;
  for (auto& nodes : groups) parts.push_back(make_part(graph, std::move(nodes)));
  return parts;
}

std::shared_ptr<const lang::InlinedDef> def_of(const Graph& graph, const Part& part) {
  if (part.nodes.size() == 1) return graph.nodes[part.nodes[0]].def;
  return understood(make_def(sketch_of(graph, part)), *graph.defs);
}

std::string key_of(const Graph& graph, const Part& part) {
  if (part.nodes.size() > 1)
    return str(lang::canonical_text(make_def(sketch_of(graph, part))), shapes_text(graph, part));
  return str(graph.nodes[part.nodes[0]].def.get(), " ", shapes_text(graph, part));
}

std::string to_text(const Graph& graph, const std::vector<Part>& parts) {
  std::map<std::string, std::string> names;
  std::vector<std::string> texts;
  DefSketch sketch{graph.name, {}, {}, {}};
  for (auto t : graph.inputs)
    sketch.params.push_back({graph.tensors[t].name, graph.tensors[t].spec.dtype, graph.tensors[t].spec.shape, {}});
  for (auto t : graph.outputs) sketch.returns.push_back({graph.tensors[t].name, graph.tensors[t].spec.dtype, {}, {}});
  for (const auto& part : parts) {
    auto [known, is_new] = names.emplace(key_of(graph, part), str(graph.name, "_part_", names.size()));
    if (is_new) {
      auto def = def_of(graph, part)->def;
      def.name = known->second;
      texts.push_back(lang::print(def));
    }
    lang::CallStatement call;
    call.def = known->second;
    for (auto t : part.outputs) call.results.push_back(graph.tensors[t].name);
    for (auto t : part.inputs) call.arguments.push_back(graph.tensors[t].name);
    sketch.statements.push_back({call, {}});
  }
  texts.push_back(lang::print(make_def(sketch)));
  return join(texts, "\n");
}

}  // namespace tc::graph
