#include "tc/graph/layout_alternatives.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tc/base/contains.h"

namespace tc::graph {
namespace {

using lang::ExprPtr;
using layout::Layout;

/// Dimension `dim` of tensor `tensor`.
using Dimension = std::pair<std::string, std::size_t>;

/// Dimensions that the same iterators subscript.
struct DimensionClass {
  std::vector<Dimension> dims;
  std::vector<Dimension> shifted;  ///< dimensions that a function of one of these iterators subscripts
  bool written = false;            ///< one of the result is among them
  bool summed = false;             ///< a reduction runs over them
  bool movable = true;             ///< all subscripts are iterators alone, and extents are equal
  std::int64_t extent = 0;
};

/// The classes of a def, found by joining what is subscripted alike.
class DimensionClasses {
 public:
  DimensionClasses(const lang::InlinedDef& def, const lang::SizeMap& sizes) : def_(def) {
    for (const auto& [name, box] : def.ranges.tensors) extents_[name] = lang::evaluate_box(box, sizes);
    for (std::size_t s = 0; s < def.def.statements.size(); ++s)
      add_statement(std::get<lang::Assignment>(def.def.statements[s].node), s);
  }

  std::vector<DimensionClass> all() {
    std::map<int, DimensionClass> found;
    for (const auto& [dimension, node] : dimensions_) {
      auto& entry = found[root(node)];
      const auto extent = extents_.at(dimension.first).at(dimension.second).extent;
      if (!entry.dims.empty() && entry.extent != extent) entry.movable = false;
      entry.extent = extent;
      entry.dims.push_back(dimension);
      entry.written = entry.written || dimension.first == def_.def.returns.front().name;
    }
    for (const auto& [dimension, node] : shifted_)
      if (const auto entry = found.find(root(node)); entry != found.end()) entry->second.shifted.push_back(dimension);
    for (const auto node : fixed_)
      if (const auto entry = found.find(root(node)); entry != found.end()) entry->second.movable = false;
    for (const auto node : summed_)
      if (const auto entry = found.find(root(node)); entry != found.end()) entry->second.summed = true;
    std::vector<DimensionClass> result;
    for (auto& [node, entry] : found) result.push_back(std::move(entry));
    return result;
  }

 private:
  int new_node() {
    parents_.push_back(static_cast<int>(parents_.size()));
    return parents_.back();
  }
  int root(int node) {
    while (parents_[static_cast<std::size_t>(node)] != node) node = parents_[static_cast<std::size_t>(node)];
    return node;
  }
  /// The smaller number stays a root, so that classes are in the order in which they appear.
  void join_nodes(int a, int b) {
    a = root(a), b = root(b);
    parents_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  int node_of(const Dimension& dimension) {
    const auto [entry, is_new] = dimensions_.emplace(dimension, 0);
    if (is_new) entry->second = new_node();
    return entry->second;
  }
  int node_of(std::size_t statement, const std::string& iterator) {
    const auto [entry, is_new] = iterators_.emplace(std::pair(statement, iterator), 0);
    if (is_new) entry->second = new_node();
    return entry->second;
  }

  void add_statement(const lang::Assignment& statement, std::size_t s) {
    const auto left = lang::left_iterators(statement);
    for (std::size_t d = 0; d < left.size(); ++d) join_nodes(node_of({statement.target, d}), node_of(s, left[d]));
    add_expr(statement.rhs, s);
    for (const auto& iterator : statement.reduction_iterators) summed_.push_back(node_of(s, iterator));
  }
  /// Joins the subscripts of \p expr; an iterator that stands anywhere else has a fixed place.
  void add_expr(const ExprPtr& expr, std::size_t s) {
    const auto* access = std::get_if<lang::Access>(&expr->node);
    if (const auto* name = std::get_if<lang::Name>(&expr->node)) fixed_.push_back(node_of(s, name->id));
    if (!access) {
      for (const auto& child : lang::children(expr)) add_expr(child, s);
      return;
    }
    for (std::size_t d = 0; d < access->subscripts.size(); ++d) {
      const auto dimension = node_of({access->tensor, d});
      const auto* name = std::get_if<lang::Name>(&access->subscripts[d]->node);
      if (name && name->kind == lang::Name::Kind::Iterator) {
        join_nodes(dimension, node_of(s, name->id));
        continue;
      }
      fixed_.push_back(dimension);
      add_expr(access->subscripts[d], s);
      if (const auto iterators = iterators_in(access->subscripts[d]); iterators.size() == 1)
        shifted_.emplace_back(Dimension{access->tensor, d}, node_of(s, *iterators.begin()));
    }
  }

  static std::set<std::string> iterators_in(const ExprPtr& subscript) {
    std::set<std::string> result;
    lang::for_each_expr(subscript, [&](const ExprPtr& expr) {
      const auto* name = std::get_if<lang::Name>(&expr->node);
      if (name && name->kind == lang::Name::Kind::Iterator) result.insert(name->id);
    });
    return result;
  }

  const lang::InlinedDef& def_;
  std::map<std::string, lang::Box> extents_;
  std::vector<int> parents_;
  std::map<Dimension, int> dimensions_;
  std::map<std::pair<std::size_t, std::string>, int> iterators_;
  std::vector<int> fixed_, summed_;
  std::vector<std::pair<Dimension, int>> shifted_;
};

/// Classes that are moved inwards, the innermost last, in blocks or whole.
struct Template {
  std::vector<const DimensionClass*> classes;
  std::int64_t block = 0;  ///< 0: whole
};

/// The dimensions of \p tensor in the classes of \p chosen, one of each; nothing where it has two of one.
std::optional<std::vector<std::size_t>> dims_in(const Template& chosen, const std::string& tensor) {
  std::vector<std::size_t> result;
  for (const auto* entry : chosen.classes) {
    std::set<std::size_t> found;
    for (const auto& [name, dim] : entry->dims)
      if (name == tensor) found.insert(dim);
    if (chosen.block == 0 && !entry->movable)
      for (const auto& [name, dim] : entry->shifted)
        if (name == tensor) found.insert(dim);
    if (found.size() > 1) return std::nullopt;
    result.insert(result.end(), found.begin(), found.end());
  }
  return result;
}

/// A tensor of \p rank dimensions with \p inner, in this order, behind the others.
Layout with_inner(std::size_t rank, const std::vector<std::size_t>& inner) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < rank; ++d)
    if (!contains(inner, d)) order.push_back(d);
  order.insert(order.end(), inner.begin(), inner.end());
  return std::is_sorted(order.begin(), order.end()) ? Layout() : Layout().reorder(order);
}

/// A tensor of \p rank dimensions with blocks of \p inner, in this order, behind all dimensions.
Layout with_blocks(std::size_t rank, const std::vector<std::size_t>& inner, std::int64_t block) {
  Layout result;
  std::vector<std::size_t> outer, place_of_block(rank);
  std::size_t place = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    outer.push_back(place++);
    if (!contains(inner, d)) continue;
    result = result.split(outer.back(), {block});
    place_of_block[d] = place++;
  }
  auto order = outer;
  for (const auto d : inner) order.push_back(place_of_block[d]);
  return std::is_sorted(order.begin(), order.end()) ? result : result.reorder(order);
}

Layout layout_in(const Template& chosen, const std::string& tensor, std::size_t rank) {
  const auto inner = dims_in(chosen, tensor).value_or(std::vector<std::size_t>());
  if (rank < 2 || inner.empty()) return {};
  return chosen.block == 0 ? with_inner(rank, inner) : with_blocks(rank, inner, chosen.block);
}

/// May \p entry be chosen by what the result is like?
bool is_of_result(const DimensionClass& entry) { return entry.written && !entry.summed && entry.extent >= 2; }
/// The same, by what a reduction reads.
bool is_summed_over(const DimensionClass& entry) {
  return entry.movable && !entry.written && entry.summed && entry.extent >= 2;
}

/// May \p entry, which is not movable, be moved as a whole? An operand lies along the result there, as in a concatenation.
bool is_movable_whole(const DimensionClass& entry) { return entry.dims.size() > 1 && !entry.shifted.empty(); }

/// The templates of \p classes, of a def that reduces or does not; they point into it. Only one that does not takes classes that
/// are not movable, and moves them as a whole.
std::vector<Template> templates_of(const std::vector<DimensionClass>& classes, std::int64_t block, bool reduces) {
  std::vector<Template> result;
  auto add = [&](const DimensionClass& out, const DimensionClass* in) {
    result.push_back({{&out}, 0});
    if (in) result.back().classes.insert(result.back().classes.begin(), in);
    if (out.extent % block != 0 || !out.movable) return;
    result.push_back({{&out}, block});
    if (in && in->extent % block == 0) result.back().classes.insert(result.back().classes.begin(), in);
  };
  for (const auto& out : classes) {
    if (!is_of_result(out) || (!out.movable && (reduces || !is_movable_whole(out)))) continue;
    bool any = false;
    for (const auto& in : classes) {
      if (!is_summed_over(in)) continue;
      add(out, &in);
      any = true;
    }
    if (!any) add(out, nullptr);
  }
  return result;
}

bool has_alternatives(const lang::InlinedDef& def, const lang::SizeMap& sizes) {
  if (def.def.returns.size() != 1 || !def.ranges.data_dependent.empty()) return false;
  const auto& result = def.def.returns.front().name;
  if (def.def.tensors.at(result).role != lang::Role::Output) return false;
  const auto box = lang::evaluate_box(def.ranges.tensors.at(result), sizes);
  return std::all_of(box.begin(), box.end(), [](const auto& range) { return range.min == 0; });
}

/// Elements of a vector of what \p def computes, of which \p block are one of float32.
std::int64_t lanes_of(const lang::InlinedDef& def, std::int64_t block) {
  const auto type = compute_type(def.def.tensors.at(def.def.returns.front().name).type);
  return std::max<std::int64_t>(block * byte_size(DType::Float32) / byte_size(type), 2);
}

/// Those of \p operands that are \p constants in panels of class \p entry, the others as they are.
OperandLayouts panels_of(const DimensionClass& entry, const std::vector<std::string>& operands,
                         const lang::InlinedDef& def, const AlternativeOptions& options) {
  OperandLayouts result(operands.size());
  for (const auto i : options.constants) {
    const auto rank = def.ranges.tensors.at(operands[i]).size();
    const auto inner = dims_in({{&entry}, 0}, operands[i]).value_or(std::vector<std::size_t>());
    if (rank >= 2 && !inner.empty()) result[i] = with_blocks(rank, inner, lanes_of(def, options.block));
  }
  return result;
}

/// \p whole with the operands plain that \p plain says.
OperandLayouts with_plain(OperandLayouts whole, const std::vector<std::size_t>& operands, std::size_t plain) {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if ((plain >> i & 1) != 0) whole[operands[i]] = Layout();
  return whole;
}

}  // namespace

std::vector<OperandLayouts> layout_alternatives(const lang::InlinedDef& def, const lang::SizeMap& sizes,
                                                const AlternativeOptions& options) {
  std::vector<std::string> operands;
  for (const auto& param : def.def.params) operands.push_back(param.name);
  for (const auto& ret : def.def.returns) operands.push_back(ret.name);
  std::vector<OperandLayouts> result{OperandLayouts(operands.size())};
  if (!has_alternatives(def, sizes)) return result;
  const auto classes = DimensionClasses(def, sizes).all();
  const bool reduces =
      std::any_of(classes.begin(), classes.end(), [](const DimensionClass& entry) { return entry.summed; });
  auto add = [&](OperandLayouts layouts) {
    if (!contains(result, layouts)) result.push_back(std::move(layouts));
  };
  for (const auto& entry : classes)
    if (entry.movable && entry.written && !entry.summed && entry.extent >= lanes_of(def, options.block))
      add(panels_of(entry, operands, def, options));
  if (options.constants_alone) return result;
  for (const auto& chosen : templates_of(classes, options.block, reduces)) {
    OperandLayouts whole;
    std::vector<std::size_t> runtime;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      whole.push_back(layout_in(chosen, operands[i], def.ranges.tensors.at(operands[i]).size()));
      if (!options.constants.count(i) && !whole.back().is_identity()) runtime.push_back(i);
    }
    const std::size_t all = (std::size_t{1} << runtime.size()) - 1;
    add(whole);
    if (!options.constants.empty()) add(with_plain(whole, runtime, all));
    for (std::size_t plain = 1; options.mixed && plain < all; ++plain) add(with_plain(whole, runtime, plain));
  }
  return result;
}

}  // namespace tc::graph
